"""Observations taken back, arms retired, objectives on a scale: for every policy that takes such amendments."""

import json

import numpy as np
import pytest

import paretopick as pp
from support import oracle
from support.policy_cases import CASES, make

K, D, T = 6, 2, 90

AMENDABLE = [case for case in CASES if make(case, K, D, T).amendable]
ROUNDS = [case for case in AMENDABLE if not make(case, K, D, T).stepwise]
every_case = pytest.mark.parametrize("case", AMENDABLE)


def state(policy):
    return json.dumps(policy.to_dict())


def integers(seed=0, n_arms=K):
    """Integer observations, whose sums are exact: what is taken back leaves no trace of rounding."""
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 8, (n_arms, D))
    return means[:, None] + rng.integers(-2, 3, (n_arms, T, D))


def play(policy, data, until=None):
    """Tells what is due, each arm's observations in their order, up to so many."""
    counts = policy.counts
    while not policy.done and (until is None or policy.counts.sum() < until):
        arm = policy.ask(limit=1)[0]
        policy.tell([arm], data[arm, counts[arm] % T][None])
        counts[arm] += 1
    return policy


@pytest.mark.sample(4)
@every_case
@pytest.mark.parametrize("when", [1, 5, 20])
def test_taken_back_in_the_open_round_and_told_anew_it_is_as_if_it_had_never_been_told(case, when):
    data = integers()
    plain, amended = (play(make(case, K, D, T), data, until=when) for _ in range(2))
    arm = amended.ask(limit=1)[0]
    rounds = amended.snapshot().round
    amended.tell([arm], [[99, 99]])
    if amended.snapshot().round != rounds:
        return  # it was the last of its round, which is another story
    amended.take_back(arm, [99, 99], due=True, squares=plain.squares[arm])
    assert state(amended) == state(plain)
    assert state(play(amended, data)) == state(play(plain, data))


@pytest.mark.parametrize("case", ROUNDS)
def test_taken_back_after_its_round_it_leaves_the_means_and_no_pull_is_made_for_it(case):
    data = integers(3)
    policy = play(make(case, K, D, T), data)
    rounds = policy.snapshot()
    for arm in range(K):
        policy.take_back(arm, data[arm, 0], due=False)
    after = policy.snapshot()
    assert policy.done
    assert (after.counts == rounds.counts - 1).all()
    assert after.means == pytest.approx(np.array([data[arm, 1:n].mean(axis=0) for arm, n in enumerate(rounds.counts)]))
    assert (after.accepted, after.rejected) == (rounds.accepted, rounds.rejected)
    assert after.pulls_left == 0


def test_decisions_after_a_loss_are_those_of_the_means_as_they_are():
    """Literally: the gaps of the means of what is left, with unequal counts."""
    for seed in range(40):
        data = integers(seed)
        policy = play(make("ege-sr", K, D, T), data, until=1)
        first = policy.snapshot().round
        while policy.snapshot().round == first:
            play(policy, data, until=policy.counts.sum() + 1)
        lost = int(policy.snapshot().active[0])
        policy.take_back(lost, data[lost, 0], due=False)
        before = policy.snapshot()
        told = policy.counts
        while policy.snapshot().round == before.round:
            arm = policy.ask(limit=1)[0]
            place = policy.counts[arm] + (arm == lost)
            policy.tell([arm], data[arm, place][None])
        active = list(before.active)
        means = np.array([data[a, (a == lost) : policy.counts[a] + (a == lost)].mean(axis=0) for a in active])
        assert (policy.counts[active] > told[active]).all()
        optimal, gaps = oracle.pareto_set(means), oracle.gaps_lemma1(means)
        order = sorted(range(len(active)), key=lambda i: (gaps[i], not optimal[i], active[i]))
        left = sorted(set(active) - set(policy.snapshot().active))
        assert left == [active[order[-1]]]
        for i, arm in enumerate(active):
            assert (arm in policy.snapshot().accepted) == (arm in left and bool(optimal[i]))


