"""The next step of a study in a sentence: how many more measurements of which options, or why no number will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick._words import capital, joined, probability
from paretopick.metrics import Metric
from paretopick.simulation import ErrorCurve
from paretopick.studies.ladders import Resolved
from paretopick.theory.requirements import Requirements

if TYPE_CHECKING:
    from paretopick.studies.continuation import Step

BEYOND_DOUBT = 1e9
"""What a difference in an exact metric counts for, in units of the noise of the others."""

ALONE = 0.5
"""An option is the reason for wrong answers if it is wrong in this share of them."""

NOTHING = 0.02
"""A gain of less is none."""

SURE = "It is sure enough: nothing more is needed."


NO_MARGIN = "No margin helps against doubts about a limit; one a little further away would."


@dataclass(frozen=True)
class Reason:
    """Why no number of measurements is enough."""

    text: str
    """In words, without a full stop."""
    is_limit: bool = False
    """Whether it is one option alone that is near a limit."""


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

    def missed(self, reason: Reason) -> str:
        """Returns what to say if none of the steps is enough: why, and which margins would do."""
        last = self.steps[-1]
        limit = f"{self.used + last.more:,}"
        remedy = NO_MARGIN
        if last.resolves is not None and not reason.is_limit:
            reached = f"{limit} measurements would bring it to {probability(self.target)}"
            remedy = f"Set margins: up to differences of {last.resolves.text}, {reached}."
        if last.right - self.present < NOTHING:
            stays = f"it stays at {probability(last.right)}"
            return self._with(f"no budget up to {limit} does much, {stays}: {reason.text}. {remedy}")
        half = next(step for step in self.steps if step.right - self.present >= (last.right - self.present) / 2)
        return self._with(
            f"{self._more(half.more)}{self._where(half)} would bring it from {probability(self.present)} to "
            f"{probability(half.right)}, and no budget up to {limit} brings it to {probability(self.target)}: "
            f"{reason.text}. {remedy}"
        )

    def _more(self, n: int) -> str:
        return f"about {n:,} more {'measurement' if n == 1 else 'measurements'}"

    def _where(self, step: Step) -> str:
        return f", mostly of {joined([repr(name) for name in step.mostly])}," if step.mostly else ""

    def _with(self, sentence: str) -> str:
        return capital(sentence if self.is_own else f"with the policy doubt, {sentence}")


def within_text(required: Requirements) -> str:
    """Returns what a right answer is, if not exactly the Pareto set, with a blank before it."""
    if not required.margins.any():
        return " about the options within the limits" if required.limited else ""
    return " within the margins" + (" and limits" if required.limited else "")


def resolved_sentence(more: int, resolved: Resolved | None, target: float) -> str:
    """Returns up to which differences the answer will be right after more measurements."""
    with_more = f"With {more:,} more {'measurement' if more == 1 else 'measurements'}"
    if resolved is None:
        return f"{with_more} no margins make it right with {probability(target)}: limits stay in doubt."
    if not resolved.text:
        return f"{with_more} it is right with {probability(target)}, however small the differences."
    return f"{with_more} it is right up to differences of {resolved.text}, with {probability(target)}."


def too_alike(
    curve: ErrorCurve,
    truths: FloatArray,
    exact: BoolArray,
    noise: FloatArray,
    names: Sequence[str],
    metrics: Sequence[Metric],
    required: Requirements,
) -> Reason:
    """Returns why the last step is not enough: who stays open, and by how little the worst of them differs from another.

    Or how near it is to a limit, if that is nearer.

    Args:
        curve: of simulated studies, counted by option.
        truths: ``(n_runs, n_options, n_metrics)`` the means in each of them, larger is better.
        exact: which metrics are without noise.
        noise: of one measurement in each metric.
        names: of the options.
        metrics: that they were measured in.
        required: which differences matter, and which limits options must keep, in the units of the truths.
    """
    wrong = curve.wrong_by_arm[-1] / curve.runs
    worst = int(wrong.argmax())
    open_ones = wrong[worst] < ALONE * curve.rate_within[-1]
    return nearest(Truths(truths, exact, noise, required), worst, names, metrics, several=bool(open_ones))


@dataclass(frozen=True, eq=False)
class Truths:
    """What the means may be, and in which units differences between them are measured."""

    means: FloatArray
    """``(n_truths, n_options, n_metrics)``, larger is better."""
    exact: BoolArray
    noise: FloatArray
    required: Requirements

    @property
    def widths(self) -> FloatArray:
        """What differences are divided by."""
        return np.where(self.exact | (self.noise == 0), 1.0, self.noise)

    def separation(self, option: int) -> FloatArray:
        """``(n_truths, n_options)``: how little it takes for another to cover or outdo an option, or it the other, or not."""
        apart = self.means - self.means[:, [option]]
        sides = [np.abs(self._excess(sign * apart, shift)) for sign in (1.0, -1.0) for shift in (1.0, -1.0)]
        found: FloatArray = np.minimum.reduce(sides)
        found[:, option] = np.inf
        return found

    def _excess(self, apart: FloatArray, shift: float) -> FloatArray:
        """By how much it is ahead in its best metric, with the margins added; exact values that are equal then do not count."""
        ahead = apart + shift * self.required.margins
        certain = np.where(ahead == 0, -np.inf, np.sign(ahead) * BEYOND_DOUBT)
        scaled = np.where(self.exact, certain, ahead / self.widths)
        return np.asarray(np.where(self.required.compared, scaled, -np.inf).max(axis=-1))

    def room(self, option: int) -> FloatArray:
        """``(n_truths, n_metrics)``: how far an option is from each limit; infinite where there is none, or no doubt."""
        away = np.abs(self.means[:, option] - self.required.limits) / self.widths
        return np.where(self.exact | ~np.isfinite(self.required.limits), np.inf, away)


def nearest(truths: Truths, worst: int, names: Sequence[str], metrics: Sequence[Metric], *, several: bool) -> Reason:
    """Returns by how little an option differs from another one, or how near it is to a limit; ``several`` are such."""
    margins, room = truths.separation(worst), truths.room(worst)
    limit = int(np.median(room, axis=0).argmin())
    if np.median(room[:, limit]) < np.median(margins.min(axis=1)):
        away = float(np.abs(np.median(truths.means[:, worst, limit] - truths.required.limits[limit])))
        metric = metrics[limit]
        said = f"(about {metric.difference_text(away)} from {metric.limit_text} in {metric.name!r})"
        if several:
            return Reason(f"several options stay open, such as {names[worst]!r}, which is near a limit {said}")
        return Reason(f"{names[worst]!r} is too near a limit {said}", is_limit=True)
    other = int(np.bincount(margins.argmin(axis=1)).argmax())
    apart = truths.means[:, other] - truths.means[:, worst]
    differences = np.abs(np.abs(apart) - truths.required.margins) / truths.widths
    differences[:, truths.exact | (truths.noise == 0) | ~truths.required.compared] = np.inf
    place = int(np.bincount(differences.argmin(axis=1)).argmax())
    pair = f"{names[worst]!r} and {names[other]!r}"
    size = metrics[place].difference_text(float(np.abs(np.median(apart[:, place]))))
    apart_by = f"(about {size} apart in {metrics[place].name!r})"
    return Reason(
        f"several options stay open, such as {pair} {apart_by}" if several else f"{pair} are hard to tell apart {apart_by}"
    )
