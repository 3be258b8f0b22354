"""The nine claims of the paper's experimental study, each judged by code from what was counted."""

from __future__ import annotations

from collections.abc import Callable

from paretopick.paper.claims.rates import adaptive, best_arm, equal_gaps, oracle, order
from paretopick.paper.claims.relaxation import hypervolume, relaxed
from paretopick.paper.claims.times_and_tables import runtime, tables
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import Claim

CLAIMS: tuple[Callable[[Evidence], Claim], ...] = (
    *(order, oracle, adaptive, equal_gaps, relaxed, hypervolume, runtime, tables, best_arm),
)


def judge(evidence: Evidence) -> list[Claim]:
    """Returns the nine claims with their verdicts; what has not been run cannot be decided."""
    return [claim(evidence) for claim in CLAIMS]