def test_an_active_arm_without_any_other_observation_is_due_again():
    data = integers()
    policy = pp.policy("ege-sh", n_arms=4, n_objectives=D, budget=12)  # one pull in the first round
    play(policy, data, until=4)
    arm = policy.snapshot().active[0]
    due = int((policy.ask() == arm).sum())
    policy.take_back(arm, data[arm, 0], due=False)
    assert (policy.ask() == arm).sum() == due + 1
    assert play(policy, data).done


def test_apt_spends_what_was_taken_back_again():
    data = integers()
    policy = play(pp.policy("apt", n_arms=K, n_objectives=D, budget=40), data)
    policy.take_back(2, data[2, 0], due=False)
    assert not policy.done
    assert play(policy, data).counts.sum() == 40


@pytest.mark.sample(5)
@every_case
@pytest.mark.parametrize("when", [0, 3, 17, 45])
def test_a_retired_arm_is_never_due_again_and_not_in_the_answer(case, when):
    data = integers(5)
    policy = play(make(case, K, D, T), data, until=when)
    policy.retire(1)
    count = policy.counts[1]
    while not policy.done:
        assert 1 not in policy.ask()
        play(policy, data, until=policy.counts.sum() + 1)
        record = policy.snapshot()
        assert record.retired == (1,)
        assert sorted((*record.active, *record.accepted, *record.rejected, *record.retired)) == list(range(K))
    assert policy.counts[1] == count
    assert 1 not in policy.recommend()
    assert policy.counts.sum() <= T


@every_case
def test_retiring_all_but_one_and_then_the_last_ends_it(case):
    policy = play(make(case, K, D, T), integers(), until=8)
    for arm in range(K - 1):
        policy.retire(arm)
    assert policy.snapshot().retired == tuple(range(K - 1))
    policy.retire(K - 1)
    assert policy.done
    assert policy.recommend().tolist() == []


def test_nobody_is_compared_with_a_retired_arm():
    """The arm that dominates all others is gone before the first round is full: the second best is found."""
    means = np.array([[9.0, 9.0], [5.0, 1.0], [1.0, 5.0], [1.0, 1.0]])
    for name in ("ege-sr", "ege-sh", "uniform", "apt"):
        policy = pp.policy(name, n_arms=4, n_objectives=2, budget=40)
        policy.retire(0)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, means[arms])
        assert policy.recommend().tolist() == [1, 2], name


@pytest.mark.sample(4)
@every_case
@pytest.mark.parametrize("width", [(1.0, 1.0), (4.0, 0.5)])
def test_a_scale_is_the_same_as_values_on_that_scale(case, width):
    data = integers(7).astype(float)
    scaled = make(case, K, D, T)
    scaled.rescale(width)
    plain = make(case, K, D, T)
    if plain.knows_margins:
        plain.require(plain.required.divided(np.array(width)))  # margins are in the units of the values
    play(plain, data / width)
    play(scaled, data)
    assert (scaled.counts == plain.counts).all()
    assert scaled.recommend().tolist() == plain.recommend().tolist()
    assert scaled.snapshot().left_in.tolist() == plain.snapshot().left_in.tolist()


PRICES = np.array([0.1, 0.3, 0.1, 0.7, 0.3, 0.3])


@every_case
def test_an_objective_without_noise_is_compared_without_rounding(case):
    """0.1 three times, divided by three, is not 0.1; and what is compared must be."""
    data = integers(3).astype(float)
    data[..., 1] = PRICES[:, None]
    policy, ranks = make(case, K, D, T), make(case, K, D, T)
    as_ranks = data.copy()
    as_ranks[..., 1] = np.unique(PRICES, return_inverse=True)[1][:, None]
    for player, observations in ((policy, data), (ranks, as_ranks)):
        player.rescale([1.0, 0.0])
        play(player, observations)
    assert policy.means[:, 1].tolist() == PRICES.tolist()
    assert policy.counts.tolist() == ranks.counts.tolist()
    assert policy.snapshot().left_in.tolist() == ranks.snapshot().left_in.tolist()
    assert policy.recommend().tolist() == ranks.recommend().tolist()
    assert state(pp.restore_policy(json.loads(state(policy)))) == state(policy)


