"""The Pareto set and the gaps of points of which some objectives are without noise: ``optimal_and_gaps`` with ``exact``.

Differences in these are beyond doubt: whoever is ahead in one of them is ahead without end, and equal values do not count. All
points are compared with all, one number at a time: which suits the numbers of options that people measure, and every pair of
which is looked at once or twice a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.vector_memory import float_memory


class CertainGaps(NamedTuple):
    """The points, coordinate d of point i at ``d * stride + i``, whether each is optimal, and its gap."""

    stride: int
    points: NDArray[np.float64]
    optimal: NDArray[np.bool_]
    gap: NDArray[np.float64]


def make_certain_gaps(n_points: int, n_objectives: int) -> CertainGaps:
    """Memory for so many points."""
    return CertainGaps(n_points, float_memory(n_points * n_objectives), np.zeros(n_points, np.bool_), float_memory(n_points))


@inner
def find_certain_gaps(n, D, exact, certain):
    """Fills in who is optimal among the first n points, and the gaps."""
    optimal, gap = certain.optimal, certain.gap
    for i in range(n):
        optimal[i] = _is_optimal(n, D, i, certain)
    for i in range(n):
        if not optimal[i]:
            nearest = np.inf
            for j in range(n):
                if optimal[j]:
                    nearest = min(nearest, _excess(D, i, j, exact, certain))
            gap[i] = 0.0 - nearest  # not -x, which would turn a tie into -0.0
    for i in range(n):
        if optimal[i]:
            nearest = np.inf
            for j in range(n):
                if j == i:
                    continue
                ahead = _excess(D, j, i, exact, certain)
                if optimal[j]:
                    nearest = min(nearest, ahead, _excess(D, i, j, exact, certain))
                else:
                    nearest = min(nearest, max(ahead, 0.0) + gap[j])
            gap[i] = nearest


@inlined
def _is_optimal(n, D, i, certain):
    """Whether no point is as good as point i everywhere and better somewhere."""
    points, stride = certain.points, certain.stride
    for j in range(n):
        as_good, better = True, False
        for d in range(D):
            mine, other = points[d * stride + i], points[d * stride + j]
            as_good &= other >= mine
            better |= other > mine
        if as_good and better:
            return False
    return True


@inlined
def _excess(D, i, j, exact, certain):
    """M(i, j), infinite if point i is ahead of j in an objective without noise, and of points that differ in nothing else."""
    points, stride = certain.points, certain.stride
    most, noisy, equal = -np.inf, False, True
    for d in range(D):
        difference = points[d * stride + i] - points[d * stride + j]
        if not exact[d]:
            noisy = True
            most = max(most, difference)
        elif difference > 0.0:
            return np.inf
        elif difference < 0.0:
            equal = False
    return most if noisy or not equal else np.inf
