"""The command line as a user meets it: its words in this process; streams, signals and terminals in processes of their own."""

import csv
import io
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest
import typer

import paretopick as pp
from paretopick.cli import SECTIONS, app, output
from paretopick.metrics import INTERVAL
from support.inputs import heed_interrupts
from support.terminals import call, on_a_terminal, run, stdout_of

ALL = {name: example for section in SECTIONS.values() for name, (_, example) in section.items()}
WITHOUT_A_STUDY = ["demo", "show", "simulate", "paper", "tournament", "plan", "run", "create"]  # the others are tested with one


@pytest.mark.parametrize(
    "verb",
    [None, *(pytest.param(verb, marks=pytest.mark.slow if verb in ("paper", "tournament") else ()) for verb in WITHOUT_A_STUDY)],
)
def test_every_help_text_ends_in_an_example_that_runs(verb, tmp_path):
    text = stdout_of(*filter(None, [verb]), "--help")
    example = " ".join(re.search(r"Example: paretopick ([^\0]*)\Z", text).group(1).split())
    assert verb is None or f"paretopick {example}" == ALL[verb]
    assert stdout_of(*shlex.split(re.sub(r"--runs \d+", "--runs 20", example)), cwd=tmp_path)


@pytest.mark.sample(5)
@pytest.mark.parametrize("verb", [None, *ALL])
def test_help_shows_whole_sentences_at_80_columns(verb):
    text = stdout_of(*filter(None, [verb]), "--help", columns=80)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    for description in descriptions(verb):
        assert description[0].isupper() or description.split()[0] in ("csv,", "html")
        assert not re.match(r"(Of|To|Per|At each|One or)\b", description), "a fragment that needs the name of the option"
        assert "".join(description.split()) in "".join(text.split()), "a description is cut"


def descriptions(verb):
    """The first sentence of every verb, or of a verb all that it says and the help of everything it takes."""
    command = typer.main.get_command(app)
    if verb is None:
        return [one.help.partition("\n\n")[0] for one in command.commands.values()]
    taken = command.commands[verb]
    return [taken.help.partition("\n\n")[0], *(parameter.help for parameter in taken.params if getattr(parameter, "help", None))]


def test_no_arguments_show_the_help():
    assert "demo" in call().stdout + call().stderr


def test_the_version():
    assert stdout_of("--version") == f"paretopick {pp.__version__}\n"


@pytest.mark.slow
def test_the_installed_command_is_the_same_program():
    script = os.path.join(os.path.dirname(sys.executable), "paretopick")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout == stdout_of("--version")


def test_demo_of_a_policy_without_rounds_speaks_of_none():
    text = stdout_of("demo")
    record = json.loads(stdout_of("demo", "--json"))
    assert (record["policy"], record["rounds"], record["patients"]) == ("doubt", None, 2500)
    assert "2500 of 2500 patients with doubt, seed 0." in text
    assert "left in" not in text
    patients = [int(line.split("  ")[-1]) for line in re.findall(r"^[A-Z]\w+/\w+ \+ .*?  \s*\d+", text, re.MULTILINE)]
    assert patients == sorted((row["patients"] for row in record["arms"]), reverse=True)


def test_demo_tells_who_was_found_who_left_when_and_the_truth():
    text = stdout_of("demo", "--policy", "ege-sr")
    record = json.loads(stdout_of("demo", "--policy", "ege-sr", "--json"))
    assert record["truth"] == ["BNT/BNT + m1273", "ChAd/ChAd + m1273"]
    assert record["correct"] == (record["found"] == record["truth"])
    assert sum(row["patients"] for row in record["arms"]) == record["patients"] <= 2500
    assert sorted(row["left_in_round"] for row in record["arms"] if row["left_in_round"]) == list(range(1, 20))
    for row in record["arms"]:
        assert row["arm"] in text
    assert f"Found Pareto-optimal: {', '.join(record['found'])}" in text


def test_demo_says_so_when_it_is_wrong():
    wrong = next(
        seed
        for seed in range(40)
        if not json.loads(stdout_of("demo", "--json", "--budget", "100", "--seed", str(seed)))["correct"]
    )
    assert "which is wrong: the truth is BNT/BNT + m1273, ChAd/ChAd + m1273" in stdout_of(
        "demo", "--budget", "100", "--seed", str(wrong)
    )


