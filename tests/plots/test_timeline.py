"""The state of a study as it is drawn is the one that was run."""

import numpy as np
import pytest

import paretopick as pp
from paretopick import plots
from support.example_results import many, option_result, result


@pytest.fixture(scope="module")
def done():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(6, 2))
    names = list("abcdef")
    return pp.identify(
        lambda name: means[names.index(name)] + 0.3 * rng.normal(size=2), names, {"x": "max", "y": "min"}, 90, policy="ege-sr"
    )


def test_the_record_equals_the_result(done):
    record = plots.TimelineData.of(done)
    rows = {row.option: row for row in done.options}
    assert record.names == tuple(row.option for row in done.ranked())
    assert record.n_rounds == done.round == 5
    for name, kind, last, count in zip(record.names, record.kinds, record.last_round, record.measurements, strict=True):
        assert kind == (rows[name].status if rows[name].status != "open" else "open in" if rows[name].in_answer else "open out")
        assert last == (rows[name].left_in_round or 5)
        assert count == rows[name].measurements
    assert record.left.all()
    assert record.by_rounds


def test_after_each_round_options_are_either_in_or_out(done):
    record = plots.TimelineData.of(done)
    rounds = record.after_each_round()
    left = [row.left_in_round or 5 for row in done.options]
    assert rounds["active"].tolist() == [6 - sum(last <= r for last in left) for r in range(6)]
    assert sum(rounds.values()).tolist() == [6] * 6
    assert rounds["pareto"][-1] + rounds["open in"][-1] == len(done.pareto)


def test_while_a_study_goes_on_some_are_still_in():
    metrics = {"x": "max"}
    options = [
        option_result("in", "open", {"x": 1.0}),
        option_result("accepted", "pareto", {"x": 2.0}, left=1),
        option_result("rejected", "dominated", {"x": 0.0}, left=2),
        option_result("retired", "retired", {"x": None}, measurements=0, left=1),
    ]
    record = plots.TimelineData.of(result(options, metrics, done=False, pareto=("accepted", "in"), rounds=3))
    assert record.names == ("accepted", "in", "rejected", "retired")
    assert record.kinds == ("pareto", "open in", "dominated", "retired")
    assert record.left.tolist() == [True, False, True, True]
    assert record.last_round.tolist() == [1, 3, 2, 1]
    assert record.after_each_round()["active"].tolist() == [4, 2, 1, 1]


@pytest.mark.parametrize("left", [None, 5])
def test_without_eliminations_measurements_are_drawn(left):
    options = [option_result(f"{i}", "pareto", {"x": 1.0}, measurements=3 + i, left=left) for i in range(4)]
    options.append(option_result("broken", "retired", {"x": None}, measurements=0, left=1))
    record = plots.TimelineData.of(result(options, {"x": "max"}))
    assert not record.by_rounds
    (axes,) = plots.timeline_of(result(options, {"x": "max"})).axes
    assert [bar.get_width() for bar in axes.patches] == [3, 4, 5, 6, 0]
    assert axes.get_xlabel() == "measurements"


def test_a_lane_ends_with_the_last_round_and_says_how_many_measurements_it_took(done):
    (axes,) = plots.timeline_of(done).axes
    record = plots.TimelineData.of(done)
    lanes = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert [tuple(line.get_xdata()) for line in lanes] == [(0, last) for last in record.last_round]
    assert [text.get_text() for text in axes.texts] == [*(f"{count}" for count in record.measurements), "measurements"]


def test_many_options_are_summed_up():
    figure = plots.timeline_of(many(80, 2, n_pareto=5))
    (axes,) = figure.axes
    assert axes.get_xlabel() == "after round"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "Pareto-optimal (5)",
        "still measured (0)",
        "dominated (75)",
    ]
    assert plots.TimelineData.of(many(80, 2)).notes == ("Measurements of each option: 5.",)
