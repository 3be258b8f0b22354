"""Commands that measure: what they are called with, and everything that they may do wrong."""

import os
import shlex
import sys
import threading
import time

import pytest

import paretopick as pp
from paretopick.studies import shell as shell_code
from paretopick.studies.commands import Command
from paretopick.studies.readings import readings
from support.attacks import ATTACKS, IN_SUBSCRIPT, shells

pytestmark = pytest.mark.slow

SEVENTH = pp.Measurement(7, "a b;$(touch hacked)'\"", 3, {"level": 9, "codec": "z|lib"}, None)


def python(code: str, **options) -> Command:
    return Command([sys.executable, "-c", code], metrics=["time", "size"], **options)


def test_what_a_json_object_has_beside_the_metrics_is_kept():
    output = (
        '{"time": 1.5, "size": 20, "load": 0.7, "host": "x", "ok": true, "status": "told", "deep": {"a": 1}, "": 2, "bad": NaN}'
    )
    assert readings(output, ["time", "size"], taken=["status"]) == {"time": 1.5, "size": 20.0, "load": 0.7, "host": "x"}
    assert readings("time=1\nsize=2\nload=3", ["time", "size"]) == {"time": 1.0, "size": 2.0}
    many = ", ".join(f'"x{i}": {i}' for i in range(200))
    assert len(readings(f'{{"time": 1, "size": 2, {many}}}', ["time", "size"])) == 52


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


ARRIVES = {
    "a word": "printf %s {option} > seen",
    "a redirection": "printf '' > ./x{option}; printf %s {option} > seen",
    "behind quotes": "printf %s 'a'\"b\"{option} > seen",
    "behind an escaped quote": 'printf %s \\"{option} > seen',
    "a substitution": 'printf %s "$(printf %s {option}; echo .)" > seen',
    "a subshell": "(printf %s {option}) > seen",
    "an assignment": 'x={option}; printf %s "$x" > seen',
    "a function": "f() {{ printf %s {option}; }}; set -- other; f other > seen",
    "a case": "case {option} in other) exit 1;; *) printf %s {option} > seen;; esac",
    "behind a comment": "# it's `here\nprintf %s {option} > seen # and \"there",
    "behind a here-document": "cat > /dev/null <<EOF; printf %s {option} > seen\nit's \"\nEOF\n: {option}",
    "behind a quoted here-document": "cat > /dev/null <<-'E F'\n\t{{ ` {{\n\tE F\nprintf %s {option} > seen",
    "behind arithmetic": ": $(( (1 << 2) + ${{#}} )); printf %s {option} > seen",
    "behind a here-document of a subshell": "(cat <<A > /dev/null) <<B\nit's\nA\n\"\nB\nprintf %s {option} > seen",
    "another shell's argument": "sh -c 'printf %s \"$1\"' - {option} > seen",
    "its variable": 'printf %s "$PARETOPICK_OPTION" > seen',
    "its variable in a here-document": "cat > seen <<EOF\n$PARETOPICK_OPTION\nEOF",
    "its variable in a shell": "sh -c 'printf %s \"$PARETOPICK_OPTION\"' > seen",
}
BEFORE = {"behind quotes": "ab", "behind an escaped quote": '"'}
AFTER = {"a substitution": ".", "its variable in a here-document": "\n"}


@pytest.mark.sample(4)
@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize("code", ARRIVES.values(), ids=ARRIVES)
def test_no_name_runs_in_a_shell_and_each_arrives_as_it_is(tmp_path, monkeypatch, shell, code):
    monkeypatch.setattr(shell_code, "SHELL", shell)
    command = Command([f"{code}\necho m=1"], metrics=["m"], shell=True, folder=tmp_path)
    where = next(key for key, value in ARRIVES.items() if value == code)
    for name in ATTACKS:
        if name == IN_SUBSCRIPT and "((" in code:
            continue  # is refused, see test_where_shells_calculate_no_subscript_runs
        assert command(pp.Measurement(1, name, 1, {}, None)) == {"m": 1.0}
        assert (tmp_path / "seen").read_text() == BEFORE.get(where, "") + name + AFTER.get(where, "")
        assert not (tmp_path / "X").exists(), name


