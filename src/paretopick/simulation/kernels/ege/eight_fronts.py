"""The Pareto sets and the gaps of eight runs at once, one in each lane (Lemma 1, Eq. (5)).

The same as ``fronts``, for vectors that hold the same slot of eight runs: nothing is ever compared across lanes. Coordinate d of
slot i is ``sums[(i * n_objectives + d) * 8]`` and the seven behind it. A *pivot* is a point that all slots are compared with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.vector_memory import float_memory, gather, load, store, word_memory
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    as_lanes,
    as_numbers,
    as_words,
    bits,
    choose,
    lane_numbers,
    larger,
    smaller,
    spread,
)

MOST_ARMS = 1024
"""Eight runs at once have no more arms than that: a power of two, so that their numbers fit into the lowest bits of a key."""

ABSENT = -np.inf
"""The bound of a pivot in a run that has fewer pivots than others."""


class Fronts(NamedTuple):
    """What is known about the slots, and about the pivots, which no pivot before them dominates.

    ``best`` is the smallest excess of a slot over any pivot, 0 for the pivots themselves; minus that is the gap of a dominated
    arm. Of each pivot: its ``slot`` and its ``arm``, its coordinates, its ``bound``, the smallest excess over other pivots in
    both directions, which its gap cannot exceed, and its ``gap`` where ``find_gap`` has found it. A bound that is not positive
    says that a later pivot dominates this one, which only rounding can bring about.
    """

    best: NDArray[np.float64]
    key: NDArray[np.float64]
    slot: NDArray[np.uint64]
    arm: NDArray[np.float64]
    point: NDArray[np.float64]
    bound: NDArray[np.float64]
    gap: NDArray[np.float64]


def make_fronts(n_arms: int, n_objectives: int) -> Fronts:
    """Memory for so many slots, all of which may be pivots."""
    n = n_arms * WIDTH
    return Fronts(
        best=float_memory(n),
        key=float_memory(n),
        slot=word_memory(n),
        arm=float_memory(n),
        point=float_memory(n * n_objectives),
        bound=float_memory(n),
        gap=float_memory(n),
    )


@inner
def find_pivots(slots, n, fronts):
    """Fills ``fronts`` except for the gaps, as ``fronts._find_pivots`` does for one run; returns the largest number of pivots.

    A key is the sum of the coordinates with the number of the slot in its lowest bits, so that the largest key says which slot
    it belongs to.
    """
    D, sums = slots.n_objectives, slots.sums
    least, number = spread(-np.inf), spread(uint64(MOST_ARMS - 1))
    top = least
    for i in range(n):
        at = i * WIDTH
        key = load(sums, at * D)
        for d in range(1, D):
            key = key + load(sums, at * D + d * WIDTH)
        key = as_lanes((as_words(key) | number) ^ spread(uint64(MOST_ARMS - 1 - i)))
        store(fronts.key, at, key)
        store(fronts.best, at, spread(np.inf))
        top = larger(key, top)
    p = 0
    while True:
        there = top > least
        if bits(there) == 0 or p == n:
            return p
        at = p * WIDTH
        slot = choose(there, as_words(top) & number, spread(uint64(0)))
        store(fronts.slot, at, slot)
        store(fronts.arm, at, as_numbers(gather(slots.arm, slot * spread(uint64(WIDTH)) + lane_numbers())))
        places = slot * spread(uint64(D * WIDTH)) + lane_numbers()
        for d in range(D):
            # A run without a further pivot gets one infinitely far below everyone, which changes nothing.
            coordinate = choose(there, gather(sums, places + spread(uint64(d * WIDTH))), least)
            store(fronts.point, at * D + d * WIDTH, coordinate)
        bound = spread(np.inf)
        for q in range(p):
            nearer = choose(there, _smaller_excess(fronts.point, D, p, q), spread(np.inf))
            bound = smaller(nearer, bound)
            store(fronts.bound, q * WIDTH, smaller(nearer, load(fronts.bound, q * WIDTH)))
        store(fronts.bound, at, choose(there, bound, spread(ABSENT)))
        top = _compare(sums, D, n, p, fronts)
        p += 1


@inlined
def _smaller_excess(point, n_objectives, p, q):
    """min(M(p, q), M(q, p)) of two pivots: the differences are the same but for their sign."""
    p, q = p * n_objectives * WIDTH, q * n_objectives * WIDTH
    most = load(point, p) - load(point, q)
    least = most
    for d in range(WIDTH, n_objectives * WIDTH, WIDTH):
        difference = load(point, p + d) - load(point, q + d)
        most, least = larger(difference, most), smaller(difference, least)
    return smaller(most, spread(0.0) - least)


@inlined
def _excess(sums, point, n_objectives, i, p):
    """M(i, p) of slot i over pivot p."""
    i, p = i * n_objectives * WIDTH, p * n_objectives * WIDTH
    most = load(sums, i) - load(point, p)
    for d in range(WIDTH, n_objectives * WIDTH, WIDTH):
        most = larger(load(sums, i + d) - load(point, p + d), most)
    return most


@inlined
def _compare(sums, n_objectives, n, p, fronts):
    """Compares all slots with pivot p, and returns the largest key of a slot that no pivot dominates so far.

    Four slots share every coordinate of the pivot that is read.
    """
    step, at = n_objectives * WIDTH, p * n_objectives * WIDTH
    top = spread(-np.inf)
    fours = n // 4 * 4
    for i in range(0, fours, 4):
        first = i * step
        second, third, fourth = first + step, first + 2 * step, first + 3 * step
        x = load(fronts.point, at)
        a, b, c, e = load(sums, first) - x, load(sums, second) - x, load(sums, third) - x, load(sums, fourth) - x
        for d in range(WIDTH, step, WIDTH):
            x = load(fronts.point, at + d)
            a, b = larger(load(sums, first + d) - x, a), larger(load(sums, second + d) - x, b)
            c, e = larger(load(sums, third + d) - x, c), larger(load(sums, fourth + d) - x, e)
        top = _note(a, i, top, fronts)
        top = _note(b, i + 1, top, fronts)
        top = _note(c, i + 2, top, fronts)
        top = _note(e, i + 3, top, fronts)
    for i in range(fours, n):
        top = _note(_excess(sums, fronts.point, n_objectives, i, p), i, top, fronts)
    return top


@inlined
def _note(above, i, top, fronts):
    best = smaller(above, load(fronts.best, i * WIDTH))
    store(fronts.best, i * WIDTH, best)
    return choose(best > spread(0.0), larger(load(fronts.key, i * WIDTH), top), top)


@inner
def find_gap(slots, n, p, fronts):
    """Finds the gap of pivot p in each run (Lemma 1)."""
    zero = spread(0.0)
    slot = load(fronts.slot, p * WIDTH)
    nearest = load(fronts.bound, p * WIDTH)
    for i in range(n):
        # For another pivot i the margin is M(i, p), which the bound covers already.
        above = _excess(slots.sums, fronts.point, slots.n_objectives, i, p)
        margin = larger(above, zero) + (zero - load(fronts.best, i * WIDTH))  # M(i, p)^+ + Delta*_i
        margin = choose(slot == spread(uint64(i)), spread(np.inf), margin)
        nearest = smaller(margin, nearest)
    store(fronts.gap, p * WIDTH, nearest)
