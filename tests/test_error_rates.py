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
RUNS = {"compiled": 200_000, "reference": 1000}


def agree(errors: int, runs: int, rate: float, of_runs: int) -> bool:
    """Whether two rates differ by no more than chance does in 999 of 1000 cases."""
    pooled = (errors + rate * of_runs) / (runs + of_runs)
    deviation = np.sqrt(pooled * (1 - pooled) * (1 / runs + 1 / of_runs))
    return abs(errors / runs - rate) <= stats.norm.ppf(0.9995) * deviation


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.parametrize("engine", RUNS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name, budget", INDEPENDENT)
def test_error_rates_are_those_of_an_independent_calculation(name, budget, policy, engine):
    expected = INDEPENDENT[name, budget][POLICIES.index(policy)]
    curve = pp.simulate(pp.instance(name), policy, budgets=budget, runs=RUNS[engine], rng=2024, engine=engine)
    assert agree(int(curve.errors[0]), RUNS[engine], expected, INDEPENDENT_RUNS)


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize("name, runs, low, high", [("cov-boost-2d", 8000, 0.0, 0.025), ("cov-boost", 20_000, 0.12, 0.16)])
def test_apt_errs_as_rarely_as_promised(name, runs, low, high):
    curve = pp.simulate(pp.instance(name), "apt", budgets=2500, runs=runs, rng=2024)
    at_least, at_most = curve.interval(0.999)[0]
    assert low <= at_least
    assert at_most < high


@pytest.mark.slow
@pytest.mark.sample(11)
@pytest.mark.parametrize("policy", ["ege-sr", "ege-sh", "ege-gg", "uniform", "ape-fb", "ape-fb-adapt", "apt", "doubt"])
@pytest.mark.parametrize("name", pp.INSTANCES)
def test_both_engines_err_equally_often_on_every_instance(name, policy, request):
    """Budgets are small, since the reference engine goes pull by pull.

    Both engines draw the same pulls, and of policies that choose pull by pull all runs are the same; of those that pull in rounds
    sums are drawn when compiled, and they err as often.
    """
    bandit = pp.instance(name, path=request.getfixturevalue("snw_path")) if name.startswith("snw") else pp.instance(name)
    few = bandit.n_arms <= 60
    if policy in ("ape-fb", "ape-fb-adapt", "apt", "doubt"):
        same = {"budgets": 4 * bandit.n_arms, "runs": 10 if few else 2, "rng": 7, "hypervolume": False}
        slow, fast = (pp.simulate(bandit, policy, engine=engine, **same) for engine in ("reference", "compiled"))
        assert (slow.tallies == fast.tallies).all()
        assert slow.draws == fast.draws == "pulls"
        return
    runs, budget = 200 if few else 60, 10 * bandit.n_arms
    by_errors, by_arms = [], []
    for engine, repeats in (("reference", runs), ("compiled", 20 * runs)):
        curve = pp.simulate(bandit, policy, budgets=budget, runs=repeats, rng=7, engine=engine, hypervolume=False)
        by_errors.append((int(curve.errors[0]), repeats - int(curve.errors[0])))
        by_arms.append(float((curve.wrongly_accepted + curve.wrongly_rejected)[0]) / repeats)
    assert stats.fisher_exact(by_errors).pvalue > 1e-3
    assert by_arms[0] == pytest.approx(by_arms[1], rel=0.25, abs=0.25)  # says more where the error rate is near 1


def test_doubt_gains_where_noise_differs_tenfold_between_options():
    """Each option's own noise is used: against equal numbers of measurements it gains on every kind of problem, and overall."""
    wrong = {"uniform": [], "doubt": []}
    for seed in range(20, 28):
        rng = np.random.default_rng([99, seed])
        std = 10 ** rng.uniform(-0.5, 0.5, (12, 1)) * np.ones(2)
        bandit = pp.Bandit(2 * rng.normal(size=(12, 2)), pp.Gaussian(cov=std[:, :, None] ** 2 * np.eye(2)))
        for policy, errors in wrong.items():
            curve = pp.simulate(bandit, policy, budgets=[360], runs=400, rng=seed, hypervolume=False)
            errors.append(int(curve.errors[0]))
    assert sum(wrong["doubt"]) < 0.75 * sum(wrong["uniform"])
    assert all(ours <= theirs + 20 for ours, theirs in zip(wrong["doubt"], wrong["uniform"], strict=True)), wrong
