"""Runs with means of their own: each is the run of that number on a bandit with those means."""

from collections import OrderedDict

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import make_task, truths
from paretopick.simulation.compiled import KERNELS, flat_means, seed_key
from paretopick.simulation.kernels.draws import binomials

NOISES = {
    "std": lambda rng, K, D: pp.Gaussian(std=0.7),
    "stds": lambda rng, K, D: pp.Gaussian(std=0.2 + rng.random(D)),
    "cov": lambda rng, K, D: pp.Gaussian(cov=covariances(rng, D)),
    "cov per arm": lambda rng, K, D: pp.Gaussian(cov=covariances(rng, K, D)),
    "shared": lambda rng, K, D: pp.Gaussian(cov=covariances(rng, K, D), shared=0.6),
    "bernoulli": lambda rng, K, D: pp.Bernoulli(),
    "none": lambda rng, K, D: pp.Gaussian(std=0.0),  # of integers: ties and twins all the way
}
QUICK = ("std", "bernoulli")
EVERY_NOISE = [noise if noise in QUICK else pytest.param(noise, marks=pytest.mark.slow) for noise in NOISES]
POLICIES = {
    "ege-sr": {},
    "ege-sh": {},
    "uniform": {},
    "ege-sr-k": {"max_arms": 1},
    "ape-fb": {"complexity": 40.0},
    "ape-fb-adapt": {},
    "apt": {},
}
PLAIN = slice(0, -2)
"""All tallies but the hypervolumes, which runs with means of their own do not have."""


def covariances(rng, *shape):
    roots = rng.normal(size=(*shape, shape[-1]))
    return roots @ np.swapaxes(roots, -1, -2)


def draw(rng, noise: str, n: int, K: int, D: int) -> np.ndarray:
    if noise == "bernoulli":
        return rng.random((n, K, D))
    return rng.integers(0, 4, (n, K, D)).astype(float) if noise == "none" else rng.normal(size=(n, K, D))


def problem(rng, noise: str, n: int, K: int, D: int) -> tuple[pp.Bandit, np.ndarray]:
    return pp.Bandit(draw(rng, noise, 1, K, D)[0], NOISES[noise](rng, K, D), name="one"), draw(rng, noise, n, K, D)


def answers(task, first: int, last: int) -> list[list[list[int]]]:
    """For each budget what each run answered, pulled, and how many rounds it took."""
    results = KERNELS[task.kind](task)(seed_key((5,)), first, last)
    return [np.column_stack(result).tolist() for result in results]


def one_after_the_other(bandit: pp.Bandit, X: np.ndarray, spec, first: int, last: int, **options) -> np.ndarray:
    """The tallies of one simulation for each run, on a bandit with its means, added up."""
    singles = [
        pp.simulate(pp.Bandit(X[run], bandit.noise), spec, runs=1, start=run, rng=5, workers=1, **options)
        for run in range(first, last)
    ]
    return sum(single.tallies[:, PLAIN] for single in singles)


@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_is_that_of_a_bandit_with_its_means(policy, noise, monkeypatch):
    """Compiled, run by run; sums of Bernoulli pulls without tables on both sides, since tables are for chances that stay."""
    monkeypatch.setattr(binomials, "MOST_CELLS", 0)
    rng = np.random.default_rng([list(POLICIES).index(policy), list(NOISES).index(noise)])
    for K, D in ((1, 2), (9, 1), (8, 2), (13, 3)):
        bandit, X = problem(rng, noise, 17, K, D)
        spec, budgets = (policy, POLICIES[policy]), [4 * K + 3, 9 * K + 5]
        scale = rng.choice([0.5, 1.0, 4.0], D)
        mine = answers(make_task(bandit, spec, budgets=budgets, scale=scale, truths=truths.check_truths(X, bandit)), 3, 15)
        for run in range(3, 15):
            single = make_task(pp.Bandit(X[run], bandit.noise), spec, budgets=budgets, scale=scale)
            assert answers(single, run, run + 1) == [[row[run - 3]] for row in mine], (K, D, run)


