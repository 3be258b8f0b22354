"""Options in two metrics: the Pareto front, what it dominates, and how sure the means are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray, check_choice
from paretopick.errors import InvalidInput
from paretopick.metrics import Metric, signs_of
from paretopick.plots.labels import write_names
from paretopick.plots.options import IN_ANSWER, NORMAL, Limits, Options, limits
from paretopick.plots.style import BLUE, GREY, KINDS, axis_label, kind_handles, label_axes, legend_above, say_nothing_yet
from paretopick.plots.texts import plain, short_names
from paretopick.plots.ticks import is_log, log_axis
from paretopick.studies.result import ParetoResult
from paretopick.theory.dominance import pareto_mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Polygon

MOST_NAMES = 30
"""So many names find room beside their points."""

MOST_REGIONS = 200
"""So many ellipses are drawn at most."""

RADIUS = math.sqrt(-2.0 * math.log(0.05))
"""Square root of the 95% quantile of chi-square with two degrees of freedom: so many standard errors reach to the ellipse."""


@dataclass(frozen=True, eq=False)
class FrontData:
    """Options in two metrics, in their units, the most interesting first."""

    labels: tuple[str, str]
    """Of the axes: metrics and their goals."""
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    means: FloatArray
    """``(n_options, 2)``"""
    regions: tuple[FloatArray | None, ...]
    """Of each option the outline of the 95% region of its pair of means, ``(2, n_corners)``; None if nobody knows."""
    limits: tuple[Limits, Limits]
    """Of the axes."""
    logs: tuple[bool, bool]
    """Which axes are logarithmic, since the front would be squeezed into a corner else."""
    stairs: FloatArray
    """Outline of what the answer dominates, ``(2, n_corners)``, within the limits; empty with more than two metrics."""
    settled: bool
    """Whether the study is done."""
    tags: tuple[str, ...]
    """What is written beside the first points."""
    notes: tuple[str, ...]
    """What else one should know."""

    @classmethod
    def of(cls, result: ParetoResult, x: str | None = None, y: str | None = None) -> FrontData:
        """Returns what there is to be drawn of a result.

        Args:
            result: with at least two metrics.
            x: the metric from left to right; by default the first.
            y: the metric upwards; by default the second.
        """
        if len(result.metrics) < 2:
            raise InvalidInput(f"a front needs two metrics, and there is only {next(iter(result.metrics))!r}; draw a ranking.")
        first, second, *_ = result.metrics
        chosen = (first if x is None else x, second if y is None else y)
        for name in chosen:
            check_choice(name, result.metrics, "metric")
        return cls.among(Options.of(result, chosen), result, *chosen)

    @classmethod
    def among(cls, options: Options, result: ParetoResult, x: str, y: str) -> FrontData:
        """Returns what there is to be drawn of options of which these two metrics are known, in this order."""
        means, metrics = options.means, (result.metric(x), result.metric(y))
        regions = _regions(options, _correlation(result, x, y))
        seen = np.vstack([means, *(region.T for region in regions if region is not None)])
        logs = (is_log(means[:, 0]), is_log(means[:, 1]))
        frame = (limits(means[:, 0], seen[:, 0], log=logs[0]), limits(means[:, 1], seen[:, 1], log=logs[1]))
        answer = means[[kind in IN_ANSWER for kind in options.kinds]]
        n_named = options.n_named(MOST_NAMES)
        return cls(
            labels=(axis_label(metrics[0], log=logs[0]), axis_label(metrics[1], log=logs[1])),
            names=options.names,
            kinds=options.kinds,
            means=means,
            regions=tuple(None if region is None else _above_zero(region, frame, logs) for region in regions),
            limits=frame,
            logs=logs,
            stairs=staircase(answer, [metric.goal for metric in metrics], within=frame)
            if len(result.metrics) == 2
            else np.empty((2, 0)),
            settled=result.done,
            tags=short_names(options.names[:n_named]),
            notes=(*regions_note(regions, options), *options.unnamed_note(n_named), *options.notes),
        )


def front(axes: Axes, record: FrontData) -> Axes:
    """Draws options in two metrics, with 95% ellipses, the staircase of what the answer dominates, names and a legend.

    Names are put where there is room in the figure as it is now: draw them last.
    """
    scatter(axes, record)
    if not record.names:
        return say_nothing_yet(axes)
    legend_above(axes, kind_handles(record.kinds))
    named, stairs = record.means[: len(record.tags)], record.stairs[:, 1:-1]
    lost = write_names(axes, named, record.tags, _colours(record), record.means, lines=[stairs])
    if lost:
        axes.annotate(f"no room for {lost} names", (1, 0), (-3, 3), "axes fraction", "offset points", ha="right", fontsize=7)
    return axes


def scatter(axes: Axes, record: FrontData) -> Axes:
    """Draws all of a front but its names."""
    for set_scale, log in zip((axes.set_xscale, axes.set_yscale), record.logs, strict=True):
        if log:
            set_scale("log")
    if record.stairs.size:
        dash = "-" if record.settled else "--"
        axes.fill(*record.stairs, color=BLUE, alpha=0.045, linewidth=0, zorder=0.5)
        axes.plot(*record.stairs[:, 1:-1], color=BLUE, linestyle=dash, linewidth=0.9, alpha=0.6, zorder=1.5)
    for kind, region in zip(record.kinds, record.regions, strict=True):
        if region is not None:
            axes.add_patch(_patch(region, kind))
    for order, (name, look) in enumerate(KINDS.items()):
        chosen = record.means[[kind == name for kind in record.kinds]]
        if len(chosen):
            axes.plot(*chosen.T, **look.style, zorder=3 - 0.1 * order)
    axes.set(xlim=record.limits[0], ylim=record.limits[1])
    label_axes(axes, record.labels)
    for axis, ends, log in zip((axes.xaxis, axes.yaxis), record.limits, record.logs, strict=True):
        if log:
            log_axis(axis, ends)
    return axes


def arms(
    axes: Axes, means: FloatArray, *, names: Sequence[str] = (), labels: Sequence[str] = ("objective 1", "objective 2")
) -> Axes:
    """Draws arms in two objectives: the optimal ones in colour above the staircase of what they dominate, the others in grey."""
    optimal = pareto_mask(means)
    axes.plot(*staircase(means[optimal]), color=BLUE, linewidth=0.8, alpha=0.6)
    axes.plot(*means[~optimal].T, "o", color=GREY, markersize=3, label=f"dominated ({int((~optimal).sum())})")
    axes.plot(*means[optimal].T, "D", color=BLUE, markersize=4.5, label=f"Pareto-optimal ({int(optimal.sum())})")
    for name, point in zip(names, means, strict=False):
        axes.annotate(name, point, textcoords="offset points", xytext=(5, 4), fontsize=8, **plain(name))
    axes.set_xlabel(labels[0], **plain(labels[0]))
    axes.set_ylabel(labels[1], **plain(labels[1]))
    return axes


def ellipse(mean: FloatArray, errors: FloatArray, correlation: float) -> FloatArray | None:
    """Returns the outline of the 95% region of a pair of means, ``(2, n_corners)``; None without standard errors.

    All points m with (m - mean)' C^-1 (m - mean) = 5.99, where C is the covariance of the two means. It is a line, the 95%
    interval of the other, where one metric is exact, and None where both are.
    """
    if not np.isfinite(errors).all() or not errors.any():
        return None
    radius = RADIUS if errors.all() else NORMAL
    angles = np.linspace(0.0, 2.0 * np.pi, 61)
    u, v = np.cos(angles), np.sin(angles)
    return np.array(
        (
            mean[0] + radius * errors[0] * u,
            mean[1] + radius * errors[1] * (correlation * u + math.sqrt(1.0 - correlation**2) * v),
        )
    )


def regions_note(regions: Sequence[FloatArray | None], options: Options) -> tuple[str, ...]:
    """Returns what the regions are, if there are any."""
    drawn = [region for region in regions if region is not None]
    if not drawn:
        return ()
    shape = "Bars" if all((np.ptp(region, axis=1) == 0).any() for region in drawn) else "Ellipses"
    more = len(options.names) > MOST_NAMES and len(drawn) < len(options.names)
    return (f"{shape}: 95% regions of the means{', of options that may be Pareto-optimal' if more else ''}.",)


def staircase(
    points: FloatArray, goals: Sequence[str] = ("max", "max"), *, within: tuple[Limits, Limits] | None = None
) -> FloatArray:
    """Returns the corners of the staircase between what a front dominates and the rest, ``(2, n_corners)``.

    Points that others of them dominate are passed over. The stairs go from the point that is worst in the first objective to the
    one that is best in it.

    Args:
        points: ``(n_points, 2)``
        goals: "min" or "max" for each objective.
        within: limits of the axes. Then it is the outline of all that is dominated within them, as a polygon that begins and
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


