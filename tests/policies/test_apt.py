import numpy as np
import pytest

import paretopick as pp
from support import oracle
from support.inputs import drawing, follow, tape


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
