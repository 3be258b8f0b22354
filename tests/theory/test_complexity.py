import math

import numpy as np
import pytest
from hypothesis import given

import paretopick as pp
from support import oracle
from support.inputs import random_points, tie_rich_points


def test_both_complexities_equal_the_oracle():
    for points in random_points(np.random.default_rng(0), 600):
        assert pp.complexity(points) == pytest.approx(oracle.complexity(points.tolist()), rel=1e-13)
        assert pp.complexity_h2(points) == pytest.approx(oracle.complexity_h2(points.tolist()), rel=1e-13)


def test_relaxed_complexities_are_those_of_the_relaxed_gaps():
    points = np.random.default_rng(1).normal(size=(12, 2))
    for k in range(1, 13):
        gaps = sorted(oracle.relaxed_gaps(points.tolist(), k))
        assert pp.complexity(points, max_arms=k) == pytest.approx(sum(gap**-2 for gap in gaps))
        assert pp.complexity_h2(points, max_arms=k) == pytest.approx(max(i / gap**2 for i, gap in enumerate(gaps, 1)))


@given(tie_rich_points())
def test_h2_and_h_bracket_each_other(points):
    h, h2 = pp.complexity(points), pp.complexity_h2(points)
    assert h2 <= h * (1 + 1e-12)
    if len(points) > 1:
        assert h <= math.log(2 * len(points)) * h2 * (1 + 1e-12)


def test_twins_on_the_front_are_infinitely_hard_and_one_arm_is_no_problem():
    assert pp.complexity([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) == math.inf
    assert pp.complexity_h2([[1.0, 0.0], [1.0, 0.0]]) == math.inf
    assert pp.complexity([[1.0, 0.0]]) == 0
    assert pp.complexity_h2([[1.0, 0.0]]) == 0


def test_effective_budget_by_hand():
    # Gaps 1, 1, 3: round 1 leaves the two arms with the smallest, so the third smallest counts; then the second smallest.
    means = [[4.0], [3.0], [1.0]]
    assert pp.effective_budget(means, pp.Schedule(active=(3, 2, 1), pulls=(2, 5))) == min(2 * 3.0**2, 7 * 1.0**2)
    assert pp.effective_budget(means, pp.Schedule(active=(3, 0), pulls=(4,))) == 4 * 1.0**2


def test_effective_budget_without_rounds_is_infinite():
    assert pp.effective_budget([[1.0]], pp.schedule("sr", 1, 5)) == math.inf


def test_effective_budget_refuses_a_schedule_for_other_arms():
    with pytest.raises(ValueError, match="the schedule is for 4 arms and the means are of 3"):
        pp.effective_budget(np.eye(3), pp.Schedule(active=(4, 1), pulls=(1,)))
