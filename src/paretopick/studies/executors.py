"""What measures: the calling thread, threads, processes that are replaced when one is killed, or an executor of the user."""

from __future__ import annotations

import functools
import inspect
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import connection, parent_process
from typing import Any

from paretopick._arrays import check_workers
from paretopick._words import short
from paretopick.errors import InvalidInput


class Here(Executor):
    """Runs things in the calling thread, one after the other."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs it now; Ctrl-C is not what came out of it, but goes on to the caller."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except (Exception, SystemExit) as problem:
            future.set_exception(problem)
        return future


class Processes(Executor):
    """Processes, made anew when one of them was killed by what it measured; they end when ours does, however that ends."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._size, initializer=_begin)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a process run it."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = self._new_pool()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def kill(self) -> None:
        """Ends the processes and what they measure; they do not hear Ctrl-C, so that the first one can let them finish."""
        for process in list(self._pool._processes.values()):
            if process.pid is not None:
                _end_group(process.pid)
            process.kill()


class ThreadEach(Executor):
    """A thread for each call: one that does not come back takes nobody's place, and does not keep the program from ending."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs it in a thread of its own."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as problem:
                future.set_exception(problem)

        threading.Thread(target=run, daemon=True).start()
        return future


class ProcessEach(Executor):
    """Processes of which each can be ended without the others: what runs in one of them is stopped, and it is replaced.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self._free = [_started() for _ in range(size)]
        self._busy: dict[Future[Any], Processes] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a process run it that runs nothing else; no more are asked for than there are processes."""
        for done in [future for future in self._busy if future.done()]:
            self._free.append(self._busy.pop(done))
        pool = self._free.pop()
        future = pool.submit(fn, *args, **kwargs)
        self._busy[future] = pool
        return future

    def stop(self, future: Future[Any]) -> None:
        """Ends the process that runs something, with all that it has started."""
        pool = self._busy.pop(future)
        pool.kill()
        pool.shutdown(wait=False)
        self._free.append(_started())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes."""
        for pool in (*self._free, *self._busy.values()):
            pool.shutdown(wait, cancel_futures=cancel_futures)

    def kill(self) -> None:
        """Ends the processes and what they measure."""
        for pool in (*self._free, *self._busy.values()):
            pool.kill()


def _started() -> Processes:
    """A process that has started already, so that this takes none of the time that a call has."""
    pool = Processes(1)
    pool.submit(int).result()
    return pool


def _begin() -> None:
    """Makes a process of the pool deaf to Ctrl-C, and ends it, with all that it has started, when its parent has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):  # it leads a group already
        os.setsid()
    threading.Thread(target=_follow_parent, args=(os.getppid(),), daemon=True).start()


def _follow_parent(parent: int) -> None:
    known = parent_process()
    sentinels = [] if known is None else [known.sentinel]
    # A pipe tells at once, unless somebody else has inherited its other end; that another process has adopted us tells surely.
    while os.getppid() == parent and not connection.wait(sentinels, timeout=1.0):
        pass
    _end_group(os.getpid())


def _end_group(leader: int) -> None:
    """Kills a process with those that it has started, if it leads a group."""
    with suppress(OSError):
        if os.getpgid(leader) == leader:
            os.killpg(leader, signal.SIGKILL)


@contextmanager
def executor_of(workers: int | Executor, processes: bool, *, apart: bool = False) -> Iterator[tuple[Executor, int]]:
    """What measures, and how many at a time.

    Args:
        workers: how many, or an executor of the user, which stays as it is.
        processes: whether they are processes, and not threads.
        apart: whether one of them may have to be given up, without the others.
    """
    if isinstance(workers, Executor):
        yield workers, getattr(workers, "_max_workers", 1)
        return
    size = check_workers(workers)
    executor: Executor
    if apart:
        executor = ProcessEach(size) if processes else ThreadEach()
    else:
        executor = Processes(size) if processes else ThreadPoolExecutor(size)
    try:
        yield executor, size
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def check_sendable(value: Any) -> None:
    """Refuses a function, or an option, that cannot be sent to another process."""
    try:
        pickle.dumps(value)
    except Exception as problem:
        raise InvalidInput(
            f"{short(value)} cannot be sent to another process ({problem}); define it at the top of a module, or use threads."
        ) from None


def takes_repeat(measure: Callable[..., Any]) -> bool:
    """Returns whether a function has a parameter ``repeat`` that can be told beside what it measures.

    Not if that is what it measures, or if somebody has given it a value already; and not if nobody can say.

    >>> takes_repeat(lambda option, repeat: 0), takes_repeat(lambda repeat: 0), takes_repeat(print)
    (True, False, False)
    """
    if isinstance(measure, functools.partial) and "repeat" in measure.keywords:
        return False
    try:
        shown, own = (inspect.signature(measure, follow_wrapped=follow).parameters for follow in (True, False))
    except (TypeError, ValueError):
        return False
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if "repeat" not in shown or shown["repeat"].kind not in by_name:
        return False
    if "repeat" not in own:  # a wrapper that hands on what it gets, or does not
        return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in own.values())
    return own["repeat"].kind is inspect.Parameter.KEYWORD_ONLY or next(iter(own)) != "repeat"
