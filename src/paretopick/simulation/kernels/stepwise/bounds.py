"""The confidence bounds of APE-FB in one run, kept while single arms change (Algorithm 3).

Of every arm i one entry of its row of ``M(i, j) + beta_i + beta_j`` is tracked, which bounds the minimum of the row from above;
the arm with the largest bound has its row searched, until the largest is exact. So a step costs a few rows and a column, about
n_arms * n_objectives, and there is no matrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.fronts import excess, excess_of_one
from paretopick.simulation.kernels.vector_memory import float_memory, gather, load, store, word_memory
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    lane_numbers,
    largest,
    lowest_bit,
    smaller,
    smallest,
    spread,
    square_root,
)

HEADROOM = 1.005
"""How much larger than needed the exploration of the raised bonuses is."""

LARGEST_FLOAT = np.finfo(np.float64).max


class Bounds(NamedTuple):
    """What is known about the rows, one entry per arm i.

    ``bonus`` is beta_i; ``column`` is that of the tracked entry, ``tracked`` is ``M(i, column)`` and ``upper`` the entry with
    the bonuses, at least the smallest ``M(i, j) + beta_i + beta_j``; ``lower`` is at most the smallest ``M(i, j) - beta_i -
    beta_j``. Where all bonuses change at every step, ``lower`` is that of the ``raised`` bonuses, which are larger than those of
    many steps: a row that is settled with them need not be looked at.
    """

    bonus: NDArray[np.float64]
    raised: NDArray[np.float64]
    column: NDArray[np.uint64]
    tracked: NDArray[np.float64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    place: NDArray[np.uint64]


def make_bounds(stride: int) -> Bounds:
    """Memory for so many slots, a multiple of eight."""
    return Bounds(
        bonus=float_memory(stride),
        raised=float_memory(stride),
        column=word_memory(stride),
        tracked=float_memory(stride),
        upper=float_memory(stride),
        lower=float_memory(stride),
        place=word_memory(WIDTH),
    )


@inlined
def bonus(exploration, count):
    """The bonus of an arm that was pulled so often."""
    return 0.4 * math.sqrt(exploration / count)  # beta_i = (2/5) sqrt(a / T_i)


@inlined
def set_bonuses(exploration, n_arms, arms, bounds):
    """Gives every arm a new bonus; every tracked entry follows."""
    for i in range(0, n_arms, WIDTH):
        store(bounds.bonus, i, spread(0.4) * square_root(spread(exploration) / load(arms.pulls, i)))  # (2/5) sqrt(a / T_i)
    for i in range(0, n_arms, WIDTH):
        entry = load(bounds.tracked, i) + load(bounds.bonus, i) + gather(bounds.bonus, load(bounds.column, i))
        store(bounds.upper, i, entry)


@inner
def raise_bonuses(exploration, n_arms, arms, bounds):
    """Sets the raised bonuses, after which nothing is known from below; returns the exploration up to which they are valid.

    Rounding keeps the order: less exploration and more pulls never make a bonus larger, nor a smaller bonus a bound lower.
    """
    ceiling = min(HEADROOM * exploration, LARGEST_FLOAT)
    for i in range(0, n_arms, WIDTH):
        store(bounds.raised, i, spread(0.4) * square_root(spread(ceiling) / load(arms.pulls, i)))
        store(bounds.lower, i, spread(-np.inf))
    return ceiling


@inlined
def excess_of_pair(i, j, n_objectives, arms):
    """M(i, j) of two arms."""
    most = arms.means[i] - arms.means[j]
    for d in range(1, n_objectives):
        most = max(most, arms.means[d * arms.stride + i] - arms.means[d * arms.stride + j])
    return most


@inlined
def follow(arm, n_arms, n_objectives, arms, bounds, guard):
    """Brings the bounds up to date after the mean or the bonus of an arm has changed: its column, and its own tracked entry.

    ``guard`` are the bonuses that ``lower`` is about: those of the arms, or the raised ones.
    """
    at = np.int64(bounds.column[arm])
    mine = excess_of_pair(arm, at, n_objectives, arms)
    tracked, upper = spread(mine), spread(mine + bounds.bonus[arm] + bounds.bonus[at])
    its, raised, number, numbers = spread(bounds.bonus[arm]), spread(guard[arm]), spread(uint64(arm)), lane_numbers()
    for i in range(0, n_arms, WIDTH):
        above = excess(arms.means, arms.stride, n_objectives, i, arm)
        column, before = load(bounds.column, i), load(bounds.upper, i)
        entry = above + load(bounds.bonus, i) + its  # M(i, j) + beta_i + beta_j
        itself = numbers == number
        takes = ((entry < before) | (column == number)) & ~itself
        # Written lane by lane, the row of the arm itself would keep the next vector that is read waiting.
        store(bounds.upper, i, choose(itself, upper, choose(takes, entry, before)))
        store(bounds.tracked, i, choose(itself, tracked, choose(takes, above, load(bounds.tracked, i))))
        store(bounds.column, i, choose(takes, number, column))
        lower = smaller(above - load(guard, i) - raised, load(bounds.lower, i))  # M(i, j) - beta_i - beta_j
        store(bounds.lower, i, choose(itself, spread(-np.inf), lower))
        numbers = numbers + spread(uint64(WIDTH))


@inlined
def _lowest(values, numbers, bounds):
    """The smallest number among the lanes with the smallest value."""
    found = bits(values == spread(smallest(values)))
    store(bounds.place, 0, numbers)
    number = bounds.place[lowest_bit(found)]
    found &= found - 1
    while found != 0:
        number = min(number, bounds.place[lowest_bit(found)])
        found &= found - 1
    return np.int64(number)


@inlined
def _search(i, n_arms, n_objectives, arms, bounds):
    """Searches row i, after which its bounds are exact; returns them and the arm c that goes with it."""
    infinity, own, me = spread(np.inf), spread(bounds.bonus[i]), spread(uint64(i))
    upper, column, lower = infinity, me, infinity
    nearest, candidate, numbers = infinity, me, lane_numbers()
    for j in range(0, n_arms, WIDTH):
        above = choose(numbers == me, infinity, excess_of_one(arms.means, i, arms.means, arms.stride, n_objectives, j))
        other = load(bounds.bonus, j)
        entry = above + own + other  # M(i, j) + beta_i + beta_j
        closer = entry < upper
        upper, column = choose(closer, entry, upper), choose(closer, numbers, column)
        lower = smaller(above - own - other, lower)  # M(i, j) - beta_i - beta_j
        entry = above - other  # c = argmin M(b, j) - beta_j
        closer = entry < nearest
        nearest, candidate = choose(closer, entry, nearest), choose(closer, numbers, candidate)
        numbers = numbers + spread(uint64(WIDTH))
    at = _lowest(upper, column, bounds)
    bounds.column[i], bounds.tracked[i] = at, excess_of_pair(i, at, n_objectives, arms)
    bounds.upper[i], bounds.lower[i] = smallest(upper), smallest(lower)
    return bounds.upper[i], bounds.lower[i], _lowest(nearest, candidate, bounds)


@inner
def search_row(i, n_arms, n_objectives, arms, bounds):
    """The same where it is not worth a copy of the code."""
    return _search(i, n_arms, n_objectives, arms, bounds)


@inner
def _lower_if_raised(i, n_arms, n_objectives, arms, raised):
    """The smallest ``M(i, j) - beta_i - beta_j`` of row i with raised bonuses."""
    infinity, me, numbers = spread(np.inf), spread(uint64(i)), lane_numbers()
    own, lower = spread(raised[i]), infinity
    for j in range(0, n_arms, WIDTH):
        above = choose(numbers == me, infinity, excess_of_one(arms.means, i, arms.means, arms.stride, n_objectives, j))
        lower = smaller(above - own - load(raised, j), lower)
        numbers = numbers + spread(uint64(WIDTH))
    return smallest(lower)


@inlined
def candidates(adaptive, n_arms, n_objectives, arms, bounds):
    """The arms b and c of this step, among equals the smallest number; and how many rows will have to be searched again."""
    in_vain = 0
    while True:
        top, where, numbers = spread(-np.inf), spread(uint64(n_arms)), lane_numbers()
        for i in range(0, n_arms, WIDTH):
            settled = load(bounds.lower, i) > spread(0.0)  # OPT(t), Algorithm 3
            upper = choose(settled, spread(-np.inf), load(bounds.upper, i))
            better = upper > top
            top, where = choose(better, upper, top), choose(better, numbers, where)
            numbers = numbers + spread(uint64(WIDTH))
        if largest(top) == -np.inf:
            break
        b = _lowest(spread(0.0) - top, where, bounds)
        bound = bounds.upper[b]
        upper, lower, c = _search(b, n_arms, n_objectives, arms, bounds)
        if upper == bound and not lower > 0.0:
            return b, c, in_vain
        if adaptive and lower > 0.0:
            bounds.lower[b] = _lower_if_raised(b, n_arms, n_objectives, arms, bounds.raised)
            in_vain += not bounds.lower[b] > 0.0
            bounds.upper[b] = -np.inf  # not again in this step; the next one sets it anew
    # Every arm is optimal for sure: the one with the smallest margin.
    least, b, c = np.inf, 0, 0
    if adaptive:
        for i in range(n_arms):
            upper, lower, candidate = search_row(i, n_arms, n_objectives, arms, bounds)
            bounds.lower[i] = -np.inf  # nothing is known for raised bonuses
            if lower < least:
                least, b, c = lower, i, candidate
        return b, c, in_vain
    while True:
        b = 0
        for i in range(1, n_arms):
            if bounds.lower[i] < bounds.lower[b]:
                b = i
        bound = bounds.lower[b]
        upper, lower, c = search_row(b, n_arms, n_objectives, arms, bounds)
        if lower == bound:
            return b, c, in_vain
