"""Runs of apt with few arms, eight runs at once; for what is computed, see ``apt``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, kernel
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.stepwise.eight_runs import (
    EightRuns,
    answer_of,
    begin_runs,
    gaps_of_each,
    make_eight_runs,
    places,
    pull_each,
    recall_each,
)
from paretopick.simulation.kernels.vector_memory import float_memory, gather, load, scatter, store
from paretopick.simulation.kernels.vectors import WIDTH, choose, spread, square_root


class Memory(NamedTuple):
    """What the runs work in; ``roots`` are the square roots of the counts."""

    eight: EightRuns
    roots: NDArray[np.float64]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for eight runs."""
    return Memory(make_eight_runs(bandit), float_memory(bandit.n_arms * WIDTH))


@kernel
def run_apt_eight(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs, as ``apt.run_apt`` does."""
    eight, roots = memory.eight, memory.roots
    K, D = bandit.n_arms, bandit.n_objectives
    for first in range(runs.first, runs.last, WIDTH):
        row = first - runs.first
        own = from_run(bandit, row)
        begin_runs(own, runs.seed, first, 0, eight)
        recall_each(own, rule.known, eight)
        used, frozen = 0, 0
        for i in range(K):
            for _ in range(rule.known.counts[i], rule.initial):
                pull_each(own, spread(uint64(i)), eight)
            used += max(rule.known.counts[i], rule.initial)
            store(roots, i * WIDTH, square_root(load(eight.pulls, i * WIDTH)))
        for b in range(rule.budgets.size):
            while used < rule.budgets[b]:
                if frozen == 0:
                    gaps_of_each(D, K, eight)
                    frozen = rule.batch
                frozen -= 1
                arm = _next_arms(rule.gamma * used / K, K, eight, roots)
                pull_each(own, arm, eight)
                place = places(arm)
                scatter(roots, place, square_root(gather(eight.pulls, place)))
                used += 1
            for lane in range(min(WIDTH, runs.last - first)):
                for i in range(K):
                    spent[b, i] += np.int64(eight.pulls[i * WIDTH + lane])
                answer_of(D, K, lane, eight, answers[row + lane, b])


@inlined
def _next_arms(share, K, eight, roots):
    """In each run the least pulled arm if it had less than its share, else the one with the smallest ``sqrt(N_i) gap_i``."""
    infinity, zero = spread(np.inf), spread(uint64(0))
    fewest, neglected = infinity, zero
    lowest, count_of_lowest, arm = infinity, infinity, zero
    for i in range(K):
        count, number = load(eight.pulls, i * WIDTH), spread(uint64(i))
        fewer = count < fewest
        fewest, neglected = choose(fewer, count, fewest), choose(fewer, number, neglected)
        score = load(roots, i * WIDTH) * load(eight.gap, i * WIDTH)  # sqrt(N_i) gap_i
        lower = (score < lowest) | ((score == lowest) & (count < count_of_lowest))
        lowest, count_of_lowest = choose(lower, score, lowest), choose(lower, count, count_of_lowest)
        arm = choose(lower, number, arm)
    return choose(fewest < spread(share), neglected, arm)
