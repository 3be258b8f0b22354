"""Checks name every sort of damage, where it is; whoever works on a damaged study is stopped, or gets the right answer."""

import contextlib
import json
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.events import Event
from paretopick.storage import open_storage
from paretopick.storage.chain import next_link
from paretopick.studies import live
from paretopick.studies.checks import Checked, check_storage
from support.terminals import call

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "release-0.1"


def eventful_study(url: str, name: str) -> pp.Study:
    """Every kind of event: 13 of them. 8 and 9 are out with w, and the next number is 13."""
    study = pp.Study.create(
        name,
        options=["a", "b", "c"],
        metrics={"quality": "max", "cost": "min"},
        budget=60,
        policy="ege-sr",
        storage=open_storage(url),
    )
    for todo in study.ask(10, worker="w")[:6]:
        study.tell(todo.number, (todo.number, 2.5 * todo.number))
    study.fail(7, "it broke")
    study.void(2, "wrong")
    study.add([("a", (1, 2)), ("b", (3, 4))])
    study.retire("c", "gone")
    study.release(10, worker="w")
    return study


@pytest.fixture
def studies(url, monkeypatch):
    """A database with two studies that have checkpoints, and its address."""
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 5)
    for name in ("s", "other"):
        eventful_study(url, name).close()
    return url


def change(url: str, *statements: str) -> None:
    """Damages study s, whose id is 1."""
    with contextlib.closing(open_storage(url)) as storage, storage.database.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def ask(url: str, query: str) -> list[tuple]:
    with contextlib.closing(open_storage(url)) as storage, storage.database.reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def only_in_s(checked: Checked) -> list[tuple]:
    assert {finding.study for finding in checked.findings} == {"s"}
    assert checked.studies == ("s", "other")
    return [(finding.position, finding.what, finding.harmless) for finding in checked.findings]


def test_a_database_without_damage_is_fine(studies):
    checked = check_storage(studies)
    assert checked.fine
    assert checked.findings == ()
    assert (checked.studies, checked.events, checked.leases) == (("s", "other"), 26, 4)
    assert ask(studies, "SELECT count(*) FROM paretopick_checkpoints") == [(2,)]
    assert check_storage(studies, ["other"]).events == 13
    assert check_storage(open_storage(studies), "other").studies == ("other",)
    with pytest.raises(pp.UnknownName, match="no study named 'othr'; did you mean 'other'"):
        check_storage(studies, ["othr"])


EVENT = "UPDATE paretopick_events SET {} WHERE study_id = 1 AND position = {}"
STUDY = "UPDATE paretopick_studies SET {} WHERE id = 1"
LEASE = "INSERT INTO paretopick_leases VALUES (1, {}, {}, 1, 'w', NULL, FALSE, 0)"
DROP = "DELETE FROM paretopick_events WHERE study_id = 1 AND position {}"

