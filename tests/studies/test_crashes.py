"""What goes wrong in real life: processes killed, disks full, servers that vanish. Nothing is mocked."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.studies.state import new_state
from support.twin import Twin, replayed_answer

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.mark.sample(2)
@pytest.mark.slow
def test_eight_workers_killed_again_and_again_complete_the_study(url, tmp_path):
    complete_under_fire(url, ("ege-sr", {}), tmp_path)


@pytest.mark.slow
def test_so_they_do_with_a_policy_that_decides_all_the_time(tmp_path):
    complete_under_fire(f"sqlite:///{tmp_path}/studies.db", ("apt", {"batch": 12}), tmp_path)


def complete_under_fire(url: str, policy, tmp_path: Path) -> None:
    options, budget = [str(i) for i in range(12)], 400
    study = pp.Study.create("s", options=options, metrics={"x": "max", "y": "min"}, budget=budget, policy=policy, storage=url)
    promises = tmp_path / "promises"
    promises.mkdir()
    command = [sys.executable, str(SUPPORT / "kills.py"), url, "s", str(promises), "1", "0.03"]
    outcome = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=200).stdout)
    assert outcome["kills"] >= 10
    assert outcome["codes"] == [0] * 8

    schedule = getattr(study.definition.new_policy(), "schedule", None)
    asked_for = budget if schedule is None else schedule.cost
    events = study.events()
    assert budget - len(options) < asked_for <= budget
    assert study.done
    assert study.used == asked_for
    assert [event.position for event in events] == list(range(1, asked_for + 1))
    assert {event.kind for event in events} == {"told"}
    assert len({event.number for event in events}) == asked_for
    told = {event.number: [event.number, options[event.arm], event.measured] for event in events}
    promised = [json.loads(line) for file in promises.iterdir() for line in file.read_text().splitlines() if line.endswith("]")]
    assert all(told[number] == [number, option, values] for number, option, values in promised)  # none lost
    assert len(promised) > asked_for * 0.8

    replay = new_state(study.definition)
    replay.apply(events)
    opened = pp.Study.open("s", storage=url)
    assert replay.to_dict() == study._state.to_dict() == opened._state.to_dict()
    assert study.result() == opened.result()
    # Not of the result, which without rounds goes by probabilities and not by means: values are random, and so it is at times
    # another answer than the policy's.
    assert [options[arm] for arm in study._state.front()] == replayed_answer(study)


def test_a_study_continued_after_a_crash_asks_what_an_uninterrupted_one_would(url):
    """Killed between any two steps and opened anew: the same questions in the same order."""

    def options_asked(interrupted: bool) -> list[tuple[int, str, int]]:
        name = f"interrupted {interrupted}"
        study = pp.Study.create(name, options=["a", "b", "c", "d"], metrics={"x": "max", "y": "min"}, budget=50, storage=url)
        asked = []
        while not study.done:
            if interrupted:
                study = pp.Study.open(name, storage=url)
            todos = study.ask(3, worker="w")
            if interrupted and len(asked) % 2:  # crashed after asking
                study = pp.Study.open(name, storage=url)
                again = study.ask(3, worker="w")
                assert [todo.number for todo in again] == [todo.number for todo in todos]
            for todo in todos:
                asked.append((todo.number, todo.option, todo.round))
                study.tell(todo.number, [len(asked) % 7, ord(todo.option) % 5 + len(asked) % 3])
        return asked

    assert options_asked(interrupted=True) == options_asked(interrupted=False)


WRITER = """
import sys, paretopick as pp
study = pp.Study.open("s", storage=sys.argv[1])
while True:
    for todo in study.ask(worker="w"):
        study.tell(todo.number, [1.0, 2.0])
        print(todo.number, flush=True)
