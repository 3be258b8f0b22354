"""The lower bound for any algorithm, the classes of instances it is proved for, and the instances of its proof (Appendix C)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_budget, check_means
from paretopick.errors import InvalidInput
from paretopick.theory.bounds.upper import check_variance, exp_minus
from paretopick.theory.complexity import complexity
from paretopick.theory.dominance import excess, weakly_dominates
from paretopick.theory.gaps import optimal_and_gaps

ROUNDING = 1e-12
"""What a distance may fall short of three gaps, relatively: decimal means on the edge of a class round to either side of it."""


def lower_bound(means: ArrayLike, budget: int, /, *, sigma: float) -> float:
    """Returns ``exp(-2T / (sigma^2 H)) / 4``, for Gaussian noise with covariance sigma^2 I (Theorems 2 and 5).

    Whatever the algorithm, its error is at least this on the instance or on one of its ``alternatives``.

    Args:
        means: ``(n_arms, n_objectives)`` of an instance in class B or B'; others are refused, since nothing is proved for them.
        budget: T.
        sigma: standard deviation of the noise.
    """
    T = check_budget(budget)
    variance = check_variance(sigma)
    _shifts(check_means(means))
    return exp_minus(2 * T, complexity(means), variance) / 4


def in_class_b(means: ArrayLike, /) -> bool:
    """Returns whether the means are in class B, for which Theorem 2 is proved.

    Every sub-optimal arm is dominated by exactly one arm, every optimal arm j dominates exactly one arm u(j), and a sub-optimal i
    that j does not dominate is far from it: ``M(i, j) >= 3 max(gap_i, gap_u(j))``.

    Note:
        The paper's dominance is strict here. An arm that merely ties with its dominator has gap 0, where the alternatives move
        nothing: such means are not in the class.

    >>> in_class_b([[-2.5, 3.0], [-3.0, 1.0], [2.0, -0.5], [1.5, -3.0]])  # the example drawn in the paper
    True
    """
    return isinstance(_class_b(_Pairs.of(check_means(means))), _Shifts)


def in_class_b_prime(means: ArrayLike, /) -> bool:
    """Returns whether the means are in class B', for which Theorem 5 is proved.

    (1) every sub-optimal arm i has an objective in which raising it by gap_i frees it from all dominators;
    (2) every optimal arm i has a sub-optimal u(i) that only i dominates, and that is the only arm maximally dominated by i alone;
    (3) ``M(i, j) >= 3 max(gap_u(i), gap_u(j))`` for optimal i and j;
    (4) ``M(i, j) >= 3 max(gap_i, gap_j)`` whenever i is not dominated by j.

    Note:
        The appendix calls B' larger than B. With (4) as printed it is not: (4) also binds an optimal arm i and the arm u(i)
        below it, and B says nothing about that pair. ``[[1, 1], [0, 0]]`` is in B and not in B'.

    >>> in_class_b([[1.0, 1.0], [0.0, 0.0]]), in_class_b_prime([[1.0, 1.0], [0.0, 0.0]])
    (True, False)
    """
    return isinstance(_class_b_prime(_Pairs.of(check_means(means))), _Shifts)


def alternatives(means: ArrayLike, /) -> FloatArray:
    """Returns the means of the K alternative instances, ``(n_arms, n_arms, n_objectives)`` (Eq. (6)).

    Alternative i moves arm i alone, by twice its gap: a sub-optimal arm up, out of its dominator's reach; an optimal arm down,
    until it no longer dominates u(i). The Pareto set changes; in class B no gap does, in class B' none shrinks.

    Args:
        means: ``(n_arms, n_objectives)`` of an instance in class B or B'.

    >>> alternatives([[1.0, 1.0], [0.0, 0.5]])[1].tolist()  # arm 1 rises above arm 0 in the objective where it is nearest
    [[1.0, 1.0], [0.0, 1.5]]
    """
    means = check_means(means)
    shifts = _shifts(means)
    arms = np.arange(len(means))
    moved = np.repeat(means[None], len(means), axis=0)
    moved[arms, arms, shifts.objective] += shifts.amount
    return moved


@dataclass(frozen=True)
class _Pairs:
    """The pairwise quantities both classes are defined by."""

    means: FloatArray
    optimal: BoolArray
    gaps: FloatArray
    excess: FloatArray
    dominated: BoolArray
    """``dominated[i, j]``: i is dominated by j."""

    @classmethod
    def of(cls, means: FloatArray) -> _Pairs:
        optimal, gap = optimal_and_gaps(means)
        as_good = weakly_dominates(means, means)
        return cls(means, optimal, gap, excess(means, means), dominated=as_good.T & ~as_good)


@dataclass(frozen=True)
class _Shifts:
    """How far, and along which objective, each alternative moves its arm."""

    objective: IntArray
    amount: FloatArray


def _shifts(means: FloatArray) -> _Shifts:
    """The moves of the alternatives, or an error that says what keeps the means out of both classes."""
    pairs = _Pairs.of(means)
    in_b = _class_b(pairs)
    if isinstance(in_b, _Shifts):
        return in_b
    in_b_prime = _class_b_prime(pairs)
    if isinstance(in_b_prime, _Shifts):
        return in_b_prime
    raise InvalidInput(f"the lower bound is proved for classes B and B' only. Not in B: {in_b}. Not in B': {in_b_prime}.")


def _class_b(p: _Pairs) -> _Shifts | str:
    """The moves of the alternatives, or what keeps the means out of class B."""
    if (problem := _without_gap(p)) is not None:
        return problem
    for i in _arms(~p.optimal):
        if (n := p.dominated[i].sum()) != 1:
            return f"arm {i} is dominated by {n} arms, not by exactly one"
    below = np.zeros(len(p.means), dtype=np.int64)  # u(j)
    for j in _arms(p.optimal):
        if (n := p.dominated[:, j].sum()) != 1:
            return f"optimal arm {j} dominates {n} arms, not exactly one"
        below[j] = _arms(p.dominated[:, j])[0]
    for i in _arms(~p.optimal):
        for j in _arms(p.optimal & ~p.dominated[i]):
            if (problem := _too_close(p, i, j, (i, int(below[j])))) is not None:
                return problem
    return _moves(p, below)


def _class_b_prime(p: _Pairs) -> _Shifts | str:
    """The moves of the alternatives, or what keeps the means out of class B'."""
    if (problem := _without_gap(p)) is not None:
        return problem
    for i in _arms(~p.optimal):
        if _freeing_objective(p, i) < 0:
            return f"no single objective frees arm {i} from its dominators when raised by its gap"
    alone = _maximally_dominated_by_one(p)
    below = np.zeros(len(p.means), dtype=np.int64)
    for i in _arms(p.optimal):
        candidates = _arms(alone == i)
        if len(candidates) != 1:
            return f"{len(candidates)} arms are maximally dominated by optimal arm {i} alone, not exactly one"
        if p.dominated[candidates[0]].sum() != 1:
            return f"arm {candidates[0]} is dominated by others than optimal arm {i}"
        below[i] = candidates[0]
    for i in _arms(p.optimal):
        for j in _arms(p.optimal):
            if i != j and (problem := _too_close(p, i, j, (int(below[i]), int(below[j])))) is not None:
                return problem
    for i, j in np.argwhere(~p.dominated).tolist():
        if i != j and (problem := _too_close(p, i, j, (i, j))) is not None:
            return problem
    return _moves(p, below)


