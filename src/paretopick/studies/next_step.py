"""The next step of a study in a sentence: how many more measurements of which options, or why no number will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._words import capital, joined, probability
from paretopick.estimates import Estimates
from paretopick.metrics import Metric
from paretopick.simulation import ErrorCurve

if TYPE_CHECKING:
    from paretopick.studies.continuation import Step

ALONE = 0.5
"""An option is the reason for wrong answers if it is wrong in this share of them."""

NOTHING = 0.02
"""A gain of less is none."""

SURE = "It is sure enough: nothing more is needed."


@dataclass(frozen=True)
class NextStep:
    """How the next step of a study is said."""

    present: float
    target: float
    used: int
    steps: Sequence[Step]
    is_own: bool
    """Whether the study goes on with its own policy."""

    def reached(self, needed: int) -> str:
        """Returns what to say if so many more measurements are enough."""
        if needed == 0:
            return SURE
        step = next(step for step in self.steps if step.right >= self.target)
        return self._with(f"{self._more(needed)}{self._where(step)} would bring it to {probability(self.target)}.")

    def missed(self, why: str) -> str:
        """Returns what to say if none of the steps is enough."""
        last = self.steps[-1]
        limit = f"{self.used + last.more:,}"
        if last.right - self.present < NOTHING:
            return self._with(f"no budget up to {limit} does much, it stays at {probability(last.right)}: {why}.")
        half = next(step for step in self.steps if step.right - self.present >= (last.right - self.present) / 2)
        return self._with(
            f"{self._more(half.more)}{self._where(half)} would bring it from {probability(self.present)} to "
            f"{probability(half.right)}, and no budget up to {limit} brings it to {probability(self.target)}: {why}."
        )

    def _more(self, n: int) -> str:
        return f"about {n:,} more {'measurement' if n == 1 else 'measurements'}"

    def _where(self, step: Step) -> str:
        return f", mostly of {joined([repr(name) for name in step.mostly])}," if step.mostly else ""

    def _with(self, sentence: str) -> str:
        return capital(sentence if self.is_own else f"with the policy doubt, {sentence}")


def too_alike(
    curve: ErrorCurve, truths: FloatArray, estimates: Estimates, names: Sequence[str], metrics: Sequence[Metric]
) -> str:
    """Returns why the last step is not enough: who stays open, and by how little the worst of them differs from another."""
    wrong = curve.wrong_by_arm[-1] / curve.runs
    worst = int(wrong.argmax())
    noise = np.where(estimates.exact, 1.0, estimates.scale())
    apart = np.where(estimates.exact, np.sign(truths - truths[:, [worst]]) * 1e9, (truths - truths[:, [worst]]) / noise)
    # How little it takes for another option to be ahead of it in every metric, or it of the other.
    margins = np.minimum(np.abs(_excess(apart, estimates)), np.abs(_excess(-apart, estimates)))
    margins[:, worst] = np.inf
    other = int(np.bincount(margins.argmin(axis=1)).argmax())
    differences = np.abs(apart[:, other])
    differences[:, estimates.exact] = np.inf
    metric = int(np.bincount(differences.argmin(axis=1)).argmax())
    size = float(np.median(np.abs(truths[:, other, metric] - truths[:, worst, metric])))
    pair = f"{names[worst]!r} and {names[other]!r}"
    apart_by = f"(about {size:.2g} apart in {metrics[metric].name!r})"
    if wrong[worst] < ALONE * curve.rate[-1]:
        return f"several options stay open, such as {pair} {apart_by}"
    return f"{pair} are too alike {apart_by}"


def _excess(apart: FloatArray, estimates: Estimates) -> FloatArray:
    """By how much an option is ahead in its best metric; exact values that are equal do not count."""
    return np.asarray(np.where(estimates.exact & (apart == 0), -np.inf, apart).max(axis=-1))
