"""Results follow from the counts: the same code says holds, does not hold, or cannot be decided."""

import math

import pytest

from paretopick.paper.catalogue import CATALOGUE, MAIN
from paretopick.paper.claims import CLAIMS, assess
from paretopick.paper.comparisons import FAILS, HOLDS, OPEN, all_of, any_of
from paretopick.paper.series import ADAPT_PUBLISHED, ALGORITHMS, APE_FB, EGE_SH, EGE_SR, UNIFORM
from support.paper_results import EnteredResults

RUNS = 4000
RESTS_ON = dict(enumerate(CLAIMS.values(), start=1))
"""The figures and tables of each claim."""


@pytest.fixture(scope="module")
def entered(snw_path):
    """One set of bandits and series for all tests."""
    return EnteredResults(snw_path)


@pytest.fixture
def results(entered):
    entered.clear()
    return entered


def enter(results, instance, algorithm, rate):
    """Counts with this rate at the paper's budget."""
    series = results.curve(instance, algorithm)
    results.enter(series, budgets=series.budgets[-1:], last=RUNS, errors=round(rate * RUNS), pulls=RUNS)


def claim_of(results, number, names=None):
    return assess(results, RESTS_ON[number] if names is None else names)[number - 1]


def parts_of(results, number, names=None):
    """The results of the parts that count, by the beginning of what they say."""
    return [part.result for part in claim_of(results, number, names).parts if part.counts]


def test_without_any_run_only_what_needs_none_is_decided(results):
    for claim in assess(results, CATALOGUE):
        assert claim.result == OPEN
        assert claim.looked_at == (claim.number == 8)
        assert claim.left_out == ()
        for part in claim.parts:
            assert part.result == (HOLDS if part.statement == "K, D and |S*| are those of Table 2" else OPEN)


def test_some_and_all():
    assert any_of([FAILS, HOLDS, OPEN]) == HOLDS
    assert any_of([FAILS, OPEN]) == OPEN
    assert any_of([FAILS, FAILS]) == FAILS
    assert any_of([]) == OPEN
    assert all_of([HOLDS, HOLDS]) == HOLDS
    assert all_of([HOLDS, OPEN]) == OPEN
    assert all_of([HOLDS, OPEN, FAILS]) == FAILS
    assert all_of([]) == OPEN


def enter_order(results, uniform=0.7, sr=0.2, sh=0.2, **others):
    """Claim 1 with these rates everywhere, but for ``others``, by the names of instances."""
    for name in MAIN:
        rates = {"uniform": uniform, "sr": sr, "sh": sh} | others.get(name.replace("-", "_"), {})
        for one, key in ((UNIFORM, "uniform"), (EGE_SR, "sr"), (EGE_SH, "sh")):
            enter(results, name, one, rates[key])


BOTH_WIN = {"convex_front": {"sr": 0.1}, "unit_circle": {"sh": 0.1}, "high_dimension": {"sr": 0.1, "sh": 0.1}}


@pytest.mark.parametrize(
    "sr_on_cov_boost, expected",
    [(0.2, [HOLDS, HOLDS]), (0.65, [HOLDS, FAILS]), (0.52, [HOLDS, OPEN]), (0.7, [OPEN, FAILS]), (0.8, [FAILS, FAILS])],
)
def test_claim_1_wants_uniform_allocation_to_be_largely_outperformed_in_all_experiments(results, sr_on_cov_boost, expected):
    enter_order(results, cov_boost={"sr": sr_on_cov_boost}, **BOTH_WIN)
    assert parts_of(results, 1)[:2] == expected
    assert claim_of(results, 1).result == all_of([*expected, HOLDS])


@pytest.mark.parametrize("sh_on_cov_boost, expected", [(0.1, HOLDS), (0.5, FAILS), (0.2, OPEN)])
def test_claim_1_wants_both_to_win_somewhere(results, sh_on_cov_boost, expected):
    enter_order(results, sh=0.5, cov_boost={"sh": sh_on_cov_boost})
    assert parts_of(results, 1)[2] == expected


@pytest.mark.parametrize("where_many, expected", [(0.05, HOLDS), (0.2, OPEN), (0.4, FAILS)])
def test_claim_1_wants_more_where_there_are_many_arms_and_large_fronts(results, where_many, expected):
    many = {"sr": where_many, "sh": where_many}
    enter_order(results, snw_paper=many, convex_front=many, unit_circle=many, high_dimension=many)
    arms, fronts = parts_of(results, 1)[3:]
    assert arms == expected
    assert fronts == expected


