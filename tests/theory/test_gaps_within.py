import numpy as np
import pytest

import paretopick as pp
from paretopick.theory.gaps import optimal_and_gaps
from paretopick.theory.gaps_within import front_and_gaps
from paretopick.theory.requirements import Requirements, check_requirements, is_right
from support import oracle
from support.inputs import drawn_requirements, random_points


def test_they_equal_the_literal_version_ties_included():
    rng, infinite = np.random.default_rng(1), set()
    for i, points in enumerate(random_points(rng, 1500)):
        margins, limits = drawn_requirements(rng, points)
        exact = rng.random(points.shape[1]) < (0.0, 0.4, 1.0)[i % 5 % 3]
        front, gaps = front_and_gaps(points, check_requirements(margins, limits, points.shape[1]), exact)
        assert front.tolist() == oracle.feasible_pareto_set(points.tolist(), margins, limits)
        assert gaps.tolist() == oracle.gaps_within(points.tolist(), margins, limits, exact.tolist())
        assert (gaps >= 0).all()
        infinite.update(np.isinf(gaps).tolist())
    assert infinite == {False, True}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_without_margins_and_limits_they_are_the_gaps_of_the_paper(share):
    rng = np.random.default_rng(2)
    for points in random_points(rng, 400):
        exact = rng.random(points.shape[1]) < share
        front, gaps = front_and_gaps(points, Requirements.none(points.shape[1]), exact)
        optimal, plain = optimal_and_gaps(points, exact)
        assert front.tolist() == optimal.tolist()
        assert gaps.tolist() == plain.tolist()


def test_limits_that_everybody_keeps_by_far_change_nothing():
    for points in random_points(np.random.default_rng(3), 200):
        n = points.shape[1]
        _, far = front_and_gaps(points, check_requirements(0.25, [-100.0] * n, n))
        _, none = front_and_gaps(points, check_requirements(0.25, None, n))
        assert np.minimum(far, 50).tolist() == np.minimum(none, 50).tolist()


def test_near_ties_are_as_easy_as_the_margin_is_wide():
    """Of the twins in objective 0 nobody has to know which one is ahead, and the third is far below both."""
    points = np.array([[1.0, 1.0], [1.0 + 1e-9, 1.0 - 1e-9], [-3.0, -3.0]])
    _, gaps = front_and_gaps(points, check_requirements([0.5, 0.25], None, 2))
    assert gaps[:2] == pytest.approx([0.5, 0.5])
    assert pp.gaps(points)[:2] == pytest.approx([0.0, 0.0], abs=1e-8)


def test_an_arm_at_a_limit_is_hard_and_one_far_beyond_is_easy():
    points = np.array([[0.0, 1.0], [1.0, 0.1], [2.0, -5.0]])
    front, gaps = front_and_gaps(points, check_requirements(0.0, [None, 0.0], 2))
    assert front.tolist() == [True, True, False]
    assert gaps.tolist() == [0.9, 0.1, 5.0]


def test_where_nobody_keeps_the_limits_the_gap_is_the_way_to_them():
    front, gaps = front_and_gaps(np.array([[0.0, 1.0], [1.0, 0.5]]), check_requirements(0.0, [2.0, 2.0], 2))
    assert not front.any()
    assert gaps.tolist() == [2.0, 1.5]


def test_the_front_stays_right_while_nothing_moves_by_half_a_gap():
    """Two arms that move towards each other by less than half of the smallest gap each leave the answer right."""
    rng, judged = np.random.default_rng(4), 0
    for points in random_points(rng, 300):
        margins, limits = drawn_requirements(rng, points)
        required = check_requirements(margins, limits, points.shape[1])
        front, gaps = front_and_gaps(points, required)
        width = min(gaps.min(), 10.0) / 2
        if width > 0:
            moved = points + rng.uniform(-0.999, 0.999, (200, *points.shape)) * width
            assert is_right(moved, front, required).all()
            judged += 1
    assert judged > 100
