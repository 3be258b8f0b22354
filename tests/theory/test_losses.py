import itertools

import numpy as np
import pytest

import paretopick as pp

OPTIMAL = np.array([True, True, False, False])


def test_every_answer_is_judged_as_the_definitions_say():
    truth = {0, 1}
    for size in range(5):
        for answer in itertools.combinations(range(4), size):
            assert pp.misidentified(answer, OPTIMAL) == (set(answer) != truth)
            assert pp.wrongly_accepted(answer, OPTIMAL) == len(set(answer) - truth)
            assert pp.wrongly_rejected(answer, OPTIMAL) == len(truth - set(answer))
            for k in range(1, 6):
                success = set(answer) <= truth if len(answer) == k else set(answer) == truth
                assert pp.relaxed_loss(answer, OPTIMAL, max_arms=k) == (not success)


def test_the_order_of_the_answer_does_not_matter():
    assert not pp.misidentified([1, 0], OPTIMAL)


def test_hypervolume_fraction_of_parts_of_a_staircase():
    means = np.array([[3.0, 1.0], [1.0, 3.0], [0.5, 0.5]])  # together 3 + 3 - 1
    assert pp.hypervolume_fraction([0], means) == pytest.approx(3 / 5)
    assert pp.hypervolume_fraction([0, 1], means) == pytest.approx(1)
    assert pp.hypervolume_fraction([0, 1, 2], means) == pytest.approx(1)
    assert pp.hypervolume_fraction([2], means) == pytest.approx(0.25 / 5)
    assert pp.hypervolume_fraction([], means) == 0


def test_hypervolume_fraction_with_another_reference():
    means = np.array([[3.0, 1.0], [1.0, 3.0]])
    assert pp.hypervolume_fraction([0], means, reference=-1) == pytest.approx(8 / 12)
    assert pp.hypervolume_fraction([0], means, reference=[0, -1]) == pytest.approx(6 / 8)


def test_arms_below_the_reference_add_nothing():
    means = np.array([[2.0, 1.0], [-1.0, 5.0]])
    assert pp.hypervolume_fraction([1], means) == 0
    assert pp.hypervolume_fraction([0], means) == 1
    assert np.isnan(pp.hypervolume_fraction([0], means, reference=10))


@pytest.mark.parametrize("n_objectives", [1, 3, 6])
def test_hypervolume_of_one_point_is_a_box(n_objectives):
    box = np.arange(1.0, n_objectives + 1)
    means = np.array([box, box / 2])
    assert pp.hypervolume_fraction([1], means) == pytest.approx(0.5**n_objectives)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pp.misidentified([0, 0], OPTIMAL), "names an arm twice"),
        (lambda: pp.misidentified([4], OPTIMAL), "recommended has arm 4 .position 0.; arms are numbered 0 to 3"),
        (lambda: pp.misidentified([-1], OPTIMAL), "recommended has arm -1"),
        (lambda: pp.misidentified([0.5], OPTIMAL), r"recommended=\[0.5\] .float64 of shape"),
        (lambda: pp.misidentified([0], [0, 1]), "optimal is int64 of shape .2,.; expected one truth value per arm"),
        (lambda: pp.relaxed_loss([0], OPTIMAL, max_arms=0), "max_arms=0 is too small"),
        (lambda: pp.hypervolume_fraction([0], np.eye(2), reference=[1, 2, 3]), "expected one number or 2"),
        (lambda: pp.hypervolume_fraction([0], np.eye(2), reference=np.nan), "reference has nan"),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_points_without_objectives_are_refused():
    with pytest.raises(pp.InvalidInput, match=r"points has shape \(1, 0\); expected at least one objective"):
        pp.hypervolume([[]])