@pytest.mark.parametrize(
    "oracle, tenth, expected", [(0.2, 0.6, HOLDS), (0.9, 0.97, FAILS), (0.2, 0.21, FAILS), (0.2, 0.34, OPEN)]
)
def test_claim_2_is_assessed_by_the_scale_of_the_curves(results, oracle, tenth, expected):
    for name in MAIN:
        enter(results, name, EGE_SR, 0.2)
        enter(results, name, EGE_SH, 0.25)
        for c, rate in (("1", oracle), ("1/10", tenth), ("10", oracle)):
            enter(results, name, APE_FB["drawn"][c], rate)
            enter(results, name, APE_FB["text"][c], 0.9)
    claim = claim_of(results, 2)
    assert claim.result == expected
    assert [part.result for part in claim.parts if not part.counts] == [FAILS, FAILS]


@pytest.mark.parametrize(
    "published, uniform, expected",
    [(0.9, 0.5, [HOLDS, HOLDS]), (0.3, 0.5, [FAILS, FAILS]), (0.505, 0.3, [OPEN, HOLDS]), (0.6, 0.55, [HOLDS, FAILS])],
)
def test_claim_3_asks_whether_the_published_heuristic_fails_dramatically(results, published, uniform, expected):
    for name in MAIN:
        enter(results, name, UNIFORM, uniform)
        enter(results, name, ADAPT_PUBLISHED, published)
    assert parts_of(results, 3) == expected


@pytest.mark.parametrize(
    "uniform, expected",
    [
        (0.35, [HOLDS, HOLDS, HOLDS]),
        (0.45, [FAILS, FAILS, HOLDS]),
        (0.4, [OPEN, OPEN, HOLDS]),
        (0.2, [HOLDS, FAILS, HOLDS]),
        (0.13, [HOLDS, FAILS, FAILS]),
        (0.25, [HOLDS, OPEN, HOLDS]),
    ],
)
def test_claim_4_wants_slightly_and_largely(results, uniform, expected):
    for one, rate in ((UNIFORM, uniform), (EGE_SH, 0.4), (EGE_SR, 0.09), (APE_FB["drawn"]["1"], 0.09)):
        enter(results, "equal-gaps", one, rate)
    better, slightly, by_sr, by_ape = parts_of(results, 4)
    assert [better, slightly, by_sr] == expected
    assert by_ape == by_sr


def enter_losses(results, loss):
    """Losses by k, the size of the front and the part of the paper's budget, for both figures."""
    for name, size in (("relaxed-snw-paper", 5), ("relaxed-convex-front", 10)):
        for k in CATALOGUE[name].sizes:
            series = CATALOGUE[name].relaxed(results, k)
            losses = [round(loss(k, size, budget / series.budgets[-1]) * RUNS) for budget in series.budgets]
            results.enter(series, last=RUNS, relaxed_losses=losses, pulls=1)


def falling(k, size, part):
    """Exponentially in the budget, less for smaller k, and the same for all k beyond the size of the front."""
    return 0.9 * math.exp(-2 * part) * min(k, size + 0.5) / (size + 0.5)


@pytest.mark.parametrize(
    "loss, expected",
    [
        (falling, [HOLDS] * 5),
        (lambda k, size, part: 0.1 + 0.6 * part, [FAILS, FAILS, OPEN, OPEN, HOLDS]),
        (lambda k, size, part: 0.9 * math.exp(-2 * part) * (1 - 0.05 * k), [HOLDS, HOLDS, FAILS, FAILS, FAILS]),
        (lambda k, size, part: 0.09 / part * min(k, size + 0.5) / (size + 0.5), [HOLDS, FAILS, HOLDS, HOLDS, HOLDS]),
    ],
)
def test_claim_5_looks_at_losses_by_k_and_budget(results, loss, expected):
    enter_losses(results, loss)
    assert parts_of(results, 5) == expected


def test_claim_5_does_not_compare_different_numbers_of_runs(results):
    enter_losses(results, falling)
    for name in RESTS_ON[5]:
        series = CATALOGUE[name].relaxed(results, 6 if "snw" in name else 11)
        results.enter(series, first=RUNS, last=2 * RUNS, relaxed_losses=RUNS, pulls=1)
    assert parts_of(results, 5)[2:] == [HOLDS, OPEN, OPEN]


@pytest.mark.parametrize(
    "volume, growth, expected",
    [
        (0.85, 0.01, [HOLDS, HOLDS]),
        (0.7, 0.01, [FAILS, HOLDS]),
        (0.87, 0.01, [OPEN, HOLDS]),
        (0.85, -0.01, [HOLDS, FAILS]),
    ],
)
def test_claim_6_wants_the_papers_fraction_and_growth(results, volume, growth, expected):
    for name, start in (("snw-paper", volume), ("convex-front", 0.5)):
        entry = CATALOGUE[f"hypervolume-{name}"]
        for k in entry.sizes:
            series = entry.covered(results, k)
            mean = start + growth * (k - 1)
            totals = {"hypervolume": round(mean * RUNS * 1e9), "squared_hypervolume": round((mean**2 + 1e-4) * RUNS * 1e9)}
            results.enter(series, last=RUNS, pulls=1, **totals)
    assert [part.result for part in claim_of(results, 6).parts] == expected


