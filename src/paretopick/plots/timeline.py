"""The course of a study: who was measured until which round, how often, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import BoolArray, IntArray
from paretopick.plots.options import OUT, kind_of
from paretopick.plots.room import laid_out
from paretopick.plots.style import KINDS, AxisLabel, kind_handles, label_axes, legend_above, name_rows, whole_ticks
from paretopick.plots.texts import short_names
from paretopick.plots.ticks import log_axis
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 60
"""So many options have a row each; of more there is a summary."""


@dataclass(frozen=True, eq=False)
class TimelineData:
    """How long and how often each option was measured, in the order of ``ParetoResult.ranked``."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    last_round: IntArray
    """In which each option was still in."""
    left: BoolArray
    """Whether it is out, be it in the last round."""
    measurements: IntArray
    n_rounds: int
    """So far."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, result: ParetoResult) -> TimelineData:
        """Returns what there is to be drawn of a result."""
        rows = result.ranked()
        measurements = np.array([row.measurements for row in rows], dtype=np.int64)
        many = len(rows) > MOST_ROWS
        least, most, median = measurements.min(), measurements.max(), np.median(measurements)
        range_ = f"{least:,}" if least == most else f"{least:,} to {most:,}, median {median:,.0f}"
        return cls(
            names=short_names([row.option for row in rows], 32),
            kinds=tuple(kind_of(row, result) for row in rows),
            last_round=np.array([row.left_in_round or result.round for row in rows], dtype=np.int64),
            left=np.array([result.done or row.left_in_round is not None for row in rows]),
            measurements=measurements,
            n_rounds=max([result.round, *(row.left_in_round or 0 for row in rows)]),
            notes=(f"Measurements of each option: {range_}.",) if many else (),
        )

    @property
    def by_rounds(self) -> bool:
        """Whether anybody left before the end, of themselves; else rounds say nothing, and measurements are drawn."""
        retired = np.array([kind == "retired" for kind in self.kinds])
        return bool((self.last_round < self.n_rounds)[~retired].any())

    def after_each_round(self) -> dict[str, IntArray]:
        """Returns how many were out by kind, and how many still in, after round 0, 1, ..., ``n_rounds``."""
        rounds = np.arange(self.n_rounds + 1)
        out = {}
        for name in KINDS:
            mine = self.left & np.array([kind == name for kind in self.kinds])
            out[name] = np.asarray((self.last_round[mine] <= rounds[:, None]).sum(axis=1))
        return {**out, "active": len(self.names) - sum(out.values(), np.zeros(len(rounds), dtype=np.int64))}


def timeline(axes: Axes, record: TimelineData) -> Axes:
    """Draws a row for each option with its rounds, or with its measurements if nobody leaves before the end; or a summary."""
    many = len(record.names) > MOST_ROWS
    if record.by_rounds:
        return _stacks(axes, record) if many else _lanes(axes, record)
    return _dots(axes, record) if many else _bars(axes, record)


def figure_size(record: TimelineData) -> tuple[float, float]:
    """Returns inches that suit the number of rows."""
    n = len(record.names)
    return (7.0, 3.6) if n > MOST_ROWS else (6.8, 1.3 + 0.17 * max(n, 3))


def _lanes(axes: Axes, record: TimelineData) -> Axes:
    for row, (kind, last, left) in enumerate(zip(record.kinds, record.last_round, record.left, strict=True)):
        look = KINDS[kind]
        axes.plot((0, last), (row, row), color=look.colour, linewidth=2.2, alpha=0.4 * look.alpha, solid_capstyle="butt")
        if left:
            axes.plot(last, row, **look.style, clip_on=False, zorder=3)
        else:  # goes on
            axes.plot(last, row, color=look.colour, marker=">", markersize=5, linestyle="none", clip_on=False, zorder=3)
    axes.set(xlim=(0, record.n_rounds))
    return _rows(axes, record, "rounds in which the option was measured")


def _bars(axes: Axes, record: TimelineData) -> Axes:
    colours = [KINDS[kind].colour for kind in record.kinds]
    bars = axes.barh(np.arange(len(record.names)), record.measurements, height=0.62, color=colours)
    for bar, kind in zip(bars, record.kinds, strict=True):
        bar.set_alpha(0.45 if kind in OUT else 0.8)
    axes.set_xlim(0, max(int(record.measurements.max(initial=0)), 1))
    return _rows(axes, record, "measurements")


def _rows(axes: Axes, record: TimelineData, along: str) -> Axes:
    """Names on the left, numbers of measurements on the right, and below what is along the axis."""
    axes.grid(visible=False, axis="y")
    widest = max(len(f"{count:,}") for count in record.measurements)
    right: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False, "ha": "right"}
    place, where = 10 + 5.2 * widest, ("axes fraction", "data")
    counts = [
        axes.annotate(f"{count:,}", (1, row), (place, 0), xycoords=where, va="center", fontsize=8, **right)
        for row, count in enumerate(record.measurements)
    ]
    name_rows(axes, record.names, size=8, beside=counts)
    if record.by_rounds:
        axes.annotate("measurements", (1, 1), (place, 2), xycoords="axes fraction", va="bottom", fontsize=7.5, **right)
    laid_out(axes)
    label_axes(axes, (AxisLabel(along, ""), None))
    whole_ticks(axes)
    legend_above(axes, kind_handles(record.kinds), pad=1.8 if record.by_rounds else 1.0)
    return axes


def _stacks(axes: Axes, record: TimelineData) -> Axes:
    from matplotlib.patches import Patch

    out = record.after_each_round()
    order = ["pareto", "worth keeping", "open in", "open out", "active", "covered", "retired", "infeasible", "dominated"]
    colours = {
        **{name: kind.colour for name, kind in KINDS.items()},
        "active": "#f3dfb5",
        "dominated": "#b5b5b5",
        "covered": "#a9c3d6",
        "infeasible": "#d9b3ca",
        "retired": "#dddddd",
    }
    labels = {**{name: kind.label for name, kind in KINDS.items()}, "active": "still measured"}
    rounds = np.arange(record.n_rounds + 1)
    bottom = np.zeros(len(rounds))
    entries = []
    for name in order:
        if out[name].any():
            axes.fill_between(rounds, bottom, bottom + out[name], step="mid", color=colours[name], linewidth=0)
            bottom = bottom + out[name]
            entries.append((f"{labels[name]} ({out[name][-1]})", Patch(color=colours[name])))
    axes.set(xlim=(0, record.n_rounds), ylim=(0, len(record.names)))
    whole_ticks(axes)
    axes.set_xlabel("after round")
    axes.set_ylabel("options")
    legend_above(axes, entries)
    return axes


def _dots(axes: Axes, record: TimelineData) -> Axes:
    order = np.argsort(-record.measurements, kind="stable")
    places = np.empty(len(order))
    places[order] = np.arange(1, len(order) + 1)
    for name, look in KINDS.items():
        mine = np.array([kind == name for kind in record.kinds])
        axes.plot(places[mine], record.measurements[mine], **look.style)
    low, high = record.measurements.min(), record.measurements.max()
    if low > 0 and high > 20 * low:
        axes.set_yscale("log")
        log_axis(axes.yaxis, (0.8 * low, 1.25 * high), lambda tick: f"{tick:,.6g}")
    else:
        axes.set_ylim(0, max(1.1 * high, 1))
    axes.set(xlim=(0, len(order) + 1))
    axes.set_xlabel("options, the most measured first")
    axes.set_ylabel("measurements")
    legend_above(axes, kind_handles(record.kinds))
    return axes
