import json

import numpy as np
import pytest

import paretopick as pp
from paretopick.metrics import Metric
from paretopick.studies.definition import Definition, define

GOOD = {"options": ["a", "b", "c"], "metrics": {"time": "min", "quality": "max"}, "budget": 30}


def test_a_definition_survives_json():
    definition = define(**GOOD | {"policy": ("apt", {"batch": np.int64(4)}), "exact": ["time"], "scale": {"quality": 2}})
    assert Definition.from_dict(json.loads(json.dumps(definition.to_dict()))) == definition


STORED = {
    "options": ["a", "b", "c"],
    "settings": [{}, {}, {}],
    "metrics": {"time": "min", "quality": "max"},
    "exact": ["time"],
    "budget": 30,
    "policy": "apt",
    "policy_options": {"batch": 4},
    "scale": {"quality": 2.0},
    "command": [],
}
"""As the first release wrote it."""


@pytest.mark.parametrize(
    "stored, given",
    [
        (STORED, {"policy": ("apt", {"batch": 4}), "exact": ["time"], "scale": {"quality": 2.0}}),
        (STORED, {"policy": "apt:batch=4", "metrics": [Metric("time", "min", exact=True), Metric("quality", "max", width=2)]}),
        (STORED | {"scale": "raw"}, {"policy": ("apt", {"batch": 4}), "exact": "time", "scale": "raw"}),
        (STORED | {"scale": "noise", "exact": []}, {"policy": ("apt", {"batch": 4}), "metrics": "time:minimize,quality:maximum"}),
    ],
)
def test_a_definition_of_the_release_before_is_equal_and_stays_as_it_was(stored, given):
    read = Definition.from_dict(json.loads(json.dumps(stored)))
    assert read == define(**GOOD | given)
    assert not read.differences(define(**GOOD | given))
    assert {key: read.to_dict()[key] for key in stored} == stored
    assert list(read.to_dict()["metrics"]) == ["time", "quality"]


def test_rounds_spend_all_of_the_budget_unless_told_otherwise():
    assert define(**GOOD, policy="ege-sr").policy_options == {"spend": "all"}
    assert define(**GOOD, policy=("ege-sr", {"spend": "printed"})).policy_options == {"spend": "printed"}
    assert define(**GOOD, policy="apt").policy_options == {}


@pytest.mark.parametrize(
    "options, names, settings",
    [
        (["x"], ("x",), {}),
        ([1, 2.5, np.int64(3)], ("1", "2.5", "3"), {}),
        ({"x": {"level": 1}, "y": {"level": 2}}, ("x", "y"), {"level": 1}),
        ([{"option": "x", "level": 1}, {"level": 2, "option": "y"}], ("x", "y"), {"level": 1}),
        ([{"name": "x", "codec": "z"}], ("x",), {"codec": "z"}),
        ([{"option": 0, "name": "z"}], ("0",), {"name": "z"}),
        (("a" for _ in range(1)), ("a",), {}),
    ],
)
def test_options_are_names_numbers_mappings_or_rows(options, names, settings):
    definition = define(options=options, metrics={"m": "max"}, budget=100)
    assert definition.options == names
    assert definition.settings[0] == settings


@pytest.mark.parametrize(
    "change, message",
    [
        ({"options": []}, "there are no options"),
        ({"options": "abc"}, "is not a list of names"),
        ({"options": ["a", "a"]}, "option 'a' is there twice"),
        ({"options": ["a", ""]}, "'' cannot be the name of an option"),
        ({"options": ["a", None]}, "None cannot be the name"),
        ({"options": ["a", "b\0"]}, "cannot be printed"),
        ({"options": ["a", "b\ud800"]}, "cannot be printed"),
        ({"options": ["a", "x" * 1001]}, "has 1001 characters"),
        ({"options": {"a": (1, 2), "b": (3, 4)}}, "they are a mapping, such as"),
        ({"options": {"a": {"x": 1}, "b": {"y": 1}}}, "give each option the same ones as 'a'"),
        ({"options": {"a": {"x": [1]}}}, r"has x=\[1\]"),
        ({"options": {"a": {"x": float("nan")}}}, "has x=nan"),
        ({"options": [{"level": 1}]}, "without a name"),
        ({"options": {"a": {"time": 1}}}, "'time' is both a metric and a setting"),
        ({"options": {"a": {"round": 1}}}, "'round' is a column that tables have already"),
        ({"metrics": {}}, "must say which metrics have which goals"),
        ({"metrics": ["time"]}, "must say which metrics have which goals"),
        ({"metrics": {"time": "least"}}, "'time' has the goal 'least'"),
        ({"metrics": {"why": "min"}}, "'why' is a column that tables have already"),
        ({"budget": 2, "policy": "ege-sr"}, "^ege-sr needs 3 measurements or more for 3 options; raise budget=2 to at least 3.$"),
        ({"metrics": [Metric("time", "min", width=2.0)], "scale": "raw"}, "some have a width"),
        ({"budget": 2.5}, "not an int"),
        ({"budget": None}, "budget=None"),
        ({"policy": "ege-rs"}, "did you mean 'ege-"),
        ({"policy": ("ege-sr", {"batch": 3})}, "no option of ege-sr named 'batch'"),
        ({"policy": "ape-fb-adapt"}, "is for simulations"),
        ({"policy": "ege-sr-k"}, "needs max_arms="),
        ({"scale": "nose"}, "scale='nose' must be"),
        ({"scale": {"time": 1.0}}, "nothing for metric 'quality'"),
        ({"scale": {"time": 1.0, "quality": 0}}, "metric 'quality' has the width 0"),
        ({"scale": {"time": 1.0, "quality": float("inf")}}, "has the width inf"),
        ({"scale": {"time": 1.0, "quality": 1e-310}}, "has the width 1e-310"),
        ({"exact": 3}, "exact=3 is not a list"),
        ({"options": ["a", " b"]}, "blanks at its ends"),
        ({"scale": {"tim": 1.0}}, "did you mean 'time'"),
        ({"scale": {"time": 1.0, "quality": 1.0}, "exact": ["time"]}, "'time' is exact and has a scale"),
        ({"exact": ["price"]}, "no metric named 'price'"),
    ],
)
def test_what_cannot_work_is_refused_by_name(change, message):
    with pytest.raises(pp.InvalidInput, match=message):
        define(**GOOD | change)


