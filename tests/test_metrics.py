import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
    message = "'y' has the goal" if goal else "'y' has (the goal|neither a goal nor a limit)"
    with pytest.raises(pp.InvalidInput, match=message):
        Metric("y", goal)
    with pytest.raises(pp.InvalidInput, match=message):
        pp.Pilot.guess(BANDIT, goals={"x": "max", "y": goal})
    with pytest.raises(pp.InvalidInput, match=r"has (the goal|neither a goal)"):
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


# Margins, limits, logarithms and units.

FULL = Metric("seconds", "min", margin="2%", at_most=50.0)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("seconds:min~2%<=50", FULL),
        ("seconds:minimize <= 50 ~ 2 %", FULL),
        ({"seconds": "min~2%<=50"}, FULL),
        ({"seconds": {"goal": "min", "margin": "2%", "at_most": 50}}, FULL),
        ({"seconds": FULL}, FULL),
        ([FULL], FULL),
        ({"seconds": {"goal": "min", "margin": "2.0 %", "at_most": 50, "log": True}}, FULL),
        ("seconds:min~0.5", Metric("seconds", "min", margin=0.5)),
        ({"seconds": "min~0"}, Metric("seconds", "min")),
        ("seconds:min<=-1e-3", Metric("seconds", "min", at_most=-0.001)),
        ({"rate": {"goal": "max", "log": True, "unit": "1/s"}}, Metric("rate", "max", log=True, unit="1/s")),
        ("quality:max>=0.9~0.01", Metric("quality", "max", margin=0.01, at_least=0.9)),
        ({"price": {"goal": "min", "exact": True, "margin": "1%"}}, Metric("price", "min", exact=True, margin="1%")),
        ({"price": {"goal": "min", "width": 2}}, Metric("price", "min", width=2.0)),
        ("a~b:max", Metric("a~b", "max")),
        ({"a<=3": "min"}, Metric("a<=3", "min")),
        ("a~b:max~2", Metric("a~b", "max", margin=2)),
        ("seconds:min~0%", Metric("seconds", "min")),
        ({"seconds": {"goal": "min", "margin": "0.0 %"}}, Metric("seconds", "min")),
    ],
)
def test_margins_and_limits_are_read_from_short_texts_tables_and_records(given, expected):
    assert check_metrics(given) == (expected,)


@pytest.mark.parametrize(
    "given, expected",
    [
        ("errors<=0.01", Metric("errors", at_most=0.01)),
        ({"errors": "<=0.01"}, Metric("errors", at_most=0.01)),
        ({"errors": {"at_most": 0.01, "log": True}}, Metric("errors", at_most=0.01, log=True)),
        ("rate>=100", Metric("rate", at_least=100)),
        ("f:1:<=3", Metric("f:1", at_most=3)),
        ("a~b:<=3", Metric("a~b", at_most=3)),
        ("a<:>=-3", Metric("a<", at_least=-3)),
    ],
)
def test_a_metric_may_have_a_limit_alone(given, expected):
    beside = Metric("quality", "max")
    given = f"{given},quality:max" if isinstance(given, str) else given | {"quality": "max"}
    assert check_metrics(given) == (expected, beside)
    assert not expected.compared


BESIDE = Metric("beside", "max")
ENDS_LIKE_A_LIMIT = re.compile(r"[<>=~≤≥≈]\s*[+-]?[.\d]\S*$|[<>=~≤≥≈]\s*[+-]?(nan|inf)", re.IGNORECASE)


@st.composite
def metrics(draw) -> Metric:
    """Any metric that has a short text."""
    texts = st.text(min_size=1, max_size=8) | st.text("ab<>=~:1% ", min_size=1, max_size=8)
    name = draw(texts.filter(lambda text: text.isprintable() and text == text.strip()))
    assume(not set(name) & set(",[]{}"))
    assume(not ENDS_LIKE_A_LIMIT.search(name))
    number = st.floats(-1e150, 1e150)
    goal = draw(st.sampled_from(["min", "max", None]))
    margin = draw(st.none() | st.floats(1e-150, 1e150) | st.floats(1e-9, 1e6).map(lambda share: f"{share!r}%"))
    positive = isinstance(margin, str) and goal is not None
    limit = draw(st.floats(1e-150, 1e150) if positive else number)
    side = {"min": "at_most", "max": "at_least"}.get(goal, draw(st.sampled_from(["at_most", "at_least"])))
    limits = {side: limit} if goal is None or draw(st.booleans()) else {}
    return Metric(name, goal, margin=None if goal is None else margin, **limits)


