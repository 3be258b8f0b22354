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

from paretopick.simulation.kernels.compiling import apart, inlined, inner
from paretopick.simulation.kernels.draws.binomials import Tables, invert, look_up
from paretopick.simulation.kernels.draws.blocks import draw_effects
from paretopick.simulation.kernels.draws.counters import GOLDEN, unit_interval, words
from paretopick.simulation.kernels.draws.normals import normal_pair
from paretopick.simulation.kernels.vector_memory import float_memory, load, store, word_memory
from paretopick.simulation.kernels.vectors import WIDTH, as_numbers, choose, fused, lane_numbers, rounded_down, spread

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

    If arms share something, ``factors`` end in what standard normals are multiplied by for block effects (``blocks``), from place
    ``shared`` on, ``(n_objectives, n_objectives)``; else ``shared`` is 0. An array more would make ``doubt`` slower.

    ``exact`` says which objectives are without noise: a policy is told the means of them, whatever is drawn. Values are then not
    divided by anything, and ``widths`` are for policies that compare them so.
    """

    kind: int
    n_arms: int
    n_objectives: int
    step: int
    shared: int
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    tables: Tables
    exact: NDArray[np.bool_]
    widths: NDArray[np.float64]


class Draw(NamedTuple):
    """What a round draws for every active arm: the sum of t_r new pulls, after n_(r-1) = ``before`` of them.

    ``column`` is where the tables hold sums of so many pulls.
    """

    pulls: int
    before: int
    column: int


class Slots(NamedTuple):
    """Arms with their pulls, in vectors of eight slots.

    Coordinate d of vector v is at ``v * step + d * stride`` of ``sums`` and ``means``; its arms are at ``8 * v`` of ``arm`` and
    of ``counter``, the arm's part of the counter times ``GOLDEN``. The slots of a vector are eight arms of one run
    (``slots_of_one_run``) or the same place in eight runs (``slots_of_eight_runs``).

    ``effects`` are what the arms in the lanes have in common in this round, objective d at ``8 * d``: 0 if they share nothing.
    """

    n_objectives: int
    step: int
    stride: int
    arm: NDArray[np.uint64]
    counter: NDArray[np.uint64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    effects: NDArray[np.float64]
    normals: NDArray[np.float64]
    words: NDArray[np.uint64]


def slots_of_one_run(n_arms: int, n_objectives: int, kind: int) -> Slots:
    """Memory for one run; slots behind the last arm are plus infinity in every objective."""
    n_vectors = -(-n_arms // WIDTH)
    return _slots(n_vectors, n_objectives, kind, WIDTH, n_vectors * WIDTH)


def slots_of_eight_runs(n_arms: int, n_objectives: int, kind: int) -> Slots:
    """Memory for eight runs at once."""
    return _slots(n_arms, n_objectives, kind, n_objectives * WIDTH, WIDTH)


def _slots(n_vectors: int, n_objectives: int, kind: int, step: int, stride: int) -> Slots:
    n = n_vectors * WIDTH
    sums = float_memory(n_objectives * n)
    sums[:] = np.inf
    return Slots(
        n_objectives=n_objectives,
        step=step,
        stride=stride,
        arm=word_memory(n),
        counter=word_memory(n),
        sums=sums,
        means=float_memory(n_objectives * n),
        factors=float_memory(n_objectives**2 * n if kind == COVARIANCE else 1),
        effects=float_memory(n_objectives * WIDTH),
        normals=float_memory((n_objectives + 1) * WIDTH),
        words=word_memory(n_objectives * WIDTH),
    )


@inlined
def from_run(bandit, run):
    """The same with the means of so many runs left out."""
    return BanditArrays(
        bandit.kind,
        bandit.n_arms,
        bandit.n_objectives,
        bandit.step,
        bandit.shared,
        bandit.means[run * bandit.step :],
        bandit.factors,
        bandit.tables,
        bandit.exact,
        bandit.widths,
    )


@inlined
def fill_slot(bandit, slots, place, start, arm):
    """Puts an arm into a slot: its number, mean and counter, but not its sums.

    The slot is at ``place`` among the arms, and from ``start`` on among the coordinates.
    """
    D = bandit.n_objectives
    slots.arm[place] = arm
    slots.counter[place] = uint64(arm * D) * GOLDEN
    for d in range(D):
        slots.means[start + d * slots.stride] = bandit.means[arm * D + d]
    if bandit.kind == COVARIANCE:
        for cell in range(D * D):
            slots.factors[cell * slots.arm.size + place] = bandit.factors[arm * D * D + cell]


@inlined
def copy_slot(slots, source, source_start, target, target_start):
    """Overwrites a slot with another; both are given as those of ``fill_slot``."""
    slots.arm[target] = slots.arm[source]
    slots.counter[target] = slots.counter[source]
    for d in range(0, slots.n_objectives * slots.stride, slots.stride):
        slots.sums[target_start + d] = slots.sums[source_start + d]
        slots.means[target_start + d] = slots.means[source_start + d]
    if slots.factors.size > 1:
        for cell in range(0, slots.n_objectives**2 * slots.arm.size, slots.arm.size):
            slots.factors[cell + target] = slots.factors[cell + source]


@inner
def pull(bandit, key, draw, n_vectors, n_lanes, slots):
    """Adds the sums of a round to the slots of so many vectors, of the last of them to ``n_lanes`` slots at least.

    ``key`` holds the keys of the runs in the lanes.
    """
    first = spread(uint64(draw.before * bandit.n_arms * bandit.n_objectives) * GOLDEN)
    if bandit.kind == BERNOULLI:
        for v in range(n_vectors):
            _pull_bernoulli(bandit, key, first, draw, v, WIDTH if v < n_vectors - 1 else n_lanes, slots)
        return
    if bandit.shared > 0:  # all arms have had as many pulls: the effects of their next repeats are drawn as one sum
        repeats, size = spread(uint64(draw.before)), math.sqrt(draw.pulls)
        factors, start, middle = bandit.factors, key.start, key.middle
        draw_effects(bandit.n_objectives, factors, bandit.shared, start, middle, repeats, size, slots.normals, slots.effects, 0)
    if bandit.kind == DIAGONAL:
        for d in range(0, bandit.n_objectives, 2):
            _pull_pair(bandit, key, first, draw, d, n_vectors, slots)
    else:
        for v in range(n_vectors):
            _pull_correlated(key, first, draw, v, slots)


@inlined
def _pull_pair(bandit, key, first, draw, d, n_vectors, slots):
    """Objectives d and d + 1, which share a pair of normals, of all vectors; or d alone, if it is the last."""
    D = bandit.n_objectives
    many, root = spread(float(draw.pulls)), math.sqrt(draw.pulls)
    one, other = spread(root * bandit.factors[d]), spread(root * bandit.factors[min(d + 1, D - 1)])
    first = first + spread(uint64(d) * GOLDEN)
    effect, effect_of_other = load(slots.effects, d * WIDTH), load(slots.effects, min(d + 1, D - 1) * WIDTH)
    for v in range(n_vectors):
        a, b = normal_pair(key.start, key.middle, first + load(slots.counter, v * WIDTH))
        at = v * slots.step + d * slots.stride
        _add(slots, at, fused(one, a, many * load(slots.means, at)) + effect)  # N(t theta, t sigma^2)
        if d + 1 < D:
            at += slots.stride
            _add(slots, at, fused(other, b, many * load(slots.means, at)) + effect_of_other)


@inlined
def _pull_correlated(key, first, draw, v, slots):
    D = slots.n_objectives
    many, root = spread(float(draw.pulls)), spread(math.sqrt(draw.pulls))
    counters = first + load(slots.counter, v * WIDTH)
    for d in range(0, D, 2):
        a, b = normal_pair(key.start, key.middle, counters + spread(uint64(d) * GOLDEN))
        store(slots.normals, d * WIDTH, a)
        store(slots.normals, (d + 1) * WIDTH, b)
    for d in range(D):
        scatter = spread(0.0)
        for e in range(D):
            factor = load(slots.factors, (d * D + e) * slots.arm.size + v * WIDTH)
            scatter = fused(factor, load(slots.normals, e * WIDTH), scatter)
        at = v * slots.step + d * slots.stride
        total = fused(root, scatter, many * load(slots.means, at)) + load(slots.effects, d * WIDTH)
        _add(slots, at, total)  # N(t theta, t Sigma)


@inlined
def _add(slots, at, total):
    store(slots.sums, at, load(slots.sums, at) + total)


@inlined
def _pull_bernoulli(bandit, key, first, draw, v, n_lanes, slots):
    """Draws Binomial(t, theta) numbers lane by lane, and adds them to the sums of all lanes at once."""
    D = uint64(bandit.n_objectives)
    tables = bandit.tables.first.size > 0
    columns_before = uint64(draw.column * bandit.n_arms)
    place = uint64(v * WIDTH)
    counters = first + load(slots.counter, v * WIDTH)
    for d in range(D):
        at = d * uint64(WIDTH)
        store(slots.words, np.int64(at), words(key.start, key.middle, counters + spread(d * GOLDEN)))
        for lane in range(uint64(n_lanes)):
            word = slots.words[at + lane]
            if tables:
                successes = look_up(bandit.tables, (columns_before + slots.arm[place + lane]) * D + d, word)
            else:
                chance = slots.means[uint64(v * slots.step) + d * uint64(slots.stride) + lane]
                successes = invert(draw.pulls, chance, word)
            slots.words[at + lane] = uint64(successes)
    for d in range(bandit.n_objectives):
        unit = spread(bandit.factors[d])
        at = v * slots.step + d * slots.stride
        # Equal numbers of successes must give equal sums, whatever the rounds they came in.
        before = rounded_down(load(slots.sums, at) * (spread(1.0) / unit) + spread(0.5))
        store(slots.sums, at, (before + as_numbers(load(slots.words, d * WIDTH))) * unit)


@apart
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
    shares = bandit.shared > 0
    if shares:
        repeats = spread(uint64(before)) + lane_numbers()
        draw_effects(D, bandit.factors, bandit.shared, start, middle, repeats, 1.0, normals, values, base)
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
        if shares:
            value = value + load(values, base + d * WIDTH)
        store(values, base + d * WIDTH, value)
