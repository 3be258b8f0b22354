"""Runs of EGE with objectives without noise, one after the other, round by round as Algorithms 1 and 2 have it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.certain_gaps import CertainGaps, find_certain_gaps, make_certain_gaps
from paretopick.simulation.kernels.compiling import inlined, kernel
from paretopick.simulation.kernels.draws.counters import Key, run_key
from paretopick.simulation.kernels.draws.pulls import (
    BanditArrays,
    Draw,
    Slots,
    copy_slot,
    fill_slot,
    from_run,
    pull,
    slots_of_one_run,
)
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vectors import WIDTH, spread


class Memory(NamedTuple):
    """What the runs work in; ``leaves`` says which slots leave at the end of a round."""

    slots: Slots
    certain: CertainGaps
    leaves: NDArray[np.bool_]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run."""
    slots = slots_of_one_run(bandit.n_arms, bandit.n_objectives, bandit.kind)
    return Memory(slots, make_certain_gaps(bandit.n_arms, bandit.n_objectives), np.zeros(bandit.n_arms, np.bool_))


@kernel
def run_ege_exact(bandit, schedule, runs, memory, outcome, sources=SOURCES):
    """Makes runs."""
    slots, certain = memory.slots, memory.certain
    D = bandit.n_objectives
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        keys = Key(spread(key.start), spread(key.middle))
        answer = outcome.answers[row]
        answer[:] = 0
        for i in range(own.n_arms):
            fill_slot(own, slots, i, i, i)
            for d in range(D):
                slots.sums[d * slots.stride + i] = 0.0
        n, accepted, before, used, r, stopped = own.n_arms, 0, 0, 0, 0, False
        while r < schedule.pulls.size and not stopped:
            t = schedule.pulls[r]
            if t > 0:
                n_vectors = (n + WIDTH - 1) // WIDTH
                pull(own, keys, Draw(t, before, schedule.columns[r]), n_vectors, n - (n_vectors - 1) * WIDTH, slots)
                before += t  # n_r = t_1 + .. + t_r
                used += n * t  # lambda_r t_r
            for i in range(n):
                for d in range(D):
                    at = d * slots.stride + i
                    certain.points[d * certain.stride + i] = slots.means[at] if own.exact[d] else slots.sums[at] / own.widths[d]
            find_certain_gaps(n, D, own.exact, certain)
            accepted += _choose_leaving(n, n - schedule.active[r + 1], memory, answer)
            n = _remove(n, memory)
            r += 1
            stopped = 0 < schedule.max_arms <= accepted  # Algorithm 2
        if not stopped:
            for i in range(n):
                include(slots.arm[i], answer)
        outcome.pulls[row] = used
        outcome.rounds[row] = r


@inlined
def _choose_leaving(n, n_leaving, memory, answer):
    """Marks who leaves: largest gaps first, then those not optimal, then larger numbers; accepts the optimal, and counts them."""
    arm, optimal, leaves = memory.slots.arm, memory.certain.optimal, memory.leaves
    leaves[:n] = False
    accepted = 0
    for _ in range(n_leaving):
        worst = -1
        for i in range(n):
            if leaves[i]:
                continue
            if worst < 0 or _goes_first(i, worst, arm, memory.certain):
                worst = i
        leaves[worst] = True
        if optimal[worst]:
            include(arm[worst], answer)
            accepted += 1
    return accepted


@inlined
def _goes_first(i, j, arm, certain):
    """Whether the arm in slot i leaves before that in slot j."""
    if certain.gap[i] != certain.gap[j]:
        return certain.gap[i] > certain.gap[j]
    if certain.optimal[i] != certain.optimal[j]:
        return certain.optimal[j]
    return arm[i] > arm[j]


@inlined
def _remove(n, memory):
    """Takes the leaving arms out, last slot first, each hole filled with the last slot that stays; returns how many stay."""
    for i in range(n - 1, -1, -1):
        if memory.leaves[i]:
            n -= 1
            copy_slot(memory.slots, n, n, i, i)
            memory.leaves[i] = memory.leaves[n]
    return n
