"""Whether the same two arms b and c are the choice again, without a look at any other arm.

APE-FB chooses the same pair for hundreds of steps on end, and meanwhile nobody else moves. When a pair has been found, one pass
over the arms says how far b and c may move, and their bonuses change, before another arm could be chosen; as long as they have
not, the next step costs a few comparisons. When they have, nothing is decided: the bounds are brought up to date and searched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.fronts import excess, excess_both_ways
from paretopick.simulation.kernels.vector_memory import load
from paretopick.simulation.kernels.vectors import WIDTH, choose, lane_numbers, larger, largest, smaller, smallest, spread

DOUBT = 1e-9
"""What is decided by less than this part of the numbers compared is not decided here: far more than rounding can change."""

FAR = 1e300
"""Stands for infinity where there is no third arm."""


class Pair(NamedTuple):
    """The arms b and c, and what was known when they were found; their means were ``start``, first those of b.

    ``top``, ``upper_c`` and ``lower_c`` are the bounds of both rows, ``bonus_b`` and ``bonus_c`` the bonuses. Of the other arms
    j: ``upper`` is the smallest ``M(b, j) + beta_j`` and ``near`` the smallest ``M(b, j) - beta_j``. Every other row is at least
    ``rest`` below ``top``, or settled with that margin over b and over c. ``doubt`` is what rounding cannot have changed.
    """

    b: int
    c: int
    top: float
    upper_c: float
    lower_c: float
    bonus_b: float
    bonus_c: float
    upper: float
    near: float
    rest: float
    doubt: float


@inlined
def found_pair(b, c, n_objectives, arms, bounds, start):
    """Returns what is known about a pair that has just been found; its row b is searched."""
    infinity, numbers = spread(np.inf), lane_numbers()
    number_b, number_c = spread(uint64(b)), spread(uint64(c))
    bonus_b, bonus_c, top = spread(bounds.bonus[b]), spread(bounds.bonus[c]), spread(bounds.upper[b])
    upper, near, rest, most = infinity, infinity, infinity, spread(0.0)
    for i in range(0, arms.stride, WIDTH):
        others = ~((numbers == number_b) | (numbers == number_c))
        numbers = numbers + spread(uint64(WIDTH))
        own = load(bounds.bonus, i)
        most = larger(own, most)
        over_b, over = excess_both_ways(arms.means, arms.stride, n_objectives, i, b)  # M(i, b) and M(b, i)
        upper = smaller(choose(others, over + own, infinity), upper)
        near = smaller(choose(others, over - own, infinity), near)
        margin = smaller(over_b - bonus_b, excess(arms.means, arms.stride, n_objectives, i, c) - bonus_c) - own
        margin = choose(load(bounds.lower, i) > spread(0.0), margin, spread(-np.inf))
        rest = smaller(choose(others, larger(top - load(bounds.upper, i), margin), infinity), rest)
    for d in range(n_objectives):
        start[d], start[n_objectives + d] = arms.means[d * arms.stride + b], arms.means[d * arms.stride + c]
    doubt = DOUBT * (abs(bounds.upper[b]) + largest(most))
    return Pair(
        b,
        c,
        bounds.upper[b],
        bounds.upper[c],
        bounds.lower[c],
        bounds.bonus[b],
        bounds.bonus[c],
        _a_little_less(smallest(upper), doubt),
        _a_little_less(smallest(near), doubt),
        _a_little_less(smallest(rest), doubt),
        doubt,
    )


@inlined
def _a_little_less(value, doubt):
    value = min(value, FAR)
    return value - DOUBT * abs(value) - doubt


@inlined
def chosen_again(pair, bonus_b, bonus_c, n_objectives, arms, start):
    """Whether b and c, which alone have moved and now have these bonuses, are certain to be the choice once more."""
    fall_b = rise_b = fall_c = rise_c = 0.0  # by how much the means of b and c are lower, and higher, at most
    over = -np.inf
    for d in range(n_objectives):
        mean_b, mean_c = arms.means[d * arms.stride + pair.b], arms.means[d * arms.stride + pair.c]
        by_b, by_c = mean_b - start[d], mean_c - start[n_objectives + d]
        fall_b, rise_b, fall_c, rise_c = max(fall_b, -by_b), max(rise_b, by_b), max(fall_c, -by_c), max(rise_c, by_c)
        over = max(over, mean_b - mean_c)  # M(b, c)
    more_b, more_c = max(bonus_b - pair.bonus_b, 0.0), max(bonus_c - pair.bonus_c, 0.0)
    more = max(more_b, more_c)
    # At most the smallest M(b, j) + beta_b + beta_j.
    top = min(over + bonus_b + bonus_c, pair.upper - fall_b + bonus_b)
    # At least the smallest M(c, j) + beta_c + beta_j, and at most the smallest M(c, j) - beta_c - beta_j.
    upper_c = pair.upper_c + (bonus_c - pair.bonus_c) + rise_c + fall_b + more_b
    lower_c = pair.lower_c - fall_c - rise_b - more_b - more_c
    return (
        over - bonus_b - bonus_c <= -pair.doubt  # b is not settled
        and over - bonus_c < pair.near - fall_b  # c = argmin M(b, j) - beta_j
        and pair.top - top + max(fall_b, fall_c) + more < pair.rest  # no other row is above that of b, ...
        and max(rise_b, rise_c) + more < pair.rest  # ... unless it is settled still
        and (upper_c < top - pair.doubt or lower_c > pair.doubt)  # nor is that of c
    )
