"""Runs that start from data: in both engines what the policy does that was given them."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.policies import policies_with
from paretopick.simulation import compiled as compiler
from paretopick.simulation import make_task
from paretopick.simulation.compiled import KERNELS, MOST_COMPARISONS, seed_key, why_no_kernel
from paretopick.simulation.known import check_known
from paretopick.simulation.scores import unpacked
from paretopick.simulation.truths import check_truths
from support.same_draws import Draws, follow

EASY = pp.Bandit([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]], pp.Gaussian(std=1.0), name="easy")
KERNEL_SPECS = [
    ("apt", {}),
    ("apt", {"batch": 5, "initial": 2, "gamma": 0.0}),
    ("doubt", {}),
    ("doubt", {"batch": 5, "initial": 3}),
]


def data_of(bandit: pp.Bandit, rng: np.random.Generator, most: int = 30):
    """Counts of any size, none among them, and sums and squares that so many pulls may have."""
    counts = rng.choice([0, 1, 2, 7, 8, 9, most], bandit.n_arms)
    pulls = [bandit.sample(np.full(n, arm), rng) for arm, n in enumerate(counts)]
    sums = np.array([rows.sum(axis=0) for rows in pulls])
    squares = np.array([((rows - rows.mean(axis=0)) ** 2).sum(axis=0) if len(rows) else 0 * rows.sum(axis=0) for rows in pulls])
    return counts, sums, squares


def random_bandit(rng: np.random.Generator, noise: str, n_arms: int) -> pp.Bandit:
    D = int(rng.integers(1, 5))
    means = rng.random((n_arms, D))
    if noise == "bernoulli":
        return pp.Bandit(means, pp.Bernoulli())
    if noise == "std":
        return pp.Bandit(means, pp.Gaussian(std=0.7))
    root = rng.normal(size=(n_arms, D, D) if noise.startswith("cov per arm") else (D, D))
    return pp.Bandit(means, pp.Gaussian(cov=root @ np.swapaxes(root, -1, -2), shared=0.6 if noise.endswith("shared") else 0.0))


def compiled(task, budgets, seed, runs):
    answers = KERNELS[task.kind](task)(seed_key((seed,)), 0, runs)
    return [[unpacked(masks, task.bandit.n_arms).tolist(), pulls.tolist(), rounds.tolist()] for masks, pulls, rounds in answers]


def followed(task, budgets, seed, runs):
    """The same from the policies themselves, fed with the draws of the kernels."""
    records = []
    for budget in budgets:
        draws = Draws(task, budget, seed)
        players = [follow(task, budget, draws, run) for run in range(runs)]
        masks = np.zeros((runs, task.bandit.n_arms), dtype=bool)
        for mask, player in zip(masks, players, strict=True):
            mask[player.recommend()] = True
        records.append([masks.tolist(), [int(p.counts.sum()) for p in players], [p.round for p in players]])
    return records


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("spec", KERNEL_SPECS, ids=str)
@pytest.mark.parametrize("noise", ["std", "cov", "bernoulli", "cov shared"])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_kernel_does_what_the_policy_does_from_the_same_data(spec, noise, at_once, monkeypatch):
    """Pull number n of an arm is drawn with the same numbers, whether those before it were drawn or known."""
    monkeypatch.setattr(compiler, "MOST_COMPARISONS", dict.fromkeys(MOST_COMPARISONS, 10**9 if at_once else 0))
    rng = np.random.default_rng(len(noise))
    for n_arms in (1, 2, 5, 13):
        bandit = random_bandit(rng, noise, n_arms)
        known = data_of(bandit, rng)
        scale = [None, 0.5][n_arms % 2]
        least = int(np.maximum(known[0], 3).sum())
        budgets = [least + 40, least, least + 13]
        task = make_task(bandit, spec, budgets=budgets, scale=scale, known=check_known(known, bandit))
        assert compiled(task, budgets, 3, 9) == followed(task, budgets, 3, 9), (bandit, known)


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("spec", KERNEL_SPECS, ids=str)
@pytest.mark.parametrize("noise", ["cov per arm", "bernoulli", "cov per arm shared"])
@pytest.mark.parametrize("exact", [False, True])
def test_runs_with_truths_of_their_own_from_data_with_exact_objectives_do_what_the_policy_does(spec, noise, exact):
    """What the continuation of a study simulates: all of it together, compiled."""
    rng = np.random.default_rng([len(noise), exact])
    for n_arms in (2, 5, 13, 21):
        bandit = random_bandit(rng, noise, n_arms)
        D = bandit.n_objectives
        widths = np.where(rng.random(D) < 0.5, 0.0, 0.5 + rng.random(D)) if exact else None
        counts, sums, squares = data_of(bandit, rng)
        X = rng.random((9, n_arms, D))
        if exact:
            widths[0] = 0.0
            prices = rng.choice([0.1, 0.3, 0.7], (n_arms, D))
            certain = widths == 0
            X[:, :, certain] = prices[:, certain]
            sums = np.where(certain, counts[:, None] * prices, sums)
        known = check_known((counts, sums, squares), bandit)
        least = int(np.maximum(counts, 3).sum())
        budgets = [least + 60, least, least + 13]
        task = make_task(bandit, spec, budgets=budgets, scale=widths, known=known, truths=check_truths(X, bandit))
        assert why_no_kernel(task) is None
        assert compiled(task, budgets, 3, 9) == followed(task, budgets, 3, 9), (bandit, known)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("policy", ["doubt", "apt"])
def test_pulls_and_errors_are_counted_by_arm(policy, engine):
    known = (np.array([40, 3, 3]), np.array([[0.0, 40.0], [3.0, 0.0], [3.0, 3.0]]), np.full((3, 2), 2.0))
    options = {"budgets": [80, 46], "rng": 0, "engine": engine, "known": known, "by_arm": True}
    curve = pp.simulate(EASY, policy, runs=30, workers=1, **options)
    assert curve.pulls_by_arm.shape == (2, 3)
    assert curve.pulls_by_arm.sum(axis=1).tolist() == [80.0, 46.0]
    assert curve.pulls_by_arm[1].tolist() == [40.0, 3.0, 3.0]
    assert (curve.pulls_by_arm[0] >= [40.0, 3.0, 3.0]).all()
    assert (curve.wrong_by_arm.max(axis=1) <= curve.errors).all()
    assert (curve.wrong_by_arm.sum(axis=1) == curve.wrongly_accepted + curve.wrongly_rejected).all()
    assert curve.errors[1] == 30  # as little as is known, the third looks best
    parts = pp.simulate(EASY, policy, runs=12, **options) + pp.simulate(EASY, policy, runs=18, start=12, **options)
    assert parts == curve
    assert pp.ErrorCurve.from_dict(curve.to_dict()) == curve


def test_what_was_not_counted_by_arm_says_so():
    plain = pp.simulate(EASY, "apt", budgets=20, runs=8, rng=0)
    with pytest.raises(pp.InvalidInput, match="not counted by arm; simulate it with by_arm=True"):
        _ = plain.pulls_by_arm
    with pytest.raises(pp.InvalidInput, match="one curve was counted by arm and the other was not"):
        plain + pp.simulate(EASY, "apt", budgets=20, runs=8, rng=0, start=8, by_arm=True)
    curve = pp.simulate(EASY, "ege-sr", budgets=30, runs=8, rng=0, by_arm=True)
    assert curve.engine == "reference"
    assert curve.pulls_by_arm.sum() == curve.pulls[0]
    with pytest.raises(pp.InvalidInput, match="ege-sr has no kernel that counts by arm"):
        pp.simulate(EASY, "ege-sr", budgets=30, runs=8, by_arm=True, engine="compiled")


def test_runs_with_means_of_their_own_start_from_the_same_data():
    rng = np.random.default_rng(3)
    truths = rng.normal(size=(9, 3, 2))
    known = check_known(data_of(EASY, rng), EASY)
    budgets = [120]
    ((answers, *_),) = compiled(
        make_task(EASY, "apt", budgets=budgets, truths=check_truths(truths, EASY), known=known), budgets, 3, 9
    )
    for run, answer in enumerate(answers):
        single = make_task(pp.Bandit(truths[run], EASY.noise), "apt", budgets=budgets, known=known)
        assert compiled(single, budgets, 3, 9)[0][0][run] == answer


def test_nothing_known_is_the_same_as_not_saying():
    nothing = (np.zeros(3), np.zeros((3, 2)))
    for engine in ("compiled", "reference"):
        plain, from_nothing = (
            pp.simulate(EASY, "apt", budgets=[20, 60], runs=40, rng=1, engine=engine, known=known) for known in (None, nothing)
        )
        assert (plain.tallies == from_nothing.tallies).all()
        assert plain.digest != from_nothing.digest


@pytest.mark.parametrize("policy", policies_with("growable"))
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_what_is_known_counts_for_the_answer_and_for_the_budget(policy, engine):
    """So much is known, and so wrong, that the few pulls that are left cannot change it."""
    counts, squares = np.array([100, 100, 100]), np.full((3, 2), 100.0)
    wrong = counts[:, None] * np.array([[9.0, 9.0], [0.0, 0.0], [0.0, 0.0]])
    curve = pp.simulate(EASY, policy, budgets=[300, 310], runs=20, rng=0, engine=engine, known=(counts, wrong, squares))
    assert curve.errors.tolist() == [20, 20]
    assert curve.pulls.tolist() == [300, 310]
    assert curve.rounds.tolist() == [1, 11]
    right = counts[:, None] * EASY.means
    curve = pp.simulate(EASY, policy, budgets=300, runs=20, rng=0, engine=engine, known=(counts, right, squares))
    assert curve.errors.tolist() == [0]


def test_known_data_are_divided_by_the_scale_as_pulls_are():
    known = data_of(EASY, np.random.default_rng(0))
    scaled = pp.Bandit(EASY.means / 4.0, pp.Gaussian(std=0.25), name="easy")
    for engine in ("compiled", "reference"):
        here = pp.simulate(EASY, "apt", budgets=120, runs=60, rng=2, engine=engine, scale=4.0, known=known)
        there = pp.simulate(
            scaled, "apt", budgets=120, runs=60, rng=2, engine=engine, known=(known[0], known[1] / 4.0, known[2] / 16.0)
        )
        assert (here.tallies[:, :6] == there.tallies[:, :6]).all()


def test_objectives_without_noise_may_be_known():
    counts = np.full(3, 5)
    known = (counts, 5 * EASY.means, np.zeros((3, 2)))
    for engine in ("compiled", "reference"):
        curve = pp.simulate(EASY, "apt", budgets=40, runs=5, rng=0, scale=[1.0, 0.0], known=known, engine=engine)
        assert curve.pulls.tolist() == [40]


def test_curves_add_up_if_what_was_known_is_the_same():
    known = data_of(EASY, np.random.default_rng(1))
    other = (known[0], known[1] + (known[0] > 0)[:, None], known[2])
    first = pp.simulate(EASY, "apt", budgets=100, runs=10, rng=0, known=known)
    more = pp.simulate(EASY, "apt", budgets=100, runs=10, rng=0, start=10, known=known)
    whole = pp.simulate(EASY, "apt", budgets=100, runs=20, rng=0, known=known)
    assert first + more == whole
    with pytest.raises(pp.InvalidInput):
        first + pp.simulate(EASY, "apt", budgets=100, runs=10, rng=0, start=10, known=other)
    identities = {make_task(EASY, "apt", budgets=100, known=check_known(data, EASY)).identity for data in (None, known, other)}
    assert len(identities) == 3


@pytest.mark.parametrize(
    "policy, known, message",
    [
        ("ege-sr", ([1, 1, 1], np.ones((3, 2))), "ege-sr cannot start from known=; these can: apt"),
        ("apt", [1, 1, 1, 1], r"known=\[1, 1, 1, 1\] is not \(counts, sums\)"),
        ("apt", "abc", "known='abc' is not"),
        ("apt", ([1, 1], np.ones((3, 2))), r"counts of known= has shape \(2,\); expected 3 rows"),
        ("apt", ([1, 1, 1], np.ones((4, 2))), r"sums of known= has shape \(4, 2\); expected 3 rows"),
        ("apt", ([1, 1, 1], np.ones((3, 3))), "sums has 3 columns; expected 2"),
        ("apt", ([1, 1, 1], np.full((3, 2), np.nan)), "sums has nan"),
        ("apt", ([1, 1, 1], None), "sums"),
        ("apt", ([1, 1, -1], np.ones((3, 2))), "must be 3 whole numbers, none negative"),
        ("apt", ([0, 1, 1], np.ones((3, 2))), "for arm 0, whose pulls are too few"),
        ("apt", ([90, 4, 4], np.ones((3, 2))), "apt on easy: what is known are 98 pulls.*raise budget=40 to at least 98"),
    ],
)
def test_data_that_no_run_can_start_from_are_refused(policy, known, message):
    with pytest.raises(ValueError, match=message):
        pp.simulate(EASY, policy, budgets=40, runs=5, known=known)
