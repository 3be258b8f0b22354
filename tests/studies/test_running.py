"""Measuring with workers: threads, processes, failures, interrupts, databases that come and go."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import paretopick as pp
from paretopick.cli.progress import study_bar
from paretopick.storage import open_storage
from paretopick.studies import crew
from paretopick.studies.definition import define
from paretopick.studies.interrupts import Inbox, Stopped
from paretopick.studies.opening import create_or_open
from support.inputs import heed_interrupts

pytestmark = pytest.mark.slow

METRICS = {"quality": "max", "cost": "min"}
TRUTH = {"a": (9.0, 9.0), "b": (5.0, 2.0), "c": (3.0, 8.0), "d": (1.0, 1.0)}
FRONT = ("a", "b", "d")
GIVEN = {"options": list(TRUTH), "metrics": METRICS, "budget": 60}


def measure(option):
    quality, cost = TRUTH[option]
    return {"cost": cost, "quality": quality + np.random.default_rng().normal(0, 0.1)}


@pytest.mark.parametrize("policy", ["ege-sr", "ege-sh", "uniform", "apt", ("ege-gg", {"n_rounds": 2})])
@pytest.mark.parametrize("workers", [1, 3])
def test_identify_in_memory(policy, workers):
    result = pp.identify(measure, list(TRUTH), METRICS, 60, policy=policy, workers=workers, exact=["cost"])
    assert result.done
    assert result.pareto == FRONT
    assert 48 < result.used <= 60


def test_identify_with_processes(tmp_path):
    given = {"workers": 2, "processes": True, "storage": tmp_path / "s.db"}
    result = pp.identify(pid_and_option, [1, 2, 3], {"pid": "max", "x": "max"}, 30, **given)
    assert 3 in result.pareto
    pids = {row["pid"] for row in pp.Study.open("study", storage=tmp_path / "s.db").measurements()}
    assert len(pids) == 2
    assert os.getpid() not in pids


def pid_and_option(option: int) -> list[float]:
    time.sleep(0.02)  # or the first process may have made all before the second one is there
    return [os.getpid(), option]


WITHOUT_DATABASE = """
import sys, paretopick as pp
result = pp.identify(lambda option: [option], [1, 2, 3], {"m": "max"}, 12)
assert result.pareto == (3,), result
print([name for name in ("sqlalchemy", "alembic", "sqlite3") if name in sys.modules])
"""


def test_identify_in_memory_loads_no_database():
    outcome = subprocess.run([sys.executable, "-c", WITHOUT_DATABASE], capture_output=True, text=True, check=True)
    assert outcome.stdout == "[]\n"


def test_options_reach_the_function_as_they_were_given():
    seen = []
    pp.identify(lambda option: seen.append(option) or [option], [1, 2.5], {"m": "max"}, 6)
    assert set(seen) == {1, 2.5}
    seen.clear()
    pp.identify(lambda option: seen.append(option) or [1], {"x": {"level": 1}, "y": {"level": 2}}, {"m": "max"}, 6)
    assert all(option in seen for option in ({"level": 1}, {"level": 2}))
    seen.clear()
    rows = [{"option": "x", "level": 7}, {"option": "y", "level": 8}]
    pp.identify(lambda row: seen.append(row["level"]) or [1], rows, {"m": "max"}, 6)
    assert set(seen) == {7, 8}


def test_an_executor_of_ones_own_is_used_and_left_open():
    with ThreadPoolExecutor(2, thread_name_prefix="mine") as executor:
        names = set()

        def note(option):
            names.add(threading.current_thread().name)
            return measure(option)

        assert pp.identify(note, **GIVEN, workers=executor).pareto == FRONT
        assert all(name.startswith("mine") for name in names)
        assert executor.submit(int, "3").result() == 3


def test_an_exception_is_retried_and_kept(tmp_path):
    calls = Counter()

    def flaky(option):
        calls[option] += 1
        if option == "b" and calls["b"] in (1, 2):
            raise ConnectionError("no route to b")
        return measure(option)

    result = pp.identify(flaky, **GIVEN, storage=tmp_path / "s.db", name="flaky")
    assert result.pareto == FRONT
    assert "2 attempts to measure failed." in result.notes
    study = pp.Study.open("flaky", storage=tmp_path / "s.db")
    failed = [event for event in study.events() if event.kind == "failed"]
    assert [event.details["why"] for event in failed] == ["ConnectionError: no route to b"] * 2
    assert "in flaky\n    raise ConnectionError" in failed[0].details["output"]


def test_an_option_that_always_fails_is_reported_and_the_study_is_intact(tmp_path):
    def broken(option):
        if option == "c":
            raise ValueError("division by cucumber")
        return measure(option)

    given = {**GIVEN, "storage": tmp_path / "s.db"}
    with pytest.raises(
        pp.MeasuringFailed, match="option 'c' failed 3 times in a row, the last time: ValueError: division by cu"
    ) as e:
        pp.identify(broken, **given, workers=2)
    assert isinstance(e.value.__cause__, ValueError)
    study = e.value.study
    assert study.used > 0
    assert study.status()["out"] == []
    assert study.status()["failed"] in (3, 4)  # or the other worker had it, too
    study.retire("c", "cannot be measured")
    assert pp.identify(broken, **given).pareto == FRONT  # goes on where it stopped


def test_failures_count_only_in_a_row():
    calls = Counter()

    def unreliable(option):
        calls[option] += 1
        if option == "b" and calls["b"] % 3:  # works every third time
            raise ConnectionError("no route to b")
        return measure(option)

    result = pp.identify(unreliable, **GIVEN, retries=2)
    assert result.pareto == FRONT
    assert calls["b"] >= 9


def test_no_retries_means_none():
    with pytest.raises(pp.MeasuringFailed, match="failed 1 times"):
        pp.identify(lambda _: 1 / 0, **GIVEN, retries=0)
    with pytest.raises(pp.InvalidInput, match="retries=-1"):
        pp.identify(measure, **GIVEN, retries=-1)
    with pytest.raises(pp.InvalidInput, match="workers=0"):
        pp.identify(measure, **GIVEN, workers=0)


@pytest.mark.parametrize("value, message", [(None, "None is not a measurement"), ({"quality": 1}, "no value for metric 'cost'")])
def test_a_function_that_returns_nonsense_is_told_what_is_wrong(value, message):
    with pytest.raises(pp.MeasuringFailed, match=message):
        pp.identify(lambda _: value, **GIVEN)


def kill_oneself_sometimes(path: str):
    def work(option):
        if option == "b" and not os.path.exists(path):
            with open(path, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        while not os.path.exists(path):  # or all others might be measured before that process has begun
            time.sleep(0.01)
        return measure(option)

    return work


class Fragile:
    """Can be sent to another process; the first time that it measures b, that process dies."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, option):
        return kill_oneself_sometimes(self.path)(option)


