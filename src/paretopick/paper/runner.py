"""The runner: makes the runs that entries need, piece by piece, and keeps each piece at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeAlias

from paretopick.errors import SimulationInterrupted
from paretopick.paper.ledger import Ledger
from paretopick.paper.series import Series
from paretopick.simulation import ErrorCurve, simulate

PIECE_SECONDS = 5.0
"""About how long a piece takes, which is what a kill can lose."""

Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with what is running, and with how much is done of how much: in nanoseconds, roughly."""


class Runner:
    """Fills a ledger up to so many runs of each series.

    Args:
        ledger: where finished pieces go.
        runs: asked for; a series takes its share of them.
        seed: of the runs.
        workers: threads, by default one for each core.
        progress: told about every step.
    """

    def __init__(self, ledger: Ledger, *, runs: int, seed: int, workers: int | None, progress: Progress | None) -> None:
        self._ledger, self._runs, self._seed, self._workers = ledger, runs, seed, workers
        self._progress = progress or (lambda doing, done, total: None)
        self._total = self._done = 0.0

    def plan(self, several: Iterable[Series]) -> None:
        """Learns what is to come, so that progress can say how much is left."""
        counted: set[tuple[str, int]] = set()
        for series in several:
            points = self._ledger.points(series)
            new = [budget for budget in series.budgets if (series.key, budget) not in counted]
            counted |= {(series.key, budget) for budget in series.budgets}
            missing = [max(series.wanted(self._runs) - (points[b].runs if b in points else 0), 0) for b in new]
            if new:
                self._total += series.weight * sum(missing) / len(series.budgets)

    def fill(self, series: Series, doing: str) -> None:
        """Makes the runs of a series that are missing."""
        wanted, pace = series.wanted(self._runs), series.weight * 1e-9
        while True:
            points = self._ledger.points(series)
            counted = {budget: points[budget].runs if budget in points else 0 for budget in series.budgets}
            first = min(counted.values(), default=wanted)
            if first >= wanted:
                return
            budgets = tuple(budget for budget in series.budgets if counted[budget] == first)
            ahead = min([wanted, *(n for n in counted.values() if n > first)])
            n = ahead - first if series.timed else min(ahead - first, max(int(PIECE_SECONDS / pace), 16))
            began = time.perf_counter()
            self._piece(series, budgets, first, n, doing)
            pace = max((time.perf_counter() - began) / n, 1e-9)

    def _piece(self, series: Series, budgets: tuple[int, ...], first: int, n: int, doing: str) -> None:
        weight = series.weight * len(budgets) / len(series.budgets)
        if series.timed:
            self._simulate(series, budgets, first, 8)  # compiles, and fills the caches of the processor
        before = self._done
        began = time.perf_counter_ns()

        def advance(done: int, _: int) -> None:
            self._done = before + weight * done
            self._progress(doing, self._done, max(self._total, self._done))

        advance(0, n)
        try:
            curve = self._simulate(series, budgets, first, n, advance)
        except SimulationInterrupted as stop:
            if isinstance(stop.partial, ErrorCurve) and len(stop.partial.spans) == 1 and stop.partial.spans[0].first == first:
                self._ledger.add(series, stop.partial, time.perf_counter_ns() - began)
            raise
        self._ledger.add(series, curve, time.perf_counter_ns() - began)

    def _simulate(
        self, series: Series, budgets: tuple[int, ...], first: int, n: int, advance: Callable[[int, int], None] | None = None
    ) -> ErrorCurve:
        return simulate(
            series.bandit,
            (series.policy, series.options),
            budgets=budgets,
            runs=n,
            start=first,
            rng=self._seed,
            workers=1 if series.timed else self._workers,
            hypervolume=series.hypervolume,
            engine="compiled",
            progress=advance,
        )
