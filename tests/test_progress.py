"""How far long work is: a line on terminals and in notebooks, after a moment, gone at the end; nothing where scripts write."""

import contextlib
import re
import threading

import pytest

import paretopick as pp
from paretopick._progress import Line, clock, nothing_else_shown, progress_line
from support.terminals import Stream, python_on_a_terminal

BANDIT = pp.Bandit([[0.0, 1.0], [1.0, 0.0], [0.2, 0.2]], noise=pp.Gaussian(std=0.3))
ERASE = "\x1b[2K"


@pytest.fixture
def terminal(monkeypatch):
    """What stands for standard error as if it were a terminal: what is written there is ``.text()``. No work is long."""
    monkeypatch.setattr("paretopick._progress.SOON", 600.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Stream(True)


@pytest.fixture
def any_work_is_long(terminal, monkeypatch):
    monkeypatch.setattr("paretopick._progress.SOON", 0.0)


@contextlib.contextmanager
def left_clean(terminal):
    """Work whose line is on a terminal, and gone at the end."""
    with contextlib.redirect_stderr(terminal):
        yield
    assert re.search(r"\x1b\[2K(\x1b\[\?25h|\r|\n)*$", terminal.text())


def simulated(**options):
    return pp.simulate(BANDIT, "uniform", budgets=30, runs=200, rng=0, engine="reference", workers=1, **options)


def identified(**options):
    return pp.identify(lambda option: {"m": option}, [1, 2], {"m": "min"}, 12, **options)


WORKS = {
    "simulate": simulated,
    "plan": lambda **options: pp.plan(BANDIT, policies=["uniform"], budgets=60, target=0.5, runs=20, **options),
    "identify": identified,
}

works = pytest.mark.parametrize("work", ["simulate", "identify"])


@works
def test_what_takes_a_moment_shows_nothing_on_a_terminal(terminal, work):
    with contextlib.redirect_stderr(terminal):
        WORKS[work]()
    assert terminal.text() == ""


@pytest.mark.parametrize("work", [pytest.param("plan", marks=pytest.mark.slow), "simulate", "identify"])
def test_asked_for_it_is_shown_from_the_start_and_leaves_nothing(terminal, work):
    with left_clean(terminal):
        WORKS[work](progress=True)
    shown = terminal.text()
    assert {"simulate": "of 200 runs", "plan": "uniform", "identify": "of 12 measured, best guess:"}[work] in shown
    assert "%" in shown


@works
def test_files_and_pipes_get_lines_only_if_asked(capsys, work):
    WORKS[work]()
    WORKS[work](progress=False)
    assert capsys.readouterr() == ("", "")
    WORKS[work](progress=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert all(re.match(r" *\d+%  ", line) for line in said.err.splitlines())
    assert len(said.err.splitlines()) >= 1


@pytest.mark.parametrize("work", WORKS)
def test_other_ways_to_ask_are_refused(work):
    with pytest.raises(pp.InvalidInput, match="progress='yes' is neither True, False nor None"):
        WORKS[work](progress="yes")


@works
@pytest.mark.usefixtures("any_work_is_long")
def test_long_work_is_shown_unless_it_is_not_wanted(terminal, work):
    with contextlib.redirect_stderr(terminal):
        WORKS[work](progress=False)
    assert terminal.text() == ""
    with left_clean(terminal):
        WORKS[work]()


@pytest.mark.usefixtures("any_work_is_long")
def test_a_function_is_told_instead(terminal):
    told = []
    with contextlib.redirect_stderr(terminal):
        simulated(progress=lambda *pair: told.append(pair))
    assert told[-1] == (200, 200)
    assert terminal.text() == ""


@pytest.mark.usefixtures("any_work_is_long")
def test_whoever_watches_sees_no_line_unless_asked(terminal):
    watched = []
    with contextlib.redirect_stderr(terminal):
        identified(watch=lambda study, sentence: watched.append(study.used))
    assert watched[-1] == 12
    assert terminal.text() == ""
    with left_clean(terminal):
        identified(watch=lambda study, sentence: None, progress=True)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError])
