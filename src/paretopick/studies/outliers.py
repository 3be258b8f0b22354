"""Values that are far from all others of their option: told in another unit, or beside the truth. They count, and are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isclose
from typing import NamedTuple

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick.estimates import estimate
from paretopick.events import Event
from paretopick.studies.repeats import kept_with
from paretopick.studies.state import State
from paretopick.studies.sums import Sums

FAR = 8.0
"""Standard deviations from the others, from which on a value is named."""

UNLIKELY = 1e-6
"""What chance has to do with it, at most: where the standard deviation is known from few repeats, even more of them are usual."""


@dataclass(frozen=True)
class FarOff:
    """A value that is far from the others."""

    number: int
    """Of the measurement."""
    option: str
    metric: str
    value: float
    others: float
    """The mean of the others of the option."""
    stds: float
    """How many standard deviations lie between."""

    def __str__(self) -> str:
        return (
            f"{self.metric}={self.value:.6g} of measurement {self.number} is {self.stds:,.0f} standard deviations from what else "
            f"was measured of {self.option!r}, {self.others:.6g} on average"
        )


def far_off(state: State, events: Sequence[Event]) -> list[FarOff]:
    """Returns the values of some measurements that are far from the others of their options.

    They are compared with what is there without any of them, and, since that may be little, as after a first file, each with all
    others.
    Chances, metrics that are 0 or 1, have no values that are far off, and differences within a margin do not matter.

    Args:
        state: with the measurements; it is used up.
        events: by which they were told, or corrected last.
    """
    definition, together = state.definition, _columns(state.sums)
    used = state.used
    gone = ({"why": ""} | kept_with(event, definition.pairing) for event in events)
    state.apply([event._replace(kind="voided", details=details) for event, details in zip(events, gone, strict=True)])
    apart = _columns(state.sums)
    all_counted = state.used == used - len(events)  # where rounds are planned, some may wait until their option is due
    found = []
    for arm, same in groupby(sorted(events, key=_option), key=_option):
        rows = list(same)
        for at, metric in enumerate(definition.metrics):
            if metric.exact:
                continue
            values = [(event, value) for event in rows if (value := (event.measured or ())[at]) is not None]
            told = sorted((float(metric.scaled(value)), event.number or 0) for event, value in values)
            for value, number, near in _outermost(told, apart[at], together[at] if all_counted else None, arm):
                if abs(value - near.others) <= metric.delta:
                    continue
                shown, others = (float(metric.unscaled(each)) for each in (value, near.others))
                found.append(FarOff(number, definition.options[arm], metric.name, shown, others, near.stds))
    return sorted(found, key=lambda each: each.number)


def notes_of(found: Sequence[FarOff]) -> Iterable[str]:
    """Yields what to do about some; two values that are all there is of their option are one, since either may be wrong."""
    for each in found:
        twin = next((other for other in found if _is_other(each, other)), None)
        if twin is None:
            yield f"{each}; correct or void it if it is wrong."
        elif each.number < twin.number:
            yield (
                f"{each.metric} of {each.option!r} is {each.value:.6g} in measurement {each.number} and {twin.value:.6g} in "
                f"measurement {twin.number}, {each.stds:,.0f} standard deviations apart; correct or void one if it is wrong."
            )


def _is_other(one: FarOff, other: FarOff) -> bool:
    """Whether the others that a value is far from are one, which is named, too."""
    same = (one.option, one.metric) == (other.option, other.metric) and one.number != other.number
    return same and isclose(one.others, other.value) and isclose(other.others, one.value)


def _option(event: Event) -> int:
    return event.arm or 0


def _outermost(
    told: Sequence[tuple[float, int]], apart: _Column, together: _Column | None, arm: int
) -> Iterable[tuple[float, int, _Distance]]:
    """Those of some values of an option, sorted, that are far off, and how far: from both ends, as long as there are some."""
    last = len(told)
    for place in range(last - 1, -1, -1):
        if (far := _far(told[place][0], apart, together, arm)) is None:
            break
        last = place
        yield *told[place], far
    for value, number in told[:last]:
        if (far := _far(value, apart, together, arm)) is None:
            break
        yield value, number, far


def _far(value: float, apart: _Column, together: _Column | None, arm: int) -> _Distance | None:
    """How far a value is from what was there without those that are looked at, or from all others; None if it is not far."""
    near = _distance(apart, arm, value)
    if near is not None and near.is_far:
        return near
    near = None if together is None else _distance(_without(together, arm, value), arm, value)
    return near if near is not None and near.is_far else None


class _Distance(NamedTuple):
    """Of a value from the others of its option."""

    others: float
    stds: float
    chance: float
    """That one more value is as far away, if noise is normal."""

    @property
    def is_far(self) -> bool:
        """Whether the value is to be named."""
        return self.stds > FAR and self.chance < UNLIKELY


class _Column(NamedTuple):
    """One metric of all options."""

    known: IntArray
    means: FloatArray
    squares: FloatArray
    binary: bool


def _columns(sums: Sums) -> list[_Column]:
    known, means, squares = sums.known.copy(), sums.means(), sums.squares()
    seen = np.flatnonzero(sums.counts).tolist()
    binary: Iterable[bool] = sums.binary(seen).tolist() if seen else [False] * known.shape[1]
    return [_Column(known[:, at], means[:, at], squares[:, at], is_binary) for at, is_binary in enumerate(binary)]


def _without(column: _Column, arm: int, value: float) -> _Column:
    """The same without one value of an option."""
    known, means, squares = column.known.copy(), column.means.copy(), column.squares.copy()
    rest = int(known[arm]) - 1
    if rest > 0:
        apart = value - means[arm]
        squares[arm] = max(squares[arm] - apart * apart * (rest + 1) / rest, 0.0) if rest > 1 else 0.0
        means[arm] -= apart / rest
    known[arm] = rest
    return column._replace(known=known, means=means, squares=squares)


def _distance(column: _Column, arm: int, value: float) -> _Distance | None:
    """How far a value is from the others of its option; None if nobody can say."""
    from scipy.special import stdtr

    seen = column.known > 0
    if not seen[arm] or not (column.known > 1).any() or (column.binary and value in (0.0, 1.0)):
        return None
    found = estimate(
        column.known[seen],
        column.means[seen][:, None],
        column.squares[seen][:, None, None],
        binary=np.array([False]),
        exact=np.array([False]),
        signs=np.array([1.0]),
    )
    place = int(seen[:arm].sum())
    std, mean = float(found.stds[place, 0]), float(column.means[arm])
    if std == 0:
        return None
    stds = abs(value - mean) / std
    spread = np.sqrt(1 + 1 / column.known[arm])  # the mean of the others is not known exactly, either
    return _Distance(mean, stds, 2 * float(stdtr(found.freedom[place, 0], -stds / spread)))
