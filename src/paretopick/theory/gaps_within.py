"""Gaps when small differences do not matter and arms must keep limits: how hard each arm is to place; not in the paper.

With all margins 0 and no limits they are the gaps of the paper.
"""

from __future__ import annotations

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick.theory.requirements import Requirements, optimal_and_feasible


@np.errstate(over="ignore")  # finite points may be infinitely far apart
def front_and_gaps(points: FloatArray, required: Requirements, exact: BoolArray | None = None) -> tuple[BoolArray, FloatArray]:
    """Returns the Pareto mask of the arms that keep all limits, S, and the gap of every arm within the margins.

    With the room to the limits, and how clearly j outdoes or covers i, each negative where it does not::

        room(i)      = min over limits d of  x_i,d - limit_d
        outdo(j, i)  = min over d of  x_j,d - x_i,d - margin_d
        cover(j, i)  = min over d of  x_j,d - x_i,d + margin_d

    the answer S is right about i as long as no difference moves by more than the gap of i::

        i not in S:  max( -room(i), max over j in S of min(room(j), cover(j, i)) )
        i in S:      min( room(i), min over j != i of max(-room(j), -outdo(j, i)),
                          min over j in S, j != i, of -outdo(i, j),
                          min over j not in S of max(-cover(i, j), 0) + gap of j )

    An arm outside is out for as long as it breaks a limit, or as some arm of S covers it; an arm of S stays in until it breaks a
    limit, or an arm that keeps them outdoes it. Of two arms that are nearly equal neither is hard to place: both gaps are the
    margin at least. This is Lemma 1 with each difference that separates two arms widened by the margin.

    Args:
        points: ``(n_arms, n_objectives)``, larger is better.
        required: which differences matter, and which limits arms must keep, in the same units.
        exact: which objectives are without noise, ``(n_objectives,)``: what holds in them is beyond doubt, and does not count
            further. The limit of gaps on the scale of a noise that vanishes.
    """
    certain = np.zeros(points.shape[1], dtype=np.bool_) if exact is None else exact
    front = optimal_and_feasible(points, required)
    room = _room(points, required, certain)
    members = np.flatnonzero(front)
    cover = _lead(points[members], points, required, certain, side=-1.0)  # of members over all
    gap = np.maximum(-room, np.minimum(room[members, None], cover).max(axis=0, initial=-np.inf))
    if not len(members):
        return front, gap
    # Who keeps the limits and is not in S is dominated by one of S, and so is further from outdoing anybody.
    rivals = np.flatnonzero(front | (room < 0))
    outdo = _lead(points[rivals], points[members], required, certain, side=1.0)
    outdo[rivals[:, None] == members] = -np.inf
    nearest = np.minimum(room[members], np.maximum(-room[rivals, None], -outdo).min(axis=0))
    nearest = np.minimum(nearest, -outdo[front[rivals]].max(axis=1, initial=-np.inf))
    below = ~front
    left = np.maximum(-cover[:, below], 0.0) + gap[below]
    gap[members] = np.minimum(nearest, left.min(axis=1, initial=np.inf))
    return front, gap


def _room(points: FloatArray, required: Requirements, exact: BoolArray) -> FloatArray:
    """How far each arm is from the limit that it breaks first; infinite where that is beyond doubt."""
    to_limits = points - required.limits
    to_limits[:, exact] = np.where(to_limits[:, exact] < 0, -np.inf, np.inf)
    return np.asarray(to_limits.min(axis=1))


def _lead(rows: FloatArray, columns: FloatArray, required: Requirements, exact: BoolArray, *, side: float) -> FloatArray:
    """``[j, i]``: by how much row j is ahead of column i by ``side`` times the margin, in every objective that is compared.

    What is beyond doubt is infinite. In exact objectives alone whoever outdoes another must be ahead by more than the margin
    somewhere; with noise in others a tie means nothing.
    """
    least = np.full((len(rows), len(columns)), np.inf)
    strictly = np.zeros(least.shape, dtype=np.bool_)
    noisy = required.compared & ~exact
    for d in np.flatnonzero(required.compared):
        ahead = np.subtract.outer(rows[:, d], columns[:, d]) - side * required.margins[d]
        strictly |= ahead > 0
        if noisy[d]:
            np.minimum(least, ahead, out=least)
        else:
            least[ahead < 0] = -np.inf
    if side > 0 and not noisy.any():
        least[~strictly] = -np.inf
    return least
