"""Arms that turn up later and data that were there before, for the policies that take them."""

import json

import numpy as np
import pytest

import paretopick as pp
from support import policy_cases
from support.in_turn import registered
from support.policy_cases import CASES

pytestmark = pytest.mark.slow

K, D, T = 5, 2, 60

OF_THE_REGISTRY = [case for case in CASES if policy_cases.make(case, K, D, T).growable]
OURS = {"in-turn": ("in-turn", {}), "in-turn batch": ("in-turn", {"batch": 4})}
GROWABLE = [*OF_THE_REGISTRY, *OURS]
every_case = pytest.mark.parametrize("case", GROWABLE)
without_blocks = pytest.mark.parametrize("case", [case for case in GROWABLE if "paired" not in case])
"""Sums do not say in which blocks pulls were made."""


@pytest.fixture(autouse=True)
def squares_kept():
    """A policy that keeps squared deviations is among them, whatever the registry has."""
    with registered():
        yield


def make(case, n_arms, n_objectives, budget):
    if case not in OURS:
        return policy_cases.make(case, n_arms, n_objectives, budget)
    name, options = OURS[case]
    return pp.policy(name, n_arms=n_arms, n_objectives=n_objectives, budget=budget, **options)


def state(policy):
    return json.dumps(policy.to_dict(), allow_nan=False)


def about(policy, *without):
    """The state without some of its parts."""
    return {key: value for key, value in policy.to_dict().items() if key not in without}


def tape(seed=0, n_arms=K + 4):
    """Integer observations, whose sums are exact."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 8, (n_arms, 1, D)) + rng.integers(-2, 3, (n_arms, 200, D))).astype(float)


def tell(policy, data, pulls=1):
    """Tells the next pulls, each arm's observations in their order."""
    for _ in range(pulls):
        arm = policy.ask(limit=1)[0]
        policy.tell([arm], data[arm, policy.counts[arm]][None])


def play(policy, data):
    while not policy.done:
        tell(policy, data)
    return policy


def known(policy):
    """What ``begin`` takes of what a policy was told."""
    return policy.counts, policy._sums.copy(), policy.squares if policy.keeps_squares else None


@pytest.mark.parametrize("case", [case for case in CASES if case not in GROWABLE])
def test_policies_that_plan_ahead_take_neither_and_say_which_do(case):
    policy = make(case, K, D, T)
    before = state(policy)
    with pytest.raises(ValueError, match=rf"{policy.name} has no add_arm\(\); these have: apt"):
        policy.add_arm()
    with pytest.raises(ValueError, match=rf"{policy.name} has no begin\(\); these have: apt"):
        policy.begin([1] * K, np.zeros((K, D)))
    assert state(policy) == before
    with pytest.raises(ValueError, match="added=1 is too large"):
        pp.restore_policy({**json.loads(before), "added": 1})


@every_case
@pytest.mark.parametrize("when", [0, 1, 9])
def test_an_arm_added_in_the_first_round_is_as_good_as_one_from_the_start(case, when):
    data = tape()
    grown, whole = make(case, K, D, T), make(case, K + 1, D, T)
    for policy in (grown, whole):
        tell(policy, data, when)
    assert grown.add_arm() == K
    assert about(grown, "added") == about(whole)
    assert about(play(grown, data), "added") == about(play(whole, data))
    assert grown.recommend().tolist() == whole.recommend().tolist()


@every_case
def test_an_arm_added_later_gets_its_first_pulls_in_the_open_batch_and_then_takes_part(case):
    data = tape()
    data[K] = 50.0
    policy = make(case, K, D, T)
    tell(policy, data, 25)
    before, due = policy.snapshot(), policy.due
    arm = policy.add_arm()
    after = policy.snapshot()
    assert after.round == before.round
    assert after.active == tuple(range(K + 1))
    assert policy.due.tolist() == [*due.tolist(), policy.initial]
    assert after.counts.tolist() == [*before.counts.tolist(), 0]
    assert np.isnan(after.means[arm]).all()
    for array in (after.gaps, after.doubt, after.left_in):
        assert array.shape == (K + 1,)
    with pytest.raises(pp.NotReady, match=f"arms {arm} have no pulls yet"):
        policy.recommend()
    assert play(policy, data).counts.sum() == T
    assert policy.recommend().tolist() == [arm]


@every_case
def test_an_arm_that_does_not_fit_is_refused_until_the_budget_is_extended(case):
    data = tape()
    policy = play(make(case, K, D, T), data)
    before = state(policy)
    with pytest.raises(
        pp.BudgetTooSmall, match=rf"the budget of {T} has 0 left for that; extend\({T + policy.initial}\) first"
    ) as no:
        policy.add_arm()
    assert state(policy) == before
    rounds = policy.round
    policy.extend(no.value.smallest)
    assert policy.add_arm() == K
    assert not policy.done
    assert policy.round == rounds + 1
    assert policy.due.tolist() == [0] * K + [policy.initial], "what was due of the batch made room"
    assert play(policy, data).counts.sum() == T + policy.initial


