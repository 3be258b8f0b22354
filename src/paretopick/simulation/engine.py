"""``simulate``: many runs of a policy on a bandit, counted."""

from __future__ import annotations

import contextlib
import multiprocessing
import operator
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any, TypeAlias

import numpy as np

from paretopick._arrays import check_flag, check_integer
from paretopick.bandits import Bandit, Seed
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.policies import check_options, plain_options, policy_options
from paretopick.simulation.reference import Runner
from paretopick.simulation.results import ErrorCurve, Span

PolicySpec: TypeAlias = str | tuple[str, Mapping[str, Any]]

PIECE_SECONDS = 0.25
"""About how long a piece of work takes: the delay of progress, and what Ctrl-C can lose per worker."""


def simulate(
    bandit: Bandit,
    policy: PolicySpec,
    /,
    *,
    budgets: int | Iterable[int] | None = None,
    runs: int = 1000,
    rng: Seed = None,
    workers: int | None = None,
    start: int = 0,
    hypervolume: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> ErrorCurve:
    """Returns how often a policy errs on a bandit, at one budget or several.

    Runs are numbered, and run r draws from the same generator whatever the policy, the budget, the number of runs and the number
    of workers: the first 1,000 of 4,000 runs are those of a call with 1,000.

    Args:
        bandit: what is pulled.
        policy: a name, or (name, options). A policy that takes ``complexity`` (the oracle ``ape-fb``) is given the bandit's,
            unless the options say otherwise.
        budgets: one or several; by default the bandit's own.
        runs: at each budget.
        rng: an int, SeedSequence or Generator, as NumPy's functions take it; None draws a fresh seed, which the result keeps.
        workers: processes to share the runs between; by default one, this one. Where processes are spawned and not forked, a
            script that asks for several needs the usual ``if __name__ == "__main__":``.
        start: the number of the first run; ``simulate(..., start=1000)`` continues a curve of 1,000 runs, and ``+`` joins them.
        hypervolume: whether to compute the hypervolume fraction, which takes long for large fronts in many objectives.
        progress: called with (runs done, runs in all) as they are finished.

    Raises:
        SimulationInterrupted: on Ctrl-C; its ``partial`` is the curve of what was finished.

    >>> from paretopick.instances import instance
    >>> curve = simulate(instance("unique-dominator"), "ege-sr", budgets=[100, 2000], runs=20, rng=0)
    >>> curve.runs, curve.errors.tolist()
    (20, [14, 6])
    """
    runner = make_runner(bandit, policy, budgets=budgets, hypervolume=hypervolume)
    n = check_integer(runs, "runs", minimum=1)
    first = check_integer(start, "start", minimum=0)
    processes = 1 if workers is None else check_integer(workers, "workers", minimum=1)
    pieces = _Pieces(_seed(rng), first, first + n)
    total = runner.empty()
    curves = _in_turn(runner, pieces) if processes == 1 else _in_processes(runner, pieces, processes)
    try:
        with contextlib.closing(curves):
            for curve in curves:
                total += curve
                if progress is not None:
                    progress(total.runs, n)
    except KeyboardInterrupt:
        raise SimulationInterrupted(total if total.runs else None) from None
    return total


def make_runner(
    bandit: Bandit, policy: PolicySpec, /, *, budgets: int | Iterable[int] | None, hypervolume: bool = True
) -> Runner:
    """Returns what makes the runs; refuses a policy, an option or a budget that does not work before any run has started."""
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"bandit={bandit!r} is not a Bandit; write pp.instance(NAME) or pp.Bandit(means, noise=...).")
    name, options = _named(policy)
    options = informed_options(name, options, bandit)
    check_options(name, options)
    T = _budgets(budgets, bandit)
    runner = Runner(bandit, name, plain_options(options), T, check_flag(hypervolume, "hypervolume"))
    for budget in T:
        runner.player(budget)
    return runner


def _named(spec: PolicySpec) -> tuple[str, Mapping[str, Any]]:
    if isinstance(spec, str):
        return spec, {}
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[1], Mapping):
        return spec
    raise InvalidInput(f'policy={spec!r} is neither a name nor (name, options), such as ("ege-sr-k", {{"max_arms": 1}}).')


