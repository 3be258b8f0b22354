import math

import numpy as np
import pytest

import paretopick as pp
from paretopick import bounds
from support import oracle

PAPER = np.array([[-2.5, 3.0], [-3.0, 1.0], [2.0, -0.5], [1.5, -3.0]])
"""The instance in class B that the paper draws with its four alternatives."""

TWO_DOMINATORS = np.array([[100.0, 0, 0], [0, 100, 0], [99, -10, -2], [-10, 99, -2], [-50, -50, -5]])
"""In B' and not in B: the last arm is maximally dominated by both optimal arms, and by four in all."""


def pairs_along_a_front(rng: np.random.Generator, n_pairs: int, n_objectives: int) -> np.ndarray:
    """Optimal arms far apart, each with one arm below it, in multiples of 1/8 so that shifts by gaps are exact."""
    means = []
    for i in range(n_pairs):
        top = np.zeros(n_objectives)
        top[0], top[1] = 40.0 * i, -40.0 * i
        top += rng.integers(-8, 9, n_objectives) / 8
        means += [top, top - rng.integers(1, 9, n_objectives) / 8]
    return np.array(means)[rng.permutation(2 * n_pairs)]


CLASS_B = [PAPER] + [
    pairs_along_a_front(np.random.default_rng(seed), n_pairs, n_objectives)
    for seed, (n_pairs, n_objectives) in enumerate([(1, 2), (2, 2), (3, 2), (5, 2), (2, 3), (4, 3), (3, 5)])
]


@pytest.mark.parametrize("means", CLASS_B, ids=lambda means: f"K{len(means)}D{means.shape[1]}")
def test_in_class_b_every_alternative_keeps_all_gaps_and_changes_the_pareto_set(means):
    assert bounds.in_class_b(means)
    alternatives = bounds.alternatives(means)
    assert alternatives.shape == (len(means), *means.shape)
    for i, moved in enumerate(alternatives):
        assert (np.delete(moved, i, axis=0) == np.delete(means, i, axis=0)).all()
        assert np.count_nonzero(moved[i] != means[i]) == 1
        assert np.abs(moved[i] - means[i]).max() == 2 * pp.gaps(means)[i]
        assert (pp.gaps(moved) == pp.gaps(means)).all()
        assert pp.complexity(moved) == pp.complexity(means)
        assert (pp.pareto_mask(moved) != pp.pareto_mask(means)).any()


@pytest.mark.parametrize("scale, shift", [(0.1, 0.0), (0.3, 0.0), (0.7, 0.0), (1.0, 1 / 3)])
def test_rounding_does_not_decide_about_membership(scale, shift):
    """In the paper's example some distances are three gaps exactly; scaled by a decimal they round to either side."""
    assert bounds.in_class_b(PAPER * scale + shift)


def test_in_class_b_prime_no_alternative_is_harder_and_each_changes_the_pareto_set():
    assert bounds.in_class_b_prime(TWO_DOMINATORS)
    assert not bounds.in_class_b(TWO_DOMINATORS)
    for moved in bounds.alternatives(TWO_DOMINATORS):
        assert (pp.gaps(moved) >= pp.gaps(TWO_DOMINATORS)).all()
        assert pp.complexity(moved) <= pp.complexity(TWO_DOMINATORS)
        assert (pp.pareto_mask(moved) != pp.pareto_mask(TWO_DOMINATORS)).any()


def test_class_b_prime_as_printed_does_not_contain_class_b():
    """The appendix calls B' larger; its condition (4) also binds an optimal arm to the arm below it, which B does not."""
    means = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert bounds.in_class_b(means)
    assert not bounds.in_class_b_prime(means)


