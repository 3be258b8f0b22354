"""The values of a saved policy: what JSON takes, and how arrays are read back from it."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretopick._arrays import LARGEST_BUDGET, check_real
from paretopick._words import short
from paretopick.errors import InvalidInput


def plain(value: Any, name: str = "option") -> Any:
    """Returns an option as new JSON values: numbers of any kind, lists, mappings; infinity, which JSON lacks, as a text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry, name) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), name)
    if isinstance(value, Iterable):
        return [plain(entry, name) for entry in value]
    if isinstance(value, numbers.Integral):
        return int(value)
    number = check_real(value, name, infinite=True)
    return number if np.isfinite(number) else str(number)


def array_like(mine: NDArray[Any], value: Any, name: str) -> NDArray[Any]:
    """Returns a saved array of the shape and the type of mine, with whole numbers that are whole and not negative."""
    given = np.array(value)
    if given.shape != mine.shape:
        raise InvalidInput(f"the saved {name} have shape {given.shape}; expected {mine.shape}.")
    if given.dtype.kind not in ("b" if mine.dtype.kind == "b" else "iuf"):
        raise TypeError(f"the saved {name} are {short(value)}")
    if mine.dtype == np.int64 and not ((given >= 0) & (given <= LARGEST_BUDGET) & (given == np.floor(given))).all():
        raise InvalidInput(f"the saved {name} are {short(value)}; expected whole numbers, none negative.")
    return given.astype(mine.dtype)
