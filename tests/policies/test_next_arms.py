"""Policies without rounds, asked by whoever keeps the data: the next arms follow from the data and from what is out."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.errors import InvalidInput

K, D = 7, 3
every_policy = pytest.mark.parametrize("name", ["apt", "doubt"])


def some_data(seed: int, least: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(least, 90, K)
    rows = [rng.integers(0, 4, (1, D)) + rng.normal(size=(n, D)) for n in counts]
    return (
        counts,
        np.array([row.sum(axis=0) for row in rows]),
        np.array([((row - row.mean(axis=0)) ** 2).sum(axis=0) for row in rows]),
    )


def policy_with(name: str, data, **options) -> pp.Policy:
    policy = pp.policy(name, n_arms=K, n_objectives=D, **options)
    policy.restate(*data)
    return policy


@every_policy
@pytest.mark.parametrize("seed", range(10))
def test_the_next_arms_are_the_batch_of_a_policy_that_begins_with_the_same_data(name, seed):
    data = some_data(seed)
    for size in (1, 4, 40):
        begun = pp.policy(name, n_arms=K, n_objectives=D, batch=size)
        begun.begin(*data)
        assert sorted(policy_with(name, data).next_arms(size)) == begun.ask().tolist()


@every_policy
@pytest.mark.parametrize("seed", range(10))
def test_what_is_out_counts_as_chosen(name, seed):
    policy = policy_with(name, some_data(seed))
    at_once = np.bincount(policy.next_arms(25), minlength=K)
    out = np.zeros(K, dtype=int)
    for size in (1, 2, 7, 15):
        out += np.bincount(policy.next_arms(size, out=out), minlength=K)
    assert out.tolist() == at_once.tolist()


@every_policy
def test_whatever_was_told_before_only_the_data_count(name):
    first, second = some_data(1), some_data(2)
    policy = policy_with(name, first)
    before = policy.next_arms(9).tolist()
    policy.restate(*second)
    policy.next_arms(9)
    assert policy.next_arms(9).tolist() == policy_with(name, second).next_arms(9).tolist()
    policy.restate(*first)
    assert policy.next_arms(9).tolist() == before
    assert policy.means.tolist() == policy_with(name, first).means.tolist()


@every_policy
def test_first_pulls_go_first_and_take_turns(name):
    policy = pp.policy(name, n_arms=4, n_objectives=2, initial=2)
    zeros = np.zeros((4, 2))
    policy.restate([0, 2, 1, 0], [[0, 0], [2, 2], [1, 1], [0, 0]], zeros)
    assert policy.next_arms(5).tolist() == [0, 3, 0, 2, 3]
    assert policy.next_arms(3, out=[2, 0, 1, 0]).tolist()[:2] == [3, 3]
    policy.restate([0] * 4, zeros, zeros)
    assert np.bincount(policy.next_arms(22)).tolist() == [6, 6, 5, 5]


@every_policy
def test_arms_without_data_wait_for_what_is_out_and_others_go_on(name):
    policy = pp.policy(name, n_arms=3, n_objectives=1)
    policy.restate([5, 5, 0], [[5.0], [5.5], [0.0]], [[1.0], [1.0], [0.0]])
    chosen = policy.next_arms(20, out=[0, 0, 3])
    assert set(chosen.tolist()) <= {0, 1}
    assert len(chosen) == 20


@every_policy
def test_retired_arms_are_left_out_and_can_come_back(name):
    data = some_data(3)
    policy = policy_with(name, data)
    some = policy.next_arms(30)
    gone = np.isin(np.arange(K), some)
    gone[np.bincount(some).argmax()] = True
    gone[:2] = False
    policy.restate(*data, retired=gone)
    assert not gone[policy.next_arms(30)].any()
    policy.restate(*data, retired=np.zeros(K, dtype=bool))
    assert policy.next_arms(30).tolist() == some.tolist()
    policy.restate(*data, retired=np.ones(K, dtype=bool))
    assert policy.next_arms(30).tolist() == []


@every_policy
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda policy: policy.next_arms(-1), "n=-1"),
        (lambda policy: policy.next_arms(2, out=[1, 2]), "out=.* must be 7 whole numbers"),
        (lambda policy: policy.next_arms(2, out=[0.5] * K), "the pulls that are being made"),
        (lambda policy: policy.restate([1] * K, np.zeros((K, 2)), np.zeros((K, 2))), "columns"),
        (lambda policy: policy.restate([0] * K, np.ones((K, D)), np.zeros((K, D))), "whose pulls are too few"),
        (lambda policy: policy.restate([1] * K, np.ones((K, D)), np.zeros((K, D)), retired=[True]), "7 flags"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(name, call, message):
    policy = policy_with(name, some_data(4))
    before = policy.to_dict()
    with pytest.raises(InvalidInput, match=message):
        call(policy)
    assert policy.to_dict() == before


def test_an_observation_can_be_corrected_and_what_was_decided_stands():
    for name in ("ege-sr", "apt", "doubt"):
        policy = pp.policy(name, n_arms=3, n_objectives=2, budget=60)
        twin = pp.policy(name, n_arms=3, n_objectives=2, budget=60)
        arms = policy.ask(5)
        rows = np.arange(10.0).reshape(5, 2)
        wrong = rows.copy()
        wrong[2] = (1e6, -50.0)
        policy.tell(arms, wrong)
        twin.tell(arms, rows)
        policy.correct(int(arms[2]), wrong[2], rows[2])
        np.testing.assert_allclose(policy.means, twin.means, rtol=1e-9)
        np.testing.assert_allclose(policy.squares, twin.squares, atol=1e-3)
        assert policy.counts.tolist() == twin.counts.tolist()
        before = policy.to_dict()
        for bad in ((9, rows[0], rows[1]), (0, rows[0], [np.nan, 1.0]), (0, rows[0], [1.0])):
            with pytest.raises(InvalidInput):
                policy.correct(*bad)
        assert policy.to_dict() == before
    with pytest.raises(InvalidInput, match="ape-fb-adapt has no correct"):
        pp.policy("ape-fb-adapt", n_arms=2, n_objectives=1, budget=20).correct(0, [1.0], [2.0])
