"""What is measured of commands from outside: time, processors, memory, output and exit codes, whatever they print."""

import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.studies import usage_process
from paretopick.studies.commands import LONGEST_OUTPUT, Command
from paretopick.studies.started import Started
from paretopick.studies.usage import BUILT_IN

pytestmark = pytest.mark.slow

TODO = pp.Measurement(1, "x", 1, {}, None)
SMALLEST = 12
"""Megabytes that a command may seem to need though it needs none: those of the process that starts it."""


def measured(words: list[str], *, metrics=BUILT_IN, **options) -> dict[str, float]:
    return Command(words, metrics=metrics, **options)(TODO)


def python(code: str, **options) -> dict[str, float]:
    return measured([sys.executable, "-ISc", code], **options)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return not re.search(r"\) Z ", Path(f"/proc/{pid}/stat").read_text())
    except OSError:
        return False


def test_all_that_is_built_in_is_measured_of_a_command_that_prints_nothing_of_it():
    values = python("import time; time.sleep(0.3); print('hello')")
    assert 0.3 <= values["wall_seconds"] < 5
    assert 0 < values["cpu_seconds"] < 0.25  # who sleeps needs no processor
    assert 3 < values["max_memory_mb"] < 60
    assert values["output_bytes"] == 6
    assert values["exit_code"] == 0


def test_processors_and_memory_are_those_of_all_that_was_started_and_waited_for():
    inner = "x = bytearray(80_000_000); x[::4096] = b'1' * len(x[::4096])\nimport time\nwhile time.process_time() < 0.4: pass"
    values = python(f"import subprocess, sys; subprocess.run([sys.executable, '-ISc', {inner!r}])")
    assert values["cpu_seconds"] >= 0.4
    assert 80 < values["max_memory_mb"] < 200


def test_what_starts_the_command_is_hardly_counted():
    """This process is large and Python starts slowly; neither is to the name of the command. The smallest of some runs tells."""
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"1" * len(ballast[::4096])
    values = [measured(["true"]) for _ in range(10)]
    assert min(row["wall_seconds"] for row in values) < 0.01
    assert min(row["cpu_seconds"] for row in values) < 0.01
    assert max(row["max_memory_mb"] for row in values) < SMALLEST


def test_nothing_that_the_measuring_process_does_beside_the_command_is_counted(monkeypatch, tmp_path):
    """It may be kept from its work by other programs; the command waits for it, and only then is its time."""
    program = tmp_path / "usage_process.py"
    code = Path(usage_process.__file__).read_text()
    assert code.count("    import select\n") == 1
    program.write_text(code.replace("    import select\n", "    time.sleep(0.3)\n    import select\n"))
    monkeypatch.setattr(usage_process, "__file__", str(program))
    assert measured(["true"])["wall_seconds"] < 0.2


@pytest.mark.parametrize(
    "output",
    ["wall_seconds=0.001", "exit_code = x", '{"wall_seconds": 7}', "wall_seconds=1\nwall_seconds=2", '{"max_memory_mb": 1}'],
)
def test_output_is_data_and_not_read_if_all_metrics_are_measured_from_outside(output):
    command = Command([sys.executable, "-ISc", f"import time; time.sleep(0.1); print({output!r})"], metrics=BUILT_IN)
    values = command(TODO)
    assert list(values) == list(BUILT_IN)
    assert 0.1 <= values["wall_seconds"] < 5
    assert values["max_memory_mb"] > 2
    assert values["exit_code"] == 0
    assert command.not_read == output.partition("\n")[0]


def test_what_a_command_prints_itself_comes_first_if_other_metrics_must_be_printed():
    values = python("print('wall_seconds=7'); print('loss = 3')", metrics=["loss", "wall_seconds", "exit_code"])
    assert values == {"loss": 3, "wall_seconds": 7, "exit_code": 0}
    values = python('print(\'{"max_memory_mb": 12, "host": "a", "loss": 1}\')', metrics=["loss", "max_memory_mb", "output_bytes"])
    assert (values["max_memory_mb"], values["host"]) == (12, "a")
    assert values["output_bytes"] > 0


def test_metrics_that_are_printed_and_metrics_that_are_not_go_together():
    values = python("print('accuracy=0.5')", metrics=["accuracy", "wall_seconds"])
    assert list(values) == ["accuracy", "wall_seconds"]
    with pytest.raises(pp.MeasuringFailed, match="there is no value for 'accuracy'; it printed: 'nothing'"):
        python("print('nothing')", metrics=["accuracy", "wall_seconds"])
    with pytest.raises(pp.MeasuringFailed, match="it printed more than 10 MB; print the metrics alone"):
        python("print('x' * 11_000_000)", metrics=["accuracy", "wall_seconds"])


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4)",
        "print('{\"a\": 1}\\n' * 5)",
        "print('seconds=1\\nseconds=2\\n{')",
    ],
)
def test_output_may_be_anything_if_nothing_has_to_be_printed(code):
    assert python(code)["exit_code"] == 0


