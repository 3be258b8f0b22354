"""What follows from the events: live, replayed at once, one by one, from a checkpoint, and literally, it is the same."""

import json

import numpy as np
import pytest

from paretopick.studies import state as state_module
from paretopick.studies.state import State
from paretopick.studies.study import Study
from support.eventful_studies import POLICIES, D, K, eventful, new_study
from support.twin import Twin

every_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy[0]} {policy[1] or ''}")


def saved(state: State) -> str:
    return json.dumps(state.to_dict())


@pytest.mark.slow
@every_policy
@pytest.mark.parametrize("seed", range(5))
def test_replay_equals_live(policy, seed, monkeypatch):
    study = eventful(new_study(policy, seed), seed)
    events, live = study.events(), saved(study._state)
    for few in (0, 2, state_module.FEW, 10**6):  # so many measurements at a time are applied one by one
        monkeypatch.setattr(state_module, "FEW", few)
        at_once = State(study.definition)
        at_once.apply(events)
        assert saved(at_once) == live
    one_by_one = State(study.definition)
    moments = []
    for event in events:
        one_by_one.apply([event])
        moments.append(saved(one_by_one))
    assert moments[-1] == live
    monkeypatch.setattr(state_module, "FEW", 0)
    for end in range(10, len(events), 17):
        at_once = State(study.definition)
        at_once.apply(events[:end])
        assert saved(at_once) == moments[end - 1]
    for cut in range(1, len(events), len(events) // 5):  # also before measurements are taken back that came before
        rest = State.from_dict(study.definition, json.loads(moments[cut - 1]))
        assert saved(rest) == moments[cut - 1]
        rest.apply(events[cut:])
        assert saved(rest) == live


@every_policy
@pytest.mark.parametrize("seed", range(5))
def test_a_literal_replay_decides_the_same(policy, seed):
    study = eventful(new_study(policy, seed), seed)
    twin = Twin(study.definition, study.events())
    state = study._state
    assert state.policy.to_dict() == twin.policy.to_dict()
    np.testing.assert_array_equal(state.means(), twin.means())
    np.testing.assert_array_equal(state.variances(), twin.variances())
    assert state.kept == sum(map(len, twin.waiting))


@every_policy
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
        direct.tell(arms, rows)
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


def test_another_format_of_checkpoints_is_not_read():
    study = new_study(("ege-sr", {}), 0)
    kept = study._state.to_dict() | {"position": 17, "format": [0, 0]}
    assert State.from_dict(study.definition, kept).position == 0


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
