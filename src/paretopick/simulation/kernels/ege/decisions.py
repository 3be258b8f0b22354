"""Who leaves in eight runs at once: in each the arms with the largest gaps (Algorithm 1).

Gaps are those of ``eight_fronts``: of a dominated arm minus its ``best``, of a pivot its ``gap``, which is only found where the
bound leaves it a chance to leave. What cannot be decided in all lanes at once, such as a tie with optimal arms at the cut of
several rounds, makes a run *unclear*. Sets of runs are whole numbers with a bit for each lane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.ege.eight_fronts import ABSENT, MOST_ARMS, find_gap
from paretopick.simulation.kernels.vector_memory import float_memory, load, store
from paretopick.simulation.kernels.vectors import WIDTH, as_numbers, bits, choose, larger, smaller, spread

FEW_LEAVING = 8
"""Up to so many arms that leave at a time are found one after the other; more by a threshold."""


class Cut(NamedTuple):
    """Rounds ``start`` to ``stop - 1``, of which only the first pulled, closed at once: ``n_leaving`` of n arms leave."""

    start: int
    stop: int
    n: int
    n_leaving: int


class Decision(NamedTuple):
    """Who leaves: the slots, where few leave, ``(FEW_LEAVING, 8)`` flat, and in which runs their arms are optimal.

    Where many leave: all gaps, and for each run the ``threshold`` from which on arms leave.
    """

    slot: NDArray[np.float64]
    optimal: NDArray[np.int64]
    exact: NDArray[np.bool_]
    gaps: NDArray[np.float64]
    threshold: NDArray[np.float64]


def make_decision(n_arms: int) -> Decision:
    """Memory for eight runs with so many arms."""
    return Decision(
        slot=float_memory(FEW_LEAVING * WIDTH),
        optimal=np.zeros(FEW_LEAVING, np.int64),
        exact=np.zeros(n_arms, np.bool_),
        gaps=float_memory(n_arms * WIDTH),
        threshold=float_memory(WIDTH),
    )


@inlined
def _dominated_pivots(n_pivots, fronts):
    """In which runs a pivot turned out to be dominated."""
    zero = spread(0.0)
    odd = zero > zero
    for p in range(n_pivots):
        bound = load(fronts.bound, p * WIDTH)
        odd = odd | ((bound <= zero) & (bound > spread(ABSENT)))
    return odd


@inner
def decide_few(slots, cut, n_pivots, fronts, decision):
    """Finds the arms with the largest gaps, largest first; returns the unclear runs."""
    zero = spread(0.0)
    never = zero > zero
    ties = never
    single = zero >= zero if cut.n_leaving == 1 else never
    for p in range(n_pivots):
        decision.exact[p] = False
    last = spread(np.inf)
    for k in range(cut.n_leaving):
        top, where, tie = spread(-1.0), zero, never
        for i in range(cut.n):
            gap = zero - load(fronts.best, i * WIDTH)  # Delta_i, i not in S
            better = (gap > top) & (gap < last)
            tie = (tie | (gap == top)) & ~better
            top, where = choose(better, gap, top), choose(better, spread(float(i)), where)
        arm = spread(-1.0)  # of the pivot that leads, if one does
        for p in range(n_pivots):
            if bits(load(fronts.bound, p * WIDTH) >= top) != 0:
                _make_exact(slots, cut.n, p, fronts, decision)
                gap, other = load(fronts.gap, p * WIDTH), load(fronts.arm, p * WIDTH)
                level = gap == top
                # The nearest two optimal arms have the same gap, so that this tie is frequent: the larger number leaves. With a
                # dominated arm of the same gap, which leaves before both, neither leads.
                better = ((gap > top) & (gap < last)) | (single & level & (arm >= zero) & (other > arm))
                tie = (tie | (level & ~single)) & ~better
                top, where = choose(better, gap, top), choose(better, as_numbers(load(fronts.slot, p * WIDTH)), where)
                arm = choose(better, other, arm)
        ties = ties | tie
        last = top
        store(decision.slot, k * WIDTH, where)
        decision.optimal[k] = bits(arm >= zero)
    unclear = _dominated_pivots(n_pivots, fronts) | (last <= zero)
    if bits(ties) != 0:
        unclear = unclear | _decide_ties(slots, cut, n_pivots, fronts, decision)
    return bits(unclear)


@inner
def _decide_ties(slots, cut, n_pivots, fronts, decision):
    """Finds the arms that leave where there are ties: arms that are not optimal leave first, then those with larger numbers.

    An arm's rank is its number, of one that is dominated plus more than any number. Returns in which runs that is not enough:
    where an optimal arm is in the tie at the cut, and the cut is that of several rounds.
    """
    zero, dominated = spread(0.0), spread(float(MOST_ARMS))
    never = zero > zero
    last, last_rank = spread(np.inf), spread(np.inf)
    for k in range(cut.n_leaving):
        top, rank, where, optimal = spread(-1.0), spread(-1.0), zero, never
        for i in range(cut.n):
            gap, other = zero - load(fronts.best, i * WIDTH), as_numbers(load(slots.arm, i * WIDTH)) + dominated
            better = _leaves_before(gap, other, top, rank) & _leaves_before(last, last_rank, gap, other)
            top, rank = choose(better, gap, top), choose(better, other, rank)
            where = choose(better, spread(float(i)), where)
        for p in range(n_pivots):
            if bits(load(fronts.bound, p * WIDTH) >= top) != 0:
                _make_exact(slots, cut.n, p, fronts, decision)
                gap, other = load(fronts.gap, p * WIDTH), load(fronts.arm, p * WIDTH)
                better = _leaves_before(gap, other, top, rank) & _leaves_before(last, last_rank, gap, other)
                top, rank = choose(better, gap, top), choose(better, other, rank)
                where = choose(better, as_numbers(load(fronts.slot, p * WIDTH)), where)
                optimal = optimal | better
        last, last_rank = top, rank
        store(decision.slot, k * WIDTH, where)
        decision.optimal[k] = bits(optimal)
    unclear = last <= zero
    if cut.stop - cut.start > 1:
        optimal, staying = never, never
        for p in range(n_pivots):
            if decision.exact[p]:
                level = load(fronts.gap, p * WIDTH) == last
                optimal = optimal | level
                staying = staying | (level & (load(fronts.arm, p * WIDTH) < last_rank))
        for i in range(cut.n):
            level = (zero - load(fronts.best, i * WIDTH)) == last
            staying = staying | (level & (as_numbers(load(slots.arm, i * WIDTH)) + dominated < last_rank))
        unclear = unclear | (optimal & staying)
    return unclear


@inlined
def _leaves_before(gap, rank, other_gap, other_rank):
    return (gap > other_gap) | ((gap == other_gap) & (rank > other_rank))


@inlined
def _make_exact(slots, n, p, fronts, decision):
    if not decision.exact[p]:
        find_gap(slots, n, p, fronts)
        decision.exact[p] = True


@inner
def decide_many(slots, cut, n_pivots, fronts, decision):
    """Finds the gap from which on arms leave; pivots that cannot reach that of the others keep their bounds for gaps.

    Returns the unclear runs, and those with a tie at the threshold.
    """
    zero = spread(0.0)
    for i in range(cut.n):
        store(decision.gaps, i * WIDTH, zero - load(fronts.best, i * WIDTH))  # Delta_i, i not in S
    threshold, count = _thresholds(decision.gaps, cut.n, cut.n_leaving, zero)
    again = False
    for p in range(n_pivots):
        bound = load(fronts.bound, p * WIDTH)
        store(fronts.gap, p * WIDTH, bound)
        if bits(bound >= threshold) != 0:
            find_gap(slots, cut.n, p, fronts)
            again |= bits(load(fronts.gap, p * WIDTH) >= threshold) != 0
        for lane in range(WIDTH):
            if fronts.bound[p * WIDTH + lane] > 0.0:
                decision.gaps[np.int64(fronts.slot[p * WIDTH + lane]) * WIDTH + lane] = fronts.gap[p * WIDTH + lane]
    if again:
        threshold, count = _thresholds(decision.gaps, cut.n, cut.n_leaving, threshold)
    store(decision.threshold, 0, threshold)
    unclear = _dominated_pivots(n_pivots, fronts) | (threshold <= zero)
    return bits(unclear), bits(count > spread(float(cut.n_leaving)))


@inner
def _thresholds(gaps, n, n_leaving, low):
    """``fronts.threshold`` in each run; at least ``n_leaving`` gaps are known to be at least ``low``."""
    high, count, wanted = spread(-1.0), spread(0.0), spread(float(n_leaving))
    for i in range(n):
        gap = load(gaps, i * WIDTH)
        high = larger(gap, high)
        count = choose(gap >= low, count + spread(1.0), count)
    while True:
        open_ = (low < high) & (count > wanted)
        if bits(open_) == 0:
            return low, count
        middle = spread(0.5) * low + spread(0.5) * high
        middle = choose(middle > low, middle, high)
        over, under, at_least = spread(np.inf), spread(-1.0), spread(0.0)
        for i in range(n):
            gap = load(gaps, i * WIDTH)
            above = gap >= middle
            at_least = choose(above, at_least + spread(1.0), at_least)
            over = choose(above, smaller(gap, over), over)
            under = choose(above, under, larger(gap, under))
        enough = open_ & (at_least >= wanted)
        low, count = choose(enough, over, low), choose(enough, at_least, count)
        high = choose(open_ & ~enough, under, high)


@inner
def decide_all(cut, n_pivots, fronts, decision):
    """Where every arm leaves: a run is unclear if an arm that is no pivot ties with one. Returns the unclear runs."""
    zero, one = spread(0.0), spread(1.0)
    ties = zero
    for i in range(cut.n):
        ties = choose(load(fronts.best, i * WIDTH) == zero, ties + one, ties)
        store(decision.gaps, i * WIDTH, one)
    for p in range(n_pivots):
        ties = choose(load(fronts.bound, p * WIDTH) > zero, ties - one, ties)
    store(decision.threshold, 0, zero)
    return bits(_dominated_pivots(n_pivots, fronts) | (ties > zero))
