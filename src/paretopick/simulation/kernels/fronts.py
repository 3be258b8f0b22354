"""The Pareto set and the gaps of points held in slots, eight points at a time (Section 2, Eq. (5)).

Coordinate d of slot i is ``points[d * stride + i]``. The stride is a multiple of eight, and slots behind the last point hold plus
infinity, which dominates nothing that is looked at and is dominated by nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.lanes import (
    WIDTH,
    bits,
    choose,
    float_memory,
    inlined,
    inner,
    lane_numbers,
    larger,
    largest,
    load,
    lowest_bit,
    smaller,
    smallest,
    spread,
    store,
    word_memory,
)

FEW = 24
"""Up to this many points are compared all with all; for more, the points of the front are found one after the other."""

FRONT, LARGEST, ALL = 0, 1, 2
"""How much of the gaps is wanted: only who is optimal, the largest gap, or every gap."""

OUTSIDE = -1.0
"""The gap of a slot without a point: smaller than any gap."""


class Front(NamedTuple):
    """What is known about the points, one entry per slot.

    ``best`` is the smallest excess over any other optimal point: positive for an optimal point, where it bounds the gap from
    above; minus the gap for the others; 0 for a point that ties, which ``is_optimal`` decides. ``gap`` is the gap. The pivots are
    the points that were compared with all others, every optimal point among them or a twin of one.
    """

    best: NDArray[np.float64]
    gap: NDArray[np.float64]
    addend: NDArray[np.float64]
    key: NDArray[np.float64]
    pivots: NDArray[np.int64]
    n_pivots: NDArray[np.int64]
    place: NDArray[np.uint64]


def make_front(n_slots: int) -> Front:
    """Working memory for so many slots, a multiple of eight."""
    return Front(
        float_memory(n_slots),
        float_memory(n_slots),
        float_memory(n_slots),
        float_memory(n_slots),
        np.empty(n_slots, np.int64),
        np.zeros(1, np.int64),
        word_memory(WIDTH),
    )


@inlined
def excess(points, stride, n_objectives, i, j):
    """M(i, j) of eight slots from i on against slot j."""
    if n_objectives == 2:
        return larger(load(points, i) - spread(points[j]), load(points, stride + i) - spread(points[stride + j]))
    if n_objectives == 3:
        most = larger(load(points, i) - spread(points[j]), load(points, stride + i) - spread(points[stride + j]))
        return larger(load(points, 2 * stride + i) - spread(points[2 * stride + j]), most)
    most = load(points, i) - spread(points[j])
    for d in range(1, n_objectives):
        most = larger(load(points, d * stride + i) - spread(points[d * stride + j]), most)
    return most


@inner
def find_gaps(points, stride, n_objectives, n, wanted, front):
    """Fills ``front.best`` and ``front.gap`` for n points.

    With ``wanted=LARGEST`` an optimal point whose bound is below the largest gap of the others keeps that bound for a gap, which
    leaves the largest gap and whoever ties with it exact.
    """
    if n <= FEW:
        _compare_all(points, stride, n_objectives, n, front)
    else:
        _find_pivots(points, stride, n_objectives, n, front)
    if wanted == FRONT:
        return
    zero, outside = spread(0.0), spread(OUTSIDE)
    top = outside
    for i in range(0, n, WIDTH):
        best = load(front.best, i)
        below = zero - best  # not -best, which would turn a tie into -0.0
        optimal = best > zero
        store(front.gap, i, choose(optimal, best, below))
        store(front.addend, i, choose(optimal, zero, below))
        top = larger(choose(optimal, outside, below), top)
    least = largest(top) if wanted == LARGEST else 0.0
    for i in range(n, (n + WIDTH - 1) // WIDTH * WIDTH):
        front.gap[i] = OUTSIDE
        front.addend[i] = np.inf
    for p in range(front.n_pivots[0]):
        j = front.pivots[p]
        if front.best[j] > 0.0 and front.best[j] >= least:
            front.addend[j] = np.inf  # not with itself
            nearest = spread(front.best[j])
            for i in range(0, n, WIDTH):
                # M(j, i)^+ + gap of j for the others, and M(j, i), which is positive, between optimal points
                margin = larger(excess(points, stride, n_objectives, i, j), zero) + load(front.addend, i)
                nearest = smaller(margin, nearest)
            front.addend[j] = 0.0
            front.gap[j] = smallest(nearest)


@inner
def _compare_all(points, stride, n_objectives, n, front):
    for i in range(0, n, WIDTH):
        numbers = spread(np.uint64(i)) + lane_numbers()
        best = spread(np.inf)
        for j in range(n):
            above = excess(points, stride, n_objectives, i, j)
            best = smaller(choose(numbers == spread(np.uint64(j)), spread(np.inf), above), best)
        store(front.best, i, best)
    for j in range(n):
        front.pivots[j] = j
    front.n_pivots[0] = n


@inner
def _find_pivots(points, stride, n_objectives, n, front):
    """Compares all points with one that nobody is known to dominate, the one with the largest sum, until there is no other.

    Every optimal point becomes a pivot, or is the twin of one. A sum that rounding has made equal may let in a pivot that a later
    one dominates: its ``best`` then says so, and it changes nobody else's, since the dominator is at least as far above everyone.
    """
    least = spread(-np.inf)
    top, where, numbers = least, spread(np.uint64(0)), lane_numbers()
    for i in range(0, n, WIDTH):
        key = load(points, i)
        for d in range(1, n_objectives):
            key = key + load(points, d * stride + i)
        store(front.key, i, key)
        store(front.best, i, spread(np.inf))
    for i in range(n, (n + WIDTH - 1) // WIDTH * WIDTH):
        front.key[i] = -np.inf
    for i in range(0, n, WIDTH):
        key = load(front.key, i)
        better = key > top
        top, where = choose(better, key, top), choose(better, numbers, where)
        numbers = numbers + spread(np.uint64(WIDTH))
    size = 0
    pivot = _place(top, where, front)
    while pivot >= 0:
        front.pivots[size] = pivot
        size += 1
        front.key[pivot] = -np.inf
        own = front.best[pivot]
        top, where, numbers = least, spread(np.uint64(0)), lane_numbers()
        for i in range(0, n, WIDTH):
            best = smaller(excess(points, stride, n_objectives, i, pivot), load(front.best, i))
            store(front.best, i, best)
            key = choose(best > spread(0.0), load(front.key, i), least)
            better = key > top
            top, where = choose(better, key, top), choose(better, numbers, where)
            numbers = numbers + spread(np.uint64(WIDTH))
        front.best[pivot] = own
        pivot = _place(top, where, front)
    front.n_pivots[0] = size


@inlined
def _place(keys, numbers, front):
    """The number that goes with the largest key, -1 if no key is finite."""
    highest = largest(keys)
    if highest == -np.inf:
        return -1
    store(front.place, 0, numbers)
    return np.int64(front.place[lowest_bit(bits(keys == spread(highest)))])


@inlined
def is_optimal(points, stride, n_objectives, front, i):
    """Whether no point dominates the one in slot i."""
    best = front.best[i]
    return best > 0.0 or (best == 0.0 and _only_twins(points, stride, n_objectives, front, i))


@inner
def _only_twins(points, stride, n_objectives, front, i):
    """Whether every pivot that is at least as good as slot i everywhere is equal to it."""
    for p in range(front.n_pivots[0]):
        j = front.pivots[p]
        weakly = True
        equal = True
        for d in range(n_objectives):
            mine, other = points[d * stride + i], points[d * stride + j]
            weakly &= mine <= other
            equal &= mine == other
        if weakly and not equal:
            return False
    return True
