"""Runs of apt within margins and limits, one after the other; for what is computed, see ``apt`` and ``gaps_within``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.gaps_within import (
    GapsWithin,
    Required,
    find_front_within,
    find_gaps_within,
    make_gaps_within,
)
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.stepwise.apt_exact import mean_now, next_arm, pull_exact
from paretopick.simulation.kernels.stepwise.one_run import Arms, Known, add_pulls, make_arms, recall


class Rule(NamedTuple):
    """The options of apt, the budgets it is read off at, which rise, what it starts from, and what matters."""

    batch: int
    gamma: float
    initial: int
    budgets: NDArray[np.int64]
    known: Known
    required: Required


class Memory(NamedTuple):
    """What the runs work in."""

    arms: Arms
    within: GapsWithin


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run."""
    return Memory(make_arms(bandit, np.inf), make_gaps_within(bandit.n_arms, bandit.n_objectives))


@kernel
def run_apt_within(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs, as ``apt.run_apt`` does; the gaps are found anew for every batch."""
    arms, within, required = memory.arms, memory.within, rule.required
    K, D = bandit.n_arms, bandit.n_objectives
    for d in range(D):
        within.margins[d] = required.margins[d] / bandit.widths[d]
        within.limits[d] = required.limits[d] / bandit.widths[d]
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        recall(own, key, rule.known, arms)
        used, frozen = 0, 0
        for i in range(K):
            for _ in range(arms.counts[i], rule.initial):
                pull_exact(own, key, i, arms)
            used += arms.counts[i]
        for b in range(rule.budgets.size):
            while used < rule.budgets[b]:
                if frozen == 0:
                    for i in range(K):
                        for d in range(D):
                            within.points[d * K + i] = mean_now(D, i, d, arms) / own.widths[d]
                    find_gaps_within(K, D, own.exact, required.compared, within)
                    frozen = rule.batch
                frozen -= 1
                pull_exact(own, key, next_arm(used, rule.gamma, K, arms, within.gap), arms)
                used += 1
            add_pulls(arms, spent[b])
            for i in range(K):
                for d in range(D):
                    within.points[d * K + i] = mean_now(D, i, d, arms)
            find_front_within(K, D, required.limits, required.compared, within)
            answers[row, b, :] = 0
            for i in range(K):
                if within.front[i]:
                    include(i, answers[row, b])
