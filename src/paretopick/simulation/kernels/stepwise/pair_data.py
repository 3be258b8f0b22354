"""What is known of each arm, and who dominates whom at the means, kept while one arm after the other changes."""

from __future__ import annotations

import math

from paretopick import _doubting
from paretopick._doubting import PRIOR
from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.stepwise.pair_memory import DOMINATIONS, F_IN_DEVIATIONS, FRONT, F, real_arms
from paretopick.simulation.kernels.vector_memory import load
from paretopick.simulation.kernels.vectors import WIDTH, bits, count_bits, lowest_bit, spread, total

STEEPEST = 0.6267
"""A deviation changes by no more than this when the logarithm of the odds changes by 1."""

on_grid = inlined(_doubting.on_grid)
base_factor = inlined(_doubting.base_factor)


# Counts, means and variances.


@inlined
def take(D, arm, arms, squares, pairs):
    """Copies the counts and means of an arm, and finds its variances."""
    n, count = pairs.stride, float(arms.counts[arm])
    pairs.counts[arm] = count
    pairs.roots[arm] = math.sqrt(count)
    for d in range(D):
        pairs.means[d * n + arm] = arms.sums[arm * D + d] / (1.0 if arms.exact[d] else count)
        pairs.ratios[d * n + arm] = squares[arm * D + d] / (count - 1.0) if count > 1.0 else 0.0


@inlined
def count_pulls(D, arm, arms, pairs):
    """Counts pulls of an arm of which nothing is known yet."""
    pairs.counts[arm] = float(arms.counts[arm])
    pairs.roots[arm] = math.sqrt(pairs.counts[arm])
    _spread_noise(D, arm, pairs)


@inlined
def pool_variances(D, pairs):
    """Brings the mean of all variances up to date; whether it has changed."""
    n, changed = pairs.stride, False
    several, one = 0, spread(1.0)
    for v in range(0, n, WIDTH):
        several += count_bits(bits(load(pairs.counts, v) > one))
    for d in range(D):
        parts = spread(0.0)
        for v in range(0, n, WIDTH):
            parts = parts + load(pairs.ratios, d * n + v)
        mean = total(parts) / max(float(several), 1.0)
        if not pairs.lowest[d] <= mean <= pairs.highest[d]:
            pool = on_grid(mean)
            if pool != pairs.pool[d]:
                pairs.pool[d], pairs.lowest[d], pairs.highest[d] = pool, mean, mean
                changed = True
            pairs.lowest[d], pairs.highest[d] = min(pairs.lowest[d], mean), max(pairs.highest[d], mean)
    return changed


@inlined
def moderate(D, arm, arms, squares, pairs):
    """Finds the noise of an arm."""
    n = pairs.stride
    for d in range(D):
        pairs.noise[d * n + arm] = (squares[arm * D + d] + PRIOR * pairs.pool[d]) / (float(arms.counts[arm]) + (PRIOR - 1.0))
    _spread_noise(D, arm, pairs)


@inlined
def _spread_noise(D, arm, pairs):
    n, count = pairs.stride, pairs.counts[arm]
    for d in range(D):
        variance = pairs.noise[d * n + arm] / count
        pairs.variances[d * n + arm] = variance
        pairs.falls[d * n + arm] = variance / count


# Who dominates whom, and the front.


@inlined
def count_dominators(K, D, pairs):
    """Counts how many arms dominate each."""
    n = pairs.stride
    for i in range(K):
        above = 0.0
        for v in range(0, n, WIDTH):
            more, _ = _compared(D, n, v, pairs.means, pairs.means, i, n)
            above += count_bits(more & real_arms(K, v))
        pairs.dominators[i] = above
        pairs.numbers[DOMINATIONS] += above


@inlined
def move(K, D, arm, arms, squares, pairs):
    """Takes new data of an arm, and counts again who dominates whom; whether that has changed.

    Only arms that it was level with, or passed by, in some objective can be concerned.
    """
    n, changed = pairs.stride, False
    for d in range(D):
        pairs.old[d] = pairs.means[d * n + arm]
    take(D, arm, arms, squares, pairs)
    for v in range(0, n, WIDTH):
        passed = spread(1.0) < spread(0.0)
        for d in range(D):
            old, new = pairs.old[d], pairs.means[d * n + arm]
            there = load(pairs.means, d * n + v)
            passed = passed | ((there >= spread(min(old, new))) & (there <= spread(max(old, new))))
        own = 1 << (arm - v) if v <= arm < v + WIDTH else 0
        concerned = bits(passed) & real_arms(K, v) & ~own
        if concerned == 0:
            continue
        above_before, below_before = _compared(D, n, v, pairs.means, pairs.old, 0, 1)
        above, below = _compared(D, n, v, pairs.means, pairs.means, arm, n)
        more = float(count_bits(above & concerned) - count_bits(above_before & concerned))
        gained, lost = below & ~below_before & concerned, below_before & ~below & concerned
        pairs.dominators[arm] += more
        pairs.numbers[DOMINATIONS] += more + float(count_bits(gained) - count_bits(lost))
        changed = changed or more != 0.0 or gained != 0 or lost != 0
        while gained != 0:
            pairs.dominators[v + lowest_bit(gained)] += 1.0
            gained &= gained - 1
        while lost != 0:
            pairs.dominators[v + lowest_bit(lost)] -= 1.0
            lost &= lost - 1
    return changed


@inlined
def _compared(D, n, v, means, mine, start, step):
    """As bits, which of eight arms dominate a point, and which it dominates."""
    there, point = load(means, v), spread(mine[start])
    more, less = there >= point, there <= point
    for d in range(1, D):
        there, point = load(means, d * n + v), spread(mine[start + d * step])
        more, less = more & (there >= point), less & (there <= point)
    return bits(more & ~less), bits(less & ~more)


@inlined
def find_front(K, D, pairs):
    """Lists the arms that nobody dominates, and finds F; whether F has changed."""
    size, zero = 0, spread(0.0)
    for v in range(0, pairs.stride, WIDTH):
        nobody = bits(load(pairs.dominators, v) == zero)
        while nobody != 0:
            pairs.front[size] = v + lowest_bit(nobody)
            nobody &= nobody - 1
            size += 1
    pairs.sizes[FRONT] = size
    factor = on_grid(base_factor(K, D, pairs.numbers[DOMINATIONS]))
    changed = factor != pairs.numbers[F]
    if changed:
        pairs.numbers[F] = factor
        pairs.numbers[F_IN_DEVIATIONS] = STEEPEST * math.log(factor) + 1e-4
    return changed
