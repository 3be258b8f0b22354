"""Progress on stderr: bars on a terminal, a line now and then without one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.progress import MofNCompleteColumn, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from paretopick._progress import bars, nothing_else_shown
from paretopick.studies import Study
from paretopick.studies.standing import share_used, standing, used_text


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int | None], Callable[[int, int], None]]]:
    """Yields a function that adds a bar with a name and a total, if known, and returns what moves it to (done, total).

    On a terminal only; and without a thread of its own, since simulations fork.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name, total: lambda done, _: None
        return
    with bars(console, MofNCompleteColumn(), TimeRemainingColumn()) as display:

        def add(name: str, total: int | None) -> Callable[[int, int], None]:
            task = display.add_task(name, total=total)
            return lambda done, all_: display.update(task, completed=done, total=all_, refresh=True)

        yield add


@contextmanager
def resumable_work(out: Path) -> Iterator[Callable[[str, float, float], None]]:
    """The same as ``work_bar``, for work whose finished pieces are kept in a folder; Ctrl-C ends it and says how to go on."""
    try:
        with work_bar() as advance:
            yield advance
    except KeyboardInterrupt:
        print(
            f"interrupted; what is finished is kept in {out / 'results.db'}: the same command goes on from there.",
            file=sys.stderr,
        )
        sys.exit(130)


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
    with nothing_else_shown(), bars(console, TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn()) as display:
        task = display.add_task("")

        def advance(doing: str, done: float, total: float) -> None:
            display.update(task, description=doing, completed=done, total=total, refresh=True)

        yield advance


@contextmanager
def study_bar(study: Study) -> Iterator[Callable[[Study, str], None]]:
    """Yields what shows where a study stands, and a sentence if something went wrong.

    Without a terminal it is a line for each round, or for each tenth of the budget where there are none.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        latest, looked = -1, 0.0

        def tell(_: Study, sentence: str) -> None:
            nonlocal latest, looked
            if sentence:  # which may be that the database does not answer: it is not asked now
                print(sentence, file=sys.stderr, flush=True)
            elif time.monotonic() - looked > 0.5:
                now, looked = study.progress(guess=True), time.monotonic()
                part = int(10 * share_used(now)) if now.roundless else now.round
                if part != latest:
                    print(f"{used_text(now)}: {standing(now)}", file=sys.stderr, flush=True)
                    latest = part

        yield tell
        return
    display = bars(console, MofNCompleteColumn(), TimeRemainingColumn(), auto_refresh=True)
    task = display.add_task("", total=study.progress().planned)
    shown = 0.0

    def advance(_: Study, sentence: str) -> None:
        nonlocal shown
        if sentence:
            display.console.print(sentence, markup=False, highlight=False)
        elif time.monotonic() - shown > 0.1:
            now = study.progress(guess=True)
            shown = time.monotonic()
            said = standing(now) if now.spent is None else f"{now.spent}, {standing(now)}"
            display.update(task, completed=now.used, total=now.planned, description=said)

    display.start()
    try:
        advance(study, "")
        yield advance
    finally:
        with suppress(OSError):  # the terminal may be gone
            display.stop()
