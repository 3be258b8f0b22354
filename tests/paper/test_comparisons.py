"""The paper's adverbs in numbers."""

import pytest

import paretopick as pp
from paretopick.paper.comparisons import (
    FAILS,
    HOLDS,
    LARGELY,
    OPEN,
    competes,
    exponentially,
    factor_between,
    largely_outperforms,
    outperforms,
    particularly,
    slightly_outperforms,
)
from paretopick.paper.database import Point
from paretopick.paper.series import Series
from support.paper_results import counted

BANDIT = pp.instance("unique-dominator")


def point(rate, runs=4000, budget=1000, of="errors"):
    series = Series(BANDIT, "uniform", {}, (budget,))
    return Point(counted(series, last=runs, **{of: round(rate * runs)}), 1.0)


@pytest.mark.parametrize(
    "ours, others, at_all, largely, slightly",
    [
        (0.10, 0.30, HOLDS, HOLDS, FAILS),  # odds 3.9 times as high
        (0.20, 0.25, HOLDS, FAILS, HOLDS),  # 1.3 times
        (0.20, 0.33, HOLDS, OPEN, OPEN),  # 2.0 times
        (0.20, 0.205, OPEN, FAILS, OPEN),
        (0.30, 0.20, FAILS, FAILS, FAILS),
        (0.97, 0.995, HOLDS, HOLDS, FAILS),  # close as rates, and six times as many right answers
        (0.0, 0.0, OPEN, OPEN, OPEN),
        (1.0, 1.0, OPEN, OPEN, OPEN),
    ],
)
def test_better_largely_and_slightly(ours, others, at_all, largely, slightly):
    a, b = point(ours), point(others)
    assert (outperforms(a, b), largely_outperforms(a, b), slightly_outperforms(a, b)) == (at_all, largely, slightly)
    assert competes(b, a) == {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[largely]


@pytest.mark.parametrize("runs, expected", [(40, OPEN), (400, HOLDS)])
def test_few_runs_decide_nothing(runs, expected):
    assert outperforms(point(0.2, runs), point(0.4, runs)) == expected


def test_the_factor_between_the_odds_exists_where_no_run_errs():
    assert factor_between(point(0.2), point(0.4)) == pytest.approx((0.4 / 0.6) / (0.2 / 0.8), rel=0.01)
    assert LARGELY < factor_between(point(0.0), point(0.1)) < 10_000
    assert LARGELY < factor_between(point(0.9), point(1.0)) < 10_000


def test_particularly_compares_geometric_means_of_factors():
    weak, strong = (point(0.3), point(0.6)), (point(0.05), point(0.6))
    there, elsewhere, result = particularly([strong, weak], [weak, weak])
    assert there == pytest.approx((28.5 * 3.5) ** 0.5, rel=0.02)
    assert elsewhere == pytest.approx(3.5, rel=0.02)
    assert result == HOLDS
    assert particularly([weak], [strong])[2] == FAILS
    assert particularly([weak], [weak])[2] == OPEN


@pytest.mark.parametrize(
    "losses, expected",
    [
        ([166, 24, 4, 0, 0, 0, 0, 0], HOLDS),
        ([4000, 3970, 3890, 3748, 3513, 3200, 2864, 2136], HOLDS),
        ([2585, 1907, 1673, 1578, 1481, 1477, 1355, 1305], FAILS),
        ([2000, 1000, 667, 500, 400, 333, 250, 200], FAILS),
        ([100, 120, 140, 160, 180, 200, 220, 240], FAILS),
        ([3, 1, 1, 0, 0, 0, 0, 0], OPEN),
    ],
)
def test_exponentially_fast_is_faster_than_a_power_of_the_budget(losses, expected):
    budgets = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000)
    points = [point(n / 4000, budget=budget, of="relaxed_losses") for n, budget in zip(losses, budgets, strict=True)]
    assert exponentially(points)[2] == expected
