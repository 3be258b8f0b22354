"""How a claim is judged: findings make parts, parts make a verdict.

Rates are compared by their 95% Wilson intervals: one is *better* if its interval lies below the other's. It is *much better* if
the odds, errors to right answers, of its upper limit are still below those of the other's lower limit when multiplied by
``MUCH``; odds, since a ratio of rates means little where both are near 1. What neither holds nor fails in this sense cannot be
decided with so many runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from paretopick.paper.contestants import Contestant
from paretopick.paper.entries import Counted, rate_and_interval
from paretopick.paper.evidence import Evidence
from paretopick.paper.ledger import Point

Verdict = Literal["holds", "does not hold", "cannot be decided"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "cannot be decided"

MUCH = 1.5
"""By what factor the odds of an error must differ for a policy to be much better."""


@dataclass(frozen=True)
class Finding:
    """One comparison: what was measured, and what it says; nothing, if it was not ``run``."""

    text: str
    verdict: Verdict
    run: bool = True


@dataclass(frozen=True)
class Part:
    """A part of a claim with the findings that decide it; one that ``counts`` not is shown beside the claim."""

    statement: str
    findings: tuple[Finding, ...]
    counts: bool = True

    @property
    def verdict(self) -> Verdict:
        """That of all findings together."""
        return together(finding.verdict for finding in self.findings)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, part by part."""

    number: int
    statement: str
    parts: tuple[Part, ...]
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        """That of all parts together which count."""
        return together(part.verdict for part in self.parts if part.counts)

    @property
    def run(self) -> bool:
        """Whether anything that counts has been run."""
        return any(finding.run for part in self.parts if part.counts for finding in part.findings)

    @property
    def contradicted_by(self) -> list[str]:
        """What the findings are about that count and do not hold."""
        counting = [finding for part in self.parts if part.counts for finding in part.findings]
        return [finding.text.partition(":")[0] for finding in counting if finding.verdict == FAILS]

    @property
    def reservations(self) -> list[str]:
        """What stands beside the claim and does not hold."""
        return [part.statement for part in self.parts if not part.counts and part.verdict == FAILS]


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on *all*: it holds if every one does, and fails if one does."""
    several = set(verdicts)
    return FAILS if FAILS in several else HOLDS if several == {HOLDS} else OPEN


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on *some*: it holds if one does, and fails if every one does."""
    several = set(verdicts)
    return HOLDS if HOLDS in several else FAILS if several == {FAILS} else OPEN


def missing(what: str, evidence: Evidence, instance: str = "") -> Finding:
    """Returns the finding about something that cannot be looked at, with the reason."""
    reason = "not run" if not instance or evidence.has(instance) else "its data file is not at hand"
    return Finding(f"{what}: {reason}", OPEN, run=False)


def shown(point: Point, of: Counted = "errors") -> str:
    """A rate with its interval, or its upper limit."""
    rate, low, high = rate_and_interval(point, of)
    return f"{rate:.4f} ({low:.4f} to {high:.4f})" if rate else f"0 (below {high:.4f})"


def compare(a: Point, b: Point, factor: float = 1.0, of: Counted = "errors") -> Verdict:
    """Whether the odds of a are lower than those of b by more than a factor; with factor 1, whether its rate is."""
    (_, low, high), (_, other_low, other_high) = rate_and_interval(a, of), rate_and_interval(b, of)
    if factor * odds(high) < odds(other_low):
        return HOLDS
    return FAILS if factor * odds(low) > odds(other_high) else OPEN


def odds(rate: float) -> float:
    """Errors to right answers."""
    return rate / (1 - rate) if rate < 1 else math.inf


def better(evidence: Evidence, name: str, one: Contestant, other: Contestant, factor: float = 1.0) -> Finding:
    """Returns whether one contestant is better than another at the paper's budget of an instance, by more than a factor."""
    a, b = evidence.final(name, one), evidence.final(name, other)
    if a is None or b is None:
        return missing(f"{name}, {one.full_label} and {other.full_label}", evidence, name)
    return Finding(f"{name}: {one.full_label} {shown(a)}, {other.full_label} {shown(b)}", compare(a, b, factor))
