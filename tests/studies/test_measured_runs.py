"""``paretopick run`` with metrics that no command prints: whole studies in one line, runs before measurements, files."""

import re
import shlex
import subprocess

import pytest

import paretopick as pp
from paretopick.studies.files import command_words, read_study_file
from support.terminals import call, stdout_of

pytestmark = pytest.mark.slow

METRICS = "wall_seconds:min~10%,output_bytes:min~2%"
FILE = """
options = ["1", "2", "3"]
budget = 12
command = "wc -c seen"
prepare = ["sh", "-c", "echo $PARETOPICK_OPTION >> seen"]
warmup = 1

[metrics]
output_bytes = "max"
wall_seconds = "<=60"
"""


@pytest.fixture
def corpus(tmp_path):
    """A folder with a text that can be compressed."""
    (tmp_path / "corpus.txt").write_text("".join(f"{number} bottles on the wall, {number % 7}\n" for number in range(20_000)))
    return tmp_path


@pytest.mark.parametrize("words", ["{option...}", "{option}"])
def test_a_study_of_programs_with_arguments_is_one_line(corpus, words):
    given = ("run", "--options", "gzip -1,gzip -9,gzip -9 --rsyncable", "--metrics", METRICS, "--budget", "9")
    shown = stdout_of(*given, "--", words, "-nc", "corpus.txt", cwd=corpus)
    assert re.search(r"^gzip -1 +(pareto|open)", shown, re.MULTILINE)
    study = pp.Study.open("corpus", storage=corpus / "paretopick.db")  # by what is measured, and no flag
    rows = [row for row in study.measurements() if row["option"] == "gzip -9"]
    compressed = subprocess.run(["gzip", "-9", "-nc", "corpus.txt"], cwd=corpus, stdout=subprocess.PIPE, check=True).stdout
    assert {row["output_bytes"] for row in rows} == {len(compressed)}
    assert all(row["wall_seconds"] > 0 for row in rows)


def test_a_file_says_what_runs_before_measurements_and_the_command_line_says_otherwise(tmp_path):
    (tmp_path / "study.toml").write_text(FILE)
    stdout_of("run", "study.toml", cwd=tmp_path)
    seen = (tmp_path / "seen").read_text().split()
    assert len(seen) == 12 + 3  # one of each before its first
    assert len({*seen}) == 3
    definition = pp.Study.open("study", storage=tmp_path / "paretopick.db").definition
    assert (definition.warmup, definition.prepare) == (1, ("sh", "-c", "echo $PARETOPICK_OPTION >> seen"))
    (tmp_path / "study.toml").write_text(FILE.replace("budget = 12", "budget = 15").replace("warmup = 1", ""))
    stdout_of("run", "study.toml", "--warmup", "2", "--prepare", "sh -c 'echo {option} >> other'", cwd=tmp_path)
    assert len((tmp_path / "seen").read_text().split()) == 15
    assert len((tmp_path / "other").read_text().split()) == 3 + 2 * len(set((tmp_path / "other").read_text().split()))


