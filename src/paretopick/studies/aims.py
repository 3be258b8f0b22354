"""When a study is sure enough to stop before its budget is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, floor, inf, log
from typing import Any

from paretopick._arrays import check_choice, check_real
from paretopick._texts import number_of
from paretopick._words import joined, number_text, probability, short
from paretopick.errors import InvalidInput
from paretopick.metrics import Metric

Finest = float | Mapping[str, float | str]
"""Differences that a study shall resolve: one number, in units of the noise, or by metric in its unit; a share, such as "5%", of
metrics that are compared as logarithms."""

LEVEL = 0.95
"""How probable it must be that what is resolved is right, unless said otherwise."""

LESS = 0.25
"""The doubt that is left must be smaller than was asked for by such a share: who looks often sees some luck among the looks."""

MORE = 0.05
"""It is looked at again after so many more measurements, as a share of those at the last look."""


@dataclass(frozen=True)
class Aim:
    """What a study measures for; it stops as soon as that is reached. Without an aim it spends its budget."""

    confidence: float | None = None
    """The probability of being right, within the margins if there are some, that is enough; 1 never is."""
    resolution: Finest | None = None
    """The differences up to which the answer shall be right, with that probability, where no margins are declared."""

    @property
    def level(self) -> float:
        """With which probability the answer shall be right."""
        return LEVEL if self.confidence is None else self.confidence

    @property
    def needed(self) -> float:
        """With which probability it must look right for a study to stop."""
        return self.level + LESS * (1.0 - self.level)

    @property
    def is_set(self) -> bool:
        """Whether there is something to reach before the budget is spent."""
        return self.to_dict() != {} and self.level < 1.0

    @property
    def text(self) -> str:
        """What is to be reached, in words."""
        if self.resolution is None:
            return f"right with {probability(self.confidence)}"
        if isinstance(self.resolution, Mapping):
            parts = [f"{written(width)} in {name}" for name, width in self.resolution.items()]
            return f"right up to differences of {joined(parts)} with {probability(self.level)}"
        return f"right up to differences of {number_text(self.resolution)} times the noise with {probability(self.level)}"

    @property
    def until(self) -> str:
        """How long is measured, in words."""
        return f"until it is {self.text}" if self.is_set else "until the budget is spent"

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON values, without what is not said."""
        resolution = dict(self.resolution) if isinstance(self.resolution, Mapping) else self.resolution
        told = {"confidence": self.confidence, "resolution": resolution}
        return {name: value for name, value in told.items() if value is not None}

    def with_other(self, other: Aim) -> Aim:
        """Returns the same with what another one says."""
        return Aim(
            self.confidence if other.confidence is None else other.confidence,
            self.resolution if other.resolution is None else other.resolution,
        )

    def says(self, other: Aim) -> bool:
        """Returns whether it says all that another one says."""
        return self.with_other(other) == self


NO_AIM = Aim()
"""The budget is spent."""


def last_look(count: int) -> int:
    """Returns the last number of measurements, up to a count, at which it is looked whether an aim is reached.

    They are the powers of 1.05, rounded up, whoever looks: every count up to 24, then 26, 27, 28, 29, 31 and so on.

    >>> [last_look(count) for count in (0, 1, 21, 25, 26, 100)]
    [0, 1, 21, 24, 26, 99]
    """
    return min(count, ceil((1.0 + MORE) ** floor(log(count) / log(1.0 + MORE)))) if count > 0 else 0


def check_aim(confidence: Any, resolution: Any, metrics: Sequence[Metric]) -> Aim:
    """Returns when to stop, or says what is wrong with it.

    Args:
        confidence: a probability above 0.5, or None.
        resolution: a number in units of the noise, or a mapping from metrics to differences in their units, shares such as "5%"
            of metrics that are compared as logarithms; or None.
        metrics: of the study.
    """
    if isinstance(confidence, int | float) and 1 < confidence <= 100:
        raise InvalidInput(f"confidence={short(confidence)} is a probability; write {confidence / 100:g}.")
    level = None if confidence is None else check_real(confidence, "confidence", above=0.5, maximum=1.0)
    if resolution is None:
        return Aim(level)
    if margins := [metric.text for metric in metrics if metric.margin is not None]:
        raise InvalidInput(
            f"resolution={short(resolution)} says up to which differences to measure, and so do the margins ({joined(margins)}); "
            "leave resolution out and say confidence=0.95."
        )
    if not isinstance(resolution, Mapping):
        return Aim(level, check_real(resolution, "resolution", above=0.0))
    if not resolution:
        raise InvalidInput("resolution is empty; write a number, in units of the noise, or differences by metric.")
    noisy = [metric.name for metric in metrics if metric.compared and not metric.exact]
    logged = {metric.name for metric in metrics if metric.log}
    widths = {
        check_choice(name, noisy, "metric with noise and a goal"): _check_width(name, width, is_log=name in logged)
        for name, width in resolution.items()
    }
    return Aim(level, widths)


def _check_width(name: str, width: Any, *, is_log: bool) -> float | str:
    """Returns a difference in the unit of a metric, or the share of one that is compared as logarithms, as it is written."""
    what = f"resolution of {name!r}"
    if not is_log:
        if isinstance(width, str) and width.strip().endswith("%"):
            raise InvalidInput(
                f"{what} is {short(width)}, and the metric is not compared as logarithms; write a difference in its unit, or "
                "give the metric log=true."
            )
        return check_real(width, what, above=0.0)
    with suppress(ValueError):
        if isinstance(width, str) and width.strip().endswith("%") and 0.0 < number_of(width.strip()[:-1]) < inf:
            return width.strip()
    raise InvalidInput(
        f"{what} is {short(width)}, and the metric is compared as logarithms, so that ratios matter; write a share, such as '5%'."
    )


def width_of(given: float | str) -> float:
    """Returns a difference that ``check_aim`` took as a number, shares as ``Resolution.widths`` has them: 0.05 for 5%."""
    return number_of(given[:-1]) / 100 if isinstance(given, str) else given


def halved(given: float | str) -> float | str:
    """Returns half of a difference, written alike."""
    return f"{number_of(given[:-1]) / 2:.6g}%" if isinstance(given, str) else given / 2


def written(given: float | str) -> str:
    """Returns a difference as one writes it."""
    return given if isinstance(given, str) else number_text(given)
