import json

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation.results import Span


def curve(errors=(3, 0), runs=10, seed=1, first=0, budgets=(50, 100), **changes):
    rows = [[n, n, 2 * n, n, 45 * runs, 4 * runs, 900_000_000 * runs, 820_000_000 * runs] for n in errors]
    fields = {"instance": "x", "digest": "d", "policy": "ege-sr", "options": {}, "scale": None, "engine": "compiled"}
    fields |= {"budgets": budgets, "tallies": np.array(rows)}
    return pp.ErrorCurve(**{**fields, **changes}, spans=(Span((seed,), first, first + runs),))


def test_rates_and_means_are_views_of_the_counts():
    c = curve()
    assert c.runs == 10
    assert c.errors.tolist() == [3, 0]
    assert c.relaxed_losses.tolist() == [3, 0]
    assert c.wrongly_accepted.tolist() == [6, 0]
    assert c.wrongly_rejected.tolist() == [3, 0]
    assert c.rate.tolist() == [0.3, 0.0]
    assert c.pulls.tolist() == [45, 45]
    assert c.rounds.tolist() == [4, 4]
    assert c.hypervolume.tolist() == [0.9, 0.9]


def test_print_and_notebooks_show_every_budget_and_what_to_know():
    c = curve(instance="<x>", engine="reference", options={"n_rounds": 3})
    assert repr(c) == "<ErrorCurve of ege-sr on <x>: 10 runs; errors by budget {50: 3, 100: 0}>"
    assert str(c).splitlines() == [
        "ege-sr (n_rounds=3) on <x>, 10 runs at each budget",
        "at 50: 3 errors, 30% (11% to 60%)",
        "at 100: 0 errors, 0.00% (0.00% to 28%)",
        "Note: where no error was seen, the rate is below the upper end of its interval.",
        "Note: made by the reference engine, whose random numbers are not those of the compiled one.",
    ]
    page = c._repr_html_()
    assert "<x>" not in page
    assert "&lt;x&gt;" in page
    assert all(f"<p>{note}</p>" in page for note in str(c).splitlines()[-2:])
    assert page.count("<tr>") == 3
    assert "Note" not in str(curve(errors=(3, 1)))
    assert str(curve(engine="reference", draws="pulls")).endswith('whose draws are "pulls".')


def test_a_curve_with_margins_shows_the_errors_within_them():
    bandit = pp.Bandit([[0.0, 1.0], [1.0, 0.0], [0.9, 0.0]], noise=pp.Gaussian(std=0.3))
    c = pp.simulate(bandit, "uniform", budgets=30, runs=50, rng=0, margins=0.2, engine="reference", workers=1)
    header, (row,) = c.cells()
    assert header[6:] == ["errors within", "rate within", "95% interval"]
    assert (row[1], row[6]) == (str(c.errors[0]), str(c.errors_within[0]))
    assert c.errors[0] > c.errors_within[0]


def test_the_interval_of_the_hypervolume_is_that_of_a_mean():
    # Five runs of 0.8 and five of 1.0: 1.96 standard errors of sqrt(0.1 / 9 / 10).
    assert curve().hypervolume_interval() == pytest.approx(np.array([[0.83467, 0.96533]] * 2), abs=1e-5)
    assert curve().hypervolume_interval(0.999999)[0, 1] == 1.0
    assert np.isnan(curve(runs=1).hypervolume_interval()).all()


def test_equal_curves_are_equal_and_curves_can_be_summed_up():
    assert curve() == curve()
    assert curve() == pp.ErrorCurve.from_dict(json.loads(json.dumps(curve().to_dict())))
    assert len({curve(), curve()}) == 1
    assert curve() != curve((4, 0))
    assert curve() != curve(first=1)
    assert curve() != "curve"
    assert sum([curve(), curve(first=10)]) == curve() + curve(first=10)
    assert repr(curve()) == "<ErrorCurve of ege-sr on x: 10 runs; errors by budget {50: 3, 100: 0}>"


def test_pulls_that_cannot_be_counted_are_not():
    rows = np.array(curve().tallies)
    rows[:, 4] = 2**62
    with pytest.raises(ValueError, match="more than can be counted"):
        curve(tallies=rows) + curve(tallies=rows, first=10)


def test_counts_are_integers_and_cannot_be_changed():
    assert curve().errors.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        curve().errors[0] = 0


