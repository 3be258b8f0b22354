"""The Pareto sets and the gaps of eight runs side by side, one in each lane.

The same as ``fronts``, for vectors that hold the same slot of eight runs: nothing is ever compared across lanes. Coordinate d of
slot i is ``sums[(i * n_objectives + d) * 8]`` and the seven behind it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.vectors import (
    WIDTH,
    as_lanes,
    as_words,
    bits,
    choose,
    float_memory,
    gather,
    inlined,
    inner,
    lane_numbers,
    larger,
    load,
    smaller,
    spread,
    store,
    word_memory,
)

MOST_ARMS = 1024
"""More arms than that are not run side by side: a power of two, so that their numbers fit into the lowest bits of a key."""

ABSENT = -np.inf
"""The bound of a pivot in a run that has fewer pivots than others."""


class Fronts(NamedTuple):
    """What is known about the slots, and about the pivots: points that no point compared before them dominates.

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
def find_pivots(sums, numbers, n_objectives, n, fronts):
    """Fills ``fronts`` except for the gaps, as ``fronts._find_pivots`` does for one run; returns the largest number of pivots.

    A key is the sum of the coordinates with the number of the slot in its lowest bits, so that the largest key says which slot
    it belongs to. ``numbers`` are the arms in the slots.
    """
    D = n_objectives
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
        store(fronts.arm, at, gather(numbers, slot * spread(uint64(WIDTH)) + lane_numbers()))
        places = slot * spread(uint64(D * WIDTH)) + lane_numbers()
        for d in range(D):
            # A run without a further pivot gets one infinitely far below everyone, which changes nothing.
            coordinate = choose(there, gather(sums, places + spread(uint64(d * WIDTH))), least)
            store(fronts.point, at * D + d * WIDTH, coordinate)
        bound = spread(np.inf)
        for q in range(p):
            over = _excess(fronts.point, fronts.point, D, q, p)
            under = _excess(fronts.point, fronts.point, D, p, q)
            nearer = choose(there, smaller(over, under), spread(np.inf))
            bound = smaller(nearer, bound)
            store(fronts.bound, q * WIDTH, smaller(nearer, load(fronts.bound, q * WIDTH)))
        store(fronts.bound, at, choose(there, bound, spread(ABSENT)))
        top = _compare(sums, D, n, p, fronts)
        p += 1


@inlined
def _excess(sums, point, n_objectives, i, p):
    """M(i, p) of slot i over pivot p."""
    i, p = i * n_objectives * WIDTH, p * n_objectives * WIDTH
    most = load(sums, i) - load(point, p)
    for d in range(1, n_objectives):
        most = larger(load(sums, i + d * WIDTH) - load(point, p + d * WIDTH), most)
    return most


@inlined
def _compare(sums, n_objectives, n, p, fronts):
    """Compares all slots with pivot p, and returns the largest key of a slot that no pivot dominates so far.

    Written out for two and three objectives, whose coordinates then stay in registers.
    """
    D, at = n_objectives, p * n_objectives * WIDTH
    top = spread(-np.inf)
    if D == 2:
        first, second = load(fronts.point, at), load(fronts.point, at + WIDTH)
        for i in range(n):
            above = larger(load(sums, 2 * i * WIDTH) - first, load(sums, (2 * i + 1) * WIDTH) - second)
            top = _note(above, i, top, fronts)
    elif D == 3:
        first, second, third = load(fronts.point, at), load(fronts.point, at + WIDTH), load(fronts.point, at + 2 * WIDTH)
        for i in range(n):
            above = larger(load(sums, 3 * i * WIDTH) - first, load(sums, (3 * i + 1) * WIDTH) - second)
            above = larger(load(sums, (3 * i + 2) * WIDTH) - third, above)
            top = _note(above, i, top, fronts)
    else:
        for i in range(n):
            top = _note(_excess(sums, fronts.point, D, i, p), i, top, fronts)
    return top


@inlined
def _note(above, i, top, fronts):
    best = smaller(above, load(fronts.best, i * WIDTH))
    store(fronts.best, i * WIDTH, best)
    return choose(best > spread(0.0), larger(load(fronts.key, i * WIDTH), top), top)


@inner
def find_gap(sums, n_objectives, n, p, fronts):
    """Finds the gap of pivot p in each run."""
    zero = spread(0.0)
    slot = load(fronts.slot, p * WIDTH)
    nearest = load(fronts.bound, p * WIDTH)
    for i in range(n):
        # M(i, p)^+ + gap of i; for another pivot i that is M(i, p), which the bound covers already.
        margin = larger(_excess(sums, fronts.point, n_objectives, i, p), zero) + (zero - load(fronts.best, i * WIDTH))
        margin = choose(slot == spread(uint64(i)), spread(np.inf), margin)
        nearest = smaller(margin, nearest)
    store(fronts.gap, p * WIDTH, nearest)
