"""Options in every pair of three or four metrics."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paretopick.plots.fronts import FrontData, regions_note, scatter
from paretopick.plots.labels import write_names
from paretopick.plots.limits import limit_notes, write_limits
from paretopick.plots.options import Options, margins_note
from paretopick.plots.style import BLACK, KINDS, kind_handles, laid_out, legend, say_nothing_yet
from paretopick.plots.texts import fitted, plain
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 30
ALL_NUMBERED = 15
"""Up to so many options all have numbers; of more, those that are or may well be Pareto-optimal."""


@dataclass(frozen=True, eq=False)
class PairsData:
    """Options in every pair of metrics; those that are or may be Pareto-optimal have numbers, which the names explain."""

    panels: dict[tuple[int, int], FrontData]
    """By row and column of the lower triangle; the same numbers in all."""
    names: tuple[str, ...]
    """Of number 1, 2, ..."""
    n_metrics: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, result: ParetoResult) -> PairsData:
        """Returns what there is to be drawn of a result with at least three metrics."""
        metrics = [metric.name for metric in result.metric_records if metric.compared]
        options = Options.of(result, metrics)
        possible = options.n_possible
        n = len(options.names) if len(options.names) <= ALL_NUMBERED else min(possible, MOST_NUMBERS)
        numbers = tuple(str(number) for number in range(1, n + 1))
        panels = {
            (y - 1, x): replace(FrontData.among(options.in_metrics(x, y), result, metrics[x], metrics[y]), tags=numbers)
            for x, y in itertools.combinations(range(len(metrics)), 2)
        }
        more = f"Numbers are on {n} of {possible} options that are or may well be {options.sought}, the most probable ones."
        left_out = (more,) if n < possible else ()
        drawn = [region for panel in panels.values() for region in panel.regions]
        records = [result.metric(name) for name in metrics]
        last = len(metrics) - 2
        marks = [*(panels[last, x].x.forbidden for x in range(last + 1)), panels[last, 0].y.forbidden]
        notes = (
            *regions_note(drawn, options),
            *margins_note(records),
            *limit_notes(records, marks),
            *left_out,
            *options.notes,
        )
        return cls(panels, options.tags(range(n)), len(metrics), notes)


def pairs(axes: Sequence[Axes], record: PairsData) -> Sequence[Axes]:
    """Draws a panel for each pair of metrics, and in the free corner who has which number.

    Args:
        axes: of a square of panels, one row and column less than there are metrics, row by row.
        record: what to draw.
    """
    side = record.n_metrics - 1
    for (row, column), panel in record.panels.items():
        one = scatter(axes[row * side + column], panel)
        one.label_outer()
        if not panel.names:
            say_nothing_yet(one)
    for row, column in itertools.product(range(side), repeat=2):
        if column > row:
            axes[row * side + column].axis("off")
    _explain(axes[1], record)
    laid_out(axes[0])
    for (row, column), panel in record.panels.items():
        named = panel.means[: len(panel.tags)]
        colours = [KINDS[kind].colour if kind != "dominated" else "#555555" for kind in panel.kinds[: len(named)]]
        one = axes[row * side + column]
        taken = write_limits(one, panel.forbidden, panel.means, size=7)
        write_names(one, named, panel.tags, colours, panel.means, taken=taken, size=7, ready=True)
    return axes


def _explain(corner: Axes, record: PairsData) -> None:
    """Writes kinds and numbers into the free corner, so many points below its upper left end."""
    kinds = next(iter(record.panels.values())).kinds
    entries = kind_handles(kinds)
    legend(corner, entries, loc="upper left", borderaxespad=0)
    top = 13.5 * len(entries) + 6
    rows = -(-len(record.names) // 2) if len(record.names) > 12 else max(len(record.names), 1)
    for i, name in enumerate(record.names):
        column, row = divmod(i, rows)
        text = fitted(f"{i + 1}  {name}", 114, 7)
        corner.annotate(
            text,
            (0, 1),
            (4 + 118 * column, -top - 9.2 * row),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            fontsize=7,
            color=BLACK,
            annotation_clip=False,
            **plain(text),
        ).set_in_layout(False)
