"""What a study is made of: events, which are kept for ever, and leases, which come and go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = "Sequence[float | None]"
"""The values of a measurement in the order of the metrics, None where one is missing."""


class Event(NamedTuple):
    """Something that happened and is never changed. ``kind`` says what, and which of the fields it has."""

    position: int
    """In the log of the study, from 1."""
    kind: str
    """told, failed, voided, corrected, retired, reinstated, joined, extended, aimed, described, imported, released"""
    number: int | None = None
    """Of the measurement."""
    arm: int | None = None
    round: int | None = None
    """In which it was asked for; None if it was measured before the study."""
    measured: Row | None = None
    """In the order and the units of the metrics; None where one is missing."""
    details: Mapping[str, Any] | None = None
    """Why, and what else goes with it."""
    worker: str | None = None
    at: float = 0.0
    """Seconds since 1970."""
    request: str | None = None
    """Of the call that made it: the same call made again finds it."""
    digest: str | None = None
    """By which a measurement, or an imported table, is known again when somebody brings it once more."""


class Place(NamedTuple):
    """How far a log was followed."""

    position: int
    """Of the last event."""
    head: str
    """By which all events up to there are known: each has a hash of its contents and of the hash before it."""


class Lease(NamedTuple):
    """A measurement that is out with a worker."""

    number: int
    arm: int
    round: int
    worker: str
    expires: float | None
    """Seconds since 1970; None for never."""
    withdrawn: bool
    repeat: int | None = None
    """Which one of its option it is, from 0; None if it was handed out before repeats were counted."""


class Checkpoint(NamedTuple):
    """What followed from a log up to a place."""

    place: Place
    state: Mapping[str, Any]
    """As JSON values."""


class Outstanding(NamedTuple):
    """What is out and waited for, as far as somebody who asks for more has to know."""

    mine: list[Lease]
    """With the worker who asks, by number."""
    over: list[Lease]
    """With others whose time is over, the longest ago first."""
    by_arm: dict[int, int]
    """How many of each option."""
    repeats: dict[int, list[int]]
    """Their repeats, ascending; without those that have none."""

    @staticmethod
    def from_rows(mine: list[Lease], over: list[Lease], waited_for: Iterable[tuple[int, int | None]]) -> Outstanding:
        """What is out, from the leases that are named one by one, and option and repeat of all that are waited for."""
        by_arm: dict[int, int] = {}
        repeats: dict[int, list[int]] = {}
        for arm, repeat in waited_for:
            by_arm[arm] = by_arm.get(arm, 0) + 1
            if repeat is not None:
                repeats.setdefault(arm, []).append(repeat)
        return Outstanding(mine, over, by_arm, {arm: sorted(numbers) for arm, numbers in repeats.items()})


def row_digest(arm: int, row: Row) -> str:
    """Returns by what a measurement is known again."""
    return hashlib.sha256(_row_text(arm, row)).hexdigest()[:16]


def table_digests(rows: Sequence[tuple[int, Row]]) -> Iterator[str]:
    """Yields, for the first row, the first two, ... all rows of a table, by what it is known again when it has grown."""
    digest = hashlib.sha256(b"[")
    for place, (arm, row) in enumerate(rows):
        digest.update((b", " if place else b"") + _row_text(arm, row))
        whole = digest.copy()
        whole.update(b"]")
        yield whole.hexdigest()


def _row_text(arm: int, row: Row) -> bytes:
    return repr((int(arm), [None if value is None else float(value) for value in row])).encode()
