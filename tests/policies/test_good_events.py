"""The proofs as tests: whenever the event of a proof holds on a tape, the algorithm must be right on that tape."""

import numpy as np
import pytest

import paretopick as pp
from paretopick import bounds
from support.inputs import follow, tape

C = 1 / 6 - 1e-9


def instances(rng: np.random.Generator, n: int):
    """Random means without tiny gaps, and 0.3 wide noise."""
    while n:
        K, D = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        means = rng.random((K, D))
        if pp.gaps(means).min() > 0.1:
            n -= 1
            yield means, rng


def deviation(data: np.ndarray, means: np.ndarray, n: int) -> float:
    """The largest error of a difference between an optimal arm and another after n pulls of each."""
    off = data[:, :n].mean(axis=1) - means
    optimal = pp.pareto_mask(means)
    return float(np.abs(off[optimal][:, None] - off[None]).max())


def test_on_the_good_event_ege_makes_no_error():
    held = 0
    for means, rng in instances(np.random.default_rng(0), 150):
        K, D = means.shape
        name = ("sr", "sh", "gg", "uniform")[held % 4]
        rounds = pp.schedule(name, K, pp.smallest_budget(name, K) * 40)
        data = means[:, None] + 0.2 * tape(rng, np.zeros_like(means), rounds.cumulative[-1])
        increasing = np.sort(pp.gaps(means))
        good = all(
            deviation(data, means, n) <= C * increasing[after]
            for n, after in zip(rounds.cumulative, rounds.active[1:], strict=True)
        )
        if not good:
            continue
        held += 1
        policy = pp.policy("ege", n_arms=K, n_objectives=D, schedule=rounds)
        follow(policy, data)
        truth = pp.pareto_mask(means)
        assert policy.recommend().tolist() == np.flatnonzero(truth).tolist()
        # Lemma 3: the arm that dominates i most is active at least as long as i.
        left = np.where(policy.snapshot().left_in == 0, rounds.n_rounds + 1, policy.snapshot().left_in)
        for i in np.flatnonzero(~truth):
            margins = (means - means[i]).min(axis=1)
            margins[i] = -np.inf
            assert left[margins.argmax()] >= left[i]
    assert 40 < held < 150


def test_on_the_good_event_ege_sr_k_accepts_only_optimal_arms():
    held = 0
    for means, rng in instances(np.random.default_rng(1), 150):
        K, D = means.shape
        truth = set(np.flatnonzero(pp.pareto_mask(means)).tolist())
        k = int(rng.integers(1, len(truth) + 1))
        budget = 60 * K
        rounds = pp.schedule("sr", K, budget)
        data = means[:, None] + 0.2 * tape(rng, np.zeros_like(means), rounds.cumulative[-1])
        relaxed = np.sort(pp.relaxed_gaps(means, max_arms=k))
        if not all(deviation(data, means, n) <= C * relaxed[K - r] for r, n in enumerate(rounds.cumulative, 1)):
            continue
        held += 1
        policy = pp.policy("ege-sr-k", n_arms=K, n_objectives=D, budget=budget, max_arms=k)
        follow(policy, data)
        answer = set(policy.recommend().tolist())
        assert answer <= truth
        assert len(answer) == k
    assert 40 < held < 150


@pytest.mark.slow
def test_on_the_good_event_ape_fb_makes_no_error():
    held = 0
    for means, rng in instances(np.random.default_rng(2), 80):
        K, D = means.shape
        budget = 60 * K
        a = bounds.largest_exploration(means, budget) * (1 - 1e-9)
        data = means[:, None] + 0.1 * tape(rng, np.zeros_like(means), budget)
        counts = np.arange(1, budget + 1)
        running = np.cumsum(data, axis=1) / counts[None, :, None]
        half_bonus = 0.5 * 0.4 * np.sqrt(a / counts)
        if not (np.abs(running - means[:, None]).max(axis=(0, 2)) <= half_bonus).all():
            continue
        held += 1
        policy = pp.policy("ape-fb", n_arms=K, n_objectives=D, budget=budget, exploration=a)
        follow(policy, data)
        assert policy.recommend().tolist() == np.flatnonzero(pp.pareto_mask(means)).tolist()
    assert 10 < held < 80
