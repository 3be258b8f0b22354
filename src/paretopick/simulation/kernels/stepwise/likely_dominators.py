"""Who most likely dominates each arm, and the bar that others have to be above to be looked at.

Another of the front could be the most likely if it is above the arm by at least ``bar`` deviations in every objective: who is
most likely is kept above that bar, and if it falls below, all of the front is looked at again (``ask_for_row``). What is as good
as certain is worth nothing: nobody else is looked at until it is no longer.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick._normals import SURE
from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.stepwise.pair_memory import F_IN_DEVIATIONS, FRONT, NONE, F, ask_for_row, note

SLACK = 0.1
"""How far below the most likely dominator the bar is set."""


@inlined
def find_best(arm, pairs):
    """Finds the most likely dominator of an arm."""
    n, place = pairs.stride, pairs.front[0]
    best = pairs.odds[uint64(place * n + arm)]
    for f in range(1, pairs.sizes[FRONT]):
        j = pairs.front[f]
        odds = pairs.odds[uint64(j * n + arm)]
        if odds > best:
            best, place = odds, j
    if np.int64(pairs.place[arm]) != place:
        turn_to(arm, place, best, pairs)
    pairs.best[arm] = best


@inlined
def look_for_better(arm, j, pairs):
    """Whether j, one of the front, of which it was found anew how likely it dominates an arm, is the most likely to do so."""
    at = uint64(j * pairs.stride + arm)
    pairs.stale[at] = True
    odds = pairs.odds[at]
    if pairs.valued[arm] == j:
        pairs.valued[arm] = -1
    if np.int64(pairs.place[arm]) == j:
        if odds >= pairs.best[arm] or pairs.sure[arm] != 0.0:
            pairs.best[arm] = odds
        else:
            find_best(arm, pairs)
        note(arm, pairs)
    elif odds > pairs.best[arm] or (odds == pairs.best[arm] and j < np.int64(pairs.place[arm])):
        turn_to(arm, j, odds, pairs)
        note(arm, pairs)


@inlined
def turn_to(arm, j, odds, pairs):
    """Another one of the front is now the most likely to dominate an arm."""
    pairs.dirty[pairs.place[arm]] = True
    pairs.dirty[j] = True
    pairs.place[arm] = uint64(j)
    pairs.best[arm] = odds


@inlined
def set_bar(arm, z, pairs):
    """Sets the bar for an arm whose most likely dominator has this deviation; asks for a row if it has fallen below the bar.

    If that dominator is as good as certain, nobody else matters until it is no longer.
    """
    z -= pairs.numbers[F_IN_DEVIATIONS]
    sure = pairs.best[arm] * pairs.numbers[F] >= SURE
    if z < pairs.bar[arm] or (pairs.sure[arm] != 0.0 and not sure):
        ask_for_row(arm, pairs)
    elif sure:
        pairs.sure[arm] = 1.0
        pairs.bar[arm] = pairs.test[arm] = NONE
    elif z - SLACK > pairs.bar[arm]:
        pairs.bar[arm], pairs.test[arm] = z - SLACK, (z - SLACK) * abs(z - SLACK)


@inlined
def forget_bar(i, pairs):
    """All of the front has been looked at."""
    pairs.bar[i] = pairs.test[i] = NONE
    pairs.sure[i] = 0.0
