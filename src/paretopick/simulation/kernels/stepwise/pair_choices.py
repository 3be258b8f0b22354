"""What follows from the pairs: the arm to pull next, and the answer."""

from __future__ import annotations

from numba import uint64

from paretopick import _doubting
from paretopick._doubting import OVERTAKEN
from paretopick._normals import SMALLEST
from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.stepwise.pair_memory import FRONT
from paretopick.simulation.kernels.vector_memory import load, store
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, larger, largest, lowest_bit, spread, total

balance = inlined(_doubting.balance)
front_factor = inlined(_doubting.front_factor)

# The choice.


@inlined
def next_arm(K, pairs):
    """The arm with the largest score, or the least pulled if there is nothing to be learnt."""
    n, scores, zero = pairs.stride, pairs.scores, spread(0.0)
    some, rest = zero, zero
    for v in range(0, n, WIDTH):
        root, out = load(pairs.roots, v), load(pairs.dominated, v) > zero
        some, rest = some + choose(out, zero, root), rest + choose(out, root, zero)
    _score_pairs(balance(total(some), total(rest)), pairs)
    best = spread(-1.0)
    for v in range(0, n, WIDTH):
        best = larger(load(scores, v), best)
    highest, arm = largest(best), 0
    if highest > 0.0:
        for v in range(n - WIDTH, -1, -WIDTH):  # without a branch, since nobody could foresee it
            found = bits(load(scores, v) == spread(highest))
            arm = v + lowest_bit(found) if found != 0 else arm
        return arm
    for i in range(1, K):
        if pairs.counts[i] < pairs.counts[arm]:
            arm = i
    return arm


@inlined
def _score_pairs(weight, pairs):
    """The scores of all arms."""
    n, size, lanes, zero = pairs.stride, pairs.sizes[FRONT], pairs.lanes, spread(0.0)
    for f in range(size):
        store(lanes, f * WIDTH, zero)
    for v in range(0, n, WIDTH):
        optimal, score = load(pairs.dominated, v) == zero, spread(weight) * load(pairs.own_value, v)
        if bits(optimal) != 0:
            own = zero
            for f in range(size):
                at = pairs.front[f] * n + v
                own = own + load(pairs.values, at)
                store(lanes, f * WIDTH, load(lanes, f * WIDTH) + choose(optimal, load(pairs.other_values, at), zero))
            score = choose(optimal, own / spread(weight), score)
        store(pairs.scores, v, score)
    for f in range(size):
        j = uint64(pairs.front[f])
        if pairs.dirty[j]:
            pairs.dirty[j] = False
            parts = zero
            for v in range(0, n, WIDTH):
                parts = parts + choose(load(pairs.place, v) == spread(j), load(pairs.its_value, v), zero)
            pairs.sums[j] = total(parts)
        pairs.scores[j] += total(load(lanes, f * WIDTH)) / weight + pairs.sums[j] * weight


# The answer.


@inner
def answer_of(K, D, pairs, answer):
    """Writes down the arms that are not dominated, without those of the front that another of it has overtaken."""
    n, size, factor = pairs.stride, pairs.sizes[FRONT], _factor_of_front(D, pairs)
    for i in range(K):
        if pairs.dominated[i] == 0.0:
            overtaken = False
            if factor > 0.0 and pairs.dominators[i] == 0.0:
                for f in range(size):
                    j = pairs.front[f]
                    above, below = chance(pairs.odds[j * n + i]), chance(pairs.odds[i * n + j])
                    neither = max(1.0 - above - below, SMALLEST)
                    overtaken = overtaken or above * factor / (below * factor + neither) > OVERTAKEN
            if not overtaken:
                include(i, answer)


@inlined
def _factor_of_front(D, pairs):
    """How much more often than by toss-ups arms of the front dominate each other; 0 if they cannot."""
    n, size = pairs.stride, pairs.sizes[FRONT]
    if size < 2 or D < 2:
        return 0.0
    above = 0.0
    for f in range(size):
        for g in range(size):
            above += chance(pairs.odds[pairs.front[g] * n + pairs.front[f]])
    return front_factor(size, D, above)


@inlined
def chance(odds):
    """The probability that has these odds."""
    return odds / (1.0 + odds)
