"""What an event may say, and after what: for whoever checks a log that nobody else has looked at."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from paretopick._words import counted, short
from paretopick.events import Event, Lease, row_digest
from paretopick.studies.definition import Definition
from paretopick.studies.repeats import LARGEST_REPEAT

NEEDED = {
    "told": ("number", "arm", "measured"),
    "voided": ("number", "arm", "measured", "why"),
    "failed": ("number", "arm", "why"),
    "corrected": ("number", "arm", "measured", "why", "before"),
    "retired": ("arm", "why"),
    "reinstated": ("arm", "why"),
    "joined": ("option", "settings"),
    "extended": ("budget",),
    "aimed": (),
    "described": (),
    "imported": ("digest",),
    "released": ("numbers",),
}
"""The fields, and the details, that an event of each kind has."""

FATES = ("", "told", "failed", "voided", "released")


class Wrong(Exception):
    """What is wrong with an event or a lease, in words."""


class Contents:
    """What was said so far, to compare with what is said next.

    Args:
        definition: of the study, None if it cannot be read.
        next_number: that the next new measurement would get.
    """

    def __init__(self, definition: Definition | None, next_number: Any) -> None:
        self._n_options = None if definition is None else len(definition.options)
        self._n_metrics = None if definition is None else len(definition.metrics)
        self._next_number = next_number if is_whole(next_number, 1) else 2**31
        self._fates = _Fates()
        self._retired: set[int] = set()

    def read(self, row: Sequence[Any]) -> Event:
        """Returns an event from its row, in the order of the chain; raises ``Wrong``."""
        event = _event(row)
        needed = NEEDED.get(event.kind)
        if needed is None:
            raise Wrong("this kind of event is not known here; a later version of paretopick may have written it")
        details: Mapping[str, Any] = {} if event.details is None else event.details
        for name in needed:
            match name:
                case "number":
                    self._check_number(event.number)
                case "arm":
                    self._check_arm(event.arm)
                case "measured":
                    self._check_values(event.measured)
                case "before":
                    self._check_values(details.get("before"))
                case _ if name not in details:
                    raise Wrong(f"it does not say {name!r}")
        self._check_digest(event, details)
        _check_shared(details)
        if event.round is not None and not is_whole(event.round, 1):
            raise Wrong(f"its round is {short(event.round)}")
        if not _is_real(event.at):
            raise Wrong(f"its time is {short(event.at)}")
        self._check_fate(event, details)
        return event

    def check_lease(self, row: Sequence[Any]) -> None:
        """Raises ``Wrong`` if a measurement cannot be out with a worker as a row says."""
        lease = Lease(*row)
        number = self._check_number(lease.number)
        self._check_arm(lease.arm)
        if self._fates[number]:
            raise Wrong(f"it was {self._fates[number]} already")
        if not is_whole(lease.round, 1) or not isinstance(lease.worker, str) or lease.withdrawn not in (False, True):
            raise Wrong(f"it cannot be read, it is {short(tuple(row), 100)}")
        if lease.expires is not None and not _is_real(lease.expires):
            raise Wrong(f"it ends at {short(lease.expires)}")
        _check_shared({"repeat": lease.repeat})

    def _check_number(self, number: Any) -> int:
        if not is_whole(number, 1) or number >= self._next_number:
            raise Wrong(f"its number is {short(number)}, and the next one to be given is {self._next_number}")
        return int(number)

    def _check_arm(self, arm: Any) -> None:
        if not is_whole(arm, 0) or (self._n_options is not None and arm >= self._n_options):
            raise Wrong(f"its option is {short(arm)}, and expected was a number below {self._n_options}")

    def _check_values(self, values: Any) -> None:
        n = self._n_metrics
        known = [value for value in values if value is not None] if isinstance(values, list) else []
        if not known or n not in (None, len(values)) or not all(map(_is_real, known)):
            raise Wrong(f"its values are {short(values)}, and expected were {counted(n or 0, 'finite number')}")

    def _check_digest(self, event: Event, details: Mapping[str, Any]) -> None:
        expected = None
        if event.kind in ("told", "corrected"):
            expected = row_digest(event.arm or 0, event.measured or ())
        elif event.kind == "imported":
            expected = str(details["digest"])[:16]
        if event.digest != expected:
            raise Wrong(f"its digest is {short(event.digest)}, and {short(expected)} follows from its contents")

    def _check_fate(self, event: Event, details: Mapping[str, Any]) -> None:
        """Whether it comes after what it has to come after."""
        if event.kind == "released":
            numbers = details["numbers"]
            if not isinstance(numbers, list):
                raise Wrong(f"it gives back {short(numbers)}, which is no list")
            for number in map(self._check_number, numbers):
                self._fates[number] = self._fates[number] or "released"
        elif event.kind == "retired":
            arm = int(event.arm or 0)
            if arm in self._retired:
                raise Wrong(f"option {arm} was retired before")
            self._retired.add(arm)
        elif event.kind == "reinstated":
            if event.arm not in self._retired:
                raise Wrong(f"option {event.arm} was not retired before")
            self._retired.remove(int(event.arm or 0))
        elif event.kind == "joined":
            if self._n_options is not None:
                self._n_options += 1
        elif event.kind == "corrected":
            if self._fates[event.number or 0] != "told":
                raise Wrong(f"measurement {event.number} was {self._fates[event.number or 0] or 'not told'} before")
        elif event.number is not None:
            before, self._fates[event.number] = self._fates[event.number], event.kind
            if before != ("told" if event.kind == "voided" else ""):
                raise Wrong(f"measurement {event.number} was {before or 'not told'} before")


class _Fates:
    """What became of each number, in pieces, so that one absurd number does not take all the memory."""

    def __init__(self) -> None:
        self._pieces: defaultdict[int, bytearray] = defaultdict(lambda: bytearray(4096))

    def __getitem__(self, number: int) -> str:
        piece = self._pieces.get(number >> 12)
        return "" if piece is None else FATES[piece[number & 4095]]

    def __setitem__(self, number: int, fate: str) -> None:
        self._pieces[number >> 12][number & 4095] = FATES.index(fate)


def _check_shared(details: Mapping[str, Any]) -> None:
    """Whether a measurement can be the repeat that is said, and in the block."""
    repeat, block = details.get("repeat"), details.get("block")
    if repeat is not None and not (is_whole(repeat, 0) and repeat <= LARGEST_REPEAT):
        raise Wrong(f"its repeat is {short(repeat)}, and expected was a whole number from 0 on")
    if block is not None and not isinstance(block, str) and not _is_real(block):
        raise Wrong(f"its block is {short(block)}, and expected was a number or a text")


def is_whole(value: Any, minimum: int) -> bool:
    """Returns whether a value is a whole number that is not too small."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= minimum


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _event(row: Sequence[Any]) -> Event:
    position, kind, number, arm, round_, measured, details, worker, at, request, digest = row
    try:
        values = None if measured is None else json.loads(measured)
        more = None if details is None else json.loads(details)
    except (TypeError, ValueError):
        raise Wrong(f"its contents are not JSON: {short(details if measured is None else measured)}") from None
    if not isinstance(kind, str) or not (more is None or isinstance(more, dict)):
        raise Wrong(f"it cannot be read, it is {short(tuple(row), 100)}")
    return Event(position, kind, number, arm, round_, values, more, worker, at, request, digest)
