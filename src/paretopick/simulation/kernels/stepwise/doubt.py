"""Runs of doubt, one after the other, read off at every budget: it does not know when it ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.stepwise.moving_pairs import begin_pairs, change_arm
from paretopick.simulation.kernels.stepwise.one_run import Arms, Known, make_arms, pull_once, recall
from paretopick.simulation.kernels.stepwise.pair_choices import answer_of, next_arm
from paretopick.simulation.kernels.stepwise.pair_memory import Pairs, make_pairs
from paretopick.simulation.kernels.vectors import float_memory, inlined, kernel


class Rule(NamedTuple):
    """The options of doubt, the budgets it is read off at, which rise, and what it starts from."""

    batch: int
    initial: int
    budgets: NDArray[np.int64]
    known: Known


class Memory(NamedTuple):
    """What the runs work in.

    ``squares`` are sums of squared deviations, in the order of ``arms.sums``; ``before`` are the sums of an arm before its last
    pull. ``pairs`` are what the policy goes by, and ``judged`` what it would answer now: the same between two batches. ``moved``
    are the arms that were pulled since the batch was begun, and ``waiting`` says whether an arm is one of them.
    """

    arms: Arms
    squares: NDArray[np.float64]
    before: NDArray[np.float64]
    pairs: Pairs
    judged: Pairs
    moved: NDArray[np.int64]
    waiting: NDArray[np.bool_]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run."""
    K, D = bandit.n_arms, bandit.n_objectives
    arms = make_arms(bandit, np.inf)
    pairs, judged = make_pairs(K, D), make_pairs(K, D)
    return Memory(arms, float_memory(K * D), np.zeros(D), pairs, judged, np.zeros(K, np.int64), np.zeros(K, np.bool_))


@kernel
def run_doubt(bandit, rule, runs, memory, answers, sources=SOURCES):
    """Makes runs; ``answers[r, b]`` is what run r says after ``rule.budgets[b]`` pulls."""
    arms, pairs, moved, waiting = memory.arms, memory.pairs, memory.moved, memory.waiting
    K, D = bandit.n_arms, bandit.n_objectives
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        recall(own, key, rule.known, arms)
        for cell in range(K * D):
            memory.squares[cell] = rule.known.squares[cell]
        used, left, n_moved, arm = 0, rule.batch, 0, 0
        for i in range(K):
            for _ in range(arms.counts[i], rule.initial):
                _pull(own, key, i, memory)
            used += arms.counts[i]
        begin_pairs(K, D, arms, memory.squares, pairs)
        waiting[:] = False
        for b in range(rule.budgets.size):
            while used < rule.budgets[b]:
                if left == 0:  # the batch has been told
                    n, told = n_moved, True
                    left, n_moved = rule.batch, 0
                else:  # one more of it has been chosen
                    n, told = int(left < rule.batch), False
                for k in range(n):
                    change_arm(K, D, moved[k] if told else arm, told, arms, memory.squares, pairs)
                    waiting[moved[k]] &= not told
                arm = next_arm(K, pairs)
                left -= 1
                _pull(own, key, arm, memory)
                if not waiting[arm]:
                    waiting[arm], moved[n_moved] = True, arm
                    n_moved += 1
                used += 1
            begin_pairs(K, D, arms, memory.squares, memory.judged)
            answer_of(K, D, memory.judged, answers[row, b])


@inlined
def _pull(bandit, key, arm, memory):
    """Pulls an arm once: its sums, mean and squares."""
    arms, D = memory.arms, bandit.n_objectives
    n = arms.counts[arm]
    before = memory.before
    for d in range(D):
        before[d] = arms.sums[arm * D + d]
    pull_once(bandit, key, arm, arms)
    if n > 0:
        for d in range(D):
            value = arms.ahead[(arm * D + d) * 8 + n % 8]
            memory.squares[arm * D + d] += (value - before[d] / n) * (value - arms.sums[arm * D + d] / (n + 1))
