"""Which margins would do: the answers of simulated studies, counted under margins that are ever larger.

They are multiples of the noise, or, where somebody asks what measurements resolve though margins are declared, of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._words import probability
from paretopick.metrics import Metric
from paretopick.simulation import ErrorCurve
from paretopick.studies.resolution import in_units
from paretopick.theory.requirements import Requirements

FACTORS: tuple[float, ...] = tuple(float(f"{factor:.3g}") for factor in np.geomspace(0.02, 20.0, 24))
"""Margins in units of the noise of one measurement, or of those declared, that are looked at, about a third more from one to
the next."""


@dataclass(frozen=True)
class Resolved:
    """Up to which differences an answer would be right."""

    factor: float
    """The margins in units of the noise of one measurement, or of those declared; 0 if it would be right without any."""
    widths: dict[str, float]
    """By metric with a goal, in its unit; of metrics that are compared as logarithms the share, 0.02 for 2%."""
    text: str
    """In words: ``0.8 ms in seconds and 40 kB in size``; empty if the answer would be right as it is."""
    of_declared: bool = False
    """Whether they are a multiple of the margins that were declared, and not of the noise."""

    @property
    def as_margins(self) -> str:
        """A multiple of the declared margins in words: ``margins 0.4 times as wide: 4.0% in seconds and 0.80% in size``."""
        wide = "as wide as declared" if f"{self.factor:.2g}" == "1" else f"{self.factor:.2g} times as wide"
        return f"margins {wide}: {self.text}"


@dataclass(frozen=True, eq=False)
class Ladder:
    """Margins that are the same multiple of the noise in every metric, and no smaller than those that were declared.

    Or the same multiple of those that were declared; metrics without one then stay without.
    """

    required: Requirements
    """What was declared, in the units of the simulation; with margins of 0 if these are to be found."""
    noise: FloatArray
    """``(n_metrics,)`` of one measurement, 0 where a metric is exact."""
    metrics: Sequence[Metric]
    of_declared: bool = False
    """Whether they are multiples of the declared margins, instead of the noise."""

    def margins(self, factor: float) -> list[float | None]:
        """Returns the margins at a multiple, as ``simulate`` takes them."""
        return list(self.required.with_margins(self._widened(factor)).as_margins)

    @property
    def rungs(self) -> list[list[float | None]]:
        """All that are looked at, as ``simulate`` takes them."""
        return [self.margins(factor) for factor in FACTORS]

    def reached(self, curve: ErrorCurve, place: int, share: float, *, first: int = 0) -> Resolved | None:
        """Returns from which margins on no more than a share of the answers at a budget were wrong; None if none would do.

        Args:
            curve: that was counted on the rungs.
            place: of the budget.
            share: of wrong answers.
            first: the number of the first rung of this ladder, if the curve has those of another one before it.
        """
        most = share * curve.runs
        declared = curve.margins == self.required.as_margins and not self.of_declared  # at 0 times these there are none
        before, errors = 0.0, float((curve.errors_within if declared else curve.errors)[place])
        if errors <= most:
            return self.at(0.0)
        counted = curve.errors_on_ladder[place, first : first + len(FACTORS)].tolist()
        for factor, wrong in zip(FACTORS, counted, strict=True):
            if wrong <= most:
                # Between two rungs by a straight line, in logarithms; below the first there is nothing to take them of.
                part = (errors - most) / (errors - wrong)
                return self.at(factor if before == 0.0 else math.exp(math.log(before) + part * math.log(factor / before)))
            before, errors = factor, wrong
        return None

    @property
    def narrowest(self) -> Resolved:
        """The first margins on the ladder that are wider than those declared: what to name where these are nearly enough."""
        wider = (factor for factor in FACTORS if (self._widened(factor) > self.required.margins).any())
        return self.at(next(wider, FACTORS[-1]))

    def at(self, factor: float) -> Resolved:
        """Returns what the margins at a multiple are in the units of the metrics."""
        return Resolved(factor, *in_units(self._widened(factor), self.metrics), self.of_declared)

    def _widened(self, factor: float) -> FloatArray:
        if self.of_declared:
            return factor * self.required.margins
        return np.maximum(self.required.margins, factor * self.noise)


def scaled_sentence(more: int, resolved: Resolved | None, target: float) -> str:
    """Returns within which multiple of the declared margins the answer will be right after more measurements."""
    with_more = f"With {more:,} more {'measurement' if more == 1 else 'measurements'}"
    if resolved is None:
        return f"{with_more} no margins up to {FACTORS[-1]:g} times as wide make it right with {probability(target)}."
    if not resolved.text:
        return f"{with_more} it is right with {probability(target)}, however small the differences."
    return f"{with_more} it is right with {probability(target)} within {resolved.as_margins}."
