"""Which arms are thought to be dominated, and what it is worth to look at their pairs."""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.stepwise.likely_dominators import set_bar
from paretopick.simulation.kernels.stepwise.normal_functions import clipped, deviation_of, value_of
from paretopick.simulation.kernels.stepwise.pair_memory import CHANGED, FRONT, NONE, ROWS, F, ask_for_row, real_arms
from paretopick.simulation.kernels.stepwise.pair_relations import look_at_row
from paretopick.simulation.kernels.vector_memory import gather_listed, load, scatter_listed, store
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, first_lanes, lowest_bit, spread


@inlined
def settle(K, D, pairs):
    """Finds the status of the arms that were noted, and what it is worth to look at their pairs.

    Where it turns out that all of the front has to be looked at, that is done, and once more.
    """
    sizes, listed, numbers, n = pairs.sizes, pairs.listed, pairs.numbers, pairs.stride
    while sizes[ROWS] > 0 or sizes[CHANGED] > 0:
        for r in range(sizes[ROWS]):
            look_at_row(D, pairs.rows[r], pairs)
        sizes[ROWS] = 0
        n_below = _list_dominated(pairs)
        size = _list_optimal(K, n_below, pairs)
        for k in range(size, size + WIDTH):
            listed[k] = listed[size - 1]
        n_first = n_below if n_below < size else size + WIDTH
        for start in range(0, size, WIDTH):
            share, other = gather_listed(pairs.shares, listed, start, 0), gather_listed(pairs.others, listed, start, 0)
            odds = gather_listed(pairs.odds, listed, start, 0) * spread(numbers[F])
            odds = clipped(choose(first_lanes(n_first - start), odds, spread(1.0) / odds))
            z = deviation_of(odds)
            value = value_of(odds, z, share, other)
            store(pairs.found, start, z)
            scatter_listed(pairs.values, listed, start, value * share)
            scatter_listed(pairs.other_values, listed, start, value * other)
        for k in range(n_below):
            at = listed[k]
            i = at % uint64(n)
            pairs.own_value[i], pairs.its_value[i] = pairs.values[at], pairs.other_values[at]
            pairs.dirty[pairs.place[i]] = True
            set_bar(i, pairs.found[k], pairs)


@inlined
def _list_dominated(pairs):
    """Lists the arms that were noted, are dominated and have other values now, with their dominators."""
    size, factor = 0, pairs.numbers[F]
    for c in range(pairs.sizes[CHANGED]):
        i = pairs.changed[c]
        pairs.noted[i] = False
        if pairs.dominators[i] > 0.0 and pairs.best[i] * factor > 1.0:
            pairs.dominated[i] = 1.0
            if pairs.valued[i] != np.int64(pairs.place[i]):
                pairs.valued[i] = np.int64(pairs.place[i])
                pairs.listed[size] = pairs.place[i] * uint64(pairs.stride) + uint64(i)
                size += 1
        elif pairs.bar[i] > NONE or pairs.sure[i] != 0.0:  # some of the front have not been looked at
            ask_for_row(i, pairs)
        elif pairs.dominated[i] != 0.0:
            pairs.dominated[i] = pairs.own_value[i] = pairs.its_value[i] = 0.0
            pairs.dirty[pairs.place[i]] = True
            pairs.valued[i] = -1
    pairs.sizes[CHANGED] = 0
    return size


@inlined
def _list_optimal(K, size, pairs):
    """Lists the pairs whose first is optimal and which have other values now."""
    n, zero = pairs.stride, spread(0.0)
    for v in range(0, n, WIDTH):
        optimal = bits(load(pairs.dominated, v) == zero) & real_arms(K, v)
        while optimal != 0:
            i = v + lowest_bit(optimal)
            optimal &= optimal - 1
            for f in range(pairs.sizes[FRONT]):
                at = uint64(pairs.front[f] * n + i)
                pairs.listed[size] = at
                size += pairs.stale[at]
                pairs.stale[at] = False
    return size
