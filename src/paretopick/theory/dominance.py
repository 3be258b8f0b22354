"""Pareto dominance between mean vectors; larger is better in every objective (Section 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_means

BLOCK_BYTES = 1 << 19
"""Largest pairwise block ever held in memory, so that it stays in the processor's cache."""

FEW = 128
"""Up to this many points are compared all with all."""

AT_ONCE = 1 << 15
"""Points whose dominators are looked for in one go, so that what is noted about them stays in the processor's cache."""

BITS = 64
"""Of a word, in which each stands for one possible dominator."""


def pareto_mask(means: ArrayLike, /) -> BoolArray:
    """Returns which arms are Pareto optimal, that is, dominated by none (Section 2).

    Arm i is dominated by j when j is at least as good in every objective and better in one. Arms with identical means do not
    dominate each other, so both stay.

    Args:
        means: ``(n_arms, n_objectives)``, larger is better.

    Note:
        The paper's definition of S* uses strict dominance and its definition of S_r excludes ties altogether; without ties the
        three agree. Plain dominance keeps Lemma 1 true when there are ties.

    >>> pareto_mask([[1, 0], [1, 0], [0, 1], [0, 0]])  # twins stay, a corner that only ties is dominated
    array([ True,  True,  True, False])
    """
    return optimal_rows(check_means(means))