@given(metrics())
def test_the_short_text_of_a_metric_gives_it_back(metric):
    assume(metric.name != BESIDE.name)
    assert check_metrics(f"{metric.text},{BESIDE.text}") == (metric, BESIDE)
    assert check_metrics({metric.name: {"goal": metric.goal} | metric.details, "beside": "max"}) == (metric, BESIDE)


MARGINS = r'write a number from 0 to 1e\+150, or a share up to 1,000,000%, such as "2%"\.$'
LIMITS = r"write a number from -1e\+150 to 1e\+150\.$"


@pytest.mark.parametrize(
    "given, message",
    [
        ({"margin": "2%"}, 'has the margin 2% and no goal; .* so write "min" or "max" too'),
        ({"goal": "min", "margin": -1}, rf"has margin=-1, the smallest difference that matters; {MARGINS}"),
        ({"goal": "min", "margin": "-2%"}, rf"has margin='-2%', .*{MARGINS}"),
        ({"goal": "min", "margin": "2e7%"}, rf"has margin='2e7%', .*{MARGINS}"),
        ({"goal": "min", "margin": 1e151}, rf"has margin=1e\+151, .*{MARGINS}"),
        ({"goal": "min", "margin": "much"}, rf"has margin='much', .*{MARGINS}"),
        ({"goal": "min", "margin": True}, rf"has margin=True, .*{MARGINS}"),
        ({"goal": "min", "margin": 0.1, "log": True}, 'has the margin 0.1 in its unit; write a share, such as margin="2%"'),
        ({"goal": "min", "log": True, "exact": True}, "is exact and has log; .* Leave log out"),
        ({"goal": "min", "log": 1}, "log=1"),
        ({"goal": "min", "margin": "2%", "at_most": 0}, "has the limit 0, and its margin 2% needs values above 0; give"),
        ({"log": True, "at_most": -3}, "has the limit -3, and it is compared as logarithms, which needs values above 0; give"),
        ({"goal": "min", "at_least": 5}, "is to be small, and its limit >=5 keeps it from being that; write y:min<=5 for a"),
        ({"goal": "max", "at_most": 5}, "is to be large, and its limit <=5 keeps it from being that; write y:max>=5 for a"),
        ({"goal": "min", "at_least": 1, "at_most": 5}, r"its limit >=1 keeps it from being that; leave >=1 out\.$"),
        ({"goal": "max", "at_least": 1, "at_most": 5}, r"its limit <=5 keeps it from being that; leave <=5 out\.$"),
        ({"at_least": 1, "at_most": 5}, "has no goal and limits on both sides, 1 and 5; .* distance from the middle"),
        ({}, 'has neither a goal nor a limit; write "min"'),
        ({"at_most": float("nan")}, rf"has at_most=nan; {LIMITS}"),
        ({"at_most": 10**400}, "has at_most=1000"),
        ({"at_most": "5"}, rf"has at_most='5'; {LIMITS}"),
        ("min<=1e200", rf"has at_most=1e\+200; {LIMITS}"),
        ("min<50", '"min<=50"'),
        ("min=<50", '"min<=50"'),
        ("min ≤ 50", '"min<=50"'),
        ("maximize>5", '"maximize>=5"'),
        ("min~", 'has the goal .min~.; write "min~2%"'),
        ("min<=", 'has the goal .min<=.; write "min<=50"'),
        ("min<much", 'has the goal .min<much.; write "min" if small'),
        ({"goal": "min", "unit": ""}, "'' cannot be the name of a unit"),
        ({"goal": "min", "unit": 3}, "3 cannot be the name of a unit"),
        ({"goal": "min", "at_mots": 5}, "no key of metric 'y' named 'at_mots'; did you mean 'at_most'"),
        ({"goal": "min", "exact": True, "width": 2}, "is exact and has a scale"),
        ("min~2%~3", "metric 'y' has ~ twice"),
        ("min<=much", "<=much of metric 'y' is no number; write for instance seconds:min~2%<=50"),
        ("~2%", "has the margin 2% and no goal"),
        ("", "has neither a goal nor a limit"),
    ],
)
def test_what_a_metric_cannot_have_is_refused_with_what_to_write(given, message):
    with pytest.raises(pp.InvalidInput, match=message):
        check_metrics({"y": given, "beside": "max"})


