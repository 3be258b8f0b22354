"""Pulls of the arms: sums of several pulls for many arms at once, and single pulls of one arm, eight ahead.

The pulls of an arm that had ``before`` of them use the counters from ``(before * n_arms + arm) * n_objectives`` on, whoever
asks: policies see common random numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.draws.binomials import Tables, invert, look_up
from paretopick.simulation.kernels.draws.counters import GOLDEN, unit_interval, words
from paretopick.simulation.kernels.draws.normals import normal_pair
from paretopick.simulation.kernels.vectors import (
    WIDTH,
    choose,
    float_memory,
    fused,
    inlined,
    inner,
    lane_numbers,
    load,
    spread,
    store,
    word_memory,
)

DIAGONAL, COVARIANCE, BERNOULLI = 0, 1, 2
"""Kinds of noise: Gaussian with a std per objective, Gaussian with a covariance per arm, Bernoulli."""


class BanditArrays(NamedTuple):
    """A bandit as the kernels see it.

    ``means`` is ``(n_arms, n_objectives)``, flat: of Gaussian noise, divided by the scale; of Bernoulli noise, the chances.
    ``factors`` is what standard normals are multiplied by, divided by the scale: ``(n_objectives,)`` stds, or ``(n_arms,
    n_objectives, n_objectives)`` roots of covariances, flat; of Bernoulli noise, what a success counts in each objective.
    ``tables`` serve the sums of Bernoulli pulls.

    Where every run has means of its own they follow each other in ``means``, those of a run ``step`` behind those of the one
    before; where all runs have the same, ``step`` is 0.
    """

    kind: int
    n_arms: int
    n_objectives: int
    step: int
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    tables: Tables


class Slots(NamedTuple):
    """Arms with their pulls, in vectors of eight slots.

    Coordinate d of vector v is at ``v * step + d * stride`` of ``sums`` and ``means``; its arms are at ``8 * v`` of ``arm``, of
    ``number``, which is the same as float64, and of ``counter``, the arm's part of the counter times ``GOLDEN``. The slots of a
    vector are eight arms of one run (``arms_in_a_row``) or the same place in eight runs (``runs_in_a_row``).
    """

    step: int
    stride: int
    arm: NDArray[np.int64]
    number: NDArray[np.float64]
    counter: NDArray[np.uint64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    normals: NDArray[np.float64]
    hashes: NDArray[np.uint64]


def arms_in_a_row(n_arms: int, n_objectives: int, kind: int) -> Slots:
    """Memory for one run; slots behind the last arm are plus infinity in every objective."""
    n_vectors = -(-n_arms // WIDTH)
    return _slots(n_vectors, n_objectives, kind, WIDTH, n_vectors * WIDTH)


def runs_in_a_row(n_arms: int, n_objectives: int, kind: int) -> Slots:
    """Memory for eight runs that advance side by side."""
    return _slots(n_arms, n_objectives, kind, n_objectives * WIDTH, WIDTH)


def _slots(n_vectors: int, n_objectives: int, kind: int, step: int, stride: int) -> Slots:
    n = n_vectors * WIDTH
    sums = float_memory(n_objectives * n)
    sums[:] = np.inf
    return Slots(
        step=step,
        stride=stride,
        arm=np.zeros(n, np.int64),
        number=float_memory(n),
        counter=word_memory(n),
        sums=sums,
        means=float_memory(n_objectives * n),
        factors=float_memory(n_objectives**2 * n if kind == COVARIANCE else 1),
        normals=float_memory((n_objectives + 1) * WIDTH),
        hashes=word_memory(WIDTH),
    )


@inlined
def from_run(bandit, run):
    """The same with the means of so many runs left out."""
    means = bandit.means[run * bandit.step :]
    return BanditArrays(bandit.kind, bandit.n_arms, bandit.n_objectives, bandit.step, means, bandit.factors, bandit.tables)


@inlined
def fill_slot(bandit, slots, place, start, arm):
    """Puts an arm into a slot: its number, mean and counter, but not its sums.

    The slot is at ``place`` among the arms, and from ``start`` on among the coordinates.
    """
    D = bandit.n_objectives
    slots.arm[place] = arm
    slots.number[place] = arm
    slots.counter[place] = uint64(arm * D) * GOLDEN
    for d in range(D):
        slots.means[start + d * slots.stride] = bandit.means[arm * D + d]
    if bandit.kind == COVARIANCE:
        for cell in range(D * D):
            slots.factors[cell * slots.arm.size + place] = bandit.factors[arm * D * D + cell]


@inner
def pull(bandit, start, middle, column, pulls, before, n_vectors, n_lanes, slots):
    """Adds the sum of ``pulls`` new pulls to the slots of so many vectors, of the last of them to ``n_lanes`` slots at least.

    ``start`` and ``middle`` are the keys of the runs, ``column`` is where the tables hold this number of pulls; all arms had
    ``before``.
    """
    D = bandit.n_objectives
    first = spread(uint64(before * bandit.n_arms * D) * GOLDEN)
    if bandit.kind == BERNOULLI:
        for v in range(n_vectors):
            lanes = WIDTH if v < n_vectors - 1 else n_lanes
            _pull_bernoulli(bandit, start, middle, first, column, pulls, v, lanes, slots)
        return
    many, root = spread(float(pulls)), spread(math.sqrt(pulls))
    for v in range(n_vectors):
        counters = first + load(slots.counter, v * WIDTH)
        for d in range(0, D, 2):
            a, b = normal_pair(start, middle, counters + spread(uint64(d) * GOLDEN))
            at = v * slots.step + d * slots.stride
            if bandit.kind == DIAGONAL:
                total = fused(root * spread(bandit.factors[d]), a, many * load(slots.means, at))
                store(slots.sums, at, load(slots.sums, at) + total)
                if d + 1 < D:
                    at += slots.stride
                    total = fused(root * spread(bandit.factors[d + 1]), b, many * load(slots.means, at))
                    store(slots.sums, at, load(slots.sums, at) + total)
            else:
                store(slots.normals, d * WIDTH, a)
                store(slots.normals, (d + 1) * WIDTH, b)
        if bandit.kind == COVARIANCE:
            for d in range(D):
                at = v * slots.step + d * slots.stride
                scatter = spread(0.0)
                for e in range(D):
                    factor = load(slots.factors, (d * D + e) * slots.arm.size + v * WIDTH)
                    scatter = fused(factor, load(slots.normals, e * WIDTH), scatter)
                total = fused(root, scatter, many * load(slots.means, at))
                store(slots.sums, at, load(slots.sums, at) + total)


@inlined
def _pull_bernoulli(bandit, start, middle, first, column, pulls, v, lanes, slots):
    D = uint64(bandit.n_objectives)
    tables = bandit.tables.first.size > 0
    columns_before = uint64(column * bandit.n_arms)
    place = uint64(v * WIDTH)
    counters = first + load(slots.counter, v * WIDTH)
    for d in range(D):
        store(slots.hashes, 0, words(start, middle, counters + spread(d * GOLDEN)))
        at = uint64(v * slots.step) + d * uint64(slots.stride)
        unit = bandit.factors[d]
        scale = 1.0 / unit
        for lane in range(uint64(lanes)):
            arm = uint64(slots.arm[place + lane])
            word = slots.hashes[lane]
            if tables:
                successes = look_up(bandit.tables, (columns_before + arm) * D + d, word)
            else:
                successes = invert(pulls, slots.means[at + lane], word)
            # Equal numbers of successes must give equal sums, whatever the rounds they came in.
            before = math.floor(slots.sums[at + lane] * scale + 0.5)
            slots.sums[at + lane] = (before + successes) * unit


@inner
def draw_ahead(bandit, key, arm, before, values, normals):
    """Draws the pulls number ``before`` to ``before + 7`` of an arm into ``values``, ``(n_arms, n_objectives, 8)`` flat."""
    D = bandit.n_objectives
    start, middle = spread(key.start), spread(key.middle)
    first = uint64((before * bandit.n_arms + arm) * D) * GOLDEN
    counters = spread(first) + lane_numbers() * spread(uint64(bandit.n_arms * D) * GOLDEN)
    base = arm * D * WIDTH
    if bandit.kind == BERNOULLI:
        for d in range(D):
            u = unit_interval(words(start, middle, counters + spread(uint64(d) * GOLDEN)))
            success = u < spread(bandit.means[arm * D + d])
            store(values, base + d * WIDTH, choose(success, spread(bandit.factors[d]), spread(0.0)))
        return
    for d in range(0, D, 2):
        a, b = normal_pair(start, middle, counters + spread(uint64(d) * GOLDEN))
        store(normals, d * WIDTH, a)
        store(normals, (d + 1) * WIDTH, b)
    for d in range(D):
        mean = spread(bandit.means[arm * D + d])
        if bandit.kind == DIAGONAL:
            value = fused(spread(bandit.factors[d]), load(normals, d * WIDTH), mean)
        else:
            scatter = spread(0.0)
            for e in range(D):
                scatter = fused(spread(bandit.factors[(arm * D + d) * D + e]), load(normals, e * WIDTH), scatter)
            value = mean + scatter
        store(values, base + d * WIDTH, value)
