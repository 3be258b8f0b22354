"""What follows from the events: live, replayed at once, one by one, from a checkpoint, and literally, it is the same."""

import json
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretopick.errors import LogDamaged
from paretopick.events import Event
from paretopick.studies import in_rounds, roundless
from paretopick.studies import sums as sums_module
from paretopick.studies.definition import define
from paretopick.studies.state import State, new_state, restore_state
from paretopick.studies.study import Study
from support.eventful_studies import IN_ROUNDS, POLICIES, D, K, eventful, new_study
from support.inputs import exact_squares
from support.twin import Twin

every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy[0]} {policy[1] or ''}")


in_rounds_only = pytest.mark.parametrize("policy", IN_ROUNDS, ids=lambda policy: f"{policy[0]} {policy[1] or ''}")


def apply_one_by_one(patched: pytest.MonkeyPatch, few: int) -> None:
    """Up to so many measurements at a time."""
    for module in (in_rounds, roundless):
        patched.setattr(module, "FEW", few)


def saved(state: State) -> str:
    return json.dumps(state.to_dict())


@pytest.mark.sample(3)
@pytest.mark.slow
@every_policy
@pytest.mark.parametrize("seed", range(5))
def test_replay_equals_live(policy, seed, monkeypatch):
    study = eventful(new_study(policy, seed), seed)
    events, live, base = study.events(), saved(study._state), study._live.definition
    for few in (0, 2, in_rounds.FEW, 10**6):
        apply_one_by_one(monkeypatch, few)
        at_once = new_state(base)
        at_once.apply(events)
        assert saved(at_once) == live
    one_by_one = new_state(base)
    moments = []
    for event in events:
        one_by_one.apply([event])
        moments.append(saved(one_by_one))
    assert moments[-1] == live
    apply_one_by_one(monkeypatch, 0)
    for end in range(10, len(events), 17):
        at_once = new_state(base)
        at_once.apply(events[:end])
        assert saved(at_once) == moments[end - 1]
    for cut in range(1, len(events), len(events) // 5):  # also before measurements are taken back that came before
        rest = restore_state(base, json.loads(moments[cut - 1]))
        assert saved(rest) == moments[cut - 1]
        rest.apply(events[cut:])
        assert saved(rest) == live


@pytest.mark.sample(4)
@in_rounds_only
@pytest.mark.parametrize("seed", range(5))
def test_a_literal_replay_decides_the_same(policy, seed):
    study = eventful(new_study(policy, seed), seed)
    twin = Twin(study.definition, study.events())
    state = study._state
    assert state.policy.to_dict() == twin.policy.to_dict()
    np.testing.assert_array_equal(state.means(), twin.means())
    np.testing.assert_array_equal(state.variances(), twin.variances())
    assert state.kept == sum(map(len, twin.waiting))


@in_rounds_only
def test_without_incidents_a_study_does_what_its_policy_does(policy):
    """Raw, all goals max: a study adds nothing of its own."""
    rng = np.random.default_rng(5)
    tape = rng.integers(0, 9, (K, 1, D)) + rng.integers(-3, 4, (K, 200, D))
    study = new_study(policy, 0, scale="raw", exact=[])
    direct = study.definition.new_policy()
    seen = np.zeros(K, dtype=int)
    while not study.done:
        batch = study.ask(1000)
        arms = [int(todo.option[1:]) for todo in batch]
        assert sorted(arms) == direct.ask().tolist()
        rows = []
        for todo, arm in zip(batch, arms, strict=True):
            rows.append(tape[arm, seen[arm]])
            seen[arm] += 1
            study.tell(todo.number, rows[-1] * study.definition.signs)
        squares = np.array([exact_squares(tape[arm, : seen[arm]]) for arm in arms])
        direct.tell(arms, rows, squares=squares)
    assert list(study.result().pareto) == [f"o{arm}" for arm in direct.recommend()]
    assert study.used == direct.counts.sum()


@pytest.mark.parametrize("outlier", [1e7, 3.4e38, -1e150])
def test_after_a_void_it_is_as_if_the_measurement_had_never_been_told(outlier):
    """However far out it was, and whatever was told while it was in the sums."""
    states = []
    for wrong in (False, True):
        study = new_study(("uniform", {}), 0, scale="noise", exact=[])
        todos = study.ask(60)
        if wrong:
            study.tell(todos[0].number, (outlier, outlier, 5.0))
        for todo in todos[6:40]:
            study.tell(todo.number, (5.0 + todo.number / 1000, 0.1 * todo.number, 1.0))
        if wrong:
            study.void(todos[0].number, "a sentinel")
        state = study._state
        states.append((state.policy.means.tolist(), state.variances().tolist(), state.noise().tolist()))
    assert str(states[0]) == str(states[1])


TIES = (0.0, 1.0, -0.0, 2.0, -1.0, 0.5)
WILD = (*TIES, 1e300, -1e300, 1e-300, 5e-324, 0.1, 0.3)
LARGE = (*TIES, 1e150, -1e150, 1e-300, 0.1, 0.3)
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*["tell"] * 10, *["import"] * 4, *["void"] * 4, "fail", "retire"]),
        st.integers(0, 100),
        st.tuples(*[st.integers(0, len(WILD) - 1)] * 2),
    ),
    min_size=20,
    max_size=80,
)
DEFINITIONS = [
    define(options=list("abcd"), metrics={"x": "max", "y": "min"}, budget=40, policy=policy, scale=scale)
    for policy in (("uniform", {}), ("ege-sr", {}))
    for scale in ("raw", "noise")
]


