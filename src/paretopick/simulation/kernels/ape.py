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
from paretopick.simulation.kernels.fronts import Front, excess, make_front
from paretopick.simulation.kernels.lanes import (
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
from paretopick.simulation.kernels.moving import Gaps, make_gaps, move_arm, start_gaps
from paretopick.simulation.kernels.noises import Noise
from paretopick.simulation.kernels.randoms import run_key
from paretopick.simulation.kernels.sequential import Arms, answer_now, forget, make_arms, pull_once

FIXED, ADAPTIVE, PUBLISHED = 0, 1, 2
"""The variants: exploration given, estimated for every arm at every step, estimated as published."""

SMALLEST_GAP = 1e-8
LARGEST_FLOAT = np.finfo(np.float64).max


class Bounds(NamedTuple):
    """What is known about the rows, one entry per arm i.

    ``bonus`` is beta_i; ``column`` is that of the tracked entry, ``tracked`` is ``M(i, column)`` and ``upper`` the entry with
    the bonuses, at least the smallest ``M(i, j) + beta_i + beta_j``; ``lower`` is at most the smallest ``M(i, j) - beta_i -
    beta_j``.
    """

    bonus: NDArray[np.float64]
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


def make_memory(noise: Noise) -> Memory:
    """Memory for one run at a time; slots behind the last arm are minus infinity, the farthest from every arm.

    ``find_gaps`` does not mind, as long as all gaps are wanted.
    """
    arms = make_arms(noise, -np.inf)
    n = arms.stride
    bounds = Bounds(
        float_memory(n),
        word_memory(n),
        float_memory(n),
        float_memory(n),
        float_memory(n),
        word_memory(WIDTH),
    )
    return Memory(arms, make_front(n), make_gaps(n, noise.n_objectives), bounds)


@kernel
def run_ape(noise, variant, scale, budget, seed, first, last, memory, outcome, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``; ``scale`` is a for the fixed variant, c for the others."""
    arms, gaps, bounds = memory.arms, memory.gaps, memory.bounds
    K, D = noise.n_arms, noise.n_objectives
    for run in range(first, last):
        key = run_key(seed, run)
        forget(arms)
        for i in range(K):
            pull_once(noise, key, i, arms)
        for i in range(K):
            bounds.bonus[i] = _bonus(scale, 1) if variant == FIXED else 0.0
        hardness = 0.0
        if variant != FIXED:
            start_gaps(arms.means, arms.stride, D, K, gaps)
        if variant == ADAPTIVE:
            hardness = _hardness(variant, K, gaps)
            _set_bonuses(_exploration(scale, budget - K, hardness), K, arms, bounds)
        for i in range(K):
            _search_apart(i, K, D, arms, bounds)
        for i in range(K, arms.stride):
            bounds.upper[i] = bounds.tracked[i] = -np.inf
        used, step = K, 0
        while used < budget:
            step += 1
            b, c = _candidates(K, D, arms, bounds)
            chosen = c if arms.counts[c] < arms.counts[b] else b
            if variant == PUBLISHED:
                hardness = _hardness(variant, K, gaps)
                other = b + c - chosen
                if budget - used > 1 and other != chosen:
                    pull_once(noise, key, other, arms)
                    used += 1
                    move_arm(arms.means, arms.stride, D, K, other, gaps)
                    _follow(other, K, D, arms, bounds)
            pull_once(noise, key, chosen, arms)
            used += 1
            if variant != FIXED:
                move_arm(arms.means, arms.stride, D, K, chosen, gaps)
            if variant == ADAPTIVE:
                _follow(chosen, K, D, arms, bounds)
                hardness = _hardness(variant, K, gaps)
                _set_bonuses(_exploration(scale, budget - K, hardness), K, arms, bounds)
            else:
                a = scale if variant == FIXED else _exploration(scale, budget - K, hardness)
                bounds.bonus[chosen] = _bonus(a, arms.counts[chosen])
                _follow(chosen, K, D, arms, bounds)
        row = run - first
        answer_now(K, D, arms, memory.front, outcome.answers[row])
        outcome.pulls[row] = used
        outcome.rounds[row] = step + 1


@inlined
def _bonus(exploration, count):
    return 0.4 * math.sqrt(exploration / count)


@inner
def _exploration(c, steps, hardness):
    return min(c * (25 / 36) * steps / hardness, LARGEST_FLOAT) if hardness > 0.0 else 0.0


@inner
def _hardness(variant, K, gaps):
    """The estimated H, added up in the order of the arms, from the first one on whose gap is another than the last time."""
    total = gaps.totals[gaps.valid[0]]
    for i in range(gaps.valid[0], K):
        gap = gaps.gap[i] + SMALLEST_GAP if variant == PUBLISHED else max(gaps.gap[i], SMALLEST_GAP)
        total += 1.0 / (gap * gap)
        gaps.totals[i + 1] = total
    gaps.valid[0] = K
    return total


@inner
def _set_bonuses(exploration, K, arms, bounds):
    """Gives every arm a new bonus; every tracked entry follows, and nothing is known from below."""
    for i in range(0, K, WIDTH):
        store(bounds.bonus, i, spread(0.4) * square_root(spread(exploration) / load(arms.pulls, i)))
    for i in range(0, K, WIDTH):
        entry = load(bounds.tracked, i) + load(bounds.bonus, i) + gather(bounds.bonus, load(bounds.column, i))
        store(bounds.upper, i, entry)
        store(bounds.lower, i, spread(-np.inf))


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
        above = infinity
        for d in range(D):
            difference = spread(arms.means[d * arms.stride + i]) - load(arms.means, d * arms.stride + j)
            above = difference if d == 0 else larger(difference, above)
        above = choose(numbers == me, infinity, above)
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


@inlined
def _pair(i, j, D, arms):
    """M(i, j) of two arms."""
    most = arms.means[i] - arms.means[j]
    for d in range(1, D):
        most = max(most, arms.means[d * arms.stride + i] - arms.means[d * arms.stride + j])
    return most


@inlined
def _follow(arm, K, D, arms, bounds):
    """Brings the bounds up to date after the mean or the bonus of an arm has changed: its column, and its own tracked entry."""
    at = np.int64(bounds.column[arm])
    mine = _pair(arm, at, D, arms) if at != arm else np.inf
    tracked, upper = spread(mine), spread(mine + bounds.bonus[arm] + bounds.bonus[at])
    bonus, number, numbers = spread(bounds.bonus[arm]), spread(uint64(arm)), lane_numbers()
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
        store(bounds.lower, i, choose(itself, spread(-np.inf), smaller(above - own - bonus, load(bounds.lower, i))))
        numbers = numbers + spread(uint64(WIDTH))


@inlined
def _candidates(K, D, arms, bounds):
    """The arms b and c of this step; among equals the smallest number."""
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
            return b, c
    # Every arm is optimal for sure: the one with the smallest margin.
    while True:
        b = 0
        for i in range(1, K):
            if bounds.lower[i] < bounds.lower[b]:
                b = i
        bound = bounds.lower[b]
        upper, lower, c = _search_apart(b, K, D, arms, bounds)
        if lower == bound:
            return b, c
