"""``reproduce``: the paper, or parts of it, into a folder."""

from __future__ import annotations

import csv
import io
import logging
import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paretopick import plots
from paretopick._arrays import check_choice, check_integer
from paretopick._files import remove_halves, write_whole
from paretopick.errors import InvalidInput
from paretopick.instances.files import read_snw
from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.claims import judge
from paretopick.paper.entries import Entry, Rows
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import Claim
from paretopick.paper.ledger import Ledger
from paretopick.paper.page import write_page
from paretopick.paper.runner import Progress, Runner
from paretopick.simulation.engine import MOST_RUNS

log = logging.getLogger("paretopick")

RUNS = 4000
"""Per point in the paper."""


@dataclass(frozen=True)
class Reproduction:
    """What ``reproduce`` did: the files it wrote, the verdicts, where the time went, and what it had to leave out."""

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
    """Makes figures and tables of the paper and judges its claims, from as many runs as are asked for.

    Finished pieces of work are kept in ``out/results.db``: the same call after a crash goes on where it stopped, and a call with
    more runs makes the missing ones only. Figures and data go to ``out/figures``, and the page to ``out/reproduction.md``.

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
    ledger = Ledger(folder / "results.db", seed)
    if others := ledger.other_seeds():
        log.warning(
            "%s holds runs of seed %s too, which are not on the page of seed %s", folder, ", ".join(map(str, others)), seed
        )
    evidence = Evidence(ledger, data)
    entries, skipped = _chosen(names, evidence)
    runner = Runner(ledger, runs=runs, seed=seed, workers=workers, progress=progress)
    runner.plan(series for entry in entries for series in entry.series(evidence))
    files: list[Path] = []
    for entry in entries:
        for series in entry.series(evidence):
            runner.fill(series, f"{entry.name}: {series.label}")
        files += _write(entry, evidence, folder / "figures")
    shown = [entry for entry in CATALOGUE.values() if _is_shown(entry, evidence, folder / "figures")]
    for entry in shown:
        if entry not in entries and _data(entry, evidence) != _csv(folder / "figures", entry).read_bytes():
            files += _write(entry, evidence, folder / "figures")  # it shares runs with one that has more of them now
    claims = judge(evidence)
    spent = _spent(shown, evidence)
    page = write_page(shown, evidence, claims, spent, command=_command(names, runs, data, seed), seed=seed)
    files.append(write_whole(folder / "reproduction.md", page.encode()))
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


def _chosen(names: Sequence[str], evidence: Evidence) -> tuple[list[Entry], list[str]]:
    """The entries that are wanted, and the names of those that cannot be made or shown for want of data."""
    lacking = [entry for entry in CATALOGUE.values() if not all(map(evidence.has, entry.instances))]
    if not names:
        return [entry for entry in CATALOGUE.values() if entry not in lacking], [entry.name for entry in lacking]
    run_before = evidence.ledger.instances()
    skipped = [entry.name for entry in lacking if run_before.intersection(entry.instances)]
    entries = [CATALOGUE[name] for name in dict.fromkeys(names)]
    for entry in entries:
        for name in entry.instances:
            evidence.bandit(name)  # raises if its data is missing, which whoever named the entry should know
    return entries, skipped


def _data(entry: Entry, evidence: Evidence) -> bytes:
    """The data of an entry as a CSV file."""
    rows = entry.rows(evidence)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _csv(folder: Path, entry: Entry) -> Path:
    return folder / f"{entry.name}.csv"


def _write(entry: Entry, evidence: Evidence, folder: Path) -> list[Path]:
    """Writes the figure of an entry, and then its data: where these are, the figure is."""
    files = []
    with plots.look():
        figure = entry.draw(evidence)
        if figure is not None:
            files += plots.save(figure, folder, entry.name)
    return [*files, write_whole(_csv(folder, entry), _data(entry, evidence))]


def _is_shown(entry: Entry, evidence: Evidence, folder: Path) -> bool:
    """Whether an entry has been written, now or before, and all its runs are known here."""
    if not _csv(folder, entry).exists() or not all(map(evidence.has, entry.instances)):
        return False
    return all(len(evidence.points(series)) == len(series.budgets) for series in entry.series(evidence))


def _spent(entries: Sequence[Entry], evidence: Evidence) -> Rows:
    """The seconds that the runs of each entry took, by kind of policy; runs that several entries show count for the first."""
    columns = {"uniform": "rounds", "ege-sr": "rounds", "ege-sh": "rounds", "ege-gg": "rounds", "ege-sr-k": "rounds"}
    counted: set[tuple[str, int]] = set()
    rows = []
    for entry in entries:
        row = {"rounds": 0.0, "ape-fb": 0.0, "ape-fb-adapt": 0.0, "apt": 0.0}
        for series in entry.series(evidence):
            for point in evidence.points(series):
                if (series.key, point.budget) not in counted:
                    counted.add((series.key, point.budget))
                    row[columns.get(series.policy, series.policy)] += point.seconds
        if any(row.values()):
            rows.append({"entry": entry.name, **row, "total": sum(row.values())})
    return rows
