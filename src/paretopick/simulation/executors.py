"""Executors of clusters by address, ``dask://HOST:PORT`` and ``ray``, and what is said when one of them is lost.

Any ``concurrent.futures.Executor`` makes runs; these two are opened for whoever gives a text. Neither library is needed
otherwise, and both are imported here alone.
"""

from __future__ import annotations

import logging
import pickle
import socket
import sys
import sysconfig
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from paretopick._words import short
from paretopick.errors import ExecutorFailed, InvalidInput

SECONDS_TO_ANSWER = 5
"""After which a cluster counts as unreachable."""

SECONDS_FOR_WORKERS = 30
"""After which a cluster that answers and has no workers is given up."""

LOST = ("distributed", "ray")
"""Libraries whose exceptions are about the cluster and not about the runs."""


class Cluster(Executor):
    """An executor of a cluster, which knows how many pieces of work it makes at the same time."""

    size: int

    @abstractmethod
    def close(self) -> None:
        """Leaves the cluster, which goes on without us."""


@contextmanager
def opened(given: Executor | str | None) -> Iterator[Executor | None]:
    """The executor that was given, or that of the cluster at an address, which is left when this ends.

    Args:
        given: any ``concurrent.futures.Executor``, None, ``"dask://HOST:PORT"``, ``"ray"`` (the cluster that RAY_ADDRESS names,
            or that this machine belongs to, or a new one on it) or ``"ray://HOST:PORT"``.
    """
    if given is None or isinstance(given, Executor):
        yield given
        return
    kind = given.partition("://")[0] if isinstance(given, str) else ""
    if kind not in ("dask", "ray") or given in ("dask", "dask://", "ray://"):
        raise InvalidInput(
            f"executor={short(given)} is neither a concurrent.futures.Executor nor the address of a cluster; write "
            "dask://HOST:PORT, ray, or ray://HOST:PORT."
        )
    cluster = _Dask(given) if kind == "dask" else _Ray(given)
    try:
        yield cluster
    finally:
        cluster.close()


