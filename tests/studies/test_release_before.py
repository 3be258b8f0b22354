"""Databases that the release before has made: they open, go on, and give the same answers."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import paretopick as pp

DATA = Path(__file__).parents[1] / "data" / "release-0.1"
EXPECTED = json.loads((DATA / "studies.json").read_text())
"""What the release before said about each study, then asked for, and answered in the end."""

FIELDS = ("option", "status", "measurements", "means", "left_in_round")
ROUNDLESS = ("anytime",)
"""Studies of policies that need no rounds: the release before asked for them in batches, and now they follow from their data."""
TRUTH = {"a": (9.0, 9.0), "b": (5.0, 2.0), "c": (3.0, 8.0), "d": (1.0, 1.0), "e": (2.0, 7.5)}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def address(request, tmp_path) -> str:
    """A copy of the database in which the release before kept its studies."""
    if request.param == "sqlite":
        shutil.copy(DATA / "studies.db", tmp_path / "studies.db")
        return f"sqlite:///{tmp_path / 'studies.db'}"
    server = request.getfixturevalue("server")
    url = server.new_database()
    with server.connect(url) as connection:
        connection.execute((DATA / "studies.sql").read_text())
    return url


def measure(todo: pp.Measurement) -> dict[str, float]:
    noise = np.random.default_rng(todo.number).normal(0, 0.5)
    return {"quality": TRUTH[todo.option][0] + noise, "cost": TRUTH[todo.option][1]}


def table(result: pp.ParetoResult, *fields: str) -> list[list]:
    return [[getattr(row, field) for field in fields] for row in result.options]


def assert_same(rows: list[list], expected: list[list], *, rounds: bool = True) -> None:
    """All the same; means but for their last bit, to which the release before did not round them rightly.

    What that release called undecided, because it was still being measured, has the status that the measurements give it.
    """
    place, status = FIELDS.index("means"), FIELDS.index("status")
    for row, other in zip(rows, expected, strict=True):
        if other[status] == "undecided":
            assert row[status] in ("pareto", "open", "dominated")
            row, other = ([*one[:status], "?", *one[status + 1 :]] for one in (row, other))
        assert row[:place] == other[:place]
        assert row[place + 1 :] == (other[place + 1 :] if rounds else [None])
        assert row[place] == pytest.approx(other[place], rel=2**-52, abs=0)


def test_they_hold_what_can_be_in_a_database(address):
    kinds = {event[1] for record in EXPECTED.values() for event in record["events"]}
    assert kinds == {"told", "failed", "voided", "retired", "imported", "extended"}
    assert pp.Study.list(storage=address) == sorted(EXPECTED) == ["anytime", "done", "halves", "rounds"]
    assert all(record["checkpoint"] and record["out"] for name, record in EXPECTED.items() if name != "done")


@pytest.mark.parametrize("name", EXPECTED)
def test_they_say_what_they_said(address, name):
    study, expected = pp.Study.open(name, storage=address), EXPECTED[name]
    assert [[*event[:8]] for event in study.events()] == expected["events"]
    result, status = study.result(), study.status()
    assert (study.used, study.budget, list(result.pareto)) == (expected["used"], expected["budget"], expected["pareto"])
    assert_same(table(result, *FIELDS), expected["table"], rounds=name not in ROUNDLESS)
    if name in ROUNDLESS:
        assert (status["round"], status["due"]) == (1, study.budget - study.used)
    else:
        assert (status["round"], status["due"]) == (expected["round"], expected["due"])
    assert [[row["number"], row["option"], row["worker"]] for row in status["out"]] == expected["out"]
    assert len(study.measurements()) == expected["measurements"]


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "done"])
def test_they_go_on_to_the_same_answers(address, name):
    """The laboratory finds its open measurements again, then those that ran out, then new ones."""
    study, expected = pp.Study.open(name, storage=address), EXPECTED[name]
    asked = []
    while not study.done:
        todos = study.ask(4, worker="laboratory")
        asked += [[todo.number, todo.option, todo.round] for todo in todos]
        for todo in todos:
            study.tell(todo.number, measure(todo))
    result = study.result()
    assert (list(result.pareto), result.used) == (expected["answer"], expected["answer_used"])
    if name not in ROUNDLESS:
        assert asked == expected["asked"]
        assert_same(table(result, *FIELDS), expected["answer_table"])
    assert pp.Study.open(name, storage=address).result() == result


def test_a_measurement_from_before_the_checkpoint_can_be_voided(address):
    study = pp.Study.open("rounds", storage=address)
    number = next(event[2] for event in EXPECTED["rounds"]["events"] if event[1] == "told" and event[4])
    before = study.used
    study.void(number if number != 4 else number + 1, "a typing error")
    assert study.used == pp.Study.open("rounds", storage=address).used == before - 1


# Studies as they were when anytime policies had batches, and ege-sr was the default: same layout of the database.

LATER = Path(__file__).parents[1] / "data" / "rounds-and-batches"
LATER_EXPECTED = json.loads((LATER / "studies.json").read_text())


@pytest.fixture
def later(tmp_path) -> str:
    shutil.copy(LATER / "studies.db", tmp_path / "studies.db")
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.mark.parametrize("name", LATER_EXPECTED)
def test_studies_with_batches_say_what_they_said_and_go_on(later, name):
    study, expected = pp.Study.open(name, storage=later), LATER_EXPECTED[name]
    assert [[*event[:8]] for event in study.events()] == expected["events"]
    assert study.definition.to_dict() == expected["definition"]
    result = study.result()
    assert (study.used, study.budget, list(result.pareto)) == (expected["used"], expected["budget"], expected["pareto"])
    assert [[row.option, row.measurements, row.means] for row in result.options] == expected["table"]
    assert [[row["number"], row["option"], row["worker"]] for row in study.status()["out"]] == expected["out"]
    assert len(study.measurements()) == expected["measurements"]
    while not study.done:
        for todo in study.ask(4, worker="laboratory"):
            study.tell(todo.number, measure(todo))
    assert study.used <= study.budget
    assert set(study.result().pareto) <= {"a", "b", "d"}
    assert pp.Study.open(name, storage=later).result() == study.result()


def test_a_study_with_batches_can_be_amended_now(later):
    study = pp.Study.open("doubtful", storage=later)
    study.reinstate("e", "made again")
    study.add_option("f", {"dose": 9})
    number = study.measurements()[0]["number"]
    study.correct(number, {"quality": 9.5, "cost": 9.0}, "misread")
    assert study.options[-1] == "f"
    assert study.used == LATER_EXPECTED["doubtful"]["used"]
