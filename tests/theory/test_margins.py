import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.theory import requirements
from paretopick.theory.requirements import check_requirements
from support import oracle
from support.inputs import drawn_requirements, random_points, tie_rich_points

RELATIONS = {"covers": pp.covers, "outdoes": pp.outdoes, "beats": pp.beats}


def all_answers(n_arms):
    return [list(arms) for size in range(n_arms + 1) for arms in itertools.combinations(range(n_arms), size)]


@pytest.mark.parametrize("name", RELATIONS)
def test_relations_equal_the_oracle(name):
    rng, found = np.random.default_rng(1), set()
    for points in random_points(rng, 300):
        margins, _ = drawn_requirements(rng, points)
        relation, literal = RELATIONS[name](points, margins=margins), getattr(oracle, name)
        expected = [[literal(y, x, margins) for x in points.tolist()] for y in points.tolist()]
        assert relation.tolist() == expected
        found.update(relation[~np.eye(len(points), dtype=bool)].tolist())
    assert found == {False, True}


def test_every_answer_is_judged_as_the_oracle_does():
    rng, found = np.random.default_rng(2), set()
    for points in random_points(rng, 120, max_arms=5, max_objectives=4):
        margins, limits = drawn_requirements(rng, points)
        for answer in all_answers(len(points)):
            right = pp.right_within_margins(points, answer, margins=margins, limits=limits)
            assert right == oracle.is_right(points.tolist(), answer, margins, limits)
            found.add((right, len(answer)))
    assert {(True, 0), (True, 1), (True, 2), (True, 3), (False, 0)} <= found


def test_masks_of_many_sets_equal_the_oracle_set_by_set(monkeypatch):
    rng = np.random.default_rng(3)
    for at_once in (1, 40, 1 << 18):  # one set at a time, a few, all
        monkeypatch.setattr(requirements, "AT_ONCE", at_once)
        for one in random_points(rng, 60, max_arms=7, max_objectives=4):
            sets = rng.integers(-2, 3, size=(2, 5, *one.shape)) / 2 if rng.random() < 0.5 else rng.normal(size=(2, 5, *one.shape))
            margins, limits = drawn_requirements(rng, sets[0, 0])
            required = check_requirements(margins, limits, one.shape[1])
            answer = rng.random((2, 5, len(one))) < 0.5
            for mask in (answer, answer[0, 0]):
                covered, right = requirements.covered_by(sets, mask, required), requirements.is_right(sets, mask, required)
                each = np.broadcast_to(mask, answer.shape)
                for place in np.ndindex(2, 5):
                    points, members = sets[place].tolist(), np.flatnonzero(each[place]).tolist()
                    assert right[place] == oracle.is_right(points, members, margins, limits)
                    assert covered[place].tolist() == [any(oracle.covers(points[j], x, margins) for j in members) for x in points]
            kept, optimal = requirements.worth_keeping(sets, required), requirements.optimal_and_feasible(sets, required)
            for place in np.ndindex(2, 5):
                points = sets[place].tolist()
                assert kept[place].tolist() == [oracle.worth_keeping(points, i, margins, limits) for i in range(len(points))]
                assert optimal[place].tolist() == oracle.feasible_pareto_set(points, margins, limits)


def test_many_answers_to_one_set_are_judged_as_each_alone():
    rng = np.random.default_rng(4)
    for points in random_points(rng, 60, max_arms=6):
        margins, limits = drawn_requirements(rng, points)
        required = check_requirements(margins, limits, points.shape[1])
        masks = np.array(list(itertools.product([False, True], repeat=len(points))))
        together = requirements.is_right(points, masks, required)
        assert together.tolist() == [bool(requirements.is_right(points, mask, required)) for mask in masks]
        front = requirements.optimal_and_feasible(points, required)
        assert (requirements.is_right(points, masks, required, front=front) == together).all()


@given(tie_rich_points())
def test_without_margins_outdoing_and_beating_are_dominance(points):
    dominated = [[oracle.dominated_by(x, y) for x in points.tolist()] for y in points.tolist()]
    assert pp.outdoes(points).tolist() == dominated
    assert pp.beats(points, margins=0).tolist() == dominated


@given(tie_rich_points(max_arms=6))
def test_without_margins_and_limits_an_answer_is_right_if_it_is_the_pareto_set_up_to_twins(points):
    optimal = np.flatnonzero(pp.pareto_mask(points))
    values = {tuple(points[arm]) for arm in optimal}
    for answer in all_answers(len(points)):
        expected = set(answer) <= set(optimal.tolist()) and {tuple(points[arm]) for arm in answer} == values
        assert pp.right_within_margins(points, answer) == expected


