"""The answer to some measurements and how sure it is, from draws of what the true means may be; and the study rehearsed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick.errors import InvalidInput
from paretopick.estimates import Estimates
from paretopick.metrics import Metric, requirements_of
from paretopick.studies.aims import NO_AIM
from paretopick.studies.definition import Definition
from paretopick.studies.resolution import Resolution, resolution_of
from paretopick.studies.within import Within, answer_within, judged_within
from paretopick.theory.dominance import optimal_in_each
from paretopick.theory.requirements import Requirements, covers, optimal_and_feasible

DRAWS = 4000
"""Of the true means, for up to ``MANY`` options; with more of them fewer."""

MANY = 200
FEWEST_DRAWS = 200

MOST_PAIRS = 1 << 25
"""Of options in all draws together, where margins or limits make each of them count."""

NEAR = 0.5
"""Near-equals differ by less than such a part of the spread of all options, as far as is known."""


@dataclass(frozen=True)
class Certainty:
    """The probability that the whole answer is right, as far as the measurements can say.

    >>> from paretopick import identify
    >>> values = {"a": (9.0, 3.0), "b": (5.0, 2.0), "c": (4.0, 2.5)}
    >>> metrics = {"quality": "max", "price": "min"}
    >>> result = identify(values.get, list(values), metrics, 30, exact=["quality", "price"])
    >>> result.certainty.probability, result.certainty.draws
    (1.0, 4000)
    """

    probability: float | None
    """None if they say too little: ``how`` says why."""
    interval: tuple[float, float] | None
    """95%, of the number of draws alone."""
    draws: int
    how: str
    """In a sentence or two, how it was computed."""


@dataclass(frozen=True)
class Rehearsal:
    """How often the same study would be right if the means as measured were the truth.

    Not the probability that this study is right: near ties look further apart in the means as measured than they are. See
    docs/certainty.md.

    Of a study that is open::

        rehearsal = study.result(rehearsals=1000).rehearsal
        print(rehearsal.rate, rehearsal.interval)
    """

    right: int
    runs: int
    rate: float
    interval: tuple[float, float]
    how: str


class Interval(NamedTuple):
    """Between which values something is, with a probability of 95% or as asked for, and in the middle of which."""

    low: float
    middle: float
    """The median."""
    high: float


@dataclass(frozen=True, eq=False)
class Judgement:
    """What all measurements together say about some options: joint draws of the true means, and what is counted in them.

    Options are named by their places in ``estimates``. Nothing here depends on the order in which measurements came, nor on what
    a policy decided.
    """

    estimates: Estimates
    level: float
    """At least such a share of the draws must agree for a status to be sure."""
    max_arms: int | None
    """If the study is after so many Pareto-optimal options, how many."""
    draws: FloatArray
    """``(n_draws, n_options, n_metrics)`` of what the true means may be, in the units of the metrics."""
    optimal: BoolArray
    """``(n_draws, n_options)``: who is Pareto-optimal in each draw."""
    probabilities: FloatArray
    """``(n_options,)`` to be Pareto-optimal: the share of draws in which it is."""
    answer: BoolArray
    """``(n_options,)``: the options said to be Pareto-optimal; never empty."""
    certainty: Certainty
    """How likely the whole answer is right; within the margins, if there are some."""
    required: Requirements
    """Which differences matter, and which limits options must keep, of means as they are compared."""
    apart: FloatArray | None = None
    """Draws in which options are not seen as a population, as many; None if they are not anyway, or nothing else is known."""
    within: Within | None = None
    """What is counted within margins and limits; None if there are none."""

    @property
    def worth(self) -> FloatArray:
        """``(n_options,)`` probability to be worth keeping: within the limits, and outdone by nobody who is."""
        return self.probabilities if self.within is None else self.within.worth

    @property
    def feasible(self) -> FloatArray:
        """``(n_options,)`` probability to keep all limits."""
        return np.ones(len(self.answer)) if self.within is None else self.within.feasible

    @property
    def surely_in(self) -> BoolArray:
        """Mask of the options that are Pareto-optimal, or worth keeping, in at least ``level`` of the draws.

        Members that another member most likely beats are not among them: maybe the answer can do without.
        """
        if self.within is None:
            return np.asarray(self.probabilities >= self.level)
        return np.asarray(self.answer & (self.within.worth >= self.level) & ~self.within.beaten)

    @property
    def surely_out(self) -> BoolArray:
        """Mask of the options that are dominated, or covered or beyond limits, in at least ``level`` of the draws."""
        if self.within is None:
            return np.asarray(self.probabilities <= 1.0 - self.level)
        return np.asarray(~self.answer & (self.within.wrong <= 1.0 - self.level))

    @property
    def surely_infeasible(self) -> BoolArray:
        """Mask of the options that are beyond a limit in at least ``level`` of the draws."""
        return np.asarray(self.feasible <= 1.0 - self.level)

    @property
    def open(self) -> BoolArray:
        """Mask of all others: ``answer`` says on which side each is."""
        return ~(self.surely_in | self.surely_out)

    @property
    def wrong(self) -> FloatArray:
        """``(n_options,)`` probability that the answer has the option on the wrong side, where that matters."""
        if self.within is not None:
            return self.within.wrong
        return np.where(self.answer, 1.0 - self.probabilities, self.probabilities)

    @property
    def beaten(self) -> BoolArray:
        """Mask of the members of the answer that another member most likely beats: maybe it can do without them."""
        return np.zeros(len(self.answer), dtype=np.bool_) if self.within is None else self.within.beaten

    @property
    def caution(self) -> str | None:
        """A sentence about options that seem to lie on a front, where probabilities are less well calibrated; else None."""
        likely = self.estimates.front_probability
        if likely < 0.5 or self.required.margins.any():  # within margins it was not seen to matter (docs/decisions.md)
            return None
        return (
            f"Most options seem to lie on a front (probability {likely:.0%}), each the best for what it costs in other metrics. "
            "Of such options more may be Pareto-optimal than the probabilities say, above all of those said to be unlikely."
        )

    def certainty_of(self, answer: BoolArray) -> Certainty:
        """Returns how likely another answer is right, a policy's own for example."""
        if self.within is not None:
            right = judged_within(self.draws * self.estimates.signs, self.required, answer).right
            return _certainty(self.estimates, right, "right within what was asked for")
        return _certainty(self.estimates, _right(self.optimal, answer, self.max_arms), _sought(self.max_arms is not None))

    @property
    def plain_draws(self) -> FloatArray:
        """Draws around the means as measured, where there are such: in which options lend each other nothing but the noise."""
        return self.draws if self.apart is None else self.apart

    @cached_property
    def cautious_probability(self) -> float:
        """That the answer is right whether or not options are seen as a population: the smaller of both.

        For whoever stops because of it. What options have in common is itself known from few of them, and a study that stops when
        it looks sure stops when that looks better than it is.
        """
        said = self.certainty.probability or 0.0
        if self.apart is None:
            return said
        signed = self.apart * self.estimates.signs
        if self.within is not None:
            right = judged_within(signed, self.required, self.answer).right
        else:
            right = _right(optimal_in_each(signed), self.answer, self.max_arms)
        return min(said, float(right.mean()))

    def cautious_resolution(self, metrics: Sequence[Metric], level: float) -> Resolution | None:
        """Returns up to which differences the answer is right, whether or not options are seen as a population."""
        found = [self.resolution(metrics, level)]
        if self.apart is not None:
            found.append(self._resolution(self.apart, metrics, level))
        known = [each for each in found if each is not None]
        return max(known, key=lambda each: each.factor) if len(known) == len(found) else None

    def resolution(self, metrics: Sequence[Metric], level: float | None = None) -> Resolution | None:
        """Returns up to which differences the answer is right, where nobody has said which ones matter.

        Args:
            metrics: of which these are the means.
            level: with which probability; by default that of the judgement.
        """
        return self._resolution(self.draws, metrics, self.level if level is None else level)

    def _resolution(self, draws: FloatArray, metrics: Sequence[Metric], level: float) -> Resolution | None:
        estimates = self.estimates
        return resolution_of(
            draws * estimates.signs,
            self.answer,
            np.where(estimates.exact, 0.0, estimates.pooled),
            self.required.limits,
            metrics,
            level,
        )

    def domination(self, option: int) -> FloatArray:
        """Returns ``(n_options,)``: for each other option the share of draws in which it dominates this one."""
        signed = self.draws * self.estimates.signs
        own = signed[:, option, None]
        return np.asarray(((signed >= own).all(axis=2) & (signed > own).any(axis=2)).mean(axis=0))

    def difference(self, option: int, other: int, metric: int, level: float = 0.95) -> Interval:
        """Returns by how much the first option has more than the other in a metric, in its units; negative where it has less."""
        draws = self.plain_draws
        return _interval(draws[:, option, metric] - draws[:, other, metric], level)

    def ratio(self, option: int, other: int, metric: int, level: float = 0.95) -> Interval | None:
        """Returns how many times as much as the other the first option has in a metric; None where a mean may be 0 or less."""
        own, others = self.plain_draws[:, option, metric], self.plain_draws[:, other, metric]
        if min(own.min(), others.min()) <= 0.0:
            return None
        return _interval(own / others, level)

    def near_equals(self) -> tuple[tuple[int, ...], ...]:
        """Returns groups of options of which either will do.

        With margins: each covers each in at least half of the draws, and all most likely keep the limits. Without: options that
        the measurements cannot tell apart, and that cannot be far apart either. Of any two in a group, in every metric, the 95%
        interval of their difference contains 0 and is no wider than half of the spread of all options (the standard deviation of
        their true means, as the draws have it). What options cost or weigh exactly must be equal. No option is in two
        groups; those of the answer are grouped first, the one with most near-equals before the others.
        """
        near = self._cover_each_other() if self.required.margins.any() else self._cannot_tell_apart()
        order: list[int] = np.lexsort((-near.sum(axis=1), ~self.answer)).tolist()
        left, groups = set(order), []
        for option in order:
            if option in left:
                group = [option]
                for other in order:
                    if other in left and near[other, group].all():
                        group.append(other)
                left -= set(group)
                if len(group) > 1:
                    groups.append(tuple(sorted(group)))
        return tuple(sorted(groups))

    def _cover_each_other(self) -> BoolArray:
        """``[i, j]``, without i and i."""
        n_options = len(self.answer)
        shares, step = np.zeros((n_options, n_options)), max(1, MOST_PAIRS // 16 // n_options**2)
        for start in range(0, len(self.draws), step):
            some = self.draws[start : start + step] * self.estimates.signs
            shares += covers(some, some, self.required).sum(axis=0)
        often = shares >= len(self.draws) / 2
        able = self.feasible >= 0.5
        near = often & often.T & able & able[:, None]
        np.fill_diagonal(near, val=False)
        return np.asarray(near)

    def _cannot_tell_apart(self) -> BoolArray:
        """``[i, j]``, without i and i; intervals are the mean of the differences and 1.96 of their standard deviations."""
        n_options = len(self.answer)
        near = ~np.eye(n_options, dtype=np.bool_)
        for values in np.moveaxis(self.draws, 2, 0):
            spread = np.sqrt(values.var(axis=1).mean())
            centred = values - values.mean(axis=0)
            products = centred.T @ centred / len(values)
            squares = np.diagonal(products)
            widths = 1.96 * np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0.0))
            apart = np.abs(np.subtract.outer(values.mean(axis=0), values.mean(axis=0)))
            near &= (apart <= widths) & (2 * widths <= NEAR * spread)
        return near


