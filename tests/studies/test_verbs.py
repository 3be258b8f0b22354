"""The verbs of studies as a user meets them: real files and databases; processes of their own for signals and terminals."""

import contextlib
import csv
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.cli import SECTIONS
from paretopick.cli.begun import say_what_is_there
from paretopick.report import make_report
from support.inputs import heed_interrupts
from support.terminals import call, on_a_terminal, stdout_of

pytestmark = pytest.mark.slow

EXAMPLES = {name: example for section in SECTIONS.values() for name, (_, example) in section.items() if " boosters" in example}
CREATE = ("create", "boosters", "--options", "a,b,c", "--metrics", "response:max,price:min", "--budget", "60")


@pytest.fixture
def folder(tmp_path):
    """A working folder with a study and its backup: 1 and 3 are out, 2 was told, and a table is there to be imported."""
    return working_folder(tmp_path, "doubt")


@pytest.fixture
def rounds(tmp_path):
    """The same with a policy that plans rounds."""
    return working_folder(tmp_path, "ege-sr")


def working_folder(tmp_path, policy):
    study = pp.Study.create(
        "boosters",
        options=["a", "b", "c"],
        metrics={"response": "max", "price": "min"},
        budget=60,
        policy=policy,
        storage=tmp_path / "paretopick.db",
    )
    study.ask(3, worker="main")
    study.tell(2, (0.5, 2))
    study.close()
    shutil.copy(tmp_path / "paretopick.db", tmp_path / "backup.db")
    (tmp_path / "filled.csv").write_text("option,response,price\na,1,3\n")
    return tmp_path


@pytest.mark.parametrize("verb", [verb for verb in EXAMPLES if verb != "create"])
def test_every_help_text_ends_in_an_example_that_runs_and_prints_json_if_asked(verb, folder, tmp_path_factory):
    _, *example = shlex.split(EXAMPLES[verb])
    if verb == "reinstate":
        stdout_of("retire", "boosters", "c", "sold out", cwd=folder)
    assert " ".join(stdout_of(verb, "--help").split()).endswith(f"Example: {EXAMPLES[verb]}")
    copy = shutil.copytree(folder, tmp_path_factory.mktemp("copy") / "folder")
    assert stdout_of(*example, cwd=folder)
    to_stdout = [word for word in example if word not in ("-o", "sheet.csv", "measurements.csv", "report.html")]
    assert json.loads(stdout_of(*to_stdout, "--json", cwd=copy)) is not None


def test_a_study_by_hand(folder):
    state = json.loads(stdout_of("status", "boosters", "--json", cwd=folder))
    assert (state["used"], len(state["out"]), state["round"]) == (1, 2, 1)
    assert "Measurement 1 is kept" in stdout_of("tell", "boosters", "1", '{"price": 3, "response": 0.1}', cwd=folder)
    assert "is void" in stdout_of("void", "boosters", "1", "wrong dose", cwd=folder)
    refused = call("tell", "boosters", "3", "response=0.5", cwd=folder)
    assert refused.returncode == 2
    assert refused.stderr == (
        "error: there is no value for metric 'price', only for 'response'; a measurement needs 'response', 'price', and None for "
        "what could not be measured.\n"
    )
    refused = call("tell", "boosters", "2", "response=9", "price=2", cwd=folder)
    assert "already told response=0.5, price=2" in refused.stderr
    stdout_of("tell", "boosters", "2", "response=0.5", "price=2", cwd=folder)  # the same once more: harmless
    for text, message in [
        ("response", "'response' in the values is not NAME=VALUE"),
        ("response=x", "does not end in a number; write response=none for what could not be measured"),
        ("response=nan", "metric 'response' is nan"),
    ]:
        assert message in call("tell", "boosters", "3", text, "price=1", cwd=folder).stderr
    assert "'price' is in the values twice" in call("tell", "boosters", "3", "price=1", "price=1", cwd=folder).stderr
    assert "no study named 'bosters'; did you mean 'boosters'?" in call("status", "bosters", cwd=folder).stderr
    assert "there is a study named 'boosters'" in call(*CREATE, cwd=folder).stderr


def test_what_is_missing_and_what_stands_beside_the_metrics_is_told(folder):
    stdout_of("tell", "boosters", "1", "response=0.5", "price=none", "plate=3", "by=Ada Lovelace", "lot=", cwd=folder)
    stdout_of("tell", "boosters", "3", "response=", "price=2", "plate=4", cwd=folder)
    rows = json.loads(stdout_of("measurements", "boosters", "--json", cwd=folder))
    kept = [[row[name] for name in ("number", "response", "price", "plate", "by")] for row in rows]
    assert kept == [[2, 0.5, 2.0, None, None], [1, 0.5, None, 3.0, "Ada Lovelace"], [3, None, 2.0, 4.0, None]]
    assert "lot" not in rows[0]


def test_measurements_are_listed_and_chosen_by_what_they_have_in_common(tmp_path):
    (tmp_path / "options.csv").write_text("option,dose\na,1\nb,2\n")
    stdout_of("create", "s", "--options", "options.csv", "--metrics", "m:max", "--budget", "20", cwd=tmp_path)
    assert stdout_of("measurements", cwd=tmp_path) == "There are none yet.\n"
    stdout_of("ask", "s", "-n", "4", cwd=tmp_path)
    for number, plate in (("1", "7"), ("2", "7"), ("3", "8")):
        stdout_of("tell", "s", number, f"m={number}.5", f"plate={plate}", cwd=tmp_path)
    stdout_of("fail", "s", "4", "broke", cwd=tmp_path)
    header, *lines = stdout_of("measurements", "s", cwd=tmp_path).splitlines()
    assert header.split() == ["number", "option", "dose", "repeat", "m", "status", "why", "worker", "at", "plate"]
    assert lines[0].split()[:7] == ["1", "a", "1", "0", "1.5", "valid", "main"]
    assert lines[3].split()[:6] == ["4", "b", "2", "1", "failed", "broke"]
    found = stdout_of("measurements", "s", "--where", "plate=7", "--where", "dose=2", "--csv", cwd=tmp_path)
    assert found.startswith("number,option,dose,round,repeat,m,status,why,worker,at,study,plate\n2,b,2,1,0,2.5,told,,main,")
    assert stdout_of("measurements", "s", "--csv", cwd=tmp_path) == stdout_of("export", "s", cwd=tmp_path)
    assert json.loads(stdout_of("measurements", "s", "--where", "status=valid", "--json", cwd=tmp_path))[2]["number"] == 3
    assert stdout_of("measurements", "s", "--where", "plate=9", cwd=tmp_path) == "There are none.\n"
    for given, message in [
        (("--where", "plat=7"), "no column of the measurements named 'plat'; did you mean 'plate'?"),
        (("--where", "plate"), "--where 'plate' is not COLUMN=VALUE, such as plate=3"),
        (("--where", "m=1", "--where", "m=2"), "--where names 'm' twice"),
        (("--csv", "--json"), "choose one"),
    ]:
        assert message in call("measurements", "s", *given, cwd=tmp_path).stderr


