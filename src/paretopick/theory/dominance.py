"""Pareto dominance between mean vectors; larger is better in every objective (Section 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, FloatArray, check_means

BLOCK_BYTES = 1 << 19
"""Largest pairwise block ever held in memory, so that it stays in the processor's cache."""

FEW = 128
"""Up to this many points are compared all with all."""


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