STOPPED = {
    "an event is missing": (DROP.format("= 5"), 5, "event 5 is missing"),
    "several are missing": (DROP.format("IN (4, 5, 6)"), 4, "events 4 to 6 are missing"),
    "the first is missing": (DROP.format("= 1"), 1, "event 1 is missing"),
    "the last is missing": (DROP.format("= 13"), 13, "event 13 is missing"),
    "the last are missing": (DROP.format("> 10"), 11, "events 11 to 13 are missing"),
    "all are missing": (DROP.format("> 0"), 1, "events 1 to 13 are missing"),
    "another value": (EVENT.format("measured = '[9.0, 9.0]'", 4), 4, "it was changed"),
    "another time": (EVENT.format("at = at + 1", 4), 4, "it was changed"),
    "another worker": (EVENT.format("worker = 'me'", 13), 13, "it was changed"),
    "another hash": (EVENT.format("hash = 'x'", 13), 13, "it was changed"),
    "an unknown kind": (EVENT.format("kind = 'tolled'", 3), 3, "tolled: this kind of event is not known here"),
    "values that are not JSON": (EVENT.format("measured = '[1.0,'", 3), 3, "its contents are not JSON: '[1.0,'"),
    "details that are not JSON": (EVENT.format("details = 'why'", 7), 7, "its contents are not JSON: 'why'"),
    "another definition": (STUDY.format("definition = replace(definition, '60', '70')"), 0, "it was changed, or event 1 was"),
    "a definition that is not JSON": (STUDY.format("definition = '{'"), 0, "it cannot be read"),
    "a definition without options": (STUDY.format("definition = '{}'"), 0, "it cannot be read ("),
    "another head": (STUDY.format("head = 'x'"), 13, "it is another one than the last one that the study knows"),
    "too many events": (STUDY.format("n_events = 15"), None, "it counts 15 events, and its log ends rightly with event 13"),
    "too few events": (STUDY.format("n_events = 9"), None, "it counts 9 events, and its log ends rightly with event 13"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("damage", STOPPED)
def test_a_damaged_log_is_named_with_its_place_and_stops_whoever_reads_it(studies, damage):
    statement, position, what = STOPPED[damage]
    change(studies, statement)
    checked = check_storage(studies)
    assert not checked.fine
    found = only_in_s(checked)
    assert any(place == position and what in text for place, text, _ in found), found
    assert all(finding.remedy for finding in checked.findings)
    change(studies, "DELETE FROM paretopick_checkpoints WHERE study_id = 1")
    with pytest.raises(pp.LogDamaged):
        pp.Study.open("s", storage=studies)
    assert pp.Study.open("other", storage=studies).used == 7


@pytest.mark.parametrize(
    "statement, what",
    [
        ("DELETE FROM paretopick_events WHERE position >= 13", "event 13 of study 's' is missing. Nothing"),
        ("UPDATE paretopick_studies SET n_events = 12", "event 13 of study 's' is there, and the study counts fewer. Nothing"),
        ("DELETE FROM paretopick_events WHERE position = 3", "follow from those before it: it was changed or is missing, or"),
    ],
)
def test_what_is_said_of_a_damaged_log_is_what_was_found(statement, what, file):
    change(file, "DELETE FROM paretopick_checkpoints")
    change(file, f"{statement} {'AND study_id = 1' if 'WHERE' in statement else 'WHERE id = 1'}")
    with pytest.raises(pp.LogDamaged) as refusal:
        pp.Study.open("s", storage=file)
    assert what in str(refusal.value)


def test_a_value_that_was_changed_before_a_checkpoint_changes_no_answer_and_is_not_passed_on(studies):
    study = pp.Study.open("s", storage=studies)
    expected = study.result()
    change(studies, EVENT.format("measured = '[900.0, 900.0]'", 4))
    assert pp.Study.open("s", storage=studies).result() == expected
    for living in (study, pp.Study.open("s", storage=studies)):
        with pytest.raises(pp.LogDamaged, match="event 4 of study 's' does not follow"):
            living.measurements()
        with pytest.raises(pp.LogDamaged, match=r"the values of measurement 4 are not those that were told \(event 4\)"):
            living.void(4, "wrong")
    change(studies, EVENT.format("measured = '[4.0, 10.0]'", 4))
    study.void(4, "wrong")
    assert check_storage(studies).findings == ()


def test_a_log_that_is_damaged_in_several_places_is_named_in_all(studies):
    change(
        studies, DROP.format("= 3"), EVENT.format("at = at + 1", 6), EVENT.format("worker = 'me'", 9), STUDY.format("head = 'x'")
    )
    assert [place for place, *_ in only_in_s(check_storage(studies))] == [3, 6, 9, 13]


def test_findings_without_end_are_counted(studies):
    storage = open_storage(studies)
    study = pp.Study.open("s", storage=storage)
    study.add([("a", (1, 2))] * 200)
    change(studies, "UPDATE paretopick_events SET hash = 'x' WHERE study_id = 1")
    *listed, last = check_storage(studies).findings
    assert len(listed) == 100
    assert "further findings not listed" in last.what


CONTENTS = {
    "voided twice": (Event(0, "voided", 2, 1, 1, [2.0, 5.0], {"why": "x"}), "voided: measurement 2 was voided before"),
    "voided what failed": (Event(0, "voided", 7, 0, 1, [2.0, 5.0], {"why": "x"}), "measurement 7 was failed before"),
    "voided what is out": (Event(0, "voided", 8, 0, 1, [2.0, 5.0], {"why": "x"}), "measurement 8 was not told before"),
    "failed what was told": (Event(0, "failed", 1, 0, 1, details={"why": "x"}), "failed: measurement 1 was told before"),
    "a number of nobody": (Event(0, "failed", 13, 0, 1, details={"why": "x"}), "its number is 13, and the next one"),
    "no number": (Event(0, "failed", None, 0, 1, details={"why": "x"}), "its number is None"),
    "no such option": (Event(0, "retired", None, 3, details={"why": "x"}), "its option is 3, and expected was a number below 3"),
    "no option": (Event(0, "retired", None, None, details={"why": "x"}), "its option is None"),
    "retired twice": (Event(0, "retired", None, 2, details={"why": "x"}), "option 2 was retired before"),
    "no reason": (Event(0, "retired", None, 0), "it does not say 'why'"),
    "no budget": (Event(0, "extended", details={}), "it does not say 'budget'"),
    "too few values": (Event(0, "told", 8, 0, 1, [1.0]), "its values are [1.0], and expected were 2 finite numbers"),
    "an infinite value": (Event(0, "told", 8, 0, 1, [1.0, float("inf")]), "its values are [1.0, inf]"),
    "no values": (Event(0, "told", 8, 0, 1), "its values are None"),
    "another digest": (Event(0, "told", 8, 0, 1, [1.0, 2.0], digest="x"), "its digest is 'x', and '"),
    "a digest of a table": (Event(0, "imported", details={"digest": "abc"}), "its digest is None, and 'abc' follows"),
    "a kind of tomorrow": (Event(0, "dreamt"), "dreamt: this kind of event is not known here"),
    "a round of nobody": (Event(0, "failed", 8, 0, 0, details={"why": "x"}), "its round is 0"),
    "given back by nobody": (Event(0, "released", details={"numbers": [99]}), "its number is 99"),
    "no list of numbers": (Event(0, "released", details={"numbers": 8}), "it gives back 8, which is no list"),
    "what cannot follow": (Event(0, "extended", details={"budget": 90}), "nothing can follow from it"),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("contents", CONTENTS)
def test_contents_that_cannot_be_are_named_even_if_the_chain_is_right(contents, studies):
    event, what = CONTENTS[contents]
    storage = open_storage(studies)
    with storage.writing(storage.find("s")) as transaction:
        transaction.append([event])
    (position, text, harmless), *_ = only_in_s(check_storage(studies))
    assert (position, harmless) == (14, False)
    assert what in text


@pytest.mark.parametrize(
    "statement, what",
    [
        (LEASE.format(1, 0), "measurement 1 is out with 'w': it was told already"),
        (LEASE.format(7, 0), "measurement 7 is out with 'w': it was failed already"),
        (LEASE.format(2, 0), "measurement 2 is out with 'w': it was voided already"),
        (LEASE.format(10, 0), "measurement 10 is out with 'w': it was released already"),
        (LEASE.format(13, 0), "measurement 13 is out with 'w': its number is 13, and the next one to be given is 13"),
        ("UPDATE paretopick_leases SET arm = 3 WHERE study_id = 1 AND number = 8", "its option is 3, and expected"),
        (STUDY.format("next_number = 9"), "measurement 9 is out with 'w': its number is 9, and the next one to be given is 9"),
    ],
)  # fmt: skip
def test_what_cannot_be_out_is_named(studies, statement, what):
    change(studies, statement)
    checked = check_storage(studies)
    assert not checked.fine
    assert any(what in text for _, text, _ in only_in_s(checked))


def test_a_lease_on_what_was_told_can_be_given_back_as_the_check_says(studies):
    change(studies, LEASE.format(1, 0))
    (finding,) = check_storage(studies).findings
    assert finding.remedy == "give it back: release it for its worker"
    study = pp.Study.open("s", storage=studies)
    study.release(1, worker="w")
    study.void(1, "it was told all the same")
    assert check_storage(studies).findings == ()


def forge_checkpoint(url: str, *, position: int | None = None, head: str | None = None, **state) -> None:
    """Changes a checkpoint so that its own hash is right."""
    ((at, before, text),) = ask(url, "SELECT position, head, state FROM paretopick_checkpoints WHERE study_id = 1")
    position, head, text = position or at, head or before, json.dumps(json.loads(text) | state)
    values = f"position = {position}, head = '{head}', state = '{text}', hash = '{next_link(head, [position, text])}'"
    change(url, f"UPDATE paretopick_checkpoints SET {values} WHERE study_id = 1")


CHECKPOINTS = {
    "edited": (
        lambda url: change(url, "UPDATE paretopick_checkpoints SET state = replace(state, '1', '2') WHERE study_id = 1"),
        "it was changed",
    ),
    "not JSON": (
        lambda url: change(url, "UPDATE paretopick_checkpoints SET state = 'x' WHERE study_id = 1"),
        "it was changed",
    ),
    "ahead of the log": (lambda url: forge_checkpoint(url, position=99), "the log ends with event 13"),
    "before the log": (lambda url: forge_checkpoint(url, position=-1), "it was changed"),
    "of another log": (lambda url: forge_checkpoint(url, head="x"), "it does not belong to this log"),
    "of another version": (lambda url: forge_checkpoint(url, format=[0, 0]), "another version of paretopick made it"),
}


@pytest.mark.parametrize("damage", CHECKPOINTS)
def test_a_checkpoint_that_does_not_fit_is_a_remark_and_answers_are_right(damage, studies):
    act, what = CHECKPOINTS[damage]
    before = pp.Study.open("s", storage=studies)
    expected = before.result(), before.status()
    act(studies)
    checked = check_storage(studies)
    assert checked.fine
    ((_, text, harmless),) = only_in_s(checked)
    assert harmless
    assert what in text
    after = pp.Study.open("s", storage=studies)
    assert after.result() == expected[0]
    assert after.status()["due"] == expected[1]["due"]


def test_a_checkpoint_is_compared_with_what_follows_from_the_log(studies):
    forge_checkpoint(studies, failed=0)
    ((position, text, harmless),) = only_in_s(check_storage(studies))
    assert "it is not what follows from the log" in text
    assert harmless
    assert [(position,)] == ask(studies, "SELECT position FROM paretopick_checkpoints WHERE study_id = 1")


def test_a_new_study_whose_definition_was_changed_is_named(url):
    pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=9, storage=open_storage(url)).close()
    change(url, STUDY.format("definition = replace(definition, '9', '8')"))
    (finding,) = check_storage(url).findings
    assert str(finding) == (
        "study 's', its definition: it was changed since the study was created; restore the study from a backup."
    )
    with pytest.raises(pp.LogDamaged, match="the definition of study 's' was changed"):
        pp.Study.open("s", storage=url)


def test_a_check_finds_one_state_while_others_write(url):
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=10_000, storage=open_storage(url))
    stop = threading.Event()
    failures = []

    def work(worker: str) -> None:
        try:
            with contextlib.closing(pp.Study.open("s", storage=url)) as mine:
                while not stop.is_set():
                    for todo in mine.ask(3, worker=worker):
                        mine.tell(todo.number, (1.0,))
                    mine.add([("a", (2.0,))])
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    checks = []
    for n in (10, 50, 100, 150):
        while len(study.events()) < n and not failures:
            time.sleep(0.01)
        checks.append(check_storage(url))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [checked.findings for checked in checks] == [()] * 4
    assert checks[-1].events >= 150


def test_pages_are_put_together(studies, monkeypatch):
    from paretopick.storage import records

    monkeypatch.setattr(records, "_EVENTS", records._EVENTS.limit(4))
    monkeypatch.setattr(records, "_LEASES", records._LEASES.limit(1))
    assert check_storage(studies).findings == ()
    assert (check_storage(studies).events, check_storage(studies).leases) == (26, 4)
    change(studies, EVENT.format("worker = 'me'", 5))
    assert [place for place, *_ in only_in_s(check_storage(studies))] == [5]


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """An SQLite database with two studies, closed."""
    path = tmp_path / "studies.db"
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 5)
    for name in ("s", "other"):
        eventful_study(str(path), name).close()
    return path


