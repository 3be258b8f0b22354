"""The answer to some measurements and how sure it is, from draws of what the true means may be; and the study rehearsed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick.errors import InvalidInput
from paretopick.estimates import Estimates
from paretopick.studies.definition import Definition
from paretopick.theory.dominance import optimal_in_each

DRAWS = 4000
"""Of the true means, for up to ``MANY`` options; with more of them fewer."""

MANY = 200
FEWEST_DRAWS = 200

NEAR = 0.5
"""Near-equals differ by less than such a part of the spread of all options, as far as is known."""


@dataclass(frozen=True)
class Certainty:
    """The probability that the whole answer is right, as far as the measurements can say."""

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
    """How likely the whole answer is right."""

    @property
    def surely_in(self) -> BoolArray:
        """Mask of the options that are Pareto-optimal in at least ``level`` of the draws."""
        return np.asarray(self.probabilities >= self.level)

    @property
    def surely_out(self) -> BoolArray:
        """Mask of the options that are dominated in at least ``level`` of the draws."""
        return np.asarray(self.probabilities <= 1.0 - self.level)

    @property
    def open(self) -> BoolArray:
        """Mask of all others: ``answer`` says on which side each is."""
        return ~(self.surely_in | self.surely_out)

    @property
    def wrong(self) -> FloatArray:
        """``(n_options,)`` probability that the answer has the option on the wrong side."""
        return np.where(self.answer, 1.0 - self.probabilities, self.probabilities)

    @property
    def caution(self) -> str | None:
        """A sentence about options that seem to lie on a front, where probabilities are less well calibrated; else None."""
        likely = self.estimates.front_probability
        if likely < 0.5:
            return None
        return (
            f"Most options seem to lie on a front (probability {likely:.0%}), each the best for what it costs in other metrics. "
            "Of such options more may be Pareto-optimal than the probabilities say, above all of those said to be unlikely."
        )

    def certainty_of(self, answer: BoolArray) -> Certainty:
        """Returns how likely another answer is right, a policy's own for example."""
        return _certainty(self.estimates, self.optimal, answer, self.max_arms)

    def domination(self, option: int) -> FloatArray:
        """Returns ``(n_options,)``: for each other option the share of draws in which it dominates this one."""
        signed = self.draws * self.estimates.signs
        own = signed[:, option, None]
        return np.asarray(((signed >= own).all(axis=2) & (signed > own).any(axis=2)).mean(axis=0))

    def difference(self, option: int, other: int, metric: int, level: float = 0.95) -> Interval:
        """Returns by how much the first option has more than the other in a metric, in its units; negative where it has less."""
        return _interval(self.draws[:, option, metric] - self.draws[:, other, metric], level)

    def ratio(self, option: int, other: int, metric: int, level: float = 0.95) -> Interval | None:
        """Returns how many times as much as the other the first option has in a metric; None where a mean may be 0 or less."""
        own, others = self.draws[:, option, metric], self.draws[:, other, metric]
        if min(own.min(), others.min()) <= 0.0:
            return None
        return _interval(own / others, level)

    def near_equals(self) -> tuple[tuple[int, ...], ...]:
        """Returns groups of options that the measurements cannot tell apart, and that cannot be far apart either.

        Of any two in a group, in every metric, the 95% interval of their difference contains 0 and is no wider than half of the
        spread of all options (the standard deviation of their true means, as the draws have it). No option is in two groups; the
        one with most near-equals is grouped first. What options cost or weigh exactly must be equal.
        """
        near = self._cannot_tell_apart()
        left, groups = set(range(len(near))), []
        for option in np.argsort(-near.sum(axis=1), kind="stable").tolist():
            if option in left:
                group = [option]
                for other in np.flatnonzero(near[option]).tolist():
                    if other in left and near[other, group].all():
                        group.append(other)
                left -= set(group)
                if len(group) > 1:
                    groups.append(tuple(sorted(group)))
        return tuple(sorted(groups))

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