def test_a_process_that_is_killed_by_what_it_measures_is_replaced(tmp_path):
    result = pp.identify(Fragile(str(tmp_path / "killed")), **GIVEN, workers=2, processes=True, retries=0)
    assert result.pareto == FRONT
    assert any("failed" in note for note in result.notes)


class BreaksInTwoSteps(Executor):
    """The first two measurements are lost with their process; that of the second comes out a little later."""

    _max_workers = 2

    def __init__(self) -> None:
        self.lost: list[Future] = []

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future: Future = Future()
        if len(self.lost) == 2:
            future.set_result(fn(*args, **kwargs))
            return future
        self.lost.append(future)
        if len(self.lost) == 2:
            threading.Thread(target=self._break).start()
        return future

    def _break(self) -> None:
        for future in self.lost:
            future.set_exception(BrokenExecutor("a process was killed"))
            time.sleep(0.1)


def test_nobody_is_blamed_who_ran_beside_a_process_that_was_killed():
    result = pp.identify(measure, **GIVEN, workers=BreaksInTwoSteps(), retries=0)
    assert result.pareto == FRONT


def test_values_that_can_be_read_once_survive_a_database_that_is_away_for_a_moment(monkeypatch):
    study = pp.Study.create("s", **GIVEN, storage="sqlite://")
    tell, refused = study.tell, []

    def away_once(number, values, **options):
        list(values)
        if not refused:
            refused.append(number)
            raise pp.StorageFailed("the database is away")
        tell(number, values, **options)

    monkeypatch.setattr(study, "tell", away_once)
    result = pp.run_study(study, lambda todo: iter(study.definition.values(measure(todo.option))))
    assert result.pareto == FRONT
    assert study.status()["failed"] == 0


