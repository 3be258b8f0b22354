"""``reproduce``: makes the runs that entries of the catalogue need, and writes what follows from them."""

from __future__ import annotations

import os
import shlex
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from paretopick._arrays import check_choice
from paretopick._files import write_whole
from paretopick.instances.files import read_snw
from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.claims import assess
from paretopick.paper.comparisons import Claim
from paretopick.paper.entries import Entry, Results, Rows
from paretopick.paper.page import csv_of, data_of, page_of, write_entry
from paretopick.paper.runner import Progress, Runner, check_work, open_results, results_folder
from paretopick.simulation import opened

RUNS = 4000
"""Per point in the paper."""


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
    executor: Executor | str | None = None,
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
        executor: instead of workers, any ``concurrent.futures.Executor``, or the address of a cluster, as ``simulate`` takes it;
            runs whose time is measured are made here all the same.
        seed: of the runs.
        progress: called with what is running, and how much of it is done.
    """
    began = time.perf_counter()
    runs, seed = check_work(runs, seed, workers)
    for name in names:
        check_choice(name, CATALOGUE, "figure or table")
    if data is not None:
        read_snw(data)  # a file that is not what it should be is better known now than in an hour
    folder = results_folder(out)
    database = open_results(folder, seed)
    results = Results(database, data)
    entries, skipped = _chosen(names, results)
    figures = folder / "figures"
    files: list[Path] = []
    with opened(executor) as pool:
        runner = Runner(database, runs=runs, seed=seed, workers=workers, executor=pool, progress=progress)
        runner.plan(series for entry in entries for series in entry.series(results))
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