def test_intervals_are_the_published_ones():
    # Brown, Cai and DasGupta (2001) and R's binom.test and prop.test for 3 of 10 and 0 of 10.
    assert curve().interval() == pytest.approx(np.array([[0.10779, 0.60322], [0.0, 0.27753]]), abs=1e-5)
    exact = curve().interval(method="clopper-pearson")
    assert exact == pytest.approx(np.array([[0.06674, 0.65245], [0.0, 0.30850]]), abs=1e-5)


def test_a_wider_level_gives_a_wider_interval():
    assert (curve().interval(0.99)[:, 1] > curve().interval(0.5)[:, 1]).all()


def test_the_interval_of_the_relaxed_losses_is_their_own():
    rows = np.array(curve().tallies)
    rows[:, 1] = [0, 10]
    c = curve(tallies=rows)
    assert c.interval(of="relaxed_losses")[1, 1] == 1
    assert c.interval(of="errors")[1, 0] == 0


def test_curves_of_different_runs_add_up():
    total = curve((3, 0), 10) + curve((1, 2), 30, first=10) + curve((0, 1), 5, seed=9)
    assert total.runs == 45
    assert total.errors.tolist() == [4, 3]
    assert total.spans == (Span((1,), 0, 40), Span((9,), 0, 5))


def test_adding_is_the_same_in_any_order():
    a, b, c = curve((3, 0), 10), curve((1, 2), 30, first=10), curve((0, 1), 5, first=40)
    for total in (a + b + c, c + b + a, b + (c + a)):
        assert total.spans == (Span((1,), 0, 45),)
        assert total.errors.tolist() == [4, 3]


@pytest.mark.parametrize(
    "other, message",
    [
        (curve(), "both curves hold run 0 of the same seed"),
        (curve(first=9), "both curves hold run 9 of the same seed"),
        (curve(seed=2, instance="y"), "curves of instance 'x' and 'y'"),
        (curve(seed=2, digest="e"), "curves of digest 'd' and 'e'"),
        (
            curve(seed=2, tallies=curve().tallies * [1, 1, 1, 1, 1, 1, -1, -1]),
            "one curve has the hypervolume and the other has not",
        ),
        (curve(seed=2, policy="uniform"), "curves of policy 'ege-sr' and 'uniform'"),
        (curve(seed=2, options={"spend": "all"}), "curves of options"),
        (curve(seed=2, budgets=(50, 101)), "curves of budgets"),
    ],
)
def test_what_does_not_add_up_is_refused(other, message):
    with pytest.raises(ValueError, match=message):
        curve() + other


def test_something_else_than_a_curve_cannot_be_added():
    with pytest.raises(TypeError):
        curve() + 1


def test_plain_json_and_back():
    c = curve()
    record = json.loads(json.dumps(c.to_dict(), allow_nan=False))
    back = pp.ErrorCurve.from_dict(record)
    assert (back.tallies == c.tallies).all()
    assert (back.instance, back.digest) == (c.instance, c.digest)
    assert (back.policy, back.options, back.budgets, back.spans) == (
        c.policy,
        c.options,
        c.budgets,
        c.spans,
    )
    assert record["budgets"][0]["rate"] == 0.3


def test_an_undefined_hypervolume_is_nan_and_null():
    rows = np.array(curve().tallies)
    rows[:, -2:] = -10
    c = curve(tallies=rows)
    assert np.isnan(c.hypervolume).all()
    assert np.isnan(c.hypervolume_interval()).all()
    assert c.to_dict()["budgets"][0]["hypervolume"] is None


def test_something_else_than_a_saved_curve_is_refused():
    good = curve().to_dict()
    short = [{**row, "tallies": [1, 2]} for row in good["budgets"]]
    for broken in ({}, [], {**good, "budgets": 3}, {**good, "budgets": []}, {**good, "spans": []}, {**good, "budgets": short}):
        with pytest.raises(ValueError, match="this is no saved curve"):
            pp.ErrorCurve.from_dict(broken)


def test_as_a_data_frame():
    frame = curve(options={"max_arms": 2}).to_pandas()
    assert frame["budget"].tolist() == [50, 100]
    assert frame["errors"].tolist() == [3, 0]
    assert frame["options"].tolist() == ["max_arms=2"] * 2
    assert (frame["low"] <= frame["rate"]).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"level": 0}, "level=0"),
        ({"level": 1}, "level=1 is too large"),
        ({"level": "x"}, "level='x' is not a number"),
        ({"method": "wald"}, "no method named 'wald'"),
        ({"of": "pulls"}, "'pulls'"),
    ],
)
def test_bad_interval_arguments_are_shown(options, message):
    with pytest.raises(ValueError, match=message):
        curve().interval(**options)
