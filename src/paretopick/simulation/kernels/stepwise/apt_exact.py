"""Runs of apt with objectives without noise, one after the other; for what is computed, see ``apt``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.certain_gaps import CertainGaps, find_certain_gaps, make_certain_gaps
from paretopick.simulation.kernels.compiling import inlined, kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, draw_ahead, from_run
from paretopick.simulation.kernels.fronts import Front, make_front
from paretopick.simulation.kernels.stepwise.one_run import Arms, add_pulls, answer_now, make_arms, recall
from paretopick.simulation.kernels.vectors import WIDTH


class Memory(NamedTuple):
    """What the runs work in."""

    arms: Arms
    front: Front
    certain: CertainGaps


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run; slots behind the last arm are plus infinity, as ``fronts`` wants them."""
    arms = make_arms(bandit, np.inf)
    return Memory(arms, make_front(arms.stride), make_certain_gaps(bandit.n_arms, bandit.n_objectives))


@kernel
def run_apt_exact(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs, as ``apt.run_apt`` does; the gaps are found anew for every batch."""
    arms, certain = memory.arms, memory.certain
    K, D = bandit.n_arms, bandit.n_objectives
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
                            certain.points[d * K + i] = mean_now(D, i, d, arms) / own.widths[d]
                    find_certain_gaps(K, D, own.exact, certain)
                    frozen = rule.batch
                frozen -= 1
                pull_exact(own, key, next_arm(used, rule.gamma, K, arms, certain.gap), arms)
                used += 1
            add_pulls(arms, spent[b])
            for i in range(K):
                for d in range(D):
                    arms.means[d * arms.stride + i] = mean_now(D, i, d, arms)
            answer_now(K, D, arms, memory.front, answers[row, b])


@inlined
def pull_exact(bandit, key, arm, arms):
    """Pulls an arm; in objectives without noise its mean is known then."""
    D = bandit.n_objectives
    place = arms.counts[arm] % WIDTH
    if place == 0:
        draw_ahead(bandit, key, arm, arms.counts[arm], arms.ahead, arms.normals)
    arms.counts[arm] += 1
    for d in range(D):
        cell = arm * D + d
        if bandit.exact[d]:
            arms.sums[cell] = bandit.means[cell]
        else:
            arms.sums[cell] += arms.ahead[cell * WIDTH + place]


@inlined
def mean_now(D, arm, d, arms):
    """The mean of an arm in an objective."""
    total = arms.sums[arm * D + d]
    return total if arms.exact[d] else total / arms.counts[arm]


@inlined
def next_arm(used, gamma, K, arms, gap):
    """The least pulled arm where it was neglected, else the one with the smallest ``sqrt(N_i) gap_i``."""
    fewest = 0
    for i in range(1, K):
        if arms.counts[i] < arms.counts[fewest]:
            fewest = i
    if arms.counts[fewest] < gamma * used / K:
        return fewest
    chosen, lowest = 0, math.sqrt(arms.counts[0]) * gap[0]
    for i in range(1, K):
        score = math.sqrt(arms.counts[i]) * gap[i]  # sqrt(N_i) gap_i
        if score < lowest or (score == lowest and arms.counts[i] < arms.counts[chosen]):
            chosen, lowest = i, score
    return chosen