@pytest.mark.parametrize("seconds, expected", [(0.001, HOLDS), (3.0, FAILS)])
def test_claim_7_wants_runs_within_a_second(results, seconds, expected):
    for name in ("runtime-2d", "runtime-20d"):
        for series in CATALOGUE[name].series(results):
            results.enter(series, last=2000, pulls=1, seconds=seconds * 2000)
    assert claim_of(results, 7).result == expected


@pytest.mark.parametrize("errors, expected", [(0, HOLDS), (2000, FAILS), (200, OPEN)])
def test_claim_8_tries_the_bounds_where_they_promise_something(results, errors, expected):
    for name in CATALOGUE["bounds"].listed:
        for series in CATALOGUE["bounds"].promised(results, name).values():
            results.enter(series, last=RUNS, errors=errors, pulls=1)
    assert claim_of(results, 8).result == expected


@pytest.mark.parametrize(
    "halving, expected", [((0.015, 0.017), HOLDS), ((0.005, 0.015), FAILS), ((0.01, 0.015), OPEN), ((0.015, 0.03), FAILS)]
)
def test_claim_9_wants_slightly_at_every_budget_wherever_the_best_arm_stands(results, halving, expected):
    entry = CATALOGUE["best-arm"]
    for one, rates in ((UNIFORM, (0.01, 0.01)), (EGE_SH, halving)):
        for best, rate in zip(("first", "last"), rates, strict=True):
            series = entry.ordered(one, best)
            results.enter(series, last=100_000, errors=round(rate * 100_000), pulls=1)
    assert claim_of(results, 9).result == expected


def test_claim_9_says_from_which_budget_on_uniform_allocation_is_better(results):
    entry = CATALOGUE["best-arm"]
    for best in ("first", "last"):
        for one, rate in ((UNIFORM, lambda budget: 0.05), (EGE_SH, lambda budget: 0.01 if budget < 400 else 0.1)):
            series = entry.ordered(one, best)
            errors = [round(rate(budget) * RUNS) for budget in series.budgets]
            results.enter(series, last=RUNS, errors=errors, pulls=1)
    claim = claim_of(results, 9)
    assert claim.result == FAILS
    assert claim.parts[-1].result == HOLDS
    assert claim.parts[-1].findings[0].text == "at all budgets above T = 320"


def enter_all_on(results, name, **rates):
    """Every algorithm on an instance, at rates for which claims 1 to 3 hold there, but for those given."""
    for one in ALGORITHMS.values():
        usual = {"uniform": 0.6, "ape-fb-adapt-published": 0.95}.get(one.name, 0.9 if "ape-fb-1" in one.name else 0.2)
        enter(results, name, one, rates.get(one.name.replace("-", "_"), 0.2 if one in tuned else usual))


tuned = (APE_FB["drawn"]["1"], APE_FB["text"]["1"])


def test_of_one_figure_only_the_claims_that_rest_on_it_are_looked_at(results):
    enter_all_on(results, "cov-boost")
    enter_all_on(results, "unique-dominator", ege_sr=0.9)
    claims = assess(results, ["cov-boost"])
    assert [claim.summary for claim in claims] == ["holds as far as looked at"] * 3 + ["not looked at"] * 6
    for claim in claims[:3]:
        assert set(claim.left_out) == set(RESTS_ON[claim.number]) - {"cov-boost"}
    assert all(claim.parts == () and claim.left_out == RESTS_ON[claim.number] for claim in claims[3:])
    texts = [finding.text for claim in claims for part in claim.parts for finding in part.findings]
    assert texts
    assert all("cov-boost" in text for text in texts)
    claims = assess(results, ["cov-boost", "unique-dominator"])
    assert [claim.summary for claim in claims[:3]] == ["does not hold", "holds as far as looked at", "holds as far as looked at"]
    assert any(text.startswith("unique-dominator: EGE-SR 0.9000") for text in claims[0].contradicted_by)


@pytest.mark.parametrize("name, number", [(names[0], number) for number, names in RESTS_ON.items() if number > 3])
def test_a_claim_is_looked_at_by_each_figure_that_it_rests_on(results, name, number):
    claims = assess(results, [name])
    assert claims[number - 1].parts
    assert claims[number - 1].left_out == tuple(other for other in RESTS_ON[number] if other != name)


def test_every_claim_rests_on_entries_of_the_catalogue():
    assert len(RESTS_ON) == 9
    assert all(name in CATALOGUE for names in RESTS_ON.values() for name in names)


def test_all_thirteen_algorithms_are_there():
    assert len(ALGORITHMS) == 13
    assert sorted(one.options["c"] for one in ALGORITHMS.values() if one.policy == "ape-fb") == [0.1, 0.9, 1.0, 9.0, 10.0, 90.0]