def _arms(mask: BoolArray) -> list[int]:
    return np.flatnonzero(mask).tolist()


def _without_gap(p: _Pairs) -> str | None:
    if p.gaps.min() <= 0:
        return f"arm {p.gaps.argmin()} has gap 0"
    return None


def _too_close(p: _Pairs, i: int, j: int, arms: tuple[int, int]) -> str | None:
    needed = 3 * max(p.gaps[arms[0]], p.gaps[arms[1]])
    if p.excess[i, j] >= needed * (1 - ROUNDING):
        return None
    return f"arms {i} and {j} are too close: M({i}, {j}) = {p.excess[i, j]:.10g} is below {needed:.10g}, three times a gap"


def _freeing_objective(p: _Pairs, i: int) -> int:
    """The first objective in which raising arm i by its gap leaves it strictly dominated by nobody, d_i; -1 if there is none.

    In class B there always is one, where the only dominator is nearest. Differences are compared with the gap, itself such a
    difference; adding the gap to a mean could round below its dominator.
    """
    ahead = np.delete(p.means, i, axis=0) - p.means[i]
    for d in range(ahead.shape[1]):
        elsewhere = np.delete(ahead, d, axis=1) <= 0
        if (elsewhere.any(axis=1) | (ahead[:, d] <= p.gaps[i])).all():
            return d
    return -1


def _maximally_dominated_by_one(p: _Pairs) -> IntArray:
    """For each sub-optimal arm the one arm that dominates it most, or -1 where there are several or the arm is optimal."""
    margin = -p.excess
    np.fill_diagonal(margin, -np.inf)
    nearest = margin == margin.max(axis=1, keepdims=True, initial=-np.inf)
    return np.where(~p.optimal & (nearest.sum(axis=1) == 1), nearest.argmax(axis=1), -1)


def _moves(p: _Pairs, below: IntArray) -> _Shifts:
    objective = np.zeros(len(p.means), dtype=np.int64)
    for i in _arms(~p.optimal):
        objective[i] = _freeing_objective(p, i)
    objective[p.optimal] = objective[below[p.optimal]]
    return _Shifts(objective, np.where(p.optimal, -2.0, 2.0) * p.gaps)