@pytest.mark.parametrize(
    "given, message",
    [
        ("errors<=0.01", "are all limits; give one a goal, min or max"),
        ("seconds:min,errors", "'errors' in metrics='seconds:min,errors' is not NAME:min or NAME:max.*errors<=0.01"),
        ("seconds:min,:<=3", "':<=3' in metrics="),
        ("seconds:mn<=3", "'seconds' has the goal 'mn'"),
        ("seconds~2%", "metric 'seconds' has the margin 2% and no goal"),
        ("seconds:min<=3<=4", "'seconds:min<=3<=4' has <= twice"),
        ("seconds:min<50", "'seconds' has the goal 'min<50'; write \"min<=50\""),
        ("seconds:min,errors<0.5", "or a limit alone, such as errors<=0.5"),
        ("seconds<=50:min", r"has <=50 before the goal; write seconds:min<=50\. \(If 'seconds<=50' is its name"),
        ("seconds~2%:min<=50", r"has ~2% before the goal; write seconds:min~2%<=50\."),
        ("seconds <50:min", r"has <50 before the goal; write seconds:min<=50\."),
    ],
)
def test_short_texts_that_cannot_be_read_are_refused(given, message):
    with pytest.raises(pp.InvalidInput, match=message):
        check_metrics(given)


@pytest.mark.parametrize("name", ["a<=3", "a ~ 2%", "a≥1e3", "<5"])
def test_a_name_that_ends_like_a_limit_has_no_limit_and_no_margin_beside_it(name):
    """Studies of the release before may have such names, with goals alone; more cannot be told from the name."""
    assert check_metrics({name: "min"}) == (Metric(name, "min"),)
    for more in ({"goal": "min", "at_most": 3}, {"at_least": 2}, {"goal": "max", "margin": 1}):
        with pytest.raises(pp.InvalidInput, match=r"has a name that ends like a (limit|margin), and .* give it another name"):
            Metric(name, **more)


@pytest.mark.parametrize("value", [0, -1.5, -0.0])
def test_a_value_without_a_logarithm_is_refused_with_the_reason(value):
    with pytest.raises(pp.InvalidInput, match=r"metric 'seconds' is .*, and its margin 2% needs values above 0; give it"):
        FULL.value(value)
    with pytest.raises(pp.InvalidInput, match=r"metric 'seconds' is .*, and it is compared as logarithms, which needs values"):
        Metric("seconds", "min", log=True).value(value)
    assert Metric("seconds", "min", margin=0.1).value(value) == value


def test_a_metric_is_said_in_full_with_what_has_no_short_form():
    assert FULL.in_full == FULL.text == "seconds:min~2%<=50"
    assert Metric("seconds", "min", log=True, unit="s").in_full == "seconds:min (log, in s)"
    assert Metric("price", "min", exact=True).in_full == "price:min (exact)"
    assert Metric("errors", at_most=0.01, width=0.5).in_full == "errors<=0.01 (divided by 0.5)"


def test_a_limit_alone_says_which_side_is_good():
    errors, rate = Metric("errors", at_most=0.01), Metric("rate", at_least=100, unit="1/s")
    assert (errors.sign, rate.sign) == (-1.0, 1.0)
    assert (errors.title, rate.title) == ("errors (at most 0.01)", "rate (1/s, at least 100 1/s)")
    assert (errors.bound, rate.bound) == (-0.01, 100.0)


def test_margins_are_compared_as_logarithms_of_ratios():
    assert FULL.delta == pytest.approx(np.log(1.02))
    assert FULL.bound == pytest.approx(-np.log(50))
    assert FULL.unscaled(FULL.scaled(3.0)) == pytest.approx(3.0)
    assert FULL.apart(FULL.scaled(1.02)) == pytest.approx(0.02)
    largest, smallest = FULL.unscaled(np.array([1e5, -1e5]))
    assert 0 < smallest < 1e-200 < 1e200 < largest < math.inf
    assert math.isfinite(FULL.apart(1e5))
    assert (Metric("a", "max", margin=2).delta, Metric("a", "max").delta) == (2.0, 0.0)


def test_a_bracket_that_nobody_opened_hides_no_comma():
    assert [metric.name for metric in check_metrics("x]:min,y:max")] == ["x]", "y"]


def test_a_limit_of_zero_is_kept():
    assert Metric("exit_code", at_most=0).details == {"at_most": 0.0}
    assert Metric("a", "min").details == {}
