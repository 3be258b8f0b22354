"""What every policy must do, whatever it is; a new one joins by registering and by a line in ``cases.py``."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretopick as pp
from support.inputs import exact_squares, follow, tape
from support.policy_cases import CASES, make

SIZES = [(1, 1), (1, 3), (2, 1), (2, 2), (5, 2), (9, 3)]

every_case = pytest.mark.parametrize("case", CASES)


def state(policy: pp.Policy) -> str:
    return json.dumps(policy.to_dict(), allow_nan=False)


def observations(case: str, n_arms: int, n_objectives: int, length: int, kind: str = "gaussian") -> np.ndarray:
    rng = np.random.default_rng([len(case), n_arms, n_objectives])
    return tape(rng, rng.random((n_arms, n_objectives)), length, kind)


def tell_all(policy: pp.Policy, arms, data: np.ndarray) -> None:
    counts = policy.counts
    for arm in arms:
        policy.tell([arm], data[arm, counts[arm]][None])
        counts[arm] += 1


@pytest.mark.sample(5)
@every_case
@pytest.mark.parametrize("n_arms, n_objectives", SIZES)
@pytest.mark.parametrize("extra", [0, 1, 40])
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_a_run_ends_within_its_budget_and_every_state_on_the_way_is_sound(case, n_arms, n_objectives, extra, kind):
    budget = 8 * n_arms + extra
    policy = make(case, n_arms, n_objectives, budget)
    data = observations(case, n_arms, n_objectives, budget, kind)
    used, opened = 0, 0
    while not policy.done:
        arms = policy.ask()
        assert len(arms) > 0
        assert (np.sort(arms) == arms).all()
        assert (policy.ask(limit=3) == arms[:3]).all()
        opened = policy.snapshot().round
        tell_all(policy, arms[:1], data)
        used += 1
        record = policy.snapshot()
        assert record.round >= opened
        assert sorted((*record.active, *record.accepted, *record.rejected, *record.retired)) == list(range(n_arms))
        assert record.pulls_used == used == policy.counts.sum() <= budget
        assert record.pulls_left >= len(policy.ask())
        assert record.pulls_used + record.pulls_left <= budget
        assert ((record.left_in > 0) == ~np.isin(np.arange(n_arms), record.active)).all()
        assert np.array_equal(policy.means, record.means, equal_nan=True)
        assert record.doubt.shape == (n_arms,)
        assert (np.isnan(record.doubt) | ((record.doubt >= 0) & (record.doubt <= 1))).all()
    if policy.stepwise:  # none of its rounds is without pulls
        assert policy.snapshot().round == opened
    answer = policy.recommend()
    assert len(answer) >= 1
    assert (np.diff(answer) > 0).all()
    assert len(policy.ask()) == 0
    assert policy.snapshot().done
    assert policy.snapshot().pulls_left == 0


@every_case
def test_means_and_squares_are_those_of_what_was_told(case):
    policy = make(case, 5, 2, 60)
    data = observations(case, 5, 2, 60)
    follow(policy, data)
    for arm, count in enumerate(policy.counts):
        told = data[arm, :count]
        assert policy.means[arm] == pytest.approx(told.mean(axis=0))
        if policy.keeps_squares:
            assert policy.squares[arm] == pytest.approx(((told - told.mean(axis=0)) ** 2).sum(axis=0))


@every_case
def test_asking_only_reads(case):
    policy = make(case, 5, 2, 60)
    data = observations(case, 5, 2, 60)
    while not policy.done:
        before = state(policy)
        first, again, some = policy.ask(), policy.ask(), policy.ask(limit=2)
        first[:] = -1
        assert (again[:2] == some).all()
        policy.counts[:] = -1
        policy.means[:] = -1
        policy.snapshot()
        policy.recommend() if (policy.counts > 0).all() else None
        assert state(policy) == before
        tell_all(policy, policy.ask(), data)


@pytest.mark.sample(3)
@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if "paired" not in case])  # there, the order says the block
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_parts_of_a_round_in_any_order_end_the_same(case, seed):
    """With integer observations sums are exact, so the order in which a round arrives cannot matter.

    Squared deviations are exact for those who say them, as studies do.
    """
    rng = np.random.default_rng(seed)
    data = rng.integers(-3, 4, size=(5, 60, 2)).astype(float)
    whole, parts = make(case, 5, 2, 60), make(case, 5, 2, 60)
    while not whole.done:
        arms = whole.ask()
        order = rng.permutation(len(arms))
        which = {int(arm): iter(np.arange(60)[whole.counts[arm] :]) for arm in np.unique(arms)}
        values = np.array([data[arm, next(which[int(arm)])] for arm in arms])
        squares = np.zeros_like(values)
        if whole.keeps_squares:
            squares = np.array([exact_squares(data[arm, : whole.counts[arm] + (arms == arm).sum()]) for arm in arms])
        whole.tell(arms, values, squares=squares)
        for piece in np.array_split(order, int(rng.integers(1, len(arms) + 1))):
            parts.tell(arms[piece], values[piece], squares=squares[piece])
        assert state(parts) == state(whole)


@every_case
def test_a_round_told_at_once_equals_it_told_one_by_one_to_the_last_bit(case):
    data = observations(case, 5, 2, 60)
    at_once, one_by_one = make(case, 5, 2, 60), make(case, 5, 2, 60)
    assert follow(at_once, data) == follow(one_by_one, data, chunk=1)
    assert state(at_once) == state(one_by_one)


@pytest.mark.sample(3)
@pytest.mark.slow
@every_case
@pytest.mark.parametrize("n_arms, n_objectives", [(1, 2), (2, 1), (5, 2)])
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_saved_and_restored_at_any_moment_it_continues_identically(case, n_arms, n_objectives, kind):
    budget = 9 * n_arms
    data = observations(case, n_arms, n_objectives, budget, kind)
    live, saved = make(case, n_arms, n_objectives, budget), make(case, n_arms, n_objectives, budget)
    for _ in range(budget):
        if live.done:
            break
        saved = pp.restore_policy(json.loads(state(saved)))
        assert state(saved) == state(live)
        assert (saved.ask() == live.ask()).all()
        for policy in (live, saved):
            tell_all(policy, policy.ask(limit=1), data)
        a, b = live.snapshot(), saved.snapshot()
        assert np.array_equal(a.gaps, b.gaps, equal_nan=True)
        assert np.array_equal(a.doubt, b.doubt, equal_nan=True)
        assert (a.round, a.active, a.accepted, a.pulls_left) == (b.round, b.active, b.accepted, b.pulls_left)
    saved = pp.restore_policy(json.loads(state(saved)))
    assert saved.done
    assert (saved.recommend() == live.recommend()).all()


@every_case
def test_replaying_the_log_equals_the_live_run(case):
    data = observations(case, 5, 2, 60)
    live, replay = make(case, 5, 2, 60), make(case, 5, 2, 60)
    log = follow(live, data, chunk=3)
    tell_all(replay, log, data)
    assert state(replay) == state(live)


@every_case
@pytest.mark.parametrize(
    "arms, values, message",
    [
        ([0], [[0.1, np.nan]], r"values has nan for objective 1 \(row 0 of 1\); leave a failed measurement out, it stays due"),
        ([[0], [1, 2]], [[0.1, 0.2]] * 2, "is not a plain list"),
        ([], [[1, 2], [1]], "values cannot be read"),
        ([0], [[np.inf, 0.1]], "values has inf for objective 0"),
        ([0], [[0.1]], "values has 1 columns; expected 2"),
        ([0], [0.1, 0.2], r"values has shape \(2,\)"),
        ([0, 1], [[0.1, 0.2]], "values has 1 rows for 2 arms"),
        ([5], [[0.1, 0.2]], r"arms has arm 5 \(position 0\); arms are numbered 0 to 4"),
        ([-1], [[0.1, 0.2]], "arms has arm -1"),
        ([0.5], [[0.1, 0.2]], r"arms=\[0.5\] .float64 of shape"),
        ([0] * 200, [[0.1, 0.2]] * 200, "arm 0 was told 200 times and is due"),
        ([0], [["x", "y"]], "values cannot be read"),
        ([], [[0.1, 0.2]], "values has 1 rows for 0 arms"),
    ],
)
def test_a_bad_tell_is_refused_and_changes_nothing(case, arms, values, message):
    policy = make(case, 5, 2, 60)
    before = state(policy)
    with pytest.raises(ValueError, match=message):
        policy.tell(arms, values)
    assert state(policy) == before


@every_case
def test_one_bad_row_keeps_the_good_ones_out_too(case):
    policy = make(case, 5, 2, 60)
    before = state(policy)
    with pytest.raises(ValueError, match="row 1 of 2"):
        policy.tell([0, 1], [[0.1, 0.2], [0.3, np.nan]])
    assert state(policy) == before


@every_case
def test_a_sum_that_overflows_is_refused_and_changes_nothing(case):
    policy = make(case, 5, 2, 60)
    arms = policy.ask()
    while policy.counts[arms].max() + np.bincount(arms).max() < 2:  # the first pull of an arm fits
        policy.tell(arms, np.full((len(arms), 2), 1.7e308))
        arms = policy.ask()
    before = state(policy)
    with pytest.raises(ValueError, match=r"the sum of arm \d in objective 0 overflows; scale the values down"):
        policy.tell(arms, np.full((len(arms), 2), 1.7e308))
    assert state(policy) == before


@every_case
@pytest.mark.parametrize("scale", [1e160, 1e-160, 1e306])
def test_values_at_the_end_of_all_floats_do_no_harm(case, scale):
    """Differences overflow and squares vanish, but nothing warns, and the state stays whole and can be saved."""
    policy = make(case, 5, 2, 60)
    data = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(5, 60, 2)) * scale
    if policy.keeps_squares and scale > 1:
        with pytest.raises(ValueError, match=r"the squared deviations of arm \d in objective \d overflow; scale the values down"):
            follow(policy, data)
        return
    follow(policy, data)
    assert policy.counts.sum() <= 60
    assert len(policy.recommend()) >= 1
    state(policy)


@every_case
def test_numbers_of_any_kind_make_the_same_policy_and_plain_json(case):
    plain = make(case, 5, 2, 60)
    kinds = {float: np.float64, int: np.int64}
    options = {key: kinds.get(type(value), lambda same: same)(value) for key, value in plain.options.items()}
    exotic = pp.policy(plain.name, n_arms=np.int64(5), n_objectives=np.int8(2), budget=np.int64(60), **options)
    assert state(exotic) == state(plain)


@every_case
def test_shifting_all_values_changes_no_pull_of_the_first_rounds(case):
    """Sums of integers shift exactly; so do their means while counts are equal powers of two, as in the first steps."""
    data = np.random.default_rng(1).integers(-3, 4, size=(5, 60, 2)).astype(float)
    here, there = make(case, 5, 2, 60), make(case, 5, 2, 60)
    pulls = follow(here, data), follow(there, data + np.array([16.0, -32.0]))
    if not here.stepwise:
        assert pulls[0] == pulls[1]
        assert (here.recommend() == there.recommend()).all()
    else:
        assert pulls[0][:6] == pulls[1][:6]


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("ape")])
def test_scaling_all_values_changes_no_pull_and_no_answer(case):
    """All but APE-FB, whose bonuses are in the units of the values."""
    data = observations(case, 5, 2, 60)
    here, there = make(case, 5, 2, 60), make(case, 5, 2, 60)
    if there.knows_margins:
        there.require(there.required.divided(np.full(2, 0.125)))  # margins are in the units of the values
    assert follow(here, data) == follow(there, 8.0 * data)
    assert (here.recommend() == there.recommend()).all()


@every_case
def test_permuting_objectives_changes_no_pull_and_permuting_arms_permutes_the_answer(case):
    data = observations(case, 5, 3, 60)
    here, there = make(case, 5, 3, 60), make(case, 5, 3, 60)
    assert follow(here, data) == follow(there, data[:, :, [2, 0, 1]])
    if here.growable:  # anytime policies break ties by index
        return
    order = np.array([3, 0, 4, 1, 2])
    permuted = make(case, 5, 3, 60)
    follow(permuted, data[order])
    assert sorted(order[permuted.recommend()]) == here.recommend().tolist()
    assert (permuted.counts == here.counts[order]).all()


@every_case
def test_it_shows_what_it_is(case):
    assert re.fullmatch(rf"<{CASES[case][0]}: 5 arms, round 1, 0 pulls used, \d+ left>", repr(make(case, 5, 2, 60)))


@every_case
def test_telling_nothing_is_nothing(case):
    policy = make(case, 5, 2, 60)
    before = state(policy)
    policy.tell([], np.empty((0, 2)))
    policy.tell([], [])
    assert state(policy) == before


@every_case
def test_telling_after_the_end_is_refused(case):
    policy = make(case, 5, 2, 60)
    follow(policy, observations(case, 5, 2, 60))
    before = state(policy)
    with pytest.raises(pp.PolicyDone, match=r"arm 0 was told after the end: the policy is done after \d+ pulls"):
        policy.tell([0], [[0.1, 0.2]])
    with pytest.raises(RuntimeError):
        policy.tell([0], [[0.1, 0.2]])
    with pytest.raises(ValueError, match="recommend"):
        policy.tell([0], [[0.1, 0.2]])
    assert state(policy) == before


@every_case
def test_an_answer_before_every_arm_was_pulled_is_refused(case):
    policy = make(case, 5, 2, 60)
    with pytest.raises(pp.NotReady, match="arms 0, 1, 2, 3, 4 have no pulls yet"):
        policy.recommend()
    policy.tell([3], [[0.1, 0.2]])
    with pytest.raises(RuntimeError, match="arms 0, 1, 2, 4 have no pulls yet"):
        policy.recommend()
    assert np.isnan(policy.means).any()
    assert np.isnan(policy.snapshot().gaps).all()


@every_case
def test_the_interim_answer_is_a_guess_from_the_data_so_far(case):
    policy = make(case, 5, 2, 60)
    while (policy.counts == 0).any():
        policy.tell(policy.ask(), np.array([[float(arm), -float(arm) if arm < 4 else 9.0] for arm in policy.ask()]))
    assert 4 in policy.recommend()


@every_case
def test_what_a_snapshot_holds_cannot_be_changed(case):
    policy = make(case, 5, 2, 60)
    record = policy.snapshot()
    for array in (record.counts, record.means, record.gaps, record.doubt, record.left_in):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        record.round = 3
    tell_all(policy, policy.ask(), observations(case, 5, 2, 60))
    assert (record.counts == 0).all()


@every_case
def test_the_values_told_are_not_written_to(case):
    policy = make(case, 5, 2, 60)
    arms = policy.ask()
    values = np.arange(2.0 * len(arms)).reshape(-1, 2)
    values.flags.writeable = arms.flags.writeable = False
    policy.tell(arms, values)


@every_case
def test_too_small_a_budget_names_the_smallest_that_works(case):
    name, options = CASES[case]
    if name == "ege":
        options = {"schedule": pp.Schedule((7, 0), (3,))}
    with pytest.raises(pp.BudgetTooSmall) as refusal:
        pp.policy(name, n_arms=7, n_objectives=2, budget=6, **options)
    smallest = refusal.value.smallest
    assert str(smallest) in str(refusal.value)
    pp.policy(name, n_arms=7, n_objectives=2, budget=smallest, **options)
    with pytest.raises(pp.BudgetTooSmall):
        pp.policy(name, n_arms=7, n_objectives=2, budget=smallest - 1, **options)


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("ege-st", {}, "no policy named 'ege-st'; did you mean 'ege-s"),
        ("zzz", {}, "no policy named 'zzz'; there is 'ege-sr', 'ege-sh'"),
        (None, {}, "no policy named None"),
        ("ege-sr", {"spent": "all"}, "no option of ege-sr named 'spent'; did you mean 'spend'"),
        ("ege-sr", {"n_arms": 0}, "n_arms=0 is too small"),
        ("ege-sr", {"n_objectives": 0}, "n_objectives=0 is too small"),
        ("ege-sr", {"budget": None}, "ege-sr needs budget="),
        ("ege-sr", {"budget": 99.5}, "budget=99.5 is not an int"),
        ("ape-fb-adapt", {"budget": 99.5}, "budget=99.5 is not an int"),
        ("ege-sr-k", {}, "ege-sr-k needs max_arms=; it has no default"),
        ("ege-sr-k", {"max_arms": 0}, "max_arms=0 is too small"),
        ("ege-sr-k", {"max_arms": 6}, "max_arms=6 is too large; it must be at most 5"),
        ("ege", {}, "ege needs schedule="),
        ("ege", {"schedule": (5, 1)}, "is not a Schedule; write pp.Schedule"),
        ("ege", {"schedule": pp.Schedule((4, 1), (2,))}, "the schedule is for 4 arms and n_arms=5"),
        ("ape-fb", {}, "give exploration= alone"),
        ("ape-fb", {"c": 1.0}, "give exploration= alone"),
        ("ape-fb", {"exploration": 1.0, "complexity": 3.0}, "give exploration= alone"),
        ("ape-fb", {"exploration": -1.0}, "exploration=-1 is too small; it must be at least 0"),
        ("ape-fb", {"exploration": np.inf}, "exploration=inf is not finite"),
        ("ape-fb", {"complexity": np.nan}, "complexity=nan is not finite"),
        ("ape-fb", {"complexity": 3.0, "c": -1}, "c=-1 is too small"),
        ("ape-fb", {"complexity": "abc"}, "complexity='abc' is not a number"),
        ("ape-fb", {"complexity": 0}, "complexity=0 is the H of one arm, not of 5"),
        ("ape-fb-adapt", {"as_published": "no"}, "as_published='no' is not a truth value"),
        ("ege", {"schedule": {"active": (5, 1)}}, "is not a Schedule"),
        ("ege-sr", {"weight": "x"}, "no option of ege-sr named 'weight'"),
        ("ape-fb-adapt", {"c": -1}, "c=-1 is too small"),
        ("apt", {"batch": 0}, "batch=0 is too small"),
        ("apt", {"gamma": 1.5}, "gamma=1.5 is too large; it must be at most 1"),
        ("apt", {"initial": 0}, "initial=0 is too small"),
        ("doubt", {"batch": 0}, "batch=0 is too small"),
        ("doubt", {"initial": 0}, "initial=0 is too small"),
    ],
)
def test_a_policy_that_cannot_be_made_says_why(name, options, message):
    with pytest.raises(ValueError, match=message):
        pp.policy(name, **{"n_arms": 5, "n_objectives": 2, "budget": 100, **options})


def test_asking_for_less_than_nothing_is_refused():
    with pytest.raises(ValueError, match="limit=-1 is too small"):
        make("uniform", 5, 2, 60).ask(limit=-1)
    assert len(make("uniform", 5, 2, 60).ask(limit=0)) == 0


def test_a_saved_policy_that_is_not_one_is_refused():
    good = make("ege-sr", 5, 2, 60).to_dict()
    published = make("ape-fb-adapt as published", 5, 2, 60).to_dict()
    for broken, message in (
        ({}, "not a policy saved in format 3"),
        ([], "not a policy saved in format 3"),
        ({**good, "format": 1}, "not a policy saved in format 3"),
        ({key: value for key, value in good.items() if key != "sums"}, "has no 'sums'"),
        ({**good, "counts": [1, 2]}, r"the saved counts have shape \(2,\); expected \(5,\)"),
        ({**good, "policy": "ege-rs"}, "no policy named 'ege-rs'"),
        ({**good, "options": None}, "the saved policy cannot be read"),
        ({**good, "counts": ["x"] * 5}, "the saved policy cannot be read"),
        ({**good, "counts": [1.5, 0, 0, 0, 0]}, "expected whole numbers"),
        ({**good, "counts": [-1, 0, 0, 0, 0]}, "expected whole numbers, none negative"),
        ({**good, "counts": [5, 0, 0, 0, 0]}, "do not fit this policy and budget"),
        ({**good, "due": [99, 0, 0, 0, 0]}, "and the budget allows"),
        ({**good, "sums": [[np.inf, 0.0]] * 5}, "not one finite number"),
        ({**good, "budget": 120}, "do not fit this policy and budget"),
        ({**good, "policy": "uniform"}, "do not fit this policy and budget"),
        ({**good, "round": 7}, "do not fit this policy and budget"),
        ({**good, "left_in": [9, 0, 0, 0, 0]}, "do not fit the saved round"),
        ({**good, "counts": [10**30, 0, 0, 0, 0]}, "expected whole numbers|cannot be read"),
        ({**good, "gaps": [10**400] * 5}, "cannot be read"),
        ({**published, "more": {**published["more"], "refreshed": 99}}, "refreshed=99 is too large"),
        ({**published, "more": {**published["more"], "bonuses": [0.0]}}, "the saved bonuses"),
        ({**published, "due": [2, 1, 1, 1, 1]}, "do not fit this policy"),
    ):
        with pytest.raises(ValueError, match=message):
            pp.restore_policy(broken)


def test_saved_options_are_copies():
    schedule = {"active": [3, 1], "pulls": [5]}
    policy = pp.policy("ege", n_arms=3, n_objectives=1, schedule=schedule)
    before = state(policy)
    schedule["active"].append(0)
    policy.to_dict()["options"]["schedule"]["active"].append(0)
    assert state(policy) == before


def test_a_schedule_from_any_iterables_can_be_saved():
    policy = pp.policy("ege", n_arms=3, n_objectives=1, schedule={"active": range(3, 0, -1), "pulls": np.array([2, 2])})
    assert policy.options == {"schedule": {"active": [3, 2, 1], "pulls": [2, 2]}}


def test_what_is_left_is_a_plain_number():
    for case in CASES:
        name, options = CASES[case]
        if name != "ege":
            policy = pp.policy(name, n_arms=5, n_objectives=2, budget=np.int64(60), **options)
            assert type(policy.snapshot().pulls_left) is int


def test_an_infinite_complexity_survives_json():
    policy = pp.policy("ape-fb", n_arms=3, n_objectives=1, budget=9, complexity=np.inf)
    assert pp.restore_policy(json.loads(state(policy))).exploration == 0


def test_asking_for_a_few_of_very_many_is_cheap():
    policy = pp.policy("uniform", n_arms=2, n_objectives=1, budget=2**53)
    assert policy.ask(limit=3).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="budget=1000000000000000000000000000000 is too large"):
        pp.policy("uniform", n_arms=2, n_objectives=1, budget=10**30)


def test_a_policy_made_without_a_name_cannot_be_saved():
    from paretopick.policies.ege import EGE

    with pytest.raises(ValueError, match=r"not made by pp.policy\(\)"):
        EGE(pp.Schedule((2, 1), (3,)), n_objectives=1).to_dict()