@pytest.mark.parametrize(
    "given, message",
    [
        (("--warmup", "-1"), "--warmup=-1 is too small"),
        (("--prepare", "it's"), """--prepare="it's" cannot be taken apart (No closing quotation); write its quotes in pairs"""),
        (
            ("--prepare", "sync; ls"),
            "--prepare='sync; ls' has ';', which only a shell understands, and none reads it",
        ),
        (("--prepare", "echo 3 > seen"), "--prepare='echo 3 > seen' has '>', which only a shell understands"),
        (("--prepare", "echo 3 >>seen"), "has '>>', which only a shell understands"),
        (("--prepare", "true && touch seen"), "has '&&', which only a shell understands"),
        (("--prepare", 'touch "$(cat name)"'), "has '$(', which only a shell understands"),
        (("--prepare", "touch `cat name`"), "has '`', which only a shell understands"),
        (("--prepare", "rm {optoin}"), "the command has {optoin}, and options have {option}"),
    ],
)
def test_what_runs_before_measurements_is_refused_before_anything_is_measured(tmp_path, given, message):
    (tmp_path / "study.toml").write_text(FILE)
    refused = call("run", "study.toml", *given, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not (tmp_path / "seen").exists()


def test_an_exit_code_can_be_a_limit(tmp_path):
    given = ("run", "--options", "true,false", "--metrics", "wall_seconds:min,exit_code<=0", "--exact", "exit_code")
    shown = stdout_of(*given, "--budget", "8", "--name", "s", "--", "{option}", cwd=tmp_path)
    assert re.search(r"^false +infeasible", shown, re.MULTILINE)
    assert "Pareto-optimal: true (" in shown


@pytest.mark.parametrize(
    "prepare, words",
    [
        ("echo '3 > 2' \\; \"a|b\"", ["3 > 2 ; a|b"]),
        ("sh -c 'echo $(echo 1) > x; cat x'", ["1"]),
        ('sh -c "echo $(echo 1) | cat"', ["1"]),
    ],
)
def test_what_is_between_quotes_before_a_measurement_is_meant_as_it_is(tmp_path, prepare, words):
    told = command_words(prepare, shell=False)
    shown = subprocess.run(told, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert shown.splitlines() == words


@pytest.mark.parametrize(
    "words, meant",
    [
        (["echo", "size={option}", "|", "cat"], "|"),
        (["echo", "size={option}", "2>/dev/null"], "2>/dev/null"),
        (["echo", "size={option}", ";", "sync"], ";"),
        (["echo", "size={option}", "`nproc`"], "`nproc`"),
        (["echo", "size={option}", "--jobs=$(nproc)"], "--jobs=$(nproc)"),
        (["sh", "-c", "echo size={option} $(echo 1) | cat"], ""),
        (["find", ".", "-maxdepth", "0", "-exec", "echo", "size={option}", ";"], ""),
        (["echo", "size={option}", "a|b", "x>y"], ""),
    ],
)
def test_a_word_of_the_command_that_only_a_shell_would_understand_is_named(tmp_path, words, meant):
    given = ("run", "--options", "1,2", "--metrics", "output_bytes:min", "--budget", "4", "--name", "s")
    said = call(*given, "--", *words, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert ("no shell reads the command" in said.stderr) == bool(meant)
    if meant:
        assert f"note: no shell reads the command, so {meant!r} is a word like others for it; write --shell" in said.stderr


@pytest.mark.parametrize("metric", ["exit_code<=0", "exit_code:min<=0"])
def test_an_exit_code_that_may_vary_is_not_limited_to_zero(tmp_path, metric):
    given = ("run", "--options", "true,false", "--metrics", f"wall_seconds:min,{metric}", "--budget", "8")
    refused = call(*given, "--", "{option}", cwd=tmp_path)
    assert refused.returncode == 2
    assert "metric 'exit_code' is to be at most 0 and is not exact" in refused.stderr
    for remedy in ("--exact exit_code", "exit_code = {at_most = 0, exact = true}", "exit_code<=0.01"):
        assert remedy in refused.stderr
    assert not list(tmp_path.iterdir())
    exact = "exit_code = {at_most = 0, exact = true}"
    (tmp_path / "study.toml").write_text(f"{FILE}{exact}\n")
    assert read_study_file(tmp_path / "study.toml").measure()


@pytest.mark.parametrize("option", ["-x", "--fast"])
def test_what_takes_an_option_out_can_be_typed_though_its_name_begins_with_a_dash(tmp_path, option):
    given = ("--options", f"{option},{option}2", "--metrics", "m:min", "--budget", "8", "--name", "-h", "--storage", "s.db")
    failed = call("run", *given, "--retries", "0", "--", "false", "{option}", cwd=tmp_path)
    (shown,) = re.findall("Or without it: (.*)", failed.stderr)
    assert shown.startswith("paretopick retire --storage s.db -- -h ")
    assert "is retired" in stdout_of(*shlex.split(shown)[1:], cwd=tmp_path)


def test_a_metric_that_is_printed_and_not_read_is_said_once(tmp_path):
    given = ("run", "--options", "1,2", "--metrics", "wall_seconds:min", "--budget", "8", "--name", "s", "--")
    said = call(*given, "sh", "-c", "echo; echo wall_seconds=77", "{option}", cwd=tmp_path).stderr
    assert said.count("note: the command prints 'wall_seconds=77', which is not read: all metrics are measured from outside") == 1
    study = pp.Study.open("s", storage=tmp_path / "paretopick.db")
    assert all(row["wall_seconds"] < 10 for row in study.measurements())
    assert "is not read" not in call(*given, "seq", "{option}", cwd=tmp_path).stderr


FAILING = ("--options", "true,false", "--budget", "8", "--retries", "0")


@pytest.mark.parametrize(
    "metrics, words, cause",
    [
        (("output_bytes:min~2%",), ("echo", "-n"), "metric 'output_bytes' is 0, and its margin 2% needs values above 0"),
        (("m:min", "--exact", "m"), ("sh", "-c", "echo m=$PARETOPICK_NUMBER"), "an exact metric never changes"),
        (("seconds:min", "--name=s"), ("echo", "1"), "there is no value for 'seconds'"),
    ],
)
def test_where_the_metrics_of_a_study_are_wrong_another_study_is_what_helps(tmp_path, metrics, words, cause):
    failed = call("run", *FAILING, "--metrics", *metrics, "--", *words, cwd=tmp_path).stderr
    assert cause in failed
    (name,) = pp.Study.list(storage=tmp_path / "paretopick.db")
    assert f"If the metrics are wrong: they belong to the study {name!r} and stay as they are; begin another one" in failed
    assert f"Or begin this one anew: paretopick delete {name} --yes" in failed
    assert "If the command is wrong, repair it. Go on with: paretopick run --options true,false" in failed
    (shown,) = re.findall("begin another one with other --metrics or --exact: (.*)", failed)
    assert shown.startswith(f"paretopick run --name {name}-2 --options true,false ")
    typed = shlex.split(shown)
    assert typed.count("--name") == 1
    assert "--name=s" not in typed
    typed[typed.index("--metrics") + 1] = "output_bytes:min"
    typed = typed[1 : typed.index("--")]
    if "--exact" in typed:
        del typed[typed.index("--exact") : typed.index("--exact") + 2]
    stdout_of(*typed, "--", *words, cwd=tmp_path)


def test_where_the_metrics_in_a_file_are_wrong_they_are_changed_there(tmp_path):
    (tmp_path / "study.toml").write_text(FILE.replace('"max"', '"min~2%"').replace('"wc -c seen"', '"true"') + "\n")
    failed = call("run", "study.toml", cwd=tmp_path).stderr
    assert "they belong to the study 'study' and stay as they are; give it other ones and another name in study.toml" in failed


def test_after_other_failures_the_same_command_goes_on(tmp_path):
    failed = call("run", *FAILING, "--metrics", "m:min", "--name", "s", "--", "false", "{option}", cwd=tmp_path).stderr
    assert "\nGo on with: paretopick run --options true,false" in failed
    assert "metrics are wrong" not in failed


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_run_whose_time_is_over_and_that_is_sure_does_not_ask_for_more(tmp_path, form):
    given = (
        "run",
        "--options",
        "1,9",
        "--metrics",
        "output_bytes:min~5%",
        "--budget",
        "900",
        "--name",
        "s",
        "--for",
        "2s",
        *form,
    )
    ended = call(*given, *form, "--", "head", "-c", "{option}000", "/dev/zero", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert form or "Next: It is sure enough" in ended.stdout
    assert (
        "note: the time of this run, 2s, is over, and the result is sure enough; a part of the budget is left (" in ended.stderr
    )
    assert "Go on with" not in ended.stderr


def test_the_memory_below_which_nothing_is_measured_is_said_at_the_start(tmp_path):
    given = ("run", "--options", "1,2", "--budget", "4", "--name", "s", "--metrics")
    said = call(*given, "max_memory_mb:min", "--", "true", "{option}", cwd=tmp_path).stderr
    (smallest,) = re.findall(r"note: max_memory_mb is never below ([\d.]+), which is what starting a command takes", said)
    rows = pp.Study.open("s", storage=tmp_path / "paretopick.db").measurements()
    assert [row["max_memory_mb"] for row in rows] == pytest.approx([float(smallest)] * len(rows), abs=0.3)
    assert "max_memory_mb" not in call(*given, "wall_seconds:min", "--name", "t", "--", "true", "{option}", cwd=tmp_path).stderr


def test_a_study_that_stopped_when_it_was_sure_goes_on_to_be_surer(tmp_path):
    given = (
        "run",
        "--options",
        "1,9",
        "--metrics",
        "output_bytes:min~5%",
        "--confidence",
        "0.95",
        "--budget",
        "40",
        "--name",
        "s",
    )
    words = ("--", "sh", "-c", "head -c {option}000 /dev/zero")
    assert "It is right with 95%, as was asked for" in stdout_of(*given, *words, cwd=tmp_path)
    again = call(*given, *words, cwd=tmp_path).stderr
    assert "To go on: paretopick extend s --confidence 0.99, and then the same again." in again
    assert "It is measured until the budget is spent" in stdout_of("extend", "s", "--confidence", "1", cwd=tmp_path)
    on = call(*given, *words, cwd=tmp_path)
    assert "until the budget is spent, as was said since, and not until it is right with 95%, as was said before" in on.stderr
    assert "To go back to that: paretopick extend s --confidence 0.95" in on.stderr
    assert "(40 of 40 measurements used)" in on.stdout


def test_a_limit_of_memory_below_what_can_be_measured_is_refused_before_anything_is_created(tmp_path):
    words = (
        "run",
        "--options",
        "1,2",
        "--budget",
        "4",
        "--metrics",
        "wall_seconds:min,max_memory_mb<=2",
        "--",
        "true",
        "{option}",
    )
    refused = call(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "so nobody could be seen to keep at most 2; choose a limit above " in refused.stderr
    assert not (tmp_path / "paretopick.db").exists()
