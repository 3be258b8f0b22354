"""A short soak of each database, so that the long one cannot rot; and faults that its checker must find."""

import dataclasses
import json

import pytest

import paretopick as pp
from paretopick.storage import open_storage
from paretopick.storage.backups import backup
from soak.calls import make, outcome_of, token_of
from soak.checker import check_calls
from soak.ledger import Call, Ledger, read_ledger
from soak.logs import check_backups, read_logs
from soak.soak import report, soak
from soak.summary import too_long
from soak.trial import Plan


@pytest.mark.sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_short_soak_keeps_every_promise(database, tmp_path):
    """Machines on which tests run may be busy: how long calls take is left to the long soak."""
    plan = Plan(seconds=6, workers=4, patience=3, seed=1, margin=60)
    (outcome,) = soak(plan, (database,), tmp_path, say=lambda _: None)
    assert outcome.faults == []
    assert sum(outcome.counts["disturbances"].values()) > 0
    assert outcome.counts["calls by outcome"]["promised"] > 0
    assert f"| calls by outcome | {database} |" in report([outcome])


class Scribe:
    """Makes calls on a study and writes them into a ledger, as workers do."""

    def __init__(self, folder, url: str) -> None:
        self.folder, self.url = folder / "ledger", url
        self.folder.mkdir()
        self.ledger = Ledger(self.folder, "w0.0", "w0")
        number = self.ledger.begin("create", "s", None, {})
        self.study = pp.Study.create("s", options=["0", "1"], metrics={"x": "max"}, budget=50, policy="apt", storage=url)
        self.ledger.end(number, "promised", {"token": token_of(self.study)})

    def call(self, kind: str, *, said: str | None = None, repeats: str | None = None, study=None, **given):
        """Makes a call; ``said`` is what the ledger says instead of what was answered."""
        study = study or self.study
        number = self.ledger.begin(kind, study.name, token_of(study), given, repeats)
        outcome, answer = outcome_of(lambda: make(study, kind, given, "w0"))
        if said != "killed":
            self.ledger.end(number, said or outcome, answer)
        return answer

    def pretend(self, kind: str, outcome: str, answer=None, **given) -> None:
        """Writes down a call that was never made."""
        number = self.ledger.begin(kind, "s", token_of(self.study), given)
        self.ledger.end(number, outcome, answer)

    def faults(self) -> list[str]:
        logs, faults = read_logs(self.url)
        return faults + list(check_calls(read_ledger(self.folder), logs))


@pytest.fixture
def scribe(tmp_path) -> Scribe:
    """A study with a call of every kind, all of them honest."""
    scribe = Scribe(tmp_path, f"sqlite:///{tmp_path}/studies.db")
    numbers = [number for number, *_ in scribe.call("ask", n=6, lease=60.0, wait=0)]
    assert numbers == [1, 2, 3, 4, 5, 6]
    scribe.call("tell", number=1, values=[0.125])
    scribe.call("tell", number=2, values=[0.25], request="mine")
    scribe.call("tell", number=2, values=[0.25], request="mine", repeats="w0.0:4")
    scribe.call("tell", number=3, values=[0.5], said="killed")
    scribe.call("fail", number=4, why="failed by w0.0/1")
    scribe.call("void", number=1, why="voided by w0.0/2")
    scribe.call("add", rows=[("0", [0.75]), ("1", [0.875])], request="rows")
    scribe.call("record", told=[(5, [0.375])], failed=[], added=[("0", [0.0625])])
    scribe.call("renew", numbers=[6], lease=9.0)
    scribe.call("release", numbers=[])
    scribe.call("extend", budget=60)
    scribe.call("retire", option="1", why="retired by w0.0/3")
    scribe.call("tell", number=2, values=[7.0])
    return scribe


def test_what_was_honest_has_no_faults(scribe):
    assert scribe.faults() == []
    assert {call.outcome for call in read_ledger(scribe.folder)} == {"promised", "refused", "killed"}


@pytest.mark.parametrize(
    "kind, given, said",
    [
        ("tell", {"number": 6, "values": [0.9]}, "does not have told"),
        ("tell", {"number": 1, "values": [0.9]}, "does not have told"),
        ("fail", {"number": 6, "why": "failed by w0.0/9"}, "does not have failed"),
        ("fail", {"number": 6, "why": "failed by w0.0/9", "worker": "w0"}, "does not have failed"),
        ("void", {"number": 2, "why": "voided by w0.0/9"}, "does not have voided"),
        ("retire", {"option": "0", "why": "retired by w0.0/9"}, "does not have retired"),
        ("extend", {"budget": 70}, "does not have extended"),
    ],
)
def test_a_promise_that_was_not_kept_is_found(scribe, kind, given, said):
    scribe.pretend(kind, "promised", **given)
    assert [said in fault for fault in scribe.faults()] == [True]


def test_lost_rows_and_a_lost_release_are_found(scribe):
    scribe.pretend("add", "promised", [20], rows=[["0", [0.3]]])
    scribe.pretend("release", "promised", [2], numbers=[2])
    faults = scribe.faults()
    assert any("does not have added" in fault for fault in faults)
    assert any("was promised [2], and study 's' does not have it" in fault for fault in faults)


def test_rows_added_twice_are_found(scribe):
    scribe.study.add([("0", [0.75]), ("1", [0.875])])
    assert sum("2 times" in fault for fault in scribe.faults()) == 2


