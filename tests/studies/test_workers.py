"""Workers: what they are called, and what happens to those who are called alike, come too late, or are gone."""

import os
import subprocess
import sys
import threading
import warnings

import pytest

import paretopick as pp
from paretopick.studies import workers
from paretopick.studies.workers import is_gone, name_here, own_name

ABOUT = {"options": ["a", "b"], "metrics": {"m": "max"}, "budget": 12}


@pytest.fixture
def study():
    return pp.Study.create("s", storage="sqlite://", **ABOUT)


def another(study):
    """The same study as another process sees it."""
    return pp.Study.open("s", storage=study._live.storage)


def test_threads_and_processes_have_names_of_their_own_by_default(study):
    names = [name_here(), name_here(), own_name()]
    thread = threading.Thread(target=lambda: names.append(name_here()))
    thread.start()
    thread.join()
    assert names[0] == names[1]
    assert len(set(names)) == 3
    assert all(f":{os.getpid()}:" in name for name in names)
    mine = study.ask(2)
    assert [todo.number for todo in study.ask(2)] == [1, 2]  # it finds its work again
    thread = threading.Thread(target=lambda: mine.extend(study.ask(2)))
    thread.start()
    thread.join()
    assert len({todo.number for todo in mine}) == 4
    assert study.renew(mine[0].number) == [mine[0].number]
    assert study.release() == [todo.number for todo in mine[:2]]


def test_whoever_comes_second_under_a_shared_name_is_warned_and_goes_on(study):
    other = another(study)
    (todo,), (same,) = study.ask(worker="w"), other.ask(worker="w")
    assert todo.number == same.number
    assert study.tell(todo.number, [1.0]) is True
    said = r"somebody of the same name was first: measurement 1 was already told m=1;.* need different names"
    with pytest.warns(UserWarning, match=said):
        assert other.tell(same.number, [2.0]) is False
    assert [row["m"] for row in study.measurements()] == [1.0]
    with pytest.raises(pp.AlreadyTold):  # who has told it before has made a mistake
        other.tell(same.number, [3.0])
    with pytest.raises(pp.AlreadyTold):
        study.tell(todo.number, [3.0])
    with pytest.raises(pp.NotDue):
        another(study).fail(todo.number, "it broke")


def test_what_another_one_has_failed_is_not_told_and_what_they_told_does_not_fail(study):
    other = another(study)
    study.ask(2, worker="w")
    other.ask(2, worker="w")
    study.fail(1, "it broke")
    study.tell(2, [1.0])
    with pytest.warns(UserWarning, match=r"measurement 1 was failed \(it broke\)"):
        other.tell([1], [[2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.fail(2, "it broke here")
    assert (study.used, study.status()["failed"]) == (1, 1)


def test_what_one_has_recorded_himself_is_no_race(study):
    study.ask(2, worker="w")
    study.record({1: [1.0]}, {2: "it broke"})
    with pytest.raises(pp.AlreadyTold):
        study.tell(1, [2.0])
    with pytest.raises(pp.NotDue):
        study.tell(2, [2.0])


def test_of_many_told_at_once_those_are_kept_that_nobody_else_has_told(study):
    other = another(study)
    study.ask(3, worker="w")
    other.ask(3, worker="w")
    study.tell(2, [1.0])
    with pytest.warns(UserWarning, match="measurement 2 was already told"):
        other.tell([1, 2, 3], [[5.0], [6.0], [7.0]])
    assert {row["number"]: row["m"] for row in study.measurements()} == {1: 5.0, 2: 1.0, 3: 7.0}


def test_who_was_too_slow_is_refused_as_ever(study):
    (late,) = study.ask(worker="slow", lease=1e-9)
    (taken,) = study.ask(worker="quick")
    assert taken.number == late.number
    study.tell(taken.number, [1.0])
    with pytest.raises(pp.AlreadyTold):
        study.tell(late.number, [2.0])


@pytest.mark.skipif(workers._system() is None, reason="processes cannot be known again here")
def test_what_a_process_had_that_has_ended_is_handed_out_again(study):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = own_name().replace(f":{os.getpid()}:", f":{ended.pid}:")
    assert is_gone(gone)
    assert not is_gone(own_name())
    assert not is_gone(gone.replace(f"{workers._system()}-", "000000-"))  # of another machine, or a container
    assert not is_gone("w1")
    study.ask(12, worker=gone, lease=None)
    other = another(study)
    assert len(other.ask(12)) == 12
    assert {lease["worker"] for lease in study.status()["out"]} == {name_here()}
    assert study.ask(1, worker="w1") == []


LOOP = """
import sys, paretopick as pp
url, name = sys.argv[1:]
more = {"worker": name} if name else {}
study = pp.Study.create("s", options=["a", "b", "c"], metrics={"m": "max"}, budget=24, storage=url, if_exists="open")
sys.stdin.readline()  # both have begun
import random
while not study.done:
    for todo in study.ask(2, wait=60, **more):
        study.tell(todo.number, [random.random()])
print(study.used)
"""


@pytest.mark.sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "w1"])
def test_two_processes_with_the_same_lines_do_not_crash_each_other(tmp_path, name):
    command = [sys.executable, "-c", LOOP, f"sqlite:///{tmp_path / 's.db'}", name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert [out for out, _ in said] == ["24\n", "24\n"]
    study = pp.Study.open("s", storage=tmp_path / "s.db")
    assert len(study.measurements()) == 24
    if not name:
        assert all("same name" not in err for _, err in said)
