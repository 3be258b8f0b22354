"""What looks like a value and is none: refused with what it is, and what was expected, before anything changes."""

import numpy as np
import pytest

import paretopick as pp
from paretopick._words import short, visible


@pytest.fixture
def study():
    made = pp.Study.create("s", options=["a", "b"], metrics={"m": "max", "p": "min"}, budget=20, storage="sqlite://")
    made.ask(1)
    return made


def create(**changed):
    right = {"options": ["a", "b"], "metrics": {"m": "max"}, "budget": 20, "storage": "sqlite://"}
    return pp.Study.create(**{"name": "s", **right, **changed})


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: s.tell(1, b"ab"), "values=b'ab' is not a measurement"),
        (lambda s: s.tell(1, {0.5, 3.0}), r"a set, which has no order\) is not a measurement"),
        (lambda s: s.tell(1, 5), "values=5 is not a measurement; give a mapping with 'm', 'p'"),
        (lambda s: s.tell(1, np.array(5.0)), "is not a measurement"),
        (lambda s: s.tell(1, ("1_000", 2)), "metric 'm' is '1_000', which is not a number"),
        (lambda s: s.tell(1, (b"1", 2)), "metric 'm' is b'1', which is not a number"),
        (lambda s: s.tell(1, (10**5000, 2)), "metric 'm' is inf"),
        (lambda s: s.tell(1, ([1, 2], 2)), "which is not a number"),
        (lambda s: s.tell(10**5000, (1, 2)), "number=an int of 16610 bits is too large"),
        (lambda s: s.tell(1, (1, 2), worker="\x1b[2J"), r"its character 1 \(U\+001B\) cannot be printed"),
        (lambda s: s.ask(1, worker="a\x00"), r"its character 2 \(U\+0000\) cannot be printed"),
        (lambda s: s.ask(1, worker="a\ud800b"), r"its character 2 \(U\+D800\) cannot be printed"),
        (lambda s: s.renew(1, worker="\u202e"), r"\(U\+202E\) cannot be printed"),
        (lambda s: s.release(1, worker=5), "5 cannot be the name of a worker"),
        (lambda s: s.fail(1, "broke", worker="\x9b"), r"\(U\+009B\) cannot be printed"),
        (lambda s: s.add(5), r"measurements=5 is not a list of pairs; write \[\('a', {'m': 0.0, 'p': 0.0}\)\]"),
        (lambda s: s.add([("a",)]), r"measurement 1 of 1 is \('a',\), and no pair of an option and its values"),
        (lambda s: s.add(["ab"]), "measurement 1 of 1 is 'ab', and no pair"),
        (lambda s: s.add({"a": (1, 2)}), "the table has no column 'option' with the names of the options; it has 'a'"),
        (lambda s: s.add({("a", (1, 2))}), "a set, which has no order"),
        (lambda s: s.record(5, {}), "told=5 is not a mapping"),
        (lambda s: s.record({}, ["x"]), r"failed=\['x'\] is not a mapping"),
        (lambda s: s.ask(10**20), "n=100000000000000000000 is too large"),
        (lambda s: s.ask(1, lease=True), "lease=True is not a number"),
        (lambda s: s.ask(1, lease=b"5"), "lease=b'5' is not a number"),
        (lambda s: s.ask(1, lease="1_0"), "lease='1_0' is not a number"),
    ],
)
def test_a_verb_refuses_what_it_cannot_use_and_nothing_changes(study, call, message):
    with pytest.raises(pp.InvalidInput, match=message):
        call(study)
    assert study.events() == []


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"options": b"ab"}, "options=b'ab' is not a list of names"),
        ({"options": {"a", "b"}}, r"a set, which has no order\) is not a list of names"),
        ({"options": np.array("ab")}, "is not a list of names"),
        ({"options": ["a", b"b"]}, "b'b' cannot be the name of an option"),
        ({"options": ["a", float("nan")]}, "nan cannot be the name of an option"),
        ({"options": [1, 10**5000]}, "an int of 16610 bits cannot be the name of an option"),
        ({"options": [{"option": True}, {"option": "b"}]}, "True cannot be the name of an option"),
        ({"options": ["\u00e9", "e\u0301"]}, r"looks like another one, '\\xe9' beside 'e\\u0301'"),
        ({"options": {"a": {"x": 10**5000}, "b": {"x": 1}}}, "has x=an int of 16610 bits; settings are texts and finite numbers"),
        ({"options": {"a": {"x": "\ud800"}, "b": {"x": "y"}}}, "settings are texts and finite numbers"),
        ({"options": {"a": {"x": "\0"}, "b": {"x": "y"}}}, "settings are texts and finite numbers"),
        ({"metrics": {pp.Metric("m", "min")}}, r"a set, which has no order\) must say which metrics"),
        ({"metrics": b"m:min"}, "metrics=b'm:min' must say which metrics"),
        ({"metrics": {"\u00e9": "min", "e\u0301": "min"}}, "metric .* looks like another one"),
        ({"budget": 10**5000}, "budget=an int of 16610 bits is too large"),
        ({"name": "a\x1b[31mb"}, r"its character 2 \(U\+001B\) cannot be printed"),
        ({"scale": 10**5000}, 'must be "noise", "raw"'),
    ],
)
def test_a_study_that_cannot_be_created_says_why(changed, message):
    with pytest.raises(pp.InvalidInput, match=message):
        create(**changed)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pp.pareto_mask(np.array([["1_000", 2]], dtype=object)), "'1_000' is not a number"),
        (lambda: pp.pareto_mask(np.array(5)), r"shape \(\)"),
        (lambda: pp.pareto_mask({1, 2}), "cannot be read as a table of numbers"),
        (lambda: pp.Gaussian(std="1_000"), "std='1_000' cannot be read as numbers"),
        (lambda: pp.Gaussian(std=b"1"), "std=b'1' cannot be read as numbers"),
        (lambda: pp.Bandit([[1.0]], pp.Bernoulli(), arm_names={"a"}), "which has no order"),
        (lambda: pp.policy("ege-sr", n_arms=10**12, n_objectives=2, budget=10**13), "n_arms=1000000000000 is too large"),
        (lambda: pp.policy("apt", n_arms=3, n_objectives=2, batch=10**12), "batch=1000000000000 is too large"),
        (lambda: pp.schedule("gg", 4, 100, n_rounds=10**9), "n_rounds=1000000000 is too large"),
        (lambda: pp.simulate(pp.instance("cov-boost"), "uniform", runs=1, workers=10**9), "workers=1000000000 is too large"),
        (lambda: pp.identify(lambda option: 1, {"a", "b"}, {"m": "min"}, 4), "which has no order"),
        (lambda: pp.identify(lambda option: 1, b"ab", {"m": "min"}, 4), "options=b'ab' is not a list of names"),
    ],
)
def test_functions_refuse_what_they_cannot_use(call, message):
    with pytest.raises(pp.InvalidInput, match=message):
        call()


def test_what_has_an_order_is_taken():
    table = {"a": 1, "b": 2}
    assert create(options=table.keys()).options == ("a", "b")
    study = create(options=(name for name in table), metrics={"m": "max", "p": "min"})
    study.add([("a", table.values()), ["b", np.array([1, 2])], ("a", (True, np.array(2.5)))])
    assert [(row["m"], row["p"]) for row in study.measurements()] == [(1.0, 2.0), (1.0, 2.0), (1.0, 2.5)]


def test_any_value_can_be_shown_and_a_terminal_is_told_nothing():
    class Rude:
        def __repr__(self):
            raise RuntimeError

    assert short(Rude()) == "a Rude that cannot be shown"
    assert len(short("x" * 10**6)) == 60
    assert visible("a\x1b[2J\x9b\ud800\tb\nc") == "a\\x1b[2J\\x9b\\ud800\tb\nc"


def test_a_reason_with_an_escape_sequence_does_not_reach_a_terminal(capsys):
    from paretopick.cli.output import print_table, say

    say("it failed: \x1b]0;owned\x07")
    print_table(["option", "why"], [["a", "\x1b[2J"]])
    assert "\x1b" not in (shown := capsys.readouterr().out)
    assert "\\x1b[2J" in shown
