"""Every bound against its formula, written out once more from gaps computed by the oracle."""

import math

import numpy as np
import pytest

import paretopick as pp
from paretopick import bounds
from support import oracle

MEANS = np.array([[0.9, 0.1], [0.1, 0.8], [0.5, 0.5], [0.4, 0.3], [0.05, 0.05], [0.85, 0.0]])
K, D, S = 6, 2, 3
SIGMA = 0.3
T = 400
GAPS = sorted(oracle.gaps_lemma1(MEANS.tolist()))
H = sum(gap**-2 for gap in GAPS)
H2 = max(i / gap**2 for i, gap in enumerate(GAPS, 1))
LOG_BAR = 0.5 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5 + 1 / 6


def test_the_example_has_the_size_the_formulas_below_assume():
    assert MEANS.shape == (K, D)
    assert pp.pareto_mask(MEANS).sum() == S


@pytest.mark.parametrize("name", ["sr", "sh", "gg", "uniform"])
def test_ege_with_any_schedule(name):
    rounds = pp.schedule(name, K, T)
    effective = min(n * GAPS[after] ** 2 for n, after in zip(rounds.cumulative, rounds.active[1:], strict=True))
    expected = 2 * (K - 1) * S * rounds.n_rounds * D * math.exp(-effective / (144 * SIGMA**2))
    assert bounds.ege(MEANS, rounds, sigma=SIGMA) == pytest.approx(expected, rel=1e-12)


def test_ege_sr():
    expected = 2 * (K - 1) ** 2 * S * D * math.exp(-(T - K) / (144 * SIGMA**2 * H2 * LOG_BAR))
    assert bounds.ege_sr(MEANS, T, sigma=SIGMA) == pytest.approx(expected, rel=1e-12)


def test_ege_sh():
    expected = 2 * (K - 1) * 3 * S * D * math.exp(-T / (288 * SIGMA**2 * H2 * 3))
    assert bounds.ege_sh(MEANS, T, sigma=SIGMA) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("R", [None, 1, 2, 5])
def test_ege_gg(R):
    r = R or 3
    expected = 2 * (K - 1) * S * r * D * math.exp(-T / (288 * SIGMA**2 * r * K ** (1 / r) * H2))
    assert bounds.ege_gg(MEANS, T, sigma=SIGMA, n_rounds=R) == pytest.approx(expected, rel=1e-12)


def test_uniform():
    expected = 2 * (K - 1) * S * D * math.exp(-T / (144 * SIGMA**2 * K * GAPS[0] ** -2))
    assert bounds.uniform(MEANS, T, sigma=SIGMA) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, None])
def test_ape_fb(share):
    largest = 25 / 36 * (T - K) / H
    a = largest if share is None else share * largest * (1 - 1e-12)
    expected = 2 * (1 + math.log(T)) * D * K * math.exp(-a / (100 * SIGMA**2))
    given = None if share is None else a
    assert bounds.ape_fb(MEANS, T, sigma=SIGMA, exploration=given) == pytest.approx(expected, rel=1e-12)
    assert bounds.largest_exploration(MEANS, T) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("k", range(1, K + 1))
def test_ege_sr_k(k):
    relaxed = sorted(oracle.relaxed_gaps(MEANS.tolist(), k))
    h2k = max(i / gap**2 for i, gap in enumerate(relaxed, 1))
    decay = math.exp(-(T - K) / (144 * SIGMA**2 * h2k * LOG_BAR))
    assert bounds.ege_sr_k(MEANS, T, max_arms=k, sigma=SIGMA) == pytest.approx(2 * (K - 1) ** 2 * S * D * decay, rel=1e-12)
    if k < S:
        q = K - S + k
        P = 2 * (K - 1) * S * (K - q - 1) * q * D * decay
        rounds = pp.schedule("sr", K, T)
        n_q = sum(rounds.active[r] * rounds.pulls[r] for r in range(q))
        assert bounds.ege_sr_k_rounds(MEANS, T, max_arms=k, sigma=SIGMA) == pytest.approx(q + P, rel=1e-12)
        assert bounds.ege_sr_k_pulls(MEANS, T, max_arms=k, sigma=SIGMA, schedule=rounds) == pytest.approx(n_q + T * P, rel=1e-12)


def test_apt():
    expected = 2 * K * D * math.exp(-(0.2 * T / K - 2) * GAPS[0] ** 2 / (8 * SIGMA**2))
    assert bounds.apt(MEANS, T, sigma=SIGMA) == pytest.approx(expected, rel=1e-12)


def test_log_bar():
    assert bounds.log_bar(K) == pytest.approx(LOG_BAR, rel=1e-15)
    assert bounds.log_bar(1) == 0.5
    assert bounds.log_bar(2) == 1


def test_k_beyond_the_front_gives_the_bound_of_plain_ege_sr():
    for k in (S + 1, K):
        assert bounds.ege_sr_k(MEANS, T, max_arms=k, sigma=SIGMA) == bounds.ege_sr(MEANS, T, sigma=SIGMA)


def test_the_bound_of_any_schedule_is_at_most_those_derived_from_it():
    """Corollary 1 and Proposition 1 weaken Theorem 1, so the general bound is the smaller one."""
    for budget in (100, 400, 5000):
        for name, special in (("sr", bounds.ege_sr), ("sh", bounds.ege_sh), ("gg", bounds.ege_gg)):
            assert bounds.ege(MEANS, pp.schedule(name, K, budget), sigma=SIGMA) <= special(MEANS, budget, sigma=SIGMA) * (
                1 + 1e-9
            )


