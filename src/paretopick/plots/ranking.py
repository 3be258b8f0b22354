"""Options by a single metric, with 95% intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric
from paretopick.plots.limits import limit_notes, shade
from paretopick.plots.options import IN_ANSWER, Ends, Options, margins_note
from paretopick.plots.room import arranged, laid_out
from paretopick.plots.scales import Scale, set_ends, set_scales, set_ticks
from paretopick.plots.stairs import by_margin
from paretopick.plots.style import (
    BLUE,
    GREY,
    KINDS,
    kind_handles,
    label_axes,
    legend_above,
    name_rows,
    say_nothing_yet,
)
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 40


@dataclass(frozen=True, eq=False)
class RankingData:
    """Options sorted by the mean of a metric, the best first."""

    x: Scale
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    means: FloatArray
    intervals: FloatArray
    """95%, ``(n_options, 2)``; NaN where nobody knows."""
    band: Ends | None
    """What is too close to the best option of the answer to matter; None without a margin."""
    all_kinds: tuple[str, ...]
    """Of all options that were measured, also those that find no room."""
    notes: tuple[str, ...]
    baseline: float | None = None
    """The mean of the option that the others are compared with."""

    @classmethod
    def of(cls, result: ParetoResult, metric: str | None = None) -> RankingData:
        """Returns what there is to be drawn of a result.

        Args:
            result: of a study.
            metric: by default the first.
        """
        shown_metric = _first_compared(result) if metric is None else result.metric(metric)
        options = Options.of(result, [shown_metric.name])
        means = options.means[:, 0]
        order = np.argsort(-shown_metric.sign * means, kind="stable")
        n, shown = len(means), min(len(means), MOST_ROWS)
        # of a limit alone, the options that matter in other metrics
        chosen = order[:shown] if shown_metric.compared else order[np.isin(order, np.arange(shown))]
        known = {row.option: row.intervals[shown_metric.name] or (np.nan, np.nan) for row in result.options}
        intervals = np.array([known[option] for option in options.names]).reshape(-1, 2)
        band = _band(shown_metric, means, options.kinds)
        reach = [intervals[chosen][np.isfinite(intervals[chosen])], np.array(band or ())]
        x = Scale.of(shown_metric, means[chosen], reach, say_limit=True)
        return cls(
            x=x,
            names=options.tags(chosen, 32),
            baseline=None if options.baseline is None else float(means[options.baseline]),
            kinds=tuple(options.kinds[i] for i in chosen),
            means=means[chosen],
            intervals=intervals[chosen],
            band=band,
            all_kinds=options.kinds,
            notes=(
                *_notes(intervals, shown, n, shown_metric),
                *margins_note([shown_metric], "Band at the best: "),
                *limit_notes([shown_metric], [x.forbidden]),
                *options.notes,
            ),
        )


def ranking(axes: Axes, record: RankingData, *, legend: bool = True) -> Axes:
    """Draws options from the best to the worst, a row each, with 95% intervals.

    Args:
        axes: to draw on.
        record: what to draw.
        legend: whether to say what kinds of options there are.
    """
    if not record.names:
        return say_nothing_yet(axes)
    rows = np.arange(len(record.names))
    set_scales(axes, record.x)
    shade(axes, [record.x.forbidden])
    if record.band is not None:
        axes.axvspan(*record.band, color=BLUE, alpha=0.13, linewidth=0, zorder=0.7)
    if record.baseline is not None:
        axes.axvline(record.baseline, color=GREY, linestyle=":", linewidth=1.0, zorder=0.8)
    for row, kind, mean, interval in zip(rows, record.kinds, record.means, record.intervals, strict=True):
        look = KINDS[kind]
        if np.isfinite(interval).all():
            axes.plot(
                record.x.kept(interval),
                (row, row),
                color=look.colour,
                linewidth=1.2,
                alpha=0.7 * look.alpha,
                solid_capstyle="butt",
            )
        axes.plot(mean, row, **look.style, zorder=3)
    name_rows(axes, record.names, size=9)
    set_ends(axes, record.x)
    laid_out(axes)  # names leave less room for the label
    label_axes(axes, (record.x.label, None))
    if legend:
        legend_above(axes, kind_handles(record.all_kinds))

    def arrange() -> None:
        label_axes(axes, (record.x.label, None))
        set_ticks(axes, record.x)

    arranged(axes, arrange)
    return axes


def figure_height(record: RankingData) -> float:
    """Returns inches that suit the number of rows."""
    return 1.4 + 0.19 * max(len(record.names), 3)


def _first_compared(result: ParetoResult) -> Metric:
    return next(metric for metric in result.metric_records if metric.compared)


def _band(metric: Metric, means: FloatArray, kinds: Sequence[str]) -> Ends | None:
    """What is too close to the best of the answer to matter."""
    answer = means[[kind in IN_ANSWER for kind in kinds]]
    if not metric.delta or not len(answer):
        return None
    best = answer[[int(np.argmax(metric.sign * answer))]]
    low, high = sorted(float(by_margin(metric, best, side)[0]) for side in (1.0, -1.0))
    return low, high


def _notes(intervals: FloatArray, shown: int, of: int, metric: Metric) -> Iterator[str]:
    if np.isfinite(intervals).any():
        yield "Bars: 95% intervals of the means."
    if shown < of:
        which = f"The best {shown}" if metric.compared else f"{shown}"
        yield f"{which} of {of} options that were measured."
