"""The tournament counts what the engine counts, goes on where it stopped, and its page says what its data say."""

import contextlib
import csv
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

import paretopick as pp
from paretopick.errors import SimulationInterrupted
from paretopick.paper import tournament as module
from paretopick.paper.answers import JudgedTwice, _Data, judged_twice
from paretopick.paper.families import problem
from paretopick.paper.policies_page import ADVICE, page_of
from paretopick.paper.ratios import Score, Scores
from paretopick.paper.tournament import entrants, tournament
from paretopick.policies.doubt import likely_optimal
from paretopick.simulation.results import Span
from support.terminals import stdout_of

POLICIES = ["ege-sh", "uniform", "apt:batch=4"]


def rows(folder):
    with (folder / "figures" / "tournament.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def pieces(folder):
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as database:
        return set(database.execute("SELECT key, budget, first_run, last_run, errors, nanoseconds FROM pieces"))


FEW = {"tuning": (3, 15, 20, 24), "judging": (3, 24)}
"""Quick problems; the budget of the second is too small for EGE-SH."""


def few_of(group):
    return [problem(group, number) for number in FEW[group]]


@pytest.fixture(scope="module", autouse=True)
def few_problems():
    """Of each set; other processes have all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "problems", few_of)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory, few_problems):
    """A folder in which a set was run, and what was returned then."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, tournament(["tuning"], out=folder, runs=24, policies=POLICIES)


def test_every_policy_is_run_on_every_problem_and_counted_as_simulate_counts(finished):
    folder, result = finished
    scores = result.scores["tuning"]
    assert {name for name, _ in scores.of} == {one.name for one in few_of("tuning")}
    assert scores.policies == ["ege-sr", *POLICIES]
    assert len(scores.of) == len(rows(folder)) == 15
    for one in few_of("tuning"):
        for choice in entrants(POLICIES):
            if (score := scores.of.get((one.name, choice.text))) is not None:
                curve = pp.simulate(one.bandit, choice, budgets=one.budget, runs=24, rng=0, hypervolume=False)
                assert (score.errors, score.runs) == (curve.errors[0], 24)


def test_ratios_in_the_data_and_means_on_the_page_are_the_literal_ones(finished):
    folder, _ = finished
    table = rows(folder)
    reference = {row["problem"]: (int(row["errors"]) + 0.5) / 25 for row in table if row["policy"] == "ege-sr"}
    page = (folder / "policies.md").read_text()
    for policy in ("ege-sh", "uniform"):
        ratios = [(int(row["errors"]) + 0.5) / 25 / reference[row["problem"]] for row in table if row["policy"] == policy]
        assert [float(row["value"]) for row in table if row["policy"] == policy] == pytest.approx(ratios)
        mean = np.prod(ratios) ** (1 / len(ratios))
        assert f"| `{policy}` | {len(ratios)} | **{mean:.2f}** |" in page
        assert f"| {min(ratios):.2f} |" in page
        assert re.search(rf"^\| `{policy}` \|.*\| {mean:.2f} \|$", page, re.MULTILINE), "the first table"


@pytest.mark.slow
def test_the_page_is_a_function_of_the_database(finished, tmp_path):
    folder, result = finished
    page, before = (folder / "policies.md").read_text(), pieces(folder)
    again = tournament(["tuning"], out=folder, runs=24, policies=POLICIES)
    assert (folder / "policies.md").read_text() == page
    assert pieces(folder) == before
    assert again.rows() == result.rows()
    tournament(["tuning"], out=tmp_path, runs=9, policies=POLICIES, workers=1)
    tournament(["tuning"], out=tmp_path, runs=24, policies=POLICIES, workers=2)
    assert (tmp_path / "policies.md").read_text() == page
    for name in ("tournament.csv", "tournament.png"):
        assert (tmp_path / "figures" / name).read_bytes() == (folder / "figures" / name).read_bytes()


@pytest.mark.slow
def test_the_page_has_all_sets_of_the_folder_and_links_to_what_is_there(tmp_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    monkeypatch.setattr(module, "MAIN", ("cov-boost", "snw-paper"))
    monkeypatch.setattr(module, "MORE", ("all-optimal",))
    tournament(["judging"], out=tmp_path, runs=3, policies=["uniform"])
    result = tournament(["paper"], out=tmp_path, runs=3, policies=["ege-gg"], seed=0)
    assert list(result.scores) == ["paper", "judging"]
    assert result.skipped == ("snw-paper",)
    page = (tmp_path / "policies.md").read_text()
    assert "`paretopick tournament --set paper --policy ege-gg --runs 3`" in page
    assert re.search(
        r"^\| all-optimal \| 10 \| 2 \| 20,000 \| \d\.\d{4} \(1\.00\) \| \d\.\d{4} \(\d\.\d\d\) \|$", page, re.MULTILINE
    )
    assert "## Random problems: judging" in page
    assert str(tmp_path) not in page
    links = re.findall(r"\((figures/[^)]*)\)", page)
    assert sorted(links) == ["figures/tournament.csv", "figures/tournament.png"]
    assert {tmp_path / link for link in links} < set(result.files)
    with Image.open(tmp_path / "figures" / "tournament.png") as picture:
        assert picture.width > 600
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 10


def test_the_page_advises_with_numbers_and_shows_losses():
    several = tuple(few_of("tuning")[:3])
    counted = {"ege-sr": (100, 200, 400), "uniform": (300, 300, 300), "doubt": (20, 60, 500)}
    scores = Scores(
        several,
        {(one.name, policy): Score(n, 1000) for policy, many in counted.items() for one, n in zip(several, many, strict=True)},
    )
    page = page_of({"tuning": scores}, command="paretopick tournament", seed=0)
    mean = np.prod([20.5 / 100.5, 60.5 / 200.5, 500.5 / 400.5]) ** (1 / 3)
    assert "**Take `doubt`** unless" in page
    assert "On 3 random problems that were in view while it was made " in page
    assert f" 19.3% of its answers were wrong, of those of EGE-SR 23.3%; the geometric mean of the ratios is {mean:.2f}." in page
    assert "clearly worse than EGE-SR on 1 of them" in page
    lost = several[2]
    assert re.search(rf"\| `doubt` \| 1 \| {lost.name} \| 9 \| 1 \| 75 \| bernoulli \| 0\.500 \| 0\.400 \| 1\.25 \(1\.1", page)
    assert f"| `uniform` | 3 | {np.prod([20.5, 60.5, 500.5]) ** (1 / 3) / 300.5:.2f} | 2 | 1 | {lost.name} 1.67 |" in page
    without = Scores(several, {key: score for key, score in scores.of.items() if key[1] != "doubt"})
    assert "Take `doubt`" not in page_of({"tuning": without}, command="paretopick tournament", seed=0)


@pytest.mark.slow
def test_a_policy_whose_runs_take_long_makes_fewer_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_RUN", 2e4)
    tournament(["tuning"], out=tmp_path, runs=16, policies=["apt"])
    runs = {(row["problem"], row["policy"]): int(row["runs"]) for row in rows(tmp_path)}
    fewer = [n for (_, policy), n in runs.items() if policy == "apt" and n < 16]
    assert fewer
    assert set(fewer) <= {2, 4, 8}
    why = "where one takes long, or fewer were asked for"
    text = f"16 runs of every policy on every problem; fewer {why}: `apt` on {len(fewer)} problems, down to"
    assert text in (tmp_path / "policies.md").read_text()


def test_a_policy_is_left_out_where_the_budget_is_too_small_for_it(finished):
    folder, _ = finished
    tight = problem("tuning", 15)
    assert tight.budget < pp.smallest_budget("sh", n_arms=tight.bandit.n_arms)
    assert [row["policy"] for row in rows(folder) if row["problem"] == tight.name] == ["ege-sr", "uniform", "apt:batch=4"]


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    def stop(doing, done, total):
        if doing.startswith("uniform on tuning-015"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tournament(["tuning"], out=tmp_path, runs=24, policies=POLICIES, progress=stop)
    before = pieces(tmp_path)
    assert len(before) == 5  # four policies on the first problem, and EGE-SR on the second, whose budget is too small for EGE-SH
    tournament(["tuning"], out=tmp_path, runs=24, policies=POLICIES)
    assert before < pieces(tmp_path)


@pytest.mark.slow
def test_a_killed_tournament_goes_on_and_ends_with_the_same_results(tmp_path):
    arguments = [sys.executable, "-m", "paretopick", "tournament", "--set", "paper", "--policy", "uniform", "--runs", "60"]
    arguments += ["--out", str(tmp_path / "killed")]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "killed" / "results.db").exists() or len(_pieces_if_any(tmp_path / "killed")) < 3:
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    before = pieces(tmp_path / "killed")
    tournament(["paper"], out=tmp_path / "killed", runs=60, policies=["uniform"])
    assert before < pieces(tmp_path / "killed")
    tournament(["paper"], out=tmp_path / "alone", runs=60, policies=["uniform"])
    assert rows(tmp_path / "killed") == rows(tmp_path / "alone")


def _pieces_if_any(folder):
    try:
        return pieces(folder)
    except sqlite3.OperationalError:  # the file is there, and its table is not yet
        return set()


def test_all_policies_that_need_no_options_take_part_and_the_page_says_for_whom_they_are():
    names = [choice.text for choice in entrants()]
    assert names[0] == "ege-sr"
    assert set(names) == set(pp.POLICIES) - {"ege", "ege-sr-k"} == set(ADVICE)


def test_the_command_prints_ratios_and_json(tmp_path):
    words = ("tournament", "--set", "tuning", "--policy", "uniform", "--runs", "5", "--out", str(tmp_path))
    text = stdout_of(*words)
    assert re.search(r"^uniform\s+4\s+\d+\.\d\d\s", text, re.MULTILINE)
    assert f"the page is {tmp_path / 'policies.md'}" in text
    record = json.loads(stdout_of(*words, "--json"))
    assert [row["policy"] for row in record["rows"]] == ["ege-sr", "uniform"] * 4
    assert len(record["files"]) == 4


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"sets": ["jugding"]}, "no set of problems named 'jugding'; did you mean 'judging'?"),
        ({"sets": "judging"}, "sets='judging' is not a list"),
        ({"sets": []}, "sets=[] names no set of problems"),
        ({"policies": "apt"}, "policies='apt' is not a list of policies"),
        ({"policies": ["ege"]}, "ege needs schedule="),
        ({"runs": 0}, "runs=0"),
        ({"seed": -1}, "seed=-1"),
        ({"workers": 0}, "workers=0"),
        ({"answers": 3}, "answers=3"),
        ({"out": "/proc/nothing"}, "is no folder that can be written to"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tournament(**{"sets": ["tuning"], "out": tmp_path, **arguments})
    assert list(tmp_path.rglob("*.csv")) == []


SMALL = pp.Bandit([[0.3, 0.5], [0.5, 0.3], [0.4, 0.25], [0.2, 0.2]], pp.Gaussian(std=0.2), name="small", budget=60)


@pytest.mark.parametrize("policy", ["ege-sr", "uniform", "apt"])
def test_the_own_answers_of_runs_judged_twice_are_those_of_the_policy(policy):
    curve = JudgedTwice(SMALL, policy, {}, (60,)).simulate(budgets=(60,), runs=30, start=5, rng=2, workers=None, progress=None)
    wrong = pulls = 0
    for run in range(5, 35):
        player = pp.policy(policy, n_arms=4, n_objectives=2, budget=60)
        pp.play(SMALL, player, np.random.SeedSequence(2, spawn_key=(run,)))
        wrong += player.recommend().tolist() != np.flatnonzero(SMALL.optimal).tolist()
        pulls += player.counts.sum()
    assert (curve.errors[0], curve.pulls[0] * 30, curve.spans) == (wrong, pulls, (Span((2,), 5, 35),))


def test_the_other_answers_are_those_of_the_rule_to_the_same_data():
    wrong = 0
    for run in range(30):
        rng, counts, sums, values = np.random.default_rng(np.random.SeedSequence(2, spawn_key=(run,))), [], [], []
        player = pp.policy("ege-sr", n_arms=4, n_objectives=2, budget=60)
        while not player.done:
            arms = player.ask()
            drawn = SMALL.sample(arms, rng)
            player.tell(arms, drawn)
            values += list(zip(arms.tolist(), drawn, strict=True))
        several = [np.array([value for arm, value in values if arm == i]) for i in range(4)]
        counts, sums = np.array([len(found) for found in several]), np.array([found.sum(axis=0) for found in several])
        squares = np.array([((found - found.mean(axis=0)) ** 2).sum(axis=0) for found in several])
        wrong += (likely_optimal(counts, sums, squares) != SMALL.optimal).any()
    curve = JudgedTwice(SMALL, "ege-sr", {}, (60,)).simulate(budgets=(60,), runs=30, start=0, rng=2, workers=None, progress=None)
    assert curve.relaxed_losses[0] == wrong > 0


def test_squared_deviations_survive_large_means():
    rng, data = np.random.default_rng(0), _Data(3, 2)
    arms = rng.integers(3, size=300)
    values = 1e9 + rng.normal(size=(300, 2))
    for start in range(0, 300, 50):
        data.add(arms[start : start + 50], values[start : start + 50])
    squares = np.maximum(data.squares - data.sums**2 / data.counts[:, None], 0.0)
    for arm in range(3):
        assert data.counts[arm] == (arms == arm).sum()
        assert squares[arm] == pytest.approx(values[arms == arm].var(axis=0) * data.counts[arm], rel=1e-6)


@pytest.mark.slow
def test_answers_are_kept_and_shown(tmp_path):
    result = tournament(["judging"], out=tmp_path, runs=8, policies=["uniform"], answers=True)
    n = sum(series.policy == "uniform" for series in judged_twice(few_of("judging")))
    page = (tmp_path / "policies.md").read_text()
    assert "`paretopick tournament --set judging --policy uniform --runs 8 --answers`" in page
    assert n == 2
    assert f"| judging | `uniform` | {n} | {4 * n} |" in page
    with contextlib.closing(sqlite3.connect(tmp_path / "results.db")) as database:
        query = "SELECT errors, relaxed_losses, last_run FROM pieces WHERE key LIKE '%-answers' AND policy = 'ege-sr'"
        counts = database.execute(query).fetchall()
    mean = np.prod([(other + 0.5) / (own + 0.5) for own, other, _ in counts]) ** (1 / len(counts))
    assert {runs for *_, runs in counts} == {4}
    assert f"the data of EGE-SR led to {mean:.2f} times as many errors as its own answers in the set judging." in page
    tournament(["judging"], out=tmp_path, runs=8, policies=["uniform"])
    assert f"| judging | `uniform` | {n} | {4 * n} |" in (tmp_path / "policies.md").read_text()
    assert result.scores["judging"].policies == ["ege-sr", "uniform"]


def test_interrupted_answers_are_kept_as_far_as_they_came():
    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted) as stopped:
        JudgedTwice(SMALL, "uniform", {}, (60,)).simulate(budgets=(60,), runs=30, start=3, rng=0, workers=None, progress=stop)
    assert stopped.value.partial.runs == 7
    assert stopped.value.partial.spans[0].first == 3