def test_many_measurements_are_taken_back_at_once_or_none(folder):
    for number in ("1", "3"):
        stdout_of("tell", "boosters", number, "response=1", "price=1", "plate=3", cwd=folder)
    assert "Measurements 1, 2 and 3 are void; 0 of 60" in stdout_of(
        "void", "boosters", "1", "2", "3", "--why", "wrong dose", cwd=shutil.copytree(folder, folder / "copy")
    )
    assert "measurement 9 was never handed out" in call("void", "boosters", "1", "9", "--why", "x", cwd=folder).stderr
    assert pp.Study.open("boosters", storage=folder / "paretopick.db").used == 3
    where = ("--where", "plate=3", "--where", "option=c")
    assert "Measurement 3 is void; 2 of 60 measurements count." in stdout_of(
        "void", "boosters", *where, "--why", "wrong plate", cwd=folder
    )
    assert json.loads(stdout_of("void", "boosters", "--where", "plate=3", "scratched", "--json", cwd=folder))["voided"] == [1]
    for given, message in [
        (("2",), "say why they are wrong, which is kept with the study: paretopick void boosters 2 --why"),
        (("2", "5"), "say why they are wrong"),
        (("2", "two", "--why", "x"), "'two' is not the number of a measurement; the reason is said with --why"),
        (("2", "--where", "plate=3", "--why", "x"), "numbers (2) and --where are both given; choose one"),
        (("--where", "plate=3", "--why", "x"), "no valid measurement has plate=3; see paretopick measurements boosters"),
        (("--why", "x"), "void() needs numbers"),
    ]:
        assert message in call("void", "boosters", *given, cwd=folder).stderr


def test_a_measurement_is_corrected_and_the_log_keeps_both(folder):
    text = stdout_of("correct", "boosters", "2", "response=0.7", "--why", "wrong line", cwd=folder)
    assert text == "Measurement 2 is corrected: response was 0.5 and is 0.7; 1 of 60 measurements count.\n"
    stdout_of("correct", "boosters", "2", "price=none", "--why", "of another day", cwd=folder)
    assert "has these values already" in stdout_of("correct", "boosters", "2", '{"price": null}', "--why", "x", cwd=folder)
    (row,) = json.loads(stdout_of("measurements", "boosters", "--json", cwd=folder))
    assert (row["response"], row["price"], row["why"]) == (0.7, None, "corrected: of another day")
    events = pp.Study.open("boosters", storage=folder / "paretopick.db").events()
    assert [event.measured for event in events] == [[0.5, 2.0], [0.7, 2.0], [0.7, None]]
    for given, message in [
        (("2", "response=0.1"), 'say why, which is kept with the study: paretopick correct boosters 2 response=0.1 --why "'),
        (("1", "response=1", "price=1", "--why", "x"), "measurement 1 was not told yet; tell it"),
        (("2", "plate=3", "--why", "x"), "'plate' cannot be corrected; the metrics are 'response', 'price'"),
        (("9", "response=1", "--why", "x"), "measurement 9 was never handed out"),
    ]:
        assert message in call("correct", "boosters", *given, cwd=folder).stderr


def test_options_come_and_go_and_come_again(folder, tmp_path_factory):
    assert "'d' is in the study; it has 4 options now" in stdout_of("add-option", "boosters", "d", cwd=folder)
    assert "'c' is retired" in stdout_of("retire", "boosters", "c", "sold out", cwd=folder)
    assert [row["option"] for row in json.loads(stdout_of("ask", "boosters", "-n", "9", "--json", cwd=folder))].count("d") >= 2
    assert "'c' is in the study again" in stdout_of("reinstate", "boosters", "c", cwd=folder)
    assert "'c' is not retired" in call("reinstate", "boosters", "c", cwd=folder).stderr
    assert "there is an option 'a' already" in call("add-option", "boosters", "a", "--set", "level=9", cwd=folder).stderr
    for words in (("add-option", "boosters", "d"), ("reinstate", "boosters", "a"), ("extend", "boosters", "--budget", "90")):
        other = working_folder(tmp_path_factory.mktemp("rounds"), "ege-sr")
        assert "the rounds of ege-sr are planned for its options and for the budget of 60" in call(*words, cwd=other).stderr


def test_an_option_is_added_with_its_settings(tmp_path):
    (tmp_path / "options.csv").write_text("option,level,kind\na,1,x\nb,2,x\n")
    stdout_of("create", "texts", "--options", "options.csv", "--metrics", "m:max", "--budget", "20", cwd=tmp_path)
    stdout_of("add-option", "texts", "c", "--set", "kind=y", "--set", "level=9", cwd=tmp_path)
    storage = tmp_path / "paretopick.db"
    assert pp.Study.open("texts", storage=storage).definition.settings[2] == {"level": "9", "kind": "y"}
    options = {"a": {"level": 1}, "b": {"level": 2}}
    pp.Study.create("numbers", options=options, metrics={"m": "max"}, budget=20, storage=storage).close()
    stdout_of("add-option", "numbers", "c", "--set", "level=9", cwd=tmp_path)
    assert pp.Study.open("numbers", storage=storage).definition.settings[2] == {"level": 9}
    assert (
        "--set 'level' is not SETTING=VALUE, each setting once; options have 'level'"
        in call("add-option", "numbers", "d", "--set", "level", cwd=tmp_path).stderr
    )
    assert "the other options have 'level'" in call("add-option", "numbers", "d", cwd=tmp_path).stderr


def test_a_value_in_another_unit_is_taken_and_named_with_what_takes_it_back(folder):
    study = pp.Study.open("boosters", storage=folder / "paretopick.db")
    study.add([("a", (0.5 + n / 100, 2 + n / 10)) for n in range(12)])
    kept = call("tell", "boosters", "1", "response=540", "price=2", cwd=folder)
    assert "Measurement 1 is kept" in kept.stdout
    assert re.search(
        r"^note: response=540 of measurement 1 is [\d,]+ standard deviations from what else was measured of 'a', 0.555 on "
        r"average. It counts; if it is wrong: paretopick void boosters 1 --why 'wrong unit'$",
        kept.stderr,
        re.MULTILINE,
    )
    corrected = json.loads(stdout_of("correct", "boosters", "1", "price=2000", "--why", "x", "--json", cwd=folder))
    assert [each["metric"] for each in corrected["far_off"]] == ["response", "price"]
    (command,) = re.findall(r"if it is wrong: paretopick (.*)$", kept.stderr, re.MULTILINE)
    assert "Measurement 1 is void" in stdout_of(*shlex.split(command), cwd=folder)


