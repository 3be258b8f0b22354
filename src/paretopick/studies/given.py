"""What callers of a study give, checked: numbers of measurements, names, texts, what to look for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from paretopick._arrays import check_integer, check_name
from paretopick._words import short, text_of
from paretopick.errors import InvalidInput
from paretopick.studies.measurement import Measurement


def number_of(value: Any) -> int:
    """The number of a measurement, as databases can hold it."""
    if isinstance(value, Measurement):
        raise InvalidInput(f"{value!r} is a measurement; pass its number, which is .number of it: {value.number}.")
    return check_integer(value, "number", minimum=1, maximum=2**31 - 1)


def worker_of(name: str | None) -> str | None:
    """Who tells, if somebody says so."""
    return None if name is None else check_name(name, "worker")


def is_list(given: Any) -> bool:
    """Returns whether something is a list of things, and no text."""
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)


def each_of(given: Any) -> Iterable[Any]:
    """What is in a list, or the one thing that is given."""
    return given if is_list(given) else [given]


def mapping_of(given: Any, name: str) -> Mapping[Any, Any]:
    """Returns a mapping, or says that it is none."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name}={short(given)} is not a mapping from numbers of measurements; write for instance {{}}.")
    return given


def kept_text(why: str) -> str:
    """A text that every database can hold."""
    return text_of(why).replace("\0", "").encode("utf-8", "replace").decode()
