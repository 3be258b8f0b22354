"""How the budget of a random problem is chosen: by a pilot of EGE-SR alone, so that nothing about our own policies enters it.

A problem on which every policy is always right, or always wrong, says nothing. Each number of a set has a rate of errors that
EGE-SR is to have, and the pilot looks for the budget at which it has it. What was chosen is kept in ``data/families.csv``, which
``benchmarks/families.py`` writes; ``tests/paper/test_families.py`` chooses some of it anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretopick.bandits import Bandit
from paretopick.paper.families import SEEDS, draw, noisy_complexity
from paretopick.paper.series import affordable
from paretopick.simulation import simulate

LOWEST_ERROR, HIGHEST_ERROR = 0.03, 0.8
"""Between which the rates that are aimed at are spread evenly on a logarithmic scale."""

MOST_PULLS = 60_000
"""No budget is larger."""

RUNS = 400
"""Of the pilot at each budget that it tries."""

PILOT_SEED = 7_919
"""Of the pilot's runs, which are no runs of the tournament."""

CLOSE = 1.05
"""The pilot stops when two budgets that enclose the rate differ by this factor."""


class Choice(NamedTuple):
    """What the pilot chose: which attempt at drawing the problem, its budget, the rate that was aimed at and the one seen."""

    attempt: int
    budget: int
    target: float
    error: float


def choose(group: str, number: int) -> Choice:
    """Returns the first attempt at a problem in whose range of budgets EGE-SR has the wanted rate of errors, and that budget."""
    rng = np.random.default_rng([SEEDS[group], number])
    target = LOWEST_ERROR * (HIGHEST_ERROR / LOWEST_ERROR) ** float(rng.random())
    attempt = 0
    while (found := _budget(draw(group, number, attempt).bandit, target)) is None:
        attempt += 1
    return Choice(attempt, found, target, _error(draw(group, number, attempt).bandit, found))


def _budget(bandit: Bandit, target: float) -> int | None:
    """The budget at which EGE-SR has a rate of errors, None if it does not cross that rate between 4 K and 2 H."""
    low, high = 4 * bandit.n_arms, int(min(2 * noisy_complexity(bandit), MOST_PULLS))
    if low >= high or not affordable(bandit, "ege-sr", {}, (low,)):
        return None
    if not _error(bandit, low) >= target >= _error(bandit, high):
        return None
    while high > CLOSE * low:
        middle = round((low * high) ** 0.5)
        if _error(bandit, middle) >= target:
            low = middle
        else:
            high = middle
    return high


def _error(bandit: Bandit, budget: int) -> float:
    return float(simulate(bandit, "ege-sr", budgets=budget, runs=RUNS, rng=PILOT_SEED, workers=1, hypervolume=False).rate[0])
