"""Errors within margins and limits: each answer is judged as the definition says, whoever makes the runs."""

import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import make_task
from paretopick.simulation.compiled import KERNELS, seed_key
from paretopick.simulation.results import TALLIES
from paretopick.simulation.scores import unpacked
from paretopick.simulation.truths import check_truths
from support import oracle

pytestmark = pytest.mark.slow

MEANS = np.array([[2.0, 0.0], [1.9, 0.1], [0.0, 2.0], [0.2, 1.7], [2.5, -1.0], [0.0, 0.0]])
BANDIT = pp.Bandit(MEANS, pp.Gaussian(std=1.0), name="six")
MARGINS, LIMITS = [0.4, 0.25], [None, -0.5]
CASES = {
    "margins": {"margins": MARGINS},
    "one margin": {"margins": 0.3},
    "limits": {"limits": LIMITS},
    "both": {"margins": MARGINS, "limits": LIMITS},
    "a limit alone": {"margins": [0.3, None], "limits": [None, 0.05]},
    "nothing feasible": {"margins": MARGINS, "limits": [3.0, None]},
}


def listed(margins=None, limits=None):
    """Margins and limits as the oracle wants them."""
    rows = margins if isinstance(margins, list) else [margins or 0.0] * 2
    return rows, limits or [None, None]


def counted(answers, truths, required, *, by_arm=False):
    """Errors and errors within the margins, from answers as lists of arms; and how often each arm was wrong."""
    errors = within = 0
    wrong = [0] * len(truths[0])
    for answer, points in zip(answers, truths, strict=True):
        errors += answer != [i for i, member in enumerate(oracle.feasible_pareto_set(points, *required)) if member]
        within += not oracle.is_right(points, answer, *required)
        for i, x in enumerate(points):
            covered = any(oracle.covers(points[j], x, required[0]) for j in answer)
            bad = (
                not oracle.worth_keeping(points, i, *required) if i in answer else oracle.feasible(x, required[1]) and not covered
            )
            wrong[i] += bad
    return (errors, within, wrong) if by_arm else (errors, within)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["ege-sr", "uniform"])
@pytest.mark.parametrize("own_truths", [False, True])
def test_compiled_answers_are_judged_one_by_one(case, policy, own_truths):
    rng = np.random.default_rng(0)
    truths = MEANS + rng.normal(size=(300, 6, 2)) * 0.3 if own_truths else np.repeat(MEANS[None], 300, axis=0)
    given = truths if own_truths else None
    curve = pp.simulate(BANDIT, policy, budgets=[60, 200], runs=290, start=10, rng=4, truths=given, **CASES[case])
    assert curve.engine == "compiled"
    task = make_task(BANDIT, policy, budgets=[60, 200], truths=check_truths(given, BANDIT), **CASES[case])
    required = listed(**CASES[case])
    for place, (words, _, _) in enumerate(KERNELS[task.kind](task)(seed_key((4,)), 10, 300)):
        answers = [np.flatnonzero(mask).tolist() for mask in unpacked(words, 6)]
        expected = counted(answers, truths[10:].tolist(), required)
        assert (curve.errors[place], curve.errors_within[place]) == expected
        assert curve.rate_within[place] == expected[1] / 290
    if "margin" in case:
        assert 0 < curve.errors_within[0] < curve.errors[0] < 290


LADDER = [0.1, [0.5, 0.1], [0.2, 0.4], 0.4, 3.0]


