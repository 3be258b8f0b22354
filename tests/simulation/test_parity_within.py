"""The kernel of doubt with margins or limits does, run by run and pull by pull, what the policy does with the same draws."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.policies.doubt import Doubt
from paretopick.simulation import make_task
from paretopick.simulation.compiled import KERNELS, bandit_arrays, known_arrays, required_arrays, seed_key, why_no_kernel
from paretopick.simulation.kernels.draws.counters import Runs
from paretopick.simulation.kernels.stepwise import doubt, doubt_within
from paretopick.simulation.known import check_known
from paretopick.simulation.scores import unpacked
from paretopick.simulation.tasks import Task
from paretopick.simulation.truths import check_truths
from paretopick.theory.requirements import Requirements, check_requirements, optimal_and_feasible
from support.same_draws import Draws, follow

pytestmark = pytest.mark.slow

NOISES = ("std", "stds", "cov per arm", "bernoulli", "bernoulli of few values", "none", "shared")
QUICK = ("std", "bernoulli of few values", "none")
EVERY_NOISE = [noise if noise in QUICK else pytest.param(noise, marks=pytest.mark.slow) for noise in NOISES]


def random_bandit(rng: np.random.Generator, noise: str, K: int, D: int) -> pp.Bandit:
    """With twins, and noise that is different for each arm."""
    if noise.startswith("bernoulli"):
        means = rng.choice([0.0, 0.25, 0.5, 0.5, 1.0], (K, D)) if noise.endswith("values") else rng.random((K, D))
        return pp.Bandit(means, pp.Bernoulli())
    if noise == "none":
        return pp.Bandit(rng.integers(0, 4, (K, D)).astype(float), pp.Gaussian(std=0.0))
    means = rng.normal(size=(K, D))
    means[K // 2 :: 3] = means[0]
    if noise == "std":
        return pp.Bandit(means, pp.Gaussian(std=0.7))
    if noise == "stds":
        return pp.Bandit(means, pp.Gaussian(std=rng.random(D)))
    roots = rng.normal(size=(K, D, D)) * np.exp(rng.normal(size=(K, 1, 1)))
    shared = 0.6 if noise.endswith("shared") else 0.0
    return pp.Bandit(means, pp.Gaussian(cov=roots @ np.swapaxes(roots, -1, -2), shared=shared))


def random_requirements(rng: np.random.Generator, means: np.ndarray) -> dict[str, list[float | None]]:
    """Margins and limits as users write them; objectives that are not compared; limits that few keep, or nobody."""
    D = means.shape[1]
    margins = rng.choice([0.0, 0.1, 0.25, 1.0], D).tolist()
    for d in np.flatnonzero(rng.random(D) < 0.25):
        margins[d] = None
    if margins == [None] * D:
        margins[rng.integers(D)] = 0.25
    limits = [None] * D
    if rng.random() < 0.7:
        for d in np.flatnonzero(rng.random(D) < 0.6):
            limits[d] = float(np.quantile(means[:, d], rng.choice([0.0, 0.3, 0.8, 1.0]))) + rng.choice([0.0, 0.0, 0.3])
    return {"margins": margins, "limits": limits}


def kernel_run(task: Task, budgets: list[int], seed: int, run: int) -> tuple[list[list[int]], list[list[int]]]:
    """Answers and pulls of each arm, at each budget."""
    player, K = task.player(budgets[0]), task.bandit.n_arms
    assert isinstance(player, Doubt)
    assert not player.required.is_plain
    rule = doubt.Rule(player.batch, player.initial, np.array(budgets), known_arrays(task))
    answers, spent = np.zeros((1, len(budgets), 1 + K // 64), np.uint64), np.zeros((len(budgets), K), np.int64)
    bandit = bandit_arrays(task)
    own = bandit._replace(means=bandit.means[run * bandit.step :])
    memory = doubt_within.make_memory(bandit, required_arrays(player.required))
    doubt_within.run_doubt_within(own, rule, Runs(seed_key((seed,)), run, run + 1), memory, answers, spent)
    return [np.flatnonzero(mask).tolist() for mask in unpacked(answers[0], K)], spent.tolist()


def assert_alike(task: Task, run: int = 3) -> list[list[int]]:
    """Of a task whose budgets rise: one other choice, and all that follow would differ."""
    budgets = list(task.budgets)
    answers, spent = kernel_run(task, budgets, 7, run)
    for budget, answer, pulls in zip(budgets, answers, spent, strict=True):
        player = follow(task, budget, Draws(task, budget, 7), run)
        assert pulls == player.counts.tolist(), (task, player.required)
        assert answer == player.recommend().tolist(), (task, player.required)
    return answers


@pytest.mark.sample(5)
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("batch", [1, 3, 20])
def test_every_arm_is_pulled_as_often_as_by_the_policy(noise, batch):
    rng = np.random.default_rng([NOISES.index(noise), batch])
    several = empty = 0
    for i in range(10):
        K, D = (1, 2, int(rng.integers(3, 9)), int(rng.integers(9, 40)))[i % 4], int(rng.integers(1, 6))
        bandit = random_bandit(rng, noise, K, D)
        initial = int(rng.integers(1, 4))
        required = random_requirements(rng, bandit.means)
        if Requirements.none(D) == make_task(bandit, "doubt", budgets=10 * K, **required).requirements:
            required["margins"] = 0.2
        least = initial * K
        budgets = [least, least + int(rng.integers(1, 30)), least + int(rng.integers(100, 300))]
        task = make_task(bandit, ("doubt", {"batch": batch, "initial": initial}), budgets=budgets, **required)
        for answer in assert_alike(task):
            several, empty = several + (len(answer) > 1), empty + (not answer)
    assert several
    assert empty


def test_far_into_a_run_where_arms_are_pulled_in_turns():
    rng = np.random.default_rng(0)
    for batch in (1, 7):
        bandit = random_bandit(rng, "std", 5, 2)
        task = make_task(bandit, ("doubt", {"batch": batch}), budgets=[700, 2500], margins=0.1, limits=[None, -0.5])
        assert_alike(task)


@pytest.mark.sample(3)
@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_with_objectives_without_noise(noise):
    """Prices that occur often, so that options tie in them, differ by a margin, or reach a limit exactly."""
    rng = np.random.default_rng(NOISES.index(noise))
    for i in range(8):
        K, D = int(rng.integers(2, 25)), int(rng.integers(1, 5))
        bandit = random_bandit(rng, noise, K, D)
        means, widths = bandit.means.copy(), np.exp(rng.normal(size=D))
        widths[rng.random(D) < (0.4, 1.0)[i == 0]] = 0.0
        widths[0] = 0.0
        means[:, widths == 0] = rng.choice([0.1, 0.3, 0.7], (K, (widths == 0).sum()))
        required = random_requirements(rng, means) | {"limits": [0.3 if i % 2 else None, *[None] * (D - 1)]}
        required["margins"][0] = (0.1, 0.4, 0.7 - 0.3)[i % 3]
        task = make_task(
            pp.Bandit(means, bandit.noise), ("doubt", {"batch": (1, 4)[i % 2]}), budgets=2 * K + 100, scale=widths, **required
        )
        assert_alike(task)


@pytest.mark.parametrize("noise", ["cov per arm", "shared"])
@pytest.mark.parametrize("exact", [False, True])
def test_from_data_on_another_scale_and_with_truths_of_their_own(exact, noise):
    """What the continuation of a study simulates: all of it together."""
    rng = np.random.default_rng(exact)
    for K in (1, 4, 13):
        D = int(rng.integers(1, 4))
        bandit = random_bandit(rng, noise, K, D)
        counts = rng.choice([0, 1, 2, 7, 30, 65], K)
        X = rng.normal(size=(5, K, D))
        widths = np.where(np.arange(D) == 0, 0.0, 1.5) if exact else np.exp(rng.normal(size=D))
        if exact:
            X[:, :, 0] = rng.choice([0.1, 0.3, 0.7], K)
        sums = counts[:, None] * X[0] + np.where(widths > 0, np.sqrt(counts)[:, None] * rng.normal(size=(K, D)), 0.0)
        squares = np.maximum(counts - 1, 0)[:, None] * rng.uniform(0.5, 2.0, (K, D))
        known = check_known((counts, sums, squares), bandit)
        least = int(np.maximum(counts, 2).sum())
        options = {"known": known, "truths": check_truths(X, bandit), "scale": widths, **random_requirements(rng, X[0])}
        options["margins"][0] = 0.3
        task = make_task(bandit, ("doubt", {"batch": 1 + K % 3}), budgets=[least, least + 60], **options)
        assert why_no_kernel(task) is None
        assert_alike(task, run=2)


def test_simulations_take_the_kernel_and_count_by_arm():
    rng = np.random.default_rng(3)
    bandit = random_bandit(rng, "std", 6, 2)
    options = {"budgets": [60, 30], "runs": 9, "rng": 5, "margins": [0.3, 0.0], "limits": [None, -0.2], "scale": [0.5, 2.0]}
    curve = pp.simulate(bandit, "doubt", by_arm=True, **options)
    assert curve.engine == "compiled"
    task = make_task(bandit, "doubt", **{key: value for key, value in options.items() if key not in ("runs", "rng")})
    assert task.player(60).required.margins.tolist() == [0.6, 0.0]
    for place, budget in enumerate((60, 30)):
        players = [follow(task, budget, Draws(task, budget, 5), run) for run in range(9)]
        assert curve.pulls_by_arm[place].tolist() == np.mean([player.counts for player in players], axis=0).tolist()
    whole = KERNELS[Doubt](task)(seed_key((5,)), 0, 9)
    later = KERNELS[Doubt](task)(seed_key((5,)), 4, 9)
    assert whole[0][0][4:].tolist() == later[0][0].tolist()


def test_options_of_the_policy_go_first_and_are_in_the_units_that_it_sees():
    bandit = random_bandit(np.random.default_rng(4), "std", 12, 2)
    plain = pp.simulate(bandit, "doubt", budgets=90, runs=40, rng=1, by_arm=True)
    options = {"budgets": 90, "runs": 40, "rng": 1, "by_arm": True}
    told = pp.simulate(bandit, "doubt", margins=0.5, **options)
    without = pp.simulate(bandit, ("doubt", {"margins": 0.0}), margins=0.5, **options)
    alone = pp.simulate(bandit, ("doubt", {"margins": 0.5}), **options)
    scaled = pp.simulate(bandit, ("doubt", {"margins": 0.25}), scale=2.0, **options)
    assert (without.pulls_by_arm == plain.pulls_by_arm).all()
    assert (told.pulls_by_arm == alone.pulls_by_arm).all()
    assert (told.pulls_by_arm != plain.pulls_by_arm).any()
    assert (scaled.pulls_by_arm == alone.pulls_by_arm).all()


def test_a_margin_lowers_errors_and_beats_equal_shares_where_arms_tie():
    """20 arms, of which two tie and others are nearly equal."""
    rng = np.random.default_rng(7)
    means = rng.normal(size=(20, 2))
    front = np.flatnonzero(pp.pareto_mask(means))
    means[(front[0] + 1) % 20] = means[front[0]]
    bandit = pp.Bandit(means, pp.Gaussian(std=1.0))
    options = {"budgets": 500, "runs": 2000, "rng": 1, "margins": 0.3}
    policies = ("doubt", ("doubt", {"margins": 0}), "uniform")
    errors = [int(pp.simulate(bandit, policy, **options).errors_within[0]) for policy in policies]
    assert 1.4 * errors[0] < errors[1]
    assert 4 * errors[0] < errors[2]


def test_with_limits_it_errs_far_less_often_than_equal_shares_that_are_judged_by_them():
    """20 arms, 5 of which keep the limit; the means of 40 pulls of each, and the feasible Pareto set of these."""
    rng = np.random.default_rng(3)
    means = rng.normal(size=(20, 3))
    curve = pp.simulate(pp.Bandit(means, pp.Gaussian(std=1.0)), "doubt", budgets=800, runs=1000, rng=1, limits=[0.3, None, None])
    required = check_requirements(None, [0.3, None, None], 3)
    estimates = means + rng.normal(size=(1000, 20, 3)) / np.sqrt(40)
    right = (optimal_and_feasible(estimates, required) == optimal_and_feasible(means, required)).all(axis=1)
    assert curve.errors[0] < 0.5 * np.count_nonzero(~right)