def informed_options(name: str, options: Mapping[str, Any], bandit: Bandit) -> dict[str, Any]:
    """Returns the options with the true complexity filled in for a policy that must be told it, as the oracle ``ape-fb``."""
    if "complexity" in policy_options(name) and "exploration" not in options:
        return {"complexity": bandit.complexity, **options}
    return {**options}


def _budgets(given: int | Iterable[int] | None, bandit: Bandit) -> tuple[int, ...]:
    if given is None:
        if bandit.budget is None:
            raise InvalidInput("budgets= is missing, and this bandit has no budget of its own; say budgets=[500, 1000].")
        given = bandit.budget
    one = isinstance(given, np.ndarray) and given.ndim == 0
    several = given if isinstance(given, Iterable) and not one else (given,)
    T = tuple(check_integer(budget, "budgets", minimum=0) for budget in several)
    if not T or len(set(T)) != len(T):
        raise InvalidInput(f"budgets={list(T)} must name at least one budget, and none twice.")
    return T


def _seed(rng: Seed) -> tuple[int, ...]:
    """The seed as plain integers: the entropy and the spawn key of a SeedSequence."""
    if isinstance(rng, np.random.Generator):
        rng = int(rng.integers(2**63))
    try:
        sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"rng={rng!r} is not a seed ({problem}); pass an int, SeedSequence or Generator.") from None
    try:
        entropy = operator.index(sequence.entropy)  # type: ignore[arg-type]
    except TypeError:
        # Several words of entropy become one number, so that every seed is written the same way.
        entropy = int.from_bytes(sequence.generate_state(4).tobytes(), "little")
    return (entropy, *map(int, sequence.spawn_key))


class _Pieces:
    """The runs cut into pieces, each about as long as ``PIECE_SECONDS``; where the cuts are does not change the result."""

    def __init__(self, seed: tuple[int, ...], first: int, last: int) -> None:
        self._seed, self._next, self._last = seed, first, last
        self._size = 1

    def take(self) -> Span | None:
        """The next piece, None when all are taken."""
        if self._next == self._last:
            return None
        span = Span(self._seed, self._next, min(self._next + self._size, self._last))
        self._next = span.last
        return span

    def learn(self, runs: int, seconds: float) -> None:
        """Sizes the pieces to come by how long one took."""
        self._size = max(1, min(2 * runs, int(runs * PIECE_SECONDS / max(seconds, 1e-9))))


def _in_turn(runner: Runner, pieces: _Pieces) -> Generator[ErrorCurve]:
    while (span := pieces.take()) is not None:
        began = time.perf_counter()
        curve = runner.span(span)
        pieces.learn(curve.runs, time.perf_counter() - began)
        yield curve


def _in_processes(runner: Runner, pieces: _Pieces, workers: int) -> Generator[ErrorCurve]:
    pool = ProcessPoolExecutor(workers, initializer=_start_worker, initargs=(runner,))
    waiting: set[Future[tuple[ErrorCurve, float]]] = set()
    try:
        while True:
            while len(waiting) <= workers and (span := pieces.take()) is not None:
                waiting.add(pool.submit(_work, span))
            if not waiting:
                break
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                curve, seconds = future.result()
                pieces.learn(curve.runs, seconds)
                yield curve
    except BaseException:
        _kill_workers(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends the workers in the middle of what they do: a run of a slow policy may take minutes, and Ctrl-C should not."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):  # Python 3.14 has terminate_workers() for this
        process.terminate()


_worker: Runner
"""In a worker process, what it runs; sent once, so that it can remember hypervolumes from piece to piece."""


def _start_worker(runner: Runner) -> None:
    global _worker
    _worker = runner
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends the workers
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """Ends a worker whose main process was killed; it would wait for work for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _work(span: Span) -> tuple[ErrorCurve, float]:
    began = time.perf_counter()
    curve = _worker.span(span)
    return curve, time.perf_counter() - began
