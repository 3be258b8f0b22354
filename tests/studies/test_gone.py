"""Studies that were deleted, created anew or shadowed by an older copy: nobody writes into something else than was opened."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import paretopick as pp
from paretopick.storage.backups import backup
from paretopick.studies import live

METRICS = {"x": "max", "y": "min"}


def create(url, name="s", **changes) -> pp.Study:
    return pp.Study.create(name, **({"options": ["a", "b", "c"], "metrics": METRICS, "budget": 60} | changes), storage=url)


CALLS = {
    "ask": lambda study, number: study.ask(worker="old"),
    "tell": lambda study, number: study.tell(number, [1.0, 2.0]),
    "fail": lambda study, number: study.fail(number, "it broke"),
    "void": lambda study, number: study.void(number, "wrong"),
    "retire": lambda study, number: study.retire("a", "sold out"),
    "renew": lambda study, number: study.renew(number),
    "release": lambda study, number: study.release(),
    "add": lambda study, number: study.add([("a", [1.0, 2.0])]),
    "record": lambda study, number: study.record({}, {}, [("a", [1.0, 2.0])]),
    "extend": lambda study, number: study.extend(budget=100),
    "used": lambda study, number: study.used,
    "result": lambda study, number: study.result(),
    "events": lambda study, number: study.events(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_study_that_was_created_anew_is_not_written_by_whoever_has_the_old_one(storage, call):
    old = create(storage, policy="apt")
    (todo,) = old.ask()
    pp.Study.delete("s", storage=storage)
    new = create(storage, policy="apt")
    (other,) = new.ask()
    assert other.number == todo.number
    with pytest.raises(pp.StudyGone, match="the study 's' is gone: somebody has deleted it, or created or restored another one"):
        CALLS[call](old, todo.number)
    assert new.events() == []
    assert [row["number"] for row in new.status()["out"]] == [other.number]


def test_ids_are_never_given_twice(storage):
    ids = []
    for _ in range(3):
        ids.append(create(storage)._live.study.id)
        pp.Study.delete("s", storage=storage)
    assert len(set(ids)) == 3


def test_a_process_that_works_on_a_deleted_study_stops_at_once(url):
    """``run_study`` waits out an outage; that a study is gone is none."""
    study = create(url)
    asked = []

    def measure(todo: pp.Measurement) -> list[float]:
        asked.append(todo.number)
        if len(asked) == 5:
            pp.Study.delete("s", storage=url)
            create(url)
        return [1.0, 2.0]

    with pytest.raises(pp.StudyGone):
        pp.run_study(study, measure)
    assert len(asked) == 5
    assert pp.Study.open("s", storage=url).events() == []


STALE = """
import sys, paretopick as pp
study = pp.Study.open("s", storage=sys.argv[1])
print("ready", flush=True)
told = 0
try:
    while True:
        for todo in study.ask(worker="stale"):
            study.tell(todo.number, [1.0, 2.0])
            told += 1
except pp.StudyGone:
    print("gone")