@pytest.mark.parametrize("own_truths", [False, True])
@pytest.mark.parametrize("options", [{}, {"limits": LIMITS}, {"margins": MARGINS}])
@pytest.mark.parametrize("by_arm", [False, True])
def test_a_ladder_counts_what_its_margins_would(own_truths, options, by_arm):
    """Rungs that rise in every objective, and some that do not."""
    truths = MEANS + np.random.default_rng(2).normal(size=(200, 6, 2)) * 0.3 if own_truths else None
    same = {"budgets": [60, 200], "runs": 190, "start": 10, "rng": 4, "truths": truths, "by_arm": by_arm, "engine": "reference"}
    if not by_arm:
        same["engine"] = "compiled"
    else:
        same |= {"runs": 20}
    curve = pp.simulate(BANDIT, "uniform", ladder=LADDER, **options, **same)
    for place, margins in enumerate(LADDER):
        one = pp.simulate(BANDIT, "uniform", **options | {"margins": margins}, **same)
        assert (curve.errors_on_ladder[:, place] == one.errors_within).all()
    assert curve.errors_on_ladder[0, 0] > curve.errors_on_ladder[0, 3]
    plain = pp.simulate(BANDIT, "uniform", **options, **same)
    assert (curve.errors_within == plain.errors_within).all()
    if by_arm:
        assert (curve.wrong_by_arm == plain.wrong_by_arm).all()
    back = pp.ErrorCurve.from_dict(json.loads(json.dumps(curve.to_dict())))
    assert back == curve
    assert (back.errors_on_ladder == curve.errors_on_ladder).all()
    with pytest.raises(pp.InvalidInput, match="curves of ladder"):
        curve + pp.simulate(BANDIT, "uniform", **options, **same | {"start": 0, "runs": 5})


def test_policies_are_not_told_of_a_ladder():
    plain = pp.simulate(BANDIT, "apt", budgets=60, runs=50, rng=1)
    curve = pp.simulate(BANDIT, "apt", budgets=60, runs=50, rng=1, ladder=LADDER)
    assert (curve.tallies[:, : len(TALLIES)] == plain.tallies).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("own_truths", [False, True])
def test_the_reference_engine_judges_the_same_way(case, own_truths):
    rng = np.random.default_rng(1)
    truths = MEANS + rng.normal(size=(40, 6, 2)) * 0.3 if own_truths else np.repeat(MEANS[None], 40, axis=0)
    options = {"truths": truths} if own_truths else {}
    curve = pp.simulate(
        BANDIT, "uniform", budgets=60, runs=35, start=5, rng=3, engine="reference", by_arm=True, **options, **CASES[case]
    )
    answers = []
    for run in range(5, 40):
        player = pp.policy("uniform", n_arms=6, n_objectives=2, budget=60)
        pp.play(pp.Bandit(truths[run], BANDIT.noise), player, 3, run=run)
        answers.append(player.recommend().tolist())
    errors, within, wrong = counted(answers, truths[5:].tolist(), listed(**CASES[case]), by_arm=True)
    assert (curve.errors.tolist(), curve.errors_within.tolist()) == ([errors], [within])
    assert curve.wrong_by_arm.tolist() == [wrong]
    assert curve.pulls_by_arm.sum() == 60


def test_arms_are_counted_wrong_where_it_matters():
    """A kernel counts by arm as the reference engine does."""
    options = {"budgets": 36, "runs": 400, "by_arm": True}
    curve = pp.simulate(BANDIT, "apt", rng=1, margins=0, limits=[-100, None], **options)
    plain = pp.simulate(BANDIT, "apt", rng=1, engine=curve.engine, **options)
    assert (curve.wrong_by_arm == plain.wrong_by_arm).all()  # without twins both say the same
    assert (curve.errors_within == plain.errors).all()


def test_without_margins_and_limits_the_errors_are_those_within():
    curve = pp.simulate(BANDIT, "uniform", budgets=60, runs=50, rng=1)
    assert (curve.margins, curve.limits) == (None, None)
    assert (curve.errors_within == curve.errors).all()
    assert curve.tallies.shape == (1, len(TALLIES))


def test_a_margin_of_0_forgives_twins():
    twins = pp.Bandit([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], pp.Gaussian(std=0.1))
    curve = pp.simulate(twins, "uniform", budgets=300, runs=200, rng=1, margins=0)
    assert curve.errors[0] > 50
    assert curve.errors_within[0] == 0


def test_pulls_of_policies_that_know_no_margins_stay_as_they_are():
    plain = pp.simulate(BANDIT, "ege-sr", budgets=[60, 90], runs=200, rng=1)
    with_margins = pp.simulate(BANDIT, "ege-sr", budgets=[60, 90], runs=200, rng=1, margins=MARGINS)
    assert (with_margins.tallies[:, : len(TALLIES)] == plain.tallies).all()


