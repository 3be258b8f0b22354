"""Nobody goes on measuring for a run that is gone: killed, asked to end, or left without its terminal. Processes are real."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paretopick as pp
from support.inputs import heed_interrupts

BENCH = """#!{python} -IS
import os, subprocess, sys, time
pause = [sys.executable, "-ISc", "import time; time.sleep(600)"]
if os.path.exists("hang"):
    child = subprocess.Popen(pause)
    far = subprocess.Popen(pause, start_new_session=True)
    with open(f"part.{{os.getpid()}}", "a") as file:
        file.write(f"{{os.getpid()}} {{child.pid}} {{far.pid}}\\n")
    os.rename(f"part.{{os.getpid()}}", f"pids.{{os.getpid()}}")
    time.sleep(600)
print("m=" + sys.argv[1])
"""
STUDY = """
options = ["1", "2", "3"]
budget = 9
{command}
[metrics]
m = "max"
"""
COMMANDS = {
    "words": 'command = ["./bench.py", "{option}"]',
    "shell": 'shell = true\ncommand = "./bench.py {option} | cat"',
    "measured": 'command = ["./bench.py", "{option}"]',
}


@pytest.fixture(params=COMMANDS)
def bench(tmp_path, request):
    """A folder with a study whose command hangs with a child and one that is in no group, until the file `hang` is removed."""
    (tmp_path / "bench.py").write_text(BENCH.format(python=sys.executable))
    (tmp_path / "bench.py").chmod(0o755)
    more = 'wall_seconds = "<=600"\n' if request.param == "measured" else ""
    (tmp_path / "study.toml").write_text(STUDY.replace("{command}", COMMANDS[request.param]) + more)
    (tmp_path / "hang").touch()
    yield tmp_path
    for pid in pids(tmp_path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pids(folder: Path) -> list[int]:
    return [int(pid) for file in folder.glob("pids.*") for pid in file.read_text().split()]


def alive(pid: int) -> bool:
    try:
        return not re.search(r"\) Z ", Path(f"/proc/{pid}/stat").read_text())
    except OSError:
        return False


def start_run(folder: Path, **options) -> subprocess.Popen:
    """A run that is measuring; its command, and what that has started, are in the folder."""
    process = subprocess.Popen([sys.executable, "-m", "paretopick", "run", "study.toml", "--worker", "w"], cwd=folder, **options)
    until(lambda: len(pids(folder)) == 3)
    return process


def until(so, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < deadline, "it does not come to pass"
        time.sleep(0.05)


def check_gone_and_go_on(folder: Path) -> None:
    started = pids(folder)
    assert len(started) == 3
    until(lambda: not any(map(alive, started)))
    (folder / "hang").unlink()
    command = [sys.executable, "-m", "paretopick", "run", "study.toml", "--worker", "w"]
    outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert "Pareto-optimal: 3 " in outcome.stdout, outcome.stderr
    study = pp.Study.open("study", storage=folder / "paretopick.db")
    assert study.done
    assert study.status()["failed"] == 0


@pytest.mark.slow
@pytest.mark.sample(3)
def test_commands_end_with_a_run_that_is_killed(bench):
    run = start_run(bench)
    run.kill()
    run.wait()
    check_gone_and_go_on(bench)


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("bench", ["words", "measured"], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_gives_back_and_says_how_to_go_on(bench, number):
    run = start_run(bench, stderr=subprocess.PIPE, text=True)
    run.send_signal(number)
    _, said = run.communicate(timeout=30)
    assert run.returncode == 128 + number
    assert f"Ended by {number.name} with 0 of 9 measurements. Go on with: paretopick run study.toml --worker w\n" in said
    assert "Traceback" not in said
    assert pp.Study.open("study", storage=bench / "paretopick.db").status()["out"] == []
    (far,) = [pid for pid in pids(bench) if alive(pid)]  # who leaves the group of a command survives its end, as always
    os.kill(far, signal.SIGKILL)
    check_gone_and_go_on(bench)


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["words"], indirect=True)
def test_commands_end_when_the_terminal_is_closed(bench):
    ours, theirs = pty.openpty()

    def own_terminal() -> None:
        heed_interrupts()
        os.setsid()
        os.close(os.open(os.ttyname(0), os.O_RDWR))  # the first terminal that is opened is the one that counts

    run = start_run(bench, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=own_terminal)
    os.close(theirs)
    os.close(ours)
    assert run.wait(30) == 128 + signal.SIGHUP
    assert pp.Study.open("study", storage=bench / "paretopick.db").status()["out"] == []
    os.kill(next(pid for pid in pids(bench) if alive(pid)), signal.SIGKILL)
    check_gone_and_go_on(bench)


@pytest.mark.sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("bench", ["words"], indirect=True)
def test_a_run_that_was_told_to_ignore_the_end_of_its_terminal_goes_on(bench):
    run = start_run(bench, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN), stdout=subprocess.PIPE, text=True)
    run.send_signal(signal.SIGHUP)
    (bench / "hang").unlink()
    for pid in pids(bench):
        os.kill(pid, signal.SIGKILL)  # a measurement that failed, and is made again
    assert "Pareto-optimal: 3 " in run.communicate(timeout=60)[0]


FORKING = """
import os, sys, time
import paretopick as pp
from paretopick.studies.commands import Command
first = Command(["true"], metrics=["m"])
try:
    first(pp.Measurement(1, "x", 1, {}, None))  # from here on there is a supervisor
except pp.MeasuringFailed:
    pass
child = os.fork()
if child == 0:
    time.sleep(600)
with open("fork.part", "w") as file:
    file.write(str(child))
os.rename("fork.part", "fork")
Command(["./bench.py", "1"], metrics=["m"])(pp.Measurement(1, "x", 1, {}, None))
"""


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["words"], indirect=True)
def test_a_process_that_was_forked_and_lives_on_does_not_keep_commands_alive(bench):
    process = subprocess.Popen([sys.executable, "-c", FORKING], cwd=bench)
    until(lambda: len(pids(bench)) == 3)
    process.kill()
    process.wait()
    child = int((bench / "fork").read_text())
    try:
        until(lambda: not any(map(alive, pids(bench))))
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)


POOL = """
import os, subprocess, sys, time
import paretopick as pp

def measure(option):
    subprocess.run(["./bench.py", option])

if __name__ == "__main__":
    pp.identify(measure, ["1", "2"], {"m": "max"}, 10, storage="s.db", workers=2, processes=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["words"], indirect=True)
def test_processes_that_measure_end_with_the_one_that_started_them(bench):
    (bench / "pool.py").write_text(POOL)
    process = subprocess.Popen([sys.executable, "pool.py"], cwd=bench)
    until(lambda: len(pids(bench)) == 6)
    commands = [int(line.split()[0]) for file in bench.glob("pids.*") for line in file.read_text().splitlines()]
    workers = {int(re.search(r"\) \w (\d+) ", Path(f"/proc/{pid}/stat").read_text())[1]) for pid in commands}
    assert len(workers) == 2
    assert process.pid not in workers
    children = [int(line.split()[1]) for file in bench.glob("pids.*") for line in file.read_text().splitlines()]
    process.kill()
    process.wait()
    until(lambda: not any(map(alive, [*workers, *commands, *children])))
