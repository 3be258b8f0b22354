"""The relations between arms that doubt goes by where there are margins or limits, in one run, kept while arms change.

What is computed is what ``policies/pairs_within.py`` computes, number by number. A change of an arm brings up to date what is
known of it, and its pairs with those of the front; ``judge`` does the rest, once before each choice: the front, the pairs of
those that have joined it or have changed themselves, and the statuses.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick._normals import SURE
from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.stepwise.normal_functions import sign_of
from paretopick.simulation.kernels.stepwise.pair_data import base_factor, count_pulls, moderate, on_grid, pool_variances, take
from paretopick.simulation.kernels.stepwise.pair_memory import real_arms
from paretopick.simulation.kernels.stepwise.pair_memory_within import COVER_F, COVERED, OUTDO_F, OUTDONE
from paretopick.simulation.kernels.stepwise.pair_relations import no_objectives, with_objective
from paretopick.simulation.kernels.vector_memory import gather_listed, load, scatter_listed, store
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, count_bits, larger, spread

# Data, and changes.


@inner
def begin_within(K, D, arms, squares, pairs):
    """Starts from data."""
    pairs.means[:] = 0.0
    pairs.counts[:] = 1.0
    pairs.roots[:] = 0.0
    pairs.ratios[:] = 0.0
    pairs.variances[:] = 1.0
    pairs.lowest[:] = np.inf
    pairs.highest[:] = -np.inf
    pairs.numbers[:] = 0.0
    pairs.in_front[:] = 1.0  # behind the last arm, so that nobody there is out
    for i in range(K):
        take(D, i, arms, squares, pairs)
    for i in range(K):
        above, _, covering, _ = _count_arm(K, i, pairs)
        pairs.numbers[OUTDONE] += above
        pairs.numbers[COVERED] += covering
    pool_variances(D, pairs)
    _moderate_all(K, D, arms, squares, pairs)


@inner
def _moderate_all(K, D, arms, squares, pairs):
    """Finds the noise of all arms; all pairs are then to be looked at again."""
    for i in range(K):
        moderate(D, i, arms, squares, pairs)
    pairs.looked[:] = False


@inner
def change_within(K, D, arm, told, arms, squares, pairs):
    """Takes new data of an arm; or, if nothing has been told, pulls of which nothing is known yet."""
    anew = False
    if told:
        _count_pairs(K, arm, -1.0, pairs)
        take(D, arm, arms, squares, pairs)
        _count_pairs(K, arm, 1.0, pairs)
        anew = pool_variances(D, pairs)
        moderate(D, arm, arms, squares, pairs)
    else:
        count_pulls(D, arm, arms, pairs)
    if anew:
        _moderate_all(K, D, arms, squares, pairs)
    else:
        pairs.looked[arm] = False
        _look_at_row(arm, pairs)


# Who is above whom at the means.


@inlined
def _count_pairs(K, arm, times, pairs):
    """Adds the pairs of an arm with all others to what is counted, or takes them away."""
    above, below, covering, covered = _count_arm(K, arm, pairs)
    pairs.numbers[OUTDONE] += times * (above + below)
    pairs.numbers[COVERED] += times * (covering + covered)


@inner
def _count_arm(K, arm, pairs):
    """How many arms outdo an arm, are outdone by it, and cover it or are covered by it without being the same."""
    n, above, below, covering, covered = pairs.stride, 0, 0, 0, 0
    zero = spread(0.0)
    for v in range(0, n, WIDTH):
        over, under, not_under, not_over = zero <= zero, zero <= zero, zero <= zero, zero <= zero
        somewhere_over, somewhere_under, differs = zero < zero, zero < zero, zero < zero
        for d in pairs.compared:
            ahead, margin = load(pairs.means, d * n + v) - spread(pairs.means[d * n + arm]), spread(pairs.margins[d])
            over, under = over & (ahead >= margin), under & (ahead <= -margin)
            not_under, not_over = not_under & (ahead >= -margin), not_over & (ahead <= margin)
            somewhere_over, somewhere_under = somewhere_over | (ahead > margin), somewhere_under | (ahead < -margin)
            differs = differs | ~(ahead == zero)
        real = real_arms(K, v)
        above += count_bits(bits(over & somewhere_over) & real)
        below += count_bits(bits(under & somewhere_under) & real)
        covering += count_bits(bits(not_under & differs) & real)
        covered += count_bits(bits(not_over & differs) & real)
    return float(above), float(below), float(covering), float(covered)


@inner
def _find_front(K, pairs):
    """Lists the arms that keep all limits and that no other such arm dominates."""
    size = 0
    for i in range(K):
        able = 1.0
        for d in pairs.limited:
            if pairs.means[d * pairs.stride + i] < pairs.limits[d]:
                able = 0.0
        pairs.able[i] = able
    for i in range(K):
        optimal = pairs.able[i] > 0.0 and not _is_dominated(i, pairs)
        pairs.in_front[i] = 1.0 if optimal else 0.0
        if optimal:
            pairs.front[size] = i
            size += 1
    pairs.size[0] = size


@inlined
def _is_dominated(arm, pairs):
    """Whether an arm that keeps all limits dominates this one."""
    n, zero = pairs.stride, spread(0.0)
    for v in range(0, n, WIDTH):
        more, less = load(pairs.able, v) > zero, zero <= zero
        for d in pairs.compared:
            there, point = load(pairs.means, d * n + v), spread(pairs.means[d * n + arm])
            more, less = more & (there >= point), less & (there <= point)
        if bits(more & ~less) != 0:
            return True
    return False


# Pairs.


@inlined
def _look_at_row(i, pairs):
    """Whether others outdo or cover arm i, those whose pairs are kept."""
    n, listed, at, size = pairs.stride, pairs.listed, pairs.at, 0
    for j in range(n):
        if pairs.looked[j]:
            listed[size], at[size] = j, j * n + i
            pairs.stale[j * n + i] = True
            size += 1
    for k in range(size, size + WIDTH):
        listed[k], at[k] = listed[size - 1], at[size - 1]
    for start in range(0, size, WIDTH):
        outdo, cover = no_objectives(), no_objectives()
        for d in pairs.compared:
            cell, margin = d * n, spread(pairs.margins[d])
            ahead = gather_listed(pairs.means, listed, start, cell) - spread(pairs.means[cell + i])
            mine, theirs = spread(pairs.variances[cell + i]), gather_listed(pairs.variances, listed, start, cell)
            fall, their_fall = spread(pairs.falls[cell + i]), gather_listed(pairs.falls, listed, start, cell)
            outdo = with_objective(outdo, ahead - margin, mine, theirs, fall, their_fall)
            cover = with_objective(cover, ahead + margin, mine, theirs, fall, their_fall)
        _scatter_relation(pairs.outdo, at, start, outdo)
        _scatter_relation(pairs.cover, at, start, cover)


@inlined
def _scatter_relation(relation, at, start, sums):
    positive, not_so, weights, share, other = sums
    scatter_listed(relation.odds, at, start, positive / not_so)
    scatter_listed(relation.shares, at, start, share / weights)
    scatter_listed(relation.others, at, start, other / weights)


@inner
def _look_at_column(j, pairs):
    """Whether arm j outdoes or covers the others."""
    n = pairs.stride
    for v in range(0, n, WIDTH):
        outdo, cover = no_objectives(), no_objectives()
        for d in pairs.compared:
            cell, margin = d * n, spread(pairs.margins[d])
            ahead = spread(pairs.means[cell + j]) - load(pairs.means, cell + v)
            mine, theirs = load(pairs.variances, cell + v), spread(pairs.variances[cell + j])
            fall, their_fall = load(pairs.falls, cell + v), spread(pairs.falls[cell + j])
            outdo = with_objective(outdo, ahead - margin, mine, theirs, fall, their_fall)
            cover = with_objective(cover, ahead + margin, mine, theirs, fall, their_fall)
        _store_relation(pairs.outdo, j * n + v, outdo)
        _store_relation(pairs.cover, j * n + v, cover)
    _not_itself(pairs.outdo, j * n + j)
    _not_itself(pairs.cover, j * n + j)
    pairs.stale[j * n : j * n + n] = True
    pairs.looked[j] = True


@inlined
def _store_relation(relation, at, sums):
    positive, not_so, weights, share, other = sums
    store(relation.odds, at, positive / not_so)
    store(relation.shares, at, share / weights)
    store(relation.others, at, other / weights)


@inlined
def _not_itself(relation, at):
    """An arm neither outdoes nor covers itself."""
    relation.odds[at] = relation.shares[at] = relation.others[at] = 0.0


# Statuses.


@inner
def judge(K, pairs):
    """Brings the front, its pairs and the statuses of all arms up to date."""
    n, numbers, n_compared = pairs.stride, pairs.numbers, pairs.compared.size
    _find_front(K, pairs)
    for j in range(K):
        if pairs.in_front[j] == 0.0:
            pairs.looked[j] = False
        elif not pairs.looked[j]:
            _look_at_column(j, pairs)
    factor = on_grid(base_factor(K, n_compared, numbers[OUTDONE]))
    if factor != numbers[OUTDO_F]:
        numbers[OUTDO_F] = factor
        for f in range(pairs.size[0]):
            j = pairs.front[f]
            pairs.stale[j * n : j * n + n] = True
    numbers[COVER_F] = on_grid(base_factor(K, n_compared, numbers[COVERED]))
    for v in range(0, n, WIDTH):
        _look_at_limits(v, pairs)
    for v in range(0, n, WIDTH):
        _find_statuses(v, pairs)


@inlined
def _look_at_limits(v, pairs):
    """How likely eight arms keep all limits, and how likely they do not."""
    n, fit, unfit, zero = pairs.stride, spread(1.0), spread(0.0), spread(0.0)
    if pairs.limited.size > 0:
        for d in pairs.limited:
            likely, unlikely, _, _ = sign_of(
                load(pairs.means, d * n + v) - spread(pairs.limits[d]), load(pairs.variances, d * n + v)
            )
            unfit = unfit + fit * unlikely
            fit = fit * likely
        store(pairs.fit_odds, v, fit / unfit)
        fit = choose(fit > spread(1.0 / SURE), fit, zero)
    store(pairs.fit, v, fit)
    store(pairs.unfit, v, unfit)


@inlined
def _find_statuses(v, pairs):
    """Who of the front most likely covers each of eight arms, and whether they are out."""
    n, one, zero, size = pairs.stride, spread(1.0), spread(0.0), pairs.size[0]
    outdo_factor, cover_factor = spread(pairs.numbers[OUTDO_F]), spread(pairs.numbers[COVER_F])
    worst, uncovered, place = zero, spread(np.inf if size > 0 else 1.0), spread(uint64(0))
    for f in range(size):
        j = pairs.front[f]
        fit, unfit = spread(pairs.fit[j]), spread(pairs.unfit[j])
        outdone = load(pairs.outdo.odds, j * n + v) * outdo_factor
        worst = larger(outdone / (one + outdone) * fit, worst)
        free = unfit + fit / (one + load(pairs.cover.odds, j * n + v) * cover_factor)
        better = free < uncovered
        uncovered, place = choose(better, free, uncovered), choose(better, spread(uint64(j)), place)
    fit = load(pairs.fit, v)
    store(pairs.place, v, place)
    beaten = zero > one
    if size > 0:
        for d in pairs.compared:
            ahead = gather_listed(pairs.means, pairs.place, v, d * n) - load(pairs.means, d * n + v)
            beaten = beaten | (ahead > spread(pairs.margins[d]))
        beaten = beaten & (uncovered < spread(0.5))
    out = ((load(pairs.unfit, v) + fit * worst > fit * uncovered) | beaten) & (load(pairs.in_front, v) == zero)
    store(pairs.uncovered, v, uncovered)
    store(pairs.out, v, choose(out, one, zero))
