"""The Pareto set and the gaps of points held in slots, eight points in a vector (Section 2, Lemma 1, Eq. (5)).

Coordinate d of slot i is ``points[d * stride + i]``. The stride is a multiple of eight, and slots behind the last point hold plus
infinity, which dominates nothing that is looked at and is dominated by nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.planar import find_front_in_plane
from paretopick.simulation.kernels.vector_memory import float_memory, load, store, word_memory
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    count_bits,
    lane_numbers,
    larger,
    largest,
    lowest_bit,
    smaller,
    smallest,
    spread,
)

MANY = 256
"""In two objectives, a front of more points than that is found by sorting."""

OUTSIDE = -1.0
"""The gap of a slot without a point: smaller than any gap."""


class Front(NamedTuple):
    """What is known about the points, one entry per slot.

    ``best`` is the smallest excess over any other optimal point: positive for an optimal point, where it bounds the gap from
    above; minus the gap for the others; 0 for a point that ties, which ``is_optimal`` decides. ``gap`` is the gap. A *pivot* is a
    point that all others were compared with: every optimal point, or a twin of it, is one.
    """

    best: NDArray[np.float64]
    gap: NDArray[np.float64]
    addend: NDArray[np.float64]
    key: NDArray[np.float64]
    pivots: NDArray[np.int64]
    n_pivots: NDArray[np.int64]
    place: NDArray[np.uint64]
    order: NDArray[np.int64]
    work: NDArray[np.int64]


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
        np.empty(n_slots, np.int64),
        np.empty(n_slots, np.int64),
    )


@inlined
def excess(points, stride, n_objectives, i, j):
    """M(i, j) of eight slots from i on against slot j."""
    most = load(points, i) - spread(points[j])
    for d in range(1, n_objectives):
        most = larger(load(points, d * stride + i) - spread(points[d * stride + j]), most)
    return most


@inlined
def excess_of_one(points, i, others, stride, n_objectives, j):
    """M(i, j) of slot i against eight slots from j on of the same or other points."""
    most = spread(points[i]) - load(others, j)
    for d in range(1, n_objectives):
        most = larger(spread(points[d * stride + i]) - load(others, d * stride + j), most)
    return most


@inlined
def excess_both_ways(points, stride, n_objectives, i, j):
    """M(i, j) of eight slots from i on against slot j, and M(j, i): the differences are the same but for their sign."""
    most = load(points, i) - spread(points[j])
    least = most
    for d in range(1, n_objectives):
        difference = load(points, d * stride + i) - spread(points[d * stride + j])
        most, least = larger(difference, most), smaller(difference, least)
    return most, spread(0.0) - least


@inner
def find_gaps(points, stride, n_objectives, n, n_leaving, front):
    """Fills ``front.best``, and if any arms are to leave ``front.gap``, for n points.

    With fewer than n leaving, an optimal point whose bound is below the n_leaving-th largest gap of the others keeps that bound
    for a gap: it stays, and the gaps of all who leave and of whoever ties with them are exact.
    """
    n_others = -1
    # Whether the front was long the last time changes how it is found now, and nothing else.
    long = n_objectives == 2 and front.n_pivots[0] > MANY
    if long or not _find_pivots(points, stride, n_objectives, n, front):
        n_others = find_front_in_plane(points, stride, n, front)
    if n_leaving == 0:
        return
    zero, outside = spread(0.0), spread(OUTSIDE)
    for i in range(0, n, WIDTH):
        best = load(front.best, i)
        below = zero - best  # Delta_i, i not in S; not -best, which would turn a tie into -0.0
        optimal = best > zero
        store(front.gap, i, choose(optimal, outside, below))
        store(front.addend, i, choose(optimal, zero, below))
    for i in range(n, (n + WIDTH - 1) // WIDTH * WIDTH):
        front.gap[i] = OUTSIDE
        front.addend[i] = np.inf
    least = 0.0
    if n_leaving < n:
        least, _ = threshold(front.gap, n, n_leaving)
    for p in range(front.n_pivots[0]):
        j = front.pivots[p]
        if front.best[j] > 0.0:
            if front.best[j] < least:
                front.gap[j] = front.best[j]
            elif n_others >= 0:
                front.gap[j] = _nearest_in_plane(points, stride, n_others, j, front)
            else:
                front.gap[j] = _nearest(points, stride, n_objectives, n, j, front)


@inlined
def _nearest(points, stride, n_objectives, n, j, front):
    """The gap of the optimal point in slot j."""
    front.addend[j] = np.inf  # not with itself
    nearest = spread(front.best[j])
    for i in range(0, n, WIDTH):
        # For a point that is not dominated the addend is 0, and M(i, j) is positive.
        margin = larger(excess(points, stride, n_objectives, i, j), spread(0.0)) + load(front.addend, i)  # M(i, j)^+ + Delta*_i
        nearest = smaller(margin, nearest)
    front.addend[j] = 0.0
    return smallest(nearest)


@inner
def _nearest_in_plane(points, stride, n_others, j, front):
    """The same where ``best`` knows about the other optimal points already."""
    nearest = front.best[j]
    for place in range(n_others):
        i = front.work[place]
        above = max(points[i] - points[j], points[stride + i] - points[stride + j], 0.0)
        nearest = min(nearest, above + front.addend[i])  # M(i, j)^+ + Delta*_i
    return nearest


@inlined
def threshold(gaps, n, n_leaving):
    """The largest gap that at least ``n_leaving`` of n slots have or exceed, and how many do; 0 if there are not so many.

    Bisection between values that occur; slots that do not count, and those up to the next multiple of eight, are negative.
    """
    top = spread(OUTSIDE)
    for i in range(0, n, WIDTH):
        top = larger(load(gaps, i), top)
    low, high, count = 0.0, largest(top), n
    while low < high:
        middle = 0.5 * low + 0.5 * high
        if n_leaving == 1 or not middle > low:
            middle = high
        value, over, under, at_least = spread(middle), spread(np.inf), spread(OUTSIDE), 0
        for i in range(0, n, WIDTH):
            gap = load(gaps, i)
            above = gap >= value
            at_least += count_bits(bits(above))
            over = choose(above, smaller(gap, over), over)
            under = choose(above, under, larger(gap, under))
        if at_least >= n_leaving:
            low, count = smallest(over), at_least
            if at_least == n_leaving:
                break
        else:
            high = largest(under)
    return low, count


@inner
def _find_pivots(points, stride, n_objectives, n, front):
    """Compares all points with one that nobody is known to dominate, the one with the largest sum, until there is no other.

    In two objectives it gives up, and returns False, when there are too many.

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
        if size == MANY and n_objectives == 2:
            return False
        front.pivots[size] = pivot
        size += 1
        front.key[pivot] = -np.inf
        own = front.best[pivot]
        top, where, numbers = least, spread(np.uint64(0)), lane_numbers()
        for i in range(0, n, WIDTH):
            best = smaller(excess(points, stride, n_objectives, i, pivot), load(front.best, i))  # min over j of M(i, j)
            store(front.best, i, best)
            key = choose(best > spread(0.0), load(front.key, i), least)
            better = key > top
            top, where = choose(better, key, top), choose(better, numbers, where)
            numbers = numbers + spread(np.uint64(WIDTH))
        front.best[pivot] = own
        pivot = _place(top, where, front)
    front.n_pivots[0] = size
    return True


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
