"""The results database keeps counts, whole pieces only, and never the same run twice."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.paper.series import Series
from paretopick.simulation.results import TALLIES
from support.paper_results import a_database, counted

DATA = Path(__file__).parents[1] / "data" / "release-0.1"
BANDIT = pp.instance("unique-dominator")
SERIES = Series(BANDIT, "ege-sr", {}, (100, 200))


def test_pieces_add_up_and_survive_a_new_start(tmp_path):
    database = a_database(tmp_path)
    assert database.points(SERIES) == {}
    assert database.add(SERIES, counted(SERIES, last=30, errors=7, pulls=2700), 10**9)
    assert database.add(SERIES, counted(SERIES, first=30, last=50, errors=2, pulls=1800), 10**9)
    points = a_database(tmp_path).points(SERIES)
    assert list(points) == [100, 200]
    for budget, point in points.items():
        assert (point.budget, point.runs, point.curve.errors[0], point.curve.pulls[0]) == (budget, 50, 9, 90)
        assert point.seconds == pytest.approx(1.0)  # half of two seconds, since both budgets used as many pulls


def test_what_the_database_returns_is_what_the_engine_counted(tmp_path):
    database = a_database(tmp_path)
    curve = pp.simulate(BANDIT, "ege-sr", budgets=(100, 200), runs=40, rng=0, hypervolume=False)
    database.add(SERIES, curve, 1)
    for budget, point in database.points(SERIES).items():
        assert point.curve == pp.simulate(BANDIT, "ege-sr", budgets=budget, runs=40, rng=0, hypervolume=False)


def test_runs_that_are_there_already_or_leave_a_gap_are_not_taken(tmp_path):
    database = a_database(tmp_path)
    assert database.add(SERIES, counted(SERIES, last=30, errors=7), 1)
    for first, last in ((0, 30), (0, 50), (20, 40), (31, 40)):
        assert not database.add(SERIES, counted(SERIES, first=first, last=last, errors=1), 1)
    assert [(point.runs, point.curve.errors[0]) for point in database.points(SERIES).values()] == [(30, 7), (30, 7)]


def test_a_piece_that_one_budget_has_already_changes_no_budget(tmp_path):
    database = a_database(tmp_path)
    assert database.add(SERIES, counted(SERIES, budgets=(100,), last=30), 1)
    assert not database.add(SERIES, counted(SERIES, last=30), 1)
    assert list(database.points(SERIES)) == [100]


def test_other_seeds_options_instances_and_kinds_of_runs_are_apart(tmp_path):
    database = a_database(tmp_path)
    database.add(SERIES, counted(SERIES), 1)
    others = [
        Series(BANDIT, "ege-sr", {"spend": "all"}, (100,)),
        Series(BANDIT, "ege-sh", {}, (100,)),
        Series(pp.instance("equal-gaps"), "ege-sr", {}, (100,)),
        Series(BANDIT, "ege-sr", {}, (100,), hypervolume=True),
        Series(BANDIT, "ege-sr", {}, (100,), timed=True),
    ]
    assert all(database.points(other) == {} for other in others)
    assert a_database(tmp_path, seed=1).points(SERIES) == {}
    assert list(database.points(Series(BANDIT, "ege-sr", {}, (200,)))) == [200]


def test_two_at_once_count_a_run_once(tmp_path):
    one, two = a_database(tmp_path), a_database(tmp_path)
    assert one.add(SERIES, counted(SERIES, last=10), 1)
    assert not two.add(SERIES, counted(SERIES, last=20), 1)
    assert two.add(SERIES, counted(SERIES, first=10, last=20), 1)
    assert one.points(SERIES)[100].runs == 20


def test_counts_are_plain_integers_in_plain_columns(tmp_path):
    a_database(tmp_path).add(SERIES, counted(SERIES, **{name: i + 1 for i, name in enumerate(TALLIES)}), 1)
    with contextlib.closing(sqlite3.connect(tmp_path / "results.db")) as database:
        rows = database.execute(f"SELECT instance, policy, budget, {', '.join(TALLIES)} FROM pieces").fetchall()
    assert rows == [("unique-dominator", "ege-sr", T, *range(1, len(TALLIES) + 1)) for T in (100, 200)]


def test_a_file_of_another_layout_is_refused_and_left_alone(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "results.db")) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match=r"another version of paretopick \(layout 99.*name another folder"):
        a_database(tmp_path)


def test_something_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "results.db").write_text("this is a shopping list, and rather a long one for a database header" * 20)
    with pytest.raises(OSError, match=r"results\.db cannot be used: file is not a database"):
        a_database(tmp_path)
    assert (tmp_path / "results.db").read_text().startswith("this is a shopping list")


def test_a_file_of_the_release_before_is_read_and_added_to(tmp_path, monkeypatch):
    monkeypatch.setattr("paretopick.paper.series.__version__", "0.1.0")  # runs of other versions are not counted
    shutil.copy(DATA / "results.db", tmp_path / "results.db")
    for name, expected in json.loads((DATA / "results.json").read_text()).items():
        seed, policy = name.split()
        database = a_database(tmp_path, seed=int(seed))
        series = Series(BANDIT, policy, {"n_rounds": 2} if policy == "ege-gg" else {}, (100, 200))
        found = {str(T): [p.runs, p.curve.errors[0], p.curve.pulls[0]] for T, p in database.points(series).items()}
        assert found == expected
        assert not database.add(series, counted(series, last=50), 1)
        assert database.add(series, counted(series, first=40, last=50, errors=3), 1)
        assert [point.runs for point in database.points(series).values()] == [50, 50]
    assert database.other_seeds() == [0]
    assert database.instances() == {"unique-dominator"}


def test_nothing_but_the_file_is_left_behind(tmp_path):
    a_database(tmp_path).add(SERIES, counted(SERIES), 1)
    assert [path.name for path in tmp_path.iterdir()] == ["results.db"]