@every_case
def test_first_pulls_of_other_arms_are_not_given_up_for_a_new_one(case):
    policy = make(case, K, D, K * make(case, K, D, T).initial + 1)
    tell(policy, tape(), 3)
    before = state(policy)
    with pytest.raises(pp.BudgetTooSmall, match="has 1 left for that"):
        policy.add_arm()
    assert state(policy) == before


def test_pulls_of_the_open_batch_that_are_named_last_make_room():
    policy = pp.policy("apt", n_arms=K, n_objectives=D, budget=3 * K + 10, batch=10)
    tell(policy, tape(), 3 * K + 2)
    asked = policy.ask().tolist()
    assert len(asked) == 8
    policy.add_arm()
    assert policy.ask().tolist() == asked[:-3] + [K] * 3
    policy.add_arm()
    assert policy.ask().tolist() == asked[:-6] + [K] * 3 + [K + 1] * 3
    with pytest.raises(pp.BudgetTooSmall, match=r"has 2 left for that; extend\(26\) first"):
        policy.add_arm()


@every_case
def test_an_arm_added_after_all_others_were_retired_brings_it_back(case):
    """The budget has no room for the first pulls of as many arms as there are in the end; those retired have none."""
    data = tape()
    policy = make(case, K, D, K * make(case, K, D, T).initial)
    for arm in range(K):
        policy.retire(arm)
    for arm in range(K, K + 4):
        assert policy.done
        rounds = policy.round
        assert policy.add_arm() == arm
        assert policy.round == rounds + 1
        tell(policy, data, policy.initial)
        policy = pp.restore_policy(json.loads(state(policy)))
        policy.retire(arm)
    assert policy.add_arm() == K + 4
    assert policy.snapshot().active == (K + 4,)


@pytest.mark.sample(5)
@every_case
@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_the_budget_holds_and_every_state_can_be_saved(case, seed):
    rng = np.random.default_rng(seed)
    data = tape(seed, 60)
    live = make(case, K, D, T)
    log = []
    for _ in range(120):
        what = rng.integers(0, 20)
        if what == 0:
            try:
                live.add_arm()
            except pp.BudgetTooSmall as refusal:
                live.extend(refusal.smallest)
                live.add_arm()
        elif what == 1:
            live.retire(int(rng.integers(0, live.n_arms)))
        elif what == 2 and log:
            arm, row = log.pop(int(rng.integers(0, len(log))))
            live.take_back(arm, row, due=False)
        elif not live.done:
            arm = int(rng.choice(live.ask()))
            log.append((arm, data[arm, rng.integers(0, 200)]))
            live.tell([arm], log[-1][1][None])
        record = live.snapshot()
        assert record.pulls_used == len(log)
        assert record.pulls_used + live.due.sum() <= live.budget
        assert not live.due[list(record.retired)].any()
        without = [arm for arm in record.active if live.counts[arm] + live.due[arm] == 0]
        assert not without
        live = pp.restore_policy(json.loads(state(live)))
    assert live.n_arms > K


@without_blocks
@pytest.mark.parametrize("when", [1, 7, 14])
def test_beginning_in_the_first_round_equals_having_told(case, when):
    data = tape()
    policy, begun = make(case, K, D, T), make(case, K, D, T)
    tell(policy, data, when)
    begun.begin(*known(policy))
    if policy.round == 1:
        assert about(begun, "squares") == about(policy, "squares")
    assert about(play(begun, data), "squares", "round") == about(play(policy, data), "squares", "round")


@without_blocks
@pytest.mark.parametrize("rounds", [2, 3, 6])
def test_beginning_between_two_batches_equals_having_told(case, rounds):
    data = tape(3)
    policy, begun = make(case, K, D, T), make(case, K, D, T)
    while policy.round < rounds:
        tell(policy, data)
    begun.begin(*known(policy))
    assert begun.round == 2
    assert about(begun, "squares", "round", "more") == about(policy, "squares", "round", "more")
    assert begun.squares == pytest.approx(policy.squares, nan_ok=True)
    assert begun.recommend().tolist() == policy.recommend().tolist()
    assert about(play(begun, data), "squares", "round", "more") == about(play(policy, data), "squares", "round", "more")


@every_case
def test_arms_that_are_known_too_little_are_due_the_rest(case):
    policy = make(case, K, D, T)
    counts = np.array([0, 1, policy.initial, 20, 2])
    sums = counts[:, None] * np.ones((K, D))
    policy.begin(counts, sums, np.zeros((K, D)))
    assert policy.due.tolist() == np.maximum(policy.initial - counts, 0).tolist()
    assert policy.round == 1
    assert play(policy, tape()).counts.sum() == T
    assert policy.counts[3] >= 20