def events_of(definition, steps) -> list[Event]:
    """A log in which measurements are due, or imported, or late, and any of them is taken back."""
    state, events, told = new_state(definition), [], []
    pool = WILD if definition.scale == "raw" and not state.policy.keeps_squares else LARGE
    for step, pick, places in steps:
        due = state.policy.ask().tolist()
        position, number = len(events) + 1, len(events) + 1
        values = tuple(pool[place % len(pool)] for place in places)
        if step == "tell" and due:
            arm = due[pick % len(due)]
            events.append(Event(position, "told", number, arm, max(state.policy.round - (pick % 10 == 0), 1), values))
        elif step == "import":
            events.append(Event(position, "told", number, pick % 4, None, values))
        elif step == "void" and told:
            events.append(told.pop(pick % len(told))._replace(position=position, kind="voided"))
        elif step == "retire" and pick % 4 not in state.retired and len(state.retired) < 2:
            events.append(Event(position, "retired", arm=pick % 4, details={"why": "gone"}))
        elif step == "fail":
            events.append(Event(position, "failed", number, pick % 4, state.policy.round))
        else:
            continue
        if events[-1].kind == "told":
            told.append(events[-1])
        state.apply(events[-1:])
    return events


@pytest.mark.slow
@given(st.sampled_from(DEFINITIONS), STEPS, st.integers(0, 70))
def test_any_events_give_one_state(definition, steps, cut):
    """One by one, at once, from a checkpoint anywhere, and literally; ties and wild values, and voids of whatever there is."""
    events = events_of(definition, steps)
    cut = min(cut, len(events))
    one_by_one = new_state(definition)
    for event in events[:cut]:
        one_by_one.apply([event])
    rest = restore_state(definition, json.loads(saved(one_by_one)))
    for event in events[cut:]:
        one_by_one.apply([event])
    rest.apply(events[cut:])
    with pytest.MonkeyPatch.context() as patched:
        apply_one_by_one(patched, 0)
        patched.setattr(sums_module, "FEW", 0)
        at_once = new_state(definition)
        at_once.apply(events)
    assert saved(one_by_one) == saved(rest) == saved(at_once)
    twin = Twin(definition, events)
    assert json.dumps(one_by_one.policy.to_dict()) == json.dumps(twin.policy.to_dict())
    np.testing.assert_array_equal(one_by_one.means(), twin.means())
    np.testing.assert_array_equal(one_by_one.variances(), twin.variances())
    assert one_by_one.kept == sum(map(len, twin.waiting))


def told(position, arm, values, asked_in=1) -> Event:
    return Event(position, "told", position, arm, asked_in, values)


UNIFORM = define(options=list("ab"), metrics={"x": "max"}, budget=6, policy="uniform")


def through_a_checkpoint(state: State) -> State:
    return restore_state(state.definition, json.loads(saved(state)))


def test_a_void_needs_no_log():
    """Also of the first measurement, and of one beside which the others are rounded off."""
    definition = replace(UNIFORM, compared_in="raw")
    events = [told(1, 0, (1e16,)), told(2, 0, (0.1,)), told(3, 1, (0.2,)), told(4, 0, (0.3,))]
    state, without = new_state(definition), new_state(definition)
    state.apply(events)
    without.apply(events[1:])
    state = through_a_checkpoint(state)
    state.apply([events[0]._replace(position=5, kind="voided")])
    assert saved(state).replace('"position": 5', '"position": 4') == saved(without)
    assert state.means()[0, 0] == 0.2


