"""Metric: what is measured of every option, which direction of it is good, and in which width it is compared."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from paretopick._arrays import FloatArray, check_choice, check_distinct, check_flag, check_name, check_sequence
from paretopick._texts import split_at_commas
from paretopick._words import short
from paretopick.errors import InvalidInput

GOALS = {spelling: goal for goal in ("min", "max") for spelling in (goal, f"{goal}imum", f"{goal}imize", f"{goal}imise")}
"""What a goal may be written as, and what it means."""

LARGEST_VALUE = 1e150
"""Sums and squares of measurements stay finite up to this."""

MUST_SAY = 'must say which metrics have which goals: {"seconds": "min", "quality": "max"}'

MetricsGiven: TypeAlias = "Mapping[str, str] | Iterable[Metric] | str"
"""Metrics as users write them: ``{"seconds": "min"}``, a list of ``Metric``, or ``"seconds:min,price:min"``."""


@dataclass(frozen=True)
class Metric:
    """What is measured of every option: its name, and whether it is to be small or large.

    Args:
        name: under which values are told.
        goal: "min" or "max"; also "minimize", "maximise" and the like.
        exact: whether it is without noise, as a price.
        width: what differences are divided by to compare them with those in other metrics; by default the noise.

    >>> Metric("seconds", "minimize").goal
    'min'
    """

    name: str
    goal: str
    exact: bool = False
    width: float | None = None

    def __post_init__(self) -> None:
        check_name(self.name, "metric")
        object.__setattr__(self, "goal", _goal(self.name, self.goal))
        object.__setattr__(self, "exact", check_flag(self.exact, "exact"))
        if self.width is not None:
            object.__setattr__(self, "width", _width(self.name, self.width))
            if self.exact:
                raise InvalidInput(f"metric {self.name!r} is exact and has a scale; it can have one of both.")

    @property
    def sign(self) -> float:
        """What values are multiplied by to make larger better: 1 or -1."""
        return 1.0 if self.goal == "max" else -1.0

    @property
    def direction(self) -> str:
        """Which direction is good, in words."""
        return "small is good" if self.goal == "min" else "large is good"

    @property
    def title(self) -> str:
        """The name, and which direction is good."""
        return f"{self.name} ({self.direction})"

    @property
    def headings(self) -> list[str]:
        """What people read above its columns: the mean, and if there is noise the interval of that."""
        return [self.name] if self.exact else [self.name, INTERVAL]

    @property
    def error_column(self) -> str:
        """What tables call the column of its standard errors."""
        return f"{self.name}{ERROR_SUFFIX}"

    def divisor(self, noise: float) -> float:
        """Returns what differences are divided by: the width, or else the noise; 0 if there is no noise."""
        return 0.0 if self.exact else noise if self.width is None else self.width

    def value(self, given: Any) -> float:
        """Returns a measured value as a float, or says what is wrong with it."""
        if hasattr(given, "item") and getattr(given, "size", 1) == 1:  # a scalar, or an array of one number
            given = given.item()
        if not isinstance(given, numbers.Real):
            raise InvalidInput(f"metric {self.name!r} is {short(given)}, which is not a number.")
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InvalidInput(
                f"metric {self.name!r} is {number}; a measurement that failed has no values: call fail(), or raise an error "
                "where it is measured."
            )
        if abs(number) > LARGEST_VALUE:
            raise InvalidInput(f"metric {self.name!r} is {number:g}, beyond {LARGEST_VALUE:g}; use a larger unit.")
        return number


INTERVAL = "95% interval"
"""What people read above the intervals of means."""

ERROR_SUFFIX = " ±"
"""With which the columns of standard errors end."""


def check_metrics(
    given: MetricsGiven, *, exact: Iterable[str] | str = (), scale: Mapping[str, float] | None = None
) -> tuple[Metric, ...]:
    """Returns metrics as records, or says what is wrong with them.

    Args:
        given: names with goals, records, or a text such as ``"seconds:min,quality:max"``.
        exact: names of metrics without noise, beside those whose record says so.
        scale: width by name: of all metrics with noise, or None for the widths of the records.

    >>> [metric.title for metric in check_metrics("seconds:minimize,quality:max")]
    ['seconds (small is good)', 'quality (large is good)']
    """
    metrics = _records(given)
    names = [metric.name for metric in metrics]
    check_distinct(names, "metric")
    listed = [exact] if isinstance(exact, str) else list(exact) if isinstance(exact, Set) else exact
    certain = [check_choice(name, names, "metric") for name in check_sequence(listed, "exact", "is not a list of metrics")]
    for name in scale or ():
        check_choice(name, names, "metric")
    complete = tuple(_completed(metric, metric.name in certain, (scale or {}).get(metric.name)) for metric in metrics)
    if scale is not None or any(metric.width is not None for metric in complete):
        for metric in complete:
            if metric.width is None and not metric.exact:
                raise InvalidInput(
                    f"scale has nothing for metric {metric.name!r}; say what to divide it by, its noise for instance."
                )
    return complete


def signs_of(metrics: Iterable[Metric]) -> FloatArray:
    """Returns what values are multiplied by to make larger better, one number per metric."""
    return np.array([metric.sign for metric in metrics])


def goals_of(metrics: Iterable[Metric]) -> dict[str, str]:
    """Returns name to "min" or "max", as users read metrics back."""
    return {metric.name: metric.goal for metric in metrics}


def _records(given: Any) -> tuple[Metric, ...]:
    if isinstance(given, str):
        metrics = _from_text(given)
    elif isinstance(given, Mapping):
        metrics = tuple(Metric(name, goal) for name, goal in given.items())
    else:
        metrics = tuple(check_sequence(given, "metrics", MUST_SAY))
    if not metrics or not all(isinstance(metric, Metric) for metric in metrics):
        shown = given if isinstance(given, str | Mapping) or not metrics else list(metrics)
        raise InvalidInput(f"metrics={short(shown)} {MUST_SAY}.")
    return metrics


def _from_text(text: str) -> tuple[Metric, ...]:
    """``time:min,quality:max`` taken apart; a name may hold colons."""
    metrics = []
    for part in split_at_commas([text]):
        name, colon, goal = part.rpartition(":")
        if not colon or not name.strip():
            raise InvalidInput(f"{short(part)} in metrics={short(text)} is not NAME:min or NAME:max.")
        metrics.append(Metric(name.strip(), goal))
    return tuple(metrics)


def _completed(metric: Metric, exact: bool, width: Any) -> Metric:
    """A metric with what was said beside its record."""
    if width is not None and metric.width is not None and _width(metric.name, width) != metric.width:
        raise InvalidInput(f"metric {metric.name!r} has the width {metric.width:g} and in scale {width:g}; say it once.")
    return replace(metric, exact=metric.exact or exact, width=metric.width if width is None else width)


def _goal(name: str, goal: Any) -> str:
    known = GOALS.get(goal.strip().lower()) if isinstance(goal, str) else None
    if known is None:
        raise InvalidInput(f'metric {name!r} has the goal {short(goal)}; write "min" if small is good, "max" if large is.')
    return known


def _width(name: str, width: Any) -> float:
    is_number = isinstance(width, int | float | np.integer | np.floating) and not isinstance(width, bool)
    try:
        value = float(width) if is_number else math.nan
    except OverflowError:
        value = math.inf
    if not 1 / LARGEST_VALUE < value < LARGEST_VALUE:
        raise InvalidInput(f"metric {name!r} has the width {short(width)}, by which it is divided; it must be a positive number.")
    return value
