"""The Pareto set of points in the plane after one sort: for fronts that are too long to compare every point with.

Along the front, from the largest first coordinate to the largest second one, the excess of a point over the front falls and then
rises, so that the smallest is found by bisection, and of the distances between optimal points those to the neighbours are the
smallest. Rounding keeps differences in order, so all of this is exact.
"""

from __future__ import annotations

import numpy as np

from paretopick.simulation.kernels.compiling import inlined, inner


@inner
def find_front_in_plane(points, stride, n, front):
    """Fills ``front`` as far as ``best`` and the pivots, with all optimal points but twins as pivots.

    ``best`` of a pivot is its smallest excess over its neighbours in both directions. Returns how many other points there are,
    dominated or twins; their slots are at the beginning of ``front.work``.
    """
    _sort_slots(points, stride, n, front)
    order = front.order
    size, n_others = 0, 0
    for place in range(n):
        i = order[place]
        if size == 0 or points[stride + i] > points[stride + front.pivots[size - 1]]:
            front.pivots[size] = i
            size += 1
    for p in range(size):
        i = front.pivots[p]
        front.best[i] = min(_distance(points, stride, front, p, p - 1, size), _distance(points, stride, front, p, p + 1, size))
    last = 0
    for place in range(n):
        i = order[place]
        if last < size and front.pivots[last] == i:
            last += 1
        else:
            front.best[i] = _smallest_excess(points, stride, front, size, i)
            front.work[n_others] = i
            n_others += 1
    front.n_pivots[0] = size
    return n_others


@inlined
def _distance(points, stride, front, p, q, size):
    """The smaller excess of two neighbouring pivots over each other."""
    if q < 0 or q == size:
        return np.inf
    i, j = front.pivots[p], front.pivots[q]
    return min(abs(points[i] - points[j]), abs(points[stride + i] - points[stride + j]))


@inlined
def _smallest_excess(points, stride, front, size, i):
    """The smallest ``max(x_i - x_j, y_i - y_j)`` over pivots j: x_i - x_j rises along the front, and y_i - y_j falls."""
    x, y = points[i], points[stride + i]
    low, high = 0, size  # the first pivot where x_i - x_j is at least y_i - y_j is one of them
    while low < high:
        middle = (low + high) // 2
        j = front.pivots[middle]
        if x - points[j] >= y - points[stride + j]:
            high = middle
        else:
            low = middle + 1
    best = np.inf
    for place in range(max(low - 1, 0), min(low + 1, size)):
        j = front.pivots[place]
        best = min(best, max(x - points[j], y - points[stride + j]))
    return best


@inner
def _sort_slots(points, stride, n, front):
    """Writes to ``front.order`` the slots by falling first coordinate, then by falling second one: merged from pairs up."""
    source, target = front.order, front.work
    for i in range(n):
        source[i] = i
    width, elsewhere = 1, False
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            a, b = start, middle
            for place in range(start, stop):
                if b == stop or (a < middle and _not_behind(points, stride, source[a], source[b])):
                    target[place] = source[a]
                    a += 1
                else:
                    target[place] = source[b]
                    b += 1
        source, target = target, source
        width, elsewhere = 2 * width, not elsewhere
    if elsewhere:
        for i in range(n):
            target[i] = source[i]


@inlined
def _not_behind(points, stride, i, j):
    return points[i] > points[j] or (points[i] == points[j] and points[stride + i] >= points[stride + j])
