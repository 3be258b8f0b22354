"""``simulate``: many runs of a policy on a bandit, counted."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from paretopick._arrays import check_integer
from paretopick.bandits import Bandit
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.policies import plain_options, policy, policy_options
from paretopick.simulation.reference import simulate_span
from paretopick.simulation.results import TALLIES, ErrorCurve, Span

PolicySpec: TypeAlias = str | tuple[str, Mapping[str, Any]]
Work: TypeAlias = Callable[[Span], tuple[ErrorCurve, float]]
Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator | None

PIECE_SECONDS = 0.25
"""About how long a piece of work takes: the delay of progress and of Ctrl-C, and what Ctrl-C can lose per worker."""


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
    progress: Callable[[int, int], None] | None = None,
) -> ErrorCurve:
    """Returns how often a policy errs on a bandit, at one budget or several.

    Runs are numbered, and run r draws the same random numbers whatever the policy, the budget, the number of runs and the number
    of workers: the first 1,000 of 4,000 runs are those of a call with 1,000, and policies are compared on common random numbers.

    Args:
        bandit: what is pulled.
        policy: a name, or (name, options). A policy that takes ``complexity`` (the oracle ``ape-fb``) is given the bandit's,
            unless the options say otherwise.
        budgets: one or several; by default the bandit's own.
        runs: at each budget.
        rng: an int, SeedSequence or Generator, as NumPy's functions take it; None draws a fresh seed, which the result keeps.
        workers: processes to share the runs between; by default one, this one.
        start: the number of the first run; ``simulate(..., start=1000)`` continues a curve of 1,000 runs, and ``+`` joins them.
        progress: called with (runs done, runs in all) as they are finished.

    Raises:
        SimulationInterrupted: on Ctrl-C; its ``partial`` is the curve of what was finished.

    >>> from paretopick.instances import instance
    >>> curve = simulate(instance("unique-dominator"), "ege-sr", budgets=[100, 2000], runs=20, rng=0)
    >>> curve.runs, curve.errors.tolist()
    (20, [14, 6])
    """
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"bandit={bandit!r} is not a Bandit; write pp.instance(NAME) or pp.Bandit(means, noise=...).")
    name, options = _named(policy, bandit)
    T = _budgets(budgets, bandit)
    n = check_integer(runs, "runs", minimum=1)
    first = check_integer(start, "start", minimum=0)
    processes = 1 if workers is None else check_integer(workers, "workers", minimum=1)
    _try_out(bandit, name, options, T)

    work = partial(_timed_span, bandit, name, options, T)
    pieces = _Pieces(_seed(rng), first, first + n)
    total = ErrorCurve(bandit.name, name, options, T, np.zeros((len(T), len(TALLIES)), dtype=np.int64), spans=())
    try:
        for piece in _in_turn(work, pieces) if processes == 1 else _in_processes(work, pieces, processes):
            total += piece
            if progress is not None:
                progress(total.runs, n)
    except KeyboardInterrupt:
        raise SimulationInterrupted(total if total.runs else None) from None
    return total


def _named(spec: PolicySpec, bandit: Bandit) -> tuple[str, dict[str, Any]]:
    """The name and the options of a policy, as JSON values."""
    name: str
    options: Mapping[str, Any]
    if isinstance(spec, str):
        name, options = spec, {}
    elif isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[1], Mapping):
        name, options = spec
    else:
        raise InvalidInput(f'policy={spec!r} is neither a name nor (name, options), such as ("ege-sr-k", {{"max_arms": 1}}).')
    return name, plain_options(informed_options(name, options, bandit))


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
    several = given if isinstance(given, Iterable) else (given,)
    T = tuple(check_integer(budget, "budgets", minimum=0) for budget in several)
    if not T or len(set(T)) != len(T):
        raise InvalidInput(f"budgets={list(T)} must name at least one budget, and none twice.")
    return T


def _try_out(bandit: Bandit, name: str, options: Mapping[str, Any], budgets: tuple[int, ...]) -> None:
    """Refuses a budget or an option that does not work before any run has started."""
    for budget in budgets:
        policy(name, n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=budget, **options)


def _seed(rng: Seed) -> tuple[int, ...]:
    """The seed as plain integers: the entropy and the spawn key of a SeedSequence."""
    if isinstance(rng, np.random.Generator):
        rng = int(rng.integers(2**63))
    try:
        sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"rng={rng!r} is not a seed ({problem}); pass an int, SeedSequence or Generator.") from None
    entropy = sequence.entropy
    if not isinstance(entropy, int):
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


def _timed_span(
    bandit: Bandit, name: str, options: Mapping[str, Any], budgets: tuple[int, ...], span: Span
) -> tuple[ErrorCurve, float]:
    began = time.perf_counter()
    curve = simulate_span(bandit, name, options, budgets, span)
    return curve, time.perf_counter() - began


def _in_turn(work: Work, pieces: _Pieces) -> Iterator[ErrorCurve]:
    while (span := pieces.take()) is not None:
        curve, seconds = work(span)
        pieces.learn(curve.runs, seconds)
        yield curve


def _in_processes(work: Work, pieces: _Pieces, workers: int) -> Iterator[ErrorCurve]:
    # Ctrl-C is for this process alone: the workers finish the piece they are at.
    pool = ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
    waiting: set[Future[tuple[ErrorCurve, float]]] = set()
    try:
        while True:
            while len(waiting) <= workers and (span := pieces.take()) is not None:
                waiting.add(pool.submit(work, span))
            if not waiting:
                return
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                curve, seconds = future.result()
                pieces.learn(curve.runs, seconds)
                yield curve
    finally:
        pool.shutdown(cancel_futures=True)
