"""Eight runs at once of a policy that pulls one arm at a time: one in each lane, each with an arm of its own.

One run waits for every step to end before it knows what to pull next; eight of them wait at the same time. What belongs to arm i
is at ``8 * i`` and the seven behind it, coordinate d of it at ``8 * (i * n_objectives + d)``; nothing is ever compared across
lanes, and all arms are compared with all: this is for few arms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.draws.blocks import draw_effects
from paretopick.simulation.kernels.draws.counters import GOLDEN, run_key, unit_interval, words
from paretopick.simulation.kernels.draws.normals import normal_pair
from paretopick.simulation.kernels.draws.pulls import BERNOULLI, DIAGONAL, BanditArrays
from paretopick.simulation.kernels.fronts import Front, make_front
from paretopick.simulation.kernels.stepwise.one_run import Arms, answer_now, make_arms
from paretopick.simulation.kernels.vector_memory import float_memory, gather, load, scatter, store, word_memory
from paretopick.simulation.kernels.vectors import WIDTH, as_whole, bits, choose, fused, lane_numbers, larger, smaller, spread


class EightRuns(NamedTuple):
    """Of each arm: how often it was pulled, the counter of its next pull times ``GOLDEN``, its sums, means and gap.

    ``best`` and ``addend`` are as in ``moving_gaps``. ``point`` and ``normals`` are for one arm of each run; ``start`` and
    ``middle`` are the keys of the runs. ``shared`` is what ``bandit.factors`` hold of block effects, empty if arms share nothing:
    an array of its own keeps what is read in every pull apart from it, which is faster.
    ``arms`` and ``front`` are for the answer of one of them.
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
    shared: NDArray[np.float64]
    arms: Arms
    front: Front


def make_eight_runs(bandit: BanditArrays) -> EightRuns:
    """Memory for eight eight."""
    n, D = bandit.n_arms * WIDTH, bandit.n_objectives
    arms = make_arms(bandit, np.inf)
    return EightRuns(
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
        shared=bandit.factors[bandit.shared :].copy() if bandit.shared else np.empty(0),
        arms=arms,
        front=make_front(arms.stride),
    )


@inner
def begin_runs(bandit, seed, first, initial, eight):
    """Starts the runs ``first`` to ``first + 7`` with so many pulls of every arm."""
    for lane in range(WIDTH):
        key = run_key(seed, first + lane)
        eight.start[lane], eight.middle[lane] = key.start, key.middle
    eight.sums[:] = 0.0
    for i in range(bandit.n_arms):
        store(eight.pulls, i * WIDTH, spread(0.0))
        store(eight.counter, i * WIDTH, spread(uint64(i * bandit.n_objectives) * GOLDEN))
        for _ in range(initial):
            pull_each(bandit, spread(uint64(i)), eight)


@inner
def recall_each(bandit, known, eight):
    """Starts runs that have begun without pulls from what is known, as ``one_run.recall`` does."""
    K, D = bandit.n_arms, bandit.n_objectives
    for i in range(K):
        count = known.counts[i]
        store(eight.pulls, i * WIDTH, spread(float(count)))
        store(eight.counter, i * WIDTH, spread(uint64((count * K + i) * D) * GOLDEN))
        for d in range(D):
            total = known.sums[i * D + d]
            store(eight.sums, (i * D + d) * WIDTH, spread(total))
            store(eight.means, (i * D + d) * WIDTH, spread(total / max(count, 1)))


@inlined
def places(arm):
    """Where what belongs to an arm of each run is."""
    return arm * spread(uint64(WIDTH)) + lane_numbers()


@inlined
def pull_each(bandit, arm, eight):
    """Pulls one arm in each run, with the numbers that ``draw_ahead`` draws, and brings its mean up to date.

    The mean is left in ``eight.point`` too: what was written lane by lane takes longer to read.
    """
    D = bandit.n_objectives
    place = places(arm)
    counters = gather(eight.counter, place)
    scatter(eight.counter, place, counters + spread(uint64(bandit.n_arms * D) * GOLDEN))
    before = gather(eight.pulls, place)
    count = before + spread(1.0)
    scatter(eight.pulls, place, count)
    start, middle = load(eight.start, 0), load(eight.middle, 0)
    first = arm * spread(uint64(D))
    truth = first + lane_numbers() * spread(uint64(bandit.step))
    shares = eight.shared.size > 0
    if shares:
        draw_effects(D, eight.shared, 0, start, middle, as_whole(before), 1.0, eight.normals, eight.point, 0)
    if bandit.kind != BERNOULLI:
        for d in range(0, D, 2):
            a, b = normal_pair(start, middle, counters + spread(uint64(d) * GOLDEN))
            store(eight.normals, d * WIDTH, a)
            store(eight.normals, (d + 1) * WIDTH, b)
    for d in range(D):
        mean = gather(bandit.means, truth + spread(uint64(d)))
        if bandit.kind == BERNOULLI:
            u = unit_interval(words(start, middle, counters + spread(uint64(d) * GOLDEN)))
            value = choose(u < mean, spread(bandit.factors[d]), spread(0.0))
        elif bandit.kind == DIAGONAL:
            value = fused(spread(bandit.factors[d]), load(eight.normals, d * WIDTH), mean)
        else:
            value = mean + _scattered(bandit, (first + spread(uint64(d))) * spread(uint64(D)), eight)
        if shares:
            value = value + load(eight.point, d * WIDTH)
        at = (first + spread(uint64(d))) * spread(uint64(WIDTH)) + lane_numbers()
        total = gather(eight.sums, at) + value
        mean = total / count
        scatter(eight.sums, at, total)
        scatter(eight.means, at, mean)
        store(eight.point, d * WIDTH, mean)


@inlined
def _scattered(bandit, row, eight):
    """One row of the root of the covariance of the arms, times the normals."""
    total = spread(0.0)
    for e in range(bandit.n_objectives):
        total = fused(gather(bandit.factors, row + spread(uint64(e))), load(eight.normals, e * WIDTH), total)
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
def gaps_of_each(n_objectives, n_arms, eight):
    """Finds the gaps of all arms in each run (Eq. (5)), as ``fronts.find_gaps`` does."""
    zero, infinity = spread(0.0), spread(np.inf)
    for i in range(n_arms):
        best = infinity
        for j in range(n_arms):
            if j != i:
                best = smaller(excess_of(eight.means, n_objectives, i, j), best)
        store(eight.best, i * WIDTH, best)
        store(eight.addend, i * WIDTH, choose(best > zero, zero, zero - best))
    for j in range(n_arms):
        best = load(eight.best, j * WIDTH)
        ahead, gap = best > zero, load(eight.addend, j * WIDTH)
        if bits(ahead) != 0:
            near = best
            for i in range(n_arms):
                if i != j:
                    margin = larger(excess_of(eight.means, n_objectives, i, j), zero) + load(eight.addend, i * WIDTH)
                    near = smaller(margin, near)
            gap = choose(ahead, near, gap)
        store(eight.gap, j * WIDTH, gap)


@inner
def answer_of(n_objectives, n_arms, lane, eight, answer):
    """Writes down which arms look optimal in one run now."""
    for i in range(n_arms):
        for d in range(n_objectives):
            eight.arms.means[d * eight.arms.stride + i] = eight.means[(i * n_objectives + d) * WIDTH + lane]
    answer_now(n_arms, n_objectives, eight.arms, eight.front, answer)
