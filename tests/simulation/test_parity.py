"""Every kernel does, run by run, what the policy itself does when it is fed the same draws."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import compiled as compiler
from paretopick.simulation import make_task
from paretopick.simulation.compiled import (
    KERNELS,
    MOST_ARMS_OF_APE_FB,
    MOST_COMPARISONS,
    bandit_arrays,
    known_arrays,
    schedule_arrays,
    seed_key,
)
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws import binomials
from paretopick.simulation.kernels.draws.counters import Runs
from paretopick.simulation.kernels.ege import decisions, eight_fronts, eight_runs
from paretopick.simulation.kernels.ege import kernel as ege
from paretopick.simulation.kernels.outcomes import Outcome
from paretopick.simulation.kernels.stepwise import doubt
from paretopick.simulation.known import check_known
from paretopick.simulation.scores import unpacked
from paretopick.simulation.tasks import Task
from paretopick.simulation.truths import check_truths
from paretopick.theory.requirements import check_requirements
from support.inputs import drawn_requirements
from support.same_draws import Draws, follow, followed

NOISES = (
    "std",
    "stds",
    "cov",
    "cov per arm",
    "bernoulli",
    "bernoulli of few values",
    "none",
    "stds shared",
    "cov per arm shared",
)
QUICK = ("std", "bernoulli of few values", "none")
EVERY_NOISE = [noise if noise in QUICK else pytest.param(noise, marks=pytest.mark.slow) for noise in NOISES]
SPECS = {
    "ege-sr": {},
    "ege-sh": {},
    "ege-gg": {},
    "uniform": {},
    "ege-sr-k": {"max_arms": 2},
    "ape-fb": {"c": 9.0},
    "ape-fb-adapt": {},
    "ape-fb-adapt published": {"as_published": True},
    "apt": {},
    "apt in batches": {"batch": 7, "gamma": 0.5, "initial": 2},
    "doubt": {},
    "doubt in batches": {"batch": 5, "initial": 1},
}


def random_bandit(rng: np.random.Generator, noise: str, max_arms: int = 40, n_arms: int | None = None) -> pp.Bandit:
    K, D = n_arms or int(rng.integers(1, max_arms + 1)), int(rng.integers(1, 7))
    if noise.startswith("bernoulli"):
        means = rng.choice([0.0, 0.25, 0.5, 0.5, 1.0], (K, D)) if noise.endswith("values") else rng.random((K, D))
        return pp.Bandit(means, pp.Bernoulli())
    if noise == "none":  # integers without noise: ties and twins all the way
        return pp.Bandit(rng.integers(0, 4, (K, D)).astype(float), pp.Gaussian(std=0.0))
    means = rng.normal(size=(K, D))
    if noise == "std":
        return pp.Bandit(means, pp.Gaussian(std=0.7))
    shared = rng.choice([0.1, 0.5, 0.95]) if noise.endswith("shared") else 0.0
    if noise.startswith("stds"):
        return pp.Bandit(means, pp.Gaussian(std=rng.random(D), shared=shared))
    roots = rng.normal(size=(K, D, D) if noise.startswith("cov per arm") else (D, D))
    return pp.Bandit(means, pp.Gaussian(cov=roots @ np.swapaxes(roots, -1, -2), shared=shared))


def smallest_budget(bandit: pp.Bandit, spec) -> int:
    try:
        make_task(bandit, spec, budgets=0)
    except pp.BudgetTooSmall as refusal:
        return refusal.smallest
    return 0


def compiled(bandit: pp.Bandit, spec, budget: int, seed: int, runs: int, **options) -> list[tuple[list[int], int, int]]:
    task = make_task(bandit, spec, budgets=budget, **options)
    ((answers, pulls, rounds),) = KERNELS[task.kind](task)(seed_key((seed,)), 0, runs)
    masks = unpacked(answers, bandit.n_arms)
    return [(np.flatnonzero(mask).tolist(), *pair) for mask, *pair in zip(masks, pulls.tolist(), rounds.tolist(), strict=True)]


def spec_of(case: str, bandit: pp.Bandit):
    name, options = case.split()[0], dict(SPECS[case])
    if "max_arms" in options:
        options["max_arms"] = min(options["max_arms"], bandit.n_arms)
    if name == "ape-fb" and not np.isfinite(bandit.complexity):
        options["complexity"] = 50.0
    return name, options


@pytest.mark.sample(9)
@pytest.mark.slow
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("case", SPECS)
def test_a_kernel_does_what_the_policy_does(case, noise):
    rng = np.random.default_rng([list(SPECS).index(case), NOISES.index(noise)])
    for _ in range(12):
        bandit = random_bandit(rng, noise, max_arms=40 if "ege" in case or case == "uniform" else 12)
        spec = spec_of(case, bandit)
        least = smallest_budget(bandit, spec)
        budget = least + int(rng.integers(0, 2 + rng.choice([1, 3, 10]) * bandit.n_arms))
        runs = int(rng.integers(1, 11))
        results = compiled(bandit, spec, budget, seed=5, runs=runs)
        for run, result in enumerate(results):
            assert result == followed(bandit, spec, budget, seed=5, run=run), (bandit, spec, budget, run)


@pytest.mark.sample(5)
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("case", ["apt", "apt in batches"])
def test_apt_within_margins_and_limits_does_what_the_policy_does(case, noise):
    """With a scale and objectives without noise, from nothing and from data, and with means of their own for every run."""
    rng = np.random.default_rng([len(case), NOISES.index(noise)])
    for i in range(12):
        bandit = random_bandit(rng, noise, max_arms=12)
        K, D = bandit.means.shape
        margins, limits = drawn_requirements(rng, bandit.means)
        if check_requirements(margins, limits, D).is_plain:
            limits[0] = 0.1
        options = {"margins": margins, "limits": limits}
        if i % 3:
            options["scale"] = np.where(rng.random(D) < (0.0, 0.5)[i % 3 - 1], 0.0, rng.choice([0.5, 0.7, 4.0], D))
        if i % 2:
            counts = rng.integers(0, 4, K)
            known = counts, bandit.means * counts[:, None]
            options["known"] = check_known(known, bandit)
        if i % 4 == 3 and "bernoulli" not in noise:
            options["truths"] = check_truths(bandit.means + rng.normal(size=(9, K, D)), bandit)
        spec = spec_of(case, bandit)
        budget = 4 * K + int(rng.integers(0, 8 * K))
        results = compiled(bandit, spec, budget, seed=5, runs=7, **options)
        for run, result in enumerate(results):
            assert result == followed(bandit, spec, budget, seed=5, run=run, **options), (bandit, options, budget, run)


def test_apt_with_margins_of_0_pulls_as_without(monkeypatch):
    bandit = random_bandit(np.random.default_rng(0), "std", n_arms=12)
    plain = pp.simulate(bandit, "apt", budgets=[60, 150], runs=100, rng=1, by_arm=True, hypervolume=False)
    none = pp.simulate(bandit, "apt", budgets=[60, 150], runs=100, rng=1, by_arm=True, hypervolume=False, margins=0)
    far = [-1e9] * bandit.n_objectives
    within = pp.simulate(bandit, "apt", budgets=[60, 150], runs=100, rng=1, by_arm=True, hypervolume=False, limits=far)
    assert {curve.engine for curve in (plain, none, within)} == {"compiled"}
    assert (none.pulls_by_arm == plain.pulls_by_arm).all()
    assert (within.pulls_by_arm == plain.pulls_by_arm).all()  # by the kernel that knows limits


STEPWISE = [case for case in SPECS if case.startswith("ap")]


def made_both_ways(bandit: pp.Bandit, spec, budget: int, runs: int, monkeypatch):
    """The results of one run after the other, having asserted that eight runs at once give the same."""
    results = []
    for most in (10**9, 0):
        monkeypatch.setattr(compiler, "MOST_COMPARISONS", dict.fromkeys(MOST_COMPARISONS, most))
        monkeypatch.setattr(compiler, "MOST_ARMS_OF_APE_FB", most)
        monkeypatch.setattr(compiler, "ARMS_OF_ONE_RUN", most)
        results.append(compiled(bandit, spec, budget, seed=4, runs=runs))
    assert results[0] == results[1], (bandit, spec, budget)
    return results[1]


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("case", STEPWISE)
def test_as_many_arms_as_eight_runs_are_made_at_once_with_and_more(case, noise):
    rng = np.random.default_rng([STEPWISE.index(case), NOISES.index(noise)])
    for K in (12, 15, 18, 23, 24, 27, 33):  # the limit depends on the number of objectives, which is drawn
        bandit = random_bandit(rng, noise, n_arms=K)
        spec = spec_of(case, bandit)
        for more in (0, 1, 4 * K):
            budget = smallest_budget(bandit, spec) + more
            results = compiled(bandit, spec, budget, seed=5, runs=2)
            assert results == [followed(bandit, spec, budget, seed=5, run=run) for run in range(2)], (bandit, spec, budget)


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("case", STEPWISE)
def test_eight_runs_of_single_pulls_equal_one_run_after_the_other(case, noise, monkeypatch):
    """Of one arm and of two too, and far into a run; the runs asked for need not fill the lanes."""
    rng = np.random.default_rng([STEPWISE.index(case), NOISES.index(noise)])
    for K in (1, 2, 3, 5, 8, 9, 17, 24, 40, 70):
        bandit = random_bandit(rng, noise, n_arms=K)
        spec = spec_of(case, bandit)
        made_both_ways(bandit, spec, smallest_budget(bandit, spec) + int(rng.choice([0, 1, 40 * K, 200 * K])), 11, monkeypatch)


def assert_doubt_pulls_alike(task: Task, memory: doubt.Memory) -> None:
    """Run 3 of the kernel and of the policy: their answers, and how often each of them pulled every arm."""
    (budget,) = task.budgets
    player = follow(task, budget, Draws(task, budget, 7), 3)
    rule = doubt.Rule(player.batch, player.initial, np.array([budget]), known_arrays(task))
    answers = np.zeros((1, 1, 1 + task.bandit.n_arms // 64), np.uint64)
    spent = np.zeros((1, task.bandit.n_arms), np.int64)
    doubt.run_doubt(bandit_arrays(task), rule, Runs(seed_key((7,)), 3, 4), memory, answers, spent)
    assert spent[0].tolist() == player.counts.tolist()
    assert memory.arms.counts.tolist() == player.counts.tolist(), task
    assert np.flatnonzero(unpacked(answers[:, 0], task.bandit.n_arms)[0]).tolist() == player.recommend().tolist(), task


@pytest.mark.long
@pytest.mark.slow
def test_doubt_pulls_every_arm_as_often_as_the_policy_does():
    """One other choice, and all that follow would differ, though the answers may still be the same."""
    rng = np.random.default_rng(0)
    for i in range(40):
        bandit = random_bandit(rng, NOISES[i % len(NOISES)], max_arms=60 if i < 25 else 6)
        options = {"batch": (1, 3, 20)[i % 3], "initial": int(rng.integers(1, 4))}
        budget = options["initial"] * bandit.n_arms + int(rng.integers(100, 350) if i < 25 else rng.integers(300, 1500))
        task = make_task(bandit, ("doubt", options), budgets=budget)
        assert_doubt_pulls_alike(task, doubt.make_memory(bandit_arrays(task)))


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_doubt_with_objectives_without_noise_pulls_as_often_as_the_policy_does(noise):
    """Prices that occur often, so that options tie in them, and sums of which miss them by a rounding."""
    rng = np.random.default_rng(NOISES.index(noise))
    for i in range(14):
        bandit = random_bandit(rng, noise, max_arms=30)
        means, widths = bandit.means.copy(), np.exp(rng.normal(size=bandit.n_objectives))
        widths[rng.random(bandit.n_objectives) < (0.4, 1.0)[i == 0]] = 0.0
        widths[0] = 0.0
        means[:, widths == 0] = rng.choice([0.1, 0.3, 0.7], (bandit.n_arms, (widths == 0).sum()))
        options = {"batch": (1, 3, 20)[i % 3], "initial": int(rng.integers(1, 4))}
        budget = options["initial"] * bandit.n_arms + int(rng.integers(50, 400))
        task = make_task(pp.Bandit(means, bandit.noise), ("doubt", options), budgets=budget, scale=widths)
        assert_doubt_pulls_alike(task, doubt.make_memory(bandit_arrays(task)))


WITH_EXACT = [case for case in SPECS if not case.startswith(("ape", "doubt"))]


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("noise", EVERY_NOISE)
@pytest.mark.parametrize("case", WITH_EXACT)
def test_a_kernel_with_objectives_without_noise_does_what_the_policy_does(case, noise):
    rng = np.random.default_rng([WITH_EXACT.index(case), NOISES.index(noise), 1])
    for i in range(8):
        bandit = random_bandit(rng, noise, max_arms=25)
        means, widths = bandit.means.copy(), np.exp(rng.normal(size=bandit.n_objectives))
        widths[rng.random(bandit.n_objectives) < (0.4, 1.0)[i == 0]] = 0.0
        widths[0] = 0.0
        means[:, widths == 0] = rng.choice([0.1, 0.3, 0.7], (bandit.n_arms, (widths == 0).sum()))
        bandit = pp.Bandit(means, bandit.noise)
        spec = spec_of(case, bandit)
        budget = smallest_budget(bandit, spec) + int(rng.integers(0, 10 * bandit.n_arms))
        results = compiled(bandit, spec, budget, seed=5, runs=4, scale=widths)
        for run, result in enumerate(results):
            assert result == followed(bandit, spec, budget, seed=5, run=run, scale=widths), (bandit, spec, budget, widths, run)


@pytest.mark.slow
def test_when_many_arms_join_the_front_at_once_doubt_notes_no_more_than_it_has_memory_for():
    """Arm 0, known by one lucky pull, falls; ten take its place, each more likely than the one before to dominate the others."""
    line = np.linspace(0.0, 0.02, 10)
    low = -1.0 + 0.01 * np.random.default_rng(0).normal(size=(50, 2))
    means = np.concatenate([[[-1.0, -1.0]], np.column_stack([line, line[::-1]]), low])
    counts = np.array([1, *range(3, 23, 2), *[3] * 50])
    seen = np.concatenate([[[0.05, 0.05]], means[1:]])
    bandit = pp.Bandit(means, pp.Gaussian(std=0.0))
    known = check_known((counts, counts[:, None] * seen, np.ones((61, 2)) * (counts - 1)[:, None]), bandit)
    task = make_task(bandit, ("doubt", {"batch": 1, "initial": 1}), budgets=int(counts.sum()) + 30, known=known)
    memory = doubt.make_memory(bandit_arrays(task))
    sizes = {"changed": memory.pairs.changed.size, "rows": memory.pairs.rows.size}
    rooms = {name: np.full(size + 2000, -1) for name, size in sizes.items()}
    pairs = memory.pairs._replace(**{name: room[: sizes[name]] for name, room in rooms.items()})
    assert_doubt_pulls_alike(task, memory._replace(pairs=pairs))
    assert rooms["changed"].max() > 0
    for name, room in rooms.items():
        assert (room[sizes[name] :] == -1).all(), name


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.01, 1.0, 1e4])
def test_much_and_little_exploration(c, monkeypatch):
    """With little of it every arm is optimal for sure, with much of it none is."""
    rng = np.random.default_rng(0)
    line = np.arange(30.0)
    front = np.column_stack([line, line[::-1]])
    for means in (front, front + rng.normal(size=front.shape), np.concatenate([front, front[::3], front[::2] - 0.5])):
        bandit = pp.Bandit(means, pp.Gaussian(std=0.3))
        for name, options in (("ape-fb", {"complexity": 40.0}), ("ape-fb-adapt", {}), ("ape-fb-adapt", {"as_published": True})):
            spec = (name, {"c": c, **options})
            results = made_both_ways(bandit, spec, 400, 3, monkeypatch)
            assert results[0] == followed(bandit, spec, 400, seed=4, run=0)


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["std", "cov per arm", "bernoulli"])
@pytest.mark.parametrize("options", [{"c": 0.1}, {"c": 3.0}, {"c": 90.0}, {"as_published": True}])
def test_a_pair_that_is_chosen_for_long_gives_way_in_time(noise, options, monkeypatch):
    """Budgets of hundreds of pulls for each of the hardest arms, which are pulled for many steps on end."""
    rng = np.random.default_rng([NOISES.index(noise), len(options), int(10 * options.get("c", 0.0))])
    for K in (2, 3, 6, 13, 30):
        bandit = random_bandit(rng, noise, n_arms=K)
        name = "ape-fb-adapt" if "as_published" in options else "ape-fb"
        results = made_both_ways(bandit, (name, options), 150 * K, 2, monkeypatch)
        assert results[0] == followed(bandit, (name, options), 150 * K, seed=4, run=0), (bandit, options)


@pytest.mark.parametrize("n_arms", [MOST_ARMS_OF_APE_FB, MOST_ARMS_OF_APE_FB + 1])
def test_as_many_arms_as_eight_runs_of_ape_fb_are_made_at_once_with_and_one_more(n_arms):
    bandit = random_bandit(np.random.default_rng(0), "std", n_arms=n_arms)
    spec = ("ape-fb", {"exploration": 100.0})
    results = compiled(bandit, spec, n_arms + 150, seed=5, runs=2)
    assert results == [followed(bandit, spec, n_arms + 150, seed=5, run=run) for run in range(2)]


@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_any_schedule_with_or_without_pulls_in_its_rounds(noise):
    rng = np.random.default_rng(NOISES.index(noise))
    for _ in range(25):
        bandit = random_bandit(rng, noise)
        K = bandit.n_arms
        last = int(rng.integers(0, 2)) if K > 1 else 0
        between = np.sort(rng.choice(np.arange(last + 1, K), int(rng.integers(0, max(K - last - 1, 0) + 1)), replace=False))[::-1]
        active = (K, *between.tolist(), last)
        pulls = (1, *rng.choice([0, 0, 1, 3], len(active) - 2).tolist())
        spec = ("ege", {"schedule": pp.Schedule(active, pulls)})
        results = compiled(bandit, spec, 10_000, seed=8, runs=5)
        assert results == [followed(bandit, spec, 10_000, seed=8, run=run) for run in range(5)], (bandit, active, pulls)


@kernel
def decide_few(slots, cut, fronts, decision, sources=SOURCES):
    n_pivots = eight_fronts.find_pivots(slots, cut.n, fronts)
    return decisions.decide_few(slots, cut, n_pivots, fronts, decision)


@pytest.mark.parametrize("one_round", [True, False])
def test_an_optimal_arm_in_a_tie_at_the_cut_of_several_rounds_makes_a_run_unclear(one_round):
    """Arms 2, 3 and 4 have gap 3. When 4 has left, nobody is below 3 any more: in a round of its own it would leave next."""
    points = np.array([[10.0, 0.0], [9.0, 1.0], [7.0, -3.0], [0.0, 10.0], [-3.0, 7.0]])
    assert pp.gaps(points).tolist() == [1.0, 1.0, 3.0, 3.0, 3.0]
    assert pp.gaps(points[:4]).tolist() == [1.0, 1.0, 3.0, 9.0]
    bandit = bandit_arrays(make_task(pp.Bandit(points, pp.Gaussian(std=0.0)), "uniform", budgets=5))
    memory = eight_runs.memory_of_eight_runs(bandit, 5)
    memory.slots.sums[:] = np.repeat(points.ravel(), 8)
    memory.slots.arm[:] = np.repeat(np.arange(5), 8)
    cut = decisions.Cut(start=0, stop=1 if one_round else 2, n=5, n_leaving=2)
    unclear = decide_few(memory.slots, cut, memory.fronts, memory.decision)
    assert unclear == (0 if one_round else 0b11111111)
    assert memory.decision.slot[:16].reshape(2, 8)[:, 0].tolist() == [4, 2]  # right if it is one round
    assert not memory.decision.optimal[:2].any()


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("max_arms", [1, 3, 9])
@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_the_stop_of_ege_sr_k(noise, max_arms):
    """With few pulls nearly all rounds are empty, and the stop comes in the middle of a row of them."""
    rng = np.random.default_rng([max_arms, NOISES.index(noise)])
    for _ in range(12):
        bandit = random_bandit(rng, noise)
        spec = ("ege-sr-k", {"max_arms": min(max_arms, bandit.n_arms)})
        budget = smallest_budget(bandit, spec) + int(rng.integers(0, 3 * bandit.n_arms))
        results = compiled(bandit, spec, budget, seed=3, runs=9)
        assert results == [followed(bandit, spec, budget, seed=3, run=run) for run in range(9)], (bandit, budget)


@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_eight_runs_at_once_equal_one_run_after_the_other(noise):
    rng = np.random.default_rng(NOISES.index(noise))
    for i in range(20):
        bandit = random_bandit(rng, noise, max_arms=150)
        spec = (("ege-sr", {}), ("ege-sh", {}), ("ege-gg", {"n_rounds": 2}), ("ege-sr-k", {"max_arms": 1}))[i % 4]
        budget = smallest_budget(bandit, spec) + int(rng.integers(0, 6 * bandit.n_arms))
        task = make_task(bandit, spec, budgets=budget)
        schedule, columns = schedule_arrays(task.player(budget))
        arrays = bandit_arrays(task, columns)
        outcomes = []
        for at_once in (True, False):
            outcome = Outcome(np.zeros((13, 3), np.uint64), np.zeros(13, np.int64), np.zeros(13, np.int64))
            ege.run_ege(arrays, schedule, Runs(seed_key((1,)), 4, 17), ege.make_memory(arrays, eight_runs=at_once), outcome)
            outcomes.append(outcome)
        for mine, theirs in zip(*outcomes, strict=True):
            assert (mine == theirs).all(), (bandit, spec, budget)


def test_without_tables_sums_are_found_by_inversion(monkeypatch):
    """Other numbers, and the policy fed with them does the same again."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(binomials, "MOST_CELLS", 0)
    for _ in range(10):
        bandit = random_bandit(rng, "bernoulli")
        assert compiled(bandit, "ege-sh", 2000, seed=1, runs=5) == [
            followed(bandit, "ege-sh", 2000, seed=1, run=run) for run in range(5)
        ]


