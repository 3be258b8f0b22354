"""Eight runs of EGE side by side: all have the same number of active arms and the same pulls in every round.

Slot i of the run in lane l is lane l of vector i. Who leaves is decided in all lanes at once; a run in which it is unclear, which
is rare, closes its rounds in ``one_by_one``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, Slots, fill_slot, from_run, pull, runs_in_a_row
from paretopick.simulation.kernels.ege.decisions import (
    FEW_LEAVING,
    Decision,
    decide_all,
    decide_few,
    decide_many,
    make_decision,
)
from paretopick.simulation.kernels.ege.eight_fronts import Fronts, find_pivots, make_fronts
from paretopick.simulation.kernels.ege.one_run import eliminate, next_pulls, settle_ties
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    inlined,
    inner,
    load,
    lowest_bit,
    pasted,
    spread,
    store,
)


class Together(NamedTuple):
    """What eight runs work in."""

    slots: Slots
    fronts: Fronts
    decision: Decision


def make_together(bandit: BanditArrays, n_arms: int) -> Together:
    """Memory for eight runs with so many arms."""
    return Together(
        runs_in_a_row(n_arms, bandit.n_objectives, bandit.kind), make_fronts(n_arms, bandit.n_objectives), make_decision(n_arms)
    )


@pasted
def run_together(bandit, schedule, seed, first, n_runs, together, alone, outcome, row):
    """Makes ``n_runs`` <= 8 runs from ``first`` on."""
    slots, decision = together.slots, together.decision
    D = bandit.n_objectives
    for lane in range(WIDTH):
        key = run_key(seed, first + lane)
        slots.hashes[lane] = key.start  # two vectors that are not in use yet
        decision.slot[lane] = key.middle
        decision.accepted[lane] = 0
    start_key, middle_key = load(slots.hashes, 0), load(decision.slot, 0)
    for i in range(bandit.n_arms):
        for lane in range(WIDTH):
            fill_slot(bandit, slots, i * WIDTH + lane, i * D * WIDTH + lane, i)
        for d in range(D):
            store(slots.sums, (i * D + d) * WIDTH, spread(0.0))
    if bandit.step > 0:
        _give_each_its_means(bandit, row, slots)
    for lane in range(n_runs):
        outcome.answers[row + lane] = 0
        outcome.rounds[row + lane] = -1  # goes on
    n, before, used, start = bandit.n_arms, 0, 0, 0
    running = True
    while running and start < schedule.pulls.size:
        t = schedule.pulls[start]
        pull(bandit, start_key, middle_key, schedule.columns[start], t, before, n, WIDTH, slots)
        before += t
        used += n * t
        stop = next_pulls(schedule, start)
        running = _close_rounds(bandit, schedule, start, stop, n, used, n_runs, together, alone, outcome, row)
        n = schedule.active[stop]
        start = stop
    for lane in range(n_runs):
        if outcome.rounds[row + lane] < 0:
            for i in range(n):
                include(slots.arm[i * WIDTH + lane], outcome.answers[row + lane])
            outcome.pulls[row + lane] = used
            outcome.rounds[row + lane] = schedule.pulls.size


@inner
def _give_each_its_means(bandit, row, slots):
    """Puts the means of every run where ``fill_slot`` has put those of one: the same number for all is written faster."""
    for lane in range(WIDTH):
        for cell in range(bandit.step):
            slots.means[cell * WIDTH + lane] = bandit.means[(row + lane) * bandit.step + cell]


@pasted
def _close_rounds(bandit, schedule, start, stop, n, used, n_runs, together, alone, outcome, row):
    """Closes the rounds ``start`` to ``stop - 1``, of which only the first pulled, as ``eliminate`` does for one run.

    Returns whether any run goes on.
    """
    slots, fronts, decision = together.slots, together.fronts, together.decision
    D = bandit.n_objectives
    keep = schedule.active[stop]
    n_leaving = n - keep
    few = n_leaving <= FEW_LEAVING and keep > 0
    n_pivots = find_pivots(slots.sums, slots.number, D, n, fronts)
    if few:
        decide_few(slots.sums, slots.number, D, n, n_leaving, stop - start == 1, n_pivots, fronts, decision)
    elif keep > 0:
        decide_many(slots.sums, D, n, n_leaving, n_pivots, fronts, decision)
    else:
        decide_all(n, n_pivots, fronts, decision)
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
        if not unclear and schedule.max_arms > 0 and stop - start > 1:
            optimal = _optimal_leaving(few, n_leaving, n_pivots, fronts, decision, lane)
            unclear = decision.accepted[lane] + optimal >= schedule.max_arms
        last = stop
        if unclear:
            _copy_out(slots, D, n, lane, alone.slots)
            one = from_run(bandit, row + lane)
            left, decision.accepted[lane], last = eliminate(
                one, schedule, start, stop, n, decision.accepted[lane], alone.slots, alone.front, alone.slot_of, answer
            )
            _copy_in(one, slots, left, lane, alone.slots)
        elif few:
            decision.accepted[lane] += _leave_few(bandit, slots, n, n_leaving, lane, decision, answer)
        else:
            for p in range(n_pivots):
                if _leaves(p, lane, fronts, decision):
                    include(slots.arm[np.int64(fronts.slot[p * WIDTH + lane]) * WIDTH + lane], answer)
                    decision.accepted[lane] += 1
            decision.left[lane] = n
        if 0 < schedule.max_arms <= decision.accepted[lane]:
            outcome.pulls[row + lane] = used
            outcome.rounds[row + lane] = last
        else:
            running = True
    if not few and keep > 0:
        _leave_many(bandit, slots, n, decision)
    return running


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
def _leave_few(bandit, slots, n, n_leaving, lane, decision, answer):
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
        _copy_slot(bandit, slots, n, i, lane)
    return accepted


@inner
def _leave_many(bandit, slots, n, decision):
    """Takes the arms with gaps from the threshold on out of the runs that have arms ``left``."""
    threshold = load(decision.threshold, 0)
    for i in range(n - 1, -1, -1):
        leaving = bits(load(decision.gaps, i * WIDTH) >= threshold)
        while leaving != 0:
            lane = lowest_bit(leaving)
            leaving &= leaving - 1
            if decision.left[lane] > 0:
                decision.left[lane] -= 1
                _copy_slot(bandit, slots, decision.left[lane], i, lane)


@inlined
def _copy_slot(bandit, slots, source, target, lane):
    """Overwrites a slot of one run with another."""
    D = bandit.n_objectives
    fill_slot(bandit, slots, target * WIDTH + lane, target * D * WIDTH + lane, slots.arm[source * WIDTH + lane])
    for d in range(D):
        slots.sums[(target * D + d) * WIDTH + lane] = slots.sums[(source * D + d) * WIDTH + lane]
    if bandit.step > 0:
        for d in range(D):
            slots.means[(target * D + d) * WIDTH + lane] = slots.means[(source * D + d) * WIDTH + lane]


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
def _copy_in(bandit, slots, n, lane, alone):
    """Writes them back."""
    D = bandit.n_objectives
    for i in range(n):
        fill_slot(bandit, slots, i * WIDTH + lane, i * D * WIDTH + lane, alone.arm[i])
        for d in range(D):
            slots.sums[(i * D + d) * WIDTH + lane] = alone.sums[d * alone.stride + i]
