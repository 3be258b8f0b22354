"""Verdicts follow from the counts: the same code says holds, does not hold, or cannot be decided."""

import pytest

from paretopick.paper.catalogue import CATALOGUE, MAIN
from paretopick.paper.claims import judge
from paretopick.paper.contestants import ADAPT_PUBLISHED, APE_FB, CONTESTANTS, EGE_SH, EGE_SR, UNIFORM
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import FAILS, HOLDS, OPEN, any_of, together
from support.paper_results import a_ledger, counted

RUNS = 4000


@pytest.fixture
def evidence(tmp_path, snw_path):
    return Evidence(a_ledger(tmp_path), snw_path)


def enter(evidence, instance, contestant, rate):
    series = evidence.contest(instance, contestant)
    assert evidence.ledger.add(series, counted(series, last=RUNS, errors=round(rate * RUNS), pulls=RUNS), 1)


def verdict(evidence, number):
    return judge(evidence)[number - 1].verdict


def test_without_any_run_only_what_needs_none_is_decided(evidence):
    for claim in judge(evidence):
        assert claim.verdict == OPEN
        assert claim.run == (claim.number == 8)
        for part in claim.parts:
            assert part.verdict == (HOLDS if part.statement == "K, D and |S*| are those of Table 2" else OPEN)


def test_some_and_all():
    assert any_of([FAILS, HOLDS, OPEN]) == HOLDS
    assert any_of([FAILS, OPEN]) == OPEN
    assert any_of([FAILS, FAILS]) == FAILS
    assert any_of([]) == OPEN
    assert together([HOLDS, HOLDS]) == HOLDS
    assert together([HOLDS, OPEN]) == OPEN
    assert together([HOLDS, OPEN, FAILS]) == FAILS
    assert together([]) == OPEN


@pytest.mark.parametrize("sr_on_convex_front, expected", [(0.3, HOLDS), (0.9, FAILS), (0.57, FAILS), (0.5, OPEN)])
def test_claim_1_compares_ege_with_uniform_allocation(evidence, sr_on_convex_front, expected):
    for name in MAIN:
        enter(evidence, name, UNIFORM, 0.6)
        enter(evidence, name, EGE_SR, sr_on_convex_front if name == "convex-front" else 0.2)
        enter(evidence, name, EGE_SH, 0.1 if name == "cov-boost" else 0.4)
    assert verdict(evidence, 1) == expected


@pytest.mark.parametrize("sh_on_cov_boost, expected", [(0.1, HOLDS), (0.5, FAILS), (0.2, OPEN)])
def test_claim_1_wants_both_to_win_somewhere(evidence, sh_on_cov_boost, expected):
    for name in MAIN:
        enter(evidence, name, UNIFORM, 0.7)
        enter(evidence, name, EGE_SR, 0.2)
        enter(evidence, name, EGE_SH, sh_on_cov_boost if name == "cov-boost" else 0.5)
    assert [part.verdict for part in judge(evidence)[0].parts if part.counts] == [HOLDS, HOLDS, expected]


@pytest.mark.parametrize(
    "oracle, tenth, expected", [(0.2, 0.6, HOLDS), (0.9, 0.92, FAILS), (0.2, 0.21, FAILS), (0.2, 0.27, OPEN)]
)
def test_claim_2_is_judged_by_the_scale_of_the_curves(evidence, oracle, tenth, expected):
    for name in MAIN:
        enter(evidence, name, EGE_SR, 0.2)
        enter(evidence, name, EGE_SH, 0.25)
        for c, rate in (("1", oracle), ("1/10", tenth), ("10", oracle)):
            enter(evidence, name, APE_FB["drawn"][c], rate)
            enter(evidence, name, APE_FB["text"][c], 0.9)
    claim = judge(evidence)[1]
    assert claim.verdict == expected
    assert [part.verdict for part in claim.parts if not part.counts] == [FAILS, FAILS]


@pytest.mark.parametrize("published, expected", [(0.9, HOLDS), (0.3, FAILS), (0.505, OPEN)])
def test_claim_3_asks_whether_the_published_heuristic_is_mostly_wrong(evidence, published, expected):
    for name in MAIN:
        enter(evidence, name, UNIFORM, 0.5)
        enter(evidence, name, ADAPT_PUBLISHED, published)
    assert verdict(evidence, 3) == expected


@pytest.mark.parametrize("uniform, expected", [(0.3, HOLDS), (0.45, FAILS), (0.4, OPEN), (0.12, FAILS), (0.14, OPEN)])
def test_claim_4_orders_four_policies(evidence, uniform, expected):
    for one, rate in ((UNIFORM, uniform), (EGE_SH, 0.4), (EGE_SR, 0.1), (APE_FB["drawn"]["1"], 0.1)):
        enter(evidence, "equal-gaps", one, rate)
    claim = judge(evidence)[3]
    assert claim.verdict == expected
    assert claim.parts[2].verdict == (FAILS if uniform < 0.3 else OPEN if uniform == 0.3 else HOLDS)  # slightly better only


def enter_losses(evidence, loss):
    """Losses by k and place of the budget for both figures."""
    for name in ("relaxed-snw-paper", "relaxed-convex-front"):
        size = 5 if "snw" in name else 10
        for k in CATALOGUE[name].sizes:
            series = CATALOGUE[name].relaxed(evidence, k)
            for place, budget in enumerate(series.budgets):
                curve = counted(series, budgets=(budget,), last=RUNS, relaxed_losses=round(loss(k, size, place) * RUNS), pulls=1)
                assert evidence.ledger.add(series, curve, 1)