@pytest.mark.slow
def test_membership_equals_the_oracle_on_instances_at_the_edge_of_the_classes():
    rng = np.random.default_rng(0)
    seen = {"b": set(), "b_prime": set()}
    for i in range(1500):
        if i % 3 == 0:
            means = pairs_along_a_front(rng, int(rng.integers(1, 4)), int(rng.integers(2, 4)))
            means[:, 0] /= rng.choice([1, 4, 8, 16])
        elif i % 3 == 1:
            means = TWO_DOMINATORS + rng.integers(-3, 4, TWO_DOMINATORS.shape)
        else:
            means = rng.integers(-20, 21, size=(int(rng.integers(1, 5)), 2)).astype(float)
        for key, mine, theirs in (
            ("b", bounds.in_class_b(means), oracle.in_class_b(means.tolist())),
            ("b_prime", bounds.in_class_b_prime(means), oracle.in_class_b_prime(means.tolist())),
        ):
            assert mine == theirs, means
            seen[key].add(mine)
    assert seen == {"b": {True, False}, "b_prime": {True, False}}


@pytest.mark.parametrize(
    "means, message",
    [
        # The last arm is freed from arm 0 in the first objective and from arm 1 in the second, from both in none.
        ([[5, 50, 50], [50, 5, 50], [4, 40, 40], [40, 4, 40], [0, 0, 0]], "no single objective frees arm 4 from its dominators"),
        # Arm 2 is maximally dominated by arm 0 alone, and dominated by arms 1 and 3 too.
        ([[100, 0, 0], [0, 100, -1], [-10, -10, -3], [-10, 90, -2]], "arm 2 is dominated by others than optimal arm 0"),
        # Nothing lies below arm 2.
        ([[0, 10], [-1, 5], [40, 0]], "0 arms are maximally dominated by optimal arm 2 alone"),
        # The optimal arms are too close to each other.
        ([[0, 2.5], [-1, 0.1], [2.5, 0], [0.1, -1]], "arms 0 and 2 are too close"),
    ],
)
def test_a_single_broken_condition_keeps_means_out_of_class_b_prime(means, message):
    assert not bounds.in_class_b_prime(means)
    assert not oracle.in_class_b_prime(means)
    with pytest.raises(ValueError, match=message):
        bounds.alternatives(means)


def test_value():
    expected = math.exp(-2 * 50 / (0.7**2 * oracle.complexity(PAPER.tolist()))) / 4
    assert bounds.lower_bound(PAPER, 50, sigma=0.7) == pytest.approx(expected, rel=1e-12)
    assert bounds.lower_bound(PAPER, 0, sigma=0.7) == 0.25


@pytest.mark.parametrize("name", ["uniform", "ege-sr", "apt"])
def test_the_worst_of_the_instance_and_its_alternatives_errs_at_least_as_often_as_the_bound_says(name):
    sigma, budget = 1.0, 16
    worst = max(
        pp.simulate(pp.Bandit(means, pp.Gaussian(std=sigma)), name, budgets=budget, runs=200, rng=3).rate[0]
        for means in (PAPER, *bounds.alternatives(PAPER))
    )
    limit = bounds.lower_bound(PAPER, budget, sigma=sigma)
    assert limit > 0.02
    assert worst >= limit


@pytest.mark.parametrize(
    "means, message",
    [
        ([[1.0, 1.0]], "optimal arm 0 dominates 0 arms"),
        ([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], "arm 0 has gap 0"),
        ([[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]], "arm 2 is dominated by 2 arms"),
        ([[2.0, 2.0], [1.0, 1.0], [0.0, 1.5]], "optimal arm 0 dominates 2 arms"),
        ([[1.0, 0.0], [0.5, -0.5], [0.0, 1.0], [-0.5, 0.5]], r"too close: M\("),
    ],
)
def test_an_instance_in_neither_class_is_refused_with_the_reason(means, message):
    with pytest.raises(ValueError, match=message):
        bounds.lower_bound(means, 10, sigma=1.0)
    with pytest.raises(ValueError, match="classes B and B' only"):
        bounds.alternatives(means)