"""


@pytest.mark.slow
def test_what_was_told_before_a_kill_is_there_after_it(url):
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10**6, storage=url)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True)
        for _ in range(10):
            process.stdout.readline()
        process.kill()
        acknowledged = [int(line) for line in process.stdout.read().split()]
        process.wait()
        process.stdout.close()
        told = {event.number for event in study.events()}
        assert set(acknowledged) <= told
        assert len(told) == study.used


AMENDER = """
import random, sys, paretopick as pp
study, chance = pp.Study.open("s", storage=sys.argv[1]), random.Random(int(sys.argv[2]))
while True:
    for todo in study.ask(3, worker="w"):
        study.tell(todo.number, {"x": chance.random(), "y": None if chance.random() < 0.2 else 1.0, "plate": todo.number % 3})
    number = chance.choice([row["number"] for row in study.measurements() if row["status"] == "told"])
    what = chance.randrange(6)
    if what == 0:
        study.correct(number, [chance.random(), 2.0], "misread")
        print("corrected", number, flush=True)
    elif what == 1:
        study.void([number], "spilt")
        print("voided", number, flush=True)
    elif what == 2:
        study.add_option(f"o{len(study.options)}")
        print("joined", len(study.options) - 1, flush=True)
    elif what == 3:
        study.extend(budget=study.budget + 1)
        print("extended", study.budget, flush=True)
    elif study.status()["retired"]:
        study.reinstate("a", "back")
        print("reinstated", 0, flush=True)
    else:
        study.retire("a", "gone")
        print("retired", 0, flush=True)