"""


@pytest.mark.sample(2)
@pytest.mark.slow
def test_processes_beside_a_study_that_is_deleted_and_created_anew(url):
    """Neither side fails otherwise than by being told that the study is gone: nobody waits for the other for ever."""
    for _ in range(2):
        create(url, budget=10**6)
        stale = [subprocess.Popen([sys.executable, "-c", STALE, url], stdout=subprocess.PIPE, text=True) for _ in range(3)]
        for process in stale:
            assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        pp.Study.delete("s", storage=url)
        new = create(url)
        assert [process.communicate(timeout=60)[0] for process in stale] == ["gone\n"] * 3
        assert new.events() == []
        pp.Study.delete("s", storage=url)


def test_whoever_deletes_waits_for_whoever_writes_and_the_other_way_round(url):
    """In the same order, so that they cannot wait for each other."""
    storages = [pp.storage.open_storage(url) for _ in range(4)]
    problems, ended = [], threading.Event()

    def write(storage) -> None:
        while not ended.is_set():
            try:
                study = pp.Study.open("s", storage=storage)
                while not ended.is_set():
                    study.add([("a", [1.0, 2.0])])
                    study.ask(worker="w")
                    study.release(worker="w")
            except (pp.StudyGone, pp.UnknownName):
                continue
            except Exception as problem:
                problems.append(problem)
                return

    create(storages[0])
    threads = [threading.Thread(target=write, args=(storage,)) for storage in storages[1:]]
    for thread in threads:
        thread.start()
    for _ in range(12):
        time.sleep(0.02)
        pp.Study.delete("s", storage=storages[0])
        create(storages[0])
    ended.set()
    for thread in threads:
        thread.join(30)
    assert problems == []
    for storage in storages:
        storage.close()


def older_copy(tmp_path, monkeypatch) -> tuple[pp.Study, str]:
    """A study that is open while an older copy of its file is put in its place."""
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 5)
    address = f"sqlite:///{tmp_path / 's.db'}"
    study = create(address, budget=100)
    tell_some(study, 10)
    study.close()
    for file in tmp_path.glob("s.db*"):
        shutil.copy(file, tmp_path / f"old-{file.name}")
    tell_some(study, 10)
    study.close()
    for file in list(tmp_path.glob("s.db*")):
        file.unlink()
    for file in tmp_path.glob("old-*"):
        shutil.copy(file, tmp_path / file.name.removeprefix("old-"))
    return study, address


def tell_some(study: pp.Study, n: int) -> None:
    for todo in study.ask(n, worker="w"):
        study.tell(todo.number, [float(todo.number), 2.0])


def test_a_log_that_went_back_stops_whoever_has_seen_more_of_it(tmp_path, monkeypatch):
    study, address = older_copy(tmp_path, monkeypatch)
    for _ in range(2):
        with pytest.raises(pp.LogDamaged, match="the log of study 's' went back: 20 events were seen, and the database has 10"):
            study.ask(worker="w")
    again = pp.Study.open("s", storage=address)
    assert (again.used, len(again.events())) == (10, 10)
    tell_some(again, 3)
    assert again.used == 13


def test_so_does_one_that_went_on_otherwise(tmp_path, monkeypatch):
    study, address = older_copy(tmp_path, monkeypatch)
    others = pp.Study.open("s", storage=address)
    tell_some(others, 15)
    for _ in range(2):
        with pytest.raises(pp.LogDamaged, match="event 21 of study 's' does not follow from those before it"):
            study.used  # noqa: B018
    fresh = pp.Study.open("s", storage=address)
    assert fresh.used == others.used == 25
    assert fresh._state.to_dict() == others._state.to_dict()


def test_so_does_one_of_the_same_length(tmp_path, monkeypatch):
    study, address = older_copy(tmp_path, monkeypatch)
    others = pp.Study.open("s", storage=address)
    for todo in others.ask(10, worker="w"):
        others.tell(todo.number, [-1.0, -2.0])
    with pytest.raises(pp.LogDamaged, match="event 20 of study 's' does not follow"):
        study.tell(1, [1.0, 2.0])


def test_leases_end_in_time_though_the_clock_was_set_back(url, monkeypatch):
    """On SQLite by a day; the clock of a server cannot be set here, so its last time is moved on instead."""
    study = create(url)
    (todo,) = study.ask(worker="one", lease=60)
    day = 86400.0
    if url.startswith("sqlite"):
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() - day)
    else:
        with study._live.storage.database.writing() as connection:
            connection.exec_driver_sql(f"UPDATE paretopick_studies SET clock = clock + {day}")
            connection.exec_driver_sql(f"UPDATE paretopick_leases SET expires = expires + {day}")
    (left,) = [row["seconds_left"] for row in study.status()["out"]]
    assert 0 < left <= 60
    study.ask(worker="two")  # the first to write notices
    (left, *_) = [row["seconds_left"] for row in study.status()["out"] if row["number"] == todo.number]
    assert 0 < left <= 60


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_removed_or_replaced_under_a_run_stops_it(tmp_path, replaced):
    """Whoever has it open could go on, and all that he stores would be lost with him."""
    address = tmp_path / "s.db"
    study = create(address)
    backup(address, tmp_path / "backup.db")
    numbers = []

    def measure(todo: pp.Measurement) -> list[float]:
        numbers.append(todo.number)
        if len(numbers) == 5:
            if replaced:
                (tmp_path / "backup.db").rename(address)
            else:
                for file in tmp_path.glob("s.db*"):
                    file.unlink()
        return [1.0, 2.0]

    with pytest.raises(pp.StudyGone, match=f"{'replaced' if replaced else 'removed'} while this process had it open.*Not kept"):
        pp.run_study(study, measure)
    assert len(numbers) == 5
    assert address.exists() == replaced


@pytest.mark.parametrize("last", [False, True])
def test_an_answer_comes_from_what_is_stored_and_not_from_what_is_open(tmp_path, last):
    """An older copy is written over the file, which stays the same file for the system."""
    address = tmp_path / "s.db"
    study = create(address)
    planned = study.status()["planned"]
    study.close()
    older = address.read_bytes()
    done = []

    def measure(todo: pp.Measurement) -> list[float]:
        done.append(todo.number)
        if len(done) == 40:
            with contextlib.closing(sqlite3.connect(address)) as other:
                assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        if len(done) == (planned if last else 40):
            address.write_bytes(older)
        return [1.0, 2.0]

    with pytest.raises(pp.StorageFailed):
        pp.run_study(study, measure)
