"""How arms leave eight runs at once: accepted if they are optimal, and out of their slots.

The last slot goes first, each hole filled with the last slot that stays. Sets of runs are whole numbers with a bit for each lane.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.draws.pulls import copy_slot, fill_slot
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vector_memory import load, scatter
from paretopick.simulation.kernels.vectors import WIDTH, as_mask, as_whole, bits, choose, lane_numbers, lowest_bit, spread


@inlined
def leaves(p, lane, fronts, decision):
    """Whether pivot p of a run is optimal and leaves, where many do."""
    slot = np.int64(fronts.slot[p * WIDTH + lane])
    return fronts.bound[p * WIDTH + lane] > 0.0 and decision.gaps[slot * WIDTH + lane] >= decision.threshold[lane]


@inlined
def accept_few(cut, clear, eight, answers):
    """Adds the optimal arms that were decided on to the answers of the clear runs."""
    slots, decision = eight.slots, eight.decision
    for k in range(cut.n_leaving):
        optimal = decision.optimal[k] & clear
        while optimal != 0:
            lane = lowest_bit(optimal)
            optimal &= optimal - 1
            include(slots.arm[np.int64(decision.slot[k * WIDTH + lane]) * WIDTH + lane], answers[lane])
            eight.accepted[lane] += 1


@inlined
def leave_few(cut, clear, slots, decision):
    """Takes the arms that were decided on out of the clear runs; in the others the last slots are copied onto themselves."""
    limit = spread(float(cut.n))
    for k in range(cut.n_leaving):
        hole = spread(-1.0)
        for other in range(cut.n_leaving):
            slot = load(decision.slot, other * WIDTH)
            hole = choose((slot > hole) & (slot < limit), slot, hole)
        limit = hole
        source = cut.n - 1 - k
        _copy_slots(slots, source, as_whole(choose(as_mask(clear), hole, spread(float(source)))))


@inlined
def _copy_slots(slots, source, target):
    """Overwrites a slot of each run with the one that is ``source`` in all."""
    D, n = slots.n_objectives, slots.arm.size
    place = target * spread(uint64(WIDTH)) + lane_numbers()
    scatter(slots.arm, place, load(slots.arm, source * WIDTH))
    scatter(slots.counter, place, load(slots.counter, source * WIDTH))
    start = target * spread(uint64(D * WIDTH)) + lane_numbers()
    for d in range(0, D * WIDTH, WIDTH):
        scatter(slots.sums, start + spread(uint64(d)), load(slots.sums, source * D * WIDTH + d))
        scatter(slots.means, start + spread(uint64(d)), load(slots.means, source * D * WIDTH + d))
    if slots.factors.size > 1:
        for cell in range(0, D * D * n, n):
            scatter(slots.factors, place + spread(uint64(cell)), load(slots.factors, cell + source * WIDTH))


@inner
def accept_many(n_pivots, clear, eight, answers):
    """Adds the optimal arms with gaps from the threshold on to the answers of the clear runs."""
    for lane in range(WIDTH):
        if (clear >> lane) & 1:
            for p in range(n_pivots):
                if leaves(p, lane, eight.fronts, eight.decision):
                    include(eight.slots.arm[np.int64(eight.fronts.slot[p * WIDTH + lane]) * WIDTH + lane], answers[lane])
                    eight.accepted[lane] += 1


@inner
def leave_many(n, clear, eight):
    """Takes the arms with gaps from the threshold on out of the clear runs."""
    slots, left, D = eight.slots, eight.left, eight.slots.n_objectives
    threshold = load(eight.decision.threshold, 0)
    left[:] = n
    for i in range(n - 1, -1, -1):
        leaving = bits(load(eight.decision.gaps, i * WIDTH) >= threshold) & clear
        while leaving != 0:
            lane = lowest_bit(leaving)
            leaving &= leaving - 1
            left[lane] -= 1
            last = left[lane]
            copy_slot(slots, last * WIDTH + lane, last * D * WIDTH + lane, i * WIDTH + lane, i * D * WIDTH + lane)


@inner
def copy_out(n, lane, slots, one):
    """Writes the arms and sums of one run to where ``one_run`` works."""
    D = slots.n_objectives
    for i in range(n):
        one.arm[i] = slots.arm[i * WIDTH + lane]
        for d in range(D):
            one.sums[d * one.stride + i] = slots.sums[(i * D + d) * WIDTH + lane]
    for i in range(n, (n + WIDTH - 1) // WIDTH * WIDTH):
        for d in range(D):
            one.sums[d * one.stride + i] = np.inf


@inner
def copy_in(bandit, n, lane, slots, one):
    """Writes them back."""
    D = slots.n_objectives
    for i in range(n):
        fill_slot(bandit, slots, i * WIDTH + lane, i * D * WIDTH + lane, np.int64(one.arm[i]))
        for d in range(D):
            slots.sums[(i * D + d) * WIDTH + lane] = one.sums[d * one.stride + i]