class _Dask(Cluster):
    def __init__(self, address: str) -> None:
        try:
            distributed = import_module("distributed")
        except ImportError as missing:
            raise ExecutorFailed(_not_installed(address, "dask")) from missing
        try:
            where = "tcp://" + address.partition("://")[2]
            self._client = distributed.Client(where, timeout=SECONDS_TO_ANSWER, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise ExecutorFailed(
                f"no Dask scheduler answers at {address} ({str(problem) or type(problem).__name__}); start one there with "
                "'dask scheduler', and workers with 'dask worker tcp://HOST:PORT'."
            ) from None
        try:
            self._client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
        except TimeoutError:
            self._client.close()
            raise ExecutorFailed(
                f"the Dask scheduler at {address} has no workers; start some with 'dask worker tcp://HOST:PORT'."
            ) from None
        self.size = sum(self._client.nthreads().values())
        self._executor = self._client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def close(self) -> None:
        self._client.close()


class _Ray(Cluster):
    def __init__(self, address: str) -> None:
        try:
            ray = import_module("ray")
        except ImportError as missing:
            raise ExecutorFailed(_not_installed(address, "ray")) from missing
        self._ray, self._began = ray, not ray.is_initialized()
        if self._began:
            try:
                if "://" in address:  # Ray itself would try for half a minute
                    host, _, port = address.removeprefix("ray://").partition(":")
                    socket.create_connection((host, int(port or 10001)), timeout=SECONDS_TO_ANSWER).close()
                ray.init(address if "://" in address else None, logging_level=logging.ERROR, log_to_driver=False)
            except (OSError, RuntimeError, ValueError) as problem:
                raise ExecutorFailed(
                    f"no Ray cluster answers at {address} ({short(str(problem))}); start one with 'ray start --head'."
                ) from None
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._call = ray.remote(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return _RayFuture(self._ray, self._call.remote(fn, *args, **kwargs))

    def close(self) -> None:
        if self._began:
            self._ray.shutdown()


class _RayFuture(Future[Any]):
    """What a task of Ray returns, which has no executor of its own; cancelling it cancels the task."""

    def __init__(self, ray: Any, reference: Any) -> None:
        super().__init__()
        self._ray, self._reference = ray, reference
        reference.future().add_done_callback(self._take)

    def _take(self, done: Future[Any]) -> None:
        if not self.set_running_or_notify_cancel():
            return
        problem = done.exception()
        if problem is None:
            self.set_result(done.result())
        else:  # what a run raised is wrapped, and what happened to a worker is not
            self.set_exception(getattr(problem, "cause", None) or problem)

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        self._ray.cancel(self._reference)
        return True


def _call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def _not_installed(address: str, library: str) -> str:
    return f"executor {address} needs {library}, which is not installed: pip install 'paretopick[{library}]'"


def check_sendable(executor: Executor, task: Any, name: str) -> None:
    """Refuses what cannot be sent to other processes of this machine; clusters have ways of their own to send it."""
    if not isinstance(executor, ProcessPoolExecutor):
        return
    try:
        pickle.dumps(task)
    except Exception as problem:
        raise InvalidInput(
            f"{name} cannot be sent to other processes ({problem}); define it at the top of a module that they can import, or "
            "leave workers= and executor= out."
        ) from None


@dataclass(frozen=True)
class Carried:
    """A task with the code of what is of your own in it, which whoever makes the runs need not be able to import."""

    data: bytes

    def unpacked(self) -> Any:
        """Returns the task."""
        return pickle.loads(self.data)


def carried(executor: Executor, task: Any, own: Iterable[object]) -> Any:
    """Returns what a Dask cluster is sent for a task, and the task itself for all others.

    Dask sends along what was defined at a prompt, and of what is in a module the name alone. So the modules of ``own``, classes
    and functions, and of the classes they come from, are packed here, unless they are installed: those are so on all machines.
    """
    if not (isinstance(executor, _Dask) or type(executor).__module__.partition(".")[0] == "distributed"):
        return task
    kinds = [kind for origin in own for kind in (origin.__mro__ if isinstance(origin, type) else (origin,))]
    modules = {getattr(kind, "__module__", None) or "builtins" for kind in kinds}
    local = [module for name in sorted(modules) if (module := sys.modules.get(name)) is not None and _is_local(module)]
    if not local:
        return task
    cloudpickle = import_module("cloudpickle")  # which Dask needs, too
    registered = cloudpickle.list_registry_pickle_by_value()
    added = [module for module in local if module.__name__ not in registered]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        return Carried(cloudpickle.dumps(task))
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


def _is_local(module: ModuleType) -> bool:
    """Whether a module lies about on this machine: it is neither installed nor a part of Python or of this package."""
    file = getattr(module, "__file__", None)
    if file is None or module.__name__.partition(".")[0] in ("__main__", "paretopick"):
        return False
    return not any(file.startswith(sysconfig.get_path(place)) for place in ("stdlib", "platstdlib", "purelib", "platlib"))


@contextmanager
def losses_explained(name: str) -> Iterator[None]:
    """Says that processes or a cluster were lost, where that is what went wrong, and not the runs of a policy."""
    try:
        yield
    except BrokenExecutor as problem:
        raise ExecutorFailed(
            f"a process that made runs of {name} has ended ({problem}). If the policy or the noise was defined in a notebook or "
            "at a prompt, other processes do not know it: leave workers= out, or define it in a module."
        ) from problem
    except CancelledError as problem:
        raise ExecutorFailed(f"the executor gave up runs of {name}; is the cluster still there?") from problem
    except Exception as problem:
        if "deserialization of the task graph" in str(problem):  # of Dask's scheduler, which reads what it hands on
            raise ExecutorFailed(
                f"the cluster cannot read what it was sent for {name} ({problem.__cause__ or problem}); the scheduler and all "
                "workers need the same release of paretopick, and whatever your policy or noise imports."
            ) from problem
        if type(problem).__module__.partition(".")[0] not in LOST:
            raise
        raise ExecutorFailed(f"the cluster lost runs of {name}, again and again: {problem}") from problem