@pytest.mark.parametrize("noise", ["cov per arm", "bernoulli"])
def test_more_arms_than_eight_runs_at_once_may_have(noise, monkeypatch):
    monkeypatch.setattr(binomials, "MOST_CELLS", 0)
    rng = np.random.default_rng(0)
    for K, D, policy, budget in ((1030, 2, "ege-sh", 11_400), (30, 2, "apt", 200), (30, 2, "ape-fb-adapt", 100)):
        bandit, X = problem(rng, noise, 6, K, D)
        mine = answers(make_task(bandit, policy, budgets=budget, truths=truths.check_truths(X, bandit)), 2, 6)
        for run in range(2, 6):
            single = make_task(pp.Bandit(X[run], bandit.noise), policy, budgets=budget)
            assert answers(single, run, run + 1) == [[mine[0][run - 2]]]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["ege-sr", "ege-sr-k", "apt"])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_counts_are_those_of_the_single_runs_whoever_makes_them(policy, engine, monkeypatch):
    bandit, X = problem(np.random.default_rng(1), "cov per arm", 26, 6, 2)
    X = X * 0.5
    options = {"budgets": [25, 40], "engine": engine, "scale": [0.5, 2.0]}
    spec = (policy, POLICIES[policy])
    expected = one_after_the_other(bandit, X, spec, 2, 25, **options)
    assert 0 < expected[0, 1] < 23  # losses, which are errors for all but ege-sr-k
    for workers, seconds in ((1, 60.0), (1, 0.0), (2, 0.0)):
        monkeypatch.setattr("paretopick.simulation.engine.PIECE_SECONDS", seconds)
        curve = pp.simulate(bandit, spec, truths=X, runs=23, start=2, rng=5, workers=workers, **options)
        assert (curve.tallies[:, PLAIN] == expected).all()
        assert np.isnan(curve.hypervolume).all()


def test_lanes_behind_the_last_run_have_means_too():
    bandit, X = problem(np.random.default_rng(1), "std", 9, 3, 2)
    means = flat_means(make_task(bandit, "apt", budgets=20, truths=truths.check_truths(X, bandit)))
    assert len(means) >= 16 * 3 * 2
    assert np.isfinite(means).all()


def test_the_bandit_s_own_means_as_truths_give_its_counts_and_another_curve():
    bandit, _ = problem(np.random.default_rng(1), "std", 1, 7, 2)
    X = np.repeat(bandit.means[None], 300, axis=0)
    for spec in ("ege-sr", "apt", "ape-fb"):
        plain = pp.simulate(bandit, spec, budgets=70, runs=200, rng=3, hypervolume=False)
        curve = pp.simulate(bandit, spec, budgets=70, runs=200, rng=3, truths=X)
        assert (plain.tallies == curve.tallies).all()
        assert curve.options == ({"complexity": bandit.complexity} if spec == "ape-fb" else {})
        assert (curve + pp.simulate(bandit, spec, budgets=70, runs=100, rng=3, start=200, truths=X)).runs == 300
        for other in (
            pp.simulate(bandit, spec, budgets=70, runs=100, rng=4, hypervolume=False),
            pp.simulate(bandit, spec, budgets=70, runs=100, rng=4, truths=X + 0.1),
        ):
            with pytest.raises(ValueError, match="curves of digest"):
                curve + other


def test_sums_of_bernoulli_pulls_are_the_same_in_distribution_as_those_from_tables():
    bandit, _ = problem(np.random.default_rng(1), "bernoulli", 1, 7, 2)
    X = np.repeat(bandit.means[None], 5000, axis=0)
    plain = pp.simulate(bandit, "ege-sr", budgets=100, runs=5000, rng=3)
    curve = pp.simulate(bandit, "ege-sr", budgets=100, runs=5000, rng=4, truths=X)
    assert 0.1 < plain.rate[0] < 0.9
    assert abs(plain.rate[0] - curve.rate[0]) < 5 * np.sqrt(0.5 / 5000)


