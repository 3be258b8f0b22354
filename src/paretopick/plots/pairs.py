"""Options in every pair of three or four metrics."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paretopick.plots.fronts import FrontData, regions_note, scatter, write_into
from paretopick.plots.labels import have_room_beside
from paretopick.plots.limits import limit_notes
from paretopick.plots.options import Options, margins_note
from paretopick.plots.room import laid_out
from paretopick.plots.style import BLACK, kind_handles, legend, lengths, say_nothing_yet
from paretopick.plots.texts import fitted, plain
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 30
SMALL_CORNER = 150.0
"""Points of height below which letters in the free corner are smaller."""

ALL_NUMBERED = 15
"""Up to so many options all have numbers; of more, those that are or may be Pareto-optimal."""


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
        more = f"Numbers are on {n} of {possible} options that are or may be {options.sought}, the most probable ones."
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
    """Draws a panel for each pair of metrics: with names beside the points where there is room for them in every panel.

    Elsewhere with numbers, and who has which number in the free corner.

    Args:
        axes: of a square of panels, one row and column less than there are metrics, row by row.
        record: what to draw.
    """
    side = record.n_metrics - 1
    panels = {axes[row * side + column]: panel for (row, column), panel in record.panels.items()}
    for one, panel in panels.items():
        scatter(one, panel).label_outer()
        if not panel.names:
            say_nothing_yet(one)
    for one in axes:
        if one not in panels:
            one.axis("off")
    laid_out(axes[0])
    n = len(record.names)
    named = all(have_room_beside(one, panel.means[:n], record.names, panel.means, size=7) for one, panel in panels.items())
    _explain(axes[1:side], record, numbered=not named)
    laid_out(axes[0])
    for one, panel in panels.items():
        write_into(one, replace(panel, tags=record.names) if named else panel, size=7)
    return axes


def _explain(corner: Sequence[Axes], record: PairsData, *, numbered: bool) -> None:
    """Writes kinds and numbers into the free corner, in as many columns as it takes, below its upper left end."""
    first = corner[0]
    entries = kind_handles(next(iter(record.panels.values())).kinds)
    width, height = lengths(first)
    small = min(1.0, height / SMALL_CORNER)
    if entries:
        legend(first, entries, loc="upper left", borderaxespad=0, fontsize=8 * small)
    if not numbered:
        return
    top, line = (13.5 * len(entries) + 6) * small, 9.2 * small
    width += sum(lengths(one)[0] for one in corner[1:])
    rows = max(int((height - top) / line), 1)
    columns = max(-(-len(record.names) // rows), 1)
    rows = -(-len(record.names) // columns)
    for i, name in enumerate(record.names):
        column, row = divmod(i, rows)
        text = fitted(f"{i + 1}  {name}", width / columns - 6, 7 * small)
        first.annotate(
            text,
            (0, 1),
            (4 + width / columns * column, -top - line * row),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            fontsize=7 * small,
            color=BLACK,
            annotation_clip=False,
            **plain(text),
        ).set_in_layout(False)