def test_values_come_by_name_or_in_order():
    definition = define(**GOOD)
    assert definition.values({"quality": 2, "time": np.float32(0.5)}) == [0.5, 2.0]
    assert definition.values([0.5, True]) == [0.5, 1.0]
    assert definition.values(np.array([1, 2])) == [1.0, 2.0]
    assert definition.values({"time": np.array(1.5), "quality": np.array([[2]])}) == [1.5, 2.0]


def test_a_metric_may_be_missing_and_there_may_be_more():
    told = define(**GOOD).told({"quality": 2, "time": None, "plate": np.int64(3), "who": "", "day": None})
    assert told[:2] == ([None, 2.0], {"plate": 3})


@pytest.mark.parametrize(
    "values, message",
    [
        ({"time": 1}, "no value for metric 'quality'"),
        ({"time": 1, "quality": 2, "cost": [3]}, "'cost' is \\[3\\]; beside the metrics"),
        ({"time": 1, "quality": 2, "option": 3}, "'option' is a column that tables have already"),
        ({"time": 1, "quality": 2} | dict.fromkeys(map(str, range(101)), 1), "101 values beside the metrics; at most 100"),
        ({"time": 1, "quality": float("nan")}, "metric 'quality' is nan; a measurement that failed has no values"),
        ({"time": float("-inf"), "quality": 1}, "metric 'time' is -inf"),
        ({"time": 1, "quality": float("nan")}, "If the others could be measured, give None for this one"),
        ({"time": "1", "quality": 1}, "metric 'time' is '1', which is not a number; it is a text: give 1 without quotes"),
        ({"time": "fast", "quality": 1}, "'fast', which is not a number; give None if it could not be measured"),
        ({"time": None, "quality": None}, "no value at all; report it as failed"),
        ({"time": 1j, "quality": 1}, "not a number"),
        ({"time": np.complex128(1), "quality": 1}, "not a number"),
        ({"time": np.datetime64("2026-01-01"), "quality": 1}, "not a number"),
        ({"time": 10**400, "quality": 1}, "metric 'time' is inf"),
        ({"time": 1e200, "quality": 1}, "beyond 1e"),
        ([1], "has 1 values; a measurement has 2"),
        ([1, 2, 3], "has 3 values"),
        ("12", "'12' is not a measurement"),
        (3.0, "3.0 is not a measurement"),
        (None, "None is not a measurement"),
    ],
)
def test_values_that_cannot_be_used_are_refused_by_name(values, message):
    with pytest.raises(pp.InvalidInput, match=message):
        define(**GOOD).values(values)


def test_differences_are_said_in_words():
    (said,) = define(**GOOD).differences(define(**GOOD | {"budget": 31}))
    assert said == "budget is 30 there and 31 here"
    (said,) = define(**GOOD | {"options": ["a", "b", "c"]}).differences(define(**GOOD | {"options": ["a", "b"]}))
    assert (
        said == "options is ['a', 'b', 'c'] there and ['a', 'b'] here"
    )  # and nothing of their settings, of which there are none
    (said,) = define(**GOOD).differences(define(**GOOD | {"metrics": {"quality": "max", "time": "min"}}))
    assert said == "metrics is time:min, quality:max there and quality:max, time:min here"
