"""The relations between pairs of arms that doubt goes by, in one run, kept while one arm after the other changes.

What is computed is what ``policies/pairs.py`` computes, number by number; arms are in slots as ``fronts`` reads them, eight in a
vector, and what belongs to an arm i and one of the front, j, is at ``j * stride + i``.

A pull changes the pairs of one arm. If it is one of the front, these are many, and most are of no interest: whether j dominates i
is only looked at if j is the most likely of the front to do so, or could be, or if i is thought to be optimal. It could be if it
is above i by at least ``bar`` deviations in every objective: what is most likely is kept above that bar, and if it falls below,
all of the front is looked at again. What is as good as certain is worth nothing: nobody else is looked at until it is no longer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick._normals import SMALLEST, SURE, clipped, deviation_of, exp_of_minus, log_of, sign_of, tail_factors, value_of
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    compiled_too,
    count_bits,
    float_memory,
    gather,
    inlined,
    inner,
    larger,
    largest,
    load,
    lowest_bit,
    scatter,
    spread,
    store,
    total,
    word_memory,
)

for _function in (clipped, exp_of_minus, tail_factors, log_of, deviation_of, sign_of, value_of):
    compiled_too(_function)

PRIOR, OVERTAKEN, MOST = 30.0, 2.0, 8.0
"""As in the policy."""


class Pairs(NamedTuple):
    """What is known of arms and pairs.

    Of each arm: its pulls with those that have been chosen, and their root; its means; its variances, as they are in the data
    (``ratios``), moderated (``noise``), of the mean (``variances``), and what one pull takes away from that (``falls``); how many
    others dominate it (``dominators``); who most likely does (``place``), the odds of that (``best``), and the ``bar`` for
    others, once more with its sign and squared (``test``); whether that is as good as certain (``sure``); whether it is thought
    to be ``dominated``, and then what a pull of it is worth (``own_value``), and of its dominator (``its_value``), as they are
    for the dominator ``valued``. Of each of the front, what pulls of it are worth for those it dominates (``sums``), unless that
    is ``dirty``.

    Of each pair: the odds that j dominates i, 0 if j is below the bar; what a pull of either takes away; and what that is worth
    if i is optimal (``values``, ``other_values``), unless that is ``stale``.

    ``sizes`` are those of the front, of ``changed``, the arms that were looked at, and of ``rows``, those of which all of the
    front is to be looked at; ``numbers`` are F, a bound on what F is worth in deviations, of how many pairs one dominates the
    other, and the square of deviations that are as good as certain.
    """

    stride: int
    counts: NDArray[np.float64]
    roots: NDArray[np.float64]
    means: NDArray[np.float64]
    ratios: NDArray[np.float64]
    noise: NDArray[np.float64]
    variances: NDArray[np.float64]
    falls: NDArray[np.float64]
    pool: NDArray[np.float64]
    dominators: NDArray[np.float64]
    place: NDArray[np.uint64]
    best: NDArray[np.float64]
    bar: NDArray[np.float64]
    sure: NDArray[np.float64]
    test: NDArray[np.float64]
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
    changed: NDArray[np.int64]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    scores: NDArray[np.float64]
    lanes: NDArray[np.float64]
    sums: NDArray[np.float64]
    dirty: NDArray[np.bool_]
    listed: NDArray[np.uint64]
    first: NDArray[np.float64]
    found: NDArray[np.float64]
    old: NDArray[np.float64]


def make_pairs(n_arms: int, n_objectives: int) -> Pairs:
    """Memory for one run."""
    n, D = -(-n_arms // WIDTH) * WIDTH, n_objectives
    return Pairs(
        stride=n,
        counts=float_memory(n),
        roots=float_memory(n),
        means=float_memory(D * n),
        ratios=float_memory(D * n),
        noise=float_memory(D * n),
        variances=float_memory(D * n),
        falls=float_memory(D * n),
        pool=np.zeros(D),
        dominators=float_memory(n),
        place=word_memory(n),
        best=float_memory(n),
        bar=float_memory(n),
        sure=float_memory(n),
        test=float_memory(n),
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
        changed=np.zeros(4 * n, np.int64),
        rows=np.zeros(4 * n, np.int64),
        sizes=np.zeros(3, np.int64),
        numbers=np.zeros(4),
        scores=float_memory(n),
        lanes=float_memory(n * WIDTH),
        sums=float_memory(n),
        dirty=np.zeros(n, np.bool_),
        listed=word_memory(n * n + n + WIDTH),
        first=float_memory(n * n + n + WIDTH),
        found=float_memory(n * n + n + WIDTH),
        old=float_memory(2 * D + WIDTH),
    )


F, F_IN_DEVIATIONS, DOMINATIONS, FAR_SQUARED = 0, 1, 2, 3
"""Places in ``numbers``."""

FRONT, CHANGED, ROWS = 0, 1, 2
"""Places in ``sizes``."""

SLACK = 0.1
"""How far below the most likely dominator the bar is set."""

NONE = -1e150
"""A bar that everybody is above."""

STEEPEST = 0.6267
"""A deviation changes by no more than this when the logarithm of the odds changes by 1."""


# Changes.


@inner
def begin_pairs(K, D, arms, squares, pairs):
    """Starts from data."""
    n, numbers = pairs.stride, pairs.numbers
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
    pairs.sizes[FRONT] = 0
    numbers[:] = 0.0
    numbers[FAR_SQUARED] = _far_squared(D)
    for i in range(K):
        _take(D, i, arms, squares, pairs)
    for i in range(K):
        above = 0.0
        for v in range(0, n, WIDTH):
            more, _ = _compared(D, n, v, pairs.means, pairs.means, i, n)
            above += count_bits(more & _real(K, v))
        pairs.dominators[i] = above
        numbers[DOMINATIONS] += above
    _pool_variances(D, pairs)
    _look_at_all(K, D, True, arms, squares, pairs)
    _settle(K, D, pairs)


@inlined
def change_arm(K, D, arm, told, arms, squares, pairs):
    """Takes new data of an arm; or, if nothing has been told, one more pull of which nothing is known yet."""
    n, moved, anew = pairs.stride, False, False
    pairs.sizes[CHANGED] = pairs.sizes[ROWS] = 0
    if told:
        for d in range(D):
            pairs.old[d] = pairs.means[d * n + arm]
        _take(D, arm, arms, squares, pairs)
        moved = _move(K, D, arm, pairs)
        anew = _pool_variances(D, pairs)
        _moderate(D, arm, arms, squares, pairs)
    else:
        pairs.counts[arm] += 1.0
        pairs.roots[arm] = math.sqrt(pairs.counts[arm])
        _spread_noise(D, arm, pairs)
    if anew:
        _look_at_all(K, D, moved, arms, squares, pairs)
    else:
        _look_again(K, D, arm, moved, pairs)
    _settle(K, D, pairs)


@inlined
def _take(D, arm, arms, squares, pairs):
    """Copies the counts and means of an arm, and finds its variances."""
    n, count = pairs.stride, float(arms.counts[arm])
    pairs.counts[arm] = count
    pairs.roots[arm] = math.sqrt(count)
    for d in range(D):
        pairs.means[d * n + arm] = arms.sums[arm * D + d] / count
        pairs.ratios[d * n + arm] = squares[arm * D + d] / (count - 1.0) if count > 1.0 else 0.0


@inlined
def _far_squared(D):
    """The square of deviations u that are as good as certain if all D objectives have them: ``D Phi(-u) < 1 / SURE``."""
    return 64.0 + 2.0 * math.log(2.0 * D)


@inlined
def _real(K, v):
    """As bits, which slots of a vector hold arms."""
    return (1 << min(WIDTH, K - v)) - 1


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
def _move(K, D, arm, pairs):
    """Counts anew who dominates whom after an arm has moved; whether that has changed.

    Only arms that it was level with, or passed by, in some objective can be concerned.
    """
    n, changed = pairs.stride, False
    for v in range(0, n, WIDTH):
        passed = spread(1.0) < spread(0.0)
        for d in range(D):
            old, new = pairs.old[d], pairs.means[d * n + arm]
            there = load(pairs.means, d * n + v)
            passed = passed | ((there >= spread(min(old, new))) & (there <= spread(max(old, new))))
        own = 1 << (arm - v) if v <= arm < v + WIDTH else 0
        concerned = bits(passed) & _real(K, v) & ~own
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
def _pool_variances(D, pairs):
    """Brings the mean of all variances up to date; whether it has changed."""
    n, changed = pairs.stride, False
    several, one = 0, spread(1.0)
    for v in range(0, n, WIDTH):
        several += count_bits(bits(load(pairs.counts, v) > one))
    for d in range(D):
        parts = spread(0.0)
        for v in range(0, n, WIDTH):
            parts = parts + load(pairs.ratios, d * n + v)
        pool = _on_grid(total(parts) / max(float(several), 1.0))
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
def _find_front(K, D, pairs):
    """Lists the arms that nobody dominates, and finds F; whether F has changed."""
    size, zero = 0, spread(0.0)
    for v in range(0, pairs.stride, WIDTH):
        nobody = bits(load(pairs.dominators, v) == zero)
        while nobody != 0:
            pairs.front[size] = v + lowest_bit(nobody)
            nobody &= nobody - 1
            size += 1
    pairs.sizes[FRONT] = size
    flat = 0.5 ** min(D, 60)
    share = min(0.5, (pairs.numbers[DOMINATIONS] + K * flat) / (float(K) * float(K)))
    factor = _on_grid(max(1.0, (share / (1.0 - share)) / (flat / (1.0 - flat))))
    changed = factor != pairs.numbers[F]
    if changed:
        pairs.numbers[F] = factor
        pairs.numbers[F_IN_DEVIATIONS] = STEEPEST * math.log(factor) + 1e-4
    return changed


# The pairs.


@inner
def _look_at_all(K, D, moved, arms, squares, pairs):
    """Looks at all pairs, with new variances."""
    for i in range(K):
        _moderate(D, i, arms, squares, pairs)
    if moved:
        _find_front(K, D, pairs)
    for f in range(pairs.sizes[FRONT]):
        _column(K, D, pairs.front[f], pairs)
    pairs.bar[:] = NONE
    pairs.test[:] = NONE
    pairs.sure[:] = 0.0
    pairs.dirty[:] = True
    pairs.valued[:] = -1
    for i in range(K):
        _find_best(i, pairs)
        _note(i, pairs)


@inlined
def _look_again(K, D, arm, moved, pairs):
    """Brings the pairs of an arm up to date, and those of arms that have joined the front."""
    joined = other_factor = False
    if moved:
        n_before = pairs.sizes[FRONT]
        for f in range(n_before):
            pairs.before[f] = pairs.front[f]
        other_factor = _find_front(K, D, pairs)
        joined = _look_at_changes(K, D, n_before, arm, pairs)
    _look_at_own(K, D, arm, joined, pairs)
    if other_factor:
        _value_anew(K, pairs)


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
            _ask_for_row(i, pairs)
        else:
            _note(i, pairs)


@inlined
def _note(arm, pairs):
    """Notes that an arm has been looked at."""
    pairs.changed[pairs.sizes[CHANGED]] = arm
    pairs.sizes[CHANGED] += 1


@inner
def _look_at_changes(K, D, n_before, arm, pairs):
    """Looks at all pairs of arms that have joined the front, and at who was below those that left; whether an arm joined."""
    n, g, found = pairs.stride, 0, False
    for f in range(pairs.sizes[FRONT]):
        j = pairs.front[f]
        while g < n_before and pairs.before[g] < j:
            g += 1
        if g < n_before and pairs.before[g] == j:
            continue
        _column(K, D, j, pairs)
        pairs.dirty[j] = True
        found = found or j == arm
        _note(j, pairs)
        for i in range(K):
            odds = pairs.odds[j * n + i]
            if odds > pairs.best[i] or (odds == pairs.best[i] and j < np.int64(pairs.place[i])):
                _turn_to(i, j, odds, pairs)
                _note(i, pairs)
    left = False
    for f in range(n_before):
        if pairs.dominators[pairs.before[f]] != 0.0:
            _note(pairs.before[f], pairs)
            left = True
    if left:
        for i in range(K):
            if pairs.dominators[np.int64(pairs.place[i])] != 0.0:
                if pairs.sure[i] != 0.0:
                    _ask_for_row(i, pairs)
                else:
                    _find_best(i, pairs)
                    _note(i, pairs)
    return found


@inlined
def _with_objective(sums, difference, first, second, first_fall, second_fall):
    """The sums of a pair with one more objective."""
    dominates, not_so, weights, share, other = sums
    likely, unlikely, weight, precision = sign_of(difference, first + second)
    weighted = weight * precision
    not_so = not_so + dominates * unlikely
    dominates = dominates * likely
    return dominates, not_so, weights + weight, share + weighted * first_fall, other + weighted * second_fall


@inlined
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
    _not_itself(j, pairs)


@inlined
def _not_itself(j, pairs):
    """An arm does not dominate itself."""
    at = j * pairs.stride + j
    pairs.odds[at] = pairs.shares[at] = pairs.others[at] = 0.0


@inner
def _row(D, i, pairs):
    """Whether those of the front dominate arm i."""
    n, size, listed = pairs.stride, pairs.sizes[FRONT], pairs.listed
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
        _write(j * spread(uint64(n)) + spread(uint64(i)), sums, pairs)
        for lane in range(min(WIDTH, size - f)):
            pairs.stale[listed[lane] * uint64(n) + uint64(i)] = True
    if pairs.dominators[i] == 0.0:
        _not_itself(i, pairs)
    pairs.valued[i] = -1
    _forget_bar(i, pairs)
    _find_best(i, pairs)
    _note(i, pairs)


@inlined
def _forget_bar(i, pairs):
    """All of the front has been looked at."""
    pairs.bar[i] = pairs.test[i] = NONE
    pairs.sure[i] = 0.0


@inlined
def _write(at, sums, pairs):
    """Keeps what was found about eight pairs."""
    dominates, not_so, weights, share, other = sums
    scatter(pairs.odds, at, dominates / not_so)
    scatter(pairs.shares, at, share / weights)
    scatter(pairs.others, at, other / weights)


@inlined
def _look_at_own(K, D, arm, joined, pairs):
    """Whether those of the front dominate an arm, and, if it is one of them, whether it dominates others, where that matters."""
    n, listed, first, zero = pairs.stride, pairs.listed, pairs.first, spread(0.0)
    n_rows = 0
    for f in range(pairs.sizes[FRONT]):
        listed[n_rows], first[n_rows] = pairs.front[f], 1.0
        n_rows += pairs.front[f] != arm
    size = n_rows
    if pairs.dominators[arm] == 0.0 and not joined:
        size = _list_interesting(K, D, arm, size, pairs)
    for k in range(size, size + WIDTH):
        listed[k], first[k] = listed[0], first[0]
    for start in range(0, size, WIDTH):
        other, is_first = load(listed, start), load(first, start) > zero
        dominates, not_so, weights, mine, theirs = spread(1.0), zero, zero, zero, zero
        for d in range(0, D * n, n):
            there = other + spread(uint64(d))
            difference = spread(pairs.means[d + arm]) - gather(pairs.means, there)
            difference = choose(is_first, zero - difference, difference)
            variance = gather(pairs.variances, there) + spread(pairs.variances[d + arm])
            likely, unlikely, weight, precision = sign_of(difference, variance)
            weighted = weight * precision
            not_so = not_so + dominates * unlikely
            dominates = dominates * likely
            weights = weights + weight
            mine = mine + weighted * spread(pairs.falls[d + arm])
            theirs = theirs + weighted * gather(pairs.falls, there)
        stride, own = spread(uint64(n)), spread(uint64(arm))
        at = choose(is_first, other * stride + own, own * stride + other)
        share, rest = choose(is_first, mine, theirs), choose(is_first, theirs, mine)
        _write(at, (dominates, not_so, weights, share, rest), pairs)
    for k in range(n_rows):
        pairs.stale[np.int64(listed[k]) * n + arm] = True
    for k in range(n_rows, size):
        _look_for_better(np.int64(listed[k]), arm, pairs)
    pairs.valued[arm] = -1
    _forget_bar(arm, pairs)
    _find_best(arm, pairs)
    _note(arm, pairs)


@inlined
def _list_interesting(K, D, j, size, pairs):
    """Lists the arms for which it matters whether arm j dominates them."""
    n, listed, first = pairs.stride, pairs.listed, pairs.first
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
        which = bits(wanted) & _real(K, v)
        if v <= j < v + WIDTH:
            which &= ~(1 << (j - v))
        while which != 0:
            listed[size], first[size] = v + lowest_bit(which), 0.0
            which &= which - 1
            size += 1
    return size


@inlined
def _look_for_better(arm, j, pairs):
    """Whether j, one of the front, of which it was found anew how likely it dominates an arm, is the most likely to do so."""
    at = j * pairs.stride + arm
    pairs.stale[at] = True
    odds = pairs.odds[at]
    if pairs.valued[arm] == j:
        pairs.valued[arm] = -1
    if np.int64(pairs.place[arm]) == j:
        if odds >= pairs.best[arm] or pairs.sure[arm] != 0.0:
            pairs.best[arm] = odds
        else:
            _find_best(arm, pairs)
        _note(arm, pairs)
    elif odds > pairs.best[arm] or (odds == pairs.best[arm] and j < np.int64(pairs.place[arm])):
        _turn_to(arm, j, odds, pairs)
        _note(arm, pairs)


@inlined
def _turn_to(arm, j, odds, pairs):
    """Another one of the front is now the most likely to dominate an arm."""
    pairs.dirty[np.int64(pairs.place[arm])] = True
    pairs.dirty[j] = True
    pairs.place[arm] = uint64(j)
    pairs.best[arm] = odds


@inlined
def _find_best(arm, pairs):
    """Finds the most likely dominator of an arm."""
    n, place = pairs.stride, pairs.front[0]
    best = pairs.odds[place * n + arm]
    for f in range(1, pairs.sizes[FRONT]):
        j = pairs.front[f]
        odds = pairs.odds[j * n + arm]
        if odds > best:
            best, place = odds, j
    if np.int64(pairs.place[arm]) != place:
        _turn_to(arm, place, best, pairs)
    pairs.best[arm] = best


@inlined
def _settle(K, D, pairs):
    """Finds the status of the arms that were noted, and what it is worth to look at their pairs.

    Where it turns out that all of the front has to be looked at, that is done, and once more.
    """
    sizes, listed, numbers, n = pairs.sizes, pairs.listed, pairs.numbers, pairs.stride
    zero = spread(0.0)
    while sizes[ROWS] > 0 or sizes[CHANGED] > 0:
        for r in range(sizes[ROWS]):
            _row(D, pairs.rows[r], pairs)
        sizes[ROWS] = 0
        n_below = _list_dominated(pairs)
        size = _list_optimal(K, n_below, pairs)
        for k in range(size, size + WIDTH):
            listed[k], pairs.first[k] = listed[0], pairs.first[0]
        for start in range(0, size, WIDTH):
            at = load(listed, start)
            share, other = gather(pairs.shares, at), gather(pairs.others, at)
            odds = gather(pairs.odds, at) * spread(numbers[F])
            odds = clipped(choose(load(pairs.first, start) > zero, odds, spread(1.0) / odds))
            z = deviation_of(odds)
            value = value_of(odds, z, share, other)
            store(pairs.found, start, z)
            scatter(pairs.values, at, value * share)
            scatter(pairs.other_values, at, value * other)
        for k in range(n_below):
            at = np.int64(listed[k])
            i = at % n
            pairs.own_value[i], pairs.its_value[i] = pairs.values[at], pairs.other_values[at]
            pairs.dirty[np.int64(pairs.place[i])] = True
            _set_bar(i, pairs.found[k], pairs)


@inlined
def _list_dominated(pairs):
    """Lists the arms that were noted, are dominated and have other values now, with their dominators."""
    size, factor = 0, pairs.numbers[F]
    for c in range(pairs.sizes[CHANGED]):
        i = pairs.changed[c]
        if pairs.dominators[i] > 0.0 and pairs.best[i] * factor > 1.0:
            pairs.dominated[i] = 1.0
            if pairs.valued[i] != np.int64(pairs.place[i]):
                pairs.valued[i] = np.int64(pairs.place[i])
                pairs.listed[size], pairs.first[size] = pairs.place[i] * uint64(pairs.stride) + uint64(i), 1.0
                size += 1
        elif pairs.bar[i] > NONE or pairs.sure[i] != 0.0:  # some of the front have not been looked at
            _ask_for_row(i, pairs)
        elif pairs.dominated[i] != 0.0:
            pairs.dominated[i] = pairs.own_value[i] = pairs.its_value[i] = 0.0
            pairs.dirty[np.int64(pairs.place[i])] = True
            pairs.valued[i] = -1
    pairs.sizes[CHANGED] = 0
    return size


@inlined
def _list_optimal(K, size, pairs):
    """Lists the pairs whose first is optimal and which have other values now."""
    n, zero = pairs.stride, spread(0.0)
    for v in range(0, n, WIDTH):
        optimal = bits(load(pairs.dominated, v) == zero) & _real(K, v)
        while optimal != 0:
            i = v + lowest_bit(optimal)
            optimal &= optimal - 1
            for f in range(pairs.sizes[FRONT]):
                at = pairs.front[f] * n + i
                pairs.listed[size], pairs.first[size] = at, 0.0
                size += pairs.stale[at]
                pairs.stale[at] = False
    return size


@inlined
def _set_bar(arm, z, pairs):
    """Sets the bar for an arm whose most likely dominator has this deviation; asks for a row if it has fallen below the bar.

    If that dominator is as good as certain, nobody else matters until it is no longer.
    """
    z -= pairs.numbers[F_IN_DEVIATIONS]
    sure = pairs.best[arm] * pairs.numbers[F] >= SURE
    if z < pairs.bar[arm] or (pairs.sure[arm] != 0.0 and not sure):
        _ask_for_row(arm, pairs)
    elif sure:
        pairs.sure[arm] = 1.0
        pairs.bar[arm] = pairs.test[arm] = NONE
    elif z - SLACK > pairs.bar[arm]:
        pairs.bar[arm], pairs.test[arm] = z - SLACK, (z - SLACK) * abs(z - SLACK)


@inlined
def _ask_for_row(arm, pairs):
    pairs.rows[pairs.sizes[ROWS]] = arm
    pairs.sizes[ROWS] += 1
    pairs.sure[arm] = 0.0
    pairs.bar[arm] = NONE  # so that it is asked for once


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
                    above, below = _chance(pairs.odds[j * n + i]), _chance(pairs.odds[i * n + j])
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
            above += _chance(pairs.odds[pairs.front[g] * n + pairs.front[f]])
    flat = 0.5 ** min(D, 60)
    share = min(0.49, (above + flat) / (size * (size - 1.0) + 1.0))
    return min(MOST, max(1.0, (share / (1.0 - 2.0 * share)) / (flat / (1.0 - 2.0 * flat))))


@inlined
def _chance(odds):
    return odds / (1.0 + odds)


# The choice.


@inlined
def next_arm(K, pairs):
    """The arm with the largest score, or the least pulled if there is nothing to be learnt."""
    n, scores, zero = pairs.stride, pairs.scores, spread(0.0)
    some, rest = zero, zero
    for v in range(0, n, WIDTH):
        root, out = load(pairs.roots, v), load(pairs.dominated, v) > zero
        some, rest = some + choose(out, zero, root), rest + choose(out, root, zero)
    some_sum, rest_sum = total(some), total(rest)
    little = 0.02 * (some_sum + rest_sum)
    weight = math.sqrt((some_sum + little) / (rest_sum + little))
    _score_optimal(K, weight, pairs)
    best = spread(-1.0)
    for v in range(0, n, WIDTH):
        out = load(pairs.dominated, v) > zero
        score = choose(out, spread(weight) * load(pairs.own_value, v), load(scores, v))
        store(scores, v, score)
        best = larger(score, best)
    highest = largest(best)
    arm = 0
    if highest > 0.0:
        while scores[arm] != highest:
            arm += 1
        return arm
    for i in range(1, K):
        if pairs.counts[i] < pairs.counts[arm]:
            arm = i
    return arm


@inlined
def _score_optimal(K, weight, pairs):
    """The scores of the arms that are thought to be optimal."""
    n, size, lanes, zero = pairs.stride, pairs.sizes[FRONT], pairs.lanes, spread(0.0)
    lanes[: size * WIDTH] = 0.0
    for v in range(0, n, WIDTH):
        optimal = bits(load(pairs.dominated, v) == zero) & _real(K, v)
        while optimal != 0:
            lane = lowest_bit(optimal)
            optimal &= optimal - 1
            own = 0.0
            for f in range(size):
                at = pairs.front[f] * n + v + lane
                own += pairs.values[at]
                lanes[f * WIDTH + lane] += pairs.other_values[at]
            pairs.scores[v + lane] = own / weight
    for f in range(size):
        j = pairs.front[f]
        if pairs.dirty[j]:
            pairs.dirty[j] = False
            parts = zero
            for v in range(0, n, WIDTH):
                parts = parts + choose(load(pairs.place, v) == spread(uint64(j)), load(pairs.its_value, v), zero)
            pairs.sums[j] = total(parts)
        pairs.scores[j] += total(load(lanes, f * WIDTH)) / weight + pairs.sums[j] * weight