REFUSED = {
    'printf %s "{option}"': "between quotes; leave them out",
    "printf %s '{option}'": "between quotes",
    'printf %s "$(printf %s "{option}")"': "between quotes",
    "sh -c 'printf %s {option}'": "between quotes",
    "sh -c \"printf %s '{option}'\"": "between quotes",
    "# it's a comment\nprintf %s '{option}'": "between quotes",
    "true # don't\nprintf %s \"it's {option}\"": "between quotes",
    'cat <<EOF\n"\nEOF\nprintf %s "{option}"': "between quotes",
    "cat <<EOF\n{option}\nEOF": r"in a here-document; write \$PARETOPICK_OPTION there",
    "cat <<'EOF'\n{option}\nEOF": "in a here-document",
    "cat <<EOF\nit's {option}\nEOF": "in a here-document",
    "sh <<-EOF\n\tprintf %s {option}\n\tEOF": "in a here-document",
    "cat <<A <<B\nA\n{option}\nB": "in a here-document",
    "cat <<{option}\n{option}\n": "in a here-document",
    'x="$(cat <<EOF\n{option}\nEOF\n)"': "in a here-document",
    "printf %s `printf %s {option}`": r"in backticks; write \$\(\.\.\.\) instead",
    'printf %s "`printf %s {option}`"': "in backticks",
    "printf %s ${option}": r"behind a \$; write \{option\} alone, or \$\{\{option\}\} for a variable of the shell",
    "printf %s \\{option}": "behind a backslash",
    "printf %s ${X:-{option}}": r"in \$\{\.\.\.\}; write \$PARETOPICK_OPTION there",
    "eval printf %s {option}": r"\{option\} and eval, which reads values as code",
    "x=1; let x={option}; eval": "and let, which",
    "[[ {option} -eq 1 ]]": r"and \[\[, which",
    "printf %s $'it\\'s' '{option}'": "which shells read differently",
    "x=$(case x in x) printf %s {option};; esac)": "and case inside brackets",
    "printf %s {option} 'it": "a quote or bracket that is not closed",
    'printf %s {option} "it': "a quote or bracket that is not closed",
    "(printf %s {option}": "a quote or bracket that is not closed",
    "printf %s {option} ${{x": "a quote or bracket that is not closed",
    "printf %s {option} $((1)": "a quote or bracket that is not closed",
    "printf %s {option} `x": "a quote or bracket that is not closed",
    "\\eval printf %s {option}": "and eval, which",
    "x={option}; y=`eval echo $x`": "and eval, which",
    "sh -c 'printf %s '{option}": r'behind code for another shell; write "\$PARETOPICK_OPTION" there',
    'x=1 /bin/bash -e -uc "echo "$x{option}': "behind code for another shell",
    "bash -c -- echo\\ {option}": "behind code for another shell",
    "sh << \\\n EOF\necho {option}\nEOF": "a here-document whose end is not named behind <<",
    "sh <<\\\nEOF\necho {option}\nEOF": r"a line that ends inside of << or \$\(",
    "sh <\\\n<EOF\necho {option}\nEOF": r"a line that ends inside of << or \$\(",
    "sh <<EOF $(true\nEOF\n)\necho {option}\nEOF": "in a here-document",
    "echo \\ #; sh <<EOF\necho {option}\nEOF": "a # that may begin a comment or not",
    "echo $(date)#; sh <<EOF\necho {option}\nEOF": "a # that may begin a comment or not",
    "true \\\n# <<X\nsh <<EOF\nX\necho {option}\nEOF": "a # that may begin a comment or not",
    ": ${{x:-'}}'}}; sh <<EOF # it's\necho {option}\nEOF": r"a ' in \$\{\.\.\.\}, which shells read differently",
    ": ${x:-'}'}; sh <<EOF # it's\necho {option}\nEOF": r"a ' in \$\{\.\.\.\}, which shells read differently",
}


@pytest.mark.parametrize("code", REFUSED)
def test_where_a_placeholder_would_be_read_otherwise_the_command_is_refused(code):
    with pytest.raises(pp.InvalidInput, match=rf"^the command has \{{option\}} {REFUSED[code]}|{REFUSED[code]}"):
        Command([code], metrics=["m"], shell=True)


