"""Options in two metrics: the Pareto front, what it dominates, and how sure the means are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray, check_choice
from paretopick._words import counted
from paretopick.errors import InvalidInput
from paretopick.metrics import Metric
from paretopick.plots.labels import Names
from paretopick.plots.limits import Forbidden, LimitTexts, limit_notes, shade
from paretopick.plots.options import IN_ANSWER, NORMAL, OUT, Options, margins_note, telling_metrics
from paretopick.plots.room import arranged, laid_out
from paretopick.plots.scales import Scale, set_ends, set_scales, set_ticks
from paretopick.plots.stairs import by_margin, margin_band, staircase
from paretopick.plots.style import (
    BLUE,
    GREY,
    KINDS,
    kind_handles,
    label_axes,
    legend_above,
    say_nothing_yet,
)
from paretopick.plots.texts import plain
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

    x: Scale
    """From left to right."""
    y: Scale
    """Upwards."""
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    means: FloatArray
    """``(n_options, 2)``"""
    regions: tuple[FloatArray | None, ...]
    """Of each option the outline of the 95% region of its pair of means, ``(2, n_corners)``; None if nobody knows."""
    stairs: FloatArray
    """Outline of what the answer dominates and limits allow, ``(2, n_corners)``; empty with more than two metrics."""
    band: FloatArray
    """Outline of what is too close to the stairs to matter, ``(2, n_corners)``; empty without margins or stairs."""
    settled: bool
    """Whether the study is done."""
    tags: tuple[str, ...]
    """What is written beside the first points."""
    notes: tuple[str, ...]
    """What else one should know."""
    baseline: int | None = None
    """Which option the others are compared with."""

    @classmethod
    def of(cls, result: ParetoResult, x: str | None = None, y: str | None = None) -> FrontData:
        """Returns what there is to be drawn of a result.

        Args:
            result: with at least two metrics that have a goal.
            x: the metric from left to right; by default the first one in which options differ.
            y: the metric upwards; by default the next one.
        """
        compared = [metric.name for metric in result.metric_records if metric.compared]
        if len(compared) < 2:
            raise InvalidInput(f"a front needs two metrics with a goal, and only {compared[0]!r} has one; draw a ranking.")
        usual = [name for name in telling_metrics(result) if name not in (x, y)]
        chosen = (usual.pop(0) if x is None else x, usual.pop(0) if y is None else y)
        for name in chosen:
            check_choice(name, result.metrics, "metric")
        return cls.among(Options.of(result, chosen), result, *chosen)

    @classmethod
    def among(cls, options: Options, result: ParetoResult, x: str, y: str) -> FrontData:
        """Returns what there is to be drawn of options of which these two metrics are known, in this order."""
        means, metrics = options.means, (result.metric(x), result.metric(y))
        regions = _regions(options, metrics, _correlation(result, x, y))
        answer = means[[kind in IN_ANSWER for kind in options.kinds]]
        scales = [Scale.of(metric, means[:, i], _reach(metric, i, answer, regions)) for i, metric in enumerate(metrics)]
        across, up = scales
        n_named = options.n_named(MOST_NAMES)
        stairs = band = np.empty((2, 0))
        if {x, y} == {metric.name for metric in result.metric_records if metric.compared}:
            allowed = (across.allowed, up.allowed)
            low, high = np.array(allowed).T
            able = answer[((answer >= low) & (answer <= high)).all(axis=1)]
            stairs = staircase(able, [metric.goal or "max" for metric in metrics], within=allowed)
            band = margin_band(able, metrics, allowed)
        return cls(
            x=across,
            y=up,
            names=options.names,
            kinds=options.kinds,
            means=means,
            regions=tuple(
                None if region is None else np.array([scale.kept(row) for scale, row in zip(scales, region, strict=True)])
                for region in regions
            ),
            stairs=stairs,
            band=band,
            settled=result.done,
            tags=options.tags(range(n_named)),
            baseline=options.baseline,
            notes=(
                *regions_note(regions, options),
                *margins_note(metrics, "Band along the front: " if band.size else ""),
                *limit_notes(metrics, [scale.forbidden for scale in scales]),
                *options.unnamed_note(n_named),
                *options.notes,
            ),
        )

    @property
    def forbidden(self) -> tuple[Forbidden | None, Forbidden | None]:
        """What limits forbid of both axes."""
        return self.x.forbidden, self.y.forbidden


def front(axes: Axes, record: FrontData) -> Axes:
    """Draws options in two metrics, with 95% ellipses, the staircase of what the answer dominates, names and a legend.

    Names are put where there is room in the figure as it is now: draw them last.
    """
    scatter(axes, record)
    if not record.names:
        return say_nothing_yet(axes)
    legend_above(axes, kind_handles(record.kinds))
    laid_out(axes)
    write_into(axes, record, lines=[record.stairs[:, 1:-1]])
    return axes


def write_into(axes: Axes, record: FrontData, *, lines: Sequence[FloatArray] = (), size: float = 7.5) -> None:
    """Writes limits along their lines and the tags of a front beside its first points, and if need be how many find no room.

    Args:
        axes: on which the front was drawn, in a figure that is laid out.
        record: what was drawn.
        lines: better not covered, each ``(2, n_corners)``.
        size: of the letters.
    """
    named = record.means[: len(record.tags)]
    limits = LimitTexts(axes, record.forbidden, record.means, size=size)
    names = Names(axes, named, record.tags, _colours(record), record.means, lines=lines, size=size)
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "in_layout": False}
    crowd = axes.annotate("", (1, 0), (-3, 3), fontsize=6.5, color=GREY, zorder=2.6, **place)

    def arrange() -> None:
        label_axes(axes, (record.x.label, record.y.label), again=True)
        set_ticks(axes, record.x, record.y)
        taken = limits.arrange()
        crowd.set_text("")
        if lost := names.arrange(taken):
            crowd.set_text(f"no room for {counted(lost, 'name')}")
            names.arrange(np.vstack([taken, crowd.get_window_extent().extents]))

    arranged(axes, arrange)


def scatter(axes: Axes, record: FrontData) -> Axes:
    """Draws all of a front but its names."""
    set_scales(axes, record.x, record.y)
    shade(axes, record.forbidden)
    if record.band.size:
        axes.fill(*record.band, color=BLUE, alpha=0.13, linewidth=0, zorder=0.7)
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
    if record.baseline is not None:
        axes.plot(*record.means[record.baseline], "o", markersize=13, mfc="none", mec=GREY, mew=0.9, zorder=2.5)
    label_axes(axes, (record.x.label, record.y.label))
    set_ends(axes, record.x, record.y)
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
    whose = f", of options that may be {options.sought}" if more else ""
    return (f"{shape}: 95% regions of the means{whose}.",)


def _correlation(result: ParetoResult, x: str, y: str) -> float:
    """Between two metrics; 0 as long as nobody knows."""
    if result.correlation is None:
        return 0.0
    names = list(result.metrics)
    return float(np.clip(result.correlation[names.index(x)][names.index(y)], -1.0, 1.0))


def _regions(options: Options, metrics: tuple[Metric, Metric], correlation: float) -> tuple[FloatArray | None, ...]:
    """Outlines of the 95% regions, among many options only of those that may be Pareto-optimal."""
    many, most = len(options.names) > MOST_NAMES, MOST_REGIONS
    return tuple(
        None if many and (i >= most or kind in OUT) else _region(metrics, mean, errors, correlation)
        for i, (kind, mean, errors) in enumerate(zip(options.kinds, options.means, options.errors, strict=True))
    )


def _region(metrics: tuple[Metric, Metric], mean: FloatArray, errors: FloatArray, correlation: float) -> FloatArray | None:
    """The 95% region of a pair of means in the units of the metrics: an ellipse of what is compared."""
    scaled = np.array([metric.scaled(value) for metric, value in zip(metrics, mean, strict=True)])
    outline = ellipse(scaled, errors, correlation)
    return None if outline is None else np.array([metric.unscaled(row) for metric, row in zip(metrics, outline, strict=True)])


def _reach(metric: Metric, i: int, answer: FloatArray, regions: Sequence[FloatArray | None]) -> list[FloatArray]:
    """What should be seen of an axis besides the means: regions, and how far margins go."""
    margins = [by_margin(metric, answer[:, i], side) for side in (1.0, -1.0)] if metric.delta else []
    return [*margins, *(region[i] for region in regions if region is not None)]


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
