"""What follows from the pairs where there are margins or limits: the arm to pull next, and the answer."""

from __future__ import annotations

from numba import uint64

from paretopick._doubting import OVERTAKEN
from paretopick._normals import SMALLEST
from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.stepwise.normal_functions import clipped, deviation_of, either_way, value_of
from paretopick.simulation.kernels.stepwise.pair_choices import balance, chance, front_factor
from paretopick.simulation.kernels.stepwise.pair_memory import real_arms
from paretopick.simulation.kernels.stepwise.pair_memory_within import COVER_F, OUTDO_F
from paretopick.simulation.kernels.stepwise.pairs_within import judge
from paretopick.simulation.kernels.vector_memory import gather_listed, load, scatter_listed, store
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, first_lanes, lowest_bit, spread, total

# The choice.


@inner
def next_within(K, pairs):
    """The arm with the largest score, or the least pulled if there is nothing to be learnt."""
    judge(K, pairs)
    _value_pairs(K, pairs)
    for v in range(0, pairs.stride, WIDTH):
        _value_covered(v, pairs)
        _value_limits(K, v, pairs)
    some = rest = zero = spread(0.0)
    for v in range(0, pairs.stride, WIDTH):
        root, out = load(pairs.roots, v), load(pairs.out, v) > zero
        some, rest = some + choose(out, zero, root), rest + choose(out, root, zero)
    _score_within(balance(total(some), total(rest)), pairs)
    arm = fewest = 0
    for i in range(1, K):
        arm = i if pairs.scores[i] > pairs.scores[arm] else arm
        fewest = i if pairs.counts[i] < pairs.counts[fewest] else fewest
    return arm if pairs.scores[arm] > 0.0 else fewest


@inlined
def _value_pairs(K, pairs):
    """Values the stale pairs of arms that are in."""
    n, listed, size, zero = pairs.stride, pairs.listed, 0, spread(0.0)
    for v in range(0, n, WIDTH):
        into = bits(load(pairs.out, v) == zero) & real_arms(K, v)
        while into != 0:
            i = v + lowest_bit(into)
            into &= into - 1
            for f in range(pairs.size[0]):
                at = uint64(pairs.front[f] * n + i)
                listed[size] = at
                size += pairs.stale[at]
                pairs.stale[at] = False
    for k in range(size, size + WIDTH):
        listed[k] = listed[size - 1]
    for start in range(0, size, WIDTH):
        share, other = gather_listed(pairs.outdo.shares, listed, start, 0), gather_listed(pairs.outdo.others, listed, start, 0)
        odds = clipped(spread(1.0) / (gather_listed(pairs.outdo.odds, listed, start, 0) * spread(pairs.numbers[OUTDO_F])))
        value = value_of(odds, deviation_of(odds), share, other)
        scatter_listed(pairs.values, listed, start, value * share)
        scatter_listed(pairs.other_values, listed, start, value * other)


@inlined
def _value_covered(v, pairs):
    """What pulls of eight arms and of who most likely covers them are worth, if they are out."""
    n, zero = pairs.stride, spread(0.0)
    out = load(pairs.out, v) > zero
    if pairs.size[0] == 0 or bits(out) == 0:
        store(pairs.own_value, v, zero)
        store(pairs.its_value, v, zero)
        return
    for lane in range(WIDTH):
        pairs.at[lane] = pairs.place[v + lane] * uint64(n) + uint64(v + lane)
    share, other = gather_listed(pairs.cover.shares, pairs.at, 0, 0), gather_listed(pairs.cover.others, pairs.at, 0, 0)
    odds = clipped(either_way(gather_listed(pairs.cover.odds, pairs.at, 0, 0) * spread(pairs.numbers[COVER_F])))
    value, fit = value_of(odds, deviation_of(odds), share, other), load(pairs.fit, v)
    store(pairs.own_value, v, choose(out, value * share * fit, zero))
    store(pairs.its_value, v, choose(out, value * other * fit, zero))


@inlined
def _value_limits(K, v, pairs):
    """What pulls of eight arms are worth for whether they keep their limits."""
    if pairs.limited.size == 0:
        return
    one, zero = spread(1.0), spread(0.0)
    out, odds, share = load(pairs.out, v) > zero, load(pairs.fit_odds, v), one / load(pairs.counts, v)
    odds = clipped(choose(out, either_way(odds), odds))
    value = value_of(odds, deviation_of(odds), share, share) * share * choose(out, load(pairs.uncovered, v), one)
    store(pairs.limit_value, v, choose(first_lanes(K - v), value, zero))


@inlined
def _score_within(weight, pairs):
    """The scores of all arms."""
    n, size, lanes, zero = pairs.stride, pairs.size[0], pairs.lanes, spread(0.0)
    for f in range(size):
        store(lanes, f * WIDTH, zero)
    for v in range(0, n, WIDTH):
        within, fit, own = load(pairs.out, v) == zero, load(pairs.fit, v), zero
        for f in range(size):
            j = pairs.front[f]
            own = own + load(pairs.values, j * n + v) * spread(pairs.fit[j])
            more = choose(within, load(pairs.other_values, j * n + v) * fit, zero)
            store(lanes, f * WIDTH, load(lanes, f * WIDTH) + more)
        limits = load(pairs.limit_value, v)
        if_out = spread(weight) * limits + spread(weight) * load(pairs.own_value, v)
        store(pairs.scores, v, choose(within, (own * fit + limits) / spread(weight), if_out))
    for f in range(size):
        j, parts = pairs.front[f], zero
        for v in range(0, n, WIDTH):
            covers = (load(pairs.out, v) > zero) & (load(pairs.place, v) == spread(uint64(j)))
            parts = parts + choose(covers, load(pairs.its_value, v), zero)
        pairs.scores[j] += pairs.fit[j] * total(load(lanes, f * WIDTH)) / weight + total(parts) * weight


# The answer.


@inner
def answer_within(K, D, pairs, answer):
    """Writes down the arms that are not out, without those of the front that another of it has overtaken."""
    judge(K, pairs)
    factor = _factor_of_front(pairs)
    for i in range(K):
        if pairs.out[i] == 0.0:
            overtaken = False
            if factor > 0.0 and pairs.in_front[i] > 0.0:
                for f in range(pairs.size[0]):
                    j = pairs.front[f]
                    above, below = _above(i, j, pairs), _above(j, i, pairs)
                    neither = max(1.0 - above - below, SMALLEST)
                    overtaken = overtaken or above * factor / (below * factor + neither) > OVERTAKEN
            if not overtaken:
                include(i, answer)


@inlined
def _factor_of_front(pairs):
    """How much more often than by toss-ups arms of the front outdo each other; 0 if they cannot."""
    size, above = pairs.size[0], 0.0
    if size < 2 or pairs.compared.size < 2:
        return 0.0
    for f in range(size):
        for g in range(size):
            above += _above(pairs.front[f], pairs.front[g], pairs)
    return front_factor(size, pairs.compared.size, above)


@inlined
def _above(i, j, pairs):
    """How likely j keeps the limits and outdoes i."""
    return chance(pairs.outdo.odds[j * pairs.stride + i]) * pairs.fit[j]