@pytest.mark.parametrize("noise", EVERY_NOISE)
def test_scaled_objectives(noise):
    rng = np.random.default_rng(NOISES.index(noise))
    for policy in ("ege-sr", "ege-sh", "apt"):
        bandit = random_bandit(rng, noise, max_arms=12)
        scale = rng.choice([0.125, 1.0, 4.0] if noise.startswith("bernoulli") else [0.1, 1.0, 3.0], bandit.n_objectives)
        budget = 10 * bandit.n_arms + 20
        results = compiled(bandit, policy, budget, seed=2, runs=9, scale=scale)
        assert results == [followed(bandit, policy, budget, seed=2, run=run, scale=scale) for run in range(9)]


def test_equal_numbers_of_successes_are_a_tie_whatever_the_scale_and_the_rounds():
    """Twins with certain outcomes, in rounds of 1, 3 and 1 pulls: their sums are the same number, so both are accepted."""
    bandit = pp.Bandit([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], pp.Bernoulli())
    spec = ("ege", {"schedule": pp.Schedule((4, 3, 2, 0), (1, 3, 1))})
    for scale in (3.0, 0.1, [3.0, 7.0]):
        assert compiled(bandit, spec, 100, seed=1, runs=9, scale=scale) == [([0, 1], 15, 3)] * 9


