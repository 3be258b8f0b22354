"""One run of EGE (Algorithms 1 and 2), eight arms in a vector: for very many arms, and for what is rare in ``eight_runs``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner, pasted
from paretopick.simulation.kernels.draws.counters import Key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, Draw, Slots, copy_slot, fill_slot, pull, slots_of_one_run
from paretopick.simulation.kernels.ege.decisions import Cut
from paretopick.simulation.kernels.fronts import Front, find_gaps, is_optimal, make_front, threshold
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vector_memory import load
from paretopick.simulation.kernels.vectors import WIDTH, bits, choose, lowest_bit, smaller, smallest, spread


class ScheduleArrays(NamedTuple):
    """A schedule, lambda_r and t_r, and in which column of the tables of sums each round finds its number of pulls.

    ``max_arms`` ends a run as soon as so many arms are accepted, which are then the answer; 0 never.
    """

    active: NDArray[np.int64]
    pulls: NDArray[np.int64]
    columns: NDArray[np.int64]
    max_arms: int


class OneRun(NamedTuple):
    """What one run works in; ``slot_of`` is -1 for every arm, except while ties are broken."""

    slots: Slots
    front: Front
    slot_of: NDArray[np.int64]


def memory_of_one_run(bandit: BanditArrays) -> OneRun:
    """Memory for one run."""
    slots = slots_of_one_run(bandit.n_arms, bandit.n_objectives, bandit.kind)
    return OneRun(slots, make_front(slots.stride), np.full(bandit.n_arms, -1))


@inlined
def next_cut(schedule, start, n):
    """The rounds that are closed after the pulls of round ``start``: up to the next round that pulls."""
    stop = start + 1
    while stop < schedule.pulls.size and schedule.pulls[stop] == 0:
        stop += 1
    return Cut(start, stop, n, n - schedule.active[stop])


@pasted
def run_one(bandit, schedule, key, one, outcome, row):
    """Makes one run."""
    slots = one.slots
    for i in range(bandit.n_arms):
        fill_slot(bandit, slots, i, i, i)
        for d in range(bandit.n_objectives):
            slots.sums[d * slots.stride + i] = 0.0
    answer = outcome.answers[row]
    answer[:] = 0
    keys = Key(spread(key.start), spread(key.middle))
    n, accepted, before, used, start = bandit.n_arms, 0, 0, 0, 0
    while start < schedule.pulls.size:
        t = schedule.pulls[start]
        n_vectors = (n + WIDTH - 1) // WIDTH
        draw = Draw(t, before, schedule.columns[start])
        pull(bandit, keys, draw, n_vectors, n - (n_vectors - 1) * WIDTH, slots)
        before += t  # n_r = t_1 + .. + t_r
        used += n * t  # lambda_r t_r
        cut = next_cut(schedule, start, n)
        n, accepted, last = eliminate(schedule, cut, accepted, one, answer)
        if 0 < schedule.max_arms <= accepted:  # Algorithm 2
            break
        start = cut.stop
    else:
        for i in range(n):
            include(slots.arm[i], answer)
        last = schedule.pulls.size
    outcome.pulls[row] = used
    outcome.rounds[row] = last


@inner
def eliminate(schedule, cut, accepted, one, answer):
    """Closes the rounds of a cut.

    Returns how many arms stay, how many are accepted so far, and the last round that took place.

    Without new pulls a leaving arm changes neither who is optimal nor a gap smaller than its own, and gaps that tie with its own
    can only grow, those of optimal arms: all these rounds at once take out whoever one round would that kept as few. Only where
    optimal arms are in a tie at the cut, since they may then leave earlier than a single round would have it, or where the number
    of accepted arms may end the run, does the order matter; rounds are then closed one after the other.
    """
    slots, front = one.slots, one.front
    D, n = slots.n_objectives, cut.n
    if cut.n_leaving == n and schedule.max_arms == 0:
        find_gaps(slots.sums, slots.stride, D, n, 0, front)
        for i in range(n):
            if is_optimal(slots.sums, slots.stride, D, front, i):
                include(slots.arm[i], answer)
        return 0, accepted, cut.stop
    least, split = _cut_gaps(n, cut.n_leaving, one)
    several = cut.stop - cut.start > 1
    stops = schedule.max_arms > 0 and accepted + _optimal_leaving(least, n, one) >= schedule.max_arms
    if not several or not (split or stops):
        accepted += _accept(least, n, one, answer)
        return _remove(least, n, one), accepted, cut.stop
    r = cut.start
    if not stops:  # whoever is above the tie leaves in any order
        above = _next_above(front.gap, n, least)
        accepted += _accept(above, n, one, answer)
        n = _remove(above, n, one)
        while schedule.active[r + 1] >= n:
            r += 1
    while r < cut.stop:
        least, split = _cut_gaps(n, n - schedule.active[r + 1], one)
        accepted += _accept(least, n, one, answer)
        n = _remove(least, n, one)
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
def _cut_gaps(n, n_leaving, one):
    """The gap from which on arms leave, and whether optimal arms are in a tie at the cut."""
    find_gaps(one.slots.sums, one.slots.stride, one.slots.n_objectives, n, n_leaving, one.front)
    least, count = threshold(one.front.gap, n, n_leaving)
    return least, count > n_leaving and settle_ties(least, n, n_leaving, one)


@inner
def settle_ties(least, n, n_leaving, one):
    """Lowers the gaps of arms that tie at the cut and stay; returns whether there are optimal arms among those that tie.

    Arms that are not optimal leave first, then those with larger numbers.
    """
    slots, front, slot_of = one.slots, one.front, one.slot_of
    ties_leaving = n_leaving
    for i in range(n):
        if front.gap[i] > least:
            ties_leaving -= 1
        elif front.gap[i] == least:
            slot_of[slots.arm[i]] = i
    for arm in range(slot_of.size - 1, -1, -1):
        i = slot_of[arm]
        if i >= 0 and not is_optimal(slots.sums, slots.stride, slots.n_objectives, front, i):
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
def _optimal_leaving(least, n, one):
    slots, front = one.slots, one.front
    count = 0
    for i in range(n):
        count += front.gap[i] >= least and is_optimal(slots.sums, slots.stride, slots.n_objectives, front, i)
    return count


@inner
def _accept(least, n, one, answer):
    """Adds the optimal among the leaving arms to the answer, and returns how many they are."""
    slots, front = one.slots, one.front
    accepted = 0
    for v in range(0, n, WIDTH):
        leaving = bits(load(front.gap, v) >= spread(least))
        while leaving != 0:
            i = v + lowest_bit(leaving)
            leaving &= leaving - 1
            if is_optimal(slots.sums, slots.stride, slots.n_objectives, front, i):
                include(slots.arm[i], answer)
                accepted += 1
    return accepted


@inner
def _remove(least, n, one):
    """Takes the leaving arms out, last slot first, each hole filled with the last slot that stays; returns how many stay."""
    slots, front = one.slots, one.front
    for i in range(n - 1, -1, -1):
        if front.gap[i] >= least:
            n -= 1
            front.gap[i] = front.gap[n]
            copy_slot(slots, n, n, i, i)
            for d in range(slots.n_objectives):
                slots.sums[d * slots.stride + n] = np.inf
    return n
