"""The relations between pairs of arms that doubt goes by, in one run, kept while one arm after the other changes.

What is computed is what ``policies/pairs.py`` computes, number by number; arms are in slots as ``fronts`` reads them, eight in a
vector, and what belongs to an arm i and one of the front, j, is at ``j * stride + i``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick._normals import deviation_of, exp_of_minus, log_of, sign_of, tail_factors, value_of
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    compiled_too,
    float_memory,
    gather,
    inlined,
    inner,
    load,
    lowest_bit,
    scatter,
    spread,
    square_root,
    store,
    total,
    word_memory,
)

for _function in (exp_of_minus, tail_factors, log_of, deviation_of, sign_of, value_of):
    compiled_too(_function)

PRIOR = 30.0
"""As in the policy."""


class Pairs(NamedTuple):
    """Of each arm: its pulls with those that have been chosen, its means; its variances, as they are in the data (``ratios``),
    moderated (``noise``), of the mean (``variances``), and what one pull takes away from that (``falls``); how many others dominate
    it; who most likely does (``place``), and the odds of that.

    Of each pair: the odds that j dominates i, what a pull of either takes away, and what that is worth if i is optimal
    (``values``, ``other_values``, unless it is ``stale``). Likewise of each arm with its most likely dominator, if it is dominated
    (``own_value``, ``its_value``, as they are for the dominator ``valued``).
    """

    stride: int
    counts: NDArray[np.float64]
    means: NDArray[np.float64]
    ratios: NDArray[np.float64]
    noise: NDArray[np.float64]
    variances: NDArray[np.float64]
    falls: NDArray[np.float64]
    pool: NDArray[np.float64]
    dominators: NDArray[np.float64]
    place: NDArray[np.uint64]
    best: NDArray[np.float64]
    dominated: NDArray[np.float64]
    own_value: NDArray[np.float64]
    its_value: NDArray[np.float64]
    valued: NDArray[np.int64]
    odds: NDArray[np.float64]
    shares: NDArray[np.float64]
    others: NDArray[np.float64]
    values: NDArray[np.float64]
    other_values: NDArray[np.float64]
    stale: NDArray[np.bool_]
    front: NDArray[np.int64]
    before: NDArray[np.int64]
    sizes: NDArray[np.int64]
    factor: NDArray[np.float64]
    scores: NDArray[np.float64]
    lanes: NDArray[np.float64]
    listed: NDArray[np.uint64]
    old: NDArray[np.float64]


def make_pairs(n_arms: int, n_objectives: int) -> Pairs:
    """Memory for one run."""
    n, D = -(-n_arms // WIDTH) * WIDTH, n_objectives
    return Pairs(
        stride=n,
        counts=float_memory(n),
        means=float_memory(D * n),
        ratios=float_memory(D * n),
        noise=float_memory(D * n),
        variances=float_memory(D * n),
        falls=float_memory(D * n),
        pool=np.zeros(D),
        dominators=float_memory(n),
        place=word_memory(n),
        best=float_memory(n),
        dominated=float_memory(n),
        own_value=float_memory(n),
        its_value=float_memory(n),
        valued=np.zeros(n, np.int64),
        odds=float_memory(n * n),
        shares=float_memory(n * n),
        others=float_memory(n * n),
        values=float_memory(n * n),
        other_values=float_memory(n * n),
        stale=np.zeros(n * n, np.bool_),
        front=np.zeros(n, np.int64),
        before=np.zeros(n, np.int64),
        sizes=np.zeros(4, np.int64),
        factor=np.zeros(2),
        scores=float_memory(n),
        lanes=float_memory(2 * n * WIDTH),
        listed=word_memory(4 * WIDTH),
        old=float_memory(2 * D + WIDTH),
    )


# Changes.


@inner
def begin_pairs(K, D, arms, squares, pairs):
    """Starts from data."""
    n = pairs.stride
    pairs.means[:] = 0.0
    pairs.counts[:] = 0.0
    pairs.ratios[:] = 0.0
    pairs.dominators[:] = 1.0
    pairs.variances[:] = 1.0
    pairs.valued[:] = -1
    for i in range(K):
        _take(D, i, arms, squares, pairs)
    for i in range(K):
        above = 0.0
        for v in range(0, n, WIDTH):
            more, less = _compared(D, n, v, i, pairs.means, pairs.means, i, n)
            if v + WIDTH > K:
                more &= (1 << (K - v)) - 1
            while more != 0:
                more &= more - 1
                above += 1.0
        pairs.dominators[i] = above
    pairs.sizes[0] = 0
    _pool_variances(K, D, pairs)
    for i in range(K):
        _moderate(D, i, arms, squares, pairs)
    _find_front(K, D, pairs)
    for f in range(pairs.sizes[0]):
        _column(K, D, pairs.front[f], pairs)
    _find_best(K, pairs)


@inner
def change_arm(K, D, arm, arms, squares, pairs):
    """Takes new data of an arm."""
    n = pairs.stride
    for d in range(D):
        pairs.old[d] = pairs.means[d * n + arm]
    _take(D, arm, arms, squares, pairs)
    above = 0.0
    for v in range(0, n, WIDTH):
        _, below_before = _compared(D, n, v, arm, pairs.means, pairs.old, 0, 1)
        more, below = _compared(D, n, v, arm, pairs.means, pairs.means, arm, n)
        real = (1 << min(WIDTH, K - v)) - 1
        own = 1 << (arm - v) if v <= arm < v + WIDTH else 0
        more &= real & ~own
        gained, lost = below & ~below_before & real & ~own, below_before & ~below & real & ~own
        while more != 0:
            more &= more - 1
            above += 1.0
        while gained != 0:
            pairs.dominators[v + lowest_bit(gained)] += 1.0
            gained &= gained - 1
        while lost != 0:
            pairs.dominators[v + lowest_bit(lost)] -= 1.0
            lost &= lost - 1
    pairs.dominators[arm] = above
    all_anew = _pool_variances(K, D, pairs)
    if all_anew:
        for i in range(K):
            _moderate(D, i, arms, squares, pairs)
    else:
        _moderate(D, arm, arms, squares, pairs)
    _look_again(K, D, arm, all_anew, pairs)


@inner
def count_arm(K, D, arm, pairs):
    """Takes one more pull of an arm of which nothing is known yet."""
    pairs.counts[arm] += 1.0
    _spread_noise(D, arm, pairs)
    _look_again(K, D, arm, False, pairs)


@inlined
def _look_again(K, D, arm, all_anew, pairs):
    n_before = pairs.sizes[0]
    for f in range(n_before):
        pairs.before[f] = pairs.front[f]
    _find_front(K, D, pairs)
    g, changed = 0, pairs.sizes[0] < n_before
    for f in range(pairs.sizes[0]):
        j = pairs.front[f]
        while g < n_before and pairs.before[g] < j:
            g += 1
        joined = g >= n_before or pairs.before[g] != j
        if joined or all_anew or j == arm:
            _column(K, D, j, pairs)
    if not all_anew:
        _row(K, D, arm, pairs)
    _find_best(K, pairs)


@inlined
def _take(D, arm, arms, squares, pairs):
    """Copies the counts and means of an arm, and finds its variances."""
    n, count = pairs.stride, float(arms.counts[arm])
    pairs.counts[arm] = count
    for d in range(D):
        pairs.means[d * n + arm] = arms.sums[arm * D + d] / count
        pairs.ratios[d * n + arm] = squares[arm * D + d] / (count - 1.0) if count > 1.0 else 0.0


@inlined
def _pool_variances(K, D, pairs):
    """Brings the mean of all variances up to date; whether it has changed."""
    n, changed = pairs.stride, False
    several = 0.0
    for i in range(K):
        several += pairs.counts[i] > 1.0
    for d in range(D):
        parts = spread(0.0)
        for v in range(0, n, WIDTH):
            parts = parts + load(pairs.ratios, d * n + v)
        pool = _on_grid(total(parts) / max(several, 1.0))
        if pool != pairs.pool[d]:
            pairs.pool[d] = pool
            changed = True
    return changed


@inlined
def _on_grid(value):
    """The nearest power of the square root of 2."""
    if value <= 0.0:
        return 0.0
    mantissa, exponent = math.frexp(value)
    if mantissa < 0.5946035575013605:
        return math.ldexp(0.5, exponent)
    return math.ldexp(0.7071067811865476 if mantissa < 0.8408964152537145 else 1.0, exponent)


@inlined
def _moderate(D, arm, arms, squares, pairs):
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


@inlined
def _compared(D, n, v, arm, means, mine, start, step):
    """As bits, which of eight arms dominate a point, and which it dominates."""
    below, above = True, True
    first = load(means, v)
    point = spread(mine[start])
    more, less = first >= point, first <= point
    for d in range(1, D):
        there, point = load(means, d * n + v), spread(mine[start + d * step])
        more, less = more & (there >= point), less & (there <= point)
    return bits(more & ~less), bits(less & ~more)


@inlined
def _find_front(K, D, pairs):
    """Lists the arms that nobody dominates, and finds F."""
    size, dominations = 0, 0.0
    for i in range(K):
        dominations += pairs.dominators[i]
        if pairs.dominators[i] == 0.0:
            pairs.front[size] = i
            size += 1
    pairs.sizes[0] = size
    flat = 0.5 ** min(D, 60)
    share = min(0.5, (dominations + K * flat) / (float(K) * float(K)))
    factor = _on_grid(max(1.0, (share / (1.0 - share)) / (flat / (1.0 - flat))))
    if factor != pairs.factor[0]:
        pairs.factor[0] = factor
        pairs.stale[:] = True
        pairs.valued[:] = -1


# The pairs.


@inlined
def _with_objective(sums, difference, first, second, first_fall, second_fall):
    """The sums of a pair with one more objective."""
    dominates, not_so, weights, share, other = sums
    likely, unlikely, weight, precision = sign_of(difference, first + second)
    weighted = weight * precision
    not_so = not_so + dominates * unlikely
    dominates = dominates * likely
    return dominates, not_so, weights + weight, share + weighted * first_fall, other + weighted * second_fall


@inner
def _column(K, D, j, pairs):
    """Whether arm j dominates the others."""
    n = pairs.stride
    for v in range(0, n, WIDTH):
        sums = (spread(1.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0))
        for d in range(0, D * n, n):
            sums = _with_objective(
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
    at = j * n + j
    pairs.odds[at] = pairs.shares[at] = pairs.others[at] = 0.0


@inner
def _row(K, D, i, pairs):
    """Whether those of the front dominate arm i."""
    n, size = pairs.stride, pairs.sizes[0]
    listed = pairs.listed
    pairs.valued[i] = -1
    for f in range(0, size, WIDTH):
        for lane in range(WIDTH):
            listed[lane] = pairs.front[min(f + lane, size - 1)]
        j = load(listed, 0)
        sums = (spread(1.0), spread(0.0), spread(0.0), spread(0.0), spread(0.0))
        for d in range(0, D * n, n):
            there = j + spread(uint64(d))
            sums = _with_objective(
                sums,
                gather(pairs.means, there) - spread(pairs.means[d + i]),
                spread(pairs.variances[d + i]),
                gather(pairs.variances, there),
                spread(pairs.falls[d + i]),
                gather(pairs.falls, there),
            )
        dominates, not_so, weights, share, other = sums
        at = j * spread(uint64(n)) + spread(uint64(i))
        scatter(pairs.odds, at, dominates / not_so)
        scatter(pairs.shares, at, share / weights)
        scatter(pairs.others, at, other / weights)
        for lane in range(min(WIDTH, size - f)):
            pairs.stale[listed[lane] * uint64(n) + uint64(i)] = True
    if pairs.dominators[i] == 0.0:
        at = i * n + i
        pairs.odds[at] = pairs.shares[at] = pairs.others[at] = 0.0


@inlined
def _find_best(K, pairs):
    """Finds the most likely dominator of each arm, and whether it is dominated."""
    n, size = pairs.stride, pairs.sizes[0]
    factor, one = spread(pairs.factor[0]), spread(1.0)
    for v in range(0, n, WIDTH):
        place, best = spread(uint64(pairs.front[0])), load(pairs.odds, pairs.front[0] * n + v)
        for f in range(1, size):
            j = pairs.front[f]
            odds = load(pairs.odds, j * n + v)
            better = odds > best
            best, place = choose(better, odds, best), choose(better, spread(uint64(j)), place)
        best = best * factor
        store(pairs.best, v, best)
        store(pairs.place, v, place)
        out = (load(pairs.dominators, v) > spread(0.0)) & (best > one)
        store(pairs.dominated, v, choose(out, one, spread(0.0)))
    for i in range(K, n):
        pairs.dominated[i] = 0.0


@inlined
def is_dominated(arm, pairs):
    """Whether an arm is thought to be dominated."""
    return pairs.dominated[arm] != 0.0


# The choice.


@inner
def next_arm(K, D, pairs):
    """The arm with the largest score, or the least pulled if there is nothing to be learnt."""
    n, size, scores, lanes = pairs.stride, pairs.sizes[0], pairs.scores, pairs.lanes
    some, rest = spread(0.0), spread(0.0)
    zero = spread(0.0)
    for v in range(0, n, WIDTH):
        root, out = square_root(load(pairs.counts, v)), load(pairs.dominated, v) > zero
        some, rest = some + choose(out, zero, root), rest + choose(out, root, zero)
    some_sum, rest_sum = total(some), total(rest)
    little = 0.02 * (some_sum + rest_sum)
    weight = math.sqrt((some_sum + little) / (rest_sum + little))
    _value_dominated(K, pairs)
    _value_optimal(K, pairs)
    lanes[: 2 * size * WIDTH] = 0.0
    for i in range(K):
        if is_dominated(i, pairs):
            scores[i] = weight * pairs.own_value[i]
        else:
            own = 0.0
            for f in range(size):
                at = pairs.front[f] * n + i
                own += pairs.values[at]
                lanes[f * WIDTH + i % WIDTH] += pairs.other_values[at]
            scores[i] = own / weight
    for i in range(K):
        if is_dominated(i, pairs):
            f = 0
            while pairs.front[f] != pairs.place[i]:
                f += 1
            lanes[(size + f) * WIDTH + i % WIDTH] += pairs.its_value[i]
    for f in range(size):
        scores[pairs.front[f]] += total(load(lanes, f * WIDTH)) / weight + total(load(lanes, (size + f) * WIDTH)) * weight
    arm = 0
    for i in range(1, K):
        if scores[i] > scores[arm]:
            arm = i
    if not scores[arm] > 0.0:
        arm = 0
        for i in range(1, K):
            if pairs.counts[i] < pairs.counts[arm]:
                arm = i
    return arm


@inlined
def _value_dominated(K, pairs):
    """What it is worth to look at arms that are dominated, where that has changed."""
    n, listed, k = pairs.stride, pairs.listed, 0
    for i in range(K):
        if is_dominated(i, pairs) and pairs.valued[i] != pairs.place[i]:
            listed[k] = i
            k += 1
            pairs.valued[i] = pairs.place[i]
            if k == WIDTH:
                _value_arms(pairs)
                k = 0
    if k > 0:
        for lane in range(k, WIDTH):
            listed[lane] = listed[0]
        _value_arms(pairs)


@inner
def _value_arms(pairs):
    i = load(pairs.listed, 0)
    at = gather(pairs.place, i) * spread(uint64(pairs.stride)) + i
    share, other = gather(pairs.shares, at), gather(pairs.others, at)
    value = value_of(gather(pairs.best, i), share, other)
    scatter(pairs.own_value, i, value * share)
    scatter(pairs.its_value, i, value * other)


@inlined
def _value_optimal(K, pairs):
    """What it is worth to look at pairs of which the first is optimal, where that has changed."""
    n, listed, k = pairs.stride, pairs.listed, 0
    for i in range(K):
        if is_dominated(i, pairs):
            continue
        for f in range(pairs.sizes[0]):
            at = pairs.front[f] * n + i
            if pairs.stale[at]:
                pairs.stale[at] = False
                listed[k] = at
                k += 1
                if k == WIDTH:
                    _value_pairs(pairs)
                    k = 0
    if k > 0:
        for lane in range(k, WIDTH):
            listed[lane] = listed[0]
        _value_pairs(pairs)


@inner
def _value_pairs(pairs):
    at = load(pairs.listed, 0)
    share, other = gather(pairs.shares, at), gather(pairs.others, at)
    value = value_of(spread(1.0) / (gather(pairs.odds, at) * spread(pairs.factor[0])), share, other)
    scatter(pairs.values, at, value * share)
    scatter(pairs.other_values, at, value * other)
