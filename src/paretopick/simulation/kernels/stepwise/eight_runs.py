"""Eight runs of a policy that pulls one arm at a time, abreast: one in each lane, each with an arm of its own.

A run by itself waits for every step to end before it knows what to pull next; eight of them wait together. What belongs to arm i
is at ``8 * i`` and the seven behind it, coordinate d of it at ``8 * (i * n_objectives + d)``; nothing is ever compared across
lanes, and all arms are compared with all: this is for few arms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.draws.counters import GOLDEN, run_key, unit_interval, words
from paretopick.simulation.kernels.draws.normals import normal_pair
from paretopick.simulation.kernels.draws.pulls import BERNOULLI, DIAGONAL, BanditArrays
from paretopick.simulation.kernels.fronts import Front, make_front
from paretopick.simulation.kernels.stepwise.one_run import Arms, answer_now, make_arms
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    bits,
    choose,
    float_memory,
    fused,
    gather,
    inlined,
    inner,
    lane_numbers,
    larger,
    load,
    scatter,
    smaller,
    spread,
    store,
    word_memory,
)


class Abreast(NamedTuple):
    """Of each arm: how often it was pulled, the counter of its next pull times ``GOLDEN``, its sums, means and gap.

    ``best`` and ``addend`` are as in ``moving``. ``point`` and ``normals`` are for one arm of each run; ``start`` and ``middle``
    are the keys of the runs. ``arms`` and ``front`` are for the answer of one of them.
    """

    pulls: NDArray[np.float64]
    counter: NDArray[np.uint64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]
    gap: NDArray[np.float64]
    best: NDArray[np.float64]
    addend: NDArray[np.float64]
    point: NDArray[np.float64]
    normals: NDArray[np.float64]
    start: NDArray[np.uint64]
    middle: NDArray[np.uint64]
    arms: Arms
    front: Front


def make_abreast(noise: BanditArrays) -> Abreast:
    """Memory for eight runs."""
    n, D = noise.n_arms * WIDTH, noise.n_objectives
    arms = make_arms(noise, np.inf)
    return Abreast(
        pulls=float_memory(n),
        counter=word_memory(n),
        sums=float_memory(n * D),
        means=float_memory(n * D),
        gap=float_memory(n),
        best=float_memory(n),
        addend=float_memory(n),
        point=float_memory(D * WIDTH),
        normals=float_memory((D + 1) * WIDTH),
        start=word_memory(WIDTH),
        middle=word_memory(WIDTH),
        arms=arms,
        front=make_front(arms.stride),
    )


@inner
def begin_runs(noise, seed, first, initial, runs):
    """Starts the runs ``first`` to ``first + 7`` with so many pulls of every arm."""
    for lane in range(WIDTH):
        key = run_key(seed, first + lane)
        runs.start[lane], runs.middle[lane] = key.start, key.middle
    runs.sums[:] = 0.0
    for i in range(noise.n_arms):
        store(runs.pulls, i * WIDTH, spread(0.0))
        store(runs.counter, i * WIDTH, spread(uint64(i * noise.n_objectives) * GOLDEN))
        for _ in range(initial):
            pull_each(noise, spread(uint64(i)), runs)


@inlined
def places(arm):
    """Where what belongs to an arm of each run is."""
    return arm * spread(uint64(WIDTH)) + lane_numbers()


@inlined
def pull_each(noise, arm, runs):
    """Pulls one arm in each run, with the numbers that ``draw_ahead`` draws, and brings its mean up to date.

    The mean is left in ``runs.point`` too: what was written lane by lane takes longer to read.
    """
    D = noise.n_objectives
    place = places(arm)
    counters = gather(runs.counter, place)
    scatter(runs.counter, place, counters + spread(uint64(noise.n_arms * D) * GOLDEN))
    count = gather(runs.pulls, place) + spread(1.0)
    scatter(runs.pulls, place, count)
    start, middle = load(runs.start, 0), load(runs.middle, 0)
    first = arm * spread(uint64(D))
    truth = first + lane_numbers() * spread(uint64(noise.step))
    if noise.kind != BERNOULLI:
        for d in range(0, D, 2):
            a, b = normal_pair(start, middle, counters + spread(uint64(d) * GOLDEN))
            store(runs.normals, d * WIDTH, a)
            store(runs.normals, (d + 1) * WIDTH, b)
    for d in range(D):
        mean = gather(noise.means, truth + spread(uint64(d)))
        if noise.kind == BERNOULLI:
            u = unit_interval(words(start, middle, counters + spread(uint64(d) * GOLDEN)))
            value = choose(u < mean, spread(noise.factors[d]), spread(0.0))
        elif noise.kind == DIAGONAL:
            value = fused(spread(noise.factors[d]), load(runs.normals, d * WIDTH), mean)
        else:
            value = mean + _scattered(noise, (first + spread(uint64(d))) * spread(uint64(D)), runs)
        at = (first + spread(uint64(d))) * spread(uint64(WIDTH)) + lane_numbers()
        total = gather(runs.sums, at) + value
        mean = total / count
        scatter(runs.sums, at, total)
        scatter(runs.means, at, mean)
        store(runs.point, d * WIDTH, mean)


@inlined
def _scattered(noise, row, runs):
    """One row of the root of the covariance of the arms, times the normals."""
    total = spread(0.0)
    for e in range(noise.n_objectives):
        total = fused(gather(noise.factors, row + spread(uint64(e))), load(runs.normals, e * WIDTH), total)
    return total


@inlined
def excess_of(means, n_objectives, i, j):
    """M(i, j) in each run."""
    i, j = i * n_objectives * WIDTH, j * n_objectives * WIDTH
    if n_objectives == 2:
        return larger(load(means, i) - load(means, j), load(means, i + WIDTH) - load(means, j + WIDTH))
    most = load(means, i) - load(means, j)
    for d in range(1, n_objectives):
        most = larger(load(means, i + d * WIDTH) - load(means, j + d * WIDTH), most)
    return most


@inner
def gaps_of_each(n_objectives, n_arms, runs):
    """Finds the gaps of all arms in each run (Eq. (5)), as ``fronts.find_gaps`` does."""
    zero, infinity = spread(0.0), spread(np.inf)
    for i in range(n_arms):
        best = infinity
        for j in range(n_arms):
            if j != i:
                best = smaller(excess_of(runs.means, n_objectives, i, j), best)
        store(runs.best, i * WIDTH, best)
        store(runs.addend, i * WIDTH, choose(best > zero, zero, zero - best))
    for j in range(n_arms):
        best = load(runs.best, j * WIDTH)
        ahead, gap = best > zero, load(runs.addend, j * WIDTH)
        if bits(ahead) != 0:
            near = best
            for i in range(n_arms):
                if i != j:
                    margin = larger(excess_of(runs.means, n_objectives, i, j), zero) + load(runs.addend, i * WIDTH)
                    near = smaller(margin, near)
            gap = choose(ahead, near, gap)
        store(runs.gap, j * WIDTH, gap)


@inner
def answer_of(n_objectives, n_arms, lane, runs, answer):
    """Writes down which arms look optimal in one run now."""
    for i in range(n_arms):
        for d in range(n_objectives):
            runs.arms.means[d * runs.arms.stride + i] = runs.means[(i * n_objectives + d) * WIDTH + lane]
    answer_now(n_arms, n_objectives, runs.arms, runs.front, answer)
