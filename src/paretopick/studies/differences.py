"""By how much one option is ahead of another, metric by metric, in the units of the user and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from paretopick._words import percent

Interval = tuple[float, float]

TIMES = 1.5
"""From this ratio on a difference is said in times, below it in percent."""

HARDLY = 1e-3
"""Below this share a difference is said in the unit of the metric: 112 bytes, and not 0.00%; unless ratios are compared."""


@dataclass(frozen=True)
class Difference:
    """How an option differs from another in one metric, with 95% intervals."""

    metric: str
    difference: float
    """Its mean minus that of the other, in the unit of the metric."""
    interval: Interval
    """Of the difference; both ends are the same where there is no noise."""
    ratio: float | None = None
    """Its mean over that of the other; None unless the metric is positive throughout."""
    ratio_interval: Interval | None = None
    is_share: bool = False
    """Whether the metric is a chance or a share, of which one percent more would mean two things."""
    unit: str | None = None
    """Of the metric, if it was said."""
    in_ratios: bool = False
    """Whether options are compared in it by their ratios, so that differences are said as such however small they are."""

    def __str__(self) -> str:
        """In words, as said of the option: ``seconds 4.1 times smaller (3.6 to 4.6)``."""
        if self.difference == 0 and self.interval == (0.0, 0.0):
            return f"{self.metric} equal"
        way = "smaller" if self.difference < 0 else "larger"
        if self.ratio is not None and self.ratio_interval is not None:
            if max(self.ratio, 1 / self.ratio) >= TIMES:
                return f"{self.metric} {_times(self.ratio, self.ratio_interval, way)}"
            if self.in_ratios or (not self.is_share and abs(self.ratio - 1) >= HARDLY):
                return f"{self.metric} {_percent(self.ratio, self.ratio_interval, way)}"
        sign = -1.0 if self.difference < 0 else 1.0
        low, high = sorted(sign * end for end in self.interval)
        value, *ends = aligned(abs(self.difference), low, high)
        if not value.strip("0.,"):
            return f"{self.metric} about equal{_between(*ends)}"
        unit = "" if self.unit is None else f" {self.unit}"
        return f"{self.metric} {way} by {value}{unit}{_between(*ends)}"


@dataclass(frozen=True)
class Beaten:
    """Who is most likely to dominate an option, and by how much."""

    option: str
    """The option of the answer that is ahead."""
    probability: float
    """That it dominates: it is at least as good in every metric, and better in one."""
    by: tuple[Difference, ...]
    """One for each metric, of the option that is ahead against the one that is beaten."""

    def __str__(self) -> str:
        return f"{self.option}: {', '.join(map(str, self.by))}"


def aligned(value: float, low: float, high: float) -> tuple[str, str, str]:
    """Returns a number and the ends of its interval, to two digits of half its width, all with the same decimals.

    >>> aligned(12.3456, 12.30, 12.3912), aligned(1.5, 1.5, 1.5), aligned(88_000.0, 80_000.0, 96_000.0)
    (('12.346', '12.300', '12.391'), ('1.5', '1.5', '1.5'), ('88,000', '80,000', '96,000'))
    """
    half = (high - low) / 2
    if not half > 0 or not math.isfinite(half):
        return plain_number(value), plain_number(low), plain_number(high)
    decimals = max(0, 1 - math.floor(math.log10(half)))
    if decimals > 12 or abs(value) >= 1e15:
        return f"{value:.6g}", f"{low:.6g}", f"{high:.6g}"
    shown = (f"{number:,.{decimals}f}" for number in (value, low, high))
    first, second, third = (text.removeprefix("-") if not text.strip("-0.,") else text for text in shown)
    return first, second, third


def plain_number(value: float) -> str:
    """Returns a number with as many digits as people read."""
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.6g}" if abs(value) < 1000 or abs(value) >= 1e15 else f"{value:,.2f}"


def _times(ratio: float, interval: Interval, way: str) -> str:
    """``4.1 times smaller (3.6 to 4.6)``."""
    low, high = interval
    if way == "smaller":
        ratio, low, high = 1 / ratio, 1 / high, 1 / low if low > 0 else math.inf
    return f"{factor(ratio)} times {way}{_between(factor(low), factor(high))}"


def factor(ratio: float) -> str:
    """Returns how many times, with as many digits as people read."""
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"


def _percent(ratio: float, interval: Interval, way: str) -> str:
    """``1.2% smaller (0.4% to 2.0%)``; below zero it is the other way round."""
    sign = -1.0 if way == "smaller" else 1.0
    low, high = sorted(sign * (end - 1) for end in interval)
    between = _between(_signed_percent(low), _signed_percent(high))
    share = abs(ratio - 1)
    if share < 5e-5:  # which would be 0.00%
        return f"about equal{between}" if between else f"{100 * share:.2g}% {way}"
    return f"{percent(share)} {way}{between}"


def _signed_percent(share: float) -> str:
    return f"-{percent(-share)}" if share < -5e-5 else percent(abs(share))


def _between(low: str, high: str) -> str:
    return "" if low == high else f" ({low} to {high})"
