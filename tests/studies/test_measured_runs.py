"""``paretopick run`` with metrics that no command prints: whole studies in one line, runs before measurements, files."""

import re
import subprocess

import pytest

import paretopick as pp
from support.terminals import call, stdout_of

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


@pytest.mark.slow
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


@pytest.mark.slow
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
        (("--prepare", "sync; ls"), "there is no program 'sync;' that could be run; what only a shell understands needs --shell"),
        (("--prepare", "rm {optoin}"), "the command has {optoin}, and options have {option}"),
    ],
)
def test_what_runs_before_measurements_is_refused_before_anything_is_measured(tmp_path, given, message):
    (tmp_path / "study.toml").write_text(FILE)
    refused = call("run", "study.toml", *given, cwd=tmp_path)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not (tmp_path / "seen").exists()


@pytest.mark.slow
def test_an_exit_code_can_be_a_limit(tmp_path):
    given = ("run", "--options", "true,false", "--metrics", "wall_seconds:min,exit_code<=0", "--exact", "exit_code")
    shown = stdout_of(*given, "--budget", "8", "--name", "s", "--", "{option}", cwd=tmp_path)
    assert re.search(r"^false +infeasible", shown, re.MULTILINE)
    assert "Pareto-optimal: true (" in shown


def test_a_value_that_a_margin_cannot_take_is_said_with_what_to_write(tmp_path):
    given = (
        "run",
        "--options",
        "true,false",
        "--metrics",
        "output_bytes:min~2%",
        "--budget",
        "8",
        "--retries",
        "0",
        "--",
        "echo",
        "-n",
    )
    failed = call(*given, cwd=tmp_path)
    assert "metric 'output_bytes' is 0, and its margin 2% needs values above 0" in failed.stderr


@pytest.mark.slow
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