def test_apt_goes_on_with_other_workers_and_not_with_other_options(tmp_path):
    given = GIVEN | {"budget": 40, "storage": tmp_path / "s.db"}
    pp.identify(measure, **given, policy=("apt", {"gamma": 0.5}), workers=2)
    pp.identify(measure, **given | {"budget": 45}, policy=("apt", {"gamma": 0.5}), workers=1)
    with pytest.raises(pp.InvalidInput, match="policy_options is"):
        pp.identify(measure, **given, policy=("apt", {"gamma": 0.9}), workers=1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"options": 5}, "options=5 is not a list"),
        ({"storage": 5}, "storage=5 is no storage"),
        ({"scale": np.array([1.0, 2.0])}, 'must be "noise"'),
        ({"workers": True}, "workers=True is a truth value"),
        ({"workers": 1.5}, "workers=1.5 is not an int"),
    ],
)
def test_bad_arguments_of_identify_are_said_by_name(change, message):
    with pytest.raises(pp.InvalidInput, match=re.escape(message)):
        pp.identify(measure, **GIVEN | change)


def deadly(option):
    if option == "c":
        os.kill(os.getpid(), signal.SIGKILL)
    return measure(option)


def test_an_option_that_kills_every_process_is_the_one_that_is_blamed():
    with pytest.raises(
        pp.MeasuringFailed, match="option 'c' failed 2 times in a row, the last time: BrokenProcessPool"
    ) as problem:
        pp.identify(deadly, **GIVEN, workers=4, processes=True, retries=1)
    assert problem.value.study.status()["out"] == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_function_that_ends_the_program_has_failed(workers):
    with pytest.raises(pp.MeasuringFailed, match="SystemExit: 3") as problem:
        pp.identify(lambda _: sys.exit(3), **GIVEN, workers=workers)
    assert problem.value.study.status()["out"] == []
    assert problem.value.study.status()["failed"] >= 3


def test_crews_in_one_process_have_different_names():
    study = create_or_open("s", define(**GIVEN), "sqlite://")
    made = Counter()

    def count(todo):
        made[todo.number] += 1
        time.sleep(0.005)
        return measure(todo.option)

    threads = [threading.Thread(target=pp.run_study, args=(study, count)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(made.values()) == {1}
    assert len(made) == study.used


def test_values_in_another_order_than_before_are_noticed(tmp_path):
    pp.identify(lambda _: (1, 2), ["a", "b"], {"x": "max", "y": "max"}, 4, storage=tmp_path / "s.db")
    with pytest.raises(pp.InvalidInput, match="metrics is"):
        pp.identify(lambda _: (2, 1), ["a", "b"], {"y": "max", "x": "max"}, 4, storage=tmp_path / "s.db")


def test_whoever_watches_cannot_end_a_run():
    def watch(*_):
        raise pp.StorageFailed("does not answer")

    assert pp.identify(measure, **GIVEN, watch=watch).pareto == FRONT


def test_the_same_call_goes_on_after_an_interrupt(tmp_path):
    calls = []

    def interrupted(option):
        calls.append(option)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return measure(option)

    given = {**GIVEN, "storage": tmp_path / "s.db", "name": "mine"}
    with ThreadPoolExecutor(1) as executor, pytest.raises(KeyboardInterrupt):
        pp.identify(interrupted, **given, workers=executor)
    study = pp.Study.open("mine", storage=tmp_path / "s.db")
    assert study.used == 19
    assert study.status()["out"] == []
    assert pp.identify(measure, **given).pareto == FRONT
    assert len([event for event in study.events() if event.kind == "told"]) == study.used


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ValueError])
def test_what_was_measured_in_memory_is_not_lost_with_an_interrupt_or_a_failure(problem):
    calls = []

    def broken(option):
        calls.append(option)
        if len(calls) >= 20:
            raise problem
        return measure(option)

    with pytest.raises((KeyboardInterrupt, pp.MeasuringFailed)) as caught:
        pp.identify(broken, **GIVEN)
    assert caught.value.study.used == 19
    assert "sys.last_value.study, has 19 measurements" in caught.value.__notes__[0]