def test_the_status_of_a_study_without_rounds_says_who_measures_what_and_why(folder):
    first, *_ = stdout_of("status", "boosters", cwd=folder).splitlines()
    assert first == "boosters in sqlite:///paretopick.db, doubt: 1 of 60 measurements used, 0 failed, 2 being made."
    text = stdout_of("status", "boosters", cwd=folder)
    assert "round" not in text
    assert "Next: a (first measurements), b (first measurements), c (first measurements)\n" in text
    assert re.search(r"^\s+3\s+c\s+main\s+\d+\s+first measurements$", text, re.MULTILINE)
    study = pp.Study.open("boosters", storage=folder / "paretopick.db")
    study.add([(option, (mean + n / 10, 1 + n / 10)) for option, mean in (("a", 1.0), ("b", 1.05), ("c", 0.1)) for n in range(4)])
    text = stdout_of("status", "boosters", cwd=folder)
    assert re.search(r"^Next: .*\(its place is [\d.]+% likely wrong\)", text, re.MULTILINE)
    state = json.loads(stdout_of("status", "boosters", "--json", cwd=folder))
    assert set(state["doubt"]) == {"a", "b", "c"}
    assert state["roundless"]
    assert len(state["next"]) == 3
    for todo in study.ask(45, worker="w"):
        study.tell(todo.number, (1.0 + todo.number % 7, 2.0))
    study.tell([1, 3], [(1.0, 1.0), (0.1, 1.0)])
    assert stdout_of("status", "boosters", cwd=folder).startswith("boosters in sqlite:///paretopick.db, doubt: done, 60 of 60")


def sure_study(folder, **more) -> pp.Study:
    """A study that is sure, of two options that differ a lot."""
    told = {"options": ["a", "b", "c"], "budget": 60, "storage": folder / "paretopick.db", "metrics": {"x": "max", "y": "min"}}
    study = pp.Study.create("s", **(told | more))
    rows = [("a", (9.0, 1.0)), ("b", (1.0, 9.0)), ("c", (1.0, 9.5))]
    study.add((option, [value + (n % 4) / 10 for value in row]) for n in range(12) for option, row in rows)
    return study


def test_a_status_says_how_sure_it_is_and_why_it_stopped(tmp_path):
    sure_study(tmp_path, metrics={"x": "max~0.5", "y": "min~0.5"}, confidence=0.95)
    shown = stdout_of("status", "s", cwd=tmp_path)
    assert "Worth keeping: a\nThis set is right within the margins with probability > 99.9%." in shown
    assert "\nIt is right with 95%, as was asked for: 36 measurements were enough.\n" in shown
    state = json.loads(stdout_of("status", "s", "--json", cwd=tmp_path))
    assert f"{state['how_sure']}\n{state['stopped']}\n" in shown


def test_a_status_without_margins_says_what_the_data_resolve(tmp_path):
    study = sure_study(tmp_path)
    study.add_option("d")
    study.add(("d", (8.9 + (n % 4) / 10, 1.0 + (n % 3) / 10)) for n in range(12))
    shown = stdout_of("status", "s", cwd=tmp_path)
    assert "This set is right up to differences of" in shown
    assert "as was asked for" not in shown


def test_a_budget_and_a_confidence_are_extended_at_once(tmp_path):
    study = sure_study(tmp_path, metrics={"x": "max~0.5", "y": "min~0.5"}, confidence=0.95)
    said = stdout_of("extend", "s", "--budget", "90", "--confidence", "0.999", cwd=tmp_path)
    assert "The budget is 90 now, and it is measured until it is right with 99.9%" in said
    assert (study.budget, study.aims[-1].confidence) == (90, 0.999)
    refused = call("extend", "s", "--budget", "80", "--confidence", "0.9", cwd=tmp_path)
    assert "budget=80 is less than the 90" in refused.stderr
    assert study.aims[-1].confidence == 0.999
    for wrong in ((), ("--number", "1", "--budget", "95")):
        assert "say --budget, --confidence or --resolution, or --number alone" in call("extend", "s", *wrong, cwd=tmp_path).stderr


@pytest.mark.parametrize(
    "aim, more",
    [
        ({"resolution": 3.0}, "--resolution 1.5"),
        ({"resolution": {"x": 2.0, "y": 5.0}, "confidence": 0.9}, "--resolution x=1,y=2.5"),
        ({"confidence": 0.95}, "--confidence 0.99"),
        ({}, "--budget 72"),
    ],
)
def test_what_is_finished_says_what_lets_it_go_on(tmp_path, capsys, aim, more):
    study = sure_study(tmp_path, budget=60 if aim else 36, **aim)
    assert study.done
    say_what_is_there(study, study.definition, None, file=None)
    assert f"To go on: paretopick extend s {more}, and then the same again." in capsys.readouterr().err


def test_what_has_a_single_option_left_goes_on_with_others(tmp_path, capsys):
    study = sure_study(tmp_path, confidence=0.99999)
    study.retire("b", "broken")
    study.retire("c", "broken")
    say_what_is_there(study, study.definition, None, file=None)
    assert "To go on: reinstate another option, or add one, and then the same again." in capsys.readouterr().err


def test_status_and_result_show_where_a_study_with_rounds_stands(rounds):
    folder = rounds
    text = stdout_of("status", "boosters", cwd=folder)
    assert "boosters in sqlite:///paretopick.db, ege-sr: round 1 of 2." in text
    assert "1 of 60 measurements count; 44 are due now, 0 failed." in text
    assert re.search(r"^\s+3\s+c\s+main\s+\d+$", text, re.MULTILINE)
    stdout_of("create", "second", "--options", "x,y", "--metrics", "m:max", "--budget", "9", cwd=folder)
    listed = stdout_of("status", cwd=folder)
    assert re.search(r"^boosters\s+1\s+60\s+3\s+3\s+no", listed, re.MULTILINE)
    assert re.search(r"^second\s+0\s+9\s+2\s+2\s+no", listed, re.MULTILINE)
    assert "Best guess so far: none yet" in stdout_of("result", "boosters", cwd=folder)


def test_names_and_numbers_in_a_status_are_read_in_one_way(tmp_path):
    names = ["a", "Gr\u00fcn, mild", "salt and vinegar"]
    storage = tmp_path / "paretopick.db"
    study = pp.Study.create("s", options=names, metrics={"m": "max"}, budget=9, policy="ege-sr", storage=storage)
    text = stdout_of("status", "s", cwd=tmp_path)
    assert '3 still measured: a, "Gr\u00fcn, mild" and "salt and vinegar"\n' in text
    while study.status()["due"] > 1:
        study.tell(study.ask()[0].number, (1.0,))
    assert "; 1 is due now, 0 failed." in stdout_of("status", "s", cwd=tmp_path)


def test_only_the_usual_file_may_be_absent_when_studies_are_listed(tmp_path):
    assert "There are no studies yet" in stdout_of("status", cwd=tmp_path)
    for words, variables in [(("--storage", "typo.db"), {}), ((), {"PARETOPICK_STORAGE": "typo.db"})]:
        for verb in ("status", "result"):
            refused = call(verb, *words, cwd=tmp_path, **variables)
            assert (refused.returncode, refused.stderr[:35]) == (2, "error: there is no database typo.db")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("verb", ["ask", "result", "report", "sheet", "export"])
def test_the_only_study_needs_no_name(verb, folder):
    assert stdout_of(verb, *(["--rehearsals", "0"] if verb == "report" else []), cwd=folder)
    stdout_of("create", "second", "--options", "x,y", "--metrics", "m:max", "--budget", "9", cwd=folder)
    assert "there are 2 studies, 'boosters', 'second'; say which one" in call(verb, cwd=folder).stderr
    for name in ("boosters", "second"):
        stdout_of("delete", name, "--yes", cwd=folder)
    assert "there are no studies yet" in call(verb, cwd=folder).stderr