"""


@pytest.mark.sample(2)
@pytest.mark.slow
def test_amendments_before_a_kill_are_there_after_it_whole(url):
    """Killed at any moment: what was acknowledged is in the log, and the state is what follows from it."""
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10**5, storage=url)
    kinds = set()
    for seed in range(3):
        process = subprocess.Popen([sys.executable, "-c", AMENDER, url, str(seed)], stdout=subprocess.PIPE, text=True)
        for _ in range(15):
            process.stdout.readline()
        process.kill()
        lines = [line.split() for line in process.stdout.read().splitlines()]
        process.wait()
        process.stdout.close()
        events = study.events()
        log = {(event.kind, event.number or event.arm or (event.details or {}).get("budget", 0)) for event in events}
        assert {(line[0], int(line[1])) for line in lines if len(line) == 2} <= log
        kinds |= {event.kind for event in events}
        opened = pp.Study.open("s", storage=url)
        replay = new_state(opened._live.definition)
        replay.apply(events)
        assert replay.to_dict() == opened._state.to_dict()
        study.used  # noqa: B018 -- what others did is taken in
        assert study._state.to_dict() == replay.to_dict()
    assert {"told", "corrected", "voided", "joined", "extended", "retired"} <= kinds


WRONG_CLOCK = """
import sys, time
right = time.time
time.time = lambda: right() + float(sys.argv[2])
import paretopick as pp
study = pp.Study.open("s", storage=sys.argv[1])
print(*(todo.number for todo in study.ask(2, worker="wrong clock", lease=1000)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("days", [-1, 1])
def test_a_worker_whose_clock_is_a_day_off_takes_what_ran_out_and_nothing_else(server, days):
    url = server.new_database()
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=100, storage=url)
    study.ask(worker="slow", lease=1000)
    study.ask(worker="gone", lease=0.05)
    time.sleep(0.1)
    command = [sys.executable, "-c", WRONG_CLOCK, url, str(86400 * days)]
    asked = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert asked.split() == ["2", "3"]  # what ran out, and a new one
    left = {lease["number"]: lease["seconds_left"] for lease in study.status()["out"]}
    assert set(left) == {1, 2, 3}
    assert all(800 < seconds <= 1000 for seconds in left.values())


DISK = """
import json, os, sys
import paretopick as pp
folder = sys.argv[1]
filler = os.path.join(folder, "filler")
storage = os.path.join(folder, "s.db")
study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=1000, storage=storage)
for todo in study.ask(40):
    study.tell(todo.number, [1.0, 2.0])
todos = study.ask(900)
with open(filler, "wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 4096)
    except OSError:
        pass
told, problem = 0, None
for todo in todos:
    try:
        study.tell(todo.number, [1.0, 2.0])
        told += 1
    except pp.StorageFailed as error:
        problem = str(error)
        break
before = study.used if problem else None
os.unlink(filler)
study.tell(todo.number, [1.0, 2.0])
again = pp.Study.open("s", storage=storage)
for todo in todos:
    again.tell(todo.number, [1.0, 2.0])
replayed = len(again.events())
print(json.dumps({"problem": problem, "told": told, "before": before, "used": again.used, "events": replayed}))
"""


@pytest.mark.slow
def test_a_full_disk_is_a_clear_error_and_the_study_goes_on_when_there_is_room(tmp_path):
    """A file system of six megabytes, in a name space of its own."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a file system; the next test fills a limit instead of a disk")
    folder = tmp_path / "small"
    folder.mkdir()
    inner = f'mount -t tmpfs -o size=6m tmpfs {folder} && exec {sys.executable} -W error -c "$0" {folder}'
    outcome = subprocess.run(["unshare", "-rm", "sh", "-c", inner, DISK], capture_output=True, text=True, timeout=120)
    assert outcome.returncode == 0, outcome.stderr
    record = json.loads(outcome.stdout)
    assert "cannot be used: database or disk is full" in record["problem"]
    assert record["before"] == 40 + record["told"]
    assert record["used"] == record["events"] == 940


LIMITED = """
import json, resource, sys
import paretopick as pp
study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10000, storage=sys.argv[1])
todos = study.ask(3000)
study.tell(todos[0].number, [1.0, 2.0])
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, most))
told, problem = 1, None
for todo in todos[1:]:
    try:
        study.tell(todo.number, [1.0, 2.0])
        told += 1
    except pp.StorageFailed as error:
        problem = str(error)
        break
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
used = study.used
study.tell(todo.number, [1.0, 2.0])
print(json.dumps({"problem": problem, "told": told, "used": used, "after": pp.Study.open("s", storage=sys.argv[1]).used}))
"""


@pytest.mark.slow
def test_a_write_that_the_system_refuses_loses_nothing(tmp_path):
    """Files may not grow beyond a limit, which the log of SQLite reaches in the middle of a tell."""
    command = [sys.executable, "-W", "error", "-c", LIMITED, str(tmp_path / "s.db")]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert outcome.returncode == 0, outcome.stderr
    record = json.loads(outcome.stdout)
    assert "cannot be used" in record["problem"]
    assert record["used"] == record["told"]
    assert record["after"] == record["told"] + 1


@pytest.mark.slow
def test_a_server_that_vanishes_in_the_middle_of_tell(server):
    url = server.new_database()
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=100, storage=url)
    first, second = study.ask(2)
    study.tell(first.number, [1, 2])
    failures = []

    def tell() -> None:
        try:
            study.tell(second.number, [3, 4])
        except pp.StorageFailed as problem:
            failures.append(str(problem))

    blocker = server.connect(url)
    blocker.execute("BEGIN")
    blocker.execute("SELECT * FROM paretopick_studies FOR UPDATE")
    thread = threading.Thread(target=tell)
    thread.start()
    time.sleep(0.3)  # it waits for the row, in the middle of its transaction
    assert thread.is_alive()
    server.stop()
    thread.join(30)
    blocker.close()
    assert len(failures) == 1
    assert "cannot be used: " in failures[0]
    assert "try again" in failures[0]
    with pytest.raises(pp.StorageFailed, match="cannot be used"):
        study.ask()
    server.start()
    study.tell(second.number, [3, 4])
    assert study.used == 2
    study.tell(second.number, [3, 4])
    assert pp.Study.open("s", storage=url).used == 2


def test_a_sqlite_file_that_somebody_else_holds_is_waited_for_and_then_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("paretopick.storage.dialects.PATIENCE", 0.2)
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max"}, budget=10, storage=tmp_path / "s.db")
    (todo,) = study.ask()
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(pp.StorageFailed, match="database is locked"):
            study.tell(todo.number, [1])
        other.execute("ROLLBACK")
    study.tell(todo.number, [1])
    assert study.used == 1


def test_the_literal_twin_notices_a_difference():
    """That the comparison above can fail: a log with one value changed has another state."""
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max"}, budget=10, storage="sqlite://")
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, [1.0 if todo.option == "a" else 0.0])
    events = study.events()
    changed = [event._replace(measured=[9.0]) if event.arm == 1 else event for event in events]
    assert Twin(study.definition, changed).policy.recommend().tolist() == [1]
    assert replayed_answer(study) == ["a"]