@pytest.mark.parametrize("asked_in", [None, 0])
def test_an_imported_measurement_that_is_voided_after_a_checkpoint_is_due_again(asked_in):
    """It came to count in the open round, which did not ask for it: the checkpoint has to say so."""
    state = new_state(UNIFORM)
    state.apply([told(1, 0, (1.0,), asked_in), told(2, 0, (2.0,))])
    state = through_a_checkpoint(state)
    state.apply([told(1, 0, (1.0,), asked_in)._replace(position=3, kind="voided")])
    assert state.policy.due.tolist() == [2, 3]
    assert state.voided == []


def test_a_kept_measurement_that_counts_and_is_voided_after_a_checkpoint_is_due_again():
    definition = define(options=list("abc"), metrics={"x": "max"}, budget=60, policy="ege-sr", scale="raw")
    state = new_state(definition)
    rows = [(arm, (float(arm),)) for arm in reversed(state.policy.ask().tolist())]
    rows.insert(0, rows[0])  # one more than the first round wants
    number = sum(arm == 2 for arm, _ in rows)
    events = [told(position, *row) for position, row in enumerate(rows, start=1)]
    state.apply(events[:-1])
    assert (state.policy.round, state.kept) == (1, 1)
    state.apply(events[-1:])
    assert (state.policy.round, state.kept) == (2, 0)
    due = state.policy.due.tolist()
    state = through_a_checkpoint(state)
    state.apply([Event(len(rows) + 1, "voided", number, 2, 1, (2.0,))])
    assert state.policy.due.tolist() == [*due[:2], due[2] + 1]
    assert state.voided == []


def test_an_imported_measurement_that_is_voided_after_its_round_is_not_due_again():
    definition = define(options=list("abc"), metrics={"x": "max"}, budget=60, policy="ege-sr", scale="raw")
    state = new_state(definition)
    rows = [(arm, (float(arm),)) for arm in state.policy.ask().tolist()]
    state.apply([told(position, *row, None) for position, row in enumerate(rows, start=1)])
    assert state.policy.round == 2
    due = state.policy.due.tolist()
    state.apply([told(len(rows), *rows[-1], None)._replace(position=len(rows) + 1, kind="voided")])
    assert state.policy.due.tolist() == due
    assert state.voided == [len(rows)]


def test_measurements_are_not_kept_in_memory():
    definition = define(options=list("ab"), metrics={"x": "max", "y": "min"}, budget=100_000, policy="uniform")
    state = new_state(definition)
    tracemalloc.start()
    try:
        for start in range(1, 20_000, 1000):
            state.apply([told(n, n % 2, (n / 7, n / 9)) for n in range(start, start + 1000)])
        assert tracemalloc.get_traced_memory()[0] < 500_000
    finally:
        tracemalloc.stop()
    assert state.used == 20_000


@pytest.mark.parametrize(
    "event, words",
    [
        (Event(7, "forgotten", 3), "event 7 of the log is of the kind 'forgotten'"),
        (Event(7, "told", 3, 2, 1, (1.0,)), "option 2"),
        (Event(7, "told", 3, -1, 1, (1.0,)), "option -1"),
        (Event(7, "told", 3, None, 1, (1.0,)), "option None"),
        (Event(7, "told", None, 1, 1, (1.0,)), "without a number"),
        (Event(7, "told", 3, 1, 1, (1.0, 2.0)), "1 finite values"),
        (Event(7, "told", 3, 1, 1, None), "values None"),
        (Event(7, "told", 3, 1, 1, (math.inf,)), "values (inf,)"),
        (Event(7, "voided", 3, 1, 1, (1.0,)), "has none"),
        (Event(7, "retired", arm=1), "'why'"),
        (Event(7, "retired", arm=9, details={"why": "gone"}), "option 9"),
        (Event(7, "corrected", 3, 1, 1, (1.0,), {"before": [2.0]}), "has none"),
        (Event(7, "corrected", 3, 1, 1, (1.0,)), "'before'"),
        (Event(7, "extended"), "'extended'"),
    ],
)
@pytest.mark.parametrize("times", [1, 20])
def test_an_event_that_cannot_be_stops_the_replay(event, words, times):
    with pytest.raises(LogDamaged) as refusal:
        new_state(UNIFORM).apply([event] * times)
    assert words in str(refusal.value)
    assert "event 7 of the log" in str(refusal.value)