@pytest.mark.parametrize(
    "scale, margins, limits",
    [
        (None, [0.4, 0.25], [-np.inf, -0.5]),
        ([2.0, 5.0], [0.2, 0.05], [-np.inf, -0.1]),
        ([2.0, 0.0], [0.4, 0.25], [-np.inf, -0.5]),
    ],
)
def test_policies_that_know_margins_are_told_them_in_the_units_of_what_they_see(scale, margins, limits):
    task = make_task(BANDIT, "apt", budgets=60, scale=scale, margins=MARGINS, limits=LIMITS)
    told = task.player(60)._required
    assert (told.margins.tolist(), told.limits.tolist(), told.compared.tolist()) == (margins, limits, [True, True])


@pytest.mark.parametrize("policy", ["apt", "doubt"])
@pytest.mark.parametrize(
    "options, told",
    [
        ({"margins": 0.1}, ((0.1, 0.1), (None, -0.5))),
        ({"limits": [1.0, None]}, ((0.4, 0.25), (1.0, None))),
        ({"margins": [0.1, None], "limits": [1.0, None]}, ((0.1, None), (1.0, None))),
    ],
)
def test_what_the_options_of_a_policy_do_not_say_it_is_told(policy, options, told):
    task = make_task(BANDIT, (policy, options), budgets=60, margins=MARGINS, limits=LIMITS)
    required = task.player(60).required
    assert (required.as_margins, required.as_limits) == told


def test_limits_reach_a_policy_whose_options_name_margins_alone():
    same = {"budgets": 60, "runs": 100, "rng": 1, "margins": 0.1, "limits": LIMITS}
    filled_in, told = (
        pp.simulate(BANDIT, ("doubt", options), **same) for options in ({"margins": 0.1}, {"margins": 0.1, "limits": LIMITS})
    )
    assert (filled_in.tallies == told.tallies).all()


def test_who_starts_from_data_knows_the_margins_before_the_first_choice(monkeypatch):
    seen = []
    monkeypatch.setattr("paretopick.policies.apt.APT._choose", lambda self, size, out: seen.append(self._required) or self._due)
    known = ([5] * 6, MEANS * 5)
    pp.simulate(BANDIT, "apt", budgets=30, runs=1, rng=1, known=known, margins=MARGINS, engine="reference")
    assert seen
    assert all(required.margins.tolist() == MARGINS for required in seen)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_pieces_and_threads_change_nothing(engine, monkeypatch):
    options = {"budgets": [60, 90], "rng": 2, "margins": MARGINS, "limits": LIMITS, "engine": engine}
    whole = pp.simulate(BANDIT, "uniform", runs=60, workers=1, **options)
    monkeypatch.setattr("paretopick.simulation.engine.PIECE_SECONDS", 0.0)
    with ThreadPoolExecutor(2) as executor:
        assert pp.simulate(BANDIT, "uniform", runs=60, executor=executor, **options) == whole
    parts = pp.simulate(BANDIT, "uniform", runs=25, **options) + pp.simulate(BANDIT, "uniform", runs=35, start=25, **options)
    assert parts == whole
    assert parts.errors_within.tolist() == whole.errors_within.tolist()


def test_other_processes_count_the_same():
    options = {"budgets": [60, 90], "runs": 40, "rng": 2, "margins": MARGINS, "limits": LIMITS, "truths": [MEANS] * 40}
    whole = pp.simulate(BANDIT, "uniform", workers=1, **options)
    with ProcessPoolExecutor(2) as executor:
        assert pp.simulate(BANDIT, "uniform", executor=executor, **options) == whole


def test_runs_until_a_precision_go_by_the_exact_errors():
    plain = pp.simulate(BANDIT, "uniform", budgets=60, runs="until:10%", rng=1)
    curve = pp.simulate(BANDIT, "uniform", budgets=60, runs="until:10%", rng=1, margins=MARGINS)
    assert curve.runs == plain.runs
    assert (curve.precision() == plain.precision()).all()


def test_curves_with_other_margins_or_limits_do_not_add_up():
    options = {"budgets": 60, "runs": 10}
    curve = pp.simulate(BANDIT, "uniform", rng=1, margins=0.1, **options)
    for other, what in (({}, "margins"), ({"margins": 0.2}, "margins"), ({"margins": 0.1, "limits": LIMITS}, "limits")):
        with pytest.raises(pp.InvalidInput, match=f"curves of {what}"):
            curve + pp.simulate(BANDIT, "uniform", rng=2, **other, **options)
    assert (curve + pp.simulate(BANDIT, "uniform", rng=2, margins=[0.1, 0.1], **options)).runs == 20