@every_case
def test_what_is_known_may_use_up_the_budget(case):
    policy = make(case, K, D, T)
    policy.begin([T // K] * K, np.arange(K * D).reshape(K, D), np.ones((K, D)))
    assert policy.done
    assert policy.recommend().tolist() == [K - 1]
    assert pp.restore_policy(json.loads(state(policy))).done


@every_case
def test_beginning_with_an_objective_without_noise_knows_its_values(case):
    policy = make(case, K, D, T)
    policy.rescale([1.0, 0.0])
    policy.begin([4] * K, np.column_stack((np.arange(K), 4.0 * np.arange(K, 0, -1))), np.ones((K, D)))
    assert policy.means[:, 1].tolist() == list(range(K, 0, -1))
    if policy.keeps_squares:
        assert policy.squares.tolist() == [[1.0, 0.0]] * K


GOOD = {"counts": [4] * K, "sums": np.ones((K, D)), "squares": np.ones((K, D))}


@every_case
@pytest.mark.parametrize(
    "change, message",
    [
        ({"counts": [4] * (K + 1)}, "must be 5 whole numbers, none negative"),
        ({"counts": [4, 4, 4, 4, -1]}, "must be 5 whole numbers, none negative"),
        ({"counts": [4, 4, 4, 4, 0.5]}, "must be 5 whole numbers, none negative"),
        ({"counts": [4, 4, 4, 4, np.nan]}, "must be 5 whole numbers, none negative"),
        ({"counts": ["x"] * K}, "cannot be read"),
        ({"counts": [4, 4, 4, 4, 60]}, "what is known are 76 pulls, .* raise budget=60 to at least 76"),
        (
            {"counts": [0, 59, 0, 0, 0], "sums": np.zeros((K, D)), "squares": np.zeros((K, D))},
            "what is known are 59 pulls, and with",
        ),
        ({"counts": [4, 0, 4, 4, 4]}, r"sums has \[1.0, 1.0\] for arm 1, whose pulls are too few for that; expected 0"),
        ({"sums": np.ones((K, D + 1))}, "sums has 3 columns; expected 2"),
        ({"sums": np.ones((K - 1, D))}, "sums has 4 rows; expected 5"),
        ({"sums": np.full((K, D), np.inf)}, "sums has inf for objective 0"),
        ({"sums": [1.0] * K}, "sums has shape"),
    ],
)
def test_what_cannot_be_known_is_refused_and_changes_nothing(case, change, message):
    policy = make(case, K, D, T)
    before = state(policy)
    with pytest.raises(ValueError, match=message):
        policy.begin(**{**GOOD, **change})
    assert state(policy) == before


@pytest.mark.parametrize(
    "squares, message",
    [
        (None, "in-turn needs squares="),
        (-np.ones((K, D)), "squares has -1; sums of squares are not negative"),
        (np.full((K, D), np.nan), "squares has nan for objective 0"),
        (np.ones((K, 1)), "squares has 1 columns"),
        (np.ones((K + 1, D)), "squares has 6 rows"),
    ],
)
def test_squares_that_cannot_be_known_are_refused_and_change_nothing(squares, message):
    policy = pp.policy("in-turn", n_arms=K, n_objectives=D, budget=T)
    before = state(policy)
    with pytest.raises(ValueError, match=message):
        policy.begin([4] * K, np.ones((K, D)), squares)
    with pytest.raises(ValueError, match=r"squares has \[1.0, 1.0\] for arm 0"):
        policy.begin([1] * K, np.ones((K, D)), np.ones((K, D)))
    assert state(policy) == before


@every_case
def test_a_policy_that_was_told_something_does_not_begin_again(case):
    policy = make(case, K, D, T)
    tell(policy, tape())
    before = state(policy)
    with pytest.raises(ValueError, match="this policy has 1 pulls already"):
        policy.begin(**GOOD)
    assert state(policy) == before


@every_case
def test_the_only_observation_of_an_arm_that_is_taken_back_after_the_end_is_due_again(case):
    name, options = {**CASES, **OURS}[case]
    options = {**options, "initial": 1, **({"gamma": 0.0} if name == "apt" else {})}
    data = tape()
    for lost in range(K):
        policy = pp.policy(name, n_arms=K, n_objectives=D, budget=K, **options)
        before = play(policy, data).snapshot()
        policy.take_back(lost, data[lost, 0], due=False)
        assert policy.ask().tolist() == [lost]
        assert policy.round == before.round + 1
        assert np.array_equal(policy.snapshot().gaps, before.gaps, equal_nan=True), "nothing is decided without it"
        assert play(policy, data).counts.tolist() == [1] * K


def test_a_new_arm_in_a_problem_as_large_as_they_get_is_refused():
    policy = pp.policy("apt", n_arms=10**6, n_objectives=10)
    with pytest.raises(ValueError, match="n_objectives=10 is too large"):
        policy.add_arm()
    assert policy.n_arms == 10**6
