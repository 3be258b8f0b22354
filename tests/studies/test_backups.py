"""Backups are whole and consistent whatever happens meanwhile; what is restored goes on, and what it replaces is gone."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sql

import paretopick as pp
from paretopick.storage import MemoryStorage, backups, dialects, open_storage, records, schema
from paretopick.storage.backups import backup, restore
from paretopick.studies import live
from paretopick.studies.checks import check_storage
from paretopick.studies.imports import import_table
from paretopick.studies.tables import sheet
from support.proxies import Proxy

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "release-0.1"
EXPECTED = json.loads((DATA / "studies.json").read_text())


def study_in(url, name="s", *, told=8) -> pp.Study:
    """A study with some events of most kinds; two measurements are out with a sheet."""
    study = pp.Study.create(
        name, options=["a", "b", "ü"], metrics={"quality": "max", "cost": "min"}, budget=90, storage=open_storage(url)
    )
    for todo in study.ask(told + 1, worker="w")[:-1]:
        study.tell(todo.number, (todo.number / 7, 0.1 * todo.number))
    study.fail(told + 1, "it broke: 'x'")
    study.void(2, "wrong")
    study.add([("a", (1, 2)), ("b", (3, 4))])
    study.ask(2, worker="sheet", lease=None)
    return study


def contents(storage, name="s") -> tuple:
    """All that there is to know of a study, but for its id and its token."""
    storage = open_storage(storage)
    stored = storage.find(name)
    study = pp.Study.open(name, storage=storage)
    with storage.reading(stored) as transaction:
        out, number, end = transaction.leases(), transaction.next_number, transaction.end
    return stored.definition, stored.created, study.events(), study.result(), out, number, end


def test_all_studies_are_in_a_backup_which_is_a_storage_itself(url, tmp_path):
    study_in(url, "s")
    study_in(url, "t", told=4)
    file = tmp_path / "backup.db"
    written = backup(url, file)
    assert (written.path, written.studies, written.events) == (str(file), ("s", "t"), 13 + 9)
    assert os.listdir(file.parent).count("backup.db") == 1
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
    with contextlib.closing(sqlite3.connect(file)) as connection:  # one file, which can be read where nobody may write
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert check_storage(file).findings == ()
    assert check_storage(file).events == 22
    for name in ("s", "t"):
        assert contents(file, name) == contents(url, name)


def test_from_a_file_to_a_server_and_back_nothing_changes(tmp_path, server, monkeypatch):
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 5)
    first, second, third = f"sqlite:///{tmp_path / 'first.db'}", server.new_database(), f"sqlite:///{tmp_path / 'third.db'}"
    study_in(first, "s").retire("ü", "no longer made")
    study_in(first, "t", told=4)
    backup(first, tmp_path / "one.db")
    restore(tmp_path / "one.db", second)
    backup(second, tmp_path / "two.db")
    restore(tmp_path / "two.db", third)
    for name in ("s", "t"):
        assert contents(first, name) == contents(second, name) == contents(third, name)
    for url in (first, second, third):
        assert check_storage(url).findings == ()


def length(storage) -> int:
    with storage.reading(storage.find("s")) as transaction:
        return transaction.n_events


def test_a_backup_made_while_eight_write_is_a_part_of_the_log_from_its_start(url, tmp_path):
    storage = open_storage(url)
    study = pp.Study.create("s", options=["a", "b", "c"], metrics={"m": "max"}, budget=10_000, storage=storage)
    study.add([("c", (4.0,))] * 2000)
    stop = threading.Event()
    failures = []

    def work(worker: str) -> None:
        try:
            with contextlib.closing(pp.Study.open("s", storage=url)) as study:
                while not stop.is_set():
                    for todo in study.ask(2, worker=worker):
                        study.tell(todo.number, (1.0,))
                    study.add([("a", (2.0,)), ("b", (3.0,))])
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    files, lengths = [tmp_path / f"{i}.db" for i in range(4)], []
    for file in files:
        before = length(storage)
        while length(storage) < before + 50 and not failures:
            time.sleep(0.01)
        lengths.append(backup(url, file).events)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    final = study.events()
    assert 2050 <= lengths[0] < lengths[1] < lengths[2] < lengths[3] <= len(final)
    for file, n in zip(files, lengths, strict=True):
        assert check_storage(file).findings == ()
        assert pp.Study.open("s", storage=file).events() == final[:n]


def test_pages_are_put_together(url, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_EVENTS", records._EVENTS.limit(4))
    monkeypatch.setattr(records, "_LEASES", records._LEASES.limit(1))
    study_in(url)
    backup(url, tmp_path / "backup.db")
    restore(tmp_path / "backup.db", tmp_path / "new.db")
    assert contents(tmp_path / "new.db") == contents(url)


def test_progress_is_told_for_long_logs(url, tmp_path, monkeypatch):
    monkeypatch.setattr(backups, "PAGE", 4)
    study_in(url)
    told = []
    backup(url, tmp_path / "backup.db", progress=lambda *what: told.append(what))
    restore(tmp_path / "backup.db", tmp_path / "new.db", progress=lambda *what: told.append(what))
    assert {doing for doing, *_ in told} == {"copying", "verifying", "restoring"}
    assert ("verifying", 13, 13) in told
    assert ("restoring", 13, 13) in told


def test_a_backup_is_not_written_where_it_would_do_harm(url, tmp_path):
    study_in(url).close()
    file = tmp_path / "backup.db"
    file.write_text("precious")
    with pytest.raises(pp.InvalidInput, match=r"backup\.db is there already"):
        backup(url, file)
    assert file.read_text() == "precious"
    backup(url, file, overwrite=True)
    assert check_storage(file).studies == ("s",)
    with pytest.raises(pp.InvalidInput, match="there is no folder"):
        backup(url, tmp_path / "nowhere" / "backup.db")
    with pytest.raises(pp.InvalidInput, match="is a folder; name a file in it"):
        backup(url, tmp_path, overwrite=True)
    (tmp_path / "backup.db-wal").write_text("")
    with pytest.raises(pp.InvalidInput, match=r"backup\.db-wal is there, so somebody uses"):
        backup(url, file, overwrite=True)
    with pytest.raises(pp.InvalidInput, match="is in memory"):
        backup("sqlite://", tmp_path / "other.db")
    with pytest.raises(pp.InvalidInput, match="is in memory"):
        backup(MemoryStorage(), tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_a_file_is_not_backed_up_onto_itself(tmp_path):
    study_in(tmp_path / "s.db").close()
    (tmp_path / "link.db").symlink_to(tmp_path / "s.db")
    for same in ("s.db", "link.db"):
        with pytest.raises(pp.InvalidInput, match="is the database itself"):
            backup(tmp_path / "s.db", tmp_path / same, overwrite=True)
    assert check_storage(tmp_path / "s.db").studies == ("s",)


def execute(url, statement: str) -> None:
    with contextlib.closing(open_storage(url)) as storage, storage.database.writing() as connection:
        connection.exec_driver_sql(statement)


def test_a_damaged_study_does_not_take_the_place_of_an_older_backup(url, tmp_path):
    study_in(url).close()
    backup(url, tmp_path / "backup.db")
    execute(url, "DELETE FROM paretopick_events WHERE position = 5")
    with pytest.raises(pp.LogDamaged, match="event 5 of study 's'"):
        backup(url, tmp_path / "backup.db", overwrite=True)
    assert check_storage(tmp_path / "backup.db").findings == ()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_studies_that_are_not_damaged_are_backed_up_by_their_names(url, tmp_path):
    for name in ("s", "fine", "other"):
        study_in(url, name).close()
    before = contents(url, "fine")
    execute(url, "DELETE FROM paretopick_events WHERE position = 5 AND study_id = 1")
    with pytest.raises(pp.LogDamaged, match=r"no backup was written: event 5 of study 's' .* by their names: 'fine', 'other'"):
        backup(url, tmp_path / "backup.db")
    with pytest.raises(pp.LogDamaged, match=r"no backup was written: event 5 of study 's'"):
        backup(url, tmp_path / "backup.db", ["s"])
    with pytest.raises(pp.UnknownName, match="no study named 'fin'; did you mean 'fine'"):
        backup(url, tmp_path / "backup.db", ["fin"])
    assert not (tmp_path / "backup.db").exists()
    assert backup(url, tmp_path / "backup.db", ["fine"]).studies == ("fine",)
    checked = check_storage(tmp_path / "backup.db")
    assert (checked.findings, checked.studies) == ((), ("fine",))
    restore(tmp_path / "backup.db", tmp_path / "new.db")
    assert contents(tmp_path / "new.db", "fine") == before


def test_a_file_that_cannot_be_copied_is_named_and_not_its_copy(tmp_path):
    study_in(tmp_path / "s.db").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'paretopick_studies'")
        ((size,),) = connection.execute("PRAGMA page_size")
    content = bytearray((tmp_path / "s.db").read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    (tmp_path / "s.db").write_bytes(content)
    for names in ([], ["s"]):
        with pytest.raises(pp.StorageFailed) as refusal:
            backup(tmp_path / "s.db", tmp_path / "backup.db", names)
        assert re.search(r"s\.db.* database disk image is malformed; .*move it away, with .*s\.db-wal", str(refusal.value))
        assert ".half" not in str(refusal.value)


def test_a_disk_without_room_for_a_backup_is_named(tmp_path, monkeypatch):
    study_in(tmp_path / "s.db").close()
    connect = sqlite3.connect

    def connect_to_little_room(path, *args, **kwargs):
        connection = connect(path, *args, **kwargs)
        if str(path).endswith(".half"):
            connection.execute("PRAGMA max_page_count = 3")  # of which SQLite says the same
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_to_little_room)
    with pytest.raises(pp.StorageFailed) as refusal:
        backup(tmp_path / "s.db", tmp_path / "backup.db")
    assert re.search(rf"s\.db cannot be copied: .* full; the disk of {tmp_path} is full", str(refusal.value))
    assert ".half" not in str(refusal.value)


def test_a_backup_keeps_the_permissions_of_the_one_before(tmp_path):
    study_in(tmp_path / "s.db").close()
    backup(tmp_path / "s.db", tmp_path / "backup.db")
    os.chmod(tmp_path / "backup.db", 0o600)
    backup(tmp_path / "s.db", tmp_path / "backup.db", overwrite=True)
    assert (tmp_path / "backup.db").stat().st_mode & 0o777 == 0o600


def test_whoever_works_on_a_study_that_is_replaced_is_told_that_it_is_gone(url, tmp_path):
    living = study_in(url)
    backup(url, tmp_path / "backup.db")
    living.add([("a", (5, 6))] * 3)
    todo = living.ask(worker="w")[0]
    with pytest.raises(pp.InvalidInput, match="'s' with 13 measurements, of which 3 are not in the backup; nothing was restored"):
        restore(tmp_path / "backup.db", url)
    living.tell(todo.number, (1, 1))
    restored = restore(tmp_path / "backup.db", url, replace=True)
    assert (restored.studies, restored.events, restored.lost) == (("s",), 13, {"s": 4})
    for act in (lambda: living.tell(todo.number, (1, 1)), living.ask, living.status, living.result):
        with pytest.raises(pp.StudyGone, match="the study 's' is gone"):
            act()
    assert contents(url)[:5] == contents(tmp_path / "backup.db")[:5]
    assert open_storage(url).find("s").token != open_storage(tmp_path / "backup.db").find("s").token
    assert check_storage(url).findings == ()


def test_measurements_that_were_out_can_be_told_and_no_number_is_given_twice(url, tmp_path):
    study = study_in(url)
    out = study.ask(2, worker="sheet", lease=None)
    (tmp_path / "sheet.csv").write_text(sheet(study, out))
    backup(url, tmp_path / "backup.db")
    later = study.ask(5, worker="w")
    restore(tmp_path / "backup.db", url, replace=True)
    restored = pp.Study.open("s", storage=url)
    rows = (tmp_path / "sheet.csv").read_text().splitlines()
    filled = [rows[0], *(row.replace(",,", ",0.5,0.25", 1) for row in rows[1:])]
    (tmp_path / "sheet.csv").write_text("\n".join(filled))
    assert import_table(restored, tmp_path / "sheet.csv").told == 2
    assert min(todo.number for todo in restored.ask(3, worker="w")) > max(todo.number for todo in later)
    assert check_storage(url).findings == ()


def test_a_study_that_was_deleted_comes_back_and_goes_on_to_the_same_answer(storage, tmp_path):
    """In every kind of storage; the twin was never away."""

    def finish(study: pp.Study) -> pp.ParetoResult:
        while todos := study.ask(7, worker="sheet"):
            for todo in todos:
                study.tell(todo.number, (todo.number / 7, 0.1 * todo.number))
        return study.result()

    study_in(tmp_path / "twin.db").close()
    backup(tmp_path / "twin.db", tmp_path / "backup.db")
    study_in(storage)
    storage.delete("s")
    restored = restore(tmp_path / "backup.db", storage)
    assert (restored.studies, restored.lost) == (("s",), {})
    study = pp.Study.open("s", storage=storage)
    twin = pp.Study.open("s", storage=tmp_path / "twin.db")
    assert study.events() == twin.events()
    assert finish(study) == finish(twin)
    assert study.done
    study.void(3, "wrong")  # its history is found


def test_memory_takes_over_what_was_kept_and_says_what_is_lost(tmp_path):
    memory = MemoryStorage()
    study_in(tmp_path / "s.db").close()
    restore(tmp_path / "s.db", memory)
    living = pp.Study.open("s", storage=memory)
    (number,) = living.add([("a", (1, 1))])
    with pytest.raises(pp.InvalidInput, match="'s' with 11 measurements, of which 1 is not in the backup"):
        restore(tmp_path / "s.db", memory)
    assert restore(tmp_path / "s.db", memory, replace=True).lost == {"s": 1}
    with pytest.raises(pp.StudyGone):
        living.ask()
    assert pp.Study.open("s", storage=memory).ask()[0].number == number + 1


def test_all_that_were_named_are_restored_or_none(url, tmp_path):
    for name in ("one", "two", "three"):
        study_in(tmp_path / "from.db", name).close()
    with pytest.raises(pp.UnknownName, match="no study named 'four'"):
        restore(tmp_path / "from.db", url, ["one", "four"])
    assert restore(tmp_path / "from.db", url, ["two"]).studies == ("two",)
    with pytest.raises(pp.InvalidInput, match="has 'two' with 10 measurements, of which 0 are not in the backup"):
        restore(tmp_path / "from.db", url)
    assert open_storage(url).names() == ["two"]
    assert restore(tmp_path / "from.db", url, "one").studies == ("one",)
    assert restore(tmp_path / "from.db", url, replace=True).studies == ("one", "three", "two")


def test_another_study_of_the_same_name_is_lost_whole(url, tmp_path):
    study_in(url).close()
    backup(url, tmp_path / "backup.db")
    open_storage(url).delete("s")
    other = pp.Study.create("s", options=["x", "y"], metrics={"m": "max"}, budget=9, storage=url)
    other.add([("x", (1,)), ("y", (2,))])
    assert restore(tmp_path / "backup.db", url, replace=True).lost == {"s": 2}


DAMAGES = {
    "UPDATE paretopick_events SET measured = '[1.0, 1.0]' WHERE position = 4": "event 4 of study 's'",
    "DELETE FROM paretopick_events WHERE position = 13": "event 13 of study 's' is missing",
    "UPDATE paretopick_studies SET definition = replace(definition, '90', '99')": "event 1 of study 's'",
    "UPDATE paretopick_studies SET definition = 'x'": "the definition of study 's' is damaged",
    "UPDATE paretopick_studies SET n_events = 4": "event 5 of study 's' is there, and the study counts fewer",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused_and_nothing_is_written(damage, url, tmp_path):
    study_in(tmp_path / "backup.db").close()
    execute(tmp_path / "backup.db", damage)
    living = study_in(url)
    before = contents(url)
    with pytest.raises(pp.LogDamaged, match="is damaged, and nothing was restored: .*" + DAMAGES[damage]):
        restore(tmp_path / "backup.db", url, replace=True)
    assert contents(url) == before
    assert living.used == pp.Study.open("s", storage=url).used


@pytest.mark.sample(3)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_study_is_replaced_by_its_backup(damage, url, tmp_path):
    study_in(url).close()
    before = contents(url)
    backup(url, tmp_path / "backup.db")
    execute(url, damage)
    restore(tmp_path / "backup.db", url, replace=True)
    assert check_storage(url).findings == ()
    assert contents(url) == before


def test_what_is_no_backup_is_said_and_no_file_is_made(tmp_path):
    (tmp_path / "notes.txt").write_text("dear diary, " * 100)
    with contextlib.closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.execute("CREATE TABLE mine (x)")
    for name, error, message in [
        ("none.db", pp.MissingFile, "there is no backup"),
        ("notes.txt", pp.StorageFailed, "file is not a database"),
        ("empty.db", pp.InvalidInput, "holds no studies"),
    ]:
        with pytest.raises(error, match=message):
            restore(tmp_path / name, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(pp.InvalidInput, match="never held a study"):
        backup(tmp_path / "empty.db", tmp_path / "backup.db")
    study_in(tmp_path / "newer.db").close()
    execute(tmp_path / "newer.db", f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(pp.InvalidInput, match="written by a newer version of paretopick"):
        restore(tmp_path / "newer.db", tmp_path / "new.db")
    study_in(tmp_path / "s.db").close()
    with pytest.raises(pp.InvalidInput, match="is the storage itself"):
        restore(tmp_path / "s.db", tmp_path / "s.db", replace=True)


def test_studies_of_the_release_before_are_restored_and_their_file_is_left_as_it_is(url, tmp_path):
    old = tmp_path / "old.db"
    shutil.copy(DATA / "studies.db", old)
    before = old.read_bytes()
    assert restore(old, url).studies == ("anytime", "done", "halves", "rounds")
    assert backup(old, tmp_path / "backup.db").studies == ("anytime", "done", "halves", "rounds")
    assert old.read_bytes() == before
    for storage in (url, tmp_path / "backup.db"):
        assert check_storage(storage).findings == ()
        for name, expected in EXPECTED.items():
            study = pp.Study.open(name, storage=storage)
            assert [[*event[:8]] for event in study.events()] == expected["events"]
            assert list(study.result().pareto) == expected["pareto"]
            assert [[row["number"], row["option"], row["worker"]] for row in study.status()["out"]] == expected["out"]


def put_back(url, rows: dict[str, list]) -> None:
    """What somebody does who copies an older database over this one."""
    with contextlib.closing(open_storage(url)) as storage, storage.database.writing() as connection:
        for table in reversed(schema.metadata.sorted_tables):
            connection.execute(sql.delete(table))
        for table in schema.metadata.sorted_tables:
            if rows[table.name]:
                connection.execute(sql.insert(table), rows[table.name])


def all_rows(url) -> dict[str, list]:
    with contextlib.closing(open_storage(url)) as storage, storage.database.reading() as connection:
        tables = schema.metadata.sorted_tables
        return {table.name: [dict(row) for row in connection.execute(sql.select(table)).mappings()] for table in tables}


def test_a_log_that_went_back_stops_a_living_worker_and_its_checkpoint_poisons_nobody(url, monkeypatch):
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 5)
    living = study_in(url)
    older, expected = all_rows(url), living.result()
    living.add([("a", (100, -100))] * 20)
    put_back(url, older)
    for act in (lambda: living.add([("b", (1, 1))] * 9), living.ask, living.result):
        with pytest.raises(pp.LogDamaged, match=r"the log of study 's' went back: 34 events were seen, and the database has 13"):
            act()
    study = pp.Study.open("s", storage=url)
    assert study.result() == expected
    study.add([("ü", (7, 7))] * 30)  # as long as before and longer, with other events
    with pytest.raises(pp.LogDamaged, match="event 35 of study 's'"):
        living.add([("b", (1, 1))])
    assert check_storage(url).findings == ()
    assert pp.Study.open("s", storage=url).used == study.used


@pytest.mark.parametrize("replace", [False, True])
def test_if_the_answer_to_the_commit_is_lost_studies_are_restored_once(replace, tcp_server, tmp_path):
    study_in(tmp_path / "s.db").close()
    with Proxy(tcp_server.port) as proxy:
        storage = open_storage(tcp_server.new_database(port=proxy.port))
        if replace:
            study_in(storage).add([("a", (9, 9))])
        proxy.lose_answer_to(b"COMMIT\0")
        restored = restore(tmp_path / "s.db", storage, replace=replace)
        assert proxy.answers_lost == 1
        assert restored.lost == ({"s": 11} if replace else {})
        assert storage.names() == ["s"]
        assert storage.find("s").id == 1 + replace
        assert contents(storage)[2:5] == contents(tmp_path / "s.db")[2:5]


def test_if_nobody_knows_whether_studies_were_restored_the_error_says_so(tcp_server, tmp_path, monkeypatch):
    monkeypatch.setattr(dialects, "PATIENCE", 1.0)
    study_in(tmp_path / "s.db").close()
    with Proxy(tcp_server.port) as proxy:
        storage = open_storage(tcp_server.new_database(port=proxy.port))
        storage.names()
        proxy.lose_answer_to(b"COMMIT\0", swallow=True)
        with pytest.raises(pp.OutcomeUnknown, match="Either all of 's' were restored, or none"):
            restore(tmp_path / "s.db", storage)
        proxy.forward()
        with pytest.raises(pp.InvalidInput, match="has 's' with 10 measurements, of which 0 are not in the backup"):
            restore(tmp_path / "s.db", storage)