def test_names_of_metrics_are_shown_as_they_are(tmp_path):
    stdout_of("create", "s", "--options", "a,b", "--metrics", "memory_mb:min", "--budget", "9", cwd=tmp_path)
    assert "memory_mb" in stdout_of("result", cwd=tmp_path)


def test_a_study_is_created_from_a_file_or_from_what_is_typed(bench):
    assert "Created 'study' in sqlite:///paretopick.db: 4 options, 38 measurements planned." in stdout_of(
        "create", "study.toml", cwd=bench
    )
    assert pp.Study.open("study", storage=bench / "paretopick.db").definition.folder == str(bench)
    assert "there is a study named 'study' in sqlite:///paretopick.db already" in call("create", "study.toml", cwd=bench).stderr
    refused = call("create", "study.toml", "--options", "q,r", cwd=bench).stderr
    assert "--options stands beside study.toml, which says what is studied; write it into it" in refused
    refused = call("create", "study.toml", "--metrics", "m:max", "--policy", "apt", cwd=bench).stderr
    assert "--metrics and --policy stand beside study.toml, which says what is studied; write them into it" in refused


def test_a_backup_is_written_checked_and_restored(folder):
    assert stdout_of("backup", "monday.db", cwd=folder) == "Wrote 1 study with 1 event to monday.db, and verified them.\n"
    refused = call("backup", "monday.db", cwd=folder)
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: monday.db is there already; add --force to overwrite it, or choose another name.\n",
    )
    written = json.loads(stdout_of("backup", "monday.db", "--force", "--json", cwd=folder))
    assert written == {"path": "monday.db", "studies": ["boosters"], "events": 1}
    assert "1 study with 1 event to named.db" in stdout_of("backup", "named.db", "boosters", cwd=folder)
    assert "no study named 'bosters'" in call("backup", "none.db", "bosters", cwd=folder).stderr
    assert "is the database itself" in call("backup", "paretopick.db", "--force", cwd=folder).stderr
    stdout_of("tell", "boosters", "1", "response=0.8", "price=3", cwd=folder)
    refused = call("restore", "monday.db", cwd=folder)
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: sqlite:///paretopick.db has 'boosters' with 2 measurements, of which 1 is not in the backup; nothing was "
        "restored. Add --replace to replace what is there.\n",
    )
    assert stdout_of("restore", "monday.db", "boosters", "--replace", cwd=folder) == (
        "Restored boosters with 1 event from monday.db.\n"
        "'boosters' was replaced, and 1 measurement with it that the backup does not have.\n"
    )
    restored = json.loads(stdout_of("restore", "monday.db", "--storage", "new.db", "--json", cwd=folder))
    assert restored == {"studies": ["boosters"], "events": 1, "lost": {}}
    assert "no study named 'bosters'" in call("restore", "monday.db", "bosters", cwd=folder).stderr
    assert "there is no backup none.db; check its name" in call("restore", "none.db", cwd=folder).stderr


def test_a_check_says_that_all_is_well_or_what_is_wrong_where(folder):
    assert stdout_of("check", cwd=folder) == (
        "All is well in sqlite:///paretopick.db: 1 study with 1 event, 2 measurements out with workers. "
        "Every event is there as it was written.\n"
    )
    with contextlib.closing(sqlite3.connect(folder / "paretopick.db")) as connection:
        connection.execute("UPDATE paretopick_events SET measured = '[0.6, 2.0]', request = 'x' WHERE position = 1")
        connection.execute("INSERT INTO paretopick_checkpoints VALUES (1, 7, 'x', '{}', 'x')")
        connection.commit()
    wrong = call("check", "boosters", cwd=folder)
    assert wrong.returncode == 1
    first, second, note, last = wrong.stdout.splitlines()
    assert first == (
        "Wrong in study 'boosters', its definition: it was changed, or event 1 was, which does not follow from it; "
        "restore the study from a backup."
    )
    assert second.startswith("Wrong in study 'boosters', event 1: told: its digest is ")
    assert note.startswith(
        "Note on study 'boosters', event 7: the checkpoint here does not fit: it was changed; there is nothing"
    )
    assert last.startswith("2 things wrong in sqlite:///paretopick.db (1 study with 1 event, ")
    found = call("check", "--json", cwd=folder)
    assert found.returncode == 1
    record = json.loads(found.stdout)
    assert [record[key] for key in ("fine", "studies", "events", "leases")] == [False, ["boosters"], 1, 2]
    assert [(row["study"], row["position"], row["harmless"]) for row in record["findings"]] == [
        ("boosters", 7, True),
        ("boosters", 0, False),
        ("boosters", 1, False),
    ]
    assert "event 1 of study 'boosters' does not follow" in call("status", "boosters", cwd=folder).stderr
    kept = "'boosters' has a damaged log of 1 event, which would be lost; restore a backup if there is one, then add --yes.\n"
    assert call("delete", "boosters", cwd=folder).stderr.endswith(kept)
    assert stdout_of("delete", "boosters", "--yes", cwd=folder) == "Deleted 'boosters' with a damaged log of 1 event.\n"


def test_a_check_of_a_file_by_its_name_says_how_to_name_it(folder):
    refused = call("check", "backup.db", cwd=folder)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: no study named 'backup.db'")
    assert refused.stderr.endswith("To check the file backup.db, write --storage backup.db.\n")
    assert "--storage" not in call("check", "other.db", cwd=folder).stderr
    (folder / "paretopick.db").unlink()
    assert "write --storage backup.db." in call("check", "backup.db", cwd=folder).stderr
    (folder / "empty.db").touch()
    empty = call("check", "--storage", "empty.db", cwd=folder)
    assert (empty.returncode, "Wrong in the database: it has no tables of studies" in empty.stdout) == (1, True)


def test_the_storage_is_an_option_or_a_variable(tmp_path, server):
    url = server.new_database()
    stdout_of(*CREATE, "--storage", url, cwd=tmp_path)
    assert os.listdir(tmp_path) == []
    listed = json.loads(stdout_of("status", "--json", cwd=tmp_path, PARETOPICK_STORAGE=url))
    assert [study["study"] for study in listed] == ["boosters"]
    note, error = call("status", "--storage", "postgresql://x:secret@127.0.0.1:1/y", cwd=tmp_path).stderr.splitlines()
    assert note.startswith("note: others on this machine can read the password in --storage")
    assert error.startswith("error: the database postgresql+psycopg://x:***@127.0.0.1:1/y cannot be used: ")
    said = call("status", cwd=tmp_path, PARETOPICK_STORAGE="postgresql://x:secret@127.0.0.1:1/y").stderr
    assert said.startswith("error: the database postgresql+psycopg://x:***@127.0.0.1:1/y cannot be used: ")