@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize(
    "code", ["echo m=$(({option} + 1))", 'echo "m=$((1 + ({option})))"', "x=$((1)); : $((x = {option})); echo m=$((x+1))"]
)
def test_arithmetic_in_a_shell_takes_whole_numbers_only(tmp_path, monkeypatch, shell, code):
    monkeypatch.setattr(shell_code, "SHELL", shell)
    command = Command([code], metrics=["m"], shell=True, folder=tmp_path)
    assert command(pp.Measurement(1, "41", 1, {}, None)) == {"m": 42.0}
    assert command(pp.Measurement(1, "-0x1F", 1, {}, None)) == {"m": -30.0}
    for name in [*ATTACKS, "PATH", "1.5", "٣", "1\n"]:
        with pytest.raises(pp.MeasuringFailed, match=r"\{option\} stands in arithmetic and is .*, which is not a whole number"):
            command(pp.Measurement(1, name, 1, {}, None))
    assert not (tmp_path / "X").exists()


@pytest.mark.parametrize(
    "code",
    [
        "x={option}; : $((x + 1))", ": $[{option} + 1]", "b[{option}]=1", "b=([{option}]=1)", "[ -v {option} ]",
        "test -v {option}", "printf -v {option} 1", "read {option} < /dev/null", "declare {option}=1",
        "typeset -i x; x={option}",
        "a=(1); unset {option}", "x={option}; y=z; : ${{y:x:1}}", "mapfile -t {option} < /dev/null",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shell", shells())
def test_where_shells_calculate_no_subscript_runs(tmp_path, monkeypatch, shell, code):
    """Of these, bash runs what is in the subscript of an array, wherever the name of one may stand."""
    monkeypatch.setattr(shell_code, "SHELL", shell)
    command = Command([f"{code}\necho m=1"], metrics=["m"], settings=["level"], shell=True, folder=tmp_path)
    for name in (IN_SUBSCRIPT, "a[`touch X`]", "a[b[${x-$(touch X)}]]"):
        with pytest.raises(pp.MeasuringFailed, match=r"of which some shells would run a part where they calculate"):
            command(pp.Measurement(1, name, 1, {"level": 1}, None))
        with pytest.raises(pp.MeasuringFailed, match=r"\{level\} is .*, of which some shells would run a part"):
            command(pp.Measurement(1, "PARETOPICK_SETTING_level", 1, {"level": name}, None))
    assert not (tmp_path / "X").exists()


@pytest.mark.parametrize(
    "flags", [["-c"], ["-ceu"], ["-Ec"], ["-c", "-e"], ["-c", "--"], ["-co", "pipefail"], ["-o", "pipefail", "+x", "-c"]]
)
def test_the_code_for_a_shell_is_found_behind_its_flags(tmp_path, flags):
    command = Command(["env", "bash", *flags, "echo {option}; echo m=1"], metrics=["m"], folder=tmp_path)
    with pytest.raises(pp.MeasuringFailed, match="of which bash would run a part"):
        command(pp.Measurement(1, "$(touch X)", 1, {}, None))
    assert not (tmp_path / "X").exists()


def test_what_a_script_or_a_shell_is_given_as_an_argument_is_no_code(tmp_path):
    (tmp_path / "bench.sh").write_text("echo m=${#2}")
    for words in (["sh", "bench.sh", "-c", "x{option}"], ["sh", "-c", "echo m=${{#2}}", "-", "-c", "x{option}"]):
        assert Command(words, metrics=["m"], folder=tmp_path)(pp.Measurement(1, "$(y)", 1, {}, None)) == {"m": 5.0}


def test_a_shell_that_a_command_calls_gets_no_code_from_names(tmp_path):
    """Names without any character that means something to a shell go through, as they did."""
    words = ["env", "sh", "-ec", "printf %s {option} > seen; echo m=1"]
    command = Command(words, metrics=["m"], folder=tmp_path)
    assert command(pp.Measurement(1, "gzip", 1, {}, None)) == {"m": 1.0}
    for name in ("$(touch X)", "`touch X`", "'; touch X; '", "a\ntouch X", "a&touch X"):
        with pytest.raises(pp.MeasuringFailed, match=r'of which sh would run a part; write "\$PARETOPICK_OPTION" there'):
            command(pp.Measurement(1, name, 1, {}, None))
    assert not (tmp_path / "X").exists()
    assert Command(["sh", "-c", "{option}"], metrics=["m"])(pp.Measurement(1, "echo m=2 # as it says", 1, {}, None)) == {"m": 2.0}


def test_settings_are_variables_of_the_environment_too(tmp_path):
    todo = pp.Measurement(1, "x", 1, {"dose (mg)": 5, "a b": "it's", "a_b": "*", "long": "y" * 200_000}, None)
    code = 'echo m=$PARETOPICK_SETTING_dose__mg_; printf %s "$PARETOPICK_SETTING_a_b" "$PARETOPICK_SETTING_a_b_2" > seen'
    for words, shell in [([code], True), (["sh", "-c", code], False)]:
        command = Command(words, metrics=["m"], settings=todo.settings, shell=shell, folder=tmp_path)
        assert command.depends_on_the_option
        assert command(todo) == {"m": 5.0}
        assert (tmp_path / "seen").read_text() == "it's*"


def test_a_failure_shows_the_code_of_a_shell_and_the_values_apart():
    command = Command(["{option} -c {level}; exit 127"], metrics=["m"], settings=["level"], shell=True)
    with pytest.raises(pp.MeasuringFailed) as problem:
        command(pp.Measurement(1, "gzip -1", 1, {"level": 9}, None))
    assert str(problem.value).endswith("; {option} is one word, write {option...} for several")
    assert problem.value.output.startswith(
        '$ "${PARETOPICK_OPTION}" -c "${PARETOPICK_SETTING_level}"; exit 127\n'
        "PARETOPICK_OPTION='gzip -1'\nPARETOPICK_SETTING_level=9\n"
    )


def test_a_command_does_not_see_where_the_study_is_kept(monkeypatch):
    secrets = {
        "PARETOPICK_STORAGE": "postgresql://me:secret@host/db",
        "PARETOPICK_PASSWORD_FILE": "secret",
        "PGPASSWORD": "secret",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    command = Command(["sh", "-c", "env; exit 3"], metrics=["m"])
    for hidden in ((), ("PGPASSWORD",)):
        command.hide(*hidden)
        with pytest.raises(pp.MeasuringFailed) as problem:
            command(SEVENTH)
        assert ("secret" in problem.value.output) == (not hidden)
        assert "PARETOPICK_NUMBER=7" in problem.value.output
        assert "PARETOPICK_STORAGE" not in problem.value.output


def test_a_value_that_no_program_can_be_given_is_said_in_one_line():
    with pytest.raises(pp.MeasuringFailed, match="'echo' cannot be started: embedded null byte"):
        Command(["echo", "{option}"], metrics=["m"])(pp.Measurement(1, "a\0b", 1, {}, None))


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
        (
            "",
            "there is no value for 'time'; it printed nothing; print one JSON object, or lines time=\\.\\.\\., or call it wall_s",
        ),
        ("time=1", "there is no value for 'size'; it printed: 'time=1'; print one JSON object, or lines size=\\.\\.\\.$"),
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
        ('{"time": true, "size": 1}', "it printed time=True, which is not a number"),
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
    with pytest.raises(pp.MeasuringFailed, match="was not begun"):
        command(SEVENTH)


def test_a_program_that_cannot_be_started_is_refused_before_anything_is_measured(tmp_path):
    (tmp_path / "plain.sh").write_text("echo time=1")
    for words, message in [
        (["no-such-program-anywhere"], "no program 'no-such-program-anywhere' that could be run"),
        (["./plain.sh"], "chmod"),
        ([], "there is no command that measures"),
        (["  "], "there is no command that measures"),
        (["echo time={option}"], "is one word; write the command without quotes around it"),
        (
            ["echo", "{optoin}"],
            r"the command has \{optoin\}, and options have \{level\}, \{option\}, \{repeat\}; write \{\{optoin\}\}",
        ),
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
