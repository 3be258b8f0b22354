"""Sub-optimality gaps: how hard each arm is to classify (Section 2, Lemma 1, Eq. (5), Section 5)."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, FloatArray, check_integer, check_means
from paretopick.theory.dominance import BLOCK_BYTES, FEW, excess, optimal_rows, weakly_dominates


def gaps(means: ArrayLike, /) -> FloatArray:
    """Returns the gap of every arm (Lemma 1).

    With ``M(i, j) = max_d (means[i, d] - means[j, d])``::

        i not optimal:  max over optimal j of  -M(i, j)
        i optimal:      min( min over optimal j != i of  min(M(i, j), M(j, i)),
                             min over the others j of    max(M(j, i), 0) + gap of j )

    A sub-optimal arm's gap is how far it sits below the arm that dominates it most; an optimal arm's gap is how little it takes
    to confuse it with a neighbour. True means give the gaps of the problem, empirical means those of Eq. (5).

    This form compares every arm with the front alone, ``n |S| D`` operations in blocks that never hold n-by-n numbers; it equals
    Lemma 1's minimum over all arms to the last bit, ties included.

    Args:
        means: ``(n_arms, n_objectives)``, larger is better. One arm alone has an infinite gap; twins on the front have gap 0.

    Note:
        The display before Eq. (5) prints index i inside the minimum over j; we use j, as Lemma 1 and the proofs do.

    >>> gaps([[1.0, 0.0], [0.0, 1.0], [0.25, -0.5]])
    array([0.5 , 0.75, 0.5 ])
    >>> gaps([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # nothing tells the twins apart
    array([0., 0., 1.])
    """
    return optimal_and_gaps(check_means(means))[1]


def relaxed_gaps(means: ArrayLike, /, *, max_arms: int) -> FloatArray:
    """Returns the k-relaxed gaps for k = ``max_arms`` (Eq. (7)).

    Optimal arms get at least the k-th largest gap among optimal arms, since finding k of them is enough; with fewer than k
    optimal arms nothing changes.

    Args:
        means: ``(n_arms, n_objectives)``, larger is better.
        max_arms: k, from 1 to the number of arms.

    >>> relaxed_gaps([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], max_arms=1)
    array([1., 1., 1.])
    """
    means = check_means(means)
    k = check_integer(max_arms, "max_arms", minimum=1, maximum=len(means))
    optimal, gap = optimal_and_gaps(means)
    if optimal.sum() < k:
        return gap
    kth_largest = np.sort(gap[optimal])[-k]
    return np.where(optimal, np.maximum(gap, kth_largest), gap)  # Eq. (7)


@np.errstate(over="ignore")  # finite points may be infinitely far apart
def optimal_and_gaps(points: FloatArray, exact: BoolArray | None = None) -> tuple[BoolArray, FloatArray]:
    """Returns the Pareto mask and the gaps of points known to be clean: the step every policy takes.

    Points with equal counts may be given as sums instead of means: the mask is the same, and the gaps are those of the means
    times the count, with exact ties for integer data.

    Args:
        points: ``(n_arms, n_objectives)``, larger is better.
        exact: which objectives are without noise, ``(n_objectives,)``. Differences in them are beyond doubt, however small: the
            limit of gaps on the scale of a noise that vanishes, where equal values neither help nor hurt. So an arm that is as
            dear as a better one has the gap of the noisy objectives, not 0.
    """
    optimal = optimal_rows(points)
    if exact is not None and exact.any():
        return optimal, _from_pairs(_certain_excess(points, exact), optimal)
    if len(points) <= FEW:
        return optimal, _from_pairs(excess(points, points), optimal)
    gap = np.empty(len(points))
    gap[~optimal], gap[optimal] = _in_blocks(points[optimal], points[~optimal])
    return optimal, gap


def _certain_excess(points: FloatArray, exact: BoolArray) -> FloatArray:
    """``excess`` of all pairs when differences in the exact objectives are infinite, and equal values in them do not count."""
    noisy, certain = points[:, ~exact], points[:, exact]
    above = excess(noisy, noisy) if noisy.shape[1] else np.full((len(points), len(points)), -np.inf)
    as_good = weakly_dominates(certain, certain)  # the row as good as the column
    above[~as_good.T] = np.inf
    if not noisy.shape[1]:
        above[as_good & as_good.T] = np.inf  # twins: neither dominates the other, beyond doubt
    return above


def _from_pairs(above: FloatArray, optimal: BoolArray) -> FloatArray:
    """The gaps from the excess of all pairs, which is written to."""
    np.fill_diagonal(above, np.inf)
    to_front = above[:, optimal]
    gap = 0.0 - to_front.min(axis=1)  # Eq. (1); not -x, which would turn a tie into -0.0
    among, below = to_front[optimal], to_front[~optimal]
    nearest = np.minimum(among.min(axis=1), among.min(axis=0))  # delta^+ of Eq. (2)
    if len(below):
        margin = np.maximum(below, 0.0) + gap[~optimal, None]
        nearest = np.minimum(nearest, margin.min(axis=0))  # delta^- of Eq. (2)
    gap[optimal] = nearest
    return cast(FloatArray, gap)


def _in_blocks(front: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The gaps of the others and of the front, without a matrix of all pairs."""
    rows = max(1, BLOCK_BYTES // (8 * len(front)))
    below = np.empty(len(others))
    nearest = np.full(len(front), np.inf)
    for start in range(0, len(front), rows):
        stop = min(start + rows, len(front))
        above = excess(front[start:stop], front)
        above[np.arange(stop - start), np.arange(start, stop)] = np.inf
        np.minimum(nearest[start:stop], above.min(axis=1), out=nearest[start:stop])
        np.minimum(nearest, above.min(axis=0), out=nearest)
    for start in range(0, len(others), rows):
        above = excess(others[start : start + rows], front)
        block = 0.0 - above.min(axis=1)
        below[start : start + rows] = block
        np.minimum(nearest, (np.maximum(above, 0.0) + block[:, None]).min(axis=0), out=nearest)
    return below, nearest
