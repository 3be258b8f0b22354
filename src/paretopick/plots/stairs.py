"""Fronts as outlines: the staircase of what they dominate, and the band of what is too close to them to matter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._metric_texts import Goal
from paretopick.metrics import Metric, signs_of
from paretopick.plots.options import Ends
from paretopick.theory.dominance import pareto_mask


def staircase(
    points: FloatArray, goals: Sequence[Goal] = ("max", "max"), *, within: tuple[Ends, Ends] | None = None
) -> FloatArray:
    """Returns the corners of the staircase between what a front dominates and the rest, ``(2, n_corners)``.

    Points that others of them dominate are passed over. The stairs go from the point that is worst in the first objective to the
    one that is best in it.

    Args:
        points: ``(n_points, 2)``
        goals: "min" or "max" for each objective.
        within: ends of the axes. Then it is the outline of all that is dominated within them, as a polygon that begins and
            ends in their worst corner.

    >>> staircase(np.array([[1.0, 3.0], [2.0, 2.0]])).T.tolist()
    [[1.0, 3.0], [1.0, 2.0], [2.0, 2.0]]
    >>> staircase(np.array([[1.0, 3.0]]), ("min", "max"), within=((0.0, 4.0), (0.0, 4.0))).T.tolist()
    [[4.0, 0.0], [4.0, 3.0], [1.0, 3.0], [1.0, 0.0], [4.0, 0.0]]
    """
    if not len(points):
        return np.empty((2, 0))
    signs = signs_of(Metric(axis, goal) for axis, goal in zip("xy", goals, strict=True))
    best = points[pareto_mask(points * signs)] * signs
    best = best[np.lexsort((-best[:, 1], best[:, 0]))]
    corners = [best[0]]
    for left, right in itertools.pairwise(best):
        corners += [np.array((left[0], right[1])), right]
    stairs = np.array(corners)
    if within is not None:
        worst = np.array([min(sign * np.array(ends)) for sign, ends in zip(signs, within, strict=True)])
        stairs = np.vstack([worst, (worst[0], best[0, 1]), stairs, (best[-1, 0], worst[1]), worst])
    return np.asarray((stairs * signs).T + 0.0)  # not -0.0


def margin_band(points: FloatArray, metrics: Sequence[Metric], within: tuple[Ends, Ends]) -> FloatArray:
    """Returns the outline of what is too close to a front to matter, ``(2, n_corners)``; empty where there are no margins.

    The stairs moved out by the margins and back in by them. An option between the two is covered by an option of the front, so
    that nobody misses it, and none of them outdoes it. Of a margin in percent the band has the same width everywhere on a
    logarithmic axis.

    Args:
        points: of the front, ``(n_points, 2)``, in the units of the metrics.
        metrics: both of them.
        within: ends of the axes.
    """
    if not len(points) or not any(metric.delta for metric in metrics):
        return np.empty((2, 0))
    low, high = np.array(within).T
    outlines = []
    for side in (1.0, -1.0):
        moved = [by_margin(metric, column, side) for metric, column in zip(metrics, points.T, strict=True)]
        seen = np.clip(np.column_stack(moved), low, high)
        outlines.append(staircase(seen, [metric.goal or "max" for metric in metrics], within=within)[:, 1:-1])
    return np.hstack([outlines[0], outlines[1][:, ::-1]])


def by_margin(metric: Metric, values: FloatArray, side: float) -> FloatArray:
    """Returns values that are better by the margin of a metric, or worse by it for side -1.

    >>> by_margin(Metric("seconds", "min", margin="25%"), np.array([2.0]), -1.0).tolist()
    [2.5]
    """
    return np.asarray(metric.unscaled(metric.scaled(values) + side * metric.sign * metric.delta))