def test_one_arm_is_never_wrong():
    one = [[0.3, 0.4]]
    assert bounds.ege_sr(one, 5, sigma=1) == bounds.ege_sh(one, 5, sigma=1) == bounds.ege_gg(one, 5, sigma=1) == 0
    assert bounds.uniform(one, 5, sigma=1) == bounds.apt(one, 5, sigma=1) == 0
    assert bounds.ege(one, pp.schedule("sr", 1, 5), sigma=1) == 0
    assert bounds.largest_exploration(one, 5) == 0


def test_bounds_beyond_all_floats_are_limits():
    assert bounds.apt([[1.0], [0.0]], 2, sigma=0.01) == math.inf
    assert bounds.ege(MEANS, pp.schedule("sr", K, T), sigma=1e-200) == 0
    assert bounds.uniform(MEANS, T, sigma=1e200) == 2 * (K - 1) * S * D
    assert bounds.largest_exploration([[1e200], [-1e200]], 10) == 0
    one, twins = [[0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]]
    for bound in (bounds.ege_sr, bounds.ege_sh, bounds.ege_gg, bounds.uniform):
        assert bound(one, 100, sigma=1e200) == 0
        assert bound(twins, 100, sigma=1e-200) >= 4


def test_twins_make_the_bounds_useless_but_finite():
    twins = [[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]
    assert bounds.ege_sr(twins, 10**9, sigma=0.1) == 2 * 2**2 * 3 * 2
    assert bounds.uniform(twins, 10**9, sigma=0.1) == 2 * 2 * 3 * 2


@pytest.mark.parametrize(
    "name, bound",
    [
        ("uniform", lambda m, t, s: bounds.uniform(m, t, sigma=s)),
        ("ege-sr", lambda m, t, s: bounds.ege_sr(m, t, sigma=s)),
        ("ege-sh", lambda m, t, s: bounds.ege_sh(m, t, sigma=s)),
        ("apt", lambda m, t, s: bounds.apt(m, t, sigma=s)),
    ],
)
def test_the_measured_error_is_below_the_bound(name, bound):
    """On a problem easy enough for the bounds to mean something, and yet hard enough for errors to be seen."""
    means = np.array([[1.0, 0.0], [0.0, 1.0], [0.4, -0.4]])
    found = False
    for sigma in (0.35, 0.5, 0.7):
        curve = pp.simulate(pp.Bandit(means, pp.Gaussian(std=sigma)), name, budgets=60, runs=300, rng=1)
        limit = bound(means, 60, sigma)
        assert curve.rate[0] <= limit
        found |= curve.errors[0] > 0
    assert found


def test_expected_rounds_and_pulls_of_ege_sr_k_are_below_their_bounds():
    means = np.array([[1.0, 0.0], [0.8, 0.4], [0.4, 0.8], [0.0, 1.0], [0.1, 0.1]])
    sigma, budget, k = 0.02, 300, 1
    curve = pp.simulate(pp.Bandit(means, pp.Gaussian(std=sigma)), ("ege-sr-k", {"max_arms": k}), budgets=budget, runs=100, rng=2)
    rounds = bounds.ege_sr_k_rounds(means, budget, max_arms=k, sigma=sigma)
    pulls = bounds.ege_sr_k_pulls(means, budget, max_arms=k, sigma=sigma, schedule=pp.schedule("sr", 5, budget))
    assert rounds < 2.01  # q = 5 - 4 + 1: the bound means something here
    assert curve.rounds[0] <= rounds
    assert curve.pulls[0] <= pulls < budget


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: bounds.ege_sr(MEANS, 10**400, sigma=1), "is too large; it must be at most 9007199254740992"),
        (lambda: bounds.ege_sr(MEANS, 5, sigma=1), "budget=5 is too small; it must be at least 6"),
        (lambda: bounds.ege_sr(MEANS, T, sigma=0), "sigma=0 is too small; it must be larger than 0"),
        (lambda: bounds.ege_sr(MEANS, T, sigma=np.nan), "sigma=nan is not finite"),
        (lambda: bounds.ege_gg(MEANS, 35, sigma=1), "budget=35 is too small; it must be at least 36"),
        (lambda: bounds.ape_fb(MEANS, T, sigma=1, exploration=1e9), "larger than 25/36"),
        (lambda: bounds.ape_fb(MEANS, T, sigma=1, exploration=-1), "exploration=-1 is too small"),
        (lambda: bounds.ege_sr_k(MEANS, T, max_arms=7, sigma=1), "max_arms=7 is too large; it must be at most 6"),
        (lambda: bounds.ege_sr_k_rounds(MEANS, T, max_arms=3, sigma=1), "max_arms=3 is too large; it must be at most 2"),
        (lambda: bounds.ege_sr_k_rounds([[1.0], [0.0]], T, max_arms=1, sigma=1), "one Pareto optimal arm"),
        (
            lambda: bounds.ege_sr_k_pulls(MEANS, T, max_arms=1, sigma=1, schedule=pp.schedule("sh", 6, T)),
            r'expected schedule\("sr", 6, 400\)',
        ),
        (lambda: bounds.ege(MEANS, "sr", sigma=1), "schedule='sr' is not a schedule; write pp.schedule"),
        (lambda: bounds.uniform(MEANS, T, sigma=10**400), "is not a number"),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()
