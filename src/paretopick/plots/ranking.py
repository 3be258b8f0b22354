"""Options by a single metric, with 95% intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.plots.options import Limits, Options, limits
from paretopick.plots.style import KINDS, axis_label, kind_handles, label_axes, legend_above, name_rows, say_nothing_yet
from paretopick.plots.texts import short_names
from paretopick.plots.ticks import is_log, log_axis
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 40


@dataclass(frozen=True, eq=False)
class RankingData:
    """Options sorted by the mean of a metric, the best first."""

    label: str
    """Of the axis: the metric and its goal."""
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    means: FloatArray
    intervals: FloatArray
    """95%, ``(n_options, 2)``; NaN where nobody knows."""
    limits: Limits
    log: bool
    """Whether the axis is logarithmic."""
    all_kinds: tuple[str, ...]
    """Of all options that were measured, also those that find no room."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, result: ParetoResult, metric: str | None = None) -> RankingData:
        """Returns what there is to be drawn of a result.

        Args:
            result: of a study.
            metric: by default the first.
        """
        shown_metric = result.metric_records[0] if metric is None else result.metric(metric)
        options = Options.of(result, [shown_metric.name])
        means = options.means[:, 0]
        best = np.argsort(-shown_metric.sign * means, kind="stable")[:MOST_ROWS]
        known = {row.option: row.intervals[shown_metric.name] or (np.nan, np.nan) for row in result.options}
        intervals = np.array([known[option] for option in options.names]).reshape(-1, 2)
        n, shown, log = len(means), len(best), is_log(means[best])
        return cls(
            label=axis_label(shown_metric, log=log),
            names=short_names([options.names[i] for i in best], 32),
            kinds=tuple(options.kinds[i] for i in best),
            means=means[best],
            intervals=intervals[best],
            limits=limits(means[best], intervals[best][np.isfinite(intervals[best])], log=log),
            log=log,
            all_kinds=options.kinds,
            notes=(*_notes(intervals, shown, n), *options.notes),
        )


def ranking(axes: Axes, record: RankingData) -> Axes:
    """Draws options from the best to the worst, a row each, with 95% intervals."""
    if not record.names:
        return say_nothing_yet(axes)
    rows = np.arange(len(record.names))
    if record.log:
        axes.set_xscale("log")
    for row, kind, mean, interval in zip(rows, record.kinds, record.means, record.intervals, strict=True):
        look = KINDS[kind]
        if np.isfinite(interval).all():
            ends = np.maximum(interval, record.limits[0]) if record.log else interval
            axes.plot(ends, (row, row), color=look.colour, linewidth=1.2, alpha=0.7 * look.alpha, solid_capstyle="butt")
        axes.plot(mean, row, **look.style, zorder=3)
    axes.set_xlim(record.limits)
    label_axes(axes, (record.label, ""))
    if record.log:
        log_axis(axes.xaxis, record.limits)
    name_rows(axes, record.names, size=9)
    legend_above(axes, kind_handles(record.all_kinds))
    return axes


def _notes(intervals: FloatArray, shown: int, of: int) -> Iterator[str]:
    if np.isfinite(intervals).any():
        yield "Bars: 95% intervals of the means."
    if shown < of:
        yield f"The best {shown} of {of} options that were measured."
