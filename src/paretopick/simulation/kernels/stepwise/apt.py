"""Runs of apt, one run after the other, read off at every budget: it does not know when it ends."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.fronts import Front, make_front
from paretopick.simulation.kernels.stepwise.moving_gaps import Gaps, make_gaps, move_arm, start_gaps
from paretopick.simulation.kernels.stepwise.one_run import Arms, Known, add_pulls, answer_now, make_arms, pull_once, recall
from paretopick.simulation.kernels.vector_memory import float_memory, load
from paretopick.simulation.kernels.vectors import WIDTH, bits, lowest_bit, smaller, smallest, spread


class Rule(NamedTuple):
    """The options of apt, the budgets it is read off at, which rise, and what it starts from."""

    batch: int
    gamma: float
    initial: int
    budgets: NDArray[np.int64]
    known: Known


class Memory(NamedTuple):
    """What the runs work in.

    ``roots`` are the square roots of the counts; ``moved`` are the arms that were pulled since the gaps were brought up to date,
    and ``waiting`` says whether an arm is one of them.
    """

    arms: Arms
    front: Front
    gaps: Gaps
    roots: NDArray[np.float64]
    moved: NDArray[np.int64]
    waiting: NDArray[np.bool_]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run; slots behind the last arm are minus infinity, as ``moving_gaps`` wants them."""
    arms = make_arms(bandit, -np.inf)
    n = arms.stride
    gaps = make_gaps(n, bandit.n_objectives)
    return Memory(arms, make_front(n), gaps, float_memory(n), np.zeros(n, np.int64), np.zeros(n, np.bool_))


@kernel
def run_apt(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs; ``answers[r, b]`` is what run r says after ``rule.budgets[b]`` pulls, ``spent[b]`` gets the pulls of all."""
    arms, gaps, roots, moved, waiting = memory.arms, memory.gaps, memory.roots, memory.moved, memory.waiting
    K, D = bandit.n_arms, bandit.n_objectives
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        recall(own, key, rule.known, arms)
        used, frozen, n_moved = 0, rule.batch, 0
        for i in range(K):
            for _ in range(arms.counts[i], rule.initial):
                pull_once(own, key, i, arms)
            used += arms.counts[i]
            roots[i] = math.sqrt(arms.counts[i])
        start_gaps(arms.means, arms.stride, D, K, gaps)
        waiting[:] = False
        for b in range(rule.budgets.size):
            while used < rule.budgets[b]:
                if frozen == 0:
                    for k in range(n_moved):
                        move_arm(arms.means, arms.stride, D, K, moved[k], gaps)
                        waiting[moved[k]] = False
                    frozen, n_moved = rule.batch, 0
                frozen -= 1
                arm = _next_arm(used, rule.gamma, K, arms, roots, gaps)
                pull_once(own, key, arm, arms)
                roots[arm] = math.sqrt(arms.counts[arm])
                if not waiting[arm]:
                    waiting[arm], moved[n_moved] = True, arm
                    n_moved += 1
                used += 1
            add_pulls(arms, spent[b])
            answer_now(K, D, arms, memory.front, answers[row, b])


@inlined
def _next_arm(used, gamma, n_arms, arms, roots, gaps):
    """The least pulled arm where it was neglected, else the one with the smallest ``sqrt(N_i) gap_i``."""
    infinity = spread(np.inf)
    fewest, lowest = infinity, infinity
    for i in range(0, n_arms, WIDTH):
        fewest = smaller(load(arms.pulls, i), fewest)
        lowest = smaller(load(roots, i) * load(gaps.gap, i), lowest)  # sqrt(N_i) gap_i
    fewest, lowest = smallest(fewest), smallest(lowest)
    if fewest < gamma * used / n_arms:
        arm = 0
        while arms.pulls[arm] != fewest:
            arm += 1
        return arm
    chosen = -1
    for i in range(0, n_arms, WIDTH):
        level = bits(load(roots, i) * load(gaps.gap, i) == spread(lowest))
        while level != 0:
            arm = i + lowest_bit(level)
            level &= level - 1
            if chosen < 0 or arms.pulls[arm] < arms.pulls[chosen]:
                chosen = arm
    return chosen
