"""Options in any number of metrics: a line for each, across an axis for each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric, signs_of
from paretopick.plots.labels import spread, text_size
from paretopick.plots.options import IN_ANSWER, Options, margins_note
from paretopick.plots.room import arranged, laid_out
from paretopick.plots.style import (
    BLUE,
    FORBIDDEN,
    GREEN,
    GREY,
    KINDS,
    VERMILION,
    Kind,
    counted,
    legend_above,
    lengths,
    room_across,
    say_nothing_yet,
)
from paretopick.plots.texts import fitted, legible, numbers, plain, shortened, wrapped
from paretopick.plots.ticks import is_log
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 30
WIDEST_METRIC = 76.0
"""Points that the name of a metric may take."""

MOST_NAME = 0.35
"""Share of the width that there is which names of options may take."""

NARROW = 50.0
"""Where there are fewer of them, letters are smaller."""

COLOURS = (BLUE, VERMILION, GREEN, "#8f6a00", "#333333", "#6a4fc0")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 3)))
"""Lines differ in colour, and where colours come again in their dashes."""


@dataclass(frozen=True, eq=False)
class ParallelData:
    """Options across metrics, the most interesting first."""

    metrics: tuple[str, ...]
    """With their units."""
    directions: tuple[str, ...]
    """Which direction of each metric is good, in words."""
    limits: tuple[str, ...]
    """Of each metric the limit in words; nothing where there is none."""
    forbidden: FloatArray
    """``(n_metrics,)``: below such a height of each axis the limit is broken; 0 where nobody shown breaks it."""
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    heights: FloatArray
    """``(n_options, n_metrics)``: 1 for the best value of a metric, 0 for the worst, 1/2 if all have the same."""
    best: tuple[str, ...]
    """Values at the upper ends of the axes, as people read them."""
    worst: tuple[str, ...]
    """Those at the lower ends; nothing where all have the same."""
    n_coloured: int
    """So many lines, the first ones, are of the answer."""
    tags: tuple[str, ...]
    """Names at the right ends of these lines and of those in doubt; none if there are too many."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, result: ParetoResult) -> ParallelData:
        """Returns what there is to be drawn of a result."""
        records = [metric for metric in result.metric_records if metric.compared]
        options = Options.of(result, [metric.name for metric in records])
        signs = signs_of(records)
        logs = [is_log(column, metric) for column, metric in zip(options.means.T, records, strict=True)]
        shown = [np.log(column) if log else column for column, log in zip(options.means.T, logs, strict=True)]
        good = np.column_stack(shown) * signs
        low, high = (good.min(axis=0), good.max(axis=0)) if len(good) else (np.zeros(len(records)), np.zeros(len(records)))
        width = high - low
        heights = np.where(width > 0, (good - low) / np.where(width > 0, width, 1.0), 0.5)
        ends = [_log_ends(*pair) if log else _ends(*pair) for *pair, log in zip(high * signs, low * signs, logs, strict=True)]
        n = sum(kind in IN_ANSWER for kind in options.kinds)
        crowd = (f"{n} options of the answer are too many to be named here.",) if n > MOST_NAMES else ()
        n_tags = next((many for many in (options.n_possible, n) if many <= MOST_NAMES), 0)
        return cls(
            metrics=tuple(shortened(legible(", ".join(filter(None, (metric.name, metric.unit)))), 32) for metric in records),
            directions=tuple(
                f"{metric.direction}, log scale" if log else metric.direction for metric, log in zip(records, logs, strict=True)
            ),
            limits=tuple(legible(metric.limit_text) for metric in records),
            forbidden=np.array([_forbidden(*pair) for pair in zip(records, logs, low, high, strict=True)]),
            names=options.names,
            kinds=options.kinds,
            heights=heights,
            best=tuple(best for best, _ in ends),
            worst=tuple(worst for _, worst in ends),
            n_coloured=n,
            tags=options.tags(range(n_tags)),
            notes=(*margins_note(records), *crowd, *options.notes),
        )


