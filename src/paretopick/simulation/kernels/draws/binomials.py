"""Sums of Bernoulli pulls: Binomial numbers from one random word each.

Where the same sums are needed in every run, from tables by the alias method (Walker 1977, Vose 1991): a cell holds its own
outcome, another one, and with which chance it is its own. Where the tables would be too large, by inversion.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, inner, kernel
from paretopick.simulation.kernels.vectors import split_word

MOST_CELLS = 1 << 23
"""Above that many cells (64 MB) there are no tables."""

MOST_PULLS = 1 << 32
"""No round may pull an arm more often: tables would be wider than ``ALIAS_BITS`` can count, and gammas too coarse."""

ALIAS_BITS = 20
"""The lowest bits of a cell are the other outcome, counted from the smallest; the others its own chance."""

NEGLIGIBLE = 1e-18
"""Outcomes in the tails that are less likely than that are left out; the chance in a cell is a multiple of 2^-44 anyway."""


class Tables(NamedTuple):
    """The table of column c, arm a and objective d is number ``t = (c * n_arms + a) * n_objectives + d``.

    Its cells are those from ``first[t]`` to ``first[t + 1] - 1``, and the outcome of the first cell is ``low[t]``. Without tables
    ``first`` is empty.
    """

    first: NDArray[np.int64]
    low: NDArray[np.int64]
    cells: NDArray[np.uint64]


def make_tables(pulls: NDArray[np.int64], chances: NDArray[np.float64]) -> Tables:
    """Returns tables with one column for each number of pulls, for flat chances of success; without any if they get too large."""
    n_tables = len(pulls) * len(chances)
    roughly = np.minimum(pulls[:, None] + 1.0, np.sqrt(pulls[:, None] * chances * (1.0 - chances)) + 2.0).sum()
    if roughly > MOST_CELLS:
        return no_tables()
    first, low = np.zeros(n_tables + 1, np.int64), np.zeros(n_tables, np.int64)
    widest = place_tables(pulls, chances, first, low)
    if first[-1] > MOST_CELLS:
        return no_tables()
    cells = np.empty(first[-1], np.uint64)
    fill_tables(pulls, chances, first, low, cells, np.empty((3, widest)))
    return Tables(first, low, cells)


def no_tables() -> Tables:
    """What other noise gets."""
    return Tables(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint64))


@kernel
def place_tables(pulls, chances, first, low, sources=SOURCES):
    """Fills ``first`` and ``low``, and returns the largest number of cells in a table."""
    widest = 1
    for c in range(pulls.size):
        for a in range(chances.size):
            table = c * chances.size + a
            lowest, highest = _support(pulls[c], chances[a])
            low[table] = lowest
            first[table + 1] = first[table] + highest - lowest + 1
            widest = max(widest, highest - lowest + 1)
    return widest


@kernel
def fill_tables(pulls, chances, first, low, cells, work, sources=SOURCES):
    """Fills ``cells``; ``work`` is three rows as wide as the widest table."""
    for c in range(pulls.size):
        for a in range(chances.size):
            table = c * chances.size + a
            size = first[table + 1] - first[table]
            _probabilities(pulls[c], chances[a], low[table], size, work[0])
            _aliases(size, work[0], work[1], work[2], cells, first[table])


@inner
def _support(n, p):
    """The first and the last outcome of Binomial(n, p) that is not negligible."""
    if p <= 0.0 or p >= 1.0 or n == 0:
        only = n if p >= 1.0 else 0
        return only, only
    mode, top = mode_chance(n, p)
    odds = p / (1.0 - p)
    low, value = mode, top
    while low > 0 and value > NEGLIGIBLE:
        value *= low / ((n - low + 1) * odds)  # P(k - 1) = P(k) k / ((n - k + 1) odds)
        low -= 1
    high, value = mode, top
    while high < n and value > NEGLIGIBLE:
        high += 1
        value *= (n - high + 1) / high * odds  # P(k) = P(k - 1) (n - k + 1) / k odds
    return low, high


@inner
def _probabilities(n, p, low, size, chance):
    """Writes the probabilities of Binomial(n, p) from ``low`` on, scaled to the mean 1."""
    if size == 1:
        chance[0] = 1.0
        return
    mode, top = mode_chance(n, p)
    odds = p / (1.0 - p)
    chance[mode - low] = top
    for k in range(mode, low, -1):
        chance[k - 1 - low] = chance[k - low] * (k / ((n - k + 1) * odds))
    for k in range(mode + 1, low + size):
        chance[k - low] = chance[k - 1 - low] * ((n - k + 1) / k * odds)
    total = 0.0
    for i in range(size):
        total += chance[i]
    for i in range(size):
        chance[i] *= size / total


@inner
def _aliases(size, chance, small, large, cells, start):
    """Writes cells for probabilities of mean 1: what an outcome has over is given to cells whose own outcome has too little."""
    n_small, n_large = 0, 0
    for i in range(size):
        if chance[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        little, much = int(small[n_small]), int(large[n_large - 1])
        cells[start + little] = _cell(chance[little], much)
        chance[much] -= 1.0 - chance[little]
        if chance[much] < 1.0:
            n_large -= 1
            small[n_small] = much
            n_small += 1
    # What is left on either side has chance 1, up to rounding.
    for k in range(n_large):
        i = int(large[k])
        cells[start + i] = _cell(1.0, i)
    for k in range(n_small):
        i = int(small[k])
        cells[start + i] = _cell(1.0, i)


@inlined
def _cell(chance, other):
    steps = 2.0 ** (64 - ALIAS_BITS)
    return (uint64(min(chance * steps, steps - 1.0)) << uint64(ALIAS_BITS)) | uint64(other)


@inlined
def look_up(tables, table, word):
    """The number of successes that a random word stands for; ``table`` is unsigned, which spares every access a test."""
    first = uint64(tables.first[table])
    own, fraction = split_word(word, uint64(tables.first[table + uint64(1)]) - first)
    cell = tables.cells[first + own]
    other = cell & uint64((1 << ALIAS_BITS) - 1)
    offset = own if (fraction >> uint64(ALIAS_BITS)) <= (cell >> uint64(ALIAS_BITS)) else other
    return tables.low[table] + np.int64(offset)


@inner
def mode_chance(n, p):
    """The mode of Binomial(n, p) for 0 < p < 1, and its probability."""
    mode = min(int((n + 1) * p), n)
    logarithm = math.lgamma(n + 1.0) - math.lgamma(mode + 1.0) - math.lgamma(n - mode + 1.0)  # log of n over mode
    return mode, math.exp(logarithm + mode * math.log(p) + (n - mode) * math.log1p(-p))


@inner
def invert(n, p, word):
    """A Binomial(n, p) number: inversion, with the outcomes in the order of their distance from the mode."""
    if p <= 0.0 or p >= 1.0:
        return n if p >= 1.0 else 0
    left = (float(word >> uint64(11)) + 0.5) * 2.0**-53
    mode, chance = mode_chance(n, p)
    odds = p / (1.0 - p)
    up = down = mode
    above = below = chance
    left -= chance
    while left > 0.0 and above + below > NEGLIGIBLE:
        if up < n:
            up += 1
            above *= (n - up + 1) / up * odds
            left -= above
            if left <= 0.0:
                return up
        else:
            above = 0.0
        if down > 0:
            below *= down / ((n - down + 1) * odds)
            down -= 1
            left -= below
            if left <= 0.0:
                return down
        else:
            below = 0.0
    return mode
