"""Fronts: the record is what the result says, computed another way."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import paretopick as pp
from paretopick import plots
from paretopick.errors import InvalidInput
from support.example_results import many, option_result, result

GOALS = [dict(zip("xy", goals, strict=True)) for goals in itertools.product(("min", "max"), repeat=2)]


def labels(record):
    return str(record.x.label), str(record.y.label)


def test_the_staircase_runs_below_the_front():
    corners = plots.staircase(np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]]))
    assert corners.T.tolist() == [[1, 3], [1, 2], [2, 2], [2, 1], [3, 1]]
    assert plots.staircase(np.array([[1.0, 2.0]])).T.tolist() == [[1, 2]]


def test_optimal_arms_are_told_apart_and_named(axes):
    means = np.array([[1.0, 3.0], [2.0, 2.0], [0.5, 0.5]])
    plots.arms(axes, means, names=["a", "b", "c"], labels=("speed", "size"))
    _, dominated, optimal = axes.lines
    assert dominated.get_xydata().tolist() == [[0.5, 0.5]]
    assert optimal.get_xydata().tolist() == [[1, 3], [2, 2]]
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("speed", "size")


@pytest.mark.parametrize("goals", GOALS, ids=lambda goals: "-".join(goals.values()))
def test_what_is_below_the_staircase_is_what_the_front_dominates(goals):
    from matplotlib.path import Path

    rng = np.random.default_rng(5)
    points = rng.uniform(0, 1, size=(6, 2))
    stairs = plots.staircase(points, tuple(goals.values()), within=((-0.1, 1.1), (-0.1, 1.1)))
    better = np.array([1 if goal == "max" else -1 for goal in goals.values()])
    tried = rng.uniform(-0.1, 1.1, size=(500, 2))
    dominated = [bool((point * better <= points * better).all(axis=1).any()) for point in tried]
    assert Path(stairs.T).contains_points(tried).tolist() == dominated
    assert len(set(dominated)) == 2


def test_nobody_dominates_nothing():
    assert plots.staircase(np.empty((0, 2))).shape == (2, 0)


@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.6])
def test_the_ellipse_has_the_axes_of_the_covariance(correlation):
    mean, errors = np.array((3.0, -1.0)), np.array((0.2, 0.05))
    outline = plots.ellipse(mean, errors, correlation) - mean[:, None]
    covariance = np.outer(errors, errors) * np.array(((1, correlation), (correlation, 1)))
    lengths, directions = np.linalg.eigh(covariance)
    radius = np.sqrt(chi2.ppf(0.95, 2))
    along = directions.T @ outline  # in the coordinates of the axes
    assert ((along / (radius * np.sqrt(lengths))[:, None]) ** 2).sum(axis=0) == pytest.approx(1)
    assert np.abs(along).max(axis=1) == pytest.approx(radius * np.sqrt(lengths), rel=0.01)


def test_an_exact_metric_leaves_a_line_and_two_of_them_a_point():
    line = plots.ellipse(np.array((1.0, 2.0)), np.array((0.0, 0.5)), 0.0)
    assert (line[0] == 1).all()
    assert np.ptp(line[1]) == pytest.approx(2 * 0.5 * np.sqrt(chi2.ppf(0.95, 1)), rel=0.01)
    assert plots.ellipse(np.array((1.0, 2.0)), np.zeros(2), 0.0) is None
    assert plots.ellipse(np.array((1.0, 2.0)), np.array((0.1, np.nan)), 0.0) is None


def test_the_record_says_what_the_result_says():
    options = [
        option_result("slow", "dominated", {"s": 9.0, "q": 0.5}, (0.1, 0.2)),
        option_result("gone", "retired", {"s": 5.0, "q": 0.9}),
        option_result("likely", "pareto", {"s": 2.0, "q": 0.8}, (0.1, 0.2), probability=0.7),
        option_result("sure", "pareto", {"s": 1.0, "q": 0.6}, (0.1, 0.2), probability=0.9),
        option_result("new", "open", {"s": None, "q": None}, measurements=0),
        option_result("open", "open", {"s": 4.0, "q": 0.7}, (0.1, 0.2)),
        option_result("guessed", "open", {"s": 0.5, "q": 0.1}, (0.1, 0.2)),
    ]
    made = result(
        options, {"s": "min", "q": "max"}, pareto=("sure", "likely", "guessed"), correlation=((1, 0.5), (0.5, 1)), done=False
    )
    record = plots.FrontData.of(made)
    assert labels(record) == ("s (small is good)", "q (large is good)")
    assert record.names == record.tags == ("sure", "likely", "guessed", "open", "slow", "gone")
    assert record.kinds == ("pareto", "pareto", "open in", "open out", "dominated", "retired")
    assert record.means.tolist() == [[1, 0.6], [2, 0.8], [0.5, 0.1], [4, 0.7], [9, 0.5], [5, 0.9]]
    assert record.regions[5] is None
    assert (record.regions[0] == plots.ellipse(np.array((1, 0.6)), np.array((0.1, 0.2)), 0.5)).all()
    assert not record.settled
    assert record.notes == ("Ellipses: 95% regions of the means.", "Not measured: new.")
    corner = (record.x.ends[1], record.y.ends[0])  # slow and bad
    assert tuple(record.stairs[:, 0]) == tuple(record.stairs[:, -1]) == corner
    assert record.stairs[:, 2:-2].T.tolist() == [[2, 0.8], [2, 0.6], [1, 0.6], [1, 0.1], [0.5, 0.1]]


def test_metrics_can_be_chosen_and_must_be_there():
    made = many(4, 3)
    record = plots.FrontData.of(made, "metric 3", "metric 1")
    assert labels(record) == ("metric 3 (large is good)", "metric 1 (large is good)")
    assert record.means[0].tolist() == [made.options[0].means["metric 3"], made.options[0].means["metric 1"]]
    assert record.stairs.size == 0  # being dominated in two of three metrics says nothing
    with pytest.raises(ValueError, match="metric 4"):
        plots.FrontData.of(made, "metric 4", "metric 1")
    with pytest.raises(InvalidInput, match="needs two metrics"):
        plots.FrontData.of(many(3, 1))


def test_among_many_options_only_those_that_may_be_optimal_are_named():
    names, chances = ["likely", "unlikely"], (0.4, 0.001)
    metrics = {"x": "max", "y": "max"}
    unsure = [
        option_result(name, "open", {"x": 1.0, "y": 1.0}, probability=chance) for name, chance in zip(names, chances, strict=True)
    ]
    rest = [option_result(f"option {i}", "dominated", {"x": 0.0, "y": float(i)}) for i in range(40)]
    best = [option_result("best", "pareto", {"x": 2.0, "y": 2.0})]
    record = plots.FrontData.of(result([*rest, *unsure, *best], metrics))
    assert record.tags == ("best", "likely", "unlikely")
    assert record.notes == ("Named are the 3 options that are or may be Pareto-optimal.",)
    crowd = plots.FrontData.of(many(50, 2, n_pareto=45))
    assert len(crowd.tags) == 30
    assert [region is not None for region in crowd.regions] == [True] * 45 + [False] * 5
    assert "Named are 30 of the 45 options that are or may be Pareto-optimal." in crowd.notes


def test_limits_hold_the_means_and_do_not_explode_with_one_error():
    options = [option_result(f"{i}", "pareto", {"x": float(i), "y": 1e12}, (1000.0 if i == 0 else 0.1, 0.0)) for i in range(3)]
    record = plots.FrontData.of(result(options, {"x": "max", "y": "min"}))
    (left, right), (bottom, top) = record.x.ends, record.y.ends
    assert left < 0
    assert right > 2
    assert right - left < 8
    assert bottom < 1e12 < top


def test_the_front_is_drawn_with_its_kinds_in_the_legend():
    with plots.look():
        _, (axes,) = plots.new_figure(size=(5, 4))
        record = plots.FrontData.of(many(6, 2, n_pareto=2))
        plots.front(axes, record)
    drawn = {tuple(map(tuple, line.get_xydata())) for line in axes.lines}
    assert {tuple(map(tuple, record.means[:2])), tuple(map(tuple, record.means[2:]))} <= drawn
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Pareto-optimal (2)", "dominated (4)"]
    assert len(axes.patches) == 7  # six ellipses and what is dominated


def test_pairs_have_the_same_numbers_in_every_panel():
    record = plots.PairsData.of(many(16, 4, n_pareto=3))
    assert sorted(record.panels) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert labels(record.panels[(2, 1)]) == ("metric 2 (small is good)", "metric 4 (small is good)")
    assert {panel.names for panel in record.panels.values()} == {record.panels[(0, 0)].names}
    assert all(panel.tags == ("1", "2", "3") for panel in record.panels.values())
    assert record.names == ("option 1", "option 2", "option 3")


def test_with_three_metrics_those_in_doubt_have_numbers_and_of_few_options_all():
    metrics = {"x": "max", "y": "max", "z": "min"}
    rows = [option_result(f"option {i}", "dominated", {"x": 0.0, "y": float(i), "z": 1.0}, probability=0.01) for i in range(20)]
    rows[3:5] = [
        option_result("open", "open", {"x": 1.0, "y": 1.0, "z": 1.0}, probability=0.4),
        option_result("best", "pareto", {"x": 2.0, "y": 2.0, "z": 0.0}, probability=0.99),
    ]
    assert plots.PairsData.of(result(rows, metrics)).names == ("best", "open")
    assert plots.PairsData.of(result(rows[:10], metrics)).names[:2] == ("best", "open")
    assert len(plots.PairsData.of(result(rows[:10], metrics)).names) == 10


def test_what_differs_widely_and_is_positive_is_drawn_on_logarithmic_axes():
    points = np.array([(0.01, 5.0), (0.02, 4.0), (0.4, 3.0), (0.9, 2.0)])
    rows = [
        option_result(f"{i}", "pareto", {"s": s, "b": b}, (0.02, 0.1), interval=(s - 0.04, s + 0.04))
        for i, (s, b) in enumerate(points)
    ]
    record = plots.FrontData.of(result(rows, {"s": "min", "b": "min"}))
    assert (record.x.log, record.y.log) == (True, False)
    assert labels(record) == ("s (small is good, log scale)", "b (small is good)")
    assert 0 < record.x.ends[0] < 0.01
    assert all((region[0] >= record.x.ends[0]).all() for region in record.regions)
    figure = plots.figure_of(result(rows, {"s": "min", "b": "min"}))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    ranked = plots.RankingData.of(result(rows, {"s": "min", "b": "min"}))
    assert (ranked.x.log, str(ranked.x.label)) == (True, "s (small is good, log scale)")
    below = [replace(rows[0], means={"s": -0.01, "b": 5.0}), *rows[1:]]
    assert not plots.FrontData.of(result(below, {"s": "min", "b": "min"})).x.log
    many_metrics = dict.fromkeys("sbcde", "min")
    wide = [replace(row, means={**row.means, "c": 1.0, "d": 1.0, "e": 1.0}) for row in rows]
    wide = [replace(row, intervals=dict.fromkeys(many_metrics), standard_errors=dict.fromkeys(many_metrics)) for row in wide]
    across = plots.ParallelData.of(result(wide, many_metrics))
    assert across.directions[:2] == ("small is good, log scale", "small is good")
    heights = dict(zip(across.names, across.heights[:, 0], strict=True))
    assert heights["1"] == pytest.approx(1 - np.log(2) / np.log(90))
    assert (across.best[0], across.worst[0]) == ("0.01", "0.9")


def test_regions_of_few_measurements_are_as_wide_as_their_intervals():
    rng = np.random.default_rng(0)
    study = pp.Study.create("s", options=["a", "b", "c"], metrics={"m": "max", "n": "max"}, budget=30, storage="sqlite://")
    for todo in study.ask(6):
        study.tell(todo.number, rng.normal(size=2).tolist())
    result = study.result()
    record = plots.FrontData.of(result)
    for name, region in zip(record.names, record.regions, strict=True):
        row = next(row for row in result.options if row.option == name)
        for axis, metric in enumerate(("m", "n")):
            low, high = row.intervals[metric]
            assert np.ptp(region[axis]) == pytest.approx((high - low) * np.sqrt(chi2.ppf(0.95, 2) / chi2.ppf(0.95, 1)), rel=0.01)
