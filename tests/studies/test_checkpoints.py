"""Checkpoints: what is damaged, or is not of this study, is refused with an error that whoever opens a study expects."""

import contextlib
import copy
import json
import math

import numpy as np
import pytest

from paretopick.errors import InvalidInput, ParetopickError
from paretopick.events import Event
from paretopick.studies.definition import define
from paretopick.studies.state import State, new_state, restore_state

UNIFORM = define(options=["a", "b"], metrics={"x": "max"}, budget=6, policy="uniform")


def told(position, arm, values, asked_in=1) -> Event:
    return Event(position, "told", position, arm, asked_in, values)


def test_another_format_of_checkpoints_is_not_read():
    before = new_state(UNIFORM).to_dict() | {"position": 17, "format": [0, 0]}
    assert restore_state(UNIFORM, before).position == 0


def checkpoint(policy: object) -> tuple[State, list[Event]]:
    """A state in which everything is to be found, and what happens next."""
    metrics = {"x": "max", "y": "min"}
    definition = define(options=list("abcd"), metrics=metrics, budget=28, policy=policy, exact=["y"])
    state, events, moment = new_state(definition), [], 0
    rng = np.random.default_rng(3)
    while len(events) < 30:
        n = len(events) + 1
        arm = n % 4 if n % 3 == 0 else state.proposals(1, {})[0]
        if n in (19, 29):
            gone = events[n - 6] if n == 29 else events[1]
            events.append(gone._replace(position=n, kind="voided"))
        elif n == 20:
            events.append(Event(n, "retired", arm=3, details={"why": "gone"}))
        else:
            events.append(told(n, arm, (round(rng.normal(), 1), float(arm)), None if n % 3 == 0 else state.round))
        if n <= 24:
            state.apply(events[-1:])
            moment = n
    return state, events[moment:]


ABSURD = [
    None,
    True,
    -1,
    0.5,
    10**30,
    math.nan,
    math.inf,
    "",
    "x",
    "1p0",
    [],
    {},
    [[]],
    [None],
    [10**30],
    [[1, 2, 3]],
    {"x": 1},
    [1] * 4,
]


def edits(part, path=()):
    """The places in a description, each with a few things that may be put there."""
    keys = range(len(part)) if isinstance(part, list) else part if isinstance(part, dict) else ()
    for key in keys:
        yield (*path, key)
        if len(path) < 3:
            yield from edits(part[key], (*path, key))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["ege-sr", ("apt", {"batch": 3})])
def test_a_damaged_checkpoint_is_refused_or_harmless(policy):
    """Whatever is put in any place, or missing: an error that a caller expects, or a state that works."""
    state, next_events = checkpoint(policy)
    assert state.retired
    if policy == "ege-sr":
        assert all((state.kept, state.voided, state.to_dict()["late"][1]))
    whole = json.loads(json.dumps(state.to_dict()))
    refused = {}
    for path in edits(whole):
        for absurd in [*ABSURD, "missing"]:
            edited = copy.deepcopy(whole)
            part = edited
            for key in path[:-1]:
                part = part[key]
            if absurd == "missing":
                del part[path[-1]]
            elif type(absurd) is type(part[path[-1]]) and absurd == part[path[-1]]:
                continue
            else:
                part[path[-1]] = absurd
            refused.setdefault(path[0], 0)
            try:
                other = restore_state(state.definition, edited)
            except InvalidInput:
                refused[path[0]] += 1
                continue
            json.dumps(other.to_dict())
            with contextlib.suppress(ParetopickError):
                other.apply(next_events)
    assert all(refused[key] for key in whole if key != "format"), refused


@pytest.mark.parametrize("saved", [None, 3, "x", [], {}, [1, 2]])
def test_what_is_no_checkpoint_is_refused(saved):
    with pytest.raises(InvalidInput):
        restore_state(UNIFORM, saved)


@pytest.mark.parametrize(
    "other",
    [
        {"options": ["a", "c"]},
        {"options": ["a", "b", "c"]},
        {"metrics": {"x": "min"}},
        {"metrics": {"x": "max", "y": "max"}},
        {"budget": 8},
        {"policy": "ege-sr"},
        {"scale": "raw"},
        {"exact": ["x"]},
    ],
)
def test_the_checkpoint_of_another_study_is_refused(other):
    given = {"options": ["a", "b"], "metrics": {"x": "max"}, "budget": 6, "policy": "uniform"}
    assert restore_state(define(**given), new_state(UNIFORM).to_dict()).position == 0
    with pytest.raises(InvalidInput, match="another study"):
        restore_state(define(**given | other), new_state(UNIFORM).to_dict())


def test_parts_of_a_checkpoint_that_contradict_each_other_are_refused():
    state = new_state(UNIFORM)
    state.apply([told(1, 0, (1.0,)), told(2, 0, (3.0,)), told(3, 1, (2.0,))])
    other = new_state(UNIFORM)
    other.apply([told(1, 0, (1.0,)), told(2, 0, (4.0,)), told(3, 1, (2.0,))])
    fewer = new_state(UNIFORM)
    fewer.apply([told(1, 0, (1.0,)), told(2, 0, (3.0,))])
    for key in ("sums", "policy"):
        for contents in (other, fewer):
            with pytest.raises(InvalidInput, match="the policy"):
                restore_state(UNIFORM, state.to_dict() | {key: contents.to_dict()[key]})
    for edit in ({"position": 2}, {"retired": [[0, "gone"]]}, {"late": [1, [[1, 4]]]}, {"late": [2, []]}):
        with pytest.raises(InvalidInput):
            restore_state(UNIFORM, state.to_dict() | edit)
    bigger = state.to_dict()
    bigger["policy"]["budget"] = 10**12
    bigger["policy"]["n_arms"] = 10**12
    with pytest.raises(InvalidInput):
        restore_state(UNIFORM, bigger)
