import numpy as np
import pytest

import paretopick as pp
from paretopick.policies.ape import _Bounds, _RowMinima
from support import oracle
from support.inputs import drawing, follow, tape


def random_problems(seed: int, n: int, length: int = 120):
    rng = np.random.default_rng(seed)
    for i in range(n):
        K, D = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        data = tape(rng, rng.random((K, D)), length, ("gaussian", "bernoulli")[i % 2])
        yield K, D, K + int(rng.integers(0, length - K)), data


def assert_equal_step_by_step(policy: pp.Policy, expected: dict, data: np.ndarray) -> None:
    assert follow(policy, data) == expected["pulls"]
    assert policy.recommend().tolist() == expected["answer"]
    assert policy.counts.sum() == policy.budget


@pytest.mark.slow
@pytest.mark.parametrize("exploration", [0.0, 0.5, 4.0, 100.0])
def test_ape_fb_equals_the_literal_version_step_by_step(exploration):
    for K, D, budget, data in random_problems(0, 60):
        policy = pp.policy("ape-fb", n_arms=K, n_objectives=D, budget=budget, exploration=exploration)
        assert_equal_step_by_step(policy, oracle.ape_fb(K, budget, exploration, drawing(data)), data)


def test_ape_fb_equals_the_literal_version_with_many_arms():
    rng = np.random.default_rng(1)
    for kind in ("gaussian", "bernoulli"):
        data = tape(rng, rng.random((40, 3)), 300, kind)
        policy = pp.policy("ape-fb", n_arms=40, n_objectives=3, budget=300, exploration=3.0)
        assert_equal_step_by_step(policy, oracle.ape_fb(40, 300, 3.0, drawing(data)), data)


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.1, 9.0, 100.0])
def test_the_adaptive_version_equals_the_literal_one_step_by_step(c):
    for K, D, budget, data in random_problems(2, 40):
        policy = pp.policy("ape-fb-adapt", n_arms=K, n_objectives=D, budget=budget, c=c)
        assert_equal_step_by_step(policy, oracle.ape_fb_adapt(K, budget, c, drawing(data)), data)


@pytest.mark.parametrize("c", [0.1, 9.0, 100.0])
def test_the_published_adaptive_version_equals_the_literal_one_step_by_step(c):
    for K, D, budget, data in random_problems(3, 40):
        policy = pp.policy("ape-fb-adapt", n_arms=K, n_objectives=D, budget=budget, c=c, as_published=True)
        assert_equal_step_by_step(policy, oracle.ape_fb_adapt_as_published(K, budget, c, drawing(data)), data)


def test_the_published_adaptive_version_starves_most_arms_and_the_corrected_one_does_not():
    bandit = pp.instance("cov-boost")
    counts = {}
    for as_published in (True, False):
        policy = pp.policy("ape-fb-adapt", n_arms=20, n_objectives=3, budget=1000, as_published=as_published)
        pp.play(bandit, policy, np.random.default_rng(0))
        counts[as_published] = np.sort(policy.counts)
    assert counts[True][-3:].sum() > 900
    assert counts[False][-3:].sum() < 900


def test_the_oracle_is_the_formula_of_the_paper():
    policy = pp.policy("ape-fb", n_arms=5, n_objectives=2, budget=105, complexity=40.0)
    assert policy.exploration == pytest.approx(25 / 36 * 100 / 40)
    policy = pp.policy("ape-fb", n_arms=5, n_objectives=2, budget=105, complexity=40.0, c=10)
    assert policy.exploration == pytest.approx(10 * 25 / 36 * 100 / 40)
    assert pp.policy("ape-fb", n_arms=5, n_objectives=2, budget=105, complexity=np.inf).exploration == 0


def test_row_minima_stay_right_while_rows_and_columns_change():
    rng = np.random.default_rng(4)
    for _ in range(50):
        n = int(rng.integers(1, 12))
        kept = _RowMinima(rng.integers(0, 6, size=(n, n)).astype(float))
        for _ in range(60):
            index = int(rng.integers(n))
            row, column = rng.integers(0, 6, size=(2, n)).astype(float)
            row[index] = column[index] = 99.0
            kept.replace(index, row=row, column=column)
            assert (kept.minima == kept.matrix.min(axis=1)).all()
            assert (kept.matrix[index] == row).all()
            assert (kept.matrix[:, index] == column).all()


def test_bounds_changed_arm_by_arm_equal_bounds_made_anew():
    rng = np.random.default_rng(5)
    for _ in range(30):
        means = rng.integers(0, 4, size=(int(rng.integers(1, 8)), 2)).astype(float)
        bonuses = rng.random(len(means))
        kept = _Bounds(means.copy(), bonuses.copy())
        for _ in range(30):
            arm = int(rng.integers(len(means)))
            means[arm], bonuses[arm] = rng.integers(0, 4, size=2), rng.random()
            kept.update(arm, means[arm], bonuses[arm])
            fresh = _Bounds(means.copy(), bonuses.copy())
            assert (kept.excess == fresh.excess).all()
            assert (kept.upper.minima == fresh.upper.minima).all()
            assert (kept.lower.minima == fresh.lower.minima).all()
            assert kept.candidates() == fresh.candidates()


def test_one_arm_takes_the_whole_budget():
    for options in ({"exploration": 1.0}, {"complexity": 0.0}):
        policy = pp.policy("ape-fb", n_arms=1, n_objectives=2, budget=4, **options)
        assert follow(policy, np.ones((1, 4, 2))) == [0] * 4
        assert policy.recommend().tolist() == [0]


def test_a_budget_of_one_pull_each_is_uniform_allocation():
    policy = pp.policy("ape-fb", n_arms=3, n_objectives=2, budget=3, exploration=1.0)
    policy.tell([0, 1, 2], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    assert policy.done
    assert policy.recommend().tolist() == [0, 1]
    assert policy.snapshot().gaps.tolist() == [1.0, 1.0, 1.0]
