"""One run of EGE at a time, eight arms side by side: for very many arms, and for whatever is rare in ``side_by_side``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.draws.pulls import BanditArrays, Slots, arms_in_a_row, fill_slot, pull
from paretopick.simulation.kernels.fronts import Front, find_gaps, is_optimal, make_front, threshold
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    inlined,
    inner,
    load,
    lowest_bit,
    pasted,
    smaller,
    smallest,
    spread,
)


class ScheduleArrays(NamedTuple):
    """A schedule, and in which column of the tables of sums each round finds its number of pulls.

    ``max_arms`` ends a run as soon as so many arms are accepted, which are then the answer; 0 never.
    """

    active: NDArray[np.int64]
    pulls: NDArray[np.int64]
    columns: NDArray[np.int64]
    max_arms: int


class Alone(NamedTuple):
    """What one run works in; ``slot_of`` is -1 for every arm, except while ties are broken."""

    slots: Slots
    front: Front
    slot_of: NDArray[np.int64]


def make_alone(bandit: BanditArrays) -> Alone:
    """Memory for one run."""
    slots = arms_in_a_row(bandit.n_arms, bandit.n_objectives, bandit.kind)
    return Alone(slots, make_front(slots.stride), np.full(bandit.n_arms, -1))


@inlined
def next_pulls(schedule, r):
    """The first round after r that pulls, or the number of rounds."""
    r += 1
    while r < schedule.pulls.size and schedule.pulls[r] == 0:
        r += 1
    return r


@pasted
def run_alone(bandit, schedule, key, alone, outcome, row):
    """Makes one run."""
    slots, front, slot_of = alone.slots, alone.front, alone.slot_of
    for i in range(bandit.n_arms):
        fill_slot(bandit, slots, i, i, i)
        for d in range(bandit.n_objectives):
            slots.sums[d * slots.stride + i] = 0.0
    answer = outcome.answers[row]
    answer[:] = 0
    start_key, middle_key = spread(key.start), spread(key.middle)
    n, accepted, before, used, start = bandit.n_arms, 0, 0, 0, 0
    while start < schedule.pulls.size:
        t = schedule.pulls[start]
        vectors = (n + WIDTH - 1) // WIDTH
        pull(bandit, start_key, middle_key, schedule.columns[start], t, before, vectors, n - (vectors - 1) * WIDTH, slots)
        before += t
        used += n * t
        stop = next_pulls(schedule, start)
        n, accepted, last = eliminate(bandit, schedule, start, stop, n, accepted, slots, front, slot_of, answer)
        if 0 < schedule.max_arms <= accepted:
            break
        start = stop
    else:
        for i in range(n):
            include(slots.arm[i], answer)
        last = schedule.pulls.size
    outcome.pulls[row] = used
    outcome.rounds[row] = last


@inner
def eliminate(bandit, schedule, start, stop, n, accepted, slots, front, slot_of, answer):
    """Closes the rounds ``start`` to ``stop - 1``, of which only the first pulled.

    Returns how many arms stay, how many are accepted so far, and the last round that took place.

    Without new pulls a leaving arm changes neither who is optimal nor a gap smaller than its own, and gaps that tie with its own
    can only grow, those of optimal arms: all these rounds together take out whoever one round would that kept as few. Only where
    optimal arms are in a tie at the cut, since they may then leave earlier than a single round would have it, or where the number
    of accepted arms may end the run, does the order matter; rounds are then closed one by one.
    """
    D = bandit.n_objectives
    keep = schedule.active[stop]
    if keep == 0 and schedule.max_arms == 0:
        find_gaps(slots.sums, slots.stride, D, n, 0, front)
        for i in range(n):
            if is_optimal(slots.sums, slots.stride, D, front, i):
                include(slots.arm[i], answer)
        return 0, accepted, stop
    find_gaps(slots.sums, slots.stride, D, n, n - keep, front)
    least, split = _cut(slots, D, n, n - keep, front, slot_of)
    split &= stop - start > 1
    stops = schedule.max_arms > 0 and accepted + _optimal_leaving(least, slots, D, n, front) >= schedule.max_arms
    if not split and (not stops or stop - start == 1):
        accepted += _accept(least, slots, D, n, front, answer)
        return _remove(bandit, least, n, slots, front), accepted, stop
    r = start
    if not stops:  # whoever is above the tie leaves in any order
        above = _next_above(front.gap, n, least)
        accepted += _accept(above, slots, D, n, front, answer)
        n = _remove(bandit, above, n, slots, front)
        while schedule.active[r + 1] >= n:
            r += 1
    while r < stop:
        find_gaps(slots.sums, slots.stride, D, n, n - schedule.active[r + 1], front)
        least, split = _cut(slots, D, n, n - schedule.active[r + 1], front, slot_of)
        accepted += _accept(least, slots, D, n, front, answer)
        n = _remove(bandit, least, n, slots, front)
        r += 1
        if 0 < schedule.max_arms <= accepted:
            break
    return n, accepted, r


@inlined
def _next_above(gaps, n, least):
    """The smallest gap that exceeds another."""
    nearest = spread(np.inf)
    for i in range(0, n, WIDTH):
        gap = load(gaps, i)
        nearest = choose(gap > spread(least), smaller(gap, nearest), nearest)
    return smallest(nearest)


@inner
def _cut(slots, n_objectives, n, n_leaving, front, slot_of):
    """The gap from which on arms leave, and whether optimal arms are in a tie at the cut."""
    least, count = threshold(front.gap, n, n_leaving)
    return least, count > n_leaving and settle_ties(least, slots, n_objectives, n, n_leaving, front, slot_of)


@inner
def settle_ties(least, slots, n_objectives, n, n_leaving, front, slot_of):
    """Lowers the gaps of arms that tie at the cut and stay; returns whether there are optimal arms among those that tie.

    Arms that are not optimal leave first, then those with larger numbers.
    """
    ties_leaving = n_leaving
    for i in range(n):
        if front.gap[i] > least:
            ties_leaving -= 1
        elif front.gap[i] == least:
            slot_of[slots.arm[i]] = i
    for arm in range(slot_of.size - 1, -1, -1):
        i = slot_of[arm]
        if i >= 0 and not is_optimal(slots.sums, slots.stride, n_objectives, front, i):
            slot_of[arm] = -1
            if ties_leaving > 0:
                ties_leaving -= 1
            else:
                front.gap[i] = -0.5
    optimal = False
    for arm in range(slot_of.size - 1, -1, -1):
        i = slot_of[arm]
        if i >= 0:
            slot_of[arm] = -1
            optimal = True
            if ties_leaving > 0:
                ties_leaving -= 1
            else:
                front.gap[i] = -0.5
    return optimal


@inner
def _optimal_leaving(least, slots, n_objectives, n, front):
    count = 0
    for i in range(n):
        count += front.gap[i] >= least and is_optimal(slots.sums, slots.stride, n_objectives, front, i)
    return count


@inner
def _accept(least, slots, n_objectives, n, front, answer):
    """Adds the optimal among the leaving arms to the answer, and returns how many they are."""
    accepted = 0
    for v in range(0, n, WIDTH):
        leaving = bits(load(front.gap, v) >= spread(least))
        while leaving != 0:
            i = v + lowest_bit(leaving)
            leaving &= leaving - 1
            if is_optimal(slots.sums, slots.stride, n_objectives, front, i):
                include(slots.arm[i], answer)
                accepted += 1
    return accepted


@inner
def _remove(bandit, least, n, slots, front):
    """Takes the leaving arms out, last slot first, each hole filled with the last slot that stays; returns how many stay."""
    for i in range(n - 1, -1, -1):
        if front.gap[i] >= least:
            n -= 1
            front.gap[i] = front.gap[n]
            fill_slot(bandit, slots, i, i, slots.arm[n])
            for d in range(bandit.n_objectives):
                slots.sums[d * slots.stride + i] = slots.sums[d * slots.stride + n]
                slots.sums[d * slots.stride + n] = np.inf
    return n
