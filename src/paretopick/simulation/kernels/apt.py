"""Runs of apt, read off at every budget: it does not know when it ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.fronts import Front, find_gaps, make_front
from paretopick.simulation.kernels.lanes import (
    WIDTH,
    bits,
    inlined,
    kernel,
    load,
    lowest_bit,
    smaller,
    smallest,
    spread,
    square_root,
)
from paretopick.simulation.kernels.noises import Noise
from paretopick.simulation.kernels.randoms import run_key
from paretopick.simulation.kernels.sequential import Arms, answer_now, forget, make_arms, pull_once


class Memory(NamedTuple):
    """What the runs work in."""

    arms: Arms
    front: Front


def make_memory(noise: Noise) -> Memory:
    """Memory for one run at a time."""
    arms = make_arms(noise, np.inf)
    return Memory(arms, make_front(arms.stride))


@kernel
def run_apt(noise, batch, gamma, initial, budgets, seed, first, last, memory, answers, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``; ``answers[r, b]`` is what run r says after ``budgets[b]`` pulls, which rise."""
    arms, front = memory.arms, memory.front
    n_arms, n_objectives = noise.n_arms, noise.n_objectives
    for run in range(first, last):
        key = run_key(seed, run)
        forget(arms)
        for i in range(n_arms):
            for _ in range(initial):
                pull_once(noise, key, i, arms)
        used = initial * n_arms
        frozen = 0
        for b in range(budgets.size):
            while used < budgets[b]:
                if frozen == 0:
                    find_gaps(arms.means, arms.stride, n_objectives, n_arms, n_arms, front)
                    frozen = batch
                    for i in range(n_arms, arms.stride):
                        front.gap[i] = np.inf
                frozen -= 1
                pull_once(noise, key, _next_arm(used, gamma, n_arms, arms, front), arms)
                used += 1
            answer_now(n_arms, n_objectives, arms, front, answers[run - first, b])


@inlined
def _next_arm(used, gamma, n_arms, arms, front):
    """The least pulled arm where it was neglected, else the one with the smallest ``sqrt(N_i) gap_i``."""
    infinity = spread(np.inf)
    fewest, lowest = infinity, infinity
    for i in range(0, n_arms, WIDTH):
        count = load(arms.pulls, i)
        fewest = smaller(count, fewest)
        lowest = smaller(square_root(count) * load(front.gap, i), lowest)
    fewest, lowest = smallest(fewest), smallest(lowest)
    if fewest < gamma * used / n_arms:
        arm = 0
        while arms.pulls[arm] != fewest:
            arm += 1
        return arm
    chosen = -1
    for i in range(0, n_arms, WIDTH):
        level = bits(square_root(load(arms.pulls, i)) * load(front.gap, i) == spread(lowest))
        while level != 0:
            arm = i + lowest_bit(level)
            level &= level - 1
            if chosen < 0 or arms.pulls[arm] < arms.pulls[chosen]:
                chosen = arm
    return chosen
