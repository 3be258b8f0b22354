"""Objectives without noise: 0 in ``scale``."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.simulation import make_task
from paretopick.simulation.common_draws import CommonPulls
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.certain_gaps import find_certain_gaps, make_certain_gaps
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.gaps_within import find_gaps_within, make_gaps_within
from paretopick.theory.gaps import optimal_and_gaps
from paretopick.theory.gaps_within import front_and_gaps
from paretopick.theory.requirements import check_requirements
from support.inputs import drawn_requirements, random_points

COSTS = np.array([[1.0, -3.0], [1.2, -3.0], [0.4, -1.0], [0.5, -2.0], [0.9, -2.0], [0.1, -1.0], [1.1, -4.0], [0.3, 0.0]])
PAID = pp.Bandit(COSTS, pp.Gaussian(std=[0.5, 0.0]), name="paid", budget=60)

SPECS = [("ege-sr", {"spend": "all"}), ("ege-sh", {}), ("uniform", {}), ("ege-sr-k", {"max_arms": 2}), ("apt", {"batch": 3})]


def by_hand(bandit: pp.Bandit, spec, run: int, widths) -> pp.Policy:
    """One run of the reference engine, written out: raw values, and the policy knows the widths."""
    name, options = spec
    player = pp.policy(name, n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=60, **options)
    player.rescale(widths)
    pulls = CommonPulls(bandit, (9,), run, player.counts)
    while not player.done:
        arms = player.ask()
        values = pulls.pull(arms)
        for d, width in enumerate(widths):
            if width == 0:
                values[:, d] = bandit.means[arms, d]
        player.tell(arms, values)
    return player


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_a_run_is_ask_and_tell_with_the_widths_given_to_the_policy(spec):
    noisy = pp.Bandit(COSTS, pp.Gaussian(std=[0.5, 0.3]))  # what is said to be without noise is told without
    for bandit in (PAID, noisy):
        answers = []
        for run in range(12):
            player = by_hand(bandit, spec, run, [0.5, 0.0])
            assert (player.means[:, 1] == COSTS[:, 1]).all()
            answers.append((player.recommend().tolist(), player.snapshot().pulls_used, player.snapshot().round))
            mine = pp.policy(spec[0], n_arms=8, n_objectives=2, budget=60, **spec[1])
            pp.play(bandit, mine, 9, run=run, scale=[0.5, 0.0])
            assert mine.to_dict() == player.to_dict()
        truth = np.flatnonzero(bandit.optimal).tolist()
        for workers in (1, 2):
            curve = pp.simulate(bandit, spec, budgets=60, runs=12, rng=9, scale=[0.5, 0.0], workers=workers, engine="reference")
            assert curve.errors[0] == sum(answer != truth for answer, _, _ in answers)
            assert curve.pulls[0] * 12 == sum(pulls for _, pulls, _ in answers)
            assert curve.rounds[0] * 12 == sum(rounds for _, _, rounds in answers)
        assert 0 < curve.relaxed_losses[0] < 12
    assert curve.scale == (0.5, 0.0)
    assert pp.ErrorCurve.from_dict(curve.to_dict()) == curve


@kernel
def gaps_within_of(n, D, exact, compared, within, sources=SOURCES):
    find_gaps_within(n, D, exact, compared, within)


def test_the_gaps_of_the_kernels_within_margins_and_limits_are_those_of_the_theory():
    rng = np.random.default_rng(0)
    for i, points in enumerate(random_points(rng, 600)):
        n, D = points.shape
        exact = rng.random(D) < (0.0, 0.5, 1.0)[i % 4 % 3]
        required = check_requirements(*drawn_requirements(rng, points), D)
        within = make_gaps_within(n, D)
        within.points[:], within.margins[:], within.limits[:] = points.T.ravel(), required.margins, required.limits
        gaps_within_of(n, D, exact, required.compared.copy(), within)
        front, gaps = front_and_gaps(points, required, exact)
        assert within.front.tolist() == front.tolist(), (points, required, exact)
        assert within.gap.tolist() == gaps.tolist(), (points, required, exact)


@kernel
def gaps_of(n, D, exact, certain, sources=SOURCES):
    find_certain_gaps(n, D, exact, certain)


def test_the_gaps_of_the_kernels_are_those_of_the_theory():
    """Of values that occur often: twins, ties in the exact objectives, ties in all of them; and of exact objectives alone."""
    rng = np.random.default_rng(0)
    for i in range(400):
        n, D = int(rng.integers(1, 12)), int(rng.integers(1, 5))
        points = rng.integers(0, 3, (n, D)) / (1.0 if i % 2 else 10.0)
        exact = rng.random(D) < (0.5, 1.0)[i % 4 == 3]
        exact[0] = True
        certain = make_certain_gaps(n, D)
        certain.points[:] = points.T.ravel()
        gaps_of(n, D, exact, certain)
        optimal, gaps = optimal_and_gaps(points, exact)
        assert certain.optimal.tolist() == optimal.tolist(), (points, exact)
        assert certain.gap.tolist() == gaps.tolist(), (points, exact)


def test_the_scale_is_not_the_same_as_a_small_one():
    """Options that cost the same are told apart by the noisy objective alone, however wide the other differences look."""
    exact, tiny = (pp.simulate(PAID, "ege-sr", runs=100, rng=1, scale=[0.5, width], engine="reference") for width in (0, 1e-9))
    assert exact.errors[0] != tiny.errors[0]
    with pytest.raises(ValueError, match="curves of scale"):
        exact + tiny


@pytest.mark.parametrize("scale", [2.0, [0.5, 4.0]])
def test_a_positive_scale_divides_what_the_policy_is_told(scale):
    mine, theirs = (pp.policy("apt", n_arms=8, n_objectives=2, budget=60) for _ in range(2))
    pp.play(PAID, mine, 3, scale=scale)
    rng = np.random.default_rng(3)
    while not theirs.done:
        arms = theirs.ask()
        theirs.tell(arms, PAID.sample(arms, rng) / scale)
    assert mine.to_dict() == theirs.to_dict()


def test_the_root_of_a_covariance_leaves_no_rounding_in_an_exact_objective():
    """Of these roots about a third have 1e-16 where they should have 0, and the smallest difference would be beyond doubt."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = rng.normal(size=(7, 7))
        root[4] = 0.0
        means = rng.normal(size=(3, 7))
        means[:, 4] = 0.0
        player = pp.policy("uniform", n_arms=3, n_objectives=7, budget=6)
        pp.play(pp.Bandit(means, pp.Gaussian(cov=root @ root.T)), player, 1, scale=[1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
        assert (player.means[:, 4] == 0.0).all()


def test_with_truths_every_run_has_its_own():
    rng = np.random.default_rng(0)
    X = np.repeat(COSTS[None], 15, axis=0)
    X[:, :, 0] += rng.normal(size=(15, 8))
    for policy in ("ege-sr", "apt"):
        curve = pp.simulate(PAID, policy, runs=12, start=3, rng=9, scale=[0.5, 0.0], truths=X)
        singles = [
            pp.simulate(pp.Bandit(X[run], PAID.noise), policy, budgets=60, runs=1, start=run, rng=9, scale=[0.5, 0.0])
            for run in range(3, 15)
        ]
        assert (curve.tallies[:, :-2] == sum(single.tallies[:, :-2] for single in singles)).all()
        assert 0 < curve.errors[0] < 12


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("spec", [*SPECS, ("doubt", {})])
def test_it_runs_compiled_and_errs_as_often_as_in_the_reference_engine(spec):
    """Run by run in test_parity.py; here both engines draw their own numbers."""
    fast = pp.simulate(PAID, spec, runs=4000, rng=1, scale=[0.5, 0])
    slow = pp.simulate(PAID, spec, runs=150, rng=1, scale=[0.5, 0], engine="reference")
    assert fast.engine == "compiled"
    assert fast.scale == (0.5, 0.0)
    expected = fast.relaxed_losses[0] / 4000
    assert abs(slow.relaxed_losses[0] / 150 - expected) < 4 * np.sqrt(expected * (1 - expected) / 150) + 0.01
    assert slow.pulls[0] == pytest.approx(fast.pulls[0], rel=0.1)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: make_task(PAID, "ape-fb", scale=[0.5, 0]),
            r"objective 1 is without noise, and ape-fb knows no .*; these do: .*, apt",
        ),
        (lambda: pp.simulate(PAID, "ape-fb-adapt", scale=[0, 0.5]), "objective 0 is without noise, and ape-fb-adapt knows no"),
        (
            lambda: pp.simulate(PAID, "ege-sr", scale=[0.5, -1.0]),
            r"scale=\[0.5, -1.0\] must be one positive number, or 2, .* or 0",
        ),
        (lambda: pp.simulate(PAID, "ege-sr", scale=0.0), "scale=0.0 must be one positive number, or 2"),
        (
            lambda: pp.play(PAID, pp.policy("ape-fb-adapt", n_arms=8, n_objectives=2, budget=60), 1, scale=[1.0, 0.0]),
            "ape-fb-adapt knows no such objectives; these do: ege-sr",
        ),
    ],
)
def test_bad_input_is_shown(call, message):
    with pytest.raises(pp.InvalidInput, match=message):
        call()
