"""When measurements were made, as people and spreadsheets read and write it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from paretopick._words import short
from paretopick.errors import InvalidInput


def time_text(at: float) -> str:
    """Returns a moment, in seconds since 1970, as people and spreadsheets read it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def time_of(given: Any) -> float | None:
    """Returns when a measurement was made, in seconds since 1970, from a text, a date or that number; None for nothing.

    Without a time zone it is the time of Greenwich.

    >>> time_of("2026-01-31T12:00:00"), time_of(1769860800.0), time_of("")
    (1769860800.0, 1769860800.0, None)
    """
    if given is None or given == "":
        return None
    try:
        if isinstance(given, float):  # as in the rows of ``measurements``
            at = given
        else:
            moment = given if isinstance(given, datetime) else datetime.fromisoformat(given)
            at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        time_text(at)  # which exports have to be able to write
    except (TypeError, ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"its time ('at') is {short(given)}; write it as 2026-01-31T12:00:00+00:00, or leave it empty."
        ) from None
    return at
