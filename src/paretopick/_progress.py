"""How far long work is: one line on a terminal or in a notebook, after a moment, and gone when the work ends."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from paretopick._words import short
from paretopick.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

SOON = 2.0
"""Seconds: work that takes less shows nothing."""

OFTEN = 0.2
"""Seconds between two looks at it."""

LATELY = 15.0
"""Seconds by whose speed the time that is left is guessed: parts of the work may be slower than others."""

_in_use = threading.Lock()
"""Held by whoever shows something: what is done for its sake shows nothing of its own."""


class Place(Protocol):
    """Where a line is shown."""

    def show(self, share: float, left: str, said: str) -> None:
        """Shows which share is done, the time that is left, and what is going on."""

    def close(self) -> None:
        """Takes the line away."""


class Line:
    """What whoever works tells how far it is; cheap to tell often.

    Args:
        place: where it is shown; None for nowhere.
        at_once: whether also work is shown that takes no longer than a moment.
    """

    def __init__(self, place: Place | None, *, at_once: bool = False) -> None:
        self._place = place
        self._next = time.monotonic() + (0.0 if at_once else SOON)
        self._lately: deque[tuple[float, float]] = deque([(time.monotonic(), 0.0)])
        """Moments, and the share that was done."""

    @property
    def due(self) -> bool:
        """Whether it is time to look again; for those to whom it takes a moment to say how far they are."""
        return self._place is not None and time.monotonic() >= self._next

    def show(self, done: float, total: float, said: str) -> None:
        """Shows how much is done of how much, and what is going on, if it is time to."""
        if self._place is None or not self.due:
            return
        share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
        with suppress(OSError, ValueError):  # the terminal may be gone, or closed
            self._place.show(share, self._left(share), said)
        self._next = time.monotonic() + OFTEN

    def _left(self, share: float) -> str:
        """The time that is left, as far as it can be guessed."""
        now = time.monotonic()
        self._lately.append((now, share))
        while len(self._lately) > 2 and self._lately[1][0] < now - LATELY:
            self._lately.popleft()
        begun, before = self._lately[0]
        return f"{clock((1.0 - share) * (now - begun) / (share - before))} left" if share > before else ""


@contextmanager
def progress_line(wanted: bool | None = None) -> Iterator[Line]:
    """Yields what shows how far some work is.

    By default on the standard error of a terminal or in a notebook, if the work takes longer than a moment. The line is gone when
    the work ends, however it does.

    Args:
        wanted: None as described; True from the start, and where there is neither terminal nor notebook a line of text for each
            tenth of the work; False for nothing.
    """
    if wanted is False or threading.current_thread() is not threading.main_thread() or not _in_use.acquire(blocking=False):
        yield Line(None)
        return
    place = None
    try:
        place = _place(bool(wanted))
        yield Line(place, at_once=bool(wanted))
    finally:
        try:
            if place is not None:
                with suppress(OSError, ValueError):
                    place.close()
        finally:
            _in_use.release()


@contextmanager
def nothing_else_shown() -> Iterator[None]:
    """While somebody else shows how far it is, what is done for its sake shows nothing of its own."""
    mine = _in_use.acquire(blocking=False)
    try:
        yield
    finally:
        if mine:
            _in_use.release()


def check_progress(wanted: Any) -> bool | None:
    """Returns whether progress is to be shown; None for where that helps."""
    if wanted is None or isinstance(wanted, bool):
        return wanted
    raise InvalidInput(f"progress={short(wanted)} is neither True, False nor None, nor a function that is told.")


def _place(wanted: bool) -> Place | None:
    if _in_notebook():
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return _Text() if wanted else None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Terminal:
    """A bar that goes when the work ends. What is printed meanwhile stands above it."""

    def __init__(self) -> None:
        self._display: Progress | None = None

    def show(self, share: float, left: str, said: str) -> None:
        if self._display is None:
            from rich.console import Console
            from rich.progress import TaskProgressColumn, TextColumn

            self._display = bars(Console(stderr=True), TaskProgressColumn(), TextColumn("{task.fields[left]}"))
            self._display.add_task(said, total=1.0, left=left)
            self._display.start()
        task = self._display.task_ids[0]
        self._display.update(task, completed=share, description=said, left=left, refresh=True)

    def close(self) -> None:
        if self._display is not None:
            self._display.stop()


class _Notebook:
    """A line of the output of a cell, replaced in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, share: float, left: str, said: str) -> None:
        text = "  ".join(filter(None, (f"{share:.0%}", left, said)))
        line = (
            f'<div style="display: flex; gap: 0.8em; align-items: center; white-space: nowrap; overflow: hidden">'
            f'<progress value="{share:.4f}" max="1" style="width: 12em; flex: none"></progress>'
            f"<span>{html.escape(text)}</span></div>"
        )
        self._replace({"text/plain": text, "text/html": line})

    def _replace(self, bundle: dict[str, str]) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)

    def close(self) -> None:
        if self._handle is not None:
            self._replace({"text/plain": "", "text/html": ""})


class _Text:
    """A line for each tenth of the work, for files and pipes."""

    def __init__(self) -> None:
        self._latest = -1

    def show(self, share: float, left: str, said: str) -> None:
        if int(10 * share) > self._latest:
            self._latest = int(10 * share)
            print("  ".join(filter(None, (f"{share:4.0%}", left, said))), file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


def bars(console: Console, *columns: ProgressColumn, auto_refresh: bool = False) -> Progress:
    """Returns bars for a terminal: each with the columns given, and at last what is running, in what room there is.

    Args:
        console: of the terminal.
        columns: behind the bar.
        auto_refresh: whether a thread keeps its times up to date; not where processes are forked.
    """
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    shown = (
        BarColumn(bar_width=24 if console.width >= 100 else 12),
        *columns,
        TextColumn("{task.description}", markup=False, table_column=rest),
    )
    return Progress(*shown, console=console, transient=True, auto_refresh=auto_refresh, expand=True)


def clock(seconds: float) -> str:
    """Returns a time as clocks show it.

    >>> clock(7.2), clock(62.0), clock(3600.0 * 30)
    ('0:07', '1:02', '30:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
