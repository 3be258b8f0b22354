"""Tables, JSON and CSV on stdout; progress on stderr."""

from __future__ import annotations

import csv
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from paretopick._files import write_whole
from paretopick.errors import InvalidInput
from paretopick.studies import Study
from paretopick.studies.views import StudyProgress

PROSE = ("summary", "options")
"""Columns that may be wrapped in a narrow terminal; names and numbers may not."""


def print_table(header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """Prints a table; columns of numbers are flushed right.

    Names and numbers are never cut: in a narrow terminal prose is wrapped, and what is still too wide runs over.
    """
    cells = [[text(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    needed = 0
    for name, column in zip(header, zip(*cells, strict=True), strict=True):
        prose = name in PROSE
        width = 30 if prose else max(cell_len(cell) for cell in (name, *column))
        justify: JustifyMethod = "right" if all(_is_number(cell) for cell in column) else "left"
        table.add_column(name.replace("_", " "), justify=justify, no_wrap=not prose, min_width=width)
        needed += width + 2
    for row in cells:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width if console.is_terminal else 1000, needed)
    console.print(table)


def text(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:,.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={'none' if entry is None else text(entry)}" for key, entry in value.items())
    return "" if value is None else str(value)


def print_json(value: Any) -> None:
    """Prints one JSON document."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    """The same with null where a float is infinite or NaN, which JSON has no words for."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Prints rows with a header."""
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int | None], Callable[[int, int], None]]]:
    """Yields a function that adds a bar with a name and a total, if known, and returns what moves it to (done, total).

    On a terminal only; and without a thread of its own, since simulations fork.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name, total: lambda done, _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as display:

        def add(name: str, total: int | None) -> Callable[[int, int], None]:
            task = display.add_task(name, total=total)
            return lambda done, all_: display.update(task, completed=done, total=all_, refresh=True)

        yield add


@contextmanager
def work_bar() -> Iterator[Callable[[str, float, float], None]]:
    """Yields what shows (what is running, how much is done, of how much): a bar with the time that is left.

    Without a terminal it is a line for each new thing that runs.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        latest = ""

        def tell(doing: str, done: float, total: float) -> None:
            nonlocal latest
            if doing != latest:
                print(f"{done / max(total, 1.0):4.0%}  {doing}", file=sys.stderr, flush=True)
            latest = doing

        yield tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as display:
        task = display.add_task("")

        def advance(doing: str, done: float, total: float) -> None:
            display.update(task, description=doing, completed=done, total=total, refresh=True)

        yield advance


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").removeprefix("< ") or "0")
    except ValueError:
        return False
    return True


def write_or_print(content: bytes, path: Path | None, what: str, *, force: bool) -> None:
    """Writes a file that is not there yet, whole or not at all, and says so; or prints the content."""
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    check_target(path, force=force)
    write_whole(path, content)
    print(f"Wrote {what} to {path}")


def check_target(path: Path | None, *, force: bool) -> None:
    """Refuses to overwrite a file, and to write into a folder that is not there."""
    if path is not None and path.exists() and not force:
        raise InvalidInput(f"{path} is there already; add --force to overwrite it, or choose another name.")
    if path is not None and not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}; make it first, or choose another name.")


@contextmanager
def study_bar(study: Study) -> Iterator[Callable[[Study, str], None]]:
    """Yields what shows where a study stands, and a sentence if something went wrong; a line per round without a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        latest, looked = 0, 0.0

        def tell(_: Study, sentence: str) -> None:
            nonlocal latest, looked
            if time.monotonic() - looked > 0.5:  # apt has a round for every few measurements
                now, looked = study.progress(guess=True), time.monotonic()
                if now.round != latest:
                    print(_progress(now), file=sys.stderr, flush=True)
                    latest = now.round
            if sentence:
                print(sentence, file=sys.stderr, flush=True)

        yield tell
        return
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task("", total=study.progress().planned)
        shown = 0.0

        def advance(_: Study, sentence: str) -> None:
            nonlocal shown
            if sentence:
                display.console.print(sentence, markup=False, highlight=False)
            if sentence or time.monotonic() - shown > 0.1:
                now = study.progress(guess=True)
                shown = time.monotonic()
                display.update(task, completed=now.used, total=now.planned, description=_progress(now))

        advance(study, "")
        yield advance


def _progress(now: StudyProgress) -> str:
    """Round, who is still in, and who is on the front."""
    rounds = f"/{now.rounds}" if now.rounds else ""
    waiting = "" if now.due > now.out or now.done else f", the last {now.out} are being measured"
    guess = now.best_guess or ()
    front = ", ".join(guess[:6]) + (" ..." if len(guess) > 6 else "")
    return f"round {now.round}{rounds}, {now.active} active{waiting}, front: {front or 'unknown yet'}"
