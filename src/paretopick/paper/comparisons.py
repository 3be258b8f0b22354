"""What the paper's words mean in numbers (*outperformed*, *largely*, *slightly*), and how findings make a claim hold or not.

Rates are compared by their 95% intervals, so that what neither holds nor fails cannot be decided with so many runs. All
definitions are here, and ``DEFINITIONS`` says them on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.paper.database import Point
from paretopick.paper.entries import Counted, Results, rate_and_interval
from paretopick.paper.series import Algorithm

Result = Literal["holds", "does not hold", "cannot be decided"]
HOLDS: Result = "holds"
FAILS: Result = "does not hold"
OPEN: Result = "cannot be decided"

LARGELY = 2.0
"""By what factor the odds of an error must differ for *largely*; a smaller difference that is seen is *slightly*."""

MANY_ARMS, LARGE_FRONT = 50, 10
"""How many arms are many, and how many optimal arms make a complex Pareto set: about half of the experiments each."""

BETTER_FIT = 4.0
"""By how much the deviances of two curves must differ for one to fit better: two standard deviations, squared."""

DEFINITIONS = f"""Rates carry 95% Wilson intervals, hypervolume fractions the normal interval of a mean. Policies are compared
at the paper's budget, the last of each curve, unless something else is said. The words of the paper are taken to mean:

- *outperforms*: its interval lies below the other's;
- *largely*: the odds of an error (errors to right answers) are less than 1/{LARGELY:g} of the other's, at the ends of the
  intervals that are closest to each other. Odds, since a ratio of rates means little where both are near 1. The factor of
  {LARGELY:g} is our choice: the paper itself calls the performance of EGE-SR and EGE-SH "pretty close" (Section 4), where the
  odds read off its curves at the last budget differ by 1.81 (Figure 5) and 2.05 (Figure 1);
- *slightly*: it outperforms, and not largely;
- *particularly*: the geometric mean of the factors between the odds is larger there than in the other experiments; many arms
  are {MANY_ARMS} or more, a complex Pareto set has {LARGE_FRONT} optimal arms or more;
- *good competitor*: not largely outperformed by the worse of EGE-SR and EGE-SH;
- *dramatically*: wrong more often than right, and largely outperformed even by uniform allocation;
- *exponentially fast*: the logarithm of the loss against the budget is closer to a straight line than against the logarithm of
  the budget (deviances of the best fits that differ by more than {BETTER_FIT:g}).

A claim *holds* if all its findings do, *does not hold* if one of them is contradicted, and *cannot be decided* otherwise.
What stands beside a claim is shown and does not count.
"""


@dataclass(frozen=True)
class Finding:
    """One comparison: what was measured, and what it says; nothing, if it was not ``run``."""

    text: str
    result: Result
    run: bool = True


@dataclass(frozen=True)
class Part:
    """A part of a claim with the findings that decide it; one that does not count is shown beside the claim."""

    statement: str
    findings: tuple[Finding, ...]
    counts: bool = True

    @property
    def result(self) -> Result:
        """That of all findings together."""
        return all_of(finding.result for finding in self.findings)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper in its own words, part by part.

    Args:
        number: from 1 to 9.
        place: in the paper.
        quote: word by word.
        parts: those that were looked at.
        remark: what one should know besides.
        left_out: the figures and tables that the claim also rests on, and that were not asked for.
    """

    number: int
    place: str
    quote: str
    parts: tuple[Part, ...]
    remark: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def result(self) -> Result:
        """That of all parts together which count."""
        return all_of(part.result for part in self.parts if part.counts)

    @property
    def looked_at(self) -> bool:
        """Whether any runs say something about it, and not only about what stands beside it."""
        return any(finding.run for part in self.parts if part.counts for finding in part.findings)

    @property
    def summary(self) -> str:
        """The result in words, and whether all that it rests on was looked at."""
        if not self.looked_at:
            return "not looked at"
        return f"{self.result} as far as looked at" if self.left_out and self.result == HOLDS else self.result

    @property
    def contradicted_by(self) -> list[str]:
        """The findings that count and do not hold."""
        return [finding.text for part in self.parts if part.counts for finding in part.findings if finding.result == FAILS]


def all_of(several: Iterable[Result]) -> Result:
    """Returns the result for *all*: it holds if every one does, and fails if one does."""
    results = set(several)
    return FAILS if FAILS in results else HOLDS if results == {HOLDS} else OPEN


def any_of(several: Iterable[Result]) -> Result:
    """Returns the result for *some*: it holds if one does, and fails if every one does."""
    results = set(several)
    return HOLDS if HOLDS in results else FAILS if results == {FAILS} else OPEN


def missing(what: str, results: Results, instance: str = "") -> Finding:
    """Returns the finding about something that cannot be looked at, with the reason."""
    reason = "not run" if not instance or results.has(instance) else "its data file is not at hand"
    return Finding(f"{what}: {reason}", OPEN, run=False)


def shown(point: Point, of: Counted = "errors") -> str:
    """A rate with its interval, or its upper limit."""
    rate, low, high = rate_and_interval(point, of)
    return f"{rate:.4f} ({low:.4f} to {high:.4f})" if rate else f"0 (below {high:.4f})"


