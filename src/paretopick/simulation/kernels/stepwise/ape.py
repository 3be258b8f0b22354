"""Runs of APE-FB (Algorithm 3) and of APE-FB-ADAPT, corrected and as published, one run after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import inlined, inner, kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.fronts import Front, make_front
from paretopick.simulation.kernels.stepwise.bounds import (
    LARGEST_FLOAT,
    Bounds,
    bonus,
    candidates,
    follow,
    make_bounds,
    raise_bonuses,
    search_row,
    set_bonuses,
)
from paretopick.simulation.kernels.stepwise.moving_gaps import Gaps, make_gaps, move_arm, start_gaps
from paretopick.simulation.kernels.stepwise.one_run import Arms, answer_now, forget, make_arms, pull_once
from paretopick.simulation.kernels.stepwise.same_pair import chosen_again, found_pair
from paretopick.simulation.kernels.vector_memory import float_memory, load, store
from paretopick.simulation.kernels.vectors import WIDTH, larger, spread, total

FIXED, ADAPTIVE, PUBLISHED = 0, 1, 2
"""The variants: exploration given, estimated for every arm at every step, estimated as published."""

PATIENCE = 16
"""So many rows are searched that turn out to be settled, and are not with raised bonuses, before these are set anew."""

SMALLEST_GAP = 1e-8


class Rule(NamedTuple):
    """The variant, its budget, and the ``scale`` of the exploration: a of the fixed variant, c of the others."""

    variant: int
    scale: float
    budget: int


class Memory(NamedTuple):
    """What the runs work in; ``start`` is where the means of a pair were when it was found."""

    arms: Arms
    front: Front
    gaps: Gaps
    bounds: Bounds
    start: NDArray[np.float64]


def make_memory(bandit: BanditArrays) -> Memory:
    """Memory for one run; slots behind the last arm are minus infinity, the farthest from every arm."""
    arms, D = make_arms(bandit, -np.inf), bandit.n_objectives
    return Memory(arms, make_front(arms.stride), make_gaps(arms.stride, D), make_bounds(arms.stride), float_memory(2 * D))


@kernel
def run_ape(bandit, rule, runs, memory, outcome, sources=SOURCES):
    """Makes runs."""
    K, D, arms = bandit.n_arms, bandit.n_objectives, memory.arms
    for run in range(runs.first, runs.last):
        row = run - runs.first
        key, own = run_key(runs.seed, run), from_run(bandit, row)
        forget(arms)
        for i in range(K):
            pull_once(own, key, i, arms)
        if K == 1:
            steps = rule.budget - 1
            for _ in range(steps):
                pull_once(own, key, 0, arms)
        elif rule.variant == ADAPTIVE:
            steps = _run_adaptive(own, key, rule, memory)
        else:
            steps = _run_pairs(own, key, rule, memory)
        answer_now(K, D, arms, memory.front, outcome.answers[row])
        outcome.pulls[row] = rule.budget
        outcome.rounds[row] = steps + 1


@inlined
def _run_pairs(bandit, key, rule, memory):
    """The steps of a run of which each changes one bonus: pairs are found, and pulled until another one may be the choice."""
    K, D, arms, bounds = bandit.n_arms, bandit.n_objectives, memory.arms, memory.bounds
    bounds.bonus[:K] = bonus(rule.scale, 1) if rule.variant == FIXED else 0.0
    if rule.variant == PUBLISHED:
        start_gaps(arms.means, arms.stride, D, K, memory.gaps)
    _search_all(K, D, arms, bounds)
    used, steps = K, 0
    while used < rule.budget:
        b, c, _ = candidates(False, K, D, arms, bounds)
        pair = found_pair(b, c, D, arms, bounds, memory.start)
        pulled_b, pulled_c = arms.counts[b], arms.counts[c]
        if rule.variant == FIXED:
            used, more = _pull_less_pulled(bandit, key, rule, pair, used, memory)
        else:
            used, more = _pull_both(bandit, key, rule, pair, used, memory)
        steps += more
        if arms.counts[b] > pulled_b:
            follow(b, K, D, arms, bounds, bounds.bonus)
        if arms.counts[c] > pulled_c:
            follow(c, K, D, arms, bounds, bounds.bonus)
    return steps


@inlined
def _pull_less_pulled(bandit, key, rule, pair, used, memory):
    """Steps of the fixed variant until the pair may change or the budget ends; returns what is used then, and the steps."""
    arms, bounds, before = memory.arms, memory.bounds, used
    bonus_b, bonus_c, again = pair.bonus_b, pair.bonus_c, True
    while again and used < rule.budget:
        if arms.counts[pair.c] < arms.counts[pair.b]:
            pull_once(bandit, key, pair.c, arms)
            bonus_c = bonus(rule.scale, arms.counts[pair.c])
        else:
            pull_once(bandit, key, pair.b, arms)
            bonus_b = bonus(rule.scale, arms.counts[pair.b])
        used += 1
        again = chosen_again(pair, bonus_b, bonus_c, bandit.n_objectives, arms, memory.start)
    bounds.bonus[pair.b], bounds.bonus[pair.c] = bonus_b, bonus_c
    return used, used - before


@inlined
def _pull_both(bandit, key, rule, pair, used, memory):
    """The same as published: b and c are pulled both, and the less pulled has its bonus renewed by H of the means before.

    Until the pair changes the sum H may be rounded in any way; then it is added up in order.
    """
    K, D, arms, bounds, gaps = bandit.n_arms, bandit.n_objectives, memory.arms, memory.bounds, memory.gaps
    bonus_b, bonus_c, again, steps = pair.bonus_b, pair.bonus_c, True, 0
    chosen, other = pair.b, pair.c
    if arms.counts[pair.c] < arms.counts[pair.b]:
        chosen, other = pair.c, pair.b
    while again and used < rule.budget:
        exploration = _exploration(rule.scale, rule.budget - K, renew_terms(True, K, gaps))
        if rule.budget - used > 1:
            pull_once(bandit, key, other, arms)
            used += 1
            move_arm(arms.means, arms.stride, D, K, other, gaps)
        pull_once(bandit, key, chosen, arms)
        used += 1
        move_arm(arms.means, arms.stride, D, K, chosen, gaps)
        if chosen == pair.b:
            bonus_b = bonus(exploration, arms.counts[chosen])
        else:
            bonus_c = bonus(exploration, arms.counts[chosen])
        steps += 1
        again = chosen_again(pair, bonus_b, bonus_c, D, arms, memory.start)
    bounds.bonus[chosen] = bonus(_exploration(rule.scale, rule.budget - K, add_up(K, gaps)), arms.counts[chosen])
    return used, steps


@inlined
def _run_adaptive(bandit, key, rule, memory):
    """The steps of a run of the adaptive variant, of which each changes all bonuses."""
    K, D, arms, gaps, bounds = bandit.n_arms, bandit.n_objectives, memory.arms, memory.gaps, memory.bounds
    start_gaps(arms.means, arms.stride, D, K, gaps)
    renew_terms(False, K, gaps)
    exploration, in_vain = _exploration(rule.scale, rule.budget - K, add_up(K, gaps)), 0
    set_bonuses(exploration, K, arms, bounds)
    _search_all(K, D, arms, bounds)
    ceiling = raise_bonuses(exploration, K, arms, bounds)
    for _ in range(K, rule.budget):
        b, c, more = candidates(True, K, D, arms, bounds)
        in_vain += more
        chosen = c if arms.counts[c] < arms.counts[b] else b
        pull_once(bandit, key, chosen, arms)
        move_arm(arms.means, arms.stride, D, K, chosen, gaps)
        follow(chosen, K, D, arms, bounds, bounds.raised)
        renew_terms(False, K, gaps)
        exploration = _exploration(rule.scale, rule.budget - K, add_up(K, gaps))
        if exploration > ceiling or in_vain > PATIENCE:
            ceiling, in_vain = raise_bonuses(exploration, K, arms, bounds), 0
        set_bonuses(exploration, K, arms, bounds)
    return rule.budget - K


@inner
def _search_all(n_arms, n_objectives, arms, bounds):
    for i in range(n_arms):
        search_row(i, n_arms, n_objectives, arms, bounds)
    bounds.upper[n_arms:] = -np.inf
    bounds.tracked[n_arms:] = -np.inf


@inlined
def _exploration(c, steps, hardness):
    return min(c * (25 / 36) * steps / hardness, LARGEST_FLOAT) if hardness > 0.0 else 0.0  # a = c 25/36 (T - K) / H


@inlined
def renew_terms(published, n_arms, gaps):
    """Brings the terms of the estimated H up to date; returns their sum but for rounding."""
    first, least, hardness = gaps.valid[0], spread(SMALLEST_GAP), spread(0.0)
    gaps.added[0], gaps.valid[0] = min(gaps.added[0], first), n_arms
    for i in range(0, n_arms, WIDTH):
        if i + WIDTH > first:
            gap = load(gaps.gap, i)
            gap = gap + least if published else larger(gap, least)
            store(gaps.terms, i, spread(1.0) / (gap * gap))
        hardness = hardness + load(gaps.terms, i)
    return total(hardness)


@inlined
def add_up(n_arms, gaps):
    """The estimated H, added up in the order of the arms, from the first one on whose term is another than the last time."""
    first = gaps.added[0]
    hardness = gaps.totals[first]
    for i in range(first, n_arms):
        hardness += gaps.terms[i]  # H = sum of 1 / gap_i^2
        gaps.totals[i + 1] = hardness
    gaps.added[0] = n_arms
    return hardness
