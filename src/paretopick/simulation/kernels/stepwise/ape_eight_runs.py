"""Runs of APE-FB and APE-FB-ADAPT with few arms, eight abreast; for what is computed, see ``ape``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.stepwise.ape import ADAPTIVE, FIXED, LARGEST_FLOAT, PUBLISHED, SMALLEST_GAP
from paretopick.simulation.kernels.stepwise.eight_runs import (
    Abreast,
    answer_of,
    begin_runs,
    excess_of,
    gaps_of_each,
    make_abreast,
    places,
    pull_each,
)
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    float_memory,
    gather,
    inlined,
    inner,
    kernel,
    larger,
    load,
    scatter,
    smaller,
    spread,
    square_root,
    store,
    word_memory,
)


class Rows(NamedTuple):
    """What is known about the rows of each run, as in ``ape.Bounds``: ``upper`` is an entry of the row, the one of ``column``."""

    bonus: NDArray[np.float64]
    column: NDArray[np.uint64]
    upper: NDArray[np.float64]
    lower: NDArray[np.float64]


class Memory(NamedTuple):
    """What the runs work in."""

    runs: Abreast
    rows: Rows


def make_memory(noise: BanditArrays) -> Memory:
    """Memory for eight runs."""
    n = noise.n_arms * WIDTH
    return Memory(make_abreast(noise), Rows(float_memory(n), word_memory(n), float_memory(n), float_memory(n)))


@kernel
def run_ape_abreast(noise, variant, scale, budget, seed, first, last, memory, outcome, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``, as ``ape.run_ape`` does."""
    runs, rows = memory.runs, memory.rows
    K, D = noise.n_arms, noise.n_objectives
    for eight in range(first, last, WIDTH):
        own = from_run(noise, eight - first)
        begin_runs(own, seed, eight, 1, runs)
        bonus = _bonus(spread(scale), spread(1.0)) if variant == FIXED else spread(0.0)
        for i in range(K):
            store(rows.bonus, i * WIDTH, bonus)
        if variant == ADAPTIVE:
            _set_bonuses(_explorations(variant, scale, budget - K, K, D, runs), K, runs, rows)
        _search_all(K, D, runs, rows)
        used, step = K, 0
        while used < budget:
            step += 1
            b, c = _candidates(K, D, runs, rows)
            fewer = gather(runs.pulls, places(c)) < gather(runs.pulls, places(b))
            chosen = choose(fewer, c, b)
            exploration = spread(scale)
            if variant == PUBLISHED:
                exploration = _explorations(variant, scale, budget - K, K, D, runs)
                if budget - used > 1 and K > 1:
                    other = choose(fewer, b, c)
                    pull_each(own, other, runs)
                    used += 1
                    _follow(other, gather(rows.bonus, places(other)), K, D, runs, rows)
            pull_each(own, chosen, runs)
            used += 1
            if variant == ADAPTIVE:
                _set_bonuses(_explorations(variant, scale, budget - K, K, D, runs), K, runs, rows)
                _search_all(K, D, runs, rows)
            else:
                place = places(chosen)
                bonus = _bonus(exploration, gather(runs.pulls, place))
                scatter(rows.bonus, place, bonus)
                _follow(chosen, bonus, K, D, runs, rows)
        for run in range(eight, min(eight + WIDTH, last)):
            answer_of(D, K, run - eight, runs, outcome.answers[run - first])
            outcome.pulls[run - first] = used
            outcome.rounds[run - first] = step + 1


@inlined
def _bonus(exploration, count):
    return spread(0.4) * square_root(exploration / count)


@inner
def _explorations(variant, c, steps, K, D, runs):
    """The exploration of each run, by its H, which is added up in the order of the arms."""
    gaps_of_each(D, K, runs)
    hardness = spread(0.0)
    for i in range(K):
        gap = load(runs.gap, i * WIDTH)
        gap = gap + spread(SMALLEST_GAP) if variant == PUBLISHED else larger(gap, spread(SMALLEST_GAP))
        hardness = hardness + spread(1.0) / (gap * gap)
    exploration = smaller(spread(c * (25 / 36) * steps) / hardness, spread(LARGEST_FLOAT))
    return choose(hardness > spread(0.0), exploration, spread(0.0))