def _correlation(result: ParetoResult, x: str, y: str) -> float:
    """Between two metrics; 0 as long as nobody knows."""
    if result.correlation is None:
        return 0.0
    names = list(result.metrics)
    return float(np.clip(result.correlation[names.index(x)][names.index(y)], -1.0, 1.0))


def _regions(options: Options, correlation: float) -> tuple[FloatArray | None, ...]:
    """Outlines of the 95% regions, among many options only of those that may be Pareto-optimal."""
    many, most = len(options.names) > MOST_NAMES, MOST_REGIONS
    return tuple(
        None if many and (i >= most or kind in ("dominated", "retired")) else ellipse(mean, errors, correlation)
        for i, (kind, mean, errors) in enumerate(zip(options.kinds, options.means, options.errors, strict=True))
    )


def _above_zero(outline: FloatArray, frame: tuple[Limits, Limits], logs: tuple[bool, bool]) -> FloatArray:
    """An outline of which what is below the end of a logarithmic axis, 0 for instance, is put there."""
    low = [ends[0] if log else -np.inf for ends, log in zip(frame, logs, strict=True)]
    return np.asarray(np.maximum(outline, np.array(low)[:, None]))


def _patch(outline: FloatArray, kind: str) -> Polygon:
    """A region as it is drawn: strong where it matters, and a plain line where one of the metrics is exact."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    colour, strong = KINDS[kind].colour, kind in IN_ANSWER
    flat = bool((np.ptp(outline, axis=1) == 0).any())
    face, edge = to_rgba(colour, 0.14 if strong else 0.07), to_rgba(colour, 0.9 if flat else 0.6 if strong else 0.3)
    return Polygon(outline.T, closed=True, facecolor=face, edgecolor=edge, linewidth=1.2 if flat else 0.6)


def _colours(record: FrontData) -> list[str]:
    return [KINDS[kind].colour if kind != "dominated" else "#555555" for kind in record.kinds[: len(record.tags)]]
