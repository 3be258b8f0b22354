"""The relations between pairs of arms that doubt goes by, in one run, kept while one arm after the other changes.

What is computed is what ``policies/pairs.py`` computes, number by number. A change of an arm is taken in three steps: what is
known of it (``pair_data``), its pairs (``pair_relations``), and what they are worth (``pair_values``). The second notes the arms
whose pairs it looked at, and the third goes through these; where it finds that more has to be looked at, both are done again.
"""

from __future__ import annotations

import math

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.stepwise.likely_dominators import find_best, turn_to
from paretopick.simulation.kernels.stepwise.pair_data import (
    count_dominators,
    count_pulls,
    find_front,
    moderate,
    move,
    pool_variances,
    take,
)
from paretopick.simulation.kernels.stepwise.pair_memory import FAR_SQUARED, FRONT, NONE, ask_for_row, note
from paretopick.simulation.kernels.stepwise.pair_relations import look_at_column, look_at_own
from paretopick.simulation.kernels.stepwise.pair_values import settle


@inner
def begin_pairs(K, D, arms, squares, pairs):
    """Starts from data."""
    pairs.means[:] = 0.0
    pairs.counts[:] = 0.0
    pairs.roots[:] = 0.0
    pairs.ratios[:] = 0.0
    pairs.variances[:] = 1.0
    pairs.dominators[:] = 1.0
    pairs.dominated[:] = 0.0
    pairs.own_value[:] = 0.0
    pairs.its_value[:] = 0.0
    pairs.place[:] = uint64(0)
    pairs.dirty[:] = True
    pairs.lowest[:] = np.inf
    pairs.highest[:] = -np.inf
    pairs.sizes[FRONT] = 0
    pairs.numbers[:] = 0.0
    pairs.numbers[FAR_SQUARED] = _far_squared(D)
    for i in range(K):
        take(D, i, arms, squares, pairs)
    count_dominators(K, D, pairs)
    pool_variances(D, pairs)
    _look_at_all(K, D, True, arms, squares, pairs)
    settle(K, D, pairs)


@inlined
def _far_squared(D):
    """The square of deviations u that are as good as certain if all D objectives have them: ``D Phi(-u) < 1 / SURE``."""
    return 64.0 + 2.0 * math.log(2.0 * D)


@inner
def _look_at_all(K, D, moved, arms, squares, pairs):
    """Looks at all pairs, with new variances."""
    for i in range(K):
        moderate(D, i, arms, squares, pairs)
    if moved:
        find_front(K, D, pairs)
    for f in range(pairs.sizes[FRONT]):
        look_at_column(K, D, pairs.front[f], pairs)
    pairs.bar[:] = NONE
    pairs.test[:] = NONE
    pairs.sure[:] = 0.0
    pairs.dirty[:] = True
    pairs.valued[:] = -1
    for i in range(K):
        find_best(i, pairs)
        note(i, pairs)


@inlined
def change_arm(K, D, arm, told, arms, squares, pairs):
    """Takes new data of an arm; or, if nothing has been told, pulls of which nothing is known yet."""
    moved = anew = False
    if told:
        moved = move(K, D, arm, arms, squares, pairs)
        anew = pool_variances(D, pairs)
        moderate(D, arm, arms, squares, pairs)
    else:
        count_pulls(D, arm, arms, pairs)
    if anew:
        _look_at_all(K, D, moved, arms, squares, pairs)
    else:
        _look_again(K, D, arm, moved, pairs)
    settle(K, D, pairs)


@inlined
def _look_again(K, D, arm, moved, pairs):
    """Brings the pairs of an arm up to date, and those of arms that have joined the front."""
    joined = other_factor = False
    if moved:
        n_before = pairs.sizes[FRONT]
        for f in range(n_before):
            pairs.before[f] = pairs.front[f]
        other_factor = find_front(K, D, pairs)
        joined = _look_at_changes(K, D, n_before, arm, pairs)
    look_at_own(K, D, arm, joined, pairs)
    if other_factor:
        _value_anew(K, pairs)


@inner
def _look_at_changes(K, D, n_before, arm, pairs):
    """Looks at all pairs of arms that have joined the front, and at who was below those that left; whether ``arm`` joined."""
    n, g, found = pairs.stride, 0, False
    for f in range(pairs.sizes[FRONT]):
        j = pairs.front[f]
        while g < n_before and pairs.before[g] < j:
            g += 1
        if g < n_before and pairs.before[g] == j:
            continue
        look_at_column(K, D, j, pairs)
        pairs.dirty[j] = True
        found = found or j == arm
        note(j, pairs)
        for i in range(K):
            odds = pairs.odds[j * n + i]
            if odds > pairs.best[i] or (odds == pairs.best[i] and j < np.int64(pairs.place[i])):
                turn_to(i, j, odds, pairs)
                note(i, pairs)
    left = False
    for f in range(n_before):
        if pairs.dominators[pairs.before[f]] != 0.0:
            note(pairs.before[f], pairs)
            left = True
    if left:
        for i in range(K):
            if pairs.dominators[np.int64(pairs.place[i])] != 0.0:
                if pairs.sure[i] != 0.0:
                    ask_for_row(i, pairs)
                else:
                    find_best(i, pairs)
                    note(i, pairs)
    return found


@inner
def _value_anew(K, pairs):
    """Lets all values be found again."""
    n = pairs.stride
    pairs.valued[:] = -1
    for f in range(pairs.sizes[FRONT]):
        j = pairs.front[f]
        pairs.stale[j * n : j * n + n] = True
    for i in range(K):
        if pairs.sure[i] != 0.0:
            ask_for_row(i, pairs)
        else:
            note(i, pairs)
