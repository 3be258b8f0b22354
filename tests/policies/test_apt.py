import numpy as np
import pytest

import paretopick as pp
from paretopick.theory.requirements import check_requirements
from support import oracle
from support.inputs import drawing, drawn_requirements, follow, tape


@pytest.mark.parametrize("batch", [1, 2, 7])
@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.0])
def test_equals_the_literal_version_step_by_step(batch, gamma):
    rng = np.random.default_rng(batch)
    for i in range(25):
        K, D = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        budget = 3 * K + int(rng.integers(0, 80))
        data = tape(rng, rng.random((K, D)), budget, ("gaussian", "bernoulli")[i % 2])
        policy = pp.policy("apt", n_arms=K, n_objectives=D, budget=budget, batch=batch, gamma=gamma)
        expected = oracle.apt(K, budget, drawing(data), gamma=gamma, n0=3, batch=batch)
        assert follow(policy, data) == expected["pulls"]
        assert policy.recommend().tolist() == expected["answer"]


@pytest.mark.parametrize("batch", [1, 4])
def test_with_margins_and_limits_it_equals_the_literal_version(batch):
    rng = np.random.default_rng(batch)
    differs = 0
    for i in range(40):
        K, D = int(rng.integers(1, 8)), int(rng.integers(1, 4))
        budget = 3 * K + int(rng.integers(0, 60))
        means = rng.random((K, D))
        data = tape(rng, means, budget, ("gaussian", "bernoulli")[i % 2])
        margins, limits = drawn_requirements(rng, means)
        policy = pp.policy("apt", n_arms=K, n_objectives=D, budget=budget, batch=batch)
        policy.require(check_requirements(margins, limits, D))
        expected = oracle.apt(K, budget, drawing(data), batch=batch, delta=margins, limits=limits)
        assert follow(policy, data) == expected["pulls"]
        assert policy.recommend().tolist() == expected["answer"]
        differs += expected["pulls"] != oracle.apt(K, budget, drawing(data), batch=batch)["pulls"]
    assert differs > 10


def test_margins_of_0_and_no_limits_are_the_policy_as_it_was():
    rng = np.random.default_rng(0)
    data = tape(rng, rng.random((6, 2)), 200)
    plain, told = (pp.policy("apt", n_arms=6, n_objectives=2, budget=200) for _ in range(2))
    told.require(check_requirements([0, 0], [None, None], 2))
    assert follow(told, data) == follow(plain, data)


def test_near_ties_within_the_margins_get_no_more_than_their_share():
    """Twins and a third arm at a limit: without margins the twins get nearly all pulls, with them the third one does."""
    bandit = pp.Bandit([[1.0, 1.0], [1.0, 1.0], [-1.0, 3.05]], pp.Gaussian(std=0.3))
    counts = []
    for required in ((None, None), ([0.5, 0.5], [-1.05, None])):
        player = pp.policy("apt", n_arms=3, n_objectives=2, budget=300)
        player.require(check_requirements(*required, 2))
        pp.play(bandit, player, 1)
        counts.append(player.counts.tolist())
    assert sum(counts[0][:2]) > 250
    assert counts[1][2] > 200


def test_where_nothing_keeps_the_limits_the_answer_is_empty():
    player = pp.policy("apt", n_arms=2, n_objectives=1, budget=20)
    player.require(check_requirements(0.1, [5.0], 1))
    pp.play(pp.Bandit([[1.0], [0.0]], pp.Gaussian(std=0.1)), player, 1)
    assert player.recommend().tolist() == []
    player.retire(0)
    assert player.recommend().tolist() == []


def test_margins_and_limits_are_in_the_units_of_what_is_told():
    """A policy that divides the objectives itself pulls as one that is told them divided."""
    rng = np.random.default_rng(0)
    widths = np.array([2.0, 8.0])
    data = tape(rng, rng.random((6, 2)) * widths, 200) * widths
    required = check_requirements([1.0, 2.0], [0.5, None], 2)
    divides, told = (pp.policy("apt", n_arms=6, n_objectives=2, budget=200) for _ in range(2))
    divides.rescale(widths)
    divides.require(required)
    told.require(required.divided(widths))
    assert follow(divides, data) == follow(told, data / widths)


def test_every_arm_keeps_its_share():
    rng = np.random.default_rng(0)
    data = tape(rng, rng.random((6, 2)), 1000)
    policy = pp.policy("apt", n_arms=6, n_objectives=2, budget=1000)
    while not policy.done:
        arm = int(policy.ask()[0])
        policy.tell([arm], data[arm, policy.counts[arm]][None])
        assert policy.counts.min() >= 0.2 * policy.counts.sum() / 6 - 2


def test_without_a_budget_it_never_ends_and_answers_at_any_time():
    policy = pp.policy("apt", n_arms=3, n_objectives=1)
    data = tape(np.random.default_rng(1), np.array([[0.0], [1.0], [5.0]]), 500)
    for _ in range(400):
        arm = int(policy.ask()[0])
        policy.tell([arm], data[arm, policy.counts[arm]][None])
        assert not policy.done
        assert policy.snapshot().pulls_left is None
        if (policy.counts > 0).all():
            assert len(policy.recommend()) >= 1
    assert policy.recommend().tolist() == [2]


def test_a_run_to_a_larger_budget_begins_with_the_run_to_a_smaller_one():
    data = tape(np.random.default_rng(2), np.random.default_rng(3).random((5, 2)), 300)
    short = pp.policy("apt", n_arms=5, n_objectives=2, budget=100)
    long = pp.policy("apt", n_arms=5, n_objectives=2, budget=300)
    assert follow(short, data) == follow(long, data)[:100]


def test_arms_that_are_harder_to_place_get_more_pulls():
    """The equilibrium is N_i like 1 / gap_i^2: halving the gap takes about four times the pulls."""
    means = np.array([[1.0], [0.9], [0.8]])
    policy = pp.policy("apt", n_arms=3, n_objectives=1, budget=20_000, batch=50, gamma=0.05)
    pp.play(pp.Bandit(means, pp.Gaussian(std=0.3)), policy, np.random.default_rng(4))
    near, far = policy.counts[1], policy.counts[2]
    assert 3.5 < near / far < 4.5
