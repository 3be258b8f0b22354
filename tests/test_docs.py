"""The documents say what is true: names exist, examples run, lists are complete."""

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.paper import CATALOGUE
from paretopick.paper.catalogue import MAIN
from paretopick.paper.series import EGE_SH, EGE_SR, UNIFORM
from paretopick.plots.methods import KINDS_OF_STUDIES
from paretopick.studies import files
from paretopick.theory import complexity, dominance, gaps, losses, margins

ROOT = Path(__file__).parents[1]
PAPER_MAP = (ROOT / "docs" / "paper-map.md").read_text()
README = (ROOT / "README.md").read_text()


def test_every_test_named_in_the_paper_map_exists():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", PAPER_MAP)
    assert len(named) > 40
    for file, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / "tests" / file).read_text(), re.MULTILINE), f"{file}::{test}"


def _named_in_the_map() -> set[str]:
    rows = [line.split("|")[2] for line in PAPER_MAP.splitlines() if line.count("|") >= 3]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_every_function_named_in_the_paper_map_exists():
    named = {name for name in _named_in_the_map() if "." in name}
    assert len(named) > 30
    for name in named:
        path, key = re.fullmatch(r'([\w.]+?)(?:\["([\w-]+)"\])?', name).groups()
        module, attribute = path.rsplit(".", 1)
        thing = getattr(__import__(f"paretopick.{module}", fromlist=[attribute]), attribute)
        assert key is None or key in thing, name


def test_everything_public_in_the_theory_and_every_registered_name_is_in_the_paper_map():
    named = _named_in_the_map()
    for module in (dominance, gaps, complexity, losses, margins):
        for name in dir(module):
            thing = getattr(module, name)
            if getattr(thing, "__module__", "") == module.__name__ and name in pp.__all__:
                assert f"{module.__name__.removeprefix('paretopick.')}.{name}" in named
    assert {f"theory.bounds.{name}" for name in pp.bounds.__all__} <= named
    assert {f'policies.POLICIES["{name}"]' for name in pp.POLICIES} <= named
    assert {f'schedules.SCHEDULES["{name}"]' for name in pp.SCHEDULES} <= named
    assert set(pp.INSTANCES) <= named


def test_every_figure_and_table_is_in_the_paper_map_at_its_place():
    for entry in CATALOGUE.values():
        assert f"| {entry.place} | `{entry.name}` | {entry.title} |" in PAPER_MAP


PLACES = [
    *(f"Theorem {i}" for i in range(1, 7)),
    *(f"Algorithm {i}" for i in range(1, 4)),
    *("Eqs. (1), (2)", "Eqs. (3), (4)", "Eq. (5)", "Eq. (6)", "Eq. (7)"),
    *("Definition 1", "Lemma 1", "Lemmas 2, 3 and 4", "Corollary 1", "Proposition 1", "Table 1"),
]


@pytest.mark.parametrize("place", PLACES)
def test_every_numbered_place_of_the_paper_is_in_the_map(place):
    assert place in PAPER_MAP


def test_the_misprints_and_choices_are_numbered_without_a_gap():
    numbers = [int(n) for n in re.findall(r"^(\d+)\. \*\*", PAPER_MAP, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 20


def test_the_readme_fits_one_screen_and_names_both_commands():
    assert len(README.splitlines()) <= 60
    assert "    make run" in README
    assert "    make test" in README


def test_the_python_example_of_the_readme_runs(capsys):
    names = {}
    random.seed(0)
    for example in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(example, "README.md", "exec"), names)
    result = names["result"]
    assert "small" in result.pareto
    assert {"large", "twin"} & set(result.pareto)
    assert result.status["slow"] == "dominated"
    assert result.status["huge"] == "infeasible"
    assert result.used < result.budget
    assert re.search(r"^Worth keeping: small, .* The set is right within the margins and limits with", capsys.readouterr().out)


@pytest.mark.slow
def test_the_python_examples_of_data_frames_run_and_say_what_they_say(capsys):
    page = (ROOT / "docs" / "data-frames.md").read_text()
    names = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "data-frames.md", "exec"), names)
    assert capsys.readouterr().out == re.search(r"```\n\n((    .*\n)+)", page)[1].replace("\n    ", "\n")[4:]
    result, table = names["result"], names["result"].to_pandas()
    documented = set(re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))))
    accuracy = {name.replace("seconds", "accuracy") for name in documented if name.startswith("seconds")}
    assert documented | accuracy == {"option", *table.columns}
    assert len(result.measurements) == len(names["study"].to_pandas()) == 40


@pytest.mark.slow
def test_the_guide_to_policies_and_noise_of_ones_own_runs(capsys):
    names = {}
    for example in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "own-policies.md").read_text(), re.DOTALL):
        exec(compile(example, "own-policies.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "FewestPulls on eight, 100 runs at each budget\nat 60: 25 errors, 25% (18% to 34%)\n" in printed
    assert "heavy tails ['Racing: " in printed


def test_the_files_of_an_array_job_are_joined_as_the_page_on_many_machines_says(tmp_path, monkeypatch, capsys):
    bandit = pp.instance("unique-dominator")
    for job in range(2):
        curves = pp.simulate(bandit, ["ege-sr", "uniform"], budgets=[200], rng=1, start=20 * job, runs=20, workers=1)
        (tmp_path / f"part-{job}.json").write_text(json.dumps([curve.to_dict() for curve in curves]))
    monkeypatch.chdir(tmp_path)
    joining = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "many-machines.md").read_text(), re.DOTALL)[0]
    names = {}
    exec(compile(joining, "many-machines.md", "exec"), names)
    assert list(names["whole"].values()) == pp.simulate(bandit, ["ege-sr", "uniform"], budgets=[200], rng=1, runs=40)
    assert capsys.readouterr().out.count("40 runs") == 2


