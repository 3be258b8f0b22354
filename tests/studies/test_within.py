"""The answer within margins and limits, held against a search through all answers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import paretopick as pp
from paretopick.studies.within import HARDLY, answer_within, judged_within
from paretopick.theory.requirements import Requirements, covered_by, feasible, is_right, worth_keeping

NO_LIMITS = np.array([-np.inf, -np.inf])
BOTH = np.array([True, True])


def required(margin=0.3, limits=NO_LIMITS):
    return Requirements(np.full(2, margin), np.array(limits), BOTH)


def draws(rng, n_options, *, n_draws=200, width=0.2):
    return rng.normal(size=(n_options, 2)) + width * rng.normal(size=(n_draws, n_options, 2))


def shares_of_all_answers(sets, wanted):
    """Of those in which nobody beats another one that is nowhere better, on average over the draws."""
    middle = sets.mean(axis=0)
    behind = pp.beats(middle, margins=wanted.margins) & (middle[:, None] >= middle).all(axis=2)
    answers = [np.array(mask) for mask in product([False, True], repeat=sets.shape[1])]
    answers = [answer for answer in answers if not behind[np.ix_(answer, answer)].any()]
    return {tuple(answer.tolist()): is_right(sets, answer, wanted).mean() for answer in answers}


@pytest.mark.parametrize("limits", [NO_LIMITS, [-0.5, -np.inf], [0.2, 0.2]])
def test_hardly_any_answer_is_right_in_more_draws(limits):
    rng, wanted = np.random.default_rng(1), required(limits=limits)
    lost = []
    for _ in range(60):
        sets = draws(rng, 5, width=float(rng.uniform(0.02, 0.5)))
        shares = shares_of_all_answers(sets, wanted)
        lost.append(max(shares.values()) - answer_within(sets, wanted).right.mean())
    assert max(lost) <= 0.05
    assert np.mean(lost) <= HARDLY


def test_what_is_counted_is_what_it_says():
    rng, wanted = np.random.default_rng(2), required(limits=[-0.5, -np.inf])
    for _ in range(30):
        sets = draws(rng, 6)
        found = answer_within(sets, wanted)
        able, worth = feasible(sets, wanted), worth_keeping(sets, wanted)
        outside = able & ~covered_by(sets, found.answer, wanted)
        assert found.right.tolist() == [bool(is_right(one, found.answer, wanted)) for one in sets]
        assert found.feasible.tolist() == able.mean(axis=0).tolist()
        assert found.worth.tolist() == worth.mean(axis=0).tolist()
        assert found.wrong.tolist() == np.where(found.answer, 1 - worth.mean(axis=0), outside.mean(axis=0)).tolist()


def test_an_answer_that_is_given_is_judged_in_the_same_way():
    rng, wanted = np.random.default_rng(3), required()
    sets = draws(rng, 6)
    found = answer_within(sets, wanted)
    again = judged_within(sets, wanted, found.answer)
    for name in ("answer", "right", "worth", "feasible", "wrong"):
        assert getattr(again, name).tolist() == getattr(found, name).tolist()
    other = judged_within(sets, wanted, ~found.answer)
    assert other.right.tolist() == [bool(is_right(one, ~found.answer, wanted)) for one in sets]


def test_options_that_cover_each_other_both_stay():
    sets = np.tile([[1.0, 0.0], [0.9, 0.1], [0.0, 0.9]], (50, 1, 1))
    assert answer_within(sets, required()).answer.tolist() == [True, True, True]


def test_what_a_member_beats_is_left_out():
    sets = np.tile([[1.0, 0.0], [0.9, 2.0], [0.0, 3.0]], (50, 1, 1))  # the second is a little worse, and far better
    found = answer_within(sets, required())
    assert found.answer.tolist() == [False, True, True]
    assert found.right.all()
    assert found.wrong.tolist() == [0.0, 0.0, 0.0]


def test_what_is_equal_in_one_metric_and_far_worse_in_another_is_left_out():
    rng = np.random.default_rng(9)
    sets = np.tile([[1.0, 3.0], [1.0, 0.0], [2.0, -20.0]], (400, 1, 1))  # nobody outdoes the second, which the first beats
    sets[:, 1, 1] += rng.normal(0.0, 2.0, 400)  # and of which little is known
    found = answer_within(sets, required())
    assert found.worth[1] > 0.99
    assert found.answer.tolist() == [True, False, True]
    assert 0 < found.wrong[1] < 0.2
    assert found.right.mean() < 0.99


def nearly_covered(share):
    """Draws in which the first covers the second in a share of them, and is far better; nobody outdoes anybody."""
    sets = np.tile([[0.0, 3.0], [0.2, 0.0], [2.0, -20.0]], (400, 1, 1))
    sets[: round(400 * (1 - share)), 1, 0] = 0.5
    return sets


def test_a_member_that_another_beats_is_left_out_of_an_answer_that_is_sure_enough_without_it():
    sets = nearly_covered(0.98)
    assert answer_within(sets, required(), enough=1.0).answer.tolist() == [True, True, True]
    found = answer_within(sets, required(), enough=0.95)
    assert found.answer.tolist() == [True, False, True]
    assert found.right.mean() == pytest.approx(0.98)
    assert not found.beaten.any()
    for other, kept in ((0.96, False), (0.9, True)):  # draws in which it must be sure enough, too
        again = answer_within(sets, required(), enough=0.95, others=[nearly_covered(other)])
        assert again.answer.tolist() == [True, kept, True]


def test_members_that_another_one_most_likely_beats_are_named():
    assert answer_within(nearly_covered(0.7), required(), enough=0.95).beaten.tolist() == [False, True, False]
    assert answer_within(nearly_covered(0.3), required(), enough=0.95).beaten.tolist() == [False, False, False]


def test_nobody_is_kept_where_nobody_keeps_the_limits():
    sets = np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1, 1))
    found = answer_within(sets, required(limits=[2.0, -np.inf]))
    assert found.answer.tolist() == [False, False]
    assert found.right.all()
    assert found.feasible.tolist() == [0.0, 0.0]


def test_an_option_that_another_does_as_well_as_costs_nothing():
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 2.0], [2.0, 0.0], [2.0, 0.0]])
    sets = centres + 0.05 * rng.normal(size=(500, 3, 2))
    assert answer_within(sets, required()).right.mean() > 0.99
    assert is_right(sets, np.array([True, True, True]), required(0.0)).mean() < 0.5
