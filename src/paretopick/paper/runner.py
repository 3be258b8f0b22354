"""What makes runs: piece by piece, so that a kill loses seconds, into the results database of a folder."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import TypeAlias

from paretopick._arrays import check_integer
from paretopick._files import remove_halves
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.paper.database import ResultsDatabase
from paretopick.paper.series import Series
from paretopick.simulation import ErrorCurve
from paretopick.simulation.engine import MOST_RUNS

log = logging.getLogger("paretopick")

PIECE_SECONDS = 5.0
"""About how long a piece takes, which is what a kill can lose."""

Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with what is running, and with how much is done of how much: in nanoseconds, roughly."""


def check_work(runs: int, seed: int, workers: int | None) -> tuple[int, int]:
    """Returns the number of runs and the seed; refuses those, and numbers of threads, that cannot be."""
    if workers is not None:
        check_integer(workers, "workers", minimum=1)
    most = check_integer(runs, "runs", minimum=1, maximum=MOST_RUNS)
    return most, check_integer(seed, "seed", minimum=0, maximum=2**62)


def results_folder(out: str | os.PathLike[str]) -> Path:
    """Returns the folder of results with its place for figures, made if it is not there."""
    folder = Path(out)
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        text = f"out={os.fspath(out)!r} is no folder that can be written to ({problem.strerror}); name another one."
        raise InvalidInput(text) from None
    remove_halves(folder)
    remove_halves(folder / "figures")
    return folder


def open_results(folder: Path, seed: int) -> ResultsDatabase:
    """Returns the results database of a folder, and says so if it holds runs of other seeds."""
    database = ResultsDatabase(folder / "results.db", seed)
    if others := database.other_seeds():
        log.warning(
            "%s holds runs of seed %s too, which are not on the page of seed %s", folder, ", ".join(map(str, others)), seed
        )
    return database


class Runner:
    """Fills a database up to so many runs of each series.

    Args:
        database: where finished pieces go.
        runs: asked for; a series takes its share of them.
        seed: of the runs.
        workers: threads, by default one for each core.
        executor: instead of workers; runs whose time is measured are made here all the same.
        progress: told about every step.
    """

    def __init__(
        self,
        database: ResultsDatabase,
        *,
        runs: int,
        seed: int,
        workers: int | None,
        executor: Executor | None = None,
        progress: Progress | None,
    ) -> None:
        self._database, self._runs, self._seed = database, runs, seed
        self._workers, self._executor = workers, executor
        self._progress = progress or (lambda doing, done, total: None)
        self._total = self._done = 0.0

    def plan(self, several: Iterable[Series]) -> None:
        """Learns what is to come, so that progress can say how much is left."""
        counted: set[tuple[str, int]] = set()
        for series in several:
            points = self._database.points(series)
            new = [budget for budget in series.budgets if (series.key, budget) not in counted]
            counted |= {(series.key, budget) for budget in series.budgets}
            missing = [max(series.wanted(self._runs) - (points[b].runs if b in points else 0), 0) for b in new]
            if new:
                self._total += series.weight * sum(missing) / len(series.budgets)

    def fill(self, series: Series, doing: str) -> None:
        """Makes the runs of a series that are missing."""
        wanted, pace = series.wanted(self._runs), series.weight * 1e-9
        while True:
            points = self._database.points(series)
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
                self._database.add(series, stop.partial, time.perf_counter_ns() - began)
            raise
        self._database.add(series, curve, time.perf_counter_ns() - began)

    def _simulate(
        self, series: Series, budgets: tuple[int, ...], first: int, n: int, advance: Callable[[int, int], None] | None = None
    ) -> ErrorCurve:
        return series.simulate(
            budgets=budgets,
            runs=n,
            start=first,
            rng=self._seed,
            workers=1 if series.timed else self._workers,
            executor=None if series.timed else self._executor,
            progress=advance,
        )