def test_a_study_about_something_else_is_not_gone_on_with(tmp_path):
    given = {**GIVEN, "policy": "ege-sr", "storage": tmp_path / "s.db"}
    pp.identify(measure, **given)
    with pytest.raises(
        pp.InvalidInput,
        match=r"another study named 'study' .*: budget is 60 there and 61 here\. .*export of the old study can be imported",
    ):
        pp.identify(measure, **given | {"budget": 61})


def test_a_study_goes_on_with_more_budget_and_more_options(tmp_path):
    study = create_or_open("s", define(**GIVEN), tmp_path / "s.db")
    assert study.definition.policy_options == {}
    assert create_or_open("s", define(**GIVEN | {"budget": 80}), tmp_path / "s.db").budget == 80
    assert create_or_open("s", define(**GIVEN), tmp_path / "s.db").budget == 80  # who asks for less is not in the way
    more = create_or_open("s", define(**GIVEN | {"options": [*GIVEN["options"], "z"]}), tmp_path / "s.db")
    assert more.options == (*GIVEN["options"], "z")
    assert create_or_open("s", define(**GIVEN), tmp_path / "s.db").options == more.options
    for other in ({"options": GIVEN["options"][1:]}, {"policy": ("doubt", {"initial": 3})}, {"policy": "apt"}):
        with pytest.raises(pp.InvalidInput, match="another study named 's'"):
            create_or_open("s", define(**GIVEN | other), tmp_path / "s.db")


def test_two_crews_share_a_study_and_wait_for_each_other(tmp_path):
    results = []

    def crew(name):
        study = create_or_open("s", define(**GIVEN), tmp_path / "s.db")
        results.append(pp.run_study(study, lambda todo: time.sleep(0.01) or measure(todo.option), worker=name))

    threads = [threading.Thread(target=crew, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    study = pp.Study.open("s", storage=tmp_path / "s.db")
    assert results[0] == results[1] == study.result()
    assert study.used == study.budget
    assert {event.worker for event in study.events()} == {"one", "two"}


def test_leases_are_renewed_while_a_measurement_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "SHORT_LEASE", 0.3)
    study = create_or_open("s", define(options=["a", "b"], metrics={"m": "max"}, budget=2, policy="ege-sr"), tmp_path / "s.db")
    thread = threading.Thread(target=pp.run_study, args=(study, lambda _: time.sleep(1.0) or [1.0]))
    thread.start()
    time.sleep(0.2)
    other = pp.Study.open("s", storage=tmp_path / "s.db")
    stolen = []
    while thread.is_alive() and not other.done:
        stolen += [todo.number for todo in other.ask(worker="thief", lease=0.01) if todo.number == 1]
        time.sleep(0.05)
        other.release(*range(2, 100), worker="thief")
    thread.join()
    assert stolen == []
    assert next(event.number for event in study.events() if event.kind == "told") == 1
    assert study.done


def test_a_database_that_is_away_for_a_while_is_waited_for(server):
    url = server.new_database()
    study = create_or_open("s", define(**GIVEN), url)
    thread = threading.Thread(target=pp.run_study, args=(study, lambda todo: time.sleep(0.02) or measure(todo.option)))
    thread.start()
    time.sleep(0.3)
    server.stop()
    time.sleep(0.5)
    server.start()
    thread.join(60)
    assert not thread.is_alive()
    assert study.done
    assert study.used == study.budget


def test_a_database_that_stays_away_is_reported_with_what_was_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "LONGEST_OUTAGE", 0.2)
    study = create_or_open("s", define(**GIVEN), tmp_path / "s.db")

    def spoil(todo):
        for file in tmp_path.iterdir():
            file.write_bytes(b"no longer a database, " * 1000)
        return (1.25, 2.5)

    with pytest.raises(pp.StorageFailed, match=r"Not kept: measurement 1 of '.', \[1\.25, 2\.5\]"):
        pp.run_study(study, spoil)


