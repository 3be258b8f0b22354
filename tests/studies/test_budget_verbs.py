"""Budgets in a unit on the command line: what is spent and left is said wherever a study is."""

import json
import re
import sys

import pytest

import paretopick as pp
from support.terminals import call, stdout_of

CREATE = ("create", "s", "--options", "a,b", "--metrics", "m:max", "--budget")


def study(folder, name="s") -> pp.Study:
    return pp.Study.open(name, storage=folder / "paretopick.db")


@pytest.mark.parametrize(
    "typed, budget",
    [("1200s", ("seconds", 1200.0)), ("20m", ("seconds", 1200.0)), ("2h", ("seconds", 7200.0)), ("5dollars", ("dollars", 5.0))],
)
def test_a_budget_is_typed_with_its_unit(typed, budget, tmp_path):
    said = stdout_of(*CREATE, typed, cwd=tmp_path)
    assert study(tmp_path).budget == budget
    assert f"2 options, a budget of {budget[1]:,.0f} {budget[0]}." in said


def test_what_is_spent_is_said_by_every_verb(tmp_path):
    created = json.loads(stdout_of(*CREATE, "5 dollars", "--json", cwd=tmp_path))
    assert created["spent"] == {"unit": "dollars", "spent": 0.0, "budget": 5.0, "left": 5.0, "over": 0.0}
    stdout_of("ask", "s", "-n", "3", cwd=tmp_path)
    refused = call("tell", "s", "1", "m=3", cwd=tmp_path)
    assert refused.returncode == 2
    assert (
        "measurement 1 of 'a': it does not say what it cost, and the budget is in dollars: dollars=... beside" in refused.stderr
    )
    assert "1 measurement, 0.5 of 5 dollars spent." in stdout_of("tell", "s", "1", "m=3", "dollars=0.5", cwd=tmp_path)
    assert "1 measurement, 0.75 of 5 dollars spent." in stdout_of("fail", "s", "2", "broken", "--cost", "0.25", cwd=tmp_path)
    assert "doubt: 1 measurement, 0.75 of 5 dollars spent, 1 failed, 1 being made." in stdout_of("status", "s", cwd=tmp_path)
    assert "0.75 of 5 dollars" in stdout_of("status", cwd=tmp_path)
    assert "(1 measurement, 0.75 of 5 dollars spent)" in stdout_of("result", "s", cwd=tmp_path)
    assert "Budget: 0.75 of 5 dollars are spent, 4.25 left." in stdout_of("result", "s", cwd=tmp_path)
    assert json.loads(stdout_of("result", "s", "--json", cwd=tmp_path))["spent"]["left"] == 4.25
    assert json.loads(stdout_of("status", "--json", cwd=tmp_path))[0]["spent"]["spent"] == 0.75
    assert "The budget is 8 dollars now; 1 measurement, 0.75 of 8 dollars" in stdout_of(
        "extend", "s", "--budget", "8dollars", cwd=tmp_path
    )
    for wrong, message in [
        ("90", "budget=90 is in measurements, and that of the study, 8 dollars, in dollars"),
        ("20m", "is in seconds, and that of the study"),
        ("1 dollars", "is less than the 8 dollars"),
        ("much", "budget='much' must be a whole number of measurements, or an amount with its unit"),
    ]:
        assert message in call("extend", "s", "--budget", wrong, cwd=tmp_path).stderr


def test_costs_are_typed_by_option_or_named(tmp_path):
    stdout_of(*CREATE, "5dollars", "--cost", "a=0.5,b=1", cwd=tmp_path)
    assert study(tmp_path).definition.cost == {"a": 0.5, "b": 1.0}
    stdout_of("add-option", "s", "c", "--cost", "2", cwd=tmp_path)
    assert study(tmp_path).definition.costs.by_option == (0.5, 1.0, 2.0)
    (tmp_path / "options.csv").write_text("option,fee\na,1\nb,2\n")
    stdout_of(
        "create", "t", "--options", "options.csv", "--metrics", "m:max", "--budget", "9dollars", "--cost", "fee", cwd=tmp_path
    )
    assert study(tmp_path, "t").definition.costs.by_option == (1.0, 2.0)
    assert "cost='m' says what measurements cost" in call("create", "u", *CREATE[2:], "9", "--cost", "m", cwd=tmp_path).stderr
    (tmp_path / "s.toml").write_text('options = ["a", "b"]\nmetrics = {m = "max"}\nbudget = 9\n')
    assert "--cost stands beside s.toml" in call("create", "s.toml", "--cost", "m", cwd=tmp_path).stderr