@every_case
def test_that_an_objective_is_without_noise_can_be_said_late(case):
    data = integers(3).astype(float)
    data[..., 1] = 2.0 * np.arange(K)[:, None]
    early, late = make(case, K, D, T), make(case, K, D, T)
    early.rescale([1.0, 0.0])
    play(early, data, until=2)
    play(late, data, until=2).rescale([1.0, 0.0])
    assert state(late) == state(early)
    early.take_back(0, data[0, 0], due=True)
    early.rescale(None)
    assert not np.array(early.to_dict()["certain"]).any()


def test_twins_at_the_same_price_leave_the_others_their_turn():
    """Dominated at an equal price by far, an arm leaves first; with a gap of 0 it would stay to the end."""
    policy = pp.policy("ege-sr", n_arms=4, n_objectives=2, budget=80)
    policy.rescale([1.0, 0.0])
    means = np.array([[9.0, 1.0], [0.0, 1.0], [5.0, 2.0], [5.25, 2.0]])
    while policy.snapshot().round == 1:
        arms = policy.ask()
        policy.tell(arms, means[arms])
    assert policy.snapshot().left_in.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("more", [0, 1, 50])
@pytest.mark.parametrize("when", [5, 33, 90])
def test_apt_with_a_budget_raised_later_does_what_it_does_with_that_budget_from_the_start(when, more):
    data = integers(1)
    raised = play(pp.policy("apt", n_arms=K, n_objectives=D, budget=T), data, until=when)
    raised.extend(T + more)
    fresh = pp.policy("apt", n_arms=K, n_objectives=D, budget=T + more)
    assert state(play(raised, data)) == state(play(fresh, data))
    assert raised.counts.sum() == T + more
    with pytest.raises(ValueError, match="too small"):
        raised.extend(T - 1)
    with pytest.raises(ValueError, match="has no budget"):
        pp.policy("apt", n_arms=K, n_objectives=D).extend(10)


@every_case
def test_amended_policies_are_saved_and_restored(case):
    data = integers(9)
    policy = play(make(case, K, D, T), data, until=30)
    policy.rescale((2.0, 3.0))
    lost = int(np.argmax(policy.counts))
    policy.take_back(lost, data[lost, 0], due=False)
    policy.retire((lost + 1) % K)
    back = pp.restore_policy(json.loads(state(policy)))
    assert state(back) == state(policy)
    assert state(play(back, data)) == state(play(policy, data))


@pytest.mark.parametrize(
    "amend, message",
    [
        (lambda p: p.take_back(0, [1, 1], due=True), "arm 0 has no observation"),
        (lambda p: p.take_back(9, [1, 1], due=True), "arm"),
        (lambda p: p.take_back(0, [1, np.nan], due=True), "nan"),
        (lambda p: p.retire(-1), "arm"),
        (lambda p: p.rescale([1.0]), "must be 2 numbers"),
        (lambda p: p.rescale(2.0), "must be 2 numbers"),
        (lambda p: p.rescale([1.0, -1.0]), "must be 2 numbers"),
        (lambda p: p.rescale([1.0, np.inf]), "must be 2 numbers"),
        (lambda p: p.extend(200), "the pulls of ege-sr are planned for its budget of 90"),
    ],
)
def test_a_bad_amendment_is_refused_and_changes_nothing(amend, message):
    policy = make("ege-sr", K, D, T)
    before = state(policy)
    with pytest.raises(ValueError, match=message):
        amend(policy)
    assert state(policy) == before


def test_a_pull_cannot_be_due_again_after_the_end_or_for_an_arm_that_left():
    data = integers()
    policy = play(make("ege-sr", K, D, T), data, until=80)
    gone = next(arm for arm in range(K) if policy.snapshot().left_in[arm])
    with pytest.raises(ValueError, match=f"arm {gone} has left"):
        policy.take_back(gone, data[gone, 0], due=True)
    with pytest.raises(ValueError, match="the policy is done"):
        play(policy, data).take_back(0, data[0, 0], due=True)


@pytest.mark.parametrize("case", [case for case in CASES if case not in AMENDABLE])
def test_policies_that_take_no_amendments_say_so(case):
    policy = make(case, K, D, T)
    for amend in (lambda: policy.take_back(0, [1, 1], due=True), lambda: policy.retire(0), lambda: policy.rescale([1, 1])):
        with pytest.raises(ValueError, match="ege-sr, ege-sh"):
            amend()