def test_so_is_all_that_was_measured_at_the_same_time(tmp_path, monkeypatch):
    monkeypatch.setattr(crew, "LONGEST_OUTAGE", 0.2)
    study = create_or_open("s", define(**GIVEN), tmp_path / "s.db")
    together = threading.Barrier(3)

    def spoil(todo):
        if together.wait() == 0:
            for file in tmp_path.iterdir():
                file.write_bytes(b"no longer a database, " * 1000)
        together.wait()
        return iter((1.25, float(todo.number)))

    with pytest.raises(pp.StorageFailed) as failure:
        pp.run_study(study, spoil, workers=3)
    for number in (1, 2, 3):
        assert str(failure.value).count(f"[1.25, {number}.0]") == 1


def test_watch_is_told_of_every_measurement_and_every_failure():
    said = []
    calls = Counter()

    def flaky(option):
        calls[option] += 1
        if option == "d" and calls[option] == 1:
            raise OSError("gone")
        return measure(option)

    result = pp.identify(flaky, **GIVEN, watch=lambda study, sentence: said.append(sentence))
    assert len(said) == result.used + 1
    (sentence,) = filter(None, said)
    assert sentence == "measurement 4 of 'd' failed: OSError: gone"


class Asked(pp.Study):
    """Counts how often somebody wants to know how far it is."""

    times = 0

    def progress(self, **options):
        self.times += 1
        return super().progress(**options)


def test_whoever_shows_progress_looks_at_the_clock_first(capsys):
    storage = open_storage("sqlite://")
    study = Asked(storage, storage.create("s", define(**GIVEN | {"budget": 2000, "policy": "ege-sr"}).to_dict()))
    with study_bar(study) as watch:
        assert pp.run_study(study, lambda todo: measure(todo.option), watch=watch).done
    assert study.used > 1900
    assert 1 <= study.times < 200
    assert capsys.readouterr().err.startswith("1 of 1999: round 1/3, 4 options left, best guess: ")


class Hasty(pp.Study):
    """Is interrupted when measurements are reserved already, and not yet begun."""

    def ask(self, *given, **options):
        super().ask(*given, **options)
        raise KeyboardInterrupt


def test_what_ctrl_c_kept_from_being_begun_is_given_back():
    storage = open_storage("sqlite://")
    study = Hasty(storage, storage.create("s", define(**GIVEN).to_dict()))
    with pytest.raises(KeyboardInterrupt):
        pp.run_study(study, lambda todo: measure(todo.option), abandon=lambda: None)
    assert study.status()["out"] == []


class Interrupted(pp.Study):
    """Ctrl-C is pressed while something is being stored."""

    stored = 0

    def tell_repeats(self, *given, **options):
        if not self.used:
            os.kill(os.getpid(), signal.SIGINT)
        kept = super().tell_repeats(*given, **options)
        self.stored += 1
        return kept