def parallel(axes: Axes, record: ParallelData) -> Axes:
    """Draws a line for every option: those of the answer in colour, the others thin; these and those in doubt are named."""
    from matplotlib.lines import Line2D

    n_options, n_metrics = record.heights.shape
    across = np.arange(n_metrics)
    for i in reversed(range(n_options)):
        axes.plot(across, record.heights[i], **_line(record, i))
    if not record.names:
        return say_nothing_yet(axes)
    axes.set(xlim=(-0.15, n_metrics - 1 + 0.02), ylim=(-0.04, 1.04), yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.vlines(across, 0, 1, color="#444444", linewidth=0.8, zorder=2.5)
    for x, height in enumerate(record.forbidden):
        if height > 0:
            axes.plot((x, x), (0, height), color=FORBIDDEN, linewidth=7, alpha=0.25, solid_capstyle="butt", zorder=2.4)
            axes.plot((x - 0.06, x + 0.06), (height, height), color=FORBIDDEN, linewidth=1.4, zorder=2.6)
    _write_ends(axes, record)
    legend_above(axes, [(label, Line2D([], [], **_sample(record, kind))) for label, kind in counted(record.kinds)], pad=1.2)
    _write_tags(axes, record)
    return axes


def figure_size(record: ParallelData) -> tuple[float, float]:
    """Returns inches that suit the number of metrics and names."""
    n_metrics, n_names = len(record.metrics), len(record.tags)
    return max(6.5, 1.25 * n_metrics + 2.2), max(4.2, 1.6 + 0.15 * n_names)


def _forbidden(metric: Metric, log: bool, low: float, high: float) -> float:
    """Up to which height of its axis, whose ends are given as they are drawn, an option breaks the limit of a metric."""
    if metric.limit is None:
        return 0.0
    if log and metric.limit <= 0:
        return float(metric.at_most is not None)
    height = metric.sign * (np.log(metric.limit) if log else metric.limit) - low
    return float(height > 0) if high == low else float(np.clip(height / (high - low), 0.0, 1.0))


def _ends(best: float, worst: float) -> tuple[str, str]:
    """What is written at the ends of an axis."""
    if best == worst:
        return f"all {numbers([best])[0]}", ""
    upper, lower = numbers([best, worst])
    return upper, lower


def _log_ends(best: float, worst: float) -> tuple[str, str]:
    """The same for a logarithmic axis, of whose ends the logarithms are given: two digits of each."""
    if best == worst:
        return f"all {numbers([float(f'{np.exp(best):.6g}')])[0]}", ""
    upper, lower = (numbers([float(f"{np.exp(end):.2g}")])[0] for end in (best, worst))
    return upper, lower


def _line(record: ParallelData, i: int) -> dict[str, Any]:
    """How the line of an option is drawn: those of the answer differ from each other, if they are few enough to be named."""
    kind = KINDS[record.kinds[i]]
    if i >= record.n_coloured:
        return _thin(record, kind)
    if not record.tags:
        return {"color": kind.colour, "linewidth": 0.8, "alpha": 0.4, "zorder": 3}
    colour, dash = COLOURS[i % len(COLOURS)], DASHES[(i // len(COLOURS)) % len(DASHES)]
    end = {"marker": kind.marker, "markersize": 4.5, "markevery": [-1]}
    return {"color": colour, "linestyle": dash, "linewidth": 1.5, "alpha": 0.95, "zorder": 3, **end}


def _thin(record: ParallelData, kind: Kind) -> dict[str, Any]:
    faint = 0.6 if len(record.names) <= 60 else 0.3
    colour = kind.colour if kind in (KINDS["open out"], KINDS["infeasible"]) else GREY
    return {"color": colour, "linewidth": 0.7, "alpha": faint, "zorder": 2}


def _sample(record: ParallelData, kind: Kind) -> dict[str, Any]:
    """How a kind is shown in the legend: black stands for the colours of the answer."""
    if kind not in [KINDS[name] for name in IN_ANSWER]:
        return _thin(record, kind) | {"alpha": 0.8}
    if not record.tags:
        return {"color": kind.colour}
    return {"color": "#333333", "marker": kind.marker, "markersize": 4.5}


def _write_ends(axes: Axes, record: ParallelData) -> None:
    """Writes above each axis its best value, and below it its worst, its metric and which direction is good."""
    every: dict[str, Any] = {"textcoords": "offset points", "ha": "center"}
    columns = list(zip(record.metrics, record.directions, record.limits, strict=True))
    labels = [axes.annotate("", (x, 0), (0, 0), va="top", **every) for x in range(len(columns))]
    ends = [axes.annotate(best, (x, 1), (0, 4), va="bottom", **every) for x, best in enumerate(record.best)]
    ends += [axes.annotate(worst, (x, 0), (0, -4), va="top", **every) for x, worst in enumerate(record.worst)]

    def arrange() -> None:
        widest = min(WIDEST_METRIC, lengths(axes)[0] / max(len(columns) - 0.83, 1.0) - 4)
        size = 8.0 if widest > NARROW else 6.0
        for label, (metric, direction, limit) in zip(labels, columns, strict=True):
            lines = [line for text in (metric, f"({direction})", limit) for line in wrapped(text, widest, size)]
            shown = "\n".join(lines)
            label.set(text=shown, position=(0, -12 - size), fontsize=size, **plain(shown))
        for end in ends:
            end.set_fontsize(size - 0.5)

    laid_out(axes)
    arranged(axes, arrange)
    axes.set_xticks([])


def _write_tags(axes: Axes, record: ParallelData) -> None:
    """Writes names at the right end, moved apart as far as it takes, with a thin line from each end to its name."""
    if not record.tags:
        return
    last = record.heights.shape[1] - 1
    ends = record.heights[: len(record.tags), last]
    names = []
    widest = MOST_NAME * room_across(axes)
    for i, (tag, end) in enumerate(zip((fitted(tag, widest, 7.5) for tag in record.tags), ends, strict=True)):
        colour = _line(record, i)["color"]
        line = {"arrowstyle": "-", "linewidth": 0.5, "color": colour, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
        every: dict[str, Any] = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
        names.append(axes.annotate(tag, (last, end), (22, 0), fontsize=7.5, color=colour, arrowprops=line, **every, **plain(tag)))
    laid_out(axes)
    tall = max(text_size(name, 72.0)[1] for name in names) + 0.5

    def arrange() -> None:
        points = lengths(axes)[1] / 1.08  # from the lower to the upper end of the lines
        smaller = min(1.0, 1.06 * points / (tall * max(len(names) - 1, 1)))
        middles = spread(ends[::-1], smaller * tall / points, -0.03, 1.03)[::-1]  # of equals, the first is on top
        for name, middle, end in zip(names, middles, ends, strict=True):
            name.set(position=(22, (middle - end) * points), fontsize=7.5 * smaller)

    arranged(axes, arrange)
