"""Signals that are heard where nothing is half done: Ctrl-C, and requests to end.

A signal that raises wherever the program happens to be may leave a lock of ``concurrent.futures`` taken for ever, or something
started that nobody knows of. So it is only noted, and raised by whoever waits next; the third that nobody has heard is
raised at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType

from paretopick.storage.patience import hurry

UNHEARD = 3
"""So many signals in a row, and the program has no time to listen."""


class Stopped(KeyboardInterrupt):
    """A signal other than Ctrl-C that asks us to end at once; ``number`` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


class Inbox:
    """Where signals are noted, and by which whoever waits is woken."""

    def __init__(self) -> None:
        # The one queue to which a signal handler may write at any time, even while this thread is reading it.
        self._arrived: SimpleQueue[int | None] = SimpleQueue()
        self._unheard = 0

    @contextmanager
    def open(self, signals: Iterable[int]) -> Iterator[None]:
        """Notes these signals for as long as it lasts, where they can be: in the main thread, unless they are ignored."""
        before = {}
        hurry(False)
        if threading.current_thread() is threading.main_thread():
            for number in signals:
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    before[number] = signal.signal(number, self._note)
        try:
            yield
            hurry(False)  # not after a request to end: what is left to be done must be done soon
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def wake(self, *_: object) -> None:
        """Has ``wait`` look again at what it waits for; from any thread."""
        self._arrived.put(None)

    def check(self) -> None:
        """Raises what has been noted: ``KeyboardInterrupt`` for Ctrl-C, ``Stopped`` for the others."""
        while True:
            try:
                self._hear(self._arrived.get_nowait())
            except Empty:
                return

    def wait(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Waits so long, or until something is the case, which is looked at when somebody wakes us; raises as ``check`` does."""
        deadline = time.monotonic() + seconds
        self.check()
        while not until() and (left := deadline - time.monotonic()) > 0:
            try:
                self._hear(self._arrived.get(timeout=left))
            except Empty:
                return

    def _hear(self, number: int | None) -> None:
        if number is not None:
            self._unheard = 0
            raise _interrupt(number)

    def _note(self, number: int, _: FrameType | None) -> None:
        self._unheard += 1
        if number != signal.SIGINT:
            hurry(True)
        if self._unheard >= UNHEARD:
            raise _interrupt(number)
        self._arrived.put(number)


def _interrupt(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)