def test_a_copy_goes_its_own_way():
    state = new_state(UNIFORM)
    state.apply([told(1, 0, (1.0,)), told(2, 0, (3.0,), None)])
    before = saved(state)
    mine = state.copy()
    assert saved(mine) == before
    mine.apply([told(3, 1, (2.0,)), told(2, 0, (3.0,), None)._replace(position=4, kind="voided")])
    assert saved(state) == before != saved(mine)


def measured(values, *, scale="noise", exact=(), metrics=2, budget=40) -> State:
    """A state in which options were measured as listed, one list of rows each, before any round was full."""
    names = [f"m{i}" for i in range(metrics)]
    study = Study.create(
        "s",
        options=[f"o{i}" for i in range(len(values))],
        metrics=dict.fromkeys(names, "max"),
        budget=budget,
        scale=scale,
        exact=exact,
        policy="uniform",
        storage="sqlite://",
    )
    study.add([(f"o{arm}", row) for arm, rows in enumerate(values) for row in rows])
    return study._state


def widths(state: State) -> list[float]:
    state._rescale()
    return state.policy.to_dict()["widths"]


def test_the_scale_is_the_pooled_standard_deviation_of_repeats():
    state = measured([[(1, 10), (3, 10), (2, 40)], [(100, 5), (104, 5)]])
    assert widths(state) == pytest.approx([np.sqrt((2 + 8) / 3), np.sqrt(600 / 3)])


def test_a_far_offset_costs_no_digits():
    state = measured([[(1e9 + 1, 1e-9 + 1), (1e9 + 3, 1e-9 + 3)], [(1e9, 0), (1e9 + 2, 2)]])
    assert widths(state) == pytest.approx([np.sqrt(2), np.sqrt(2)], rel=1e-7)


def test_before_there_are_repeats_the_spread_of_the_options_is_the_unit():
    assert widths(measured([[(1, 1000)], [(3, 5000)]])) == pytest.approx([1.0, 2000.0])
    assert widths(measured([[(1, 7)], [(3, 7)]])) == pytest.approx([1.0, 1.0])  # no spread, no unit


def test_a_metric_that_never_varied_may_still_vary():
    state = measured([[(1, 0.5), (1, 0.25)], [(4, 0.5), (4, 0.5)], [(2, 0), (2, 0)]])
    assert widths(state)[0] == pytest.approx(1 / np.sqrt(2 * (1 + 3)))


def test_exact_metrics_have_no_width_whatever_the_scale():
    rows = [[(1, 3), (2, 3)], [(4, 5), (5, 5)]]
    assert widths(measured(rows, exact=["m1"]))[1] == 0.0
    assert widths(measured(rows, exact=["m1"], scale="raw")) == [1.0, 0.0]
    assert widths(measured(rows, exact=["m1"], scale={"m0": 3.0})) == [3.0, 0.0]
    assert measured(rows, scale="raw").policy.to_dict()["widths"] is None


def test_units_do_not_matter_when_metrics_are_scaled_by_their_noise():
    """Milliseconds or seconds, a power of two apart so that nothing is rounded: the same state."""
    records = []
    for unit in (1.0, 1024.0):
        study = new_study(("ege-sr", {}), 0, scale="noise", exact=[])
        rng = np.random.default_rng(1)
        means = rng.normal(size=(K, D))
        while not study.done:
            for todo in study.ask(7):
                study.tell(todo.number, (means[int(todo.option[1:])] + rng.normal(size=D)) * [1, unit, 1])
        snapshot = study._state.policy.snapshot()
        records.append((study.result().pareto, snapshot.left_in.tolist(), snapshot.counts.tolist()))
    assert records[0] == records[1]


def test_raw_metrics_depend_on_their_units():
    """What the scale is for: the order in which options leave follows the metric with the large numbers."""
    orders = set()
    for unit in (1.0, 1024.0):
        study = new_study(("ege-sr", {}), 0, scale="raw", exact=[])
        rng = np.random.default_rng(1)
        means = rng.normal(size=(K, D))
        while not study.done:
            for todo in study.ask(7):
                study.tell(todo.number, (means[int(todo.option[1:])] + rng.normal(size=D)) * [1, unit, 1])
        orders.add(tuple(study._state.policy.snapshot().left_in.tolist()))
    assert len(orders) == 2
