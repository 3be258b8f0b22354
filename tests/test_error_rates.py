"""Measured error rates against independently computed ones; seeds are fixed, margins are those of 99.9% intervals."""

import numpy as np
import pytest
from scipy import stats

import paretopick as pp

INDEPENDENT_RUNS = 102_400
INDEPENDENT = {  # instance, budget: error probability of uniform, ege-sr, ege-sh
    ("cov-boost", 2500): (0.4677, 0.2506, 0.2125),
    ("cov-boost-2d", 2500): (0.2917, 0.0915, 0.0487),
    ("unique-dominator", 2543): (0.2739, 0.1610, 0.2419),
    ("equal-gaps", 8800): (0.2040, 0.0925, 0.3681),
    ("equal-gaps", 4000): (0.5797, 0.4387, 0.7617),
}
POLICIES = ("uniform", "ege-sr", "ege-sh")
RUNS = 4000


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name, budget", INDEPENDENT)
def test_error_rates_are_those_of_an_independent_calculation(name, budget, policy):
    expected = INDEPENDENT[name, budget][POLICIES.index(policy)]
    curve = pp.simulate(pp.instance(name), policy, budgets=budget, runs=RUNS, rng=2024)
    deviation = np.sqrt(expected * (1 - expected) * (1 / RUNS + 1 / INDEPENDENT_RUNS))
    assert abs(curve.rate[0] - expected) < stats.norm.ppf(0.9995) * deviation


@pytest.mark.parametrize("name, runs, low, high", [("cov-boost", 600, 0.12, 0.16), ("cov-boost-2d", 400, 0.0, 0.025)])
def test_apt_errs_as_rarely_as_promised(name, runs, low, high):
    curve = pp.simulate(pp.instance(name), "apt", budgets=2500, runs=runs, rng=2024)
    assert low <= curve.rate[0] < high
