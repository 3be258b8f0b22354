"""Eight runs of EGE at once: all have the same number of active arms and the same pulls in every round (Algorithms 1 and 2).

Slot i of the run in lane l is lane l of vector i. Who leaves is decided in all lanes at once; a run in which it is unclear, which
is rare, closes its rounds in ``one_run``. Sets of runs are whole numbers with a bit for each lane.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inner, pasted
from paretopick.simulation.kernels.draws.counters import GOLDEN, Key, run_key
from paretopick.simulation.kernels.draws.pulls import (
    COVARIANCE,
    BanditArrays,
    Draw,
    Slots,
    from_run,
    pull,
    slots_of_eight_runs,
)
from paretopick.simulation.kernels.ege.decisions import (
    FEW_LEAVING,
    Decision,
    decide_all,
    decide_few,
    decide_many,
    make_decision,
)
from paretopick.simulation.kernels.ege.eight_fronts import Fronts, find_pivots, make_fronts
from paretopick.simulation.kernels.ege.leaving import accept_few, accept_many, copy_in, copy_out, leave_few, leave_many, leaves
from paretopick.simulation.kernels.ege.one_run import eliminate, next_cut, settle_ties
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vector_memory import load, store
from paretopick.simulation.kernels.vectors import WIDTH, lowest_bit, spread


class EightRuns(NamedTuple):
    """What eight runs work in; of each run, how many arms are accepted and in how many slots there are arms."""

    slots: Slots
    fronts: Fronts
    decision: Decision
    accepted: NDArray[np.int64]
    left: NDArray[np.int64]


def memory_of_eight_runs(bandit: BanditArrays, n_arms: int) -> EightRuns:
    """Memory for eight runs with so many arms."""
    return EightRuns(
        slots=slots_of_eight_runs(n_arms, bandit.n_objectives, bandit.kind),
        fronts=make_fronts(n_arms, bandit.n_objectives),
        decision=make_decision(n_arms),
        accepted=np.zeros(WIDTH, np.int64),
        left=np.zeros(WIDTH, np.int64),
    )


@pasted
def run_eight(bandit, schedule, seed, first, memory, outcome):
    """Makes as many runs from ``first`` on as ``outcome`` has rows, at most eight."""
    slots = memory.eight.slots
    keys = _begin(bandit, seed, first, memory.eight)
    n_runs = outcome.pulls.size
    outcome.answers[:] = 0
    n, before, used, start = bandit.n_arms, 0, 0, 0
    running = (1 << n_runs) - 1
    while running != 0 and start < schedule.pulls.size:
        t = schedule.pulls[start]
        pull(bandit, keys, Draw(t, before, schedule.columns[start]), n, WIDTH, slots)
        before += t  # n_r = t_1 + .. + t_r
        used += n * t  # lambda_r t_r
        cut = next_cut(schedule, start, n)
        going_on = _close_rounds(bandit, schedule, cut, running, memory, outcome)
        for lane in range(n_runs):
            if ((running & ~going_on) >> lane) & 1:
                outcome.pulls[lane] = used
        running, n, start = going_on, n - cut.n_leaving, cut.stop
    for lane in range(n_runs):
        if (running >> lane) & 1:
            for i in range(n):
                include(slots.arm[i * WIDTH + lane], outcome.answers[lane])
            outcome.pulls[lane] = used
            outcome.rounds[lane] = schedule.pulls.size


@inner
def _begin(bandit, seed, first, eight):
    """Puts arm i into slot i of every run, without pulls; returns the keys of the runs."""
    slots, D = eight.slots, bandit.n_objectives
    for i in range(bandit.n_arms):
        store(slots.arm, i * WIDTH, spread(uint64(i)))
        store(slots.counter, i * WIDTH, spread(uint64(i * D) * GOLDEN))
        for d in range(i * D, (i + 1) * D):
            store(slots.sums, d * WIDTH, spread(0.0))
            store(slots.means, d * WIDTH, spread(bandit.means[d]))
        if bandit.kind == COVARIANCE:
            for cell in range(D * D):
                store(slots.factors, cell * slots.arm.size + i * WIDTH, spread(bandit.factors[i * D * D + cell]))
    if bandit.step > 0:  # means of their own, lane by lane: the same ones for all are written faster
        for lane in range(WIDTH):
            for cell in range(bandit.step):
                slots.means[cell * WIDTH + lane] = bandit.means[lane * bandit.step + cell]
    for lane in range(WIDTH):
        key = run_key(seed, first + lane)
        slots.words[lane], eight.fronts.slot[lane] = key.start, key.middle  # two vectors that are not in use yet
        eight.accepted[lane] = 0
    return Key(load(slots.words, 0), load(eight.fronts.slot, 0))


@pasted
def _close_rounds(bandit, schedule, cut, running, memory, outcome):
    """Closes the rounds of a cut in the running runs, as ``eliminate`` does for one run; returns those that go on."""
    eight, one = memory.eight, memory.one
    slots, fronts, decision = eight.slots, eight.fronts, eight.decision
    several = cut.stop - cut.start > 1
    all_leave = cut.n_leaving == cut.n
    few = cut.n_leaving <= FEW_LEAVING and not all_leave
    n_pivots = find_pivots(slots, cut.n, fronts)
    ties = 0
    if few:
        unclear = decide_few(slots, cut, n_pivots, fronts, decision)
    elif all_leave:
        unclear = decide_all(cut, n_pivots, fronts, decision)
    else:
        unclear, ties = decide_many(slots, cut, n_pivots, fronts, decision)
    unclear &= running
    ties &= running & ~unclear
    while ties != 0:
        lane = lowest_bit(ties)
        ties &= ties - 1
        if _settle(cut, n_pivots, lane, eight, one) and several:
            unclear |= 1 << lane
    if schedule.max_arms > 0 and several:
        for lane in range(outcome.pulls.size):
            if eight.accepted[lane] + _optimal_leaving(few, cut, n_pivots, lane, eight) >= schedule.max_arms:
                unclear |= (1 << lane) & running
    clear = running & ~unclear
    while unclear != 0:
        lane = lowest_bit(unclear)
        unclear &= unclear - 1
        copy_out(cut.n, lane, slots, one.slots)
        n, eight.accepted[lane], outcome.rounds[lane] = eliminate(schedule, cut, eight.accepted[lane], one, outcome.answers[lane])
        copy_in(from_run(bandit, lane), n, lane, slots, one.slots)
    if few:
        accept_few(cut, clear, eight, outcome.answers)
        leave_few(cut, clear, slots, decision)
    else:
        accept_many(n_pivots, clear, eight, outcome.answers)
        if not all_leave:
            leave_many(cut.n, clear, eight)
    if schedule.max_arms > 0:
        for lane in range(outcome.pulls.size):
            if (clear >> lane) & 1:
                outcome.rounds[lane] = cut.stop
            if eight.accepted[lane] >= schedule.max_arms:  # Algorithm 2
                running &= ~(1 << lane)
    return running


@inner
def _settle(cut, n_pivots, lane, eight, one):
    """Breaks the tie at the threshold of one run; returns whether optimal arms are in it.

    The sums are not copied: they are read for a gap of 0 alone, and the threshold is positive.
    """
    slots, fronts, decision, front = eight.slots, eight.fronts, eight.decision, one.front
    for i in range(cut.n):
        one.slots.arm[i] = slots.arm[i * WIDTH + lane]
        front.gap[i] = decision.gaps[i * WIDTH + lane]
        front.best[i] = fronts.best[i * WIDTH + lane]
    for p in range(n_pivots):
        if fronts.bound[p * WIDTH + lane] > 0.0:
            front.best[fronts.slot[p * WIDTH + lane]] = 1.0  # all that matters is the sign
    split = settle_ties(decision.threshold[lane], cut.n, cut.n_leaving, one)
    for i in range(cut.n):
        decision.gaps[i * WIDTH + lane] = front.gap[i]
    return split


@inner
def _optimal_leaving(few, cut, n_pivots, lane, eight):
    count = 0
    if few:
        for k in range(cut.n_leaving):
            count += (eight.decision.optimal[k] >> lane) & 1
    else:
        for p in range(n_pivots):
            count += leaves(p, lane, eight.fronts, eight.decision)
    return count