def excess(rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Returns ``excess[i, j] = M(i, j) = max_d (rows[i, d] - columns[j, d])`` (Section 2).

    Positive: the least that must be added to every objective of j before it weakly dominates i. Not positive: j weakly dominates
    i. The paper's m(i, j) is its negative.
    """
    largest = np.subtract.outer(rows[:, 0], columns[:, 0])
    difference = np.empty_like(largest)
    for d in range(1, rows.shape[1]):
        np.subtract.outer(rows[:, d], columns[:, d], out=difference)
        np.maximum(largest, difference, out=largest)
    return largest


def weakly_dominates(rows: FloatArray, columns: FloatArray) -> BoolArray:
    """Returns ``[i, j]``: is row i at least as good as column j in every objective; between distinct points, dominance."""
    weakly = np.greater_equal.outer(rows[:, 0], columns[:, 0])
    as_good = np.empty_like(weakly)
    for d in range(1, rows.shape[1]):
        np.greater_equal.outer(rows[:, d], columns[:, d], out=as_good)
        weakly &= as_good
    return weakly


def optimal_rows(points: FloatArray) -> BoolArray:
    """``pareto_mask`` for points known to be clean: all pairs at once for a few, about n |S| D comparisons in blocks for many.

    In one or two objectives a sort is enough, however long the front.
    """
    if len(points) <= FEW:
        as_good = weakly_dominates(points, points)
        return np.logical_not((as_good & ~as_good.T).any(axis=0))

    # Every dominator is visited before what it dominates: by decreasing mean, which rounding keeps monotone (a sum could overflow
    # both ways), and among equal means by decreasing coordinates; in up to two objectives by decreasing coordinates alone. A
    # point is then optimal exactly when no optimal point before it dominates it. Twins are neighbours in that order, and only the
    # first of them is compared.
    keys = (-points).T[::-1] if points.shape[1] <= 2 else (*(-points.T), -(points / points.shape[1]).sum(axis=1))
    order = np.lexsort(keys)
    visited = points[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (visited[1:] != visited[:-1]).any(axis=1)
    survives = _survivors(visited[first]) if points.shape[1] > 2 else _record_holders(visited[first])
    optimal = np.empty(len(points), dtype=np.bool_)
    optimal[order] = survives[np.cumsum(first) - 1]
    return optimal


def _survivors(points: FloatArray) -> BoolArray:
    """Which of distinct points, every dominator before what it dominates, are dominated by none."""
    survives = np.zeros(len(points), dtype=np.bool_)
    front = np.empty_like(points)
    size = start = 0
    while start < len(points):
        stop = start + min(FEW, max(1, BLOCK_BYTES // max(1, size)))
        block = points[start:stop]
        kept = np.flatnonzero(~weakly_dominates(front[:size], block).any(axis=0))
        among = weakly_dominates(block[kept], block[kept])
        np.fill_diagonal(among, val=False)
        kept = kept[~among.any(axis=0)]
        survives[start + kept] = True
        front[size : size + len(kept)] = block[kept]
        size += len(kept)
        start = stop
    return survives


def _record_holders(points: FloatArray) -> BoolArray:
    """The same for one or two objectives and falling first coordinates: whoever exceeds all before in the last coordinate."""
    last = points[:, -1]
    record = np.ones(len(points), dtype=np.bool_)
    record[1:] = last[1:] > np.maximum.accumulate(last)[:-1]
    return record


def optimal_in_each(sets: FloatArray) -> BoolArray:
    """Returns which points are optimal in each of many sets ``(n_sets, n_points, n_objectives)``: ``optimal_rows`` of each.

    The time depends on the numbers alone, not on how long the fronts are. One point dominates another exactly when it comes
    before it in the order of every objective, if ties are broken so that dominators come first and twins are left out. Who comes
    before whom is kept as bits, 64 possible dominators in a word: about n^2 D / 64 operations a set.

    >>> optimal_in_each(np.array([[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]))
    array([[ True,  True, False],
           [ True,  True, False]])
    """
    n_sets, n_points, _ = sets.shape
    optimal = np.empty((n_sets, n_points), dtype=np.bool_)
    step = max(1, AT_ONCE // n_points)
    for start in range(0, n_sets, step):
        optimal[start : start + step] = _optimal_in_some(sets[start : start + step])
    return optimal


def _optimal_in_some(sets: FloatArray) -> BoolArray:
    """``optimal_in_each`` without regard to memory."""
    n_sets, n_points, _ = sets.shape
    starts = n_points * np.arange(n_sets)[:, None]
    values = np.ascontiguousarray(np.moveaxis(sets, 2, 0))
    values = values[np.argsort([-len(np.unique(column[0])) for column in values])]  # ties in the first objective cost the most
    visited = _lexicographic(values) + starts
    values = values.reshape(len(values), -1)[:, visited]  # from here on every dominator comes before what it dominates
    places = np.arange(n_points)
    twin = np.zeros((n_sets, n_points), dtype=np.bool_)  # of the one before
    twin[:, 1:] = (values[..., 1:] == values[..., :-1]).all(axis=0)
    dominated = _beaten(values[1:], starts)
    dominated = np.take_along_axis(dominated, np.maximum.accumulate(np.where(twin, 0, places), axis=1), axis=1)
    optimal = np.empty(n_sets * n_points, dtype=np.bool_)
    optimal[visited] = ~dominated
    return optimal.reshape(n_sets, n_points)


def _beaten(values: FloatArray, starts: IntArray) -> BoolArray:
    """Whether some point before is as good in all of these objectives ``(n_objectives, n_sets, n_points)``."""
    shape = values.shape[1:]
    orders = [_descending(column) for column in values]
    ranks = []
    for order in orders:
        rank = np.empty(shape, dtype=np.intp)
        rank.reshape(-1)[order + starts] = np.arange(rank.size).reshape(shape)
        ranks.append(rank)
    beaten = np.zeros(shape, dtype=np.bool_)
    for first in range(0, shape[1], BITS):
        bits = np.zeros(shape[1], dtype=np.uint64)
        bits[first : first + BITS] = np.uint64(1) << np.arange(min(BITS, shape[1] - first), dtype=np.uint64)
        ahead = np.broadcast_to(np.bitwise_or.accumulate(bits) ^ bits, shape)
        for order, rank in zip(orders, ranks, strict=True):
            ahead = ahead & np.bitwise_or.accumulate(bits[order], axis=1).reshape(-1)[rank]
        beaten |= ahead != 0
    return beaten


def _lexicographic(values: FloatArray) -> IntArray:
    """Orders of each set by the first objective, falling, then by the second, and so on: dominators first, twins together."""
    order = np.argsort(-values[0], axis=1)
    tied = _tied(values[0], order)
    order[tied] = np.lexsort(-values[::-1, tied], axis=1)
    return order


def _descending(values: FloatArray) -> IntArray:
    """Orders of each set by one objective, falling; who came first stays first among equals."""
    order = np.argsort(-values, axis=1)  # much faster than the stable one
    tied = _tied(values, order)
    order[tied] = np.argsort(-values[tied], axis=1, kind="stable")
    return order


def _tied(values: FloatArray, order: IntArray) -> BoolArray:
    """Which sets have equal values."""
    in_order = np.take_along_axis(values, order, axis=1)
    return np.asarray((in_order[:, 1:] == in_order[:, :-1]).any(axis=1))
