"""``reproduce``: makes the runs that entries of the catalogue need, piece by piece, and writes what follows from them."""

from __future__ import annotations

import logging
import os
import shlex
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from paretopick._arrays import check_choice, check_integer
from paretopick._files import remove_halves, write_whole
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.instances.files import read_snw
from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.claims import assess
from paretopick.paper.comparisons import Claim
from paretopick.paper.database import ResultsDatabase
from paretopick.paper.entries import Entry, Results, Rows
from paretopick.paper.page import csv_of, data_of, page_of, write_entry
from paretopick.paper.series import Series
from paretopick.simulation import ErrorCurve, simulate
from paretopick.simulation.engine import MOST_RUNS

log = logging.getLogger("paretopick")

RUNS = 4000
"""Per point in the paper."""

PIECE_SECONDS = 5.0
"""About how long a piece takes, which is what a kill can lose."""

Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with what is running, and with how much is done of how much: in nanoseconds, roughly."""


@dataclass(frozen=True)
class Reproduction:
    """What ``reproduce`` did.

    Args:
        files: that it wrote.
        claims: the nine of the paper, with what the figures and tables that were asked for say about them.
        spent: where the time went, one row per entry on the page.
        skipped: entries that it had to leave out for want of data.
        seconds: all of it took.
    """

    files: tuple[Path, ...]
    claims: tuple[Claim, ...]
    spent: Rows
    skipped: tuple[str, ...]
    seconds: float


def reproduce(
    names: Sequence[str] = (),
    *,
    out: str | os.PathLike[str],
    runs: int = RUNS,
    data: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Makes figures and tables of the paper and says what they say about its claims, from as many runs as are asked for.

    Finished pieces of work are kept in ``out/results.db``: the same call after a crash goes on where it stopped, and a call with
    more runs makes the missing ones only. Figures and data go to ``out/figures``, and the page to ``out/reproduction.md``, which
    shows all that was made in this folder so far. A claim is assessed by the figures and tables that it rests on.

    Args:
        names: of entries in ``CATALOGUE``; none is all of them, but for those whose data is not at hand.
        out: a folder, made if it is not there.
        runs: per point.
        data: the file of the sorting networks; None looks at the environment variable ``PARETOPICK_SNW``.
        workers: threads, by default one for each core; the results are the same for any number.
        seed: of the runs.
        progress: called with what is running, and how much of it is done.
    """
    began = time.perf_counter()
    runs = check_integer(runs, "runs", minimum=1, maximum=MOST_RUNS)
    seed = check_integer(seed, "seed", minimum=0, maximum=2**62)
    if workers is not None:
        check_integer(workers, "workers", minimum=1)
    for name in names:
        check_choice(name, CATALOGUE, "figure or table")
    if data is not None:
        read_snw(data)  # a file that is not what it should be is better known now than in an hour
    folder = _folder(out)
    database = ResultsDatabase(folder / "results.db", seed)
    if others := database.other_seeds():
        log.warning(
            "%s holds runs of seed %s too, which are not on the page of seed %s", folder, ", ".join(map(str, others)), seed
        )
    results = Results(database, data)
    entries, skipped = _chosen(names, results)
    runner = Runner(database, runs=runs, seed=seed, workers=workers, progress=progress)
    runner.plan(series for entry in entries for series in entry.series(results))
    figures = folder / "figures"
    files: list[Path] = []
    for entry in entries:
        for series in entry.series(results):
            runner.fill(series, f"{entry.name}: {series.label}")
        results.read_again()
        files += write_entry(entry, results, figures)
    shown = [entry for entry in CATALOGUE.values() if _is_shown(entry, results, figures)]
    for entry in shown:
        if entry not in entries and data_of(entry, results) != csv_of(entry, figures).read_bytes():
            files += write_entry(entry, results, figures)  # it shares runs with one that has more of them now
    spent = _spent(shown, results)
    on_page = assess(results, {*(entry.name for entry in shown), *skipped})
    page = page_of(shown, results, on_page, spent, command=_command(names, runs, data, seed), seed=seed)
    files.append(write_whole(folder / "reproduction.md", page.encode()))
    claims = assess(results, names) if names else on_page
    return Reproduction(tuple(files), tuple(claims), spent, tuple(skipped), time.perf_counter() - began)


