"""One measurement as a user tells it: values of the metrics, and what stands beside them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from paretopick._arrays import check_name, check_sequence, unboxed
from paretopick._words import quoted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import ERROR_SUFFIX, Metric
from paretopick.studies.options import is_setting
from paretopick.studies.repeats import check_repeat

Values = Mapping[str, Any] | Sequence[Any]
"""One measurement, by name of the metric or in the order of the metrics; None for a metric that is missing. A mapping may have
more than the metrics: the plate, the day, what it cost."""

MOST_EXTRAS = 100
LONGEST_TEXT = 10_000
"""Values beside the metrics that a measurement may have, and characters that a text among them may have."""


class Told(NamedTuple):
    """One measurement, read from what a user gave."""

    row: list[float | None]
    """In the order of the metrics."""
    extra: dict[str, Any]
    """What was told beside the metrics: texts and numbers."""
    worker: str | None = None
    """Who made it, if it comes from elsewhere."""
    at: float | None = None
    """When, in seconds since 1970, likewise."""
    repeat: int | None = None
    """Which one of its option it was, from 0, if that was said."""
    by: str | None = None
    """The fingerprint of the function that made it, if one did."""

    @property
    def details(self) -> dict[str, Any] | None:
        """What the event of it says beside the values."""
        more: dict[str, Any] = {"extra": self.extra} if self.extra else {}
        more |= {name: value for name in ("at", "repeat", "by") if (value := getattr(self, name)) is not None}
        return more or None


def read_measurement(given: Values, metrics: Sequence[Metric], taken: Collection[str], counts_repeats: bool) -> Told:
    """Returns one measurement, or says by name what is wrong with it.

    Args:
        given: by name of the metric, or in the order of the metrics.
        metrics: of the study.
        taken: names of columns that tables have already.
        counts_repeats: whether ``repeat`` says which measurement of its option it is.
    """
    names = [metric.name for metric in metrics]
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        if missing:
            raise InvalidInput(
                f"there is no value for metric {quoted(missing)}, only for {quoted(given) or 'none'}; a measurement needs "
                f"{quoted(names)}, and None for what could not be measured.{_meant(missing, given)}"
            )
        row = [given[name] for name in names]
        extra = {name: value for name, value in given.items() if name not in names}
        told = extra.pop("repeat", None) if counts_repeats else None
        repeat = None if told is None or told == "" else check_repeat(told)
    else:
        repeat = None
        row, extra = check_sequence(given, "values", f"is not a measurement; give a mapping with {quoted(names)}"), {}
        if len(row) != len(metrics):
            raise InvalidInput(f"{short(row)} has {len(row)} values; a measurement has {len(names)}: {quoted(names)}.")
    values = [None if value is None else metric.value(value) for metric, value in zip(metrics, row, strict=True)]
    if not any(value is not None for value in values):
        raise InvalidInput("the measurement has no value at all; report it as failed instead.")
    return Told(values, _beside(extra, names, taken), repeat=repeat)


def _meant(missing: Sequence[str], given: Iterable[Any]) -> str:
    """Which metrics the names that were given may stand for, as a sentence."""
    by_lower = {name.lower(): name for name in missing}
    pairs = ((name, difflib.get_close_matches(str(name).lower(), by_lower, n=1)) for name in given)
    return "".join(f" By {short(name)} you may mean {by_lower[near[0]]!r}." for name, near in pairs if near)


def repeats_in(given: Any, metrics: Collection[str]) -> list[Any]:
    """Returns the measurements that a call of ``measure`` has brought: usually one, n if it brought arrays of n.

    A mapping may have arrays as values of metrics, beside numbers, which are then the same for all; what stands beside the
    metrics may be an array of as many, too. An array of rows, ``(n, metrics)``, a data frame, and a list of mappings are n. A
    row of a data frame is known by its names.

    >>> repeats_in({"quality": np.array([0.8, 0.9]), "cost": 3.0}, ["quality", "cost"])
    [{'quality': 0.8, 'cost': 3.0}, {'quality': 0.9, 'cost': 3.0}]
    """
    if hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2:  # a data frame of pandas, polars or Arrow
        given = {column: np.asarray(given[column]) for column in getattr(given, "column_names", given.columns)}
    elif hasattr(given, "to_dict") and getattr(given, "ndim", 0) == 1:  # a row of one, or a series without names
        named = given.to_dict()
        given = named if all(isinstance(name, str) for name in named) else given
    if isinstance(given, Mapping):
        return _taken_apart(given, metrics)
    if isinstance(given, list | tuple) and given and all(isinstance(each, Mapping) for each in given):
        return list(given)
    if getattr(given, "ndim", 0) != 2:
        return [given]
    rows = list(np.asarray(given))
    if not rows:
        raise InvalidInput("the array of measurements has no rows; report what could not be measured as failed.")
    return rows


def _taken_apart(given: Mapping[Any, Any], metrics: Collection[str]) -> list[Any]:
    columns = {name: value for name, value in given.items() if _is_column(value)}
    sizes = {name: len(columns[name]) for name in metrics if name in columns}
    if not sizes:
        return [given]
    n = max(sizes.values())
    if min(sizes.values()) != n or n == 0:
        found = ", ".join(f"{name!r} has {size}" for name, size in sizes.items())
        raise InvalidInput(f"{found} values; give as many of each metric, at least one, or a number that is the same for all.")
    split = {name: _listed(value) for name, value in columns.items() if len(value) == n}
    return [{name: split[name][place] if name in split else value for name, value in given.items()} for place in range(n)]


def _is_column(value: Any) -> bool:
    """Whether it is a list or a one-dimensional array, and no single number."""
    return isinstance(value, list | tuple) or len(getattr(value, "shape", ())) == 1


def _listed(column: Any) -> list[Any]:
    """The entries of an array as Python values; those of a list as they are, be they of different kinds."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _beside(given: Mapping[Any, Any], metrics: Sequence[str], taken: Collection[str]) -> dict[str, Any]:
    """What was told beside the metrics, without what is empty."""
    extra = {}
    for name, value in given.items():
        check_name(name, "value beside the metrics")
        if name in taken or name.endswith(ERROR_SUFFIX):
            raise InvalidInput(f"{name!r} is a column that tables have already; call this value otherwise.")
        value = unboxed(value)
        value = None if isinstance(value, float) and math.isnan(value) else value
        if value is not None and (not is_setting(value) or (isinstance(value, str) and len(value) > LONGEST_TEXT)):
            raise InvalidInput(
                f"{name!r} is {short(value)}; beside the metrics ({quoted(metrics)}) a measurement may have finite "
                f"numbers and texts of up to {LONGEST_TEXT:,} characters."
            )
        if value not in (None, ""):
            extra[name] = value
    if len(extra) > MOST_EXTRAS:
        raise InvalidInput(f"there are {len(extra)} values beside the metrics; at most {MOST_EXTRAS} are kept.")
    return extra
