"""How a claim is judged: findings make parts, parts make a verdict.

Rates are compared by their 95% Wilson intervals: one is *better* if its interval lies below the other's, *much better* if that is
still so when it is multiplied by ``MUCH``. What neither holds nor fails in this sense cannot be decided with so many runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from paretopick.experiments.contestants import Contestant
from paretopick.experiments.entries import rate_and_interval
from paretopick.experiments.evidence import Evidence
from paretopick.experiments.ledger import Point

Verdict = Literal["holds", "does not hold", "cannot be decided"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "cannot be decided"

MUCH = 1.5
"""How many times as many errors are many more."""
MISSING = "not run"


@dataclass(frozen=True)
class Finding:
    """One comparison: what was measured, and what it says."""

    text: str
    verdict: Verdict


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


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Returns the verdict on all of them: it holds if all do, fails if one does."""
    several = set(verdicts)
    return FAILS if FAILS in several else HOLDS if several == {HOLDS} else OPEN


def final(evidence: Evidence, name: str, contestant: Contestant) -> Point | None:
    """Returns what has been counted of a contestant at the paper's budget, None if nothing has or the instance is not there."""
    return evidence.final(name, contestant) if evidence.has(name) else None


def shown(point: Point, of: str = "errors") -> str:
    """A rate with its interval, or its upper limit."""
    rate, low, high = rate_and_interval(point, of)
    return f"{rate:.4f} ({low:.4f} to {high:.4f})" if rate else f"0 (below {high:.4f})"


def compare(a: Point, b: Point, factor: float = 1.0, of: str = "errors") -> Verdict:
    """Whether a is better than b by more than a factor."""
    (_, low, high), (_, other_low, other_high) = rate_and_interval(a, of), rate_and_interval(b, of)
    return HOLDS if factor * high < other_low else FAILS if factor * low > other_high else OPEN


def better(evidence: Evidence, name: str, one: Contestant, other: Contestant, factor: float = 1.0) -> Finding:
    """Returns whether one contestant is better than another at the paper's budget of an instance, by more than a factor."""
    a, b = final(evidence, name, one), final(evidence, name, other)
    if a is None or b is None:
        return Finding(f"{name}: {MISSING}", OPEN)
    return Finding(f"{name}: {one.label} {shown(a)}, {other.label} {shown(b)}", compare(a, b, factor))


def any_of(findings: Sequence[Finding]) -> Finding:
    """It *can* be so: one is enough."""
    verdict = HOLDS if any(finding.verdict == HOLDS for finding in findings) else together(f.verdict for f in findings)
    return Finding("; ".join(finding.text for finding in findings), verdict)