def test_output_of_any_length_is_counted_and_not_kept(tmp_path):
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        words = ["sh", "-c", "echo begin; head -c 300000000 /dev/zero"]
        code, usage = Started(tmp_path, None).run(words, os.environ, stdout, stderr, kept=1000)
        assert (code, usage.output_bytes) == (0, 300_000_006)
        assert stdout.seek(0, os.SEEK_END) == 1000
        stdout.seek(0)
        assert stdout.read(8) == b"begin\n\0\0"
    for size in (LONGEST_OUTPUT, LONGEST_OUTPUT + 1):
        assert measured(["head", "-c", str(size), "/dev/zero"])["output_bytes"] == size


def test_without_a_pipe_output_is_counted_all_the_same(monkeypatch, tmp_path):
    """On systems that cannot wait for the end of a process and for its output at once."""
    program = tmp_path / "usage_process.py"
    program.write_text(Path(usage_process.__file__).read_text().replace('not hasattr(os, "pidfd_open")', "True"))
    monkeypatch.setattr(usage_process, "__file__", str(program))
    values = python("print('x' * 99)")
    assert values["output_bytes"] == 100
    assert values["wall_seconds"] > 0
    with pytest.raises(pp.MeasuringFailed, match="'x' cannot be started: No such file or directory"):
        measured(["{option}"])


def test_a_child_that_keeps_the_output_open_is_not_waited_for_and_may_go_on_writing():
    inner = "import time\nfor _ in range(400): print('x' * 1000, flush=True); time.sleep(0.01)"
    start = time.monotonic()
    values = python(f"import subprocess, sys; subprocess.Popen([sys.executable, '-ISc', {inner!r}]); print('done')")
    assert time.monotonic() - start < 3
    assert 5 <= values["output_bytes"] < 1_000_000


def test_a_child_that_floods_the_output_keeps_nobody():
    start = time.monotonic()
    assert measured(["sh", "-c", "yes & sleep 0.2"])["output_bytes"] > 0
    assert time.monotonic() - start < 10


def test_an_exit_code_is_a_failure_unless_it_is_a_metric():
    assert python("raise SystemExit(3)")["exit_code"] == 3
    assert measured(["sh", "-c", "kill -SEGV $$"])["exit_code"] == 139
    with pytest.raises(pp.MeasuringFailed, match="exit code 3; it said: out of paper") as problem:
        python("import sys; sys.stdout.buffer.write(b'\\0\\1' * 50); print('out of paper', file=sys.stderr); sys.exit(3)",
               metrics=["wall_seconds", "output_bytes"])  # fmt: skip
    assert problem.value.output.endswith("(100 bytes that are not text)\nout of paper\n")
    with pytest.raises(pp.MeasuringFailed, match="killed by signal SIGABRT; it said: nothing"):
        python("import os; os.abort()", metrics=["wall_seconds"])


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "TERM", "ALRM", "USR1", "USR2"])
def test_a_command_that_sends_a_signal_to_its_whole_group_is_measured_to_its_end(name):
    number = signal.Signals[f"SIG{name}"]
    assert measured(["sh", "-c", f"kill -{name} 0"])["exit_code"] == 128 + number
    heedless = measured(["sh", "-c", f"trap '' {name}; kill -{name} 0; sleep 0.2; echo done"])
    assert (heedless["exit_code"], heedless["output_bytes"]) == (0, 5)


def test_a_command_ends_if_what_measures_it_is_killed(tmp_path):
    code = "echo $$ > pid; sleep 600 & echo $! > child; kill -KILL $PPID; wait"
    with pytest.raises(
        pp.MeasuringFailed, match=r"^what was to measure it ended without a report \(killed by signal SIGKILL\), and the command"
    ):
        measured(["sh", "-c", code], folder=tmp_path)
    for file in ("pid", "child"):
        pid, deadline = int((tmp_path / file).read_text()), time.monotonic() + 10
        while alive(pid):
            assert time.monotonic() < deadline, f"{file} goes on"
            time.sleep(0.01)


def test_a_command_does_not_begin_if_what_measures_it_is_killed_before(monkeypatch, tmp_path):
    program = tmp_path / "usage_process.py"
    code = Path(usage_process.__file__).read_text()
    program.write_text(code.replace("    import select\n", "    os.kill(os.getpid(), signals.SIGKILL)\n"))
    monkeypatch.setattr(usage_process, "__file__", str(program))
    with pytest.raises(pp.MeasuringFailed, match="ended without a report"):
        measured(["touch", "begun"], folder=tmp_path)
    time.sleep(0.2)
    assert not (tmp_path / "begun").exists()


def test_a_program_that_is_not_there_is_said_to_be():
    command = Command(["./{option}"], metrics=["wall_seconds"])
    with pytest.raises(pp.MeasuringFailed, match=r"^'\./x' cannot be started: No such file or directory$"):
        command(TODO)


