"""What a study is made of: events, which are kept for ever, and leases, which come and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Event(NamedTuple):
    """Something that happened and is never changed. ``kind`` says what, and which of the fields it has."""

    position: int
    """In the log of the study, from 1."""
    kind: str
    """told, failed, voided, retired, extended, imported"""
    number: int | None = None
    """Of the measurement."""
    arm: int | None = None
    round: int | None = None
    """In which it was asked for; None if it was measured before the study."""
    measured: Sequence[float] | None = None
    """In the order and the units of the metrics."""
    details: Mapping[str, Any] | None = None
    """Why, and what else goes with it."""
    worker: str | None = None
    at: float = 0.0
    """Seconds since 1970."""


class Lease(NamedTuple):
    """A measurement that is out with a worker."""

    number: int
    arm: int
    round: int
    worker: str
    expires: float | None
    """Seconds since 1970; None for never."""
    withdrawn: bool
