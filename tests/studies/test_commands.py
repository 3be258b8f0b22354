"""Commands that measure: what they are called with, and everything that they may do wrong."""

import os
import shlex
import sys
import threading
import time

import pytest

import paretopick as pp
from paretopick.studies.commands import Command, readings

SEVENTH = pp.Measurement(7, "a b;$(touch hacked)'\"", 3, {"level": 9, "codec": "z|lib"}, None)


def python(code: str, **options) -> Command:
    return Command([sys.executable, "-c", code], metrics=["time", "size"], **options)


def test_names_and_settings_arrive_as_they_are_without_a_shell(tmp_path):
    code = "import sys; print(f'time={len(sys.argv)}\\nsize={sys.argv[3]}'); open('seen', 'w').write(repr(sys.argv))"
    command = Command(
        [sys.executable, "-c", code, "--o={option}", "{codec}", "{level}", "{{plain}}", '{"a": 1}'],
        metrics=["time", "size"],
        settings=["level", "codec"],
        folder=tmp_path,
    )
    assert command(SEVENTH) == {"time": 6.0, "size": 9.0}
    assert (tmp_path / "seen").read_text() == repr(["-c", f"--o={SEVENTH.option}", "z|lib", "9", "{plain}", '{"a": 1}'])
    assert not (tmp_path / "hacked").exists()


def test_in_a_shell_values_are_put_in_quotes(tmp_path):
    command = Command(
        ["printf 'time=%s\\n' $((1 + 1)); printf %s {option} > seen; echo size={level} | cat"],
        metrics=["time", "size"],
        settings=["level", "codec"],
        shell=True,
        folder=tmp_path,
    )
    assert command(SEVENTH) == {"time": 2.0, "size": 9.0}
    assert (tmp_path / "seen").read_text() == SEVENTH.option
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("text", ['echo "{option}"', "echo '{option}'", 'echo "it\'s {option}"', 'echo "a\\"{option}"'])
def test_in_a_shell_no_quotes_may_be_around_a_value(text):
    with pytest.raises(pp.InvalidInput, match=r"has \{option\} between quotes; leave them out"):
        Command([text], metrics=["time"], shell=True)


@pytest.mark.parametrize("text", ["echo 'a' {option} \"b\"", 'echo \\"{option}', "echo it\\'s {option}"])
def test_in_a_shell_quotes_elsewhere_are_fine(text):
    Command([text], metrics=["time"], shell=True)


def test_columns_of_any_name_are_replaced_and_other_braces_stay(tmp_path):
    todo = pp.Measurement(1, "x", 1, {"size.kb": 4, "dose (mg)": 5}, None)
    words = ["sh", "-c", 'echo "time=$1$2"; echo "$3" >&2; echo "$3" > seen', "-", "{size.kb}", "{dose (mg)}", "{ print $1 }{}"]
    assert Command(words, metrics=["time"], settings=["size.kb", "dose (mg)"], folder=tmp_path)(todo) == {"time": 45.0}
    assert (tmp_path / "seen").read_text() == "{ print $1 }{}\n"


def test_the_environment_says_what_is_measured():
    code = "import os; print('time=' + os.environ['PARETOPICK_NUMBER']); print('size=' + os.environ['PARETOPICK_ROUND'])"
    assert python(code)(SEVENTH) == {"time": 7.0, "size": 3.0}


@pytest.mark.parametrize(
    "output",
    [
        "time=1.5\nsize=20",
        "# warming up\n time = 1.5 \nother=x\nsize= 2e1\n",
        '{"time": 1.5, "size": 20}',
        '{\n  "size": 20,\n  "time": 1.5\n}\n',
        'log: a=b\n{"time": 1.5, "size": 20, "host": {"time": 3}}\nbye',
        '{"time": "1.5", "size": "20"}',
    ],
)
def test_json_and_lines_are_read(output):
    assert readings(output, ["time", "size"]) == {"time": 1.5, "size": 20.0}