def test_pareto_sets_are_found_once_however_many_pieces_and_policies(monkeypatch):
    found = []
    monkeypatch.setattr("paretopick.simulation.engine.PIECE_SECONDS", 0.0)
    monkeypatch.setattr(truths, "optimal_rows", lambda means: found.append(means) or np.ones(len(means), dtype=np.bool_))
    bandit, X = problem(np.random.default_rng(1), "std", 64, 4, 2)
    pp.simulate(bandit, ["ege-sr", "uniform"], budgets=20, runs=64, rng=1, truths=X)
    pp.simulate(bandit, "ege-sr", budgets=30, runs=64, rng=1, truths=X.copy())
    assert len(found) == 64


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_what_the_caller_does_to_the_array_later_changes_nothing(engine, monkeypatch):
    bandit, X = problem(np.random.default_rng(1), "std", 30, 4, 2)
    kept = X.copy()
    kept.flags.writeable = False
    expected = pp.simulate(bandit, "ege-sr", budgets=20, runs=30, rng=1, truths=kept, engine=engine)
    monkeypatch.setattr("paretopick.simulation.engine._runners", OrderedDict())  # which remember the array of before
    spoilt = pp.simulate(
        bandit, "ege-sr", budgets=20, runs=30, rng=1, truths=X, engine=engine, workers=1, progress=lambda *_: X.fill(0.0)
    )
    assert not X.any()
    assert spoilt == expected


def test_means_near_the_largest_number_are_left_to_the_reference_engine(caplog):
    bandit = pp.Bandit([[1.0], [0.0]], pp.Gaussian(std=0.0))
    curve = pp.simulate(bandit, "uniform", budgets=4, runs=2, rng=1, truths=[[[1.0], [0.0]], [[1e301], [0.0]]])
    assert (curve.engine, curve.errors.tolist()) == ("reference", [0])
    assert "sums that may come near the largest number" in caplog.messages[0]


GAUSS = pp.Bandit([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], pp.Gaussian(std=1.0), budget=30)
COINS = pp.Bandit([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], pp.Bernoulli(), budget=30)
TABLES = pp.Bandit.resampled([[[0.9, 0.1], [0.7, 0.3]], [[0.1, 0.9]], [[0.2, 0.2]]], budget=30)
TEN = np.zeros((10, 3, 2))


NAN = np.where(np.arange(60).reshape(10, 3, 2) == 45, np.nan, 0.0)
NEGATIVE = TEN - np.eye(10)[:, 4, None, None]


@pytest.mark.parametrize(
    "bandit, options, message",
    [
        (GAUSS, {"truths": TEN, "runs": 11}, "means of 10 runs, and runs=11 from start=0 on need 11; .* or say runs=10"),
        (GAUSS, {"truths": TEN, "runs": 8, "start": 3}, "means of 10 runs, and runs=8 from start=3 on need 11; .* runs=7"),
        (GAUSS, {"truths": TEN, "runs": 8, "start": 10}, "runs=8 from start=10 on need 18; give more truths, or lower start"),
        (GAUSS, {"truths": TEN}, "runs=1000 from start=0"),
        (GAUSS, {"truths": TEN, "runs": "until:0.1"}, "runs='until:0.1' may need any number .* has the means of 10"),
        (GAUSS, {"truths": TEN[0], "runs": 1}, r"truths has shape \(3, 2\); expected \(n_truths, 3, 2\)"),
        (GAUSS, {"truths": TEN[:, :2], "runs": 1}, r"truths has shape \(10, 2, 2\); expected \(n_truths, 3, 2\)"),
        (GAUSS, {"truths": TEN[:0], "runs": 1}, r"truths has shape \(0, 3, 2\)"),
        (GAUSS, {"truths": 1.0, "runs": 1}, r"truths has shape \(\)"),
        (GAUSS, {"truths": [[["a", "b"]] * 3], "runs": 1}, r"truths cannot be read as numbers .*\(n_truths, 3, 2\)"),
        (GAUSS, {"truths": np.ma.masked_equal(TEN, 0.0), "runs": 1}, "truths is a masked array"),
        (GAUSS, {"truths": NAN, "runs": 1}, "truths has nan for run 7, arm 1, objective 1"),
        (COINS, {"truths": NEGATIVE, "runs": 1}, "the truth of run 4 .* means has -1 for arm 0, objective 0"),
        (TABLES, {"truths": np.repeat(TABLES.means[None], 2, axis=0), "runs": 1}, "means of its tables; simulate a pp.Bandit"),
    ],
)
def test_bad_truths_are_shown(bandit, options, message):
    with pytest.raises(pp.InvalidInput, match=message):
        pp.simulate(bandit, "ege-sr", rng=1, **options)