def test_nothing_is_changed(file, tmp_path):
    shutil.copy(DATA / "studies.db", tmp_path / "before.db")
    for path in (file, tmp_path / "before.db"):
        content = path.read_bytes()
        assert check_storage(path).fine
        assert path.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["before.db", "studies.db"]


def test_a_server_of_the_release_before_is_left_as_it_is(server):
    url = server.new_database()
    with server.connect(url) as connection:
        connection.execute((DATA / "studies.sql").read_text())
        with pytest.raises(pp.InvalidInput, match="written by an older version of paretopick"):
            check_storage(url)
        assert connection.execute("SELECT version_num FROM paretopick_version").fetchall() == [("0001",)]


def test_rows_of_no_study_are_named(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("DELETE FROM paretopick_studies WHERE name = 's'")
        connection.commit()
    found = check_storage(file).findings
    assert all(finding.study is None for finding in found)
    assert "paretopick_events has 13 rows of which paretopick_studies knows nothing" in str(found)


def test_a_file_that_sqlite_cannot_read_is_named_and_what_can_be_read_is_looked_at(file):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'paretopick_leases'")
        ((size,),) = connection.execute("PRAGMA page_size")
    content = bytearray(file.read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    file.write_bytes(content)
    checked = check_storage(file)
    assert not checked.fine
    assert checked.events == 26
    assert f"move it away, with {file}-wal and {file}-shm if they are there, then restore a backup" in str(checked.findings[0])
    with pytest.raises(pp.StorageFailed, match=r"malformed; .* move it away, with .*-wal and .*-shm if they are there"):
        pp.Study.open("s", storage=file).ask()
    assert any(finding.study is None and "SQLite says of it" in finding.what for finding in checked.findings)
    assert {finding.study for finding in checked.findings} == {None, "s", "other"}


def test_what_is_no_database_of_studies_is_said(tmp_path):
    (tmp_path / "notes.txt").write_text("dear diary, " * 100)
    with pytest.raises(pp.StorageFailed, match="file is not a database"):
        check_storage(tmp_path / "notes.txt")
    with pytest.raises(pp.MissingFile, match="there is no database"):
        check_storage(tmp_path / "none.db")
    with pytest.raises(pp.InvalidInput, match="is in memory"):
        check_storage("sqlite://")
    with contextlib.closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.execute("CREATE TABLE mine (x)")
    (tmp_path / "nothing.db").touch()
    for name in ("empty.db", "nothing.db"):
        (finding,) = check_storage(tmp_path / name).findings
        assert (finding.study, finding.what) == (None, "it has no tables of studies")
    pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=9, storage=tmp_path / "ours.db").close()
    pp.Study.delete("s", storage=tmp_path / "ours.db")
    assert check_storage(tmp_path / "ours.db").findings == ()


def test_a_study_whose_definition_cannot_be_read_can_be_deleted(studies):
    change(studies, "UPDATE paretopick_studies SET definition = 'x' WHERE id = 1")
    pp.Study.delete("s", storage=studies)
    assert pp.Study.list(storage=studies) == ["other"]
    with pytest.raises(pp.UnknownName, match="no study named 's'"):
        pp.Study.delete("s", storage=studies)


def test_a_damaged_study_does_not_hide_the_others_in_the_list(studies):
    change(studies, "UPDATE paretopick_events SET measured = '[9.0, 9.0]' WHERE position = 3 AND study_id = 1")
    change(studies, "DELETE FROM paretopick_checkpoints")
    listed = call("status", "--storage", studies)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == ["other", "s"]
    assert "damaged" in listed.stdout
    assert "event 3 of study 's' does not follow" in " ".join(listed.stderr.split())
    states = json.loads(call("status", "--json", "--storage", studies).stdout)
    assert [(state["study"], "problem" in state) for state in states] == [("other", False), ("s", True)]
