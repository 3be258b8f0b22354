import dataclasses

import numpy as np
import pytest

import paretopick as pp
from paretopick.metrics import Metric, check_metrics, signs_of
from paretopick.plots.fronts import staircase

BANDIT = pp.Bandit([[1.0, 2.0], [2.0, 1.0]], pp.Gaussian(std=1.0))


@pytest.mark.parametrize("goal", ["min", "minimize", "minimise", "minimum", "Minimize", " MIN "])
def test_a_goal_may_be_written_out(goal):
    assert Metric("seconds", goal) == Metric("seconds", "min")
    assert Metric("quality", goal.replace("in", "ax").replace("IN", "AX")).goal == "max"


@pytest.mark.parametrize("goal", ["least", "", None, 1, "minmax", ["min"]])
def test_an_unknown_goal_is_refused_wherever_it_comes_up(goal):
    message = "'y' has the goal"
    with pytest.raises(pp.InvalidInput, match=message):
        Metric("y", goal)
    with pytest.raises(pp.InvalidInput, match=message):
        pp.Pilot.guess(BANDIT, goals={"x": "max", "y": goal})
    with pytest.raises(pp.InvalidInput, match="has the goal"):
        staircase(np.array([[1.0, 3.0], [2.0, 2.0]]), ("max", goal))


def test_a_metric_says_which_direction_is_good():
    small, large = Metric("seconds", "min"), Metric("quality", "max")
    assert (small.sign, large.sign) == (-1.0, 1.0)
    assert (small.title, large.title) == ("seconds (small is good)", "quality (large is good)")
    assert signs_of([small, large]).tolist() == [-1.0, 1.0]


def test_metrics_are_read_from_mappings_records_and_texts():
    expected = (Metric("seconds", "min"), Metric("f:1 {a, b}", "max"))
    assert check_metrics({"seconds": "minimise", "f:1 {a, b}": "max"}) == expected
    assert check_metrics(expected) == check_metrics(iter(expected)) == expected
    assert check_metrics("seconds:minimize, f:1 {a, b}:max") == expected


def test_exact_and_scale_join_the_records():
    assert check_metrics("seconds:min,price:min", exact="price", scale={"seconds": 2}) == (
        Metric("seconds", "min", width=2.0),
        Metric("price", "min", exact=True),
    )
    assert check_metrics([Metric("price", "min", exact=True)], exact=["price"]) == (Metric("price", "min", exact=True),)


def test_what_a_metric_is_divided_by():
    assert Metric("a", "min").divisor(0.5) == 0.5
    assert Metric("a", "min", width=3).divisor(0.5) == 3.0
    assert Metric("a", "min", exact=True).divisor(0.5) == 0.0


@pytest.mark.parametrize(
    "given, change, message",
    [
        ({}, {}, "metrics={} must say which metrics have which goals"),
        ("", {}, "metrics='' must say which metrics"),
        (5, {}, "metrics=5 must say which metrics"),
        (["seconds"], {}, r"metrics=\['seconds'\] must say which metrics"),
        ("seconds", {}, "'seconds' in metrics='seconds' is not NAME:min or NAME:max"),
        ("seconds:fast", {}, "'seconds' has the goal 'fast'"),
        (":min", {}, "':min' in metrics=':min' is not NAME:min"),
        ("a:min,a:max", {}, "metric 'a' is there twice"),
        ([Metric("a", "min"), Metric("a", "max")], {}, "metric 'a' is there twice"),
        ({" a": "min"}, {}, "blanks at its ends"),
        ({"a": "min"}, {"exact": ["b"]}, "no metric named 'b'"),
        ({"a": "min"}, {"exact": 3}, "exact=3 is not a list of metrics"),
        ({"a": "min", "b": "min"}, {"scale": {"a": 1.0}}, "scale has nothing for metric 'b'"),
        ([Metric("a", "min", width=1.0), Metric("b", "min")], {}, "scale has nothing for metric 'b'"),
        ([Metric("a", "min", width=1.0)], {"scale": {"a": 2.0}}, "metric 'a' has the width 1 and in scale 2"),
        ({"a": "min"}, {"scale": {"a": 0}}, "metric 'a' has the width 0"),
        ({"a": "min"}, {"scale": {"a": True}}, "metric 'a' has the width True"),
        ({"a": "min"}, {"scale": {"a": 1.0}, "exact": ["a"]}, "metric 'a' is exact and has a scale"),
    ],
)
def test_metrics_that_cannot_be_used_are_refused_by_name(given, change, message):
    with pytest.raises(pp.InvalidInput, match=message):
        check_metrics(given, **change)


def test_a_metric_never_changes():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Metric("a", "min").goal = "max"


def test_metrics_of_a_study_may_be_records():
    metrics = [pp.Metric("seconds", "minimize", width=0.1), pp.Metric("price", "min", exact=True)]
    study = pp.Study.create("s", options=["a", "b"], metrics=metrics, budget=10, storage="sqlite://")
    assert dict(study.metrics) == {"seconds": "min", "price": "min"}
    assert study.definition.to_dict()["scale"] == {"seconds": 0.1}
    assert study.definition.to_dict()["exact"] == ["price"]


def test_widths_of_numpy_and_beyond_all_numbers():
    assert Metric("a", "min", width=np.float32(0.5)).width == 0.5
    with pytest.raises(pp.InvalidInput, match="has the width 1000"):
        Metric("a", "min", width=10**400)


def test_a_bracket_that_nobody_opened_hides_no_comma():
    assert [metric.name for metric in check_metrics("x]:min,y:max")] == ["x]", "y"]