def judge(estimates: Estimates, *, level: float = 0.95, max_arms: int | None = None, n_draws: int = DRAWS) -> Judgement:
    """Returns what the measurements say: the answer, how sure each option's side is, and how sure the whole answer is.

    The same data say the same, whenever they are asked. An option is in the answer if it is Pareto-optimal in at least half of
    the draws, so that no probability contradicts the answer; where no option is, in the answer is the one that most often is.

    Args:
        estimates: of all options that could be Pareto-optimal.
        level: share of the draws that must agree for an option to be surely in or out; above 1/2.
        max_arms: if the study is after so many Pareto-optimal options: then at most so many are in the answer, the most likely
            ones, and right is any answer of so many, or else of all.
        n_draws: of the true means, for up to ``MANY`` options; with more of them fewer.
    """
    if not 0.5 < level <= 1.0:
        raise InvalidInput(f"level={level} must be above 0.5 and at most 1: a share of draws that agree, such as 0.95.")
    n_options = len(estimates.means)
    n_draws = int(np.clip(n_draws * MANY // n_options, min(FEWEST_DRAWS, n_draws), n_draws))
    draws = estimates.draws(n_draws, np.random.default_rng(0))
    optimal = optimal_in_each(draws * estimates.signs)
    probabilities = optimal.mean(axis=0)
    answer = probabilities >= 0.5
    if not answer.any():
        answer[np.argmax(probabilities)] = True
    if max_arms is not None and answer.sum() > max_arms:
        answer = np.zeros(n_options, dtype=np.bool_)
        answer[np.argsort(-probabilities, kind="stable")[:max_arms]] = True
    certainty = _certainty(estimates, optimal, answer, max_arms)
    return Judgement(estimates, level, max_arms, draws, optimal, probabilities, answer, certainty)


def _certainty(estimates: Estimates, optimal: BoolArray, answer: BoolArray, max_arms: int | None) -> Certainty:
    """In how many draws an answer is right."""
    right = (optimal == answer).all(axis=1)
    if max_arms is not None and answer.sum() == max_arms:
        right = optimal[:, answer].all(axis=1)
    n_draws, n_right = len(right), int(right.sum())
    how = (
        f"{n_draws:,} times the true means were drawn from what {int(estimates.counts.sum()):,} measurements leave open "
        f"({_model(estimates)}); in {n_right:,} of these draws the answer is {_sought(max_arms is not None)}."
    )
    return Certainty(n_right / n_draws, _wilson(n_right, n_draws), n_draws, how)


def _interval(values: FloatArray, level: float) -> Interval:
    return Interval(*np.quantile(values, [(1 - level) / 2, 0.5, (1 + level) / 2]).tolist())


def rehearse(definition: Definition, estimates: Estimates, budget: int, runs: int, *, scale: FloatArray) -> Rehearsal | None:
    """Returns how often the same study would be right at the means as measured; None if it cannot be run with these options."""
    from paretopick.simulation import simulate

    try:
        curve = simulate(
            estimates.bandit(),
            definition.choice,
            budgets=budget,
            runs=runs,
            rng=0,
            scale=scale,
            hypervolume=False,
        )
    except InvalidInput:
        if len(estimates.means) == len(definition.options):
            raise
        return None  # options were retired, and the schedule is for more of them
    right = runs - int(curve.relaxed_losses[0])
    low, high = _wilson(right, runs)
    how = (
        f"If the means as measured were the truth, {right:,} of {runs:,} simulated studies like this one ({definition.policy}, "
        f"budget {budget:,}) would find {_sought(definition.choice.max_arms is not None)}."
    )
    return Rehearsal(right, runs, right / runs, (low, high), how)


def _sought(some_are_enough: bool) -> str:
    """What a right answer is."""
    return "what was asked for" if some_are_enough else "exactly the Pareto set"


def _model(estimates: Estimates) -> str:
    """How the draws were made, in words."""
    kinds = []
    if not (estimates.binary | estimates.exact).all():
        kinds.append("normal, with Student's t for few repeats")
    if estimates.binary.any():
        kinds.append("Beta where metrics are 0 or 1")
    if estimates.exact.any():
        kinds.append("exact metrics as they are")
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