def _command(names: Sequence[str], runs: int, data: str | os.PathLike[str] | None, seed: int) -> str:
    """What to type to get the same again; only the name of the data file, since others have it elsewhere."""
    options = ["--runs", str(runs)] if runs != RUNS else []
    options += ["--data", Path(data).name] if data else []
    options += ["--seed", str(seed)] if seed else []
    return shlex.join(["paretopick", "paper", *names, *options])


def _folder(out: str | os.PathLike[str]) -> Path:
    folder = Path(out)
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        text = f"out={os.fspath(out)!r} is no folder that can be written to ({problem.strerror}); name another one."
        raise InvalidInput(text) from None
    remove_halves(folder)
    remove_halves(folder / "figures")
    return folder


def _chosen(names: Sequence[str], results: Results) -> tuple[list[Entry], list[str]]:
    """The entries that are wanted, and the names of those that cannot be made or shown for want of data."""
    lacking = [entry for entry in CATALOGUE.values() if not all(map(results.has, entry.instances))]
    if not names:
        return [entry for entry in CATALOGUE.values() if entry not in lacking], [entry.name for entry in lacking]
    run_before = results.database.instances()
    skipped = [entry.name for entry in lacking if run_before.intersection(entry.instances)]
    entries = [CATALOGUE[name] for name in dict.fromkeys(names)]
    for entry in entries:
        for name in entry.instances:
            results.bandit(name)  # raises if its data is missing, which whoever named the entry should know
    return entries, skipped


def _is_shown(entry: Entry, results: Results, folder: Path) -> bool:
    """Whether an entry has been written, now or before, and all its runs are known here."""
    if not csv_of(entry, folder).exists() or not all(map(results.has, entry.instances)):
        return False
    return all(len(results.points(series)) == len(series.budgets) for series in entry.series(results))


def _spent(entries: Sequence[Entry], results: Results) -> Rows:
    """The seconds that the runs of each entry took, by kind of policy; runs that several entries show count for the first."""
    counted: set[tuple[str, int]] = set()
    spent: dict[str, defaultdict[str, float]] = {}
    for entry in entries:
        seconds: defaultdict[str, float] = defaultdict(float)
        for series in entry.series(results):
            for point in results.points(series):
                if (series.key, point.budget) not in counted:
                    counted.add((series.key, point.budget))
                    seconds["rounds" if series.by_rounds else series.policy] += point.seconds
        if seconds:
            spent[entry.name] = seconds
    columns = dict.fromkeys(column for seconds in spent.values() for column in seconds)
    return [
        {"entry": name, **{column: seconds.get(column, 0.0) for column in columns}, "total": sum(seconds.values())}
        for name, seconds in spent.items()
    ]


class Runner:
    """Fills a database up to so many runs of each series.

    Args:
        database: where finished pieces go.
        runs: asked for; a series takes its share of them.
        seed: of the runs.
        workers: threads, by default one for each core.
        progress: told about every step.
    """

    def __init__(
        self, database: ResultsDatabase, *, runs: int, seed: int, workers: int | None, progress: Progress | None
    ) -> None:
        self._database, self._runs, self._seed, self._workers = database, runs, seed, workers
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
        return simulate(
            series.bandit,
            (series.policy, series.options),
            budgets=budgets,
            runs=n,
            start=first,
            rng=self._seed,
            workers=1 if series.timed else self._workers,
            hypervolume=series.hypervolume,
            engine=series.engine,
            progress=advance,
        )