@pytest.mark.parametrize(
    "output, message",
    [
        ("", "there is no value for 'time'; it printed nothing; print one JSON object, or lines time=..."),
        ("garbage\x00 \x1b[31m!!", "there is no value for 'time'; it printed: 'garbage"),
        ("time=1", "there is no value for 'size'; it printed: 'time=1'"),
        ("time=1\ntime=2\nsize=3", "it printed 'time' twice, 1 and 2; which one counts?"),
        ('{"time": 1, "time": 2, "size": 3}', "it printed 'time' twice, 1 and 2"),
        ('{"time": 1}\n{"size": 2}', "it printed 2 JSON objects; print one"),
        ("time=nan\nsize=1", "it printed time=nan, which is not a finite number"),
        ('{"time": NaN, "size": 1}', "it printed time=nan, which is not a finite number"),
        ('{"time": -Infinity, "size": 1}', "it printed time=-inf, which is not a finite number"),
        ("time=fast\nsize=1", "it printed time=fast, which is not a number"),
        ("time=1,5\nsize=2", "it printed time=1,5, which is not a number; write decimals with a dot"),
        ("time=1 size=2", "it printed time=1 size=2, which is not a number; print one metric in a line"),
        ('{"time": null, "size": 1}', "it printed time=None, which is not a number"),
        ('{"time": [1], "size": 1}', r"it printed time=\[1\], which is not a number"),
        ('{"time": {"s": 1}, "size": 1}', "which is not a number"),
        ("{" * 100_000, "there is no value for 'time'"),
        ("time=" + "9" * 5000 + "\nsize=1", "not a finite number"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(output, message):
    with pytest.raises(pp.MeasuringFailed, match=message) as problem:
        readings(output, ["time", "size"])
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "code, message",
    [
        ("import sys; print('half a result'); sys.exit('disk on fire')", "exit code 1; it said: disk on fire"),
        ("import os; os.abort()", "killed by signal SIGABRT; it said: nothing"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "killed by signal 40"),
        ("raise SystemExit(3)", "exit code 3; it said: nothing"),
        ("print('x' * 11_000_000)", "it printed more than 10 MB"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "there is no value for 'time'"),
    ],
)
def test_a_command_that_fails_is_reported_in_one_line_with_its_output_kept(code, message):
    with pytest.raises(pp.MeasuringFailed, match=message) as problem:
        python(code)(SEVENTH)
    assert "\n" not in str(problem.value)
    assert problem.value.output.startswith(f"$ {shlex.quote(sys.executable)} -c ")
    assert len(problem.value.output) < 9000


@pytest.mark.slow
def test_a_command_that_hangs_is_stopped_with_all_that_it_started(tmp_path):
    inner = f"import time, pathlib; time.sleep(1.0); pathlib.Path({str(tmp_path / 'survived')!r}).touch()"
    start = f"subprocess.Popen([sys.executable, '-c', {inner!r}])"
    code = f"import subprocess, sys, time; print('time=1', flush=True); {start}; time.sleep(60)"
    start = time.monotonic()
    with pytest.raises(pp.MeasuringFailed, match=r"it was stopped after 0\.4 s, without a result") as problem:
        python(code, timeout=0.4)(SEVENTH)
    assert time.monotonic() - start < 10
    assert "time=1" in problem.value.output
    time.sleep(1.5)
    assert not (tmp_path / "survived").exists()


def test_a_child_that_keeps_the_output_open_is_not_waited_for():
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)']); print('time=1\\nsize=2')"
    )
    start = time.monotonic()
    assert python(code)(SEVENTH) == {"time": 1.0, "size": 2.0}
    assert time.monotonic() - start < 4


def test_stop_ends_what_is_running():
    command = python("import time; time.sleep(60)")
    problems = []

    def measure():
        try:
            command(SEVENTH)
        except pp.MeasuringFailed as problem:
            problems.append(str(problem))

    thread = threading.Thread(target=measure)
    thread.start()
    time.sleep(0.5)
    command.stop()
    thread.join(10)
    assert problems == ["killed by signal SIGKILL; it said: nothing"]


def test_a_program_that_cannot_be_started_is_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "plain.sh").write_text("echo time=1")
    for words, message in [
        (["no-such-program-anywhere"], "no program 'no-such-program-anywhere' that could be run"),
        (["./plain.sh"], "chmod"),
        ([], "there is no command that measures"),
        (["  "], "there is no command that measures"),
        (["echo time={option}"], "is one word; write the command without quotes around it"),
        (["echo", "{optoin}"], r"the command has \{optoin\}, and options have \{level\}, \{option\}; write \{\{optoin\}\}"),
    ]:
        with pytest.raises(pp.InvalidInput, match=message):
            Command(words, metrics=["time"], settings=["level"], folder=tmp_path)
    with pytest.raises(pp.InvalidInput, match="is not a folder"):
        Command(["echo"], metrics=["time"], folder=tmp_path / "nowhere")
    with pytest.raises(pp.InvalidInput, match="timeout=0"):
        Command(["echo"], metrics=["time"], timeout=0)


def test_a_program_named_by_the_option_is_looked_for_when_it_is_measured(tmp_path):
    program = tmp_path / "one"
    program.write_text("#!/bin/sh\necho time=1\n")
    os.chmod(program, 0o755)
    command = Command(["./{option}"], metrics=["time"], folder=tmp_path)
    assert command(pp.Measurement(1, "one", 1, {}, None)) == {"time": 1.0}
    with pytest.raises(pp.MeasuringFailed, match=r"'\./two' cannot be started: No such file"):
        command(pp.Measurement(2, "two", 1, {}, None))
