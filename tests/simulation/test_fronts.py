"""Pareto sets and gaps inside the kernels equal those of the theory, to the last bit."""

import numpy as np
import pytest

from paretopick.simulation.kernels import SOURCES, fronts
from paretopick.simulation.kernels.compiling import kernel
from paretopick.theory.gaps import optimal_and_gaps
from support.inputs import random_points


@kernel
def find(points, stride, n_objectives, n, n_leaving, front, optimal, sources=SOURCES):
    fronts.find_gaps(points, stride, n_objectives, n, n_leaving, front)
    for i in range(n):
        optimal[i] = fronts.is_optimal(points, stride, n_objectives, front, i)


def found(points: np.ndarray, n_leaving: int, front: fronts.Front | None = None) -> tuple[np.ndarray, np.ndarray]:
    n, D = points.shape
    stride = -(-n // 8) * 8
    slots = np.full((D, stride), np.inf)
    slots[:, :n] = points.T
    front = front or fronts.make_front(stride)
    optimal = np.zeros(n, np.bool_)
    find(slots.ravel(), stride, D, n, n_leaving, front, optimal)
    return optimal, front.gap[:n].copy()


def planes(rng: np.random.Generator, n: int):
    """Points in the plane of which hundreds are optimal."""
    for i in range(n):
        size = int(rng.integers(300, 700))
        angles = rng.random(size) * (np.pi / 2 if i % 2 else np.pi)
        points = np.column_stack([np.cos(angles), np.sin(angles)])
        yield points if i % 3 else np.round(points * 400)  # whole numbers: ties and twins


def same(points: np.ndarray, front: fronts.Front | None = None) -> None:
    optimal, gaps = optimal_and_gaps(points)
    mine, all_gaps = found(points, len(points), front)
    assert (mine == optimal).all()
    assert (all_gaps == gaps).all()
    for n_leaving in {n for n in (1, 2, len(points) // 2, len(points) - 1) if 0 < n <= len(points)}:
        mine, some_gaps = found(points, n_leaving, front)
        cut = np.sort(gaps)[-n_leaving]
        assert (mine == optimal).all()
        assert (some_gaps[gaps >= cut] == gaps[gaps >= cut]).all()
        assert (some_gaps[gaps < cut] < cut).all()
    assert (found(points, 0, front)[0] == optimal).all()


@pytest.mark.parametrize("max_arms", [12, 40, pytest.param(200, marks=pytest.mark.slow)])
def test_points_of_any_number_and_kind(max_arms):
    rng = np.random.default_rng(max_arms)
    for points in random_points(rng, 150, max_arms=max_arms):
        same(points)


@pytest.mark.slow
def test_long_fronts_in_the_plane():
    front = fronts.make_front(704)  # used again and again: a long front before must not change what is found after
    rng = np.random.default_rng(0)
    for points in planes(rng, 24):
        same(points)
        same(points, front)
        same(rng.normal(size=(100, 2)), front)


def test_one_long_front_without_anyone_below():
    line = np.arange(600.0)
    same(np.column_stack([line, line[::-1]]))
    same(np.column_stack([line, -(line**2)]))
