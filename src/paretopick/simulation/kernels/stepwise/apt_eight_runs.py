"""Runs of apt with few arms, eight abreast; for what is computed, see ``apt``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.stepwise.eight_runs import (
    Abreast,
    answer_of,
    begin_runs,
    gaps_of_each,
    make_abreast,
    places,
    pull_each,
)
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    choose,
    float_memory,
    gather,
    inlined,
    kernel,
    load,
    scatter,
    spread,
    square_root,
    store,
)


class Memory(NamedTuple):
    """What the runs work in; ``roots`` are the square roots of the counts."""

    runs: Abreast
    roots: NDArray[np.float64]


def make_memory(noise: BanditArrays) -> Memory:
    """Memory for eight runs."""
    return Memory(make_abreast(noise), float_memory(noise.n_arms * WIDTH))


@kernel
def run_apt_abreast(noise, batch, gamma, initial, budgets, seed, first, last, memory, answers, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``, as ``apt.run_apt`` does."""
    runs, roots = memory.runs, memory.roots
    K, D = noise.n_arms, noise.n_objectives
    for eight in range(first, last, WIDTH):
        own = from_run(noise, eight - first)
        begin_runs(own, seed, eight, initial, runs)
        for i in range(K):
            store(roots, i * WIDTH, square_root(load(runs.pulls, i * WIDTH)))
        used, frozen = initial * K, 0
        for b in range(budgets.size):
            while used < budgets[b]:
                if frozen == 0:
                    gaps_of_each(D, K, runs)
                    frozen = batch
                frozen -= 1
                arm = _next_arms(gamma * used / K, K, runs, roots)
                pull_each(own, arm, runs)
                place = places(arm)
                scatter(roots, place, square_root(gather(runs.pulls, place)))
                used += 1
            for run in range(eight, min(eight + WIDTH, last)):
                answer_of(D, K, run - eight, runs, answers[run - first, b])


@inlined
def _next_arms(share, K, runs, roots):
    """In each run the least pulled arm if it had less than its share, else the one with the smallest ``sqrt(N_i) gap_i``."""
    infinity, zero = spread(np.inf), spread(uint64(0))
    fewest, neglected = infinity, zero
    lowest, count_of_lowest, arm = infinity, infinity, zero
    for i in range(K):
        count, number = load(runs.pulls, i * WIDTH), spread(uint64(i))
        fewer = count < fewest
        fewest, neglected = choose(fewer, count, fewest), choose(fewer, number, neglected)
        score = load(roots, i * WIDTH) * load(runs.gap, i * WIDTH)
        lower = (score < lowest) | ((score == lowest) & (count < count_of_lowest))
        lowest, count_of_lowest = choose(lower, score, lowest), choose(lower, count, count_of_lowest)
        arm = choose(lower, number, arm)
    return choose(fewest < spread(share), neglected, arm)
