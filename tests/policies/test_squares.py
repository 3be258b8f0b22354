"""Sums of squared deviations, for the policies that keep them."""

import json

import numpy as np
import pytest

import paretopick as pp
from support.in_turn import in_turn, registered

D = 3


def one_by_one(arms, values, n_arms, start=None):
    """The formula to the letter, one observation after the other: counts, sums, squares."""
    counts, sums, squares = start or ([0] * n_arms, [[0.0] * D for _ in range(n_arms)], [[0.0] * D for _ in range(n_arms)])
    for arm, row in zip(arms, values, strict=True):
        n = counts[arm]
        for d, x in enumerate(row.tolist()):
            s = sums[arm][d]
            if n > 0:
                squares[arm][d] += (x - s / n) * (x - (s + x) / (n + 1))
            sums[arm][d] = s + x
        counts[arm] = n + 1
    return counts, sums, squares


def two_passes(values):
    """Deviations from the mean, squared and added up."""
    return ((values - values.mean(axis=0)) ** 2).sum(axis=0) if len(values) else np.zeros(D)


def told(arms, values, n_arms, parts=1):
    """A policy that was told so, in so many parts."""
    policy = in_turn(n_arms=n_arms, n_objectives=D, initial=int(np.bincount(arms, minlength=n_arms).max()) + 1)
    for piece in np.array_split(np.arange(len(arms)), parts):
        policy.tell(arms[piece], values[piece])
    return policy


@pytest.mark.parametrize("n_arms, rows", [(1, 40), (3, 200), (50, 70), (50, 300), (400, 400)])
@pytest.mark.parametrize("parts", [1, 4, 40])
@pytest.mark.parametrize("kind", ["normal", "far from 0", "tenths"])
def test_they_are_those_of_one_observation_after_the_other_to_the_last_bit(n_arms, rows, parts, kind):
    rng = np.random.default_rng([n_arms, rows])
    arms = rng.integers(0, n_arms, rows)
    values = {"normal": rng.normal(size=(rows, D)), "tenths": rng.integers(0, 3, (rows, D)) / 10}.get(kind)
    if values is None:
        values = 1e6 + rng.normal(size=(rows, D))
    policy = told(arms, values, n_arms, parts)
    counts, sums, squares = one_by_one(arms, values, n_arms)
    assert policy.counts.tolist() == counts
    assert policy._sums.tolist() == sums
    assert policy._squares.tolist() == squares
    literal = np.array([two_passes(values[arms == arm]) for arm in range(n_arms)])
    assert policy.squares == pytest.approx(literal, rel=1e-6, abs=1e-12)
    assert (policy.squares >= 0).all()


def test_whoever_keeps_them_without_rounding_can_say_them():
    policy = in_turn(n_arms=2, n_objectives=D, initial=3)
    policy.tell([1, 0, 1], np.eye(3), squares=np.array([[7.0] * D, [0.0] * D, [7.0] * D]))
    assert policy.squares.tolist() == [[0.0] * D, [7.0] * D]
    policy.take_back(1, np.eye(3)[0], due=True, squares=[5.0] * D)
    assert policy.squares[1].tolist() == [0.0] * D, "one observation is left"
    policy.tell([1, 1], np.eye(3)[:2], squares=np.array([[9.0] * D] * 2))
    policy.take_back(1, np.eye(3)[0], due=True, squares=[5.0] * D)
    assert policy.squares[1].tolist() == [5.0] * D
    for bad in ([-1.0] * D, [np.nan] * D, [1.0]):
        with pytest.raises(ValueError, match="must be 3 finite numbers, none negative"):
            policy.take_back(1, np.eye(3)[0], due=True, squares=bad)
    assert policy.counts.tolist() == [1, 2]


def test_what_is_taken_back_leaves_those_of_the_others():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, D))
    policy = told(np.zeros(12, dtype=int), values, 2)
    for left in range(11, -1, -1):
        policy.take_back(0, values[left], due=True)
        assert policy.squares[0] == pytest.approx(two_passes(values[:left]), abs=1e-12)
    assert not policy.squares.any()


def test_an_outlier_that_is_taken_back_leaves_nothing_below_zero():
    policy = told(np.zeros(4, dtype=int), np.array([[0.1] * D, [0.2] * D, [0.1] * D, [1e12] * D]), 2)
    policy.take_back(0, [1e12] * D, due=True)
    assert (policy._squares >= 0).all()


@pytest.mark.parametrize("large", [1e160, 1.7e308])
def test_squares_that_overflow_are_refused_and_change_nothing(large):
    policy = in_turn(n_arms=2, n_objectives=D, initial=4)
    policy.tell([0, 1], [[0.0, -large, 0.0], [0.0] * D])
    before = policy.counts.tolist(), policy._sums.tolist(), policy._squares.tolist(), policy.due.tolist()
    for arms in ([0], [0, 0], [1, 0]):
        with pytest.raises(ValueError, match="the squared deviations of arm 0 in objective 1 overflow; scale the values down"):
            policy.tell(arms, [*[[1.0, 0.0, 1.0]] * (len(arms) - 1), [1.0, large, 1.0]])
    assert (policy.counts.tolist(), policy._sums.tolist(), policy._squares.tolist(), policy.due.tolist()) == before


def test_objectives_without_noise_have_none():
    policy = in_turn(n_arms=2, n_objectives=D, initial=4)
    policy.tell([0, 0, 0], [[1.0, 0.1, 5.0], [2.0, 0.2, 7.0], [3.0, 0.3, 9.0]])
    assert policy._squares[0, 1] > 0
    policy.rescale([1.0, 0.0, 2.0])
    assert policy._squares[0].tolist() == [2.0, 0.0, 8.0]
    policy.tell([0, 1, 1, 1], [[2.0, 0.1, 7.0], [1.0, 0.3, 0.0], [1.0, 0.4, 1.0], [1.0, 0.5, 0.0]])
    assert (policy._squares[:, 1] == 0.0).all()
    policy.take_back(1, [1.0, 0.5, 0.0], due=True, squares=[0.0, 7.0, 0.5])
    assert policy._squares[1].tolist() == [0.0, 0.0, 0.5]


def test_they_are_saved_and_restored_and_only_where_they_are_kept():
    with registered():
        policy = pp.policy("in-turn", n_arms=3, n_objectives=2, budget=40)
        rng = np.random.default_rng(1)
        while policy.counts.sum() < 20:
            arms = policy.ask()
            policy.tell(arms, rng.normal(size=(len(arms), 2)))
        saved = json.loads(json.dumps(policy.to_dict()))
        back = pp.restore_policy(saved)
        assert back._squares.tolist() == policy._squares.tolist()
        assert back.to_dict() == saved
        for broken, message in (
            ({key: value for key, value in saved.items() if key != "squares"}, "has no 'squares'"),
            ({**saved, "squares": [[1.0, 2.0]]}, "the saved squares have shape"),
            ({**saved, "squares": [[np.nan, 2.0]] * 3}, "not one finite number"),
        ):
            with pytest.raises(ValueError, match=message):
                pp.restore_policy(broken)
    plain = pp.policy("apt", n_arms=3, n_objectives=2)
    assert "squares" not in plain.to_dict()
    assert np.isnan(plain.squares).all()
