"""Runs are made piece by piece, and how they were cut does not show."""

import pytest

import paretopick as pp
from paretopick.errors import SimulationInterrupted
from paretopick.paper import runner as runner_module
from paretopick.paper.runner import Runner
from paretopick.paper.series import Series, affordable
from support.paper_results import a_database

BANDIT = pp.instance("unique-dominator")
SERIES = [
    Series(BANDIT, "ege-sh", {}, (200, 400)),
    Series(BANDIT, "ape-fb", {"c": 9.0}, (200, 400)),
    Series(BANDIT, "apt", {}, (200, 400)),
    Series(BANDIT, "ege-sr-k", {"max_arms": 1}, (200,), share=0.5, hypervolume=True),
]


def fill(folder, runs, several=SERIES, workers=None, progress=None):
    database = a_database(folder)
    one = Runner(database, runs=runs, seed=0, workers=workers, progress=progress)
    one.plan(several)
    for series in several:
        one.fill(series, series.label)
    return [{budget: point.curve for budget, point in database.points(series).items()} for series in several]


def test_adding_runs_equals_running_them_at_once(tmp_path):
    at_once = fill(tmp_path / "a", 100)
    fill(tmp_path / "b", 30, workers=1)
    assert fill(tmp_path / "b", 100) == at_once
    assert [curve.runs for curves in at_once for curve in curves.values()] == [100] * 6 + [50]


def test_the_runs_are_those_of_simulate(tmp_path):
    for series, curves in zip(SERIES, fill(tmp_path, 60), strict=True):
        for budget, curve in curves.items():
            spec = (series.policy, series.options)
            expected = pp.simulate(BANDIT, spec, budgets=budget, runs=curve.runs, rng=0, hypervolume=series.hypervolume)
            assert curve == expected


def test_asking_for_fewer_runs_keeps_those_that_are_there(tmp_path):
    assert fill(tmp_path, 40) == fill(tmp_path, 10)


def test_many_small_pieces_make_the_same_counts(tmp_path, monkeypatch):
    at_once = fill(tmp_path / "a", 100)
    monkeypatch.setattr(runner_module, "PIECE_SECONDS", 1e-6)
    assert fill(tmp_path / "b", 100) == at_once
    database = a_database(tmp_path / "b")
    with database._database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM pieces").scalar_one() > 30


def test_budgets_that_are_behind_catch_up_alone(tmp_path):
    at_once = fill(tmp_path / "a", 80)
    fill(tmp_path / "b", 50, [Series(BANDIT, "ape-fb", {"c": 9.0}, (400,))])
    assert fill(tmp_path / "b", 80) == at_once


def test_progress_says_what_is_running_and_ends_when_all_is_done(tmp_path):
    seen = []
    fill(tmp_path, 50, progress=lambda *step: seen.append(step))
    assert {doing for doing, _, _ in seen} == {series.label for series in SERIES}
    assert all(0 <= done <= total for _, done, total in seen)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert seen[-1][1] == pytest.approx(seen[-1][2])
    seen.clear()
    fill(tmp_path, 50, progress=lambda *step: seen.append(step))
    assert seen == []


def test_ctrl_c_keeps_the_finished_runs_of_the_piece_in_flight(tmp_path):
    slow = Series(BANDIT, "ape-fb", {"c": 9.0}, (2000,))

    def stop(doing, done, total):
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted):
        fill(tmp_path, 4000, [slow], workers=1, progress=stop)
    kept = a_database(tmp_path).points(slow)[2000].runs
    assert 0 < kept < 4000
    assert fill(tmp_path, kept + 20, [slow]) == fill(tmp_path / "other", kept + 20, [slow])


def test_budgets_that_a_policy_cannot_work_with_are_left_out():
    assert affordable(BANDIT, "ege-sh", {}, (10, 39, 40, 41)) == (40, 41)
    assert affordable(BANDIT, "uniform", {}, (9, 10)) == (10,)


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    for name in ("a", "b", "other"):
        (tmp_path / name).mkdir()
