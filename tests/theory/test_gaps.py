import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.theory import dominance
from paretopick.theory.gaps import optimal_and_gaps
from support import oracle
from support.inputs import random_points, tie_rich_points


def test_both_forms_equal_the_oracle_exactly_on_random_and_tie_rich_points():
    for points in random_points(np.random.default_rng(0), 4000):
        literal = oracle.gaps_lemma1(points.tolist())
        assert literal == oracle.gaps_front(points.tolist())
        assert pp.gaps(points).tolist() == literal


def test_gaps_with_exact_objectives_equal_the_oracle_exactly():
    rng = np.random.default_rng(11)
    for points in random_points(rng, 3000):
        exact = rng.random(points.shape[1]) < 0.5
        optimal, found = optimal_and_gaps(points, exact)
        assert optimal.tolist() == oracle.pareto_set(points.tolist())
        assert found.tolist() == (
            oracle.gaps_with_exact(points.tolist(), exact.tolist()) if exact.any() else oracle.gaps_lemma1(points.tolist())
        )


def test_gaps_with_an_exact_objective_are_the_limit_of_gaps_on_the_scale_of_its_noise():
    """Without ties in it; 2^-40 keeps everything exact."""
    rng = np.random.default_rng(12)
    for _ in range(200):
        points = np.column_stack([rng.integers(0, 9, (7, 2)), rng.permutation(7)]).astype(float)
        _, found = optimal_and_gaps(points, np.array([False, False, True]))
        nearly = pp.gaps(points / [1, 1, 2.0**-40])
        assert (np.where(found == np.inf, nearly > 2**30, nearly == found)).all()


def test_arms_at_the_same_price_have_the_gap_of_what_is_noisy():
    points = np.array([[1.0, 5.0], [3.0, 5.0], [9.0, 4.0]])  # the first two cost the same, the third more
    assert pp.gaps(points).tolist() == [0.0, 0.0, 1.0]
    assert optimal_and_gaps(points, np.array([False, True]))[1].tolist() == [2.0, 2.0, 6.0]


@pytest.mark.parametrize("few, block_bytes", [(1, 1), (2, 24), (4, 200)])
def test_blocks_of_any_size_give_the_same(monkeypatch, few, block_bytes):
    monkeypatch.setattr(dominance, "FEW", few)
    monkeypatch.setattr(dominance, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr("paretopick.theory.gaps.FEW", few)
    monkeypatch.setattr("paretopick.theory.gaps.BLOCK_BYTES", block_bytes)
    for points in random_points(np.random.default_rng(1), 900):
        assert pp.gaps(points).tolist() == oracle.gaps_lemma1(points.tolist())


@pytest.mark.parametrize("high", [6, 10**6])
def test_more_arms_than_one_block_equal_the_oracle(high):
    rng = np.random.default_rng(2)
    for n_objectives in (1, 2, 4):
        points = rng.integers(0, high, size=(300, n_objectives)).astype(float)
        assert pp.gaps(points).tolist() == oracle.gaps_front(points.tolist())


def test_gaps_of_integer_sums_are_exact_where_means_would_round():
    # 3/7 - 1/7 and 5/7 - 3/7 differ in floating point; on sums of 7 pulls both are 2.
    sums = np.array([[1.0], [3.0], [5.0]])
    assert optimal_and_gaps(sums)[1].tolist() == [4.0, 2.0, 2.0]
    means = sums / 7
    assert means[1] - means[0] != means[2] - means[1]


def test_no_gap_is_a_negative_zero():
    for points in random_points(np.random.default_rng(3), 600):
        assert not np.signbit(pp.gaps(points)).any()


@given(tie_rich_points(), st.randoms(use_true_random=False), st.integers(-5, 5), st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_gaps_follow_permutations_and_scale_and_ignore_shifts(points, random, shift, scale):
    gaps = pp.gaps(points)
    arms = random.sample(range(len(points)), len(points))
    objectives = random.sample(range(points.shape[1]), points.shape[1])
    assert (pp.gaps(points[arms][:, objectives]) == gaps[arms]).all()
    assert (pp.gaps(points + shift) == gaps).all()
    assert (pp.gaps(points * scale) == gaps * scale).all()


@given(tie_rich_points())
def test_raising_a_sub_optimal_arm_by_its_gap_frees_it_and_less_does_not(points):
    mask, gaps = pp.pareto_mask(points), pp.gaps(points)
    for i in np.flatnonzero(~mask):
        raised = points.copy()
        raised[i] += gaps[i] + 0.25
        assert pp.pareto_mask(raised)[i]
        if gaps[i] > 0:
            raised[i] = points[i] + gaps[i] - 0.25
            assert not pp.pareto_mask(raised)[i]


def test_one_objective_gives_the_classical_gaps():
    values = np.random.default_rng(4).normal(size=12)
    best, second = np.sort(values)[::-1][:2]
    expected = np.where(values == best, best - second, best - values)
    assert (pp.gaps(values[:, None]) == expected).all()


@pytest.mark.parametrize(
    "points, expected",
    [
        ([[3.0, 1.0]], [np.inf]),
        ([[1.0], [1.0]], [0.0, 0.0]),
        ([[1.0, 1.0], [1.0, 0.0]], [0.0, 0.0]),
        ([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], [1.0, 1.0, 1.0]),
        ([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]], [np.inf, np.inf]),
    ],
)
def test_edges(points, expected):
    assert pp.gaps(points).tolist() == expected


@pytest.mark.slow
def test_relaxed_gaps_equal_the_oracle_for_every_k():
    for points in random_points(np.random.default_rng(5), 600):
        for k in range(1, len(points) + 1):
            assert pp.relaxed_gaps(points, max_arms=k).tolist() == oracle.relaxed_gaps(points.tolist(), k)


def test_relaxed_gaps_shrink_with_k_to_the_plain_ones():
    points = np.random.default_rng(6).normal(size=(30, 3))
    size = int(pp.pareto_mask(points).sum())
    relaxed = [pp.relaxed_gaps(points, max_arms=k) for k in range(1, 31)]
    assert all((after <= before).all() for before, after in itertools.pairwise(relaxed))
    for k in range(size, 31):
        assert (relaxed[k - 1] == pp.gaps(points)).all()


@pytest.mark.parametrize(
    "k, message", [(0, "max_arms=0 is too small"), (4, "max_arms=4 is too large; it must be at most 3"), (1.5, "1.5")]
)
def test_max_arms_out_of_range_is_refused(k, message):
    with pytest.raises(ValueError, match=message):
        pp.relaxed_gaps(np.eye(3), max_arms=k)


def _peak_bytes(points):
    tracemalloc.start()
    pp.gaps(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_grows_with_the_arms_not_with_their_square():
    rng = np.random.default_rng(7)
    ball = rng.normal(size=(20_000, 3))
    assert _peak_bytes(ball) < 20e6  # a matrix of all pairs would take 3.2e9
    sphere = np.abs(rng.normal(size=(4000, 3)))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    assert pp.pareto_mask(sphere).mean() > 0.99
    assert _peak_bytes(sphere) < 10e6  # against 128e6, though the front is nearly everything