@given(tie_rich_points(), st.data())
def test_scaling_an_objective_with_its_margin_and_limit_changes_nothing(points, data):
    n_objectives = points.shape[1]
    margins = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n_objectives, max_size=n_objectives))
    limits = data.draw(st.lists(st.sampled_from([None, -1.0, 1.0]), min_size=n_objectives, max_size=n_objectives))
    factors = data.draw(st.lists(st.sampled_from([0.25, 1.0, 8.0]), min_size=n_objectives, max_size=n_objectives))
    answer = data.draw(st.lists(st.integers(0, len(points) - 1), unique=True))
    scaled = [a * f for a, f in zip(margins, factors, strict=True)]
    bounds = [None if a is None else a * f for a, f in zip(limits, factors, strict=True)]
    for relation in RELATIONS.values():
        assert (relation(points, margins=margins) == relation(points * factors, margins=scaled)).all()
    assert pp.right_within_margins(points, answer, margins=margins, limits=limits) == pp.right_within_margins(
        points * factors, answer, margins=scaled, limits=bounds
    )


@given(tie_rich_points(), st.data())
def test_arms_and_objectives_in_another_order_change_nothing(points, data):
    n_arms, n_objectives = points.shape
    margins = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n_objectives, max_size=n_objectives))
    arms = data.draw(st.permutations(range(n_arms)))
    objectives = data.draw(st.permutations(range(n_objectives)))
    answer = data.draw(st.lists(st.integers(0, n_arms - 1), unique=True))
    moved, others = points[arms][:, objectives], [margins[d] for d in objectives]
    for relation in RELATIONS.values():
        assert (relation(points, margins=margins)[np.ix_(arms, arms)] == relation(moved, margins=others)).all()
    there = [arms.index(arm) for arm in answer]
    assert pp.right_within_margins(points, answer, margins=margins) == pp.right_within_margins(moved, there, margins=others)


@given(tie_rich_points())
def test_a_larger_margin_covers_more_and_outdoes_less(points):
    assert (pp.covers(points, margins=1) <= pp.covers(points, margins=2)).all()
    assert (pp.outdoes(points, margins=1) >= pp.outdoes(points, margins=2)).all()
    assert (pp.outdoes(points, margins=1) <= pp.beats(points, margins=1)).all()


def test_objectives_that_are_not_compared_have_limits_all_the_same():
    means = [[1.0, 0.0], [0.0, 9.0], [2.0, -1.0]]
    assert pp.covers(means, margins=[0, None])[2].tolist() == [True, True, True]
    assert pp.right_within_margins(means, [2], margins=[0, None])
    assert pp.right_within_margins(means, [0], margins=[0, None], limits=[None, 0.0])


def test_means_infinitely_far_apart_are_compared():
    assert pp.outdoes([[1.7e308], [-1.7e308]], margins=1).tolist() == [[False, True], [False, False]]


def test_inputs_are_not_written_to():
    means = np.random.default_rng(0).normal(size=(5, 2))
    means.flags.writeable = False
    pp.right_within_margins(means, np.array([0, 1]), margins=np.array([0.1, 0.2]), limits=(None, 0.0))


@pytest.mark.parametrize(
    "margins, limits, message",
    [
        (-1, None, "margins has -1 for objective 0; it is the smallest difference that matters: 0 or more"),
        ([0.1], None, "margins=[0.1] must be one number, or 2, one per objective"),
        ([0.1, "a"], None, "margins has 'a' for objective 1; it must be one number, or 2, one per objective"),
        ([0.1, float("nan")], None, "margins has nan for objective 1"),
        (True, None, "margins has True for objective 0"),
        ("0.1", None, "margins='0.1' must be one number, or 2, one per objective"),
        ([None, None], None, "margins=[None, None] compares arms in no objective; write a number for one of them"),
        (None, 0.5, "limits=0.5 must be 2 numbers, one per objective: the least that an arm must have, or None where"),
        (None, [0.5], "limits=[0.5] must be 2 numbers, one per objective"),
        (None, [0.5, float("inf")], "limits has inf for objective 1; it must be 2 numbers, one per objective"),
    ],
)  # fmt: skip
def test_margins_and_limits_that_mean_nothing_are_refused(margins, limits, message):
    with pytest.raises(pp.InvalidInput) as refusal:
        pp.right_within_margins([[1.0, 2.0]], [0], margins=margins, limits=limits)
    assert message in str(refusal.value)


@pytest.mark.parametrize("answer, message", [([0, 0], "names an arm twice"), ([3], "arm 3"), ([True], "whole arm numbers")])
def test_what_is_no_answer_is_refused(answer, message):
    with pytest.raises(pp.InvalidInput, match=message):
        pp.right_within_margins([[1.0], [2.0]], answer)
