"""Who else uses the machine while times are measured: other programs, and other runs. What is not known here is not said."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from paretopick._words import cut

BUSY = 0.2
"""Share of the processors from which on others are worth a warning."""

WINDOW = 1.0
"""Seconds over which they are watched during a run."""

FIRST_WINDOW = 0.3
"""The same, before it."""


class OtherPrograms:
    """How much of the processors others use; ours are those of this process and of its children that have ended."""

    def __init__(self) -> None:
        self._before = _processors()

    def share(self, seconds: float = WINDOW) -> float | None:
        """Returns their share since the last time, from 0 to 1; None if it was less than so many seconds ago, or is not known."""
        if self._before is None or time.monotonic() - self._before[0] < seconds:
            return None
        now = _processors()
        if now is None:
            return None
        (_, busy, idle, ours), self._before = (after - before for after, before in zip(now, self._before, strict=True)), now
        return max(busy - ours, 0.0) / (busy + idle) if busy + idle > 0 else None

    def share_before(self) -> float | None:
        """Returns their share until now, after a moment if need be."""
        if self._before is not None:
            time.sleep(max(0.0, self._before[0] + FIRST_WINDOW - time.monotonic()))
        return self.share(FIRST_WINDOW)


def busy_text(share: float) -> str:
    """Returns what to say of others who use so much."""
    n = os.cpu_count() or 1
    processors = f"{share:.0%} of this machine" if n == 1 else f"{share * n:.1f} of {n} processors"
    return f"other programs use {processors} now: times come out longer and vary more, so that more measurements are needed."


def _processors() -> tuple[float, float, float, float] | None:
    """The time, and the seconds for which all processors were busy, had nothing to do, and worked for us (Linux)."""
    try:
        with open("/proc/stat", "rb") as file:
            ticks = [int(part) for part in file.readline().split()[1:9]]
        user, nice, system, idle, waiting, *interrupts = (count / os.sysconf("SC_CLK_TCK") for count in ticks)
    except (OSError, ValueError, AttributeError):
        return None
    return time.monotonic(), user + nice + system + sum(interrupts), idle + waiting, sum(os.times()[:4])


@contextmanager
def timing(what: str) -> Iterator[str | None]:
    """Yields what another run on this machine times right now, None if there is none; others are told that we do.

    Args:
        what: that we time.
    """
    try:
        place = os.path.join(tempfile.gettempdir(), f"paretopick-times-{os.getuid()}")
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except (OSError, AttributeError):
        yield None
        return
    try:
        other = None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # let go by the system, however we end
        except OSError:
            other = cut(os.pread(file, 1000, 0).decode(errors="replace").strip(), 200) or "something"
        else:
            with suppress(OSError):
                os.ftruncate(file, 0)
                os.pwrite(file, f"{what} (process {os.getpid()})".encode(errors="replace"), 0)
        yield other
    finally:
        os.close(file)
