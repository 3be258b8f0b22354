"""Ratios of errors equal their literal definitions, and groups hold what they say."""

import math

import numpy as np
import pytest

import paretopick as pp
from paretopick.paper.families import Problem
from paretopick.paper.ratios import GROUPINGS, REFERENCE, Score, Scores, geometric_mean, ratio_of


def a_problem(name="a", n_arms=6, n_objectives=2, budget=100, family="cube", noise="equal", few=False):
    means = np.random.default_rng(n_arms).random((n_arms, n_objectives))
    return Problem(pp.Bandit(means, pp.Gaussian(std=1.0), name=name, budget=budget), "tuning", family, noise, few)


@pytest.mark.parametrize("errors, runs, others, other_runs", [(3, 100, 30, 200), (0, 50, 0, 50), (50, 50, 1, 1000)])
def test_a_ratio_is_that_of_the_estimates(errors, runs, others, other_runs):
    mine, theirs = (errors + 0.5) / (runs + 1), (others + 0.5) / (other_runs + 1)
    ratio = ratio_of(Score(errors, runs), Score(others, other_runs))
    assert ratio.value == pytest.approx(mine / theirs)
    width = 1.96 * math.sqrt((1 - mine) / (errors + 0.5) + (1 - theirs) / (others + 0.5))
    assert ratio.low == pytest.approx(mine / theirs * math.exp(-width), rel=1e-3)
    assert ratio.high == pytest.approx(mine / theirs * math.exp(width), rel=1e-3)
    assert ratio.loses == (ratio.low > 1)
    assert ratio.wins == (ratio.high < 1)


def test_the_interval_of_a_ratio_holds_it_about_as_often_as_it_says():
    rng, runs = np.random.default_rng(3), 1024
    pairs = rng.binomial(runs, (0.06, 0.2), (4000, 2))
    held = [ratio.low <= 0.3 <= ratio.high for ratio in (ratio_of(Score(int(a), runs), Score(int(b), runs)) for a, b in pairs)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.012)


def test_the_geometric_mean_is_the_root_of_the_product():
    values = [0.2, 0.5, 1.7, 3.0, 0.9]
    mean = geometric_mean(values)
    assert mean.value == pytest.approx(math.prod(values) ** (1 / 5))
    width = 1.96 * np.std(np.log(values), ddof=1) / math.sqrt(5)
    assert (mean.low, mean.high) == pytest.approx((mean.value * math.exp(-width), mean.value * math.exp(width)), rel=1e-3)
    assert geometric_mean([0.3]) == (0.3, 0.0, math.inf)


def test_ratios_are_of_problems_on_which_both_were_run():
    one, two = a_problem("a"), a_problem("b")
    scores = Scores((one, two), {("a", REFERENCE): Score(10, 99), ("b", REFERENCE): Score(5, 99), ("a", "apt"): Score(4, 99)})
    assert {problem.name: ratio.value for problem, ratio in scores.ratios("apt").items()} == {"a": pytest.approx(4.5 / 10.5)}
    assert scores.ratios(REFERENCE)[two].value == 1.0
    assert scores.ratios("apt", "doubt") == {}
    assert scores.policies == [REFERENCE, "apt"]


def test_every_problem_is_in_one_group_of_each_grouping():
    several = [
        a_problem("a", 5, 1, 20),
        a_problem("b", 30, 3, 900, "dense", "bernoulli"),
        a_problem("c", 100, 7, 99_999, "cube", "by arm", few=True),
        a_problem("d", 20, 9, 200),
    ]
    rates = (1, 20, 50, 9)
    scores = Scores(
        tuple(several), {(one.name, REFERENCE): Score(errors, 100) for one, errors in zip(several, rates, strict=True)}
    )
    found = {by: {name: [one.name for one in group.problems] for name, group in scores.grouped(by).items()} for by in GROUPINGS}
    assert found == {
        "family": {"cube": ["a", "c", "d"], "dense": ["b"]},
        "objectives": {"D = 1": ["a"], "D = 2 to 4": ["b"], "D >= 5, few optimal arms": ["c"], "D >= 5, others": ["d"]},
        "noise": {"equal": ["a", "d"], "bernoulli": ["b"], "by arm": ["c"]},
        "arms": {"K up to 20": ["a", "d"], "K from 21 to 60": ["b"], "K above 60": ["c"]},
        "budget": {"T below 10 K": ["a"], "T from 10 K to 100 K": ["b", "d"], "T above 100 K": ["c"]},
        "error of EGE-SR": {"EGE-SR errs below 10%": ["a", "d"], "10% to 1/3": ["b"], "above 1/3": ["c"]},
    }
    for by in GROUPINGS:
        for group in scores.grouped(by).values():
            assert set(group.of) == {(one.name, REFERENCE) for one in group.problems}
