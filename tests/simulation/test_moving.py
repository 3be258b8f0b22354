"""Gaps that follow one arm after the other equal the gaps found anew, to the last bit."""

import numpy as np
import pytest
from numba import njit

from paretopick.simulation.kernels.stepwise import moving_gaps
from paretopick.theory.gaps import optimal_and_gaps
from support.inputs import random_points


@njit
def start(means, stride, n_objectives, n_arms, gaps):
    moving_gaps.start_gaps(means, stride, n_objectives, n_arms, gaps)


@njit
def move(means, stride, n_objectives, n_arms, arm, gaps):
    moving_gaps.move_arm(means, stride, n_objectives, n_arms, arm, gaps)


def check(points: np.ndarray, moves, at_once: int = 1) -> None:
    """Moves arms to places, ``at_once`` at a time, and looks at the gaps after each time."""
    K, D = points.shape
    stride = -(-K // 8) * 8
    slots = np.full((D, stride), -np.inf)
    slots[:, :K] = points.T
    gaps = moving_gaps.make_gaps(stride, D)
    for _ in range(2):  # the second time over what the first has left behind
        start(slots.ravel(), stride, D, K, gaps)
        assert gaps.gap[:K].tolist() == optimal_and_gaps(slots[:, :K].T)[1].tolist()
    waiting = []
    for arm, place in moves:
        slots[:, arm] = place
        waiting.append(arm)
        if len(waiting) == at_once:
            for moved in waiting:
                move(slots.ravel(), stride, D, K, moved, gaps)
            waiting = []
            expected = optimal_and_gaps(slots[:, :K].T)[1]
            assert gaps.gap[:K].tolist() == expected.tolist(), (slots, arm)
            assert (gaps.gap[K:] == np.inf).all()


@pytest.mark.sample(9)
@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2, 5])
@pytest.mark.parametrize("max_arms", [3, 9, 40])
def test_arms_that_jump_anywhere(max_arms, at_once):
    """Ties, twins and single arms among them, as the points of ``random_points`` are."""
    rng = np.random.default_rng([max_arms, at_once])
    for points in random_points(rng, 60, max_arms=max_arms):
        arms = rng.integers(0, len(points), 60)
        check(points, [(arm, points[rng.integers(0, len(points))] * rng.choice([1.0, 1.0, -1.0])) for arm in arms], at_once)


@pytest.mark.slow
@pytest.mark.parametrize("D", [1, 2, 3, 10])
@pytest.mark.parametrize("K", [1, 2, 7, 8, 9, 60])
def test_arms_that_move_in_small_steps(K, D):
    rng = np.random.default_rng([K, D])
    for whole in (False, True):
        points = rng.integers(0, 5, (K, D)).astype(float) if whole else rng.normal(size=(K, D))
        moves = []
        now = points.copy()
        for arm in rng.integers(0, K, 300):
            now[arm] += rng.integers(-1, 2, D) if whole else 0.1 * rng.normal(size=D)
            moves.append((arm, now[arm].copy()))
        check(points, moves)