@inner
def _set_bonuses(exploration, K, runs, rows):
    for i in range(K):
        store(rows.bonus, i * WIDTH, _bonus(exploration, load(runs.pulls, i * WIDTH)))


@inner
def _search_all(K, D, runs, rows):
    """Finds the bounds of all rows anew."""
    infinity = spread(np.inf)
    for i in range(K):
        own, upper, lower, column = load(rows.bonus, i * WIDTH), infinity, infinity, spread(uint64(i))
        for j in range(K):
            if j != i:
                above, bonus = excess_of(runs.means, D, i, j), load(rows.bonus, j * WIDTH)
                entry = above + own + bonus
                closer = entry < upper
                upper, column = choose(closer, entry, upper), choose(closer, spread(uint64(j)), column)
                lower = smaller(above - own - bonus, lower)
        store(rows.upper, i * WIDTH, upper)
        store(rows.lower, i * WIDTH, lower)
        store(rows.column, i * WIDTH, column)


@inlined
def _fetch(arm, D, runs):
    """Puts the means of one arm of each run into ``runs.point``."""
    for d in range(D):
        place = (arm * spread(uint64(D)) + spread(uint64(d))) * spread(uint64(WIDTH))
        store(runs.point, d * WIDTH, gather(runs.means, place + places(spread(uint64(0)))))


@inlined
def _over(D, j, runs):
    """M(i, j) for the arm i in ``runs.point``."""
    if D == 2:
        first = load(runs.point, 0) - load(runs.means, 2 * j * WIDTH)
        return larger(load(runs.point, WIDTH) - load(runs.means, (2 * j + 1) * WIDTH), first)
    most = load(runs.point, 0) - load(runs.means, j * D * WIDTH)
    for d in range(1, D):
        most = larger(load(runs.point, d * WIDTH) - load(runs.means, (j * D + d) * WIDTH), most)
    return most


@inlined
def _over_and_under(D, j, runs):
    """M(i, j) and M(j, i) for the arm i in ``runs.point``: the differences are the same but for their sign."""
    first = load(runs.point, 0) - load(runs.means, j * D * WIDTH)
    if D == 2:
        second = load(runs.point, WIDTH) - load(runs.means, (2 * j + 1) * WIDTH)
        return larger(first, second), spread(0.0) - smaller(first, second)
    most, least = first, first
    for d in range(1, D):
        difference = load(runs.point, d * WIDTH) - load(runs.means, (j * D + d) * WIDTH)
        most, least = larger(difference, most), smaller(difference, least)
    return most, spread(0.0) - least


@inlined
def _follow(arm, bonus, K, D, runs, rows):
    """Brings the bounds up to date after the arm in ``runs.point`` was pulled: its column, and its own row, which is searched."""
    infinity, place = spread(np.inf), places(arm)
    mine, mine_lower, mine_column = infinity, infinity, arm
    for i in range(K):
        at, number = i * WIDTH, spread(uint64(i))
        itself = arm == number
        own, column, upper = load(rows.bonus, at), load(rows.column, at), load(rows.upper, at)
        under, above = _over_and_under(D, i, runs)
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
def _candidates(K, D, runs, rows):
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
        upper, lower, column, c = _search(b, K, D, runs, rows)
        exact = (settled & (lower == bottom)) | ((upper == top) & ~(lower > spread(0.0)))
        if bits(~exact) == 0:
            return b, c
        place = places(b)
        scatter(rows.upper, place, upper)
        scatter(rows.lower, place, lower)
        scatter(rows.column, place, column)


@inlined
def _search(b, K, D, runs, rows):
    """Searches row b of each run; returns its smallest entries, the column of the upper one, and the arm c that goes with it."""
    infinity = spread(np.inf)
    _fetch(b, D, runs)
    own = gather(rows.bonus, places(b))
    upper, lower, column = infinity, infinity, b
    nearest, c = infinity, b
    for j in range(K):
        number, bonus = spread(uint64(j)), load(rows.bonus, j * WIDTH)
        above = choose(b == number, infinity, _over(D, j, runs))
        entry = above + own + bonus
        closer = entry < upper
        upper, column = choose(closer, entry, upper), choose(closer, number, column)
        lower = smaller(above - own - bonus, lower)
        entry = above - bonus
        closer = entry < nearest
        nearest, c = choose(closer, entry, nearest), choose(closer, number, c)
    return upper, lower, column, c
