"""Runs of doubt, one after the other, read off at every budget: it does not know when it ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick import _doubting
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, draw_ahead, from_run
from paretopick.simulation.kernels.stepwise.moving_pairs import begin_pairs, change_arm
from paretopick.simulation.kernels.stepwise.one_run import Arms, Known, add_pulls, make_arms, recall
from paretopick.simulation.kernels.stepwise.pair_choices import answer_of, next_arm
from paretopick.simulation.kernels.stepwise.pair_memory import make_pairs
from paretopick.simulation.kernels.vector_memory import float_memory
from paretopick.simulation.kernels.vectors import WIDTH

missing = inlined(_doubting.missing)


class Rule(NamedTuple):
    """The options of doubt, the budgets it is read off at, which rise, and what it starts from."""

    batch: int
    initial: int
    budgets: NDArray[np.int64]
    known: Known


class Memory(NamedTuple):
    """What the runs work in.

    ``squares`` are sums of squared deviations, in the order of ``arms.sums``. ``pairs`` are what the policy goes by, ``Pairs``
    or ``PairsWithin``, and ``judged`` what it would answer now. ``moved`` are the arms that were pulled since ``pairs`` were
    told anything, and ``waiting`` says whether an arm is one of them. ``lacking`` are the pulls that each arm lacks until its
    turn ends.
    """

    arms: Arms
    squares: NDArray[np.float64]
    pairs: Any
    judged: Any
    moved: NDArray[np.int64]
    waiting: NDArray[np.bool_]
    lacking: NDArray[np.int64]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run."""
    K, D = bandit.n_arms, bandit.n_objectives
    return memory_with(bandit, make_pairs(K, D), make_pairs(K, D))


def memory_with(bandit: BanditArrays, pairs: Any, judged: Any) -> Memory:
    """The same with pairs of any kind, and once more of that kind."""
    K, squares = bandit.n_arms, float_memory(bandit.n_arms * bandit.n_objectives)
    moved, waiting, lacking = np.zeros(K, np.int64), np.zeros(K, np.bool_), np.zeros(K, np.int64)
    return Memory(make_arms(bandit, np.inf), squares, pairs, judged, moved, waiting, lacking)


@kernel
def run_doubt(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs; ``answers[r, b]`` is what run r says after ``rule.budgets[b]`` pulls, ``spent[b]`` gets the pulls of all."""
    make_runs(bandit, rule, runs, memory, answers, spent, begin_pairs, change_arm, next_arm, answer_of)


@inlined
def make_runs(bandit, rule, runs, memory, answers, spent, begin_pairs, change_arm, next_arm, answer_of):
    """Makes runs by functions that keep the pairs, choose and answer; the other arguments are those of ``run_doubt``."""
    arms, pairs, moved, waiting, lacking = memory.arms, memory.pairs, memory.moved, memory.waiting, memory.lacking
    K, D = bandit.n_arms, bandit.n_objectives
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        recall(own, key, rule.known, arms)
        for cell in range(K * D):
            memory.squares[cell] = rule.known.squares[cell]
        used, left, n_moved, arm = 0, rule.batch, 0, 0
        n_open, in_turn = 0, 0  # how many arms are in the middle of a turn, and the sum of their numbers
        for i in range(K):
            if arms.counts[i] < rule.initial:
                _pull(own, key, i, rule.initial - arms.counts[i], memory)
            used += arms.counts[i]
            lacking[i] = missing(arms.counts[i])
            if lacking[i] > 0:
                n_open, in_turn = n_open + 1, in_turn + i
        begin_pairs(K, D, arms, memory.squares, pairs)
        waiting[:] = False
        for b in range(rule.budgets.size):
            while used < rule.budgets[b]:
                n = lacking[in_turn] if n_open == 1 else 0
                if left == rule.batch and n >= rule.batch:  # nobody has to choose for whole batches
                    arm, n = in_turn, n - n % rule.batch
                else:
                    if left == rule.batch:  # the last one has been told
                        for k in range(n_moved):
                            change_arm(K, D, moved[k], True, arms, memory.squares, pairs)
                            waiting[moved[k]] = False
                        n_moved = 0
                    elif n == 0 or arm != in_turn:  # the last one that was chosen is counted
                        change_arm(K, D, arm, False, arms, memory.squares, pairs)
                    arm = in_turn if n > 0 else next_arm(K, pairs)
                    n = min(max(n, 1), left)
                before = lacking[arm]
                turn = before if before > 0 else 1 + missing(arms.counts[arm] + 1)
                if rule.batch == 1 and n_open == 0:
                    n = turn
                n = min(n, rule.budgets[b] - used)
                _pull(own, key, arm, n, memory)
                lacking[arm] = turn - n
                more = (turn > n) - (before > 0)
                n_open, in_turn = n_open + more, in_turn + more * arm
                left = rule.batch - (rule.batch - left + n) % rule.batch
                if not waiting[arm]:
                    waiting[arm], moved[n_moved] = True, arm
                    n_moved += 1
                used += n
            add_pulls(arms, spent[b])
            begin_pairs(K, D, arms, memory.squares, memory.judged)
            answer_of(K, D, memory.judged, answers[row, b])


@inlined
def _pull(bandit, key, arm, n, memory):
    """Pulls an arm n times: its sums and squares."""
    arms, D, count = memory.arms, bandit.n_objectives, memory.arms.counts[arm]
    end = count + n
    while count < end:
        place = count % WIDTH
        if place == 0:
            draw_ahead(bandit, key, arm, count, arms.ahead, arms.normals)
        some = min(WIDTH - place, end - count)
        for d in range(D):
            cell = arm * D + d
            if bandit.exact[d]:
                arms.sums[cell] = bandit.means[cell]
                continue
            total, square = arms.sums[cell], memory.squares[cell]
            mean = total / max(count, 1)
            for k in range(some):
                value = arms.ahead[cell * WIDTH + place + k]
                total += value
                before, mean = mean, total / (count + k + 1)
                if count + k > 0:
                    square += (value - before) * (value - mean)
            arms.sums[cell], memory.squares[cell] = total, square
        count += some
    arms.counts[arm] = end
