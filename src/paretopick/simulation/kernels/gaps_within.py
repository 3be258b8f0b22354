"""The gaps of points within margins and limits: ``theory/gaps_within.py``, number by number.

All points are compared with all, as in ``certain_gaps``, and objectives may be without noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.vector_memory import float_memory


class Required(NamedTuple):
    """One number per objective: the smallest difference that matters, and the least that points must have, -inf for no limit.

    Points are compared in the objectives that are ``compared``.
    """

    margins: NDArray[np.float64]
    limits: NDArray[np.float64]
    compared: NDArray[np.bool_]


class GapsWithin(NamedTuple):
    """The points, coordinate d of point i at ``d * stride + i``, and what matters, in the units of the points.

    ``front`` says whether a point is in the Pareto set of those that keep the limits; ``room`` how far it is from breaking one.
    """

    stride: int
    points: NDArray[np.float64]
    margins: NDArray[np.float64]
    limits: NDArray[np.float64]
    front: NDArray[np.bool_]
    room: NDArray[np.float64]
    gap: NDArray[np.float64]


def make_gaps_within(n_points: int, n_objectives: int) -> GapsWithin:
    """Memory for so many points."""
    return GapsWithin(
        n_points,
        float_memory(n_points * n_objectives),
        float_memory(n_objectives),
        float_memory(n_objectives),
        np.zeros(n_points, np.bool_),
        float_memory(n_points),
        float_memory(n_points),
    )


@inner
def find_front_within(n, D, limits, compared, within):
    """Fills in who of the first n points keeps all limits and is dominated by none who does; ``room`` is used up."""
    points, stride, front, room = within.points, within.stride, within.front, within.room
    for i in range(n):
        room[i] = 0.0
        for d in range(D):
            if points[d * stride + i] < limits[d]:
                room[i] = -1.0
    for i in range(n):
        front[i] = room[i] >= 0.0
        for j in range(n):
            if not front[i]:
                break
            if room[j] < 0.0:
                continue
            as_good, better = True, False
            for d in range(D):
                if compared[d]:
                    mine, other = points[d * stride + i], points[d * stride + j]
                    as_good &= other >= mine
                    better |= other > mine
            front[i] = not (as_good and better)


@inner
def find_gaps_within(n, D, exact, compared, within):
    """Fills in the front of the first n points and the gaps of all of them."""
    front, room, gap = within.front, within.room, within.gap
    find_front_within(n, D, within.limits, compared, within)
    for i in range(n):
        room[i] = _room(D, i, exact, within)
    for i in range(n):
        if not front[i]:
            clearest = -room[i]
            for j in range(n):
                if front[j]:
                    clearest = max(clearest, min(room[j], _lead(D, j, i, -1.0, exact, compared, within)))
            gap[i] = clearest
    for i in range(n):
        if front[i]:
            nearest = room[i]
            for j in range(n):
                if j == i:
                    continue
                if front[j] or room[j] < 0.0:
                    nearest = min(nearest, max(-room[j], -_lead(D, j, i, 1.0, exact, compared, within)))
                if front[j]:
                    nearest = min(nearest, -_lead(D, i, j, 1.0, exact, compared, within))
                else:
                    nearest = min(nearest, max(-_lead(D, i, j, -1.0, exact, compared, within), 0.0) + gap[j])
            gap[i] = nearest


@inlined
def _room(D, i, exact, within):
    """How far point i is from the limit that it breaks first; infinite where that is beyond doubt."""
    least = np.inf
    for d in range(D):
        ahead = within.points[d * within.stride + i] - within.limits[d]
        if exact[d]:
            ahead = -np.inf if ahead < 0.0 else np.inf
        least = min(least, ahead)
    return least


@inlined
def _lead(D, j, i, side, exact, compared, within):
    """By how much point j is ahead of point i by ``side`` times the margin, in every objective that is compared."""
    points, stride = within.points, within.stride
    least, noisy, strictly = np.inf, False, False
    for d in range(D):
        if compared[d]:
            ahead = points[d * stride + j] - points[d * stride + i] - side * within.margins[d]
            strictly |= ahead > 0.0
            if not exact[d]:
                noisy = True
                least = min(least, ahead)
            elif ahead < 0.0:
                least = -np.inf
    return least if noisy or strictly or side < 0.0 else -np.inf
