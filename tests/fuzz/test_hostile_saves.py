"""What was saved and then edited, by a person or by a disk, is refused or goes on as a policy that keeps its promises."""

import contextlib
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.studies.definition import Definition, define
from paretopick.studies.state import new_state, restore_state
from support.hostile import examples, refused_politely
from support.policy_cases import CASES, make

pytestmark = pytest.mark.slow

EDITS = st.sampled_from(
    [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            2,
            7,
            10**6,
            10**12,
            2**63,
            10**400,
            0.5,
            -1.5,
            1e300,
            float("nan"),
            float("inf"),
            "",
            "a",
            "1",
        ),
        *(
            "inf",
            "1_0",
            [],
            [[]],
            [0],
            [[0.0, 0.0]],
            [0] * 3,
            [[0.0, 0.0]] * 3,
            [None] * 3,
            {},
            {"a": 1},
            {"active": [3, 1], "pulls": [1]},
        ),
        *("ege-sr", "apt", "ape-fb", "uniform", [[1], [1, 2]], ["x"] * 3, [True] * 3),
    ]
)


def edited(record, data, *, within=()):
    """A copy of JSON values with up to three of them changed or left out."""
    record = copy.deepcopy(record)
    for _ in range(data.draw(st.integers(1, 3))):
        place = record
        for step in within:
            place = place[step]
        key = data.draw(st.sampled_from(sorted(place)))
        inside = place[key]
        if isinstance(inside, list) and inside and data.draw(st.booleans()):
            inside[data.draw(st.integers(0, len(inside) - 1))] = copy.deepcopy(data.draw(EDITS))
        elif data.draw(st.integers(0, 4)) == 0 and len(place) > 1:
            del place[key]
        else:
            place[key] = copy.deepcopy(data.draw(EDITS))
    return record


@pytest.mark.parametrize("case", CASES)
@examples(40)
@given(data=st.data())
def test_policies(case, data):
    policy = make(case, 3, 2, 30)
    arms = policy.ask()
    policy.tell(arms[:4], [[float(i), float(-i)] for i in range(len(arms[:4]))])
    back = None
    with refused_politely():
        back = pp.restore_policy(edited(policy.to_dict(), data))
    if back is not None:
        json.dumps(back.to_dict(), allow_nan=False)
        assert (back.counts >= 0).all()
        assert back.budget is None or back.counts.sum() <= back.budget


@pytest.mark.parametrize("name, value", [("n_arms", 10**12), ("n_objectives", 10**12), ("n_arms", 10**6), ("budget", 10**100)])
def test_a_saved_policy_of_an_absurd_size_takes_no_memory(name, value):
    saved = {**make("uniform", 3, 2, 30).to_dict(), name: value}
    with pytest.raises(pp.InvalidInput, match=name if value != 10**6 else "expected"):
        pp.restore_policy(saved)


@examples(60)
@given(data=st.data())
def test_states_of_studies(data):
    """Whoever reads a checkpoint replays the log after any of these errors."""
    definition = define(options=["a", "b", "c"], metrics={"m": "max", "p": "min"}, budget=30)
    with contextlib.suppress(pp.InvalidInput, LookupError, TypeError, ValueError, ArithmeticError):
        restore_state(definition, edited(new_state(definition).to_dict(), data)).to_dict()


@examples(60)
@given(data=st.data())
def test_states_with_blocks(data):
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=30, pairing="plate", storage="sqlite://")
    study.add([("a", {"m": 1.0, "plate": 3, "repeat": 0}), ("a", {"m": 2.0, "plate": "x"}), ("b", {"m": 3.0})])
    with contextlib.suppress(pp.InvalidInput, LookupError, TypeError, ValueError, ArithmeticError):
        state = restore_state(study.definition, edited(study._live.state.to_dict(), data))
        assert len(state.next_repeats({})) == 2
        state.to_dict()


@examples(60)
@given(data=st.data())
def test_definitions(data):
    record = define(options=["a", "b"], metrics={"m": "max"}, budget=30).to_dict()
    with refused_politely():
        Definition.from_dict(edited(record, data)).to_dict()
