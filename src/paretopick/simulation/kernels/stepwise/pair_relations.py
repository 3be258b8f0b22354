"""Looking at pairs: whether arms of the front dominate others, and what pulls of both take away of the variance between them.

A pull changes the pairs of one arm. If it is one of the front, these are many, and most are of no interest: whether j dominates i
is only looked at if j is the most likely of the front to do so, or could be (see ``likely_dominators``), or if i is thought to be
optimal.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.stepwise.likely_dominators import find_best, forget_bar, look_for_better
from paretopick.simulation.kernels.stepwise.normal_functions import sign_of
from paretopick.simulation.kernels.stepwise.pair_memory import FAR_SQUARED, FRONT, NONE, note, real_arms
from paretopick.simulation.kernels.vector_memory import gather_listed, load, scatter_listed, store
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, first_lanes, lowest_bit, spread


@inlined
def look_at_column(K, D, j, pairs):
    """Whether arm j dominates the others."""
    n = pairs.stride
    for v in range(0, n, WIDTH):
        sums = no_objectives()
        for d in range(0, D * n, n):
            sums = with_objective(
                sums,
                spread(pairs.means[d + j]) - load(pairs.means, d + v),
                load(pairs.variances, d + v),
                spread(pairs.variances[d + j]),
                load(pairs.falls, d + v),
                spread(pairs.falls[d + j]),
            )
        dominates, not_so, weights, share, other = sums
        at = j * n + v
        store(pairs.odds, at, dominates / not_so)
        store(pairs.shares, at, share / weights)
        store(pairs.others, at, other / weights)
    pairs.stale[j * n : j * n + n] = True
    for i in range(K):
        if pairs.valued[i] == j:
            pairs.valued[i] = -1
    _not_itself(j, pairs)


@inner
def look_at_row(D, i, pairs):
    """Whether those of the front dominate arm i."""
    size = _list_front(i, pairs)
    _look_at_listed(D, i, size, size, pairs)
    _found_anew(i, size, pairs)


@inlined
def look_at_own(K, D, arm, joined, pairs):
    """Whether those of the front dominate an arm, and, if it is one of them, whether it dominates others, where that matters."""
    size = n_rows = _list_front(arm, pairs)
    if pairs.dominators[arm] == 0.0 and not joined:
        size = _list_interesting(K, D, arm, size, pairs)
    _look_at_listed(D, arm, n_rows, size, pairs)
    for k in range(n_rows, size):
        look_for_better(np.int64(pairs.listed[k]), arm, pairs)
    _found_anew(arm, n_rows, pairs)


@inlined
def _list_front(i, pairs):
    """Lists those of the front that could dominate arm i; how many."""
    size = 0
    for f in range(pairs.sizes[FRONT]):
        j = pairs.front[f]
        pairs.listed[size], pairs.at[size] = j, j * pairs.stride + i
        size += j != i
    return size


@inlined
def _found_anew(arm, n_rows, pairs):
    """All of the front has been looked at for an arm."""
    for k in range(n_rows):
        pairs.stale[pairs.at[k]] = True
    pairs.valued[arm] = -1
    forget_bar(arm, pairs)
    find_best(arm, pairs)
    note(arm, pairs)


@inlined
def _look_at_listed(D, arm, n_rows, size, pairs):
    """Looks at listed pairs of an arm: the first ones ask whether the others dominate it, the rest whether it dominates them."""
    n, listed, at, zero = pairs.stride, pairs.listed, pairs.at, spread(0.0)
    for k in range(size, size + WIDTH):
        listed[k], at[k] = listed[size - 1], at[size - 1]
    n_first = n_rows if n_rows < size else size + WIDTH
    for start in range(0, size, WIDTH):
        is_first = first_lanes(n_first - start)
        sums = no_objectives()
        for d in range(0, D * n, n):
            difference = spread(pairs.means[d + arm]) - gather_listed(pairs.means, listed, start, d)
            sums = with_objective(
                sums,
                choose(is_first, zero - difference, difference),
                spread(pairs.variances[d + arm]),
                gather_listed(pairs.variances, listed, start, d),
                spread(pairs.falls[d + arm]),
                gather_listed(pairs.falls, listed, start, d),
            )
        dominates, not_so, weights, mine, theirs = sums
        scatter_listed(pairs.odds, at, start, dominates / not_so)
        scatter_listed(pairs.shares, at, start, choose(is_first, mine, theirs) / weights)
        scatter_listed(pairs.others, at, start, choose(is_first, theirs, mine) / weights)


@inlined
def _list_interesting(K, D, j, size, pairs):
    """Lists the arms for which it matters whether arm j dominates them."""
    n, listed = pairs.stride, pairs.listed
    zero, itself, far = spread(0.0), spread(uint64(j)), spread(pairs.numbers[FAR_SQUARED])
    for v in range(0, n, WIDTH):
        test = load(pairs.test, v)
        above, beyond = zero <= zero, zero <= zero
        for d in range(0, D * n, n):
            difference = spread(pairs.means[d + j]) - load(pairs.means, d + v)
            variance = load(pairs.variances, d + v) + spread(pairs.variances[d + j])
            square = difference * choose(difference < zero, zero - difference, difference)
            above = above & (square >= test * variance)
            beyond = beyond & (square >= far * variance)
        sure, most_likely = load(pairs.sure, v) > zero, load(pairs.place, v) == itself
        known = load(pairs.dominated, v) == zero
        above = above | (test == spread(NONE))
        wanted = known | (most_likely & ~(sure & beyond)) | (above & ~most_likely & ~sure)
        at = j * n + v
        store(pairs.odds, at, choose(wanted | most_likely, load(pairs.odds, at), zero))
        which = bits(wanted) & real_arms(K, v)
        if v <= j < v + WIDTH:
            which &= ~(1 << (j - v))
        while which != 0:
            i = v + lowest_bit(which)
            listed[size], pairs.at[size] = i, j * n + i
            which &= which - 1
            size += 1
    return size


@inlined
def no_objectives():
    """The sums of a pair to begin with."""
    return spread(1.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0)


@inlined
def with_objective(sums, difference, first, second, first_fall, second_fall):
    """The sums of a pair with one more objective.

    They are the chance that one dominates the other, the chance that it does not, the weights of all objectives, and, weighted
    with these, what a pull of either takes away.
    """
    dominates, not_so, weights, share, other = sums
    likely, unlikely, weight, precision = sign_of(difference, first + second)
    weighted = weight * precision
    not_so = not_so + dominates * unlikely
    dominates = dominates * likely
    return dominates, not_so, weights + weight, share + weighted * first_fall, other + weighted * second_fall


@inlined
def _not_itself(j, pairs):
    """An arm does not dominate itself."""
    at = j * pairs.stride + j
    pairs.odds[at] = pairs.shares[at] = pairs.others[at] = 0.0
