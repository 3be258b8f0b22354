"""Runs of APE-FB (Algorithm 3) and of APE-FB-ADAPT, corrected and as published.

A step changes one arm, or two. For every arm i one entry of its row of ``M(i, j) + beta_i + beta_j`` is tracked, which bounds
the minimum of the row from above; the arm with the largest bound has its row searched, until the largest is exact. So a step
costs a few rows and a column, about n_arms * n_objectives, and there is no matrix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.fronts import Front, excess, excess_of_one, make_front
from paretopick.simulation.kernels.stepwise.moving_gaps import Gaps, make_gaps, move_arm, start_gaps
from paretopick.simulation.kernels.stepwise.one_run import Arms, answer_now, forget, make_arms, pull_once
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    float_memory,
    gather,
    inlined,
    inner,
    kernel,
    lane_numbers,
    larger,
    largest,
    load,
    lowest_bit,
    smaller,
    smallest,
    spread,
    square_root,
    store,
    word_memory,
)

FIXED, ADAPTIVE, PUBLISHED = 0, 1, 2
"""The variants: exploration given, estimated for every arm at every step, estimated as published."""

HEADROOM = 1.005
"""How much larger than needed the exploration of the raised bonuses is."""

PATIENCE = 16
"""So many rows are searched that turn out to be settled, and are not with raised bonuses, before these are set anew."""

SMALLEST_GAP = 1e-8
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


class Memory(NamedTuple):
    """What the runs work in."""

    arms: Arms
    front: Front
    gaps: Gaps
    bounds: Bounds


def make_memory(noise: BanditArrays) -> Memory:
    """Memory for one run at a time; slots behind the last arm are minus infinity, the farthest from every arm."""
    arms = make_arms(noise, -np.inf)
    n = arms.stride
    bounds = Bounds(
        bonus=float_memory(n),
        raised=float_memory(n),
        column=word_memory(n),
        tracked=float_memory(n),
        upper=float_memory(n),
        lower=float_memory(n),
        place=word_memory(WIDTH),
    )
    return Memory(arms, make_front(n), make_gaps(n, noise.n_objectives), bounds)


@kernel
def run_ape(noise, variant, scale, budget, seed, first, last, memory, outcome, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``; ``scale`` is a for the fixed variant, c for the others."""
    arms, gaps, bounds = memory.arms, memory.gaps, memory.bounds
    K, D = noise.n_arms, noise.n_objectives
    for run in range(first, last):
        key, own = run_key(seed, run), from_run(noise, run - first)
        forget(arms)
        for i in range(K):
            pull_once(own, key, i, arms)
        for i in range(K):
            bounds.bonus[i] = _bonus(scale, 1) if variant == FIXED else 0.0
        hardness, exploration, ceiling, in_vain = 0.0, 0.0, 0.0, 0
        if variant != FIXED:
            start_gaps(arms.means, arms.stride, D, K, gaps)
        if variant == ADAPTIVE:
            hardness = _hardness(variant, K, gaps)
            exploration = _exploration(scale, budget - K, hardness)
            _set_bonuses(exploration, K, arms, bounds)
        for i in range(K):
            _search_apart(i, K, D, arms, bounds)
        if variant == ADAPTIVE:
            ceiling = _raise_bonuses(exploration, K, arms, bounds)
        guard = bounds.raised if variant == ADAPTIVE else bounds.bonus
        for i in range(K, arms.stride):
            bounds.upper[i] = bounds.tracked[i] = -np.inf
        used, step = K, 0
        while used < budget:
            step += 1
            b, c, more = _candidates(variant, K, D, arms, bounds)
            in_vain += more
            chosen = c if arms.counts[c] < arms.counts[b] else b
            if variant == PUBLISHED:
                hardness = _hardness(variant, K, gaps)
                other = b + c - chosen
                if budget - used > 1 and other != chosen:
                    pull_once(own, key, other, arms)
                    used += 1
                    move_arm(arms.means, arms.stride, D, K, other, gaps)
                    _follow(other, K, D, arms, bounds, guard)
            pull_once(own, key, chosen, arms)
            used += 1
            if variant != FIXED:
                move_arm(arms.means, arms.stride, D, K, chosen, gaps)
            if variant == ADAPTIVE:
                _follow(chosen, K, D, arms, bounds, guard)
                hardness = _hardness(variant, K, gaps)
                exploration = _exploration(scale, budget - K, hardness)
                if exploration > ceiling or in_vain > PATIENCE:
                    ceiling, in_vain = _raise_bonuses(exploration, K, arms, bounds), 0
                _set_bonuses(exploration, K, arms, bounds)
            else:
                a = scale if variant == FIXED else _exploration(scale, budget - K, hardness)
                bounds.bonus[chosen] = _bonus(a, arms.counts[chosen])
                _follow(chosen, K, D, arms, bounds, guard)
        row = run - first
        answer_now(K, D, arms, memory.front, outcome.answers[row])
        outcome.pulls[row] = used
        outcome.rounds[row] = step + 1