def test_a_sheet_is_filled_in_and_read_back(rounds):
    folder = rounds
    stdout_of("sheet", "boosters", "-o", "round.csv", cwd=folder)
    rows = read_csv(folder / "round.csv")
    assert len(rows) == 42  # 45 in the round, of which one is told and two are with somebody else
    refused = call("sheet", "boosters", "-o", "round.csv", cwd=folder)
    assert "round.csv is there already; add --force" in refused.stderr
    assert "there is no folder nowhere" in call("sheet", "boosters", "-o", "nowhere/x.csv", "--worker", "me", cwd=folder).stderr
    assert {row["worker"] for row in json.loads(stdout_of("status", "boosters", "--json", cwd=folder))["out"]} == {
        "main",
        "sheet",
    }
    for row in rows[:-1]:
        row.update(response=ord(row["option"]), price=int(row["number"]) % 3)
    rows[-1]["failed"] = "lost"
    write_csv(folder / "round.csv", rows)
    text = stdout_of("import", "boosters", "round.csv", cwd=folder)
    assert "Read round.csv: 41 new, 1 failed; 42 of 60 measurements count, round 1." in text
    text = stdout_of("import", "boosters", "round.csv", cwd=folder)
    assert "Read round.csv: 42 known already; 42 of 60 measurements count, round 1." in text
    assert stdout_of("sheet", "boosters", cwd=folder).count("\n") == 2  # the one that failed is due again


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_sheet_without_rounds_has_a_row_for_each_option_and_at_least_eight(folder, tmp_path_factory):
    stdout_of("sheet", "boosters", "-o", "sheet.csv", cwd=folder)
    rows = read_csv(folder / "sheet.csv")
    assert list(rows[0]) == ["number", "option", "repeat", "response", "price", "failed", "study"]
    assert len(rows) == 8
    assert stdout_of("sheet", "boosters", cwd=folder) == (folder / "sheet.csv").read_text()  # the same rows again
    assert stdout_of("sheet", "boosters", "-n", "12", cwd=folder).count("\n") == 13
    assert stdout_of("sheet", "boosters", cwd=folder).count("\n") == 13  # all that are with whoever fills it in
    many = tmp_path_factory.mktemp("many")
    stdout_of("create", "s", "--options", ",".join("abcdefghijk"), "--metrics", "m:max", "--budget", "60", cwd=many)
    assert stdout_of("sheet", "s", cwd=many).count("\n") == 12


def test_a_sheet_with_other_values_is_shown_and_corrects_only_if_one_says_so(folder):
    stdout_of("sheet", "boosters", "-o", "sheet.csv", cwd=folder)
    rows = read_csv(folder / "sheet.csv")
    for row in rows:
        row.update(response=row["number"], price="" if row == rows[1] else 1)
    write_csv(folder / "sheet.csv", rows)
    assert "Read sheet.csv: 8 new; 9 of 60 measurements count." in stdout_of("import", "boosters", "sheet.csv", cwd=folder)
    rows[0]["response"], rows[1]["price"] = 40, 2
    write_csv(folder / "sheet.csv", rows)
    refused = call("import", "boosters", "sheet.csv", cwd=folder)
    assert refused.returncode == 2
    assert [line.split() for line in refused.stdout.splitlines()] == [
        ["row", "number", "option", "metric", "before", "after"],
        ["2", rows[0]["number"], rows[0]["option"], "response", rows[0]["number"], "40"],
        ["3", rows[1]["number"], rows[1]["option"], "price", "missing", "2"],
    ]
    assert refused.stderr == (
        "error: sheet.csv has 2 other values for measurements that the study knows; nothing was imported. If they are right, add "
        "--correct.\n"
    )
    shown = call("import", "boosters", "sheet.csv", "--json", cwd=folder)
    assert (shown.returncode, len(json.loads(shown.stdout)["differences"])) == (2, 2)
    text = stdout_of("import", "boosters", "sheet.csv", "--correct", "--why", "read again", cwd=folder)
    assert "Read sheet.csv: 2 corrected, 6 known already; 9 of 60 measurements count." in text
    rows = json.loads(stdout_of("measurements", "boosters", "--json", cwd=folder))
    assert [row["why"] for row in rows if row["why"]] == ["corrected: read again"] * 2
    assert "8 known already" in stdout_of("import", "boosters", "sheet.csv", cwd=folder)


def test_what_is_wrong_with_a_table_is_said_in_the_words_of_tables(folder):
    (folder / "failed.csv").write_text("option,response,price\na,nan,3\n")
    said = call("import", "boosters", "failed.csv", cwd=folder).stderr
    assert said == (
        "error: failed.csv, row 2: metric 'response' is nan; leave the cell empty; or leave the cells of a measurement that "
        "failed empty, and write the reason into the column 'failed', or leave the row out. Nothing was imported.\n"
    )
    stdout_of("import", "boosters", "filled.csv", cwd=folder)
    (folder / "more.csv").write_text("option,response,price\nb,2,4\na,1,3\n")
    said = call("import", "boosters", "more.csv", cwd=folder).stderr
    assert said.endswith("if it is another one that happens to be equal, add --again. Nothing was imported.\n")
    stdout_of("import", "boosters", "more.csv", "--again", cwd=folder)
    stdout_of("export", "boosters", "-o", "all.json", cwd=folder)
    said = call("import", "boosters", "all.json", cwd=folder).stderr
    assert said == "error: all.json is JSON, and tables are read as CSV; export it as CSV, and read that.\n"


def test_a_sheet_opens_in_spreadsheets(tmp_path):
    stdout_of("create", "s", "--options", "Äpfel,Birnen", "--metrics", "m:max", "--budget", "9", cwd=tmp_path)
    assert (
        "a sheet is written as CSV, and r.xlsx is called otherwise; write -o r.csv"
        in call("sheet", "-o", "r.xlsx", cwd=tmp_path).stderr
    )
    stdout_of("sheet", "-o", "r.csv", cwd=tmp_path)
    assert (tmp_path / "r.csv").read_bytes().startswith("\N{BYTE ORDER MARK}number".encode())
    (tmp_path / "r.csv").write_text((tmp_path / "r.csv").read_text().replace(",,,s", ",1.5,,s"))
    assert "Read r.csv: 8 new; 8 of 9" in stdout_of("import", "s", "r.csv", cwd=tmp_path)


def test_a_sheet_without_rows_is_not_written(folder):
    stdout_of("sheet", "boosters", "-o", "all.csv", "-n", "60", cwd=folder)
    refused = call("sheet", "boosters", "-o", "none.csv", "--worker", "somebody else", cwd=folder)
    assert "there is nothing to measure: all that is left is with others; see paretopick status boosters" in refused.stderr
    assert not (folder / "none.csv").exists()
    assert "0 of 'me' given back (there are some with 'main', 'sheet')" in stdout_of(
        "release", "boosters", "--worker", "me", cwd=folder
    )


def test_export_writes_files_by_their_ending(folder):
    for name, start in [("m.csv", b"number,option,round,"), ("m.json", b"{"), ("m.parquet", b"PAR1")]:
        stdout_of("export", "boosters", "-o", name, cwd=folder)
        assert (folder / name).read_bytes().startswith(start)
    assert stdout_of("export", "boosters", cwd=folder).startswith("number,option")
    assert json.loads(stdout_of("export", "boosters", "--format", "json", cwd=folder))["study"] == "boosters"
    assert "name a file" in call("export", "boosters", "--format", "parquet", cwd=folder).stderr
    assert "no format named 'xls'" in call("export", "boosters", "-o", "m.xls", cwd=folder).stderr


