"""How sure an answer is: draws of what the true means may be, and the whole study rehearsed at the means as measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def resample(estimates: Estimates, answer: BoolArray, *, max_arms: int | None = None) -> tuple[FloatArray, Certainty]:
    """Returns the probability of each option to be Pareto-optimal, and of the answer to be right.

    Args:
        estimates: of all options that could be.
        answer: mask of the options said to be.
        max_arms: if the study was after so many of them: right is then any answer of so many, or else of all.
    """
    n_draws = int(np.clip(DRAWS * MANY // len(answer), FEWEST_DRAWS, DRAWS))
    draws = estimates.draws(n_draws, np.random.default_rng(0))  # the same data say the same, whenever they are asked
    optimal = optimal_in_each(draws * estimates.signs)
    right = (optimal == answer).all(axis=1)
    if max_arms is not None and answer.sum() == max_arms:
        right = optimal[:, answer].all(axis=1)
    probability = float(right.mean())
    how = (
        f"{n_draws:,} times the true means were drawn from what {int(estimates.counts.sum()):,} measurements leave open "
        f"({_model(estimates)}); in {int(right.sum()):,} of these draws the answer is {_sought(max_arms is not None)}."
    )
    return optimal.mean(axis=0), Certainty(probability, _wilson(int(right.sum()), n_draws), n_draws, how)


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
            engine="reference" if definition.exact else "auto",  # which it is anyway, and need not say
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
        kinds.append("the options seen as a population")
    return "; ".join(kinds)


def _wilson(right: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share; that of scipy.stats, which takes a second to import, is the same."""
    from scipy.special import ndtri

    z, share = float(ndtri(0.975)), right / of
    centre, width = 2 * right + z**2, z * math.sqrt(4 * of * share * (1 - share) + z**2)
    below, above = ((centre + side) / (2 * (of + z**2)) for side in (-width, width))
    return below if right else 0.0, above if right < of else 1.0