def test_a_call_that_was_told_otherwise_is_found(scribe):
    (first, _, _), *_ = scribe.call("ask", n=1, lease=60.0, wait=0)
    scribe.call("tell", number=first, values=[0.9], said="failed")
    assert ["though call" in fault and "not stored" in fault for fault in scribe.faults()] == [True]


def test_what_nobody_sent_is_found(scribe):
    scribe.study.add([("0", [0.99])])
    assert ["which nobody sent" in fault for fault in scribe.faults()] == [True]


def test_a_call_stored_in_part_is_found(scribe):
    scribe.pretend("add", "unknown", {"request": "r"}, rows=[["0", [0.99]], ["1", [0.98]]])
    scribe.study.add([("0", [0.99])])
    assert any("stored in part: 1 of 2" in fault for fault in scribe.faults())


def test_another_answer_to_the_same_request_is_found(scribe):
    add = next(call for call in read_ledger(scribe.folder) if call.kind == "add")
    number = scribe.ledger.begin("add", "s", add.token, add.given, add.id)
    scribe.ledger.end(number, "promised", [1, 2])
    assert any("answered otherwise" in fault for fault in scribe.faults())


def test_a_measurement_left_out_with_a_worker_that_was_not_killed_is_found(scribe):
    scribe.call("ask", n=1, lease=60.0, wait=0)
    assert ["which gave everything back" in fault for fault in scribe.faults()] == [True]
    logs, _ = read_logs(scribe.url)
    assert list(check_calls(read_ledger(scribe.folder), logs, killed={"w0"})) == []


def test_a_study_that_was_written_to_after_its_end_is_found(scribe):
    number = scribe.ledger.begin("create", "s", None, {})
    scribe.ledger.end(number, "promised", {"token": "another"})
    scribe.pretend("tell", "promised", number=2, values=[0.25])
    faults = scribe.faults()
    assert any("though its study was gone" in fault for fault in faults)
    assert any("are not there any more, and 0 were deleted" in fault for fault in faults)


@pytest.mark.parametrize("change", ["a value", "an event", "a lease", "a number", "a checkpoint"])
def test_a_database_that_was_tampered_with_is_found(scribe, change):
    scribe.call("ask", n=1, lease=60.0, wait=0)
    logs, _ = read_logs(scribe.url)
    log = logs[0]
    match change:
        case "a value":
            told = next(event for event in log.events if event.number == 2)
            log.events[told.position - 1] = told._replace(measured=[0.26])
            said = "which nobody sent"
        case "an event":
            del log.events[3]
            said = "positions of study 's' are not 1 to"
        case "a lease":
            log.leases.clear()
            said = "was lost"
        case "a number":
            log.next_number -= 1
            said = "the next one"
        case "a checkpoint":
            with open_storage(scribe.url).database.writing() as connection:
                connection.exec_driver_sql(
                    "INSERT INTO paretopick_checkpoints (study_id, position, head, state, hash) VALUES (1, 1, '', '{}', '')"
                )
            assert any("the checkpoint of study 's' does not fit" in fault for fault in scribe.faults())
            return
    assert any(said in fault for fault in check_calls(read_ledger(scribe.folder), logs, killed={"w0"}))


def test_a_changed_value_in_the_database_is_found(scribe):
    with open_storage(scribe.url).database.writing() as connection:
        connection.exec_driver_sql("UPDATE paretopick_events SET measured = '[0.26]' WHERE number = 2")
    assert any("cannot be read" in fault for fault in scribe.faults())


def test_a_backup_of_what_never_was_is_found(scribe, tmp_path):
    backup(scribe.url, tmp_path / "early.db")
    scribe.call("void", number=2, why="voided by w0.0/9")
    logs, _ = read_logs(scribe.url)
    assert list(check_backups([tmp_path / "early.db"], logs)) == []
    logs[0].events[2] = logs[0].events[2]._replace(measured=[0.26])
    assert ["never was like that" in fault for fault in check_backups([tmp_path / "early.db"], logs)] == [True]


def test_a_check_that_finds_something_is_found(scribe):
    number = scribe.ledger.begin("check", "", None, {})
    scribe.ledger.end(number, "promised", ["study 's', event 3: it was changed"])
    assert ["found what nobody has done" in fault for fault in scribe.faults()] == [True]


def test_a_call_that_took_too_long_is_found():
    call = Call("w0.0:1", "w0", 7, "ask", "s", "t", {"wait": 0.5}, at=100.0, until=120.0, outcome="promised")
    assert len(list(too_long([call], [], limit=11.0))) == 1
    assert list(too_long([call], [(7, 90.0, 110.0)], limit=11.0)) == []
    assert len(list(too_long([call], [(8, 90.0, 110.0)], limit=11.0))) == 1
    assert list(too_long([dataclasses.replace(call, until=None)], [], limit=11.0)) == []


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path):
    ledger = Ledger(tmp_path, "w0.0", "w0")
    ledger.end(ledger.begin("tell", "s", "t", {"number": 1}), "promised", None)
    ledger.begin("tell", "s", "t", {"number": 2})
    with (tmp_path / "w0.0.jsonl").open("a") as file:
        file.write(json.dumps({"end": 2, "until": 0.0})[:9])
    assert [(call.given["number"], call.outcome) for call in read_ledger(tmp_path)] == [(1, "promised"), (2, "killed")]