@pytest.mark.parametrize("policy", ["apt:batch=2", "doubt"])
def test_a_study_without_rounds_gets_more_budget(tmp_path, policy):
    stdout_of("create", "s", "--options", "a,b", "--metrics", "m:max", "--budget", "9", "--policy", policy, cwd=tmp_path)
    assert "The budget is 12 now" in stdout_of("extend", "s", "--budget", "12", cwd=tmp_path)
    assert json.loads(stdout_of("status", "s", "--json", cwd=tmp_path))["budget"] == 12
    assert "say --budget, --confidence or --resolution, or --number" in call("extend", "s", cwd=tmp_path).stderr
    assert "is not out with worker 'main'" in call("extend", "s", "--number", "5", cwd=tmp_path).stderr


BENCH = """#!{python} -IS
import json, sys, time
option, counter = sys.argv[1], sys.argv[2]
with open(counter, "a") as file:
    file.write(option + "\\n")
mean = {{"fast": (1, 9), "small": (9, 1), "bad": (9.5, 9.5), "mid": (4, 4)}}[option]
print("some chatter")
print(json.dumps({{"time": mean[0] + time.time_ns() % 1000 / 1e4, "size": mean[1]}}))
"""
STUDY = """
budget = 40
policy = "ege-sr"
command = ["./bench.py", "{option}", "{log}"]
exact = ["size"]
retries = 1

[metrics]
time = "min"
size = "min"

[options]
fast = {log = "calls"}
small = {log = "calls"}
bad = {log = "calls"}
mid = {log = "calls"}
"""


@pytest.fixture
def bench(tmp_path):
    script = tmp_path / "bench.py"
    script.write_text(BENCH.format(python=sys.executable))
    script.chmod(0o755)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def test_run_a_file_creates_and_resumes(bench):
    text = stdout_of("run", "study.toml", cwd=bench)
    assert "Pareto-optimal: fast, small, mid (38 of 40 measurements used)." in text
    assert re.search(r"^bad\s+dominated", text, re.MULTILINE)
    calls = (bench / "calls").read_text().splitlines()
    assert len(calls) == 38
    again = call("run", "study.toml", cwd=bench)  # done: nothing is measured again
    assert again.stdout == f"{text}Nothing was measured now: this is the study 'study' as it was finished before.\n"
    assert "note: the study 'study' was finished before, and nothing is measured now: this is its result." in again.stderr
    assert "To measure anew: another name in study.toml, or paretopick delete study --yes." in again.stderr
    assert len((bench / "calls").read_text().splitlines()) == 38
    record = json.loads(stdout_of("run", "study.toml", "--json", cwd=bench))
    assert record["pareto"] == ["fast", "small", "mid"]
    assert (bench / "paretopick.db").exists()


def test_a_finished_study_without_rounds_says_so_and_how_to_go_on(bench):
    (bench / "study.toml").write_text(STUDY.replace('policy = "ege-sr"', "").replace("budget = 40", "budget = 12"))
    first = call("run", "study.toml", "--workers", "2", cwd=bench)
    assert (first.returncode, "finished before" in first.stderr) == (0, False)
    assert "of 12: best guess: " in first.stderr
    assert "round" not in first.stderr
    again = call("run", "study.toml", cwd=bench)
    (command,) = re.findall(r"To go on: paretopick (extend study --budget 24), and then the same again", again.stderr)
    stdout_of(*command.split(), cwd=bench)
    assert "finished before" not in call("run", "study.toml", cwd=bench).stderr
    assert len((bench / "calls").read_text().splitlines()) == 24


def test_run_from_another_folder_keeps_the_study_there_and_runs_the_command_here(bench, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere")
    assert "Pareto-optimal: fast, small, mid" in stdout_of("run", str(bench / "study.toml"), "--workers", "3", cwd=other)
    assert {name.partition("-")[0] for name in os.listdir(other)} == {"paretopick.db"}


def test_run_with_everything_on_the_command_line(bench):
    text = stdout_of(
        "run", "--options", "fast,small,bad", "--metrics", "time:min,size:min", "--budget", "30", "--exact", "size",
        "--name", "inline", "--policy", "ege-sh", "--", "./bench.py", "{option}", "calls", cwd=bench,
    )  # fmt: skip
    assert "Pareto-optimal: fast, small" in text
    study = pp.Study.open("inline", storage=bench / "paretopick.db")
    assert study.definition.policy == "ege-sh"


def test_run_in_a_shell_with_a_table_of_options(bench):
    (bench / "options.csv").write_text("option,level\none,1\ntwo; rm x,2\n")
    (bench / "x").touch()
    text = stdout_of(
        "run", "--options", "options.csv", "--metrics", "m:max", "--budget", "8", "--shell", "--",
        "echo {option} >> log; echo m=$(({level} * 10 + $RANDOM_OR_NOT 1))", cwd=bench,
    )  # fmt: skip
    assert "Pareto-optimal: two; rm x" in text
    assert set((bench / "log").read_text().splitlines()) == {"one", "two; rm x"}
    assert (bench / "x").exists()


@pytest.mark.parametrize(
    "script, message",
    [
        ("sys.exit('no licence')", "failed: exit code 1; it said: no licence"),
        ("time.sleep(30)", "failed: it was stopped after 0.5 s, without a result"),
        ("print('garbage')", "failed: there is no value for 'time'; it printed: 'garbage'"),
        ("print('time=1\\ntime=2\\nsize=1')", "failed: it printed 'time' twice, 1 and 2"),
        ("print('time=nan\\nsize=1')", "failed: it printed time=nan, which is not a finite number"),
    ],
    ids=["fails", "hangs", "garbage", "twice", "nan"],
)
def test_a_command_that_goes_wrong_is_one_clear_line_and_the_study_is_intact(bench, script, message):
    good = (bench / "bench.py").read_text()
    (bench / "bench.py").write_text(good.replace("mean =", f"if option == 'bad': {script}; sys.exit()\nmean =", 1))
    failed = call("run", "study.toml", "--timeout", "0.5", cwd=bench)
    assert failed.returncode == 2
    assert "Traceback" not in failed.stderr
    lines = [line for line in failed.stderr.splitlines() if line.startswith("measurement ")]
    assert len(lines) == 2
    assert all(message in line for line in lines)
    assert "error: option 'bad' failed 2 times in a row, the last time: " in failed.stderr
    assert "Go on with: paretopick run study.toml" in failed.stderr
    assert "Its last output:\n    $ ./bench.py bad calls" in failed.stderr
    assert "Or without it: paretopick retire study bad REASON" in failed.stderr
    study = pp.Study.open("study", storage=bench / "paretopick.db")
    assert study.status()["out"] == []
    assert study.status()["failed"] == 2
    if "no licence" in message:
        (bench / "bench.py").write_text(good)
        assert "Pareto-optimal: fast, small, mid (38 of 40" in stdout_of("run", "study.toml", cwd=bench)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "budget = 40",
            "budget = 3",
            "study.toml: ege-sr needs 4 measurements or more for 4 options; raise budget=3 to at least 4",
        ),
        ("budget = 40", "bugdet = 40", "study.toml: no key of a study file named 'bugdet'; did you mean 'budget'?"),
        ("budget = 40", "", "study.toml: there is no 'budget'"),
        ('time = "min"', 'time = "least"', "'time' has the goal 'least'"),
        ('["./bench.py"', '["./bensh.py"', "there is no program './bensh.py' that could be run"),
        ('"{log}"', '"{lgo}"', "the command has {lgo}, and options have {log}, {option}"),
        ("budget = 40", "budget = ", "is not valid TOML"),
        ("retries = 1", "retries = -1", "retries=-1 is too small"),
        ("retries = 1", 'timeout = "soon"', "timeout='soon' is not a number"),
        ("retries = 1", "options = 3", "not valid TOML|Cannot"),
        ("retries = 1", "exact = 3", "not valid TOML|Cannot"),
        ('exact = ["size"]', "exact = 3", "exact=3 is not a list of metrics"),
        ('["./bench.py", "{option}", "{log}"]', '"./bench.py \'x"', "cannot be taken apart (No closing quotation)"),
        ('["./bench.py", "{option}", "{log}"]', "7", "command=7 is neither a text nor a list"),
    ],
)
def test_a_file_with_a_mistake_is_refused_before_anything_is_measured(bench, old, new, message):
    (bench / "study.toml").write_text(STUDY.replace(old, new))
    refused = call("run", "study.toml", cwd=bench)
    assert refused.returncode == 2
    assert re.search(message if "|" in message else re.escape(message), refused.stderr)
    assert refused.stderr.count("\n") == 1
    assert not (bench / "calls").exists()