def test_large_sums_whose_differences_are_small():
    """Keys of pivots are rounded, so that a pivot may turn out to be dominated, and by far more than its rounding."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        bandit = pp.Bandit(1e12 + 0.1 * rng.normal(size=(int(rng.integers(6, 30)), 2)), pp.Gaussian(std=1.0))
        for policy in ("ege-sr", "ege-sh", "ege-gg", "uniform"):
            budget = 50 * bandit.n_arms
            results = compiled(bandit, policy, budget, seed=1, runs=4)
            assert results == [followed(bandit, policy, budget, seed=1, run=run) for run in range(4)]


@pytest.mark.slow
def test_many_objectives():
    rng = np.random.default_rng(0)
    for D in (7, 10, 20, 23):
        for noise in (pp.Gaussian(std=0.3), pp.Gaussian(cov=np.eye(D) + 0.5), pp.Bernoulli()):
            bandit = pp.Bandit(rng.random((30, D)), noise)
            for policy in ("ege-sr", "ege-sh", "apt", "ape-fb"):
                results = compiled(bandit, policy, 170, seed=2, runs=3)
                assert results == [followed(bandit, policy, 170, seed=2, run=run) for run in range(3)]


@pytest.mark.slow
def test_more_arms_than_eight_runs_at_once_may_have():
    rng = np.random.default_rng(0)
    for noise in (pp.Gaussian(std=0.3), pp.Bernoulli()):
        bandit = pp.Bandit(rng.random((1030, 2)), noise)
        for policy in ("ege-sr", "ege-sh"):
            results = compiled(bandit, policy, 12_000, seed=2, runs=2)
            assert results == [followed(bandit, policy, 12_000, seed=2, run=run) for run in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize("std", [0.0, 1e-4, 0.05])
def test_long_fronts_in_two_objectives(std):
    """More optimal arms than are compared one after the other, some of them twins, and dominated arms between them."""
    steps = np.arange(450.0)
    line = np.column_stack([steps, steps[::-1]])
    bandit = pp.Bandit(np.concatenate([line, line[::9], line[::7] - 3.0, line[::2] - [0.0, 1.0]]), pp.Gaussian(std=std))
    for policy in ("ege-sr", "ege-sh", ("ege-sr-k", {"max_arms": 5})):
        results = compiled(bandit, policy, 14_000, seed=2, runs=2)
        assert results == [followed(bandit, policy, 14_000, seed=2, run=run) for run in range(2)]