@pytest.mark.parametrize("abandon", [None, lambda: None])
def test_ctrl_c_is_heard_when_nothing_is_half_done(abandon):
    storage = open_storage("sqlite://")
    study = Interrupted(storage, storage.create("s", define(**GIVEN).to_dict()))
    with pytest.raises(KeyboardInterrupt):
        pp.run_study(study, lambda todo: measure(todo.option), abandon=abandon)
    assert study.stored == study.used == 1
    assert study.status()["out"] == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_signals_are_noted_until_somebody_listens_and_the_third_is_heard_at_once():
    inbox = Inbox()
    with inbox.open([signal.SIGTERM, signal.SIGINT]):
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Stopped, match="stopped by SIGTERM"):
            inbox.wait(60)
        with pytest.raises(KeyboardInterrupt) as interrupt:
            inbox.check()
        assert not isinstance(interrupt.value, Stopped)
        inbox.check()
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_what_ignores_a_signal_goes_on_ignoring_it():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        inbox = Inbox()
        with inbox.open([signal.SIGHUP]):
            os.kill(os.getpid(), signal.SIGHUP)
            inbox.check()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_whoever_waits_is_woken():
    inbox, ready = Inbox(), threading.Event()
    thread = threading.Timer(0.1, lambda: (ready.set(), inbox.wake()))
    inbox.wake()  # in vain
    thread.start()
    inbox.wait(600, until=ready.is_set)
    assert ready.is_set()
    thread.join()


def test_a_study_that_is_gone_is_not_waited_for(url):
    study = create_or_open("s", define(**GIVEN), url)
    stopped = threading.Event()

    def gone(todo):
        if todo.number == 2:
            stopped.wait(60)
            return (1, 1)
        pp.Study.delete("s", storage=url)
        create_or_open("s", define(**GIVEN), url)
        return (1.25, 2.5)

    with pytest.raises(pp.StudyGone, match=r"Not kept: measurement 1 of '.', \[1\.25, 2\.5\]"):
        pp.run_study(study, gone, workers=2, abandon=stopped.set)
    assert stopped.is_set()
    assert pp.Study.open("s", storage=url).used == 0


class Forgetful(pp.Study):
    """Stores what it is told, and loses the answer the first time."""

    lost = ()

    def tell_repeats(self, number, *given, **options):
        kept = super().tell_repeats(number, *given, **options)
        self._lose(number, options)
        return kept

    def fail(self, number, *given, **options):
        super().fail(number, *given, **options)
        self._lose(number, options)

    def _lose(self, number, options):
        if number not in self.lost:
            self.lost = (*self.lost, number)
            raise pp.OutcomeUnknown("the answer was lost", options["request"])


def test_what_is_told_again_after_a_lost_answer_counts_once():
    storage = open_storage("sqlite://")
    study = Forgetful(storage, storage.create("s", define(**GIVEN | {"budget": 8}).to_dict()))
    said, calls = [], Counter()

    def flaky(todo):
        calls[todo.option] += 1
        if calls[todo.option] == 1:
            raise ConnectionError("once")
        return measure(todo.option)

    assert pp.run_study(study, flaky, watch=lambda _, sentence: said.append(sentence)).done
    assert len(study.lost) == study.used + 4
    assert Counter(event.kind for event in study.events()) == {"told": study.used, "failed": 4}
    assert {sentence.partition(" ")[0] for sentence in said if sentence} == {"the", "measurement"}
    assert not any("was told" in sentence or "not out" in sentence for sentence in said)