def test_claim_5_does_not_compare_different_numbers_of_runs(evidence):
    enter_losses(evidence, lambda k, size, place: (0.9 - 0.08 * place) * min(k, size + 0.5) / (size + 0.5))
    for name in ("relaxed-snw-paper", "relaxed-convex-front"):
        series = CATALOGUE[name].relaxed(evidence, 6 if "snw" in name else 11)
        assert evidence.ledger.add(series, counted(series, first=RUNS, last=2 * RUNS, relaxed_losses=RUNS, pulls=1), 1)
    assert [part.verdict for part in judge(evidence)[4].parts] == [HOLDS, HOLDS, OPEN, OPEN]


@pytest.mark.parametrize(
    "loss, expected",
    [
        (lambda k, size, place: (0.9 - 0.08 * place) * min(k, size + 0.5) / (size + 0.5), [HOLDS] * 4),
        (lambda k, size, place: 0.1 + 0.08 * place, [FAILS, OPEN, OPEN, HOLDS]),
        (lambda k, size, place: (0.9 - 0.08 * place) * (1 - 0.05 * k), [HOLDS, FAILS, FAILS, FAILS]),
    ],
)
def test_claim_5_looks_at_losses_by_k_and_budget(evidence, loss, expected):
    enter_losses(evidence, loss)
    assert [part.verdict for part in judge(evidence)[4].parts] == expected


@pytest.mark.parametrize(
    "volume, growth, expected",
    [
        (0.85, 0.01, [HOLDS, HOLDS]),
        (0.7, 0.01, [FAILS, HOLDS]),
        (0.87, 0.01, [OPEN, HOLDS]),
        (0.85, -0.01, [HOLDS, FAILS]),
    ],
)
def test_claim_6_wants_the_papers_fraction_and_growth(evidence, volume, growth, expected):
    for name, start in (("snw-paper", volume), ("convex-front", 0.5)):
        entry = CATALOGUE[f"hypervolume-{name}"]
        for k in entry.sizes:
            series = entry.covered(evidence, k)
            mean = start + growth * (k - 1)
            totals = {"hypervolume": round(mean * RUNS * 1e9), "squared_hypervolume": round((mean**2 + 1e-4) * RUNS * 1e9)}
            assert evidence.ledger.add(series, counted(series, last=RUNS, pulls=1, **totals), 1)
    assert [part.verdict for part in judge(evidence)[5].parts] == expected


@pytest.mark.parametrize("seconds, expected", [(0.001, HOLDS), (3.0, FAILS)])
def test_claim_7_wants_runs_within_a_second(evidence, seconds, expected):
    for name in ("runtime-2d", "runtime-20d"):
        for series in CATALOGUE[name].series(evidence):
            assert evidence.ledger.add(series, counted(series, last=2000, pulls=1), round(seconds * 2000 * 1e9))
    assert verdict(evidence, 7) == expected


@pytest.mark.parametrize("errors, expected", [(0, HOLDS), (2000, FAILS), (200, OPEN)])
def test_claim_8_tries_the_bounds_where_they_promise_something(evidence, errors, expected):
    for name in CATALOGUE["bounds"].listed:
        for series in CATALOGUE["bounds"].promised(evidence, name).values():
            assert evidence.ledger.add(series, counted(series, last=RUNS, errors=errors, pulls=1), 1)
    assert verdict(evidence, 8) == expected


@pytest.mark.parametrize("halving, expected", [((0.02, 0.03), HOLDS), ((0.005, 0.03), FAILS), ((0.01, 0.03), OPEN)])
def test_claim_9_must_hold_at_every_budget_wherever_the_best_arm_stands(evidence, halving, expected):
    entry = CATALOGUE["best-arm"]
    for one, rates in ((UNIFORM, (0.01, 0.01)), (EGE_SH, halving)):
        for best, rate in zip(("first", "last"), rates, strict=True):
            series = entry.ordered(one, best)
            assert evidence.ledger.add(series, counted(series, last=100_000, errors=round(rate * 100_000), pulls=1), 1)
    assert verdict(evidence, 9) == expected


def test_claim_9_says_from_which_budget_on_uniform_allocation_is_better(evidence):
    entry = CATALOGUE["best-arm"]
    for best in ("first", "last"):
        for one, rate in ((UNIFORM, lambda budget: 0.05), (EGE_SH, lambda budget: 0.01 if budget < 400 else 0.1)):
            series = entry.ordered(one, best)
            for budget in series.budgets:
                curve = counted(series, budgets=(budget,), last=RUNS, errors=round(rate(budget) * RUNS), pulls=1)
                assert evidence.ledger.add(series, curve, 1)
    claim = judge(evidence)[8]
    assert claim.verdict == FAILS
    assert claim.parts[2].verdict == HOLDS
    assert claim.parts[2].findings[0].text == "at all budgets above T = 320"


def test_all_thirteen_contestants_are_there():
    assert len(CONTESTANTS) == 13
    assert sorted(one.options["c"] for one in CONTESTANTS.values() if one.policy == "ape-fb") == [0.1, 0.9, 1.0, 9.0, 10.0, 90.0]
