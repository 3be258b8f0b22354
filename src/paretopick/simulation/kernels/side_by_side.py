"""Eight runs of EGE side by side: all have the same number of active arms and the same pulls in every round.

Slot i of the run in lane l is lane l of vector i. What cannot be decided in all lanes at once, such as most ties, makes a run
*unclear*: it is rare, and left to ``one_by_one``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.lanes import (
    WIDTH,
    bits,
    choose,
    float_memory,
    inlined,
    inner,
    larger,
    load,
    lowest_bit,
    pasted,
    smaller,
    spread,
    store,
    word_memory,
)
from paretopick.simulation.kernels.noises import Noise, Slots, fill_slot, pull, runs_in_a_row
from paretopick.simulation.kernels.one_by_one import eliminate, include, next_pulls, settle_ties
from paretopick.simulation.kernels.pivots import ABSENT, MOST_ARMS, Fronts, find_gap, find_pivots, make_fronts
from paretopick.simulation.kernels.randoms import run_key

FEW_LEAVING = 8
"""Up to so many arms that leave together are found one after the other; more by a threshold."""


class Decision(NamedTuple):
    """Who leaves: the slots and whether their arms are optimal, where few leave, ``(FEW_LEAVING, 8)`` flat.

    Where many leave: all gaps, and for each run the threshold from which on arms leave, and whether there is a tie at it. For
    each run also whether it is unclear, how many arms are accepted so far, and in how many slots the threshold is to be used.
    """

    slot: NDArray[np.uint64]
    optimal: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    gaps: NDArray[np.float64]
    threshold: NDArray[np.float64]
    tie: NDArray[np.bool_]
    unclear: NDArray[np.bool_]
    accepted: NDArray[np.int64]
    left: NDArray[np.int64]


class Together(NamedTuple):
    """What eight runs work in."""

    slots: Slots
    fronts: Fronts
    decision: Decision


def make_together(noise: Noise, n_arms: int) -> Together:
    """Memory for eight runs with so many arms."""
    decision = Decision(
        slot=word_memory(FEW_LEAVING * WIDTH),
        optimal=np.zeros(FEW_LEAVING * WIDTH, np.bool_),
        exact=np.zeros(n_arms, np.bool_),
        gaps=float_memory(n_arms * WIDTH),
        threshold=float_memory(WIDTH),
        tie=np.zeros(WIDTH, np.bool_),
        unclear=np.zeros(WIDTH, np.bool_),
        accepted=np.zeros(WIDTH, np.int64),
        left=np.zeros(WIDTH, np.int64),
    )
    return Together(runs_in_a_row(n_arms, noise.n_objectives, noise.kind), make_fronts(n_arms, noise.n_objectives), decision)


@pasted
def run_together(noise, plan, seed, first, n_runs, together, alone, outcome, row):
    """Makes ``n_runs`` <= 8 runs from ``first`` on."""
    slots, decision = together.slots, together.decision
    D = noise.n_objectives
    for lane in range(WIDTH):
        key = run_key(seed, first + lane)
        slots.hashes[lane] = key.start
        decision.slot[lane] = key.middle
        decision.accepted[lane] = 0
    start_key, middle_key = load(slots.hashes, 0), load(decision.slot, 0)
    for i in range(noise.n_arms):
        for lane in range(WIDTH):
            fill_slot(noise, slots, i * WIDTH + lane, i * D * WIDTH + lane, i)
        for d in range(D):
            store(slots.sums, (i * D + d) * WIDTH, spread(0.0))
    for lane in range(n_runs):
        outcome.answers[row + lane] = 0
        outcome.rounds[row + lane] = -1  # goes on
    n, before, used, start = noise.n_arms, 0, 0, 0
    running = True
    while running and start < plan.pulls.size:
        t = plan.pulls[start]
        pull(noise, start_key, middle_key, plan.columns[start], t, before, n, WIDTH, slots)
        before += t
        used += n * t
        stop = next_pulls(plan, start)
        running = _close_rounds(noise, plan, start, stop, n, used, n_runs, together, alone, outcome, row)
        n = plan.active[stop]
        start = stop
    for lane in range(n_runs):
        if outcome.rounds[row + lane] < 0:
            for i in range(n):
                include(slots.arm[i * WIDTH + lane], outcome.answers[row + lane])
            outcome.pulls[row + lane] = used
            outcome.rounds[row + lane] = plan.pulls.size


@pasted
def _close_rounds(noise, plan, start, stop, n, used, n_runs, together, alone, outcome, row):
    """Closes the rounds ``start`` to ``stop - 1``, of which only the first pulled, as ``eliminate`` does for one run.

    Returns whether any run goes on.
    """
    slots, fronts, decision = together.slots, together.fronts, together.decision
    D = noise.n_objectives
    keep = plan.active[stop]
    n_leaving = n - keep
    few = n_leaving <= FEW_LEAVING and keep > 0
    n_pivots = find_pivots(slots.sums, slots.number, D, n, fronts)
    if few:
        _decide_few(slots.sums, slots.number, D, n, n_leaving, stop - start == 1, n_pivots, fronts, decision)
    elif keep > 0:
        _decide_many(slots.sums, D, n, n_leaving, n_pivots, fronts, decision)
    else:
        _decide_all(n, n_pivots, fronts, decision)
    running = False
    for lane in range(n_runs):
        decision.left[lane] = 0
        if outcome.rounds[row + lane] >= 0:
            continue
        answer = outcome.answers[row + lane]
        unclear = decision.unclear[lane]
        if not few and keep > 0 and not unclear and decision.tie[lane]:
            split = _settle(D, slots, fronts, n_pivots, n, n_leaving, lane, decision, alone.slots, alone.front, alone.slot_of)
            unclear = split and stop - start > 1
        if not unclear and plan.max_arms > 0 and stop - start > 1:
            optimal = _optimal_leaving(few, n_leaving, n_pivots, fronts, decision, lane)
            unclear = decision.accepted[lane] + optimal >= plan.max_arms
        last = stop
        if unclear:
            _copy_out(slots, D, n, lane, alone.slots)
            left, decision.accepted[lane], last = eliminate(
                noise, plan, start, stop, n, decision.accepted[lane], alone.slots, alone.front, alone.slot_of, answer
            )
            _copy_in(noise, slots, left, lane, alone.slots)
        elif few:
            decision.accepted[lane] += _leave_few(noise, slots, n, n_leaving, lane, decision, answer)
        else:
            for p in range(n_pivots):
                if _leaves(p, lane, fronts, decision):
                    include(slots.arm[np.int64(fronts.slot[p * WIDTH + lane]) * WIDTH + lane], answer)
                    decision.accepted[lane] += 1
            decision.left[lane] = n
        if 0 < plan.max_arms <= decision.accepted[lane]:
            outcome.pulls[row + lane] = used
            outcome.rounds[row + lane] = last
        else:
            running = True
    if not few and keep > 0:
        _leave_many(noise, slots, n, decision)
    return running


# Who leaves.


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
def _decide_few(sums, numbers, n_objectives, n, n_leaving, one_round, n_pivots, fronts, decision):
    """Finds the arms with the largest gaps, largest first."""
    zero = spread(0.0)
    never = zero > zero
    ties = never
    single = zero >= zero if n_leaving == 1 else never
    for p in range(n_pivots):
        decision.exact[p] = False
    last = spread(np.inf)
    for k in range(n_leaving):
        top, where, tie = spread(-1.0), spread(uint64(0)), never
        for i in range(n):
            gap = zero - load(fronts.best, i * WIDTH)
            better = (gap > top) & (gap < last)
            tie = (tie | (gap == top)) & ~better
            top, where = choose(better, gap, top), choose(better, spread(uint64(i)), where)
        arm = spread(-1.0)  # of the pivot that leads, if one does
        for p in range(n_pivots):
            if bits(load(fronts.bound, p * WIDTH) >= top) != 0:
                _make_exact(sums, n_objectives, n, p, fronts, decision)
                gap, other = load(fronts.gap, p * WIDTH), load(fronts.arm, p * WIDTH)
                level = gap == top
                # The nearest two optimal arms have the same gap, so that this tie is frequent: the larger number leaves. With a
                # dominated arm of the same gap, which leaves before both, neither leads.
                better = ((gap > top) & (gap < last)) | (single & level & (arm >= zero) & (other > arm))
                tie = (tie | (level & ~single)) & ~better
                top, where = choose(better, gap, top), choose(better, load(fronts.slot, p * WIDTH), where)
                arm = choose(better, other, arm)
        ties = ties | tie
        last = top
        _write_leaving(k, where, arm >= zero, decision)
    unclear = _dominated_pivots(n_pivots, fronts) | (last <= zero)
    if bits(ties) != 0:
        unclear = unclear | _decide_ties(sums, numbers, n_objectives, n, n_leaving, one_round, n_pivots, fronts, decision)
    _write_down(bits(unclear), decision.unclear)


@inner
def _decide_ties(sums, numbers, n_objectives, n, n_leaving, one_round, n_pivots, fronts, decision):
    """Finds the arms that leave where there are ties: arms that are not optimal leave first, then those with larger numbers.

    An arm's rank is its number, of one that is dominated plus more than any number. Returns in which runs that is not enough:
    where an optimal arm is in the tie at the cut, and the cut is that of several rounds.
    """
    zero, dominated = spread(0.0), spread(float(MOST_ARMS))
    never = zero > zero
    last, last_rank = spread(np.inf), spread(np.inf)
    for k in range(n_leaving):
        top, rank, where, optimal = spread(-1.0), spread(-1.0), spread(uint64(0)), never
        for i in range(n):
            gap, other = zero - load(fronts.best, i * WIDTH), load(numbers, i * WIDTH) + dominated
            better = _comes_before(gap, other, top, rank) & _comes_before(last, last_rank, gap, other)
            top, rank = choose(better, gap, top), choose(better, other, rank)
            where = choose(better, spread(uint64(i)), where)
        for p in range(n_pivots):
            if bits(load(fronts.bound, p * WIDTH) >= top) != 0:
                _make_exact(sums, n_objectives, n, p, fronts, decision)
                gap, other = load(fronts.gap, p * WIDTH), load(fronts.arm, p * WIDTH)
                better = _comes_before(gap, other, top, rank) & _comes_before(last, last_rank, gap, other)
                top, rank = choose(better, gap, top), choose(better, other, rank)
                where = choose(better, load(fronts.slot, p * WIDTH), where)
                optimal = optimal | better
        last, last_rank = top, rank
        _write_leaving(k, where, optimal, decision)
    unclear = last <= zero
    if not one_round:
        optimal, staying = never, never
        for p in range(n_pivots):
            if decision.exact[p]:
                level = load(fronts.gap, p * WIDTH) == last
                optimal = optimal | level
                staying = staying | (level & (load(fronts.arm, p * WIDTH) < last_rank))
        for i in range(n):
            level = (zero - load(fronts.best, i * WIDTH)) == last
            staying = staying | (level & (load(numbers, i * WIDTH) + dominated < last_rank))
        unclear = unclear | (optimal & staying)
    return unclear


@inlined
def _comes_before(gap, rank, other_gap, other_rank):
    """Whether the first leaves before the other."""
    return (gap > other_gap) | ((gap == other_gap) & (rank > other_rank))


@inlined
def _make_exact(sums, n_objectives, n, p, fronts, decision):
    if not decision.exact[p]:
        find_gap(sums, n_objectives, n, p, fronts)
        decision.exact[p] = True


@inlined
def _write_leaving(k, slot, optimal, decision):
    store(decision.slot, k * WIDTH, slot)
    mask = bits(optimal)
    for lane in range(WIDTH):
        decision.optimal[k * WIDTH + lane] = (mask >> lane) & 1


@inner
def _decide_many(sums, n_objectives, n, n_leaving, n_pivots, fronts, decision):
    """Finds the gap from which on arms leave; pivots that cannot reach that of the others keep their bounds for gaps."""
    zero = spread(0.0)
    for i in range(n):
        store(decision.gaps, i * WIDTH, zero - load(fronts.best, i * WIDTH))
    threshold, count = _thresholds(decision.gaps, n, n_leaving, zero)
    again = False
    for p in range(n_pivots):
        bound = load(fronts.bound, p * WIDTH)
        store(fronts.gap, p * WIDTH, bound)
        if bits(bound >= threshold) != 0:
            find_gap(sums, n_objectives, n, p, fronts)
            again |= bits(load(fronts.gap, p * WIDTH) >= threshold) != 0
        for lane in range(WIDTH):
            if fronts.bound[p * WIDTH + lane] > 0.0:
                decision.gaps[np.int64(fronts.slot[p * WIDTH + lane]) * WIDTH + lane] = fronts.gap[p * WIDTH + lane]
    if again:
        threshold, count = _thresholds(decision.gaps, n, n_leaving, threshold)
    store(decision.threshold, 0, threshold)
    _write_down(bits(count > spread(float(n_leaving))), decision.tie)
    _write_down(bits(_dominated_pivots(n_pivots, fronts) | (threshold <= zero)), decision.unclear)


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
def _decide_all(n, n_pivots, fronts, decision):
    """Where every arm leaves: a run is unclear if an arm that is no pivot ties with one."""
    zero, one = spread(0.0), spread(1.0)
    ties = zero
    for i in range(n):
        ties = choose(load(fronts.best, i * WIDTH) == zero, ties + one, ties)
        store(decision.gaps, i * WIDTH, one)
    for p in range(n_pivots):
        ties = choose(load(fronts.bound, p * WIDTH) > zero, ties - one, ties)
    store(decision.threshold, 0, zero)
    _write_down(bits(_dominated_pivots(n_pivots, fronts) | (ties > zero)), decision.unclear)


@inlined
def _write_down(mask, flags):
    for lane in range(WIDTH):
        flags[lane] = (mask >> lane) & 1


@inner
def _settle(D, slots, fronts, n_pivots, n, n_leaving, lane, decision, alone, front, slot_of):
    """Breaks the tie at the threshold of one run; returns whether optimal arms are in it.

    The sums are not copied: they are read for a gap of 0 alone, and the threshold is positive.
    """
    for i in range(n):
        alone.arm[i] = slots.arm[i * WIDTH + lane]
        front.gap[i] = decision.gaps[i * WIDTH + lane]
        front.best[i] = fronts.best[i * WIDTH + lane]
    for p in range(n_pivots):
        if fronts.bound[p * WIDTH + lane] > 0.0:
            front.best[np.int64(fronts.slot[p * WIDTH + lane])] = 1.0  # all that matters is the sign
    split = settle_ties(decision.threshold[lane], alone, D, n, n_leaving, front, slot_of)
    for i in range(n):
        decision.gaps[i * WIDTH + lane] = front.gap[i]
    return split


@inlined
def _leaves(p, lane, fronts, decision):
    """Whether pivot p of a run is optimal and leaves, where many do."""
    slot = np.int64(fronts.slot[p * WIDTH + lane])
    return fronts.bound[p * WIDTH + lane] > 0.0 and decision.gaps[slot * WIDTH + lane] >= decision.threshold[lane]


@inner
def _optimal_leaving(few, n_leaving, n_pivots, fronts, decision, lane):
    count = 0
    if few:
        for k in range(n_leaving):
            count += decision.optimal[k * WIDTH + lane]
    else:
        for p in range(n_pivots):
            count += _leaves(p, lane, fronts, decision)
    return count


# How they leave: the last slot first, each hole filled with the last slot that stays.


@inlined
def _leave_few(noise, slots, n, n_leaving, lane, decision, answer):
    """Takes the arms that were decided on out of one run; returns how many of them are accepted."""
    accepted = 0
    for k in range(n_leaving):
        if decision.optimal[k * WIDTH + lane]:
            include(slots.arm[np.int64(decision.slot[k * WIDTH + lane]) * WIDTH + lane], answer)
            accepted += 1
    limit = n
    for _ in range(n_leaving):
        i = -1
        for k in range(n_leaving):
            candidate = np.int64(decision.slot[k * WIDTH + lane])
            if i < candidate < limit:
                i = candidate
        limit = i
        n -= 1
        _copy_slot(noise, slots, n, i, lane)
    return accepted


@inner
def _leave_many(noise, slots, n, decision):
    """Takes the arms with gaps from the threshold on out of the runs that have arms ``left``."""
    threshold = load(decision.threshold, 0)
    for i in range(n - 1, -1, -1):
        leaving = bits(load(decision.gaps, i * WIDTH) >= threshold)
        while leaving != 0:
            lane = lowest_bit(leaving)
            leaving &= leaving - 1
            if decision.left[lane] > 0:
                decision.left[lane] -= 1
                _copy_slot(noise, slots, decision.left[lane], i, lane)


@inlined
def _copy_slot(noise, slots, source, target, lane):
    """Overwrites a slot of one run with another."""
    D = noise.n_objectives
    fill_slot(noise, slots, target * WIDTH + lane, target * D * WIDTH + lane, slots.arm[source * WIDTH + lane])
    for d in range(D):
        slots.sums[(target * D + d) * WIDTH + lane] = slots.sums[(source * D + d) * WIDTH + lane]


@inner
def _copy_out(slots, D, n, lane, alone):
    """Writes the arms and sums of one run to where ``one_by_one`` works."""
    for i in range(n):
        alone.arm[i] = slots.arm[i * WIDTH + lane]
        for d in range(D):
            alone.sums[d * alone.stride + i] = slots.sums[(i * D + d) * WIDTH + lane]
    for i in range(n, (n + WIDTH - 1) // WIDTH * WIDTH):
        for d in range(D):
            alone.sums[d * alone.stride + i] = np.inf


@inner
def _copy_in(noise, slots, n, lane, alone):
    """Writes them back."""
    D = noise.n_objectives
    for i in range(n):
        fill_slot(noise, slots, i * WIDTH + lane, i * D * WIDTH + lane, alone.arm[i])
        for d in range(D):
            slots.sums[(i * D + d) * WIDTH + lane] = alone.sums[d * alone.stride + i]