def test_it_is_stopped_in_time_with_all_that_it_started(tmp_path):
    inner = f"import time, pathlib; time.sleep(1.0); pathlib.Path({str(tmp_path / 'survived')!r}).touch()"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-ISc', {inner!r}]); time.sleep(60)"
    start = time.monotonic()
    with pytest.raises(pp.MeasuringFailed, match=r"it was stopped after 0\.4 s, without a result"):
        python(code, timeout=0.4)
    assert time.monotonic() - start < 10
    time.sleep(1.5)
    assert not (tmp_path / "survived").exists()


def test_the_environment_signals_and_files_are_what_they_would_be_without(tmp_path, monkeypatch):
    for name, value in {"LC_ALL": "", "LC_CTYPE": "C", "LANG": "C", "odd.name": "\udcff"}.items():
        monkeypatch.setenv(name, value)
    code = (
        "env -0 | grep -zv '_MARK=' | sort -z > {option}; grep SigIgn /proc/self/status >> {option}; ls /proc/self/fd >> {option}"
    )
    for name, metrics in {"without": ["m"], "with": ["m", "wall_seconds"]}.items():
        Command(["sh", "-c", f"{code.replace('{option}', name)}; echo m=1"], metrics=metrics, folder=tmp_path)(TODO)
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
    assert b"\0LC_CTYPE=C\0" in (tmp_path / "with").read_bytes()


def test_a_system_that_cannot_measure_says_which_metric(monkeypatch):
    monkeypatch.delattr(os, "wait4")
    with pytest.raises(pp.InvalidInput, match="'wall_seconds', 'exit_code' cannot be measured from outside a command on this"):
        Command(["true"], metrics=["size", "wall_seconds", "exit_code"])
    Command(["true"], metrics=["size"])


def test_runs_before_the_first_measurement_of_each_option_do_not_count(tmp_path):
    command = Command(
        ["sh", "-c", "echo $PARETOPICK_OPTION >> log; echo m=$(wc -l < log)"], metrics=["m"], folder=tmp_path, warmup=2
    )
    values = [command(pp.Measurement(n, option, 1, {}, None))["m"] for n, option in enumerate("aaba", start=1)]
    assert values == [3, 4, 7, 8]
    with pytest.raises(pp.InvalidInput, match="warmup=-1 is too small"):
        Command(["true"], metrics=["m"], warmup=-1)


def test_a_run_before_the_first_measurement_that_fails_is_said_to_be_one_and_is_made_again(tmp_path):
    command = Command(
        ["sh", "-c", "echo >> log; test $(wc -l < log) -gt 2 && echo m=1"], metrics=["m"], folder=tmp_path, warmup=2
    )
    for _ in range(2):
        with pytest.raises(pp.MeasuringFailed, match=r"^in run 1 of 2 before it is measured: exit code 1; it said: nothing"):
            command(TODO)
    assert command(TODO) == {"m": 1.0}
    assert (tmp_path / "log").read_text().count("\n") == 5


@pytest.mark.parametrize("shell", [False, True])
def test_what_is_run_before_each_measurement_is_not_measured(tmp_path, shell):
    prepare = (
        ["sleep 0.3; echo {option} {level} >> log"]
        if shell
        else ["sh", "-c", "sleep 0.3; echo $1 $2 >> log", "-", "{option}", "{level}"]
    )
    command = Command(
        ["wc", "-l", "log"], metrics=["wall_seconds", "output_bytes"], settings=["level"], folder=tmp_path, shell=shell,
        prepare=prepare, warmup=1,
    )  # fmt: skip
    values = command(pp.Measurement(1, "gzip -9", 1, {"level": 7}, None))
    assert values["wall_seconds"] < 0.25
    assert (tmp_path / "log").read_text() == "gzip -9 7\n" * 2


def test_a_failure_before_a_measurement_says_so_and_shows_what_was_run(tmp_path):
    command = Command(
        ["touch", "measured"], metrics=["wall_seconds"], folder=tmp_path, prepare=["sh", "-c", "echo no disk >&2; exit 4"]
    )
    with pytest.raises(
        pp.MeasuringFailed, match=r"^what is to be run before it failed: exit code 4; it said: no disk$"
    ) as problem:
        command(TODO)
    assert problem.value.output.startswith("$ sh -c 'echo no disk")
    assert not (tmp_path / "measured").exists()
    with pytest.raises(
        pp.InvalidInput, match="no program 'sync;' that could be run; what only a shell understands needs --shell"
    ):
        Command(["true"], metrics=["wall_seconds"], prepare=["sync;", "echo", "x"])
    with pytest.raises(pp.InvalidInput, match=r"the command has \{optoin\}, and options have \{option\}"):
        Command(["true"], metrics=["wall_seconds"], prepare=["rm", "{optoin}"])