def judge(
    estimates: Estimates,
    *,
    required: Requirements | None = None,
    level: float = 0.95,
    max_arms: int | None = None,
    enough: float = NO_AIM.needed,
    n_draws: int = DRAWS,
) -> Judgement:
    """Returns what the measurements say: the answer, how sure each option's side is, and how sure the whole answer is.

    The same data say the same, whenever they are asked. An option is in the answer if it is Pareto-optimal in at least half of
    the draws, so that no probability contradicts the answer; where no option is, in the answer is the one that most often is.
    With margins or limits the answer is the set that is most likely right within them (``studies/within.py``).

    Args:
        estimates: of all options that could be Pareto-optimal.
        required: which differences matter, and which limits options must keep; by default none.
        level: share of the draws that must agree for an option to be surely in or out; above 1/2.
        max_arms: if the study is after so many Pareto-optimal options: then at most so many are in the answer, the most likely
            ones, and right is any answer of so many, or else of all.
        enough: an answer that is so likely right within the margins is not made longer to be likelier: members are left out that
            another member beats. By default what a study needs to stop at 95%.
        n_draws: of the true means, for up to ``MANY`` options; with more of them fewer.
    """
    if not 0.5 < level <= 1.0:
        raise InvalidInput(f"level={level} must be above 0.5 and at most 1: a share of draws that agree, such as 0.95.")
    n_options = len(estimates.means)
    n_draws = int(np.clip(n_draws * MANY // n_options, min(FEWEST_DRAWS, n_draws), n_draws))
    required = required or Requirements.none(estimates.means.shape[1])
    if not required.is_plain:
        return _judged_within(estimates, required, level, enough, min(n_draws, max(MOST_PAIRS // n_options**2, FEWEST_DRAWS)))
    draws = estimates.draws(n_draws, np.random.default_rng(0))
    optimal = optimal_in_each(draws * estimates.signs)
    probabilities = optimal.mean(axis=0)
    answer = probabilities >= 0.5
    if not answer.any():
        answer[np.argmax(probabilities)] = True
    if max_arms is not None and answer.sum() > max_arms:
        answer = np.zeros(n_options, dtype=np.bool_)
        answer[np.argsort(-probabilities, kind="stable")[:max_arms]] = True
    certainty = _certainty(estimates, _right(optimal, answer, max_arms), _sought(max_arms is not None))
    apart = _apart(estimates, n_draws)
    return Judgement(estimates, level, max_arms, draws, optimal, probabilities, answer, certainty, required, apart)


def _apart(estimates: Estimates, n_draws: int) -> FloatArray | None:
    """Draws in which options are not seen as a population, if they are."""
    if not estimates.is_population or not estimates.known.all():
        return None
    return estimates.draws(n_draws, np.random.default_rng(1), population=False)


def _judged_within(estimates: Estimates, required: Requirements, level: float, enough: float, n_draws: int) -> Judgement:
    """``judge`` where there are margins or limits."""
    draws = estimates.draws(n_draws, np.random.default_rng(0))
    apart = _apart(estimates, n_draws)
    signed = draws * estimates.signs
    optimal = optimal_and_feasible(signed, required)
    others = [] if apart is None else [apart * estimates.signs]
    within = answer_within(signed, required, enough=enough, others=others)
    certainty = _certainty(estimates, within.right, _sought_within(required))
    chances = optimal.mean(axis=0)
    return Judgement(estimates, level, None, draws, optimal, chances, within.answer, certainty, required, apart, within)


def _right(optimal: BoolArray, answer: BoolArray, max_arms: int | None) -> BoolArray:
    """In which draws an answer is right, where every difference matters."""
    if max_arms is not None and answer.sum() == max_arms:
        return np.asarray(optimal[:, answer].all(axis=1))
    return np.asarray((optimal == answer).all(axis=1))


def _certainty(estimates: Estimates, right: BoolArray, sought: str) -> Certainty:
    """From the draws in which an answer is right, and what that means in words."""
    n_draws, n_right = len(right), int(right.sum())
    how = (
        f"{n_draws:,} times the true means were drawn from what {int(estimates.counts.sum()):,} measurements leave open "
        f"({_model(estimates)}); in {n_right:,} of these draws the answer is {sought}."
    )
    return Certainty(n_right / n_draws, _wilson(n_right, n_draws), n_draws, how)


def _interval(values: FloatArray, level: float) -> Interval:
    return Interval(*np.quantile(values, [(1 - level) / 2, 0.5, (1 + level) / 2]).tolist())


def required_of(estimates: Estimates, metrics: Sequence[Metric]) -> Requirements:
    """Returns which differences matter and which limits options must keep, in the units of ``Estimates.larger_is_better``."""
    declared = requirements_of(metrics)
    # Of chances that are to be small the opposites are simulated.
    opposite = np.where(estimates.signs < 0, 1.0, 0.0) if estimates.as_chances else np.zeros(len(metrics))
    return Requirements(declared.margins, declared.limits + opposite, declared.compared)


def rehearse(definition: Definition, estimates: Estimates, budget: int, runs: int, *, scale: FloatArray) -> Rehearsal | None:
    """Returns how often the same study would be right at the means as measured; None if it cannot be run with these options."""
    from paretopick.simulation import simulate

    required = required_of(estimates, definition.metrics)
    try:
        curve = simulate(
            estimates.bandit(),
            definition.choice,
            budgets=budget,
            runs=runs,
            rng=0,
            scale=scale,
            hypervolume=False,
            margins=None if required.is_plain else required.as_margins,
            limits=None if required.is_plain else required.as_limits,
            progress=False,
        )
    except InvalidInput:
        if len(estimates.means) == len(definition.options):
            raise
        return None  # options were retired, and the schedule is for more of them
    right = runs - int(curve.relaxed_losses[0] if required.is_plain else curve.errors_within[0])
    low, high = _wilson(right, runs)
    sought = (
        _sought(definition.choice.max_arms is not None) if required.is_plain else f"an answer that is {_sought_within(required)}"
    )
    how = (
        f"If the means as measured were the truth, {right:,} of {runs:,} simulated studies like this one ({definition.policy}, "
        f"budget {budget:,}) would find {sought}."
    )
    return Rehearsal(right, runs, right / runs, (low, high), how)


def _sought(some_are_enough: bool) -> str:
    """What a right answer is."""
    return "what was asked for" if some_are_enough else "exactly the Pareto set"


def _sought_within(required: Requirements) -> str:
    """The same within margins and limits."""
    if not required.margins.any():
        return "exactly the Pareto set of the options that keep the limits"
    return "right within the margins" + (" and limits" if required.limited else "")


def _model(estimates: Estimates) -> str:
    """How the draws were made, in words."""
    kinds = []
    if not (estimates.binary | estimates.exact).all():
        kinds.append("normal, with Student's t for few repeats")
    if estimates.binary.any():
        kinds.append("Beta where metrics are 0 or 1")
    if estimates.exact.any():
        kinds.append("exact metrics as they are")
    if estimates.is_shared:
        kinds.append("with what measurements in the same block share")
    if estimates.is_population:
        front = estimates.front_probability
        kinds.append("the options seen as a population" + (f", in {front:.0%} of draws on a front" if front >= 0.005 else ""))
    return "; ".join(kinds)


def _wilson(right: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share; that of scipy.stats, which takes a second to import, is the same."""
    from scipy.special import ndtri

    z, share = float(ndtri(0.975)), right / of
    centre, width = 2 * right + z**2, z * math.sqrt(4 * of * share * (1 - share) + z**2)
    below, above = ((centre + side) / (2 * (of + z**2)) for side in (-width, width))
    return below if right else 0.0, above if right < of else 1.0
