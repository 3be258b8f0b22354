import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.theory import dominance
from support import oracle
from support.inputs import random_points, tie_rich_points


def test_equals_the_oracle_on_random_and_tie_rich_points():
    for points in random_points(np.random.default_rng(0), 3000):
        assert pp.pareto_mask(points).tolist() == oracle.pareto_set(points.tolist())


@pytest.mark.parametrize("few, block_bytes", [(1, 1), (2, 8), (3, 64), (128, 1 << 19)])
def test_blocks_of_any_size_give_the_same(monkeypatch, few, block_bytes):
    monkeypatch.setattr(dominance, "FEW", few)
    monkeypatch.setattr(dominance, "BLOCK_BYTES", block_bytes)
    for points in random_points(np.random.default_rng(1), 600):
        assert pp.pareto_mask(points).tolist() == oracle.pareto_set(points.tolist())


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 5])
@pytest.mark.parametrize("high", [3, 1000])
def test_many_points_agree_with_an_independent_library(n_objectives, high):
    points = np.random.default_rng(2).integers(0, high, size=(2000, n_objectives)).astype(float)
    assert (pp.pareto_mask(points) == moocore.is_nondominated(points, maximise=True, keep_weakly=True)).all()


def test_a_sum_that_rounds_away_the_difference_still_finds_the_dominator():
    # 1e16 + 1 rounds to 1e16, so both arms have the same sum in floating point.
    points = np.array([[1e16, 0.0], [1e16, 1.0]] * 100)
    assert pp.pareto_mask(points).tolist() == [False, True] * 100


def test_huge_values_overflow_nothing():
    points = np.array([[1.7e308, 1.7e308], [1.7e308, -1.7e308], [-1.7e308, 1.7e308]] * 50)
    assert pp.pareto_mask(points).tolist() == [True, False, False] * 50


def same_in_each(sets):
    assert dominance.optimal_in_each(sets).tolist() == [oracle.pareto_set(points) for points in sets.tolist()]


def test_optimal_in_each_set_equals_the_oracle_on_random_and_tie_rich_points():
    rng = np.random.default_rng(3)
    for points in random_points(rng, 600):
        twins = points[rng.integers(0, len(points), len(points))]
        same_in_each(np.stack([points, points[::-1], twins, rng.integers(0, 3, points.shape).astype(float)]))


@pytest.mark.parametrize("n_points", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("n_objectives", [1, 2, 3, 5])
def test_optimal_in_each_set_at_the_limits_of_words(n_points, n_objectives):
    rng = np.random.default_rng(4)
    shape = (3, n_points, n_objectives)
    sphere = rng.normal(size=shape)
    sphere /= np.linalg.norm(sphere, axis=2)[..., None]
    tied = rng.normal(size=shape)
    tied[..., 0] = rng.integers(0, 4, n_points)  # an exact metric: the same in all sets
    for sets in (rng.normal(size=shape), sphere, tied, rng.integers(0, 5, shape).astype(float), np.zeros(shape)):
        same_in_each(sets)


@pytest.mark.parametrize("at_once", [1, 30, 61])
def test_sets_in_parts_of_any_size_give_the_same(monkeypatch, at_once):
    monkeypatch.setattr(dominance, "AT_ONCE", at_once)
    sets = np.random.default_rng(5).integers(0, 6, (25, 20, 3)).astype(float)
    same_in_each(sets)


def test_sets_with_signed_zeros_and_huge_values():
    same_in_each(
        np.array([[[0.0, 1.0], [-0.0, 1.0], [-0.0, 0.5]], [[1.7e308, -1.7e308], [-1.7e308, 1.7e308], [-1.7e308, -1.7e308]]])
    )


def test_large_sets_equal_each_by_itself():
    rng = np.random.default_rng(6)
    for sets in (rng.normal(size=(3, 1000, 5)), rng.integers(0, 40, (3, 700, 4)).astype(float)):
        assert (dominance.optimal_in_each(sets) == [dominance.optimal_rows(points) for points in sets]).all()


@pytest.mark.parametrize("n_objectives", [9, 16])
def test_sums_that_overflow_both_ways_do_not_matter(n_objectives):
    for seed in range(8):
        points = np.random.default_rng(seed).integers(-1, 2, size=(200, n_objectives)) * 1.7e308
        assert pp.pareto_mask(points).tolist() == oracle.pareto_set(points.tolist())


def test_signed_zeros_are_equal():
    assert pp.pareto_mask([[0.0, 1.0], [-0.0, 1.0]]).tolist() == [True, True]


@pytest.mark.parametrize(
    "points, expected",
    [
        ([[1.0]], [True]),
        ([[1.0], [1.0], [0.0]], [True, True, False]),
        ([[1.0, 1.0], [1.0, 0.0]], [True, False]),
        ([[1, 0], [0, 1], [1, 0]], [True, True, True]),
    ],
)
def test_edges(points, expected):
    assert pp.pareto_mask(points).tolist() == expected


@given(tie_rich_points(), st.randoms(use_true_random=False))
def test_permuting_arms_permutes_the_mask_and_permuting_objectives_changes_nothing(points, random):
    arms = random.sample(range(len(points)), len(points))
    objectives = random.sample(range(points.shape[1]), points.shape[1])
    mask = pp.pareto_mask(points)
    assert (pp.pareto_mask(points[arms]) == mask[arms]).all()
    assert (pp.pareto_mask(points[:, objectives]) == mask).all()


@given(tie_rich_points())
def test_every_dominated_arm_is_dominated_by_an_optimal_one(points):
    mask = pp.pareto_mask(points)
    assert mask.any()
    for i in np.flatnonzero(~mask):
        assert any(oracle.dominated_by(points[i], points[j]) for j in np.flatnonzero(mask))


def test_inputs_are_not_written_to():
    points = np.random.default_rng(3).normal(size=(300, 3))
    points.flags.writeable = False
    before = points.copy()
    pp.pareto_mask(points)
    assert (points == before).all()


@pytest.mark.parametrize(
    "points, message",
    [
        ([1.0, 2.0], r"means has shape \(2,\); expected two dimensions.*one row of one number each"),
        ([[1.0, np.nan]], r"means has nan for objective 1 \(row 0 of 1\)"),
        ([[np.inf, 0.0]], "means has inf for objective 0"),
        (np.empty((0, 2)), r"means has shape \(0, 2\); expected at least one arm"),
        ([[1.0, 2.0], [1.0]], "means cannot be read as a table of numbers"),
        ([["a"]], "means cannot be read as a table of numbers"),
        (np.zeros((2, 2, 2)), r"means has shape \(2, 2, 2\)"),
        ([["1", "2"]], "cannot be read as a table of numbers: its entries are <U1, not real numbers"),
        ([[1j, 2]], "its entries are complex128"),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]]), "means is a masked array"),
        ([[10**400, 1]], "cannot be read as a table of numbers"),
    ],
)
def test_bad_input_is_shown(points, message):
    with pytest.raises(ValueError, match=message):
        pp.pareto_mask(points)