def test_a_study_goes_by_its_script_and_notices_another_command(bench):
    shutil.copy(bench / "bench.py", bench / "other.py")
    given = ("run", "--options", "fast,small", "--metrics", "time:min,size:min", "--budget", "8")
    first = call(*given, "--", "python3", "-W", "error", "bench.py", "{option}", "calls", cwd=bench)
    assert first.returncode == 0, first.stderr
    assert not re.search("note: the (study|command)", first.stderr)
    assert pp.Study.list(storage=bench / "paretopick.db") == ["bench"]
    again = call(*given, "--name", "bench", "--", "python3", "other.py", "{option}", "calls", cwd=bench)
    assert "note: the study 'bench' was begun with another command, python3 -W error bench.py '{option}' calls." in again.stderr
    constant = call(*given, "--name", "constant", "--", "echo", "time=1\nsize=1", cwd=bench)
    assert "note: the command is the same for all options" in constant.stderr


def test_options_are_two_or_more_or_a_file(bench):
    (bench / "options.txt").write_text("name\nfast\nsmall\n")
    given = ("--metrics", "time:min,size:min", "--budget", "8", "--", "./bench.py", "{option}", "calls")
    assert "Pareto-optimal: fast, small" in stdout_of("run", "--options", "options.txt", *given, cwd=bench)
    assert "is one option; give two or more" in call("run", "--options", "options.tx", *given, cwd=bench).stderr


def test_a_study_is_deleted_only_if_one_means_it(folder):
    refused = call("delete", "boosters", cwd=folder)
    assert "'boosters' has 1 measurement, which would be lost" in refused.stderr
    assert "Deleted 'boosters' with 1 measurement." in stdout_of("delete", "boosters", "--yes", cwd=folder)
    assert "There are no studies yet" in stdout_of("status", cwd=folder)


@pytest.mark.parametrize(
    "words, message",
    [
        (("./{option}",), "'./a' cannot be started: No such file"),
        (("sh", "-c", "echo size={option}1 >&2"), "it printed nothing to standard output, and to standard error: 'size=a1'"),
        (("sh", "-c", "echo size=$PARETOPICK_NUMBER"), "an exact metric never changes"),
    ],
    ids=["missing", "stderr", "exact"],
)
def test_what_went_wrong_is_said_without_a_traceback(tmp_path, words, message):
    given = ("--options", "a,b", "--metrics", "size:min", "--exact", "size", "--budget", "9", "--name", "s", "--retries", "0")
    failed = call("run", *given, "--", *words, cwd=tmp_path).stderr
    assert message in failed
    assert "Traceback" not in failed
    assert "Go on with: paretopick run" in failed


def test_a_name_is_never_a_placeholder(tmp_path):
    given = ("run", "--options", "true,false", "--metrics", "m:min", "--budget", "9", "--retries", "0", "--", "{option}")
    assert "The study 'study' is intact" in call(*given, cwd=tmp_path).stderr


def test_what_to_run_must_be_said(bench):
    assert (
        "--budget stands beside study.toml, which says what is studied; write it into it"
        in call("run", "study.toml", "--budget", "9", cwd=bench).stderr
    )
    assert "say what to run" in call("run", cwd=bench).stderr
    assert "there is no file no.toml" in call("run", "no.toml", cwd=bench).stderr
    assert "needs --options, --metrics and --budget" in call("run", "--options", "a,b", "--", "true", cwd=bench).stderr
    several = call("run", "study.toml", "--policy", "apt", "--exact", "size", cwd=bench).stderr
    assert "--policy and --exact stand beside study.toml, which says what is studied; write them into it" in several
    for bad in (("--workers", "0"), ("--workers", "-3"), ("--retries", "-1")):
        assert f"{bad[0]}={bad[1]} is too small" in call("run", "study.toml", *bad, cwd=bench).stderr
    assert not (bench / "paretopick.db").exists()
    assert "there is no command" in call("run", "--options", "a,b", "--metrics", "m:max", "--budget", "9", cwd=bench).stderr
    assert "is not NAME:min or NAME:max" in call("run", "--options", "a,b", "--metrics", "m", "--budget", "9", cwd=bench).stderr


def test_a_file_that_was_changed_is_another_study(bench):
    stdout_of("run", "study.toml", cwd=bench)
    (bench / "study.toml").write_text(STUDY.replace("budget = 40", "budget = 50"))
    assert "budget is 40 there and 50 here" in call("run", "study.toml", cwd=bench).stderr