def test_the_line_is_gone_whatever_ends_the_work(terminal, problem):
    with left_clean(terminal), pytest.raises(problem), progress_line(True) as line:  # noqa: PT012
        line.show(1, 4, "a quarter")
        raise problem
    assert "a quarter" in terminal.text()


def test_work_within_work_and_in_other_threads_shows_no_line_of_its_own(terminal):
    with contextlib.redirect_stderr(terminal):
        with nothing_else_shown(), progress_line(True) as inner:
            inner.show(1, 2, "inside")
        other = threading.Thread(target=simulated, kwargs={"progress": True})
        other.start()
        other.join()
    assert terminal.text() == ""
    with left_clean(terminal), progress_line(True) as line:
        line.show(1, 2, "outside")
    assert "outside" in terminal.text()


def test_a_terminal_that_is_gone_is_no_reason_to_stop(terminal):
    class Gone(Stream):
        def write(self, text):
            raise OSError("input/output error")

    with contextlib.redirect_stderr(Gone(True)):
        assert simulated(progress=True).runs == 200


def test_nobody_is_asked_how_far_it_is_before_it_is_time():
    assert not Line(None, at_once=True).due
    with progress_line() as line:  # neither a terminal nor a notebook
        assert not line.due


def test_the_time_that_is_left_follows_the_speed_of_late(monkeypatch):
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    seen = []

    class Place:
        def show(self, share, left, said):
            seen.append(left)

        def close(self):
            pass

    line = Line(Place())
    for now, done in ((1001.0, 10), (1010.0, 50), (1011.0, 51), (1040.0, 60), (1060.0, 62)):  # noqa: B007
        line.show(done, 100, "")
    assert seen == [
        f"{clock(10)} left",
        f"{clock(49 / 51 * 11)} left",
        f"{clock(29 / 9 * 40)} left",
        f"{clock(38 / 2 * 20)} left",
    ]


SCRIPT = """
import sys, time, paretopick as pp

def measure(option):
    time.sleep(0.06)
    if time.monotonic() - begun > 2.6:
        print("measured", flush=True)
        late.append(option)
    if len(late) == 5:
        raise KeyboardInterrupt
    return {"seconds": option + (time.monotonic() % 1) / 10}

begun, late = time.monotonic(), []
try:
    pp.identify(measure, [1, 2, 3], {"seconds": "min"}, 900)
except KeyboardInterrupt:
    print("stopped by hand")
"""


@pytest.mark.slow
def test_a_line_comes_after_two_seconds_and_goes_with_ctrl_c():
    shown = python_on_a_terminal("-c", SCRIPT, columns=100, term="xterm")
    assert re.search(r"\d of 900 measured, best guess: 1", shown)
    assert re.search(r"\d:\d\d left", shown)
    after = shown.rpartition("best guess")[2]
    assert ERASE in after
    assert after.endswith("stopped by hand\r\n")
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "\n").splitlines()
    assert "measured" in lines  # what is printed meanwhile has lines of its own


NOTEBOOK = """
import time, paretopick as pp
pp.identify(lambda option: (time.sleep(0.05), option)[1:], [1, 2, 3], {"seconds": "min"}, 48)
"""


@pytest.mark.slow
def test_a_notebook_has_one_line_that_is_replaced_and_then_the_result():
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        messages = []
        client.execute_interactive(NOTEBOOK, output_hook=messages.append, timeout=60)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    contents = [(message["msg_type"], message["content"]) for message in messages if message["msg_type"] != "status"]
    kinds = [kind for kind, _ in contents]
    (first,) = (content for kind, content in contents if kind == "display_data")
    updates = [content for kind, content in contents if kind == "update_display_data"]
    places = {content["transient"]["display_id"] for content in [first, *updates]}
    assert len(places) == 1
    assert "<progress" in first["data"]["text/html"]
    assert re.search(r"\d of 48 measured, best guess: 1", first["data"]["text/plain"])
    assert updates[-1]["data"] == {"text/plain": "", "text/html": ""}
    assert kinds[-1] == "execute_result"
    assert "<table" in contents[-1][1]["data"]["text/html"]
    assert set(kinds) == {"execute_input", "display_data", "update_display_data", "execute_result"}