@inlined
def _bonus(exploration, count):
    return 0.4 * math.sqrt(exploration / count)


@inlined
def _exploration(c, steps, hardness):
    return min(c * (25 / 36) * steps / hardness, LARGEST_FLOAT) if hardness > 0.0 else 0.0


@inlined
def _hardness(variant, K, gaps):
    """The estimated H, added up in the order of the arms, from the first one on whose gap is another than the last time."""
    valid = gaps.valid[0]
    for i in range(valid // WIDTH * WIDTH, K, WIDTH):
        gap, least = load(gaps.gap, i), spread(SMALLEST_GAP)
        gap = gap + least if variant == PUBLISHED else larger(gap, least)
        store(gaps.terms, i, spread(1.0) / (gap * gap))
    total = gaps.totals[valid]
    for i in range(valid, K):
        total += gaps.terms[i]
        gaps.totals[i + 1] = total
    gaps.valid[0] = K
    return total


@inlined
def _set_bonuses(exploration, K, arms, bounds):
    """Gives every arm a new bonus; every tracked entry follows."""
    for i in range(0, K, WIDTH):
        store(bounds.bonus, i, spread(0.4) * square_root(spread(exploration) / load(arms.pulls, i)))
    for i in range(0, K, WIDTH):
        entry = load(bounds.tracked, i) + load(bounds.bonus, i) + gather(bounds.bonus, load(bounds.column, i))
        store(bounds.upper, i, entry)


@inner
def _raise_bonuses(exploration, K, arms, bounds):
    """Sets the raised bonuses, after which nothing is known from below; returns the exploration up to which they are valid.

    Rounding keeps the order: less exploration and more pulls never make a bonus larger, nor a smaller bonus a bound lower.
    """
    ceiling = min(HEADROOM * exploration, LARGEST_FLOAT)
    for i in range(0, K, WIDTH):
        store(bounds.raised, i, spread(0.4) * square_root(spread(ceiling) / load(arms.pulls, i)))
        store(bounds.lower, i, spread(-np.inf))
    return ceiling


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
def _search(i, K, D, arms, bounds):
    """Searches row i, after which its bounds are exact; returns them and the arm c that goes with it."""
    infinity, own = spread(np.inf), spread(bounds.bonus[i])
    upper, column, lower = infinity, spread(uint64(i)), infinity
    nearest, candidate, numbers = infinity, spread(uint64(i)), lane_numbers()
    me = spread(uint64(i))
    for j in range(0, K, WIDTH):
        above = choose(numbers == me, infinity, excess_of_one(arms.means, i, arms.means, arms.stride, D, j))
        bonus = load(bounds.bonus, j)
        entry = above + own + bonus
        closer = entry < upper
        upper, column = choose(closer, entry, upper), choose(closer, numbers, column)
        lower = smaller(above - own - bonus, lower)
        entry = above - bonus
        closer = entry < nearest
        nearest, candidate = choose(closer, entry, nearest), choose(closer, numbers, candidate)
        numbers = numbers + spread(uint64(WIDTH))
    at = _lowest(upper, column, bounds)
    bounds.column[i] = at
    bounds.tracked[i] = _pair(i, at, D, arms) if at != i else np.inf
    bounds.upper[i], bounds.lower[i] = smallest(upper), smallest(lower)
    return bounds.upper[i], bounds.lower[i], _lowest(nearest, candidate, bounds)


@inner
def _search_apart(i, K, D, arms, bounds):
    """The same where it is not worth a copy of the code."""
    return _search(i, K, D, arms, bounds)


@inner
def _lower_if_raised(i, K, D, means, stride, raised):
    """The smallest ``M(i, j) - beta_i - beta_j`` of row i with raised bonuses."""
    infinity, me, numbers = spread(np.inf), spread(uint64(i)), lane_numbers()
    own, lower = spread(raised[i]), infinity
    for j in range(0, K, WIDTH):
        above = choose(numbers == me, infinity, excess_of_one(means, i, means, stride, D, j))
        lower = smaller(above - own - load(raised, j), lower)
        numbers = numbers + spread(uint64(WIDTH))
    return smallest(lower)


@inlined
def _pair(i, j, D, arms):
    """M(i, j) of two arms."""
    most = arms.means[i] - arms.means[j]
    for d in range(1, D):
        most = max(most, arms.means[d * arms.stride + i] - arms.means[d * arms.stride + j])
    return most


@inlined
def _follow(arm, K, D, arms, bounds, guard):
    """Brings the bounds up to date after the mean or the bonus of an arm has changed: its column, and its own tracked entry."""
    at = np.int64(bounds.column[arm])
    mine = _pair(arm, at, D, arms) if at != arm else np.inf
    tracked, upper = spread(mine), spread(mine + bounds.bonus[arm] + bounds.bonus[at])
    bonus, raised, number, numbers = spread(bounds.bonus[arm]), spread(guard[arm]), spread(uint64(arm)), lane_numbers()
    for i in range(0, K, WIDTH):
        above = excess(arms.means, arms.stride, D, i, arm)
        own, column, before = load(bounds.bonus, i), load(bounds.column, i), load(bounds.upper, i)
        entry = above + own + bonus
        itself = numbers == number
        takes = ((entry < before) | (column == number)) & ~itself
        # Written lane by lane, the row of the arm itself would keep the next vector that is read waiting.
        store(bounds.upper, i, choose(itself, upper, choose(takes, entry, before)))
        store(bounds.tracked, i, choose(itself, tracked, choose(takes, above, load(bounds.tracked, i))))
        store(bounds.column, i, choose(takes, number, column))
        lower = smaller(above - load(guard, i) - raised, load(bounds.lower, i))
        store(bounds.lower, i, choose(itself, spread(-np.inf), lower))
        numbers = numbers + spread(uint64(WIDTH))


@inlined
def _candidates(variant, K, D, arms, bounds):
    """The arms b and c of this step, among equals the smallest number; and how many rows will have to be searched again."""
    in_vain = 0
    while True:
        top, where, numbers = spread(-np.inf), spread(uint64(K)), lane_numbers()
        for i in range(0, K, WIDTH):
            upper = choose(load(bounds.lower, i) > spread(0.0), spread(-np.inf), load(bounds.upper, i))
            better = upper > top
            top, where = choose(better, upper, top), choose(better, numbers, where)
            numbers = numbers + spread(uint64(WIDTH))
        if largest(top) == -np.inf:
            break
        b = _lowest(spread(0.0) - top, where, bounds)
        bound = bounds.upper[b]
        upper, lower, c = _search(b, K, D, arms, bounds)
        if upper == bound and not lower > 0.0:
            return b, c, in_vain
        if variant == ADAPTIVE and lower > 0.0:
            bounds.lower[b] = _lower_if_raised(b, K, D, arms.means, arms.stride, bounds.raised)
            in_vain += not bounds.lower[b] > 0.0
            bounds.upper[b] = -np.inf  # not again in this step; the next one sets it anew
    # Every arm is optimal for sure: the one with the smallest margin.
    least, b, c = np.inf, 0, 0
    if variant == ADAPTIVE:
        for i in range(K):
            upper, lower, candidate = _search_apart(i, K, D, arms, bounds)
            bounds.lower[i] = -np.inf  # nothing is known for raised bonuses
            if lower < least:
                least, b, c = lower, i, candidate
        return b, c, in_vain
    while True:
        b = 0
        for i in range(1, K):
            if bounds.lower[i] < bounds.lower[b]:
                b = i
        bound = bounds.lower[b]
        upper, lower, c = _search_apart(b, K, D, arms, bounds)
        if lower == bound:
            return b, c, in_vain