def test_a_sheet_has_what_a_measurement_costs_in_a_column_of_its_own(tmp_path):
    stdout_of(*CREATE, "5dollars", cwd=tmp_path)
    lines = stdout_of("sheet", "s", cwd=tmp_path).splitlines()
    assert lines[0] == "number,option,repeat,m,dollars,failed,study"
    filled = [line.replace(",,,,s", f",{n},0.5,,s") for n, line in enumerate(lines[1:])]
    (tmp_path / "sheet.csv").write_text("\n".join([lines[0], *filled]))
    assert "2 of 5 dollars spent" in stdout_of("import", "s", "sheet.csv", cwd=tmp_path)


@pytest.mark.slow
def test_a_run_for_a_limited_time_ends_well_and_says_how_to_go_on(tmp_path):
    words = ("--name", "s", "--options", "3,4", "--metrics", "m:min", "--budget", "60")
    noisy = "import os, time; time.sleep(0.1); print('m=' + os.environ['PARETOPICK_NUMBER'])"  # nobody can be sure of that
    command = ("--", sys.executable, "-c", noisy, "{option}")
    first = call("run", *words, "--for", "0.5s", *command, cwd=tmp_path)
    assert first.returncode == 0
    assert "Best guess so far" in first.stdout
    assert "note: the time of this run, 0.5s, is over, and the study is not done (" in first.stderr
    assert "Go on with: paretopick run --name s" in first.stderr
    used = study(tmp_path).used
    assert 0 < used < 60
    assert study(tmp_path).status()["out"] == []
    call("run", *words, "--for", "0.3s", *command, cwd=tmp_path)
    assert used < study(tmp_path).used < 60
    for wrong in ("x", "0", "-3m"):
        refused = call("run", *words, "--for", wrong, *command, cwd=tmp_path)
        assert refused.returncode == 2
        assert "--for=" in refused.stderr


@pytest.mark.slow
def test_a_run_with_a_budget_of_seconds_spends_them_and_goes_on_when_there_are_more(tmp_path):
    def run(budget):
        words = ("--name", "s", "--options", "3,4", "--metrics", "m:min", "--budget", budget)
        return call("run", *words, "--", "sh", "-c", "sleep 0.03; echo m=$1", "x", "{option}", cwd=tmp_path)

    done = run("0.3s")
    assert done.returncode == 0, done.stderr
    assert "Budget: " in done.stdout
    spent = study(tmp_path).spent
    assert 0.3 <= spent.spent < 1
    assert all(row["seconds"] >= 0.03 for row in study(tmp_path).measurements())
    again = run("0.3s")
    assert "To go on: paretopick extend s --budget 0.6s" in again.stderr
    assert study(tmp_path).spent == spent
    assert run("0.6s").returncode == 0
    assert study(tmp_path).spent.spent >= 0.6


@pytest.mark.slow
def test_a_command_prints_what_it_cost_in_a_line_or_is_told_so(tmp_path):
    words = ("--options", "3,4", "--metrics", "m:min", "--budget", "1dollars")
    done = call("run", "--name", "s", *words, "--", "sh", "-c", "echo m=$1; echo dollars=0.125", "x", "{option}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert study(tmp_path).used == 8
    failed = call("run", "--name", "t", *words, "--retries", "0", "--", "echo", "m={option}", cwd=tmp_path)
    assert failed.returncode == 2
    told = r"there is no value for 'dollars'; it printed: 'm=[34]'; print one JSON object, or lines dollars="
    assert re.search(told, failed.stderr), failed.stderr
    spent = call(
        "run", "--name", "u", *words, "--cost", "3=0.5,4=0.25", "--budget", "2dollars", "--", "echo", "m={option}", cwd=tmp_path
    )
    assert spent.returncode == 0, spent.stderr