def odds(rate: float) -> float:
    """Errors to right answers."""
    return rate / (1 - rate) if rate < 1 else math.inf


def outperforms(a: Point, b: Point, factor: float = 1.0, of: Counted = "errors") -> Result:
    """Whether the odds of a are lower than those of b by more than a factor; with factor 1, whether its rate is."""
    (_, low, high), (_, other_low, other_high) = rate_and_interval(a, of), rate_and_interval(b, of)
    if factor * odds(high) < odds(other_low):
        return HOLDS
    return FAILS if factor * odds(low) > odds(other_high) else OPEN


def largely_outperforms(a: Point, b: Point) -> Result:
    """Whether the odds differ by more than ``LARGELY``."""
    return outperforms(a, b, LARGELY)


def slightly_outperforms(a: Point, b: Point) -> Result:
    """Whether a outperforms b, and not largely."""
    at_all, largely = outperforms(a, b), outperforms(a, b, LARGELY)
    if at_all == FAILS or largely == HOLDS:
        return FAILS
    return HOLDS if at_all == HOLDS and largely == FAILS else OPEN


def competes(a: Point, b: Point) -> Result:
    """Whether a is not largely outperformed by b."""
    opposite: dict[Result, Result] = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
    return opposite[outperforms(b, a, LARGELY)]


Comparison = Literal["outperforms", "largely outperforms", "slightly outperforms"]
COMPARE = {
    "outperforms": outperforms,
    "largely outperforms": largely_outperforms,
    "slightly outperforms": slightly_outperforms,
}


def finding(results: Results, name: str, one: Algorithm, how: Comparison, other: Algorithm) -> Finding:
    """Returns whether one algorithm compares so with another at the paper's budget of an instance, with the numbers."""
    a, b = results.final(name, one), results.final(name, other)
    if a is None or b is None:
        return missing(f"{name}, {one.full_label} and {other.full_label}", results, name)
    text = f"{name}: {one.full_label} {shown(a)}, {other.full_label} {shown(b)}"
    return Finding(f"{text}, odds {factor_between(a, b):.2f} times as high", COMPARE[how](a, b))


def factor_between(a: Point, b: Point) -> float:
    """The factor between the odds of b and those of a: above 1 where a errs less often."""
    return math.exp(_log_odds(b)[0] - _log_odds(a)[0])


def _log_odds(point: Point) -> tuple[float, float]:
    """The logarithm of the odds, and its variance; half a run is added on both sides, so that both exist where all err."""
    errors = int(point.curve.errors[0]) + 0.5
    right = point.runs + 1 - errors
    return math.log(errors / right), 1 / errors + 1 / right


def particularly(there: Sequence[tuple[Point, Point]], elsewhere: Sequence[tuple[Point, Point]]) -> tuple[float, float, Result]:
    """Whether the first of each pair outperforms the second by a larger factor there than elsewhere.

    Returns the geometric means of the factors, and the result by the normal interval of the difference of their logarithms.
    """
    means, variance = [], 0.0
    for pairs in (there, elsewhere):
        logs = [(_log_odds(a), _log_odds(b)) for a, b in pairs]
        means.append(sum(b[0] - a[0] for a, b in logs) / len(logs))
        variance += sum(a[1] + b[1] for a, b in logs) / len(logs) ** 2
    margin, ahead = 1.96 * math.sqrt(variance), means[0] - means[1]
    result = HOLDS if ahead > margin else FAILS if ahead < -margin else OPEN
    return math.exp(means[0]), math.exp(means[1]), result


def exponentially(points: Sequence[Point]) -> tuple[float, float, Result]:
    """Whether losses fall exponentially with the budget rather than with a power of it.

    Returns how far the counted losses are from the best curve of either kind, as deviances of Poisson counts, and the result.
    """
    losses = np.array([int(point.curve.relaxed_losses[0]) for point in points], dtype=np.float64)
    runs = np.array([point.runs for point in points], dtype=np.float64)
    budgets = np.array([point.budget for point in points], dtype=np.float64)
    if losses[-1] / runs[-1] >= losses[0] / runs[0]:
        return math.inf, math.inf, FAILS
    straight, power = (_deviance(x, losses, runs) for x in (budgets / budgets[-1], np.log(budgets / budgets[-1])))
    return straight, power, HOLDS if power - straight > BETTER_FIT else FAILS if straight - power > BETTER_FIT else OPEN


def _deviance(x: FloatArray, losses: FloatArray, runs: FloatArray) -> float:
    """That of counts from the curve ``runs * exp(a + b x)`` of the largest likelihood, which Newton's steps find."""
    design = np.column_stack((np.ones_like(x), x))
    expected = losses + 0.5
    for _ in range(50):
        wanted = np.log(expected / runs) + (losses - expected) / expected
        weights = np.sqrt(expected)[:, None]
        line, *_ = np.linalg.lstsq(weights * design, weights[:, 0] * wanted, rcond=None)
        expected = np.maximum(runs * np.exp(np.minimum(design @ line, 0.0)), 1e-9)
    seen = losses > 0
    return float(2 * ((losses[seen] * np.log(losses[seen] / expected[seen])).sum() - (losses - expected).sum()))