def test_demo_repeats_with_its_seed_and_runs_with_any_policy():
    assert stdout_of("demo", "--seed", "4") == stdout_of("demo", "--seed", "4")
    assert json.loads(stdout_of("demo", "--policy", "ape-fb:c=10", "--budget", "300", "--json"))["patients"] == 300


@pytest.mark.parametrize("what, names", [("instances", pp.INSTANCES), ("policies", pp.POLICIES), ("schedules", pp.SCHEDULES)])
def test_show_lists_every_entry_of_a_registry(what, names):
    rows = json.loads(stdout_of("show", what, "--json"))
    assert [row["name"] for row in rows] == list(names)
    text = stdout_of("show", what)
    for name in names:
        assert re.search(rf"^{re.escape(name)}\s", text, re.MULTILINE)
    assert all(row["summary"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*pp.INSTANCES, *pp.POLICIES, *pp.SCHEDULES} - {"snw", "snw-paper"}))
def test_show_knows_every_name(name):
    parts = json.loads(stdout_of("show", name, "--json"))
    assert parts
    assert set(parts) == {
        kind for kind, names in (("instance", pp.INSTANCES), ("policy", pp.POLICIES), ("schedule", pp.SCHEDULES)) if name in names
    }
    assert name in stdout_of("show", name)


def test_show_an_instance():
    part = json.loads(stdout_of("show", "cov-boost", "--json"))["instance"]
    assert part["H"] == 549.68
    assert [row["arm"] for row in part["rows"] if row["optimal"]] == ["BNT/BNT + m1273", "ChAd/ChAd + m1273"]


def test_show_a_schedule():
    part = json.loads(stdout_of("show", "sh", "--arms", "206", "--budget", "5000", "--json"))["schedule"]
    assert part["smallest_budget"] == 1648
    assert sum(row["active"] * row["pulls_each"] for row in part["rows"]) == part["cost"] <= 5000


def test_show_the_sorting_networks_from_a_file(snw_path):
    assert json.loads(stdout_of("show", "snw-paper", "--data", snw_path, "--json"))["instance"]["optimal"] == 5
    rows = {row["name"]: row for row in json.loads(stdout_of("show", "instances", "--data", snw_path, "--json"))}
    assert rows["snw"]["H"] == 394_451.07


SIMULATE = ("simulate", "unique-dominator", "--policy", "ege-sr", "--policy", "uniform", "--budget", "100,400", "--runs", "40")


def test_simulate_prints_what_the_library_counts():
    curves = [pp.ErrorCurve.from_dict(record) for record in json.loads(stdout_of(*SIMULATE, "--json"))]
    assert [curve.policy for curve in curves] == ["ege-sr", "uniform"]
    for curve in curves:
        expected = pp.simulate(pp.instance("unique-dominator"), curve.policy, budgets=[100, 400], runs=40, rng=0)
        assert (curve.tallies == expected.tallies).all()


def test_simulate_with_noise_that_arms_share():
    said = ("simulate", "cov-boost", "--policy", "uniform", "--budget", "200", "--runs", "200", "--shared", "0.6")
    bandit = pp.instance("cov-boost")
    paired = pp.Bandit(bandit.means, pp.Gaussian(std=bandit.noise.std, shared=0.6), name=bandit.name)
    expected = pp.simulate(paired, "uniform", budgets=200, runs=200, rng=0)
    (row,) = json.loads(stdout_of(*said, "--json"))
    assert pp.ErrorCurve.from_dict(row).errors.tolist() == expected.errors.tolist()
    assert row["digest"] == expected.digest
    assert "Gaussian noise, 0.6 of it shared" in stdout_of(*said)