def test_a_policy_is_prepared_anew_for_other_margins():
    one, other = (pp.simulate(BANDIT, "uniform", budgets=60, runs=200, rng=1, margins=margin) for margin in (0.1, 3.0))
    assert one.errors_within[0] > other.errors_within[0]


@pytest.mark.parametrize("by_arm", [False, True])
def test_json_and_back(by_arm):
    options = {"margins": [0.1, None], "limits": LIMITS, "by_arm": by_arm, "engine": "reference"}
    curve = pp.simulate(BANDIT, "uniform", budgets=[60, 66], runs=20, rng=1, **options)
    record = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert (record["margins"], record["limits"]) == ([0.1, None], [None, -0.5])
    assert [row["errors_within"] for row in record["budgets"]] == curve.errors_within.tolist()
    assert pp.ErrorCurve.from_dict(record) == curve
    row = curve.rows()[0]
    assert (row["margins"], row["limits"], row["errors_within"]) == ("0.1 none", "none -0.5", curve.errors_within[0])
    low, high = curve.interval(of="errors_within")[0]
    assert (row["low_within"], row["high_within"]) == (low, high)
    assert low <= row["rate_within"] <= high


@pytest.mark.parametrize("by_arm", [False, True])
def test_curves_saved_by_the_release_before_are_read(by_arm):
    curve = pp.simulate(BANDIT, "apt", budgets=60, runs=20, rng=1, by_arm=by_arm)
    record = curve.to_dict()
    for name in ("margins", "limits"):
        del record[name]
    for name in ("errors_within", "rate_within", "low_within", "high_within"):
        del record["budgets"][0][name]
    back = pp.ErrorCurve.from_dict(record)
    assert back == curve
    assert (back.errors_within == curve.errors).all()


def test_a_saved_curve_whose_margins_do_not_fit_is_refused():
    record = pp.simulate(BANDIT, "uniform", budgets=60, runs=20, rng=1, margins=0.1).to_dict()
    for broken in ({**record, "margins": None, "limits": None}, {**record, "limits": None}, {**record, "margins": 3}):
        with pytest.raises(pp.InvalidInput, match="this is no saved curve"):
            pp.ErrorCurve.from_dict(broken)


def test_the_hypervolume_is_undefined_where_there_are_limits():
    above = pp.Bandit(MEANS + 3, pp.Gaussian(std=1.0))
    options = {"budgets": 60, "runs": 10, "rng": 1}
    assert np.isnan(pp.simulate(above, "uniform", limits=[None, 2.0], **options).hypervolume).all()
    assert np.isnan(pp.simulate(above, "uniform", margins=[None, 0], **options).hypervolume).all()
    plain = pp.simulate(above, "uniform", **options).hypervolume
    assert (pp.simulate(above, "uniform", margins=0.5, **options).hypervolume == plain).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margins": [0.1]}, "margins=[0.1] must be one number, or 2, one per objective"),
        ({"margins": -0.1}, "margins has -0.1 for objective 0"),
        ({"limits": 0.5}, "limits=0.5 must be 2 numbers, one per objective"),
        ({"ladder": 0.5}, "ladder=0.5 is not a list of margins, such as [0.1, 0.2]"),
        ({"ladder": [-1]}, "margins has -1 for objective 0"),
        (
            {"ladder": [[0.1, None]], "margins": 0.1},
            "ladder has the margins [0.1, None], and arms are compared in other objectives under margins=[0.1, 0.1]; write None",
        ),
    ],
)
def test_margins_and_limits_that_mean_nothing_are_refused(options, message):
    with pytest.raises(pp.InvalidInput) as refusal:
        pp.simulate(BANDIT, "uniform", budgets=60, runs=2, **options)
    assert message in str(refusal.value)


@pytest.mark.parametrize("policy", ["apt", "doubt", "ege-sr", "ape-fb"])
def test_policies_with_a_kernel_run_in_it_with_margins_too(policy):
    assert pp.simulate(BANDIT, policy, budgets=40, runs=8, rng=1, margins=MARGINS, limits=LIMITS).engine == "compiled"
