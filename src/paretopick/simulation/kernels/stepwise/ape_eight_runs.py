"""Runs of APE-FB and APE-FB-ADAPT, eight runs at once; for what is computed, see ``ape`` and ``bounds``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, inner, kernel
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.stepwise.ape import ADAPTIVE, FIXED, PUBLISHED, SMALLEST_GAP
from paretopick.simulation.kernels.stepwise.bounds import LARGEST_FLOAT
from paretopick.simulation.kernels.stepwise.eight_runs import (
    EightRuns,
    answer_of,
    begin_runs,
    excess_of,
    gaps_of_each,
    make_eight_runs,
    places,
    pull_each,
)
from paretopick.simulation.kernels.vector_memory import float_memory, gather, load, scatter, store, word_memory
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, larger, smaller, spread, square_root


class Rows(NamedTuple):
    """What is known about the rows of each run, as in ``bounds``: ``upper`` is an entry of the row, the one of ``column``."""

    bonus: NDArray[np.float64]
    column: NDArray[np.uint64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]


class Memory(NamedTuple):
    """What the runs work in."""

    eight: EightRuns
    rows: Rows


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for eight runs."""
    n = bandit.n_arms * WIDTH
    return Memory(make_eight_runs(bandit), Rows(float_memory(n), word_memory(n), float_memory(n), float_memory(n)))


@kernel
def run_ape_eight(bandit, rule, runs, memory, outcome, sources=SOURCES):
    """Makes runs, as ``ape.run_ape`` does."""
    for first in range(runs.first, runs.last, WIDTH):
        row = first - runs.first
        own = from_run(bandit, row)
        begin_runs(own, runs.seed, first, 1, memory.eight)
        steps = _run_eight(own, rule, memory)
        for lane in range(min(WIDTH, runs.last - first)):
            answer_of(bandit.n_objectives, bandit.n_arms, lane, memory.eight, outcome.answers[row + lane])
            outcome.pulls[row + lane] = rule.budget
            outcome.rounds[row + lane] = steps + 1


@inlined
def _run_eight(bandit, rule, memory):
    """All steps of eight runs; returns how many."""
    eight, rows, K, D = memory.eight, memory.rows, bandit.n_arms, bandit.n_objectives
    bonus = _bonus(spread(rule.scale), spread(1.0)) if rule.variant == FIXED else spread(0.0)
    for i in range(K):
        store(rows.bonus, i * WIDTH, bonus)
    if rule.variant == ADAPTIVE:
        _set_bonuses(_explorations(rule, K, D, eight), K, eight, rows)
    _search_all(K, D, eight, rows)
    used, steps = K, 0
    while used < rule.budget:
        steps += 1
        b, c = _candidates(K, D, eight, rows)
        fewer = gather(eight.pulls, places(c)) < gather(eight.pulls, places(b))
        chosen = choose(fewer, c, b)
        exploration = spread(rule.scale)
        if rule.variant == PUBLISHED:
            exploration = _explorations(rule, K, D, eight)
            if rule.budget - used > 1 and K > 1:
                other = choose(fewer, b, c)
                pull_each(bandit, other, eight)
                used += 1
                _follow(other, gather(rows.bonus, places(other)), K, D, eight, rows)
        pull_each(bandit, chosen, eight)
        used += 1
        if rule.variant == ADAPTIVE:
            _set_bonuses(_explorations(rule, K, D, eight), K, eight, rows)
            _search_all(K, D, eight, rows)
        else:
            place = places(chosen)
            bonus = _bonus(exploration, gather(eight.pulls, place))
            scatter(rows.bonus, place, bonus)
            _follow(chosen, bonus, K, D, eight, rows)
    return steps


@inlined
def _bonus(exploration, count):
    return spread(0.4) * square_root(exploration / count)  # beta_i = (2/5) sqrt(a / T_i)


@inner
def _explorations(rule, K, D, eight):
    """The exploration of each run, by its H, which is added up in the order of the arms."""
    gaps_of_each(D, K, eight)
    hardness = spread(0.0)
    for i in range(K):
        gap = load(eight.gap, i * WIDTH)
        gap = gap + spread(SMALLEST_GAP) if rule.variant == PUBLISHED else larger(gap, spread(SMALLEST_GAP))
        hardness = hardness + spread(1.0) / (gap * gap)  # H = sum of 1 / gap_i^2
    exploration = spread(rule.scale * (25 / 36) * (rule.budget - K)) / hardness  # a = c 25/36 (T - K) / H
    exploration = smaller(exploration, spread(LARGEST_FLOAT))
    return choose(hardness > spread(0.0), exploration, spread(0.0))


@inner
def _set_bonuses(exploration, K, eight, rows):
    for i in range(K):
        store(rows.bonus, i * WIDTH, _bonus(exploration, load(eight.pulls, i * WIDTH)))


@inner
def _search_all(K, D, eight, rows):
    """Finds the bounds of all rows anew."""
    infinity = spread(np.inf)
    for i in range(K):
        own, upper, lower, column = load(rows.bonus, i * WIDTH), infinity, infinity, spread(uint64(i))
        for j in range(K):
            if j != i:
                above, bonus = excess_of(eight.means, D, i, j), load(rows.bonus, j * WIDTH)
                entry = above + own + bonus
                closer = entry < upper
                upper, column = choose(closer, entry, upper), choose(closer, spread(uint64(j)), column)
                lower = smaller(above - own - bonus, lower)
        store(rows.upper, i * WIDTH, upper)
        store(rows.lower, i * WIDTH, lower)
        store(rows.column, i * WIDTH, column)


