"""Random problems are functions of their set and number, within the ranges that the page states, all kinds equally often."""

import csv
from collections import Counter
from importlib import resources

import numpy as np
import pytest

import paretopick as pp
from paretopick.paper.budgets import HIGHEST_ERROR, LOWEST_ERROR, MOST_PULLS, choose
from paretopick.paper.families import FAMILIES, NOISES, SETS, deviations, draw, noisy_complexity, problem, problems

CHOSEN = [*csv.DictReader((resources.files("paretopick.paper") / "data" / "families.csv").read_text().splitlines())]
ALL = [one for group in SETS for one in problems(group)]


def test_a_problem_is_a_function_of_its_set_and_number():
    for one in ALL[::7]:
        group, number = one.name.split("-")[:2]
        again = problem(group, int(number))
        assert (again.name, again.bandit.digest, again.budget) == (one.name, one.bandit.digest, one.budget)
        assert one.name == f"{group}-{int(number):03d}-{one.family}"


def test_problems_are_what_they_were():
    """Runs of a tournament are of no use if the problems of its name have changed."""
    one, two = problem("tuning", 15), problem("judging", 48)
    assert one.bandit.means[:3, 0].tolist() == pytest.approx([0.78282229, 0.75920304, 0.75941596], abs=1e-8)
    assert one.bandit.noise.cov[:3, 0, 0].tolist() == pytest.approx([0.06820391, 0.01847476, 0.23155945], abs=1e-8)
    assert two.bandit.means[0].tolist() == pytest.approx([0.52257963, 0.20699163], abs=1e-8)
    assert (two.bandit.noise.std, two.budget) == (pytest.approx(0.1705573365), 2081)


def test_no_problem_is_in_both_sets():
    assert len({one.bandit.digest for one in ALL}) == len(ALL) == sum(SETS.values())


def test_every_attempt_is_another_problem():
    assert len({draw(group, 5, attempt).bandit.digest for group in SETS for attempt in range(30)}) == 60


@pytest.mark.parametrize("group", SETS)
def test_every_family_comes_with_every_noise_equally_often_and_a_third_has_few_optimal_arms(group):
    several = problems(group)
    pairs = Counter((one.family, one.noise) for one in several)
    assert set(pairs) == {(family, noise) for family in FAMILIES for noise in NOISES}
    assert set(pairs.values()) == {SETS[group] // 24}
    few = [one for one in several if one.few_optimal]
    assert 3 * len(few) == len(several)
    for one in few:
        assert one.bandit.n_objectives >= 5
        assert one.bandit.optimal.sum() <= max(1, one.bandit.n_arms // 5)


def test_sizes_means_and_budgets_are_within_their_ranges():
    for one in ALL:
        K, D = one.bandit.means.shape
        assert 5 <= K <= 200
        assert 1 <= D <= 10
        assert one.bandit.means.min() >= 0.05 - 1e-12
        assert one.bandit.means.max() <= 0.95 + 1e-12
        assert 4 * K <= one.budget <= min(2 * noisy_complexity(one.bandit), MOST_PULLS)
    objectives = Counter(one.bandit.n_objectives for one in ALL)
    assert objectives[1] > 20
    assert sum(n for D, n in objectives.items() if 2 <= D <= 4) > 50
    assert sum(one.bandit.n_arms > 60 for one in ALL) > 30
    assert sum(one.budget < 10 * one.bandit.n_arms for one in ALL) > 10


def test_noise_is_of_its_kind():
    for one in ALL:
        std = deviations(one.bandit)
        if one.noise == "bernoulli":
            assert isinstance(one.bandit.noise, pp.Bernoulli)
        elif one.noise == "equal":
            assert (std == std[0, 0]).all()
        else:
            assert 1 < std.max() / std.min() <= 9 + 1e-9
            same = np.ptp(std, axis=1) < 1e-12
            assert same.all() if one.noise == "by arm" or one.bandit.n_objectives == 1 else not same.any()


def test_deviations_are_those_of_the_pulls():
    for one in ALL[18:24:5] + ALL[:18:6]:
        pulls = one.bandit.sample(np.zeros(40_000, dtype=int), np.random.default_rng(1))
        assert pulls.std(axis=0) == pytest.approx(deviations(one.bandit)[0], rel=0.03)


def test_the_complexity_of_bernoulli_means_near_a_half_is_the_papers():
    means = [[0.49, 0.5], [0.5, 0.49], [0.48, 0.48]]
    assert noisy_complexity(pp.Bandit(means, pp.Bernoulli())) == pytest.approx(pp.complexity(means), rel=0.01)
    assert noisy_complexity(pp.Bandit(means, pp.Gaussian(std=1.0))) == pytest.approx(4 * pp.complexity(means))


def test_the_rates_that_the_pilot_aims_at_are_spread_and_met():
    targets = np.array([float(row["target"]) for row in CHOSEN])
    errors = np.array([float(row["error"]) for row in CHOSEN])
    assert len(targets) == len(ALL)
    assert targets.min() >= LOWEST_ERROR
    assert targets.max() <= HIGHEST_ERROR
    assert (np.histogram(np.log(targets), bins=4)[0] > 25).all()
    assert (errors <= targets + 1e-9).all()  # the larger of two budgets that enclose it
    assert np.median(errors / targets) > 0.85


@pytest.mark.slow
def test_the_pilot_chooses_what_is_kept():
    cheap = sorted((row for row in CHOSEN if int(row["attempt"]) <= 3), key=lambda row: int(row["budget"]))
    for row in (cheap[0], cheap[7], cheap[20], cheap[40]):
        chosen = choose(row["set"], int(row["number"]))
        kept = (int(row["attempt"]), int(row["budget"]), row["target"], row["error"])
        assert (chosen.attempt, chosen.budget, f"{chosen.target:.4f}", f"{chosen.error:.4f}") == kept


@pytest.mark.parametrize(
    "call, message", [(lambda: problems("jugding"), "judging"), (lambda: problem("tuning", 72), "number=72")]
)
def test_a_problem_that_is_not_there_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