SLOW = """
import sys, time, paretopick as pp

def measure(option):
    open(option, "w").close()
    time.sleep(0.8)
    return [float(ord(option))]

if __name__ == "__main__":
    processes = sys.argv[2] == "processes"
    pp.identify(measure, ["a", "b"], {"m": "max"}, 1000, storage=sys.argv[1], workers=2, processes=processes)
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_ctrl_c_finishes_what_is_measured_or_gives_it_back(tmp_path, times, kind):
    """Typed on a terminal: all processes of the group get it."""
    (tmp_path / "slow.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "slow.py", str(tmp_path / "s.db"), kind],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    while not ((tmp_path / "a").exists() and (tmp_path / "b").exists()):
        time.sleep(0.05)
    start = time.monotonic()
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 10
    assert b"stopping: 2 being measured, finished first" in err
    assert b"KeyboardInterrupt" in err
    study = pp.Study.open("study", storage=tmp_path / "s.db")
    assert study.used == (2 if times == 1 else 0)
    assert study.status()["out"] == []


def test_whom_we_wait_for_is_said(tmp_path):
    study = create_or_open("s", define(**GIVEN), tmp_path / "s.db")
    study.ask(1000, worker="the laboratory", lease=None)
    said = []
    thread = threading.Thread(
        target=pp.run_study, args=(study, lambda _: (1, 1)), kwargs={"watch": lambda _, text: said.append(text)}
    )
    thread.start()
    deadline = time.monotonic() + 30
    while not any(said) and time.monotonic() < deadline:
        time.sleep(0.1)
    for option in TRUTH:
        study.retire(option, "enough")
    thread.join(30)
    (sentence,) = filter(None, said)
    assert re.fullmatch(r"waiting for \d+ measurements? with 'the laboratory', without a limit; .* release them", sentence)


def test_options_that_cannot_be_sent_to_a_process_are_refused_at_once():
    with pytest.raises(pp.InvalidInput, match=r"<function .* cannot be sent to another process"):
        pp.identify(pid_and_option, [1, lambda: 2], {"pid": "max", "x": "max"}, 30, processes=True)


def test_a_function_that_cannot_be_sent_to_a_process_is_refused_at_once():
    with pytest.raises(pp.InvalidInput, match="cannot be sent to another process"):
        pp.identify(lambda _: (1, 1), **GIVEN, workers=2, processes=True)


def test_options_in_one_text_are_refused():
    with pytest.raises(pp.InvalidInput, match="options='abc' is not a list of names"):
        pp.identify(measure, "abc", METRICS, 60)


def order_of(name: str, policy: str) -> list[int]:
    """The options in the order in which a run measures them, the first 20."""
    made = []
    pp.identify(lambda option: made.append(option) or [1.0], range(10), {"m": "max"}, 40, name=name, policy=policy)
    return made[:20]


@pytest.mark.parametrize("policy", ["doubt", "ege-sr", "uniform"])
def test_options_that_are_equally_due_are_measured_in_a_random_order_that_study_and_number_decide(policy):
    first, again, other = order_of("s", policy), order_of("s", policy), order_of("t", policy)
    assert first == again
    assert first != other
    for made in (first, other):
        assert made[:10] != list(range(10)) != made[10:]
        assert sorted(made[:10]) == sorted(made[10:]) == list(range(10))  # they take turns all the same


def test_what_is_handed_out_together_is_in_a_random_order_if_that_is_wanted():
    study = create_or_open("s", define(options=list("abcdefgh"), metrics={"m": "max"}, budget=60), "sqlite://")
    plain = [todo.option for todo in study.ask(12)]
    assert plain == list("abcdefghabcd")
    study.release()
    shuffled = [todo.option for todo in study.ask(12, shuffle=True)]
    assert shuffled[:8] != plain[:8]
    assert (sorted(shuffled[:8]), sorted(shuffled[8:])) == (plain[:8], plain[8:])
    with pytest.raises(pp.InvalidInput, match="shuffle='yes'"):
        study.ask(shuffle="yes")


def test_what_a_policy_has_chosen_comes_first_though_the_rest_is_shuffled():
    study = create_or_open("s", define(options=["near", "nearer", "far"], metrics={"m": "max"}, budget=60), "sqlite://")
    study.add(
        [(option, [value + noise]) for option, value in (("near", 1), ("nearer", 1.1), ("far", -50)) for noise in (-0.5, 0, 0.5)]
    )
    for _ in range(5):
        (todo,) = study.ask(shuffle=True)
        assert todo.option == study._state.definition.options[study._state.proposals(1, {})[0]]
        study.release()


def test_values_that_are_refused_end_it_at_once_since_the_others_would_be_those_that_happen_to_be_fine():
    made = []

    def measure(option):
        made.append(option)
        return {"recall": float(len(made) % 4 > 0), "ms": 1.0}

    with pytest.raises(
        pp.MeasuringFailed, match=r"gave what is refused: .*'recall' is 0.* repair the cause and go on, or retire"
    ):
        pp.identify(measure, ["good", "bad"], {"recall": "max~5%", "ms": "min~5%"}, 100, retries=5)
    assert len(made) == 4