@pytest.mark.slow
def test_the_python_examples_of_the_simulations_run():
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "simulation.md").read_text(), re.DOTALL)
    names = [{} for _ in examples]
    for example, own in zip(examples, names, strict=True):
        exec(compile(example, "simulation.md", "exec"), own)
    assert names[1]["rates"][1] < 0.5 * names[1]["rates"][0]
    assert names[1]["later"].shape == (3, 2)


PICTURES = (ROOT / "docs" / "pictures.md").read_text()


@pytest.mark.slow
def test_the_python_examples_of_the_pictures_run(tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    names = {}
    for example in re.findall(r"```python\n(.*?)```", PICTURES, re.DOTALL):
        exec(compile(example, "pictures.md", "exec"), names)
    plt.close("all")
    assert {path.name for path in tmp_path.iterdir()} == {"front.png", "both.png", "curves.png"}
    assert names["result"].status["slow"] == "dominated"


def test_the_page_of_pictures_names_every_kind_and_shows_what_is_there():
    shown = {ROOT / "docs" / link for link in re.findall(r"\((pictures/[^)]*)\)", PICTURES)}
    assert shown == set((ROOT / "docs" / "pictures").iterdir())
    for kind in KINDS_OF_STUDIES:
        assert f'| `"{kind}"` |' in PICTURES


def test_the_files_that_the_simulations_name_exist():
    for name in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.\w+)`", (ROOT / "docs" / "simulation.md").read_text()):
        assert (ROOT / name).exists(), name


FIGURES = ROOT / "docs" / "figures"
PAGE = ROOT / "docs" / "reproduction.md"


def test_the_pages_of_reproduction_and_policies_link_to_what_is_there_and_to_all_that_is_there():
    pages = PAGE.read_text() + (ROOT / "docs" / "policies.md").read_text()
    links = {ROOT / "docs" / link for link in re.findall(r"\((figures/[^)]*)\)", pages)}
    assert links == set(FIGURES.iterdir())
    assert {f"{entry.name}.png" for entry in CATALOGUE.values() if entry.draws} <= {link.name for link in links}


def test_the_page_of_the_reproduction_says_what_its_data_say():
    """The rates of UA and EGE at the last budget, from the CSV files, stand on the page; all are from 4,000 runs."""
    page = PAGE.read_text()
    for name in MAIN:
        with (FIGURES / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        last = max(int(row["budget"]) for row in rows)
        for algorithm in (UNIFORM, EGE_SR, EGE_SH):
            (row,) = (row for row in rows if row["algorithm"] == algorithm.name and int(row["budget"]) == last)
            assert row["runs"] == "4000"
            rate, low, high = (float(row[key]) for key in ("rate", "low", "high"))
            assert f"{algorithm.label} {rate:.4f} ({low:.4f} to {high:.4f})" in page
    assert page.count("| **holds** |") + page.count("| **does not hold** |") + page.count("| **cannot be decided** |") == 9


def test_the_numbers_that_the_paper_shows_are_met():
    with (FIGURES / "printed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    for row in rows:  # read off curves, or given in words; 0.05 is a width that 4,000 runs leave open at these rates
        assert float(row["ours"]) == pytest.approx(float(row["paper"]), abs=0.06), row


def test_the_data_of_the_sorting_networks_are_not_passed_on():
    assert not [path for path in FIGURES.glob("*.csv") if "log2_area" in path.read_text()]


def test_the_files_that_the_studies_name_exist():
    text = (ROOT / "docs" / "studies.md").read_text()
    for name in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.\w+)`", text):
        assert (ROOT / name).exists(), name
    for key in files.KEYS:
        assert f"`{key}`" in text, key


def test_the_tests_that_the_studies_name_exist():
    defined = {
        name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "studies.md").read_text()))
    assert len(named) > 30
    assert named <= defined, named - defined


def test_the_files_that_the_studies_name_in_their_tables_exist():
    """Tables whose heading says so leave out the folder ``tests``."""
    for name in re.findall(r"`((?:studies|theory)/test_\w+\.py)`", (ROOT / "docs" / "studies.md").read_text()):
        assert (ROOT / "tests" / name).exists(), name


PAIRING = (ROOT / "docs" / "pairing.md").read_text()


def test_the_guide_to_pairing_names_tests_and_files_that_exist():
    for line in PAIRING.splitlines():
        named, files_named = re.findall(r"`(test_\w+)`", line), re.findall(r"`((?:tests|src)/[\w/]+\.py)`", line)
        for name in files_named:
            assert (ROOT / name).exists(), name
        defined = "".join((ROOT / name).read_text() for name in files_named)
        for test in named if files_named else ():
            assert f"def {test}(" in defined, test
    assert len(re.findall(r"`test_\w+`", PAIRING)) > 15


@pytest.mark.slow
@pytest.mark.parametrize("command", re.findall(r"^    paretopick (.*)$", README, re.MULTILINE))
def test_the_commands_of_the_readme_run(command):
    assert subprocess.run([sys.executable, "-m", "paretopick", *command.split()], capture_output=True, check=True).stdout


def test_every_policy_is_in_the_table_of_the_readme():
    for name in pp.POLICIES:
        assert f"`{name}`" in README


def test_the_files_that_contributing_names_exist():
    for name in re.findall(r"`([\w/]+\.py)`", (ROOT / "CONTRIBUTING.md").read_text()):
        if not name.endswith("yours.py"):
            assert (ROOT / name).exists() or (ROOT / "src" / "paretopick" / name).exists(), name