@pytest.mark.sample(2)
def test_several_runs_share_a_study_on_both_databases(bench, url):
    command = [sys.executable, "-m", "paretopick", "run", "study.toml", "--workers", "2", "--storage", url, "--json"]
    runs = [subprocess.Popen(command, cwd=bench, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    outcomes = [process.communicate(timeout=120) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], outcomes
    results = [json.loads(out) for out, _ in outcomes]
    assert results[0] == results[1] == results[2]
    assert results[0]["used"] == 38
    assert len((bench / "calls").read_text().splitlines()) == 38


@pytest.mark.sample(2)
@pytest.mark.parametrize("columns", [80, 150])
def test_progress_on_a_terminal_shows_count_time_round_options_and_front(bench, columns):
    shown = without_colours(on_a_terminal("run", "study.toml", columns=columns, term="xterm", cwd=bench))
    assert re.search(r"\d+/38 +[-\d]:[-\d]+:[-\d]+ +round [123]/3, [234] options left, best guess: ", shown)
    assert "Pareto-optimal: fast, small, mid" in shown


def without_colours(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown)


def interrupted_run(folder: Path, times: int, **options) -> tuple[int, str]:
    """Exit code and output of a run on a terminal, interrupted so often after some measurements."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "paretopick", "run", "study.toml", "--workers", "2"],
        cwd=folder, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=heed_interrupts, **options,
    )  # fmt: skip
    os.close(slave)
    seen = ""
    try:
        while True:
            if re.search(r"\b[1-9]\d*/38 ", without_colours(seen)) and times:
                os.killpg(process.pid, signal.SIGINT)
                times -= 1
                time.sleep(0.3)
            ready, _, _ = select.select([master], [], [], 60)
            assert ready, "nothing happens"
            seen += os.read(master, 4096).decode(errors="replace")
    except OSError:  # the end of a terminal
        pass
    finally:
        os.close(master)
    return process.wait(60), without_colours(seen)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_finishes_or_gives_back_and_says_how_to_go_on(bench, times):
    slow = (bench / "bench.py").read_text().replace("print(json", "time.sleep(1.0)\nprint(json")
    (bench / "bench.py").write_text(slow)
    start = time.monotonic()
    code, shown = interrupted_run(bench, times)
    assert code == 130
    assert time.monotonic() - start < 30
    assert "stopping: " in shown
    assert re.search(r"Interrupted with \d+ of 40 measurements\. Go on with: paretopick run study\.toml --workers 2", shown)
    assert "Traceback" not in shown
    study = pp.Study.open("study", storage=bench / "paretopick.db")
    assert study.status()["out"] == []
    calls = len((bench / "calls").read_text().splitlines())
    assert study.used == calls if times == 1 else calls - 2 <= study.used <= calls


def test_a_request_to_end_is_like_a_second_ctrl_c(bench):
    slow = (bench / "bench.py").read_text().replace("print(json", "time.sleep(0.3)\nprint(json")
    (bench / "bench.py").write_text(slow)
    process = subprocess.Popen(
        [sys.executable, "-m", "paretopick", "run", "study.toml"], cwd=bench, stderr=subprocess.PIPE, text=True
    )
    while not (bench / "calls").exists():
        time.sleep(0.05)
    process.terminate()
    assert "Go on with: paretopick run study.toml" in process.communicate(timeout=30)[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert pp.Study.open("study", storage=bench / "paretopick.db").status()["out"] == []


@pytest.mark.parametrize(
    "form",
    ["postgresql://{user}:se%40cret@{rest}&sslmode=prefer", "postgresql://{user}@{rest}&password=se%40cret"],
    ids=["login", "setting"],
)
def test_no_password_is_printed_with_what_to_type_or_reaches_the_command(tmp_path, server, form, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "secret of the environment")
    user, _, rest = server.new_database().removeprefix("postgresql://").partition("@")
    storage = form.format(user=user, rest=rest if "?" in rest else f"{rest}?application_name=us")
    given = ("--options", "a,b", "--metrics", "m:min", "--budget", "9", "--name", "s", "--retries", "0", "--storage", storage)
    failed = call("run", *given, "--", "sh", "-c", "env; exit 3", cwd=tmp_path)
    assert failed.returncode == 2
    shown = failed.stderr + json.dumps([event.details for event in pp.Study.open("s", storage=storage).events()])
    assert "cret" not in shown
    assert "PARETOPICK_OPTION=" in shown
    assert shown.count(" (with the password as before)\n") == 2
    again = re.search(r"Go on with: (paretopick run .*) \(with the password as before\)", shown)[1]
    assert not re.search("password|\\*", again)
    assert pp.Study.open("s", storage=shlex.split(again)[shlex.split(again).index("--storage") + 1]).used == 0


def test_a_study_that_nobody_has_named_gets_a_name_of_its_own(tmp_path):
    def run(metric, *more, options="3,4"):
        given = ("run", "--options", options, "--metrics", f"{metric}:min", "--budget", "6", *more)
        return call(*given, "--", "echo", f"{metric}={{option}}", cwd=tmp_path)

    def names():
        return pp.Study.list(storage=tmp_path / "paretopick.db")

    assert run("a").returncode == run("a").returncode == 0
    assert names() == ["echo"]
    other = run("b")
    assert other.returncode == 0
    assert "note: another study is called 'echo' (it was begun with echo 'a={option}'), so this one is 'echo-2'" in other.stderr
    assert "was finished before" in run("b").stderr
    assert names() == ["echo", "echo-2"]
    assert run("c").returncode == 0
    assert names() == ["echo", "echo-2", "echo-3"]
    refused = run("b", "--name", "echo")  # whoever names it means that one
    assert refused.returncode == 2
    assert "there is another study named 'echo'" in refused.stderr
    assert run("a", options="3,4,5").returncode == 0  # what can grow goes on
    assert names() == ["echo", "echo-2", "echo-3"]


@pytest.mark.parametrize(
    "words, name",
    [
        (["./bench.sh", "{option}"], "bench"),
        (["python3", "-W", "error", "a/bench.py", "{option}"], "bench"),
        (["sh", "-c", "sleep 0.0$1; echo m=$1", "x", "{option}"], "sh"),
        (["sh", "-c", "echo m=0.5; cat file.txt"], "file"),
        (["{option}"], "study"),
        (["{option}", "-c", "file.txt"], "file"),
        (["echo", "size={option}"], "echo"),
    ],
)
def test_a_study_is_called_as_its_script_or_its_program(words, name):
    from paretopick.cli.begun import name_of

    assert name_of(" ".join(words).split()) == name


def test_measurements_of_two_commands_are_not_mixed_unless_the_command_was_repaired(tmp_path):
    given = ("run", "--name", "s", "--options", "1,2", "--metrics", "m:min", "--budget", "40")
    begun = call(*given, "--for", "0.01s", "--", "echo", "m={option}", cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    with pp.Study.open("s", storage=tmp_path / "paretopick.db") as study:
        study.add([("1", [1.0])])
    other = (*given, "--for", "0.01s")
    refused = call(*other, "--", "printf", "m={option}", cwd=tmp_path)
    assert refused.returncode == 2
    assert "begun with another command, echo 'm={option}'" in refused.stderr
    assert "add --repaired; if not, choose another --name" in refused.stderr
    repaired = call(*other, "--repaired", "--", "printf", "m={option}", cwd=tmp_path)
    assert repaired.returncode == 0, repaired.stderr
    assert call(*other, "--", "printf", "m={option}", cwd=tmp_path).returncode == 0  # which is its command from now on
    with pp.Study.open("s", storage=tmp_path / "paretopick.db") as study:
        assert study.definition.command == ("printf", "m={option}")
        made = make_report(study, rehearsals=0)
    assert any(row[0] == "command changed" and "printf" in "".join(row) for row in made.incidents)
    assert 'command = ["printf", "m={option}"]' in made.repeat