def test_simulate_counts_errors_within_margins_and_limits(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("option,speed,price\na,10,1\nb,10.1,1\nc,3,0.5\nd,20,9\n")
    said = (str(path), "--std", "1", "--minimise", "price", "--budget", "40", "--runs", "60", "--policy", "apt")
    asked = ("--margins", "0.5,0.1", "--limits", "none,8")  # of a price: at most
    (record,) = json.loads(stdout_of("simulate", *said, *asked, "--json"))
    bandit = pp.Bandit([[10, -1], [10.1, -1], [3, -0.5], [20, -9]], pp.Gaussian(std=1.0))
    expected = pp.simulate(bandit, "apt", budgets=40, runs=60, rng=0, margins=[0.5, 0.1], limits=[None, -8.0])
    curve = pp.ErrorCurve.from_dict(record)
    assert (curve.tallies == expected.tallies).all()
    assert curve.errors_within[0] < curve.errors[0]
    (row,) = csv.DictReader(io.StringIO(stdout_of("simulate", *said, *asked, "--csv")))
    assert (row["margins"], row["limits"], row["errors_within"]) == ("0.5 0.1", "none -8.0", str(curve.errors_within[0]))
    text = stdout_of("simulate", *said, *asked)
    assert "4 arms, 3 of them within the limits, 2 of those optimal" in text
    assert "not the Pareto set of the arms that keep the limits" in text
    assert "within margins" in text
    assert "within margins" not in stdout_of("simulate", *said)


def test_simulate_as_csv_agrees_with_json():
    rows = list(csv.DictReader(io.StringIO(stdout_of(*SIMULATE, "--csv"))))
    records = json.loads(stdout_of(*SIMULATE, "--json", "--workers", "1"))
    flat = [(record["policy"], row["budget"], row["errors"]) for record in records for row in record["budgets"]]
    assert [(row["policy"], int(row["budget"]), int(row["errors"])) for row in rows] == flat


def test_simulate_as_a_table_has_a_row_for_every_point():
    text = stdout_of(*SIMULATE)
    assert len(re.findall(r"^ege-sr\s+\d+", text, re.MULTILINE)) == 2
    assert len(re.findall(r"^uniform\s+\d+", text, re.MULTILINE)) == 2


def test_a_rate_of_zero_is_an_upper_limit(tmp_path):
    path = tmp_path / "easy.csv"
    path.write_text("option,speed,price\na,10,1\nb,1,9\n")
    assert "--budget is missing" in call("simulate", str(path), "--std", "1").stderr
    text = stdout_of(
        "simulate", str(path), "--std", "0.1,0.2", "--minimise", "price", "--budget", "20", "--runs", "50", "--policy", "uniform"
    )
    assert "< 0.071" in text
    assert "0 of 50" in text


def test_simulate_a_file_of_probabilities(tmp_path):
    path = tmp_path / "coins.csv"
    path.write_text("heads\n0.2\n0.8\n")
    (record,) = json.loads(
        stdout_of("simulate", str(path), "--bernoulli", "--budget", "20", "--runs", "5", "--policy", "apt:batch=4", "--json")
    )
    assert record["options"] == {"batch": 4}
    assert record["instance"] == "coins"


@pytest.mark.parametrize("word, published", [("no", False), ("False", False), ("false", False), ("yes", True), ("TRUE", True)])
def test_a_truth_value_is_what_it_says(word, published):
    arguments = ("unique-dominator", "--policy", f"ape-fb-adapt:as_published={word}", "--budget", "30", "--runs", "2", "--json")
    assert json.loads(stdout_of("simulate", *arguments))[0]["options"] == {"as_published": published}


def test_repeated_options_add_up(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("option,speed,price\na,10,1\nb,1,9\nc,2,3\n")
    file = json.loads(stdout_of("show", str(path), "--minimise", "price", "--minimise", "speed", "--json"))["file"]
    assert [row["optimal"] for row in file["rows"]] == [True, True, True]
    assert file["rows"][0]["means"] == {"-speed": -10.0, "-price": -1.0}
    budgets = ("--budget", "9", "--budget", "12,1e1")
    (record,) = json.loads(
        stdout_of("simulate", str(path), "--std", "1", "--policy", "uniform", *budgets, "--runs", "2", "--json")
    )
    assert [row["budget"] for row in record["budgets"]] == [9, 12, 10]


def test_a_schedule_of_your_own_on_the_command_line():
    spec = 'ege:schedule={"active":[10,4,1],"pulls":[5,10]}'
    (record,) = json.loads(stdout_of("simulate", "unique-dominator", "--policy", spec, "--budget", "90", "--runs", "3", "--json"))
    assert record["budgets"][0]["pulls"] == 90


def test_json_is_json_even_when_the_complexity_is_infinite(tmp_path):
    path = tmp_path / "twins.csv"
    path.write_text("a,b\n1,0\n1,0\n")
    arguments = (str(path), "--std", "1", "--policy", "ape-fb", "--budget", "6", "--runs", "2", "--json")
    (record,) = json.loads(stdout_of("simulate", *arguments), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert record["options"] == {"complexity": "inf"}
    assert "H: inf" in stdout_of("show", str(path))


def test_what_max_arms_missed_is_shown():
    text = stdout_of("simulate", "unique-dominator", "--policy", "ege-sr-k:max_arms=1", "--budget", "100", "--runs", "20")
    assert "max_arms missed" in text
    assert "which is right" in stdout_of("demo", "--policy", "ege-sr-k:max_arms=1", "--seed", "0")


@pytest.mark.sample(4)
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "arguments",
    [("demo",), ("show", "instances"), ("show", "policies"), ("show", "schedules"), ("show", "high-dimension"), SIMULATE],
    ids=" ".join,
)
def test_nothing_is_cut_in_a_narrow_terminal(arguments, columns):
    narrow = stdout_of(*arguments, columns=columns)
    assert "…" not in narrow
    assert columns == 40 or all(len(line) <= columns for line in narrow.splitlines() if "paretopick " not in line)
    names = {"policies": pp.POLICIES, "schedules": pp.SCHEDULES, "demo": pp.instance("cov-boost").arm_names}
    for name in names.get(arguments[-1], ()):
        assert name in narrow


def test_the_closing_hint_of_the_demo_runs():
    text = stdout_of("demo", "--policy", "ege-sr-k:max_arms=1", "--budget", "100")
    (hint,) = re.findall(r"paretopick (simulate .*)$", text, re.MULTILINE)
    assert stdout_of(*shlex.split(hint.replace("--runs 200", "--runs 2")))


@pytest.mark.parametrize("width", range(20, 90))
def test_a_table_in_parts_keeps_an_interval_beside_its_metric(width):
    header = ["option", "status", "compressed_size", INTERVAL, "total_seconds", INTERVAL, "price"]
    columns = output._columns(header, [["zstandard level 19", "pareto", "1,234", "1 to 2", "0.12", "0.1 to 0.2", "3"]])
    parts = [[column.name for column in part] for part in output._parts(columns, width)]
    assert [name for part in parts for name in part[1:]] == header[1:]
    for part in parts:
        assert part[0] == "option"
        assert part[1] != INTERVAL


def test_notes_on_a_terminal_end_their_lines_between_words_and_keep_commands_whole(tmp_path):
    given = ("run", "--name", "a study", "--options", "1,2", "--metrics", "m:min", "--budget", "4", "--", "echo", "m={option}")
    assert call(*given, cwd=tmp_path).returncode == 0
    said = call(*given, cwd=tmp_path, columns=80).stderr
    assert [line for line in said.splitlines() if len(line) > 80] == []
    for command in ("paretopick extend 'a study' --budget 8,", "paretopick delete 'a study' --yes."):
        assert command in said
    whole = " ".join(said.split())
    assert whole.startswith(
        "note: the study 'a study' was finished before, and nothing is measured now: this is its result. To go on"
    )


def test_a_file_may_have_columns_named_like_ours(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("option,optimal,gap\na,1,2\nb,0,5\n")
    rows = json.loads(stdout_of("show", str(path), "--json"))["file"]["rows"]
    assert rows[1] == {"arm": "b", "means": {"optimal": 0.0, "gap": 5.0}, "gap": 1.0, "optimal": True}
    assert re.search(r"b\s+0\s+5\s+1\s+yes", stdout_of("show", str(path)))


def test_a_file_named_like_a_schedule_does_not_hide_it(tmp_path):
    (tmp_path / "sr").write_text("")
    assert "schedule sr" in stdout_of("show", "sr", cwd=tmp_path)


def test_numbers_at_the_end_of_all_floats_are_shown_and_simulated(tmp_path):
    path = tmp_path / "huge.csv"
    path.write_text("a,b\n1.7e308,1.7e308\n-1.7e308,-1.7e308\n")  # infinitely far apart
    assert json.loads(stdout_of("show", str(path), "--json"))["file"]["rows"][0]["gap"] is None
    path.write_text("a,b\n1e200,1e200\n-1e200,-1e200\n")  # of infinite volume
    json.loads(stdout_of("simulate", str(path), "--std", "1", "--budget", "10", "--runs", "2", "--json"))


@pytest.mark.slow
def test_a_result_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "paretopick", "show", "instances"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 1
    assert result.stderr.startswith("error: the result could not be written")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_stdout_holds_the_result_alone():
    result = run(*SIMULATE, "--json")
    json.loads(result.stdout)
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["show", "covboost"], "no entry to show named 'covboost'; did you mean 'cov-boost'?"),
        (["simulate", "covboost"], "no instance named 'covboost'; did you mean 'cov-boost'?"),
        (["simulate", "snw"], "not shipped with the package"),
        (["simulate", "cov-boost", "--policy", "ege-rs"], "no policy named 'ege-rs'"),
        (["simulate", "cov-boost", "--policy", "ege-sr-k"], "ege-sr-k needs max_arms="),
        (["simulate", "cov-boost", "--policy", "ege-sr-k:2"], "'2' in policy='ege-sr-k:2' is not OPTION=VALUE"),
        (["simulate", "cov-boost", "--budget", "many"], "--budget has 'many', which is not a whole number"),
        (["simulate", "cov-boost", "--policy", "ege-sr,uniform"], "names several; give them one by one"),
        (["simulate", "cov-boost", "--policy", "ege-sr:budget=5"], "no option of ege-sr named 'budget'"),
        (["simulate", "cov-boost", "--policy", "ape-fb-adapt:as_published=maybe"], "as_published='maybe' is not a truth value"),
        (["simulate", "cov-boost", "--policy", "ape-fb:complexity=abc"], "complexity='abc' is not a number"),
        (["simulate", "nowhere.txt", "--std", "1"], "there is no file nowhere.txt"),
        (["simulate", "nowhere.csv", "--std", "1", "--bernoulli"], "both given; choose one"),
        (
            ["simulate", "cov-boost", "--policy", "uniform", "--policy", "ege-sh", "--budget", "30"],
            "raise budget=30 to at least 100",
        ),
        (["show", "instances", "--data", "nowhere.csv"], "there is no file nowhere.csv"),
        (["simulate", "cov-boost", "--budget", "20"], "raise budget=20 to at least 21"),
        (["simulate", "cov-boost", "--runs", "0"], "runs=0 is too small"),
        (["simulate", "cov-boost", "--shared", "1"], "shared='1' is not a number from 0 to less than 1"),
        (["simulate", "cov-boost", "--shared", "much"], "shared='much' is not a number from 0"),
        (
            ["simulate", "equal-gaps", "--shared", "0.5"],
            "--shared '0.5' is for Gaussian noise, and that of equal-gaps is Bernoulli",
        ),
        (["simulate", "cov-boost", "--margins", "2%"], "--margins has '2%', which is neither a number nor none"),
        (["simulate", "cov-boost", "--margins", "0.1,0.2"], "margins=[0.1, 0.2] must be one number, or 3, one per objective"),
        (["simulate", "cov-boost", "--margins", "none"], "margins=[None] must be one number, or 3, one per objective"),
        (["simulate", "cov-boost", "--limits", "0.1"], "limits=[0.1] must be 3 numbers, one per objective"),
        (["simulate", "cov-boost", "--std", "1"], "go with a CSV file"),
        (["simulate", "nowhere.csv", "--std", "1"], "there is no file nowhere.csv"),
        (["simulate", "nowhere.csv"], "say how noisy a measurement is with --std 0.5 or --bernoulli"),
        (["simulate", "cov-boost", "--json", "--csv"], "choose one"),
        (["simulate", "cov-boost", "--policy", "uniform", "--policy", "uniform"], "--policy uniform is given twice"),
        (["simulate", "cov-boost", "--policy", "ape-fb", "--budget", "9" * 400], "is too large"),
        (["simulate", "cov-boost", "--budget", "9" * 5000], "which is not a whole number"),
        (["simulate", "nowhere.csv", "--std", "1", "--data", "x"], "nowhere.csv is a file of means already"),
        (["demo", "--budget", "3"], "raise budget=3 to at least 40"),
        (["demo", "--seed", "-1"], "--seed=-1 is too small"),
        (["show", "sr", "--budget", "3"], "raise budget=3 to at least 21"),
        (["simulate", "unique-dominator", "--runs", "", "--budget", "100"], "--runs '' is not one whole number"),
    ],
)
def test_a_mistake_is_one_clear_line_on_stderr(arguments, message):
    result = call(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m paretopick show instances | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert result.stdout.startswith("name")
    assert result.stderr == ""


def interrupted(times: int) -> tuple[int, str]:
    """Exit code and stdout of a run in a terminal of its own, on which the interrupt is typed so often, 0.3 seconds apart."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "paretopick", "simulate", "cov-boost", "--policy", "ege-sr", "--budget", "60"]
    process = subprocess.Popen(
        [*command, "--runs", "200000", "--workers", "2"],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        start_new_session=True,
        preexec_fn=heed_interrupts,
        text=True,
    )
    os.close(slave)
    try:
        seen = ""
        while not re.search(r"\b[1-9]\d*/200000", seen):  # some runs are finished
            ready, _, _ = select.select([master], [], [], 60)
            assert ready, "nothing happens"
            seen += os.read(master, 4096).decode()
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.3)
        output = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        os.close(master)
    return process.returncode, output


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_shows_what_is_finished_and_exits_with_130(times):
    code, output = interrupted(times)
    assert code == 130
    assert re.search(r"^ege-sr\s+60\s", output, re.MULTILINE)


def test_paper_lists_what_there_is():
    listed = json.loads(stdout_of("paper", "--list", "--json"))
    assert {entry["name"] for entry in listed} >= {"cov-boost", "bounds", "gaps", "runtime-20d"}
    assert all(entry["name"] in stdout_of("paper", "--list") for entry in listed[:3])


@pytest.mark.slow
def test_paper_prints_json_with_results_and_files(tmp_path):
    record = json.loads(stdout_of("paper", "gaps", "best-arm", "--runs", "3", "--out", str(tmp_path), "--json"))
    assert [claim["number"] for claim in record["claims"]] == list(range(1, 10))
    results = {claim["number"]: claim["result"] for claim in record["claims"]}
    assert results.pop(9) in ("holds", "does not hold", "cannot be decided")
    assert set(results.values()) == {"not looked at"}
    assert all(part["result"] for claim in record["claims"] for part in claim["parts"])
    assert all(os.path.isfile(file) for file in record["files"])
    assert [row["entry"] for row in record["spent"]] == ["best-arm"]


@pytest.mark.slow
def test_paper_makes_what_needs_no_run(tmp_path):
    text = stdout_of("paper", "gaps", "--out", str(tmp_path))
    assert "Wrote 4 files" in text
    assert "Where the time went" not in text
    assert "Claims not looked at, since they rest on other figures and tables: 1, 2, 3, 4, 5, 6, 7, 8, 9." in text


@pytest.mark.slow
def test_paper_shows_a_bar_on_a_terminal(tmp_path):
    shown = on_a_terminal("paper", "unique-dominator", "--runs", "20", "--out", str(tmp_path), columns=80, term="xterm")
    assert "unique-dominator: " in shown
    assert re.search(r"\d+%", shown)
    assert "Wrote 4 files" in shown


STARTS = {"front.png": b"\x89PNG", "front.PDF": b"%PDF", "front.svg": b"<?xml"}
"""Of files of pictures, with which they begin."""


@pytest.mark.parametrize("name", STARTS)
def test_a_result_is_drawn_as_what_its_file_is_called(name, tmp_path):
    create = ["create", "s", "--options", "a,b", "--metrics", "m:max,p:min", "--budget", "8"]
    stdout_of(*create, cwd=tmp_path)
    drawn = call("result", "s", "--plot", name, "--json", cwd=tmp_path)
    assert json.loads(drawn.stdout)["study"] == "s"
    assert drawn.stderr == f"Wrote the picture to {name}\n"
    assert (tmp_path / name).read_bytes().startswith(STARTS[name])
    again = call("result", "s", "--plot", name, cwd=tmp_path)
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    assert f"Wrote the picture to {name}" in stdout_of("result", "s", "--plot", name, "--force", cwd=tmp_path)


@pytest.mark.parametrize("verb", [["result", "no-such-study"], ["simulate", "no-such-instance"], ["plan", "no-such-source"]])
def test_a_picture_of_another_kind_is_refused_before_anything_else(verb, tmp_path):
    refused = call(*verb, "--plot", "x.gif", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == "error: --plot x.gif must end in .png, .pdf or .svg, which says what to write.\n"


@pytest.mark.slow
def test_simulations_are_drawn_with_a_panel_for_each_instance(tmp_path):
    several = ["cov-boost", "equal-gaps", "--budget", "1000,2000", "--runs", "50", "--plot", "e.svg"]
    assert "Wrote the picture to e.svg" in stdout_of("simulate", *several, cwd=tmp_path)
    drawn = (tmp_path / "e.svg").read_text()
    assert drawn.count('id="axes_') == 2
    assert json.loads(stdout_of("simulate", "cov-boost", "--runs", "50", "--plot", "e.png", "--json", cwd=tmp_path))