@inlined
def _fetch(arm, D, eight):
    """Puts the means of one arm of each run into ``eight.point``."""
    for d in range(D):
        place = (arm * spread(uint64(D)) + spread(uint64(d))) * spread(uint64(WIDTH))
        store(eight.point, d * WIDTH, gather(eight.means, place + places(spread(uint64(0)))))


@inlined
def _over(D, j, eight):
    """M(i, j) for the arm i in ``eight.point``."""
    if D == 2:
        first = load(eight.point, 0) - load(eight.means, 2 * j * WIDTH)
        return larger(load(eight.point, WIDTH) - load(eight.means, (2 * j + 1) * WIDTH), first)
    most = load(eight.point, 0) - load(eight.means, j * D * WIDTH)
    for d in range(1, D):
        most = larger(load(eight.point, d * WIDTH) - load(eight.means, (j * D + d) * WIDTH), most)
    return most


@inlined
def _over_and_under(D, j, eight):
    """M(i, j) and M(j, i) for the arm i in ``eight.point``: the differences are the same but for their sign."""
    first = load(eight.point, 0) - load(eight.means, j * D * WIDTH)
    if D == 2:
        second = load(eight.point, WIDTH) - load(eight.means, (2 * j + 1) * WIDTH)
        return larger(first, second), spread(0.0) - smaller(first, second)
    most, least = first, first
    for d in range(1, D):
        difference = load(eight.point, d * WIDTH) - load(eight.means, (j * D + d) * WIDTH)
        most, least = larger(difference, most), smaller(difference, least)
    return most, spread(0.0) - least


@inlined
def _follow(arm, bonus, K, D, eight, rows):
    """Brings the bounds up to date after the arm in ``eight.point`` was pulled: its column and, searched anew, its own row."""
    infinity, place = spread(np.inf), places(arm)
    mine, mine_lower, mine_column = infinity, infinity, arm
    for i in range(K):
        at, number = i * WIDTH, spread(uint64(i))
        itself = arm == number
        own, column, upper = load(rows.bonus, at), load(rows.column, at), load(rows.upper, at)
        under, above = _over_and_under(D, i, eight)
        entry = above + own + bonus
        takes = (entry < upper) | (column == arm)
        store(rows.upper, at, choose(takes, entry, upper))
        store(rows.column, at, choose(takes, arm, column))
        store(rows.lower, at, smaller(above - own - bonus, load(rows.lower, at)))
        under = choose(itself, infinity, under)
        entry = under + bonus + own
        closer = entry < mine
        mine, mine_column = choose(closer, entry, mine), choose(closer, number, mine_column)
        mine_lower = smaller(under - bonus - own, mine_lower)
    scatter(rows.upper, place, mine)
    scatter(rows.column, place, mine_column)
    scatter(rows.lower, place, mine_lower)


@inlined
def _candidates(K, D, eight, rows):
    """The arms b and c of this step in each run; among equals the smallest number."""
    least = spread(-np.inf)
    while True:
        top, b = least, spread(uint64(0))
        for i in range(K):
            upper = choose(load(rows.lower, i * WIDTH) > spread(0.0), least, load(rows.upper, i * WIDTH))
            better = upper > top
            top, b = choose(better, upper, top), choose(better, spread(uint64(i)), b)
        settled, bottom = top == least, spread(np.inf)
        if bits(settled) != 0:  # every arm is optimal for sure: the one with the smallest margin
            weakest = spread(uint64(0))
            for i in range(K):
                lower = load(rows.lower, i * WIDTH)
                weaker = lower < bottom
                bottom, weakest = choose(weaker, lower, bottom), choose(weaker, spread(uint64(i)), weakest)
            b = choose(settled, weakest, b)
        upper, lower, column, c = _search(b, K, D, eight, rows)
        exact = (settled & (lower == bottom)) | ((upper == top) & ~(lower > spread(0.0)))
        if bits(~exact) == 0:
            return b, c
        place = places(b)
        scatter(rows.upper, place, upper)
        scatter(rows.lower, place, lower)
        scatter(rows.column, place, column)


@inlined
def _search(b, K, D, eight, rows):
    """Searches row b of each run; returns its smallest entries, the column of the upper one, and the arm c that goes with it."""
    infinity = spread(np.inf)
    _fetch(b, D, eight)
    own = gather(rows.bonus, places(b))
    upper, lower, column = infinity, infinity, b
    nearest, c = infinity, b
    for j in range(K):
        number, bonus = spread(uint64(j)), load(rows.bonus, j * WIDTH)
        above = choose(b == number, infinity, _over(D, j, eight))
        entry = above + own + bonus
        closer = entry < upper
        upper, column = choose(closer, entry, upper), choose(closer, number, column)
        lower = smaller(above - own - bonus, lower)
        entry = above - bonus
        closer = entry < nearest
        nearest, c = choose(closer, entry, nearest), choose(closer, number, c)
    return upper, lower, column, c
