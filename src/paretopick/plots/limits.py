"""Limits in pictures: the side of an axis that a limit forbids, and where to write what it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric
from paretopick.plots.labels import text_size
from paretopick.plots.options import Ends
from paretopick.plots.room import figure_of_axes
from paretopick.plots.style import FORBIDDEN
from paretopick.plots.texts import fitted, legible, plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

PLACES = (0.97, 0.03, 0.5, 0.25, 0.75)
"""Where along its line a limit may be written, as a share of the axis, the best places first."""

GAP = 3.0
"""Pixels between a line and what is written beside it."""


@dataclass(frozen=True)
class Forbidden:
    """What a limit forbids of an axis."""

    text: str
    """The limit in words: ``at most 50 s``."""
    limit: float
    span: Ends
    """Of the axis: all that is beyond the limit."""

    @property
    def in_sight(self) -> bool:
        """Whether the limit itself is on the axis, and not all of the axis beyond it."""
        return self.limit in self.span


def forbidden(metric: Metric, ends: Ends) -> Forbidden | None:
    """Returns what the limit of a metric forbids of an axis; None if nothing.

    >>> forbidden(Metric("time", "min", at_most=50, unit="s"), (0.0, 80.0))
    Forbidden(text='at most 50 s', limit=50.0, span=(50.0, 80.0))
    """
    if metric.limit is None:
        return None
    low, high = ends
    span = (max(metric.limit, low), high) if metric.at_most is not None else (low, min(metric.limit, high))
    return Forbidden(legible(metric.limit_text), metric.limit, span) if span[0] < span[1] else None


def limit_notes(metrics: Iterable[Metric], marks: Iterable[Forbidden | None]) -> tuple[str, ...]:
    """Returns which limits are not to be seen on the axes of these metrics, since all that is shown keeps or breaks them."""
    notes = []
    for metric, mark in zip(metrics, marks, strict=True):
        limit = f"the limit of {shortened(legible(metric.name))}, {legible(metric.limit_text)}"
        if metric.limit is not None and mark is None:
            notes.append(f"All options shown keep {limit}.")
        elif mark is not None and not mark.in_sight:
            notes.append(f"All options shown break {limit}.")
    return tuple(notes)


def shade(axes: Axes, marks: Sequence[Forbidden | None]) -> None:
    """Shades what is forbidden of the horizontal and of the vertical axis, and draws the limits as lines."""
    for across, mark in enumerate(marks):
        if mark is not None:
            span, line = (axes.axhspan, axes.axhline) if across else (axes.axvspan, axes.axvline)
            span(*mark.span, color=FORBIDDEN, alpha=0.09, linewidth=0, zorder=0.6)
            if mark.in_sight:
                line(mark.limit, color=FORBIDDEN, linewidth=1.0, alpha=0.9, zorder=1.6)


class LimitTexts:
    """Limits in words, each along its line; ``arrange`` finds where they hide the fewest points.

    Args:
        axes: on which the limits are drawn.
        marks: of the horizontal and of the vertical axis.
        points: better not covered, ``(n_points, 2)``, in the units of the axes.
        size: of the letters.
    """

    def __init__(self, axes: Axes, marks: Sequence[Forbidden | None], points: FloatArray, *, size: float = 7.5) -> None:
        self.axes, self.points, self.size = axes, points.reshape(-1, 2), size
        self.marks = [(across, mark) for across, mark in enumerate(marks) if mark is not None]
        self.texts = [
            axes.annotate(
                mark.text,
                (0, 0),
                (0, 0),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=size,
                color=FORBIDDEN,
                ha="left",
                va="bottom",
                annotation_clip=False,
                zorder=2.4,
                bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.6},
                **plain(mark.text),
            )
            for _, mark in self.marks
        ]
        for text in self.texts:
            text.set_in_layout(False)

    def arrange(self) -> FloatArray:
        """Gives every limit the best place in the figure as it is now, and returns the boxes that this takes, in pixels.

        Returns:
            ``(n_boxes, 4)``: left, bottom, right and top of each.
        """
        taken: list[FloatArray] = []
        pixels = self.axes.transData.transform(self.points)
        for (across, mark), text in zip(self.marks, self.texts, strict=True):
            taken.append(self._put(text, mark, across, pixels, np.array(taken).reshape(-1, 4)))
        return np.array(taken).reshape(-1, 4)

    def _put(self, text: Annotation, mark: Forbidden, across: int, pixels: FloatArray, taken: FloatArray) -> FloatArray:
        """Puts one limit where it belongs; the box of the text, in pixels."""
        axes, dpi = self.axes, figure_of_axes(self.axes).dpi
        inside = axes.get_window_extent()
        low, high = np.array((inside.x0, inside.y0)), np.array((inside.x1, inside.y1))
        along = 1 - across
        text.set(text=fitted(mark.text, float((high - low)[along]) * 72 / dpi - 12, self.size), rotation=0)
        wide, tall = text_size(text, dpi)
        text.set_rotation(0 if across else 90)
        box = np.array((wide, tall) if across else (tall, wide)) + 2.0
        ends = axes.transData.transform([(end, end) for end in mark.span])[:, across]
        line = axes.transData.transform((mark.limit, mark.limit))[across] if mark.in_sight else ends.mean()
        beyond = ends.mean() > line  # is it forbidden above the line, or below
        sides = (line + GAP, line - GAP - box[across])
        corners = np.empty((2 * len(PLACES), 2))
        corners[:, across] = np.repeat(sides if beyond else sides[::-1], len(PLACES))
        corners[:, along] = np.tile(low[along] + np.array(PLACES) * (high - low - box)[along], 2)
        fits = (corners >= low).all(axis=1) & (corners + box <= high).all(axis=1)
        covered = _inside(pixels[None], corners[:, None] - 5.0, corners[:, None] + box + 5.0).sum(axis=1)
        covered += 100 * _overlap(corners, corners + box, taken).sum(axis=1) + 1000 * ~fits
        corner = corners[int(np.argmin(covered))]
        text.set_position(tuple((corner + 1.0 - low) * 72 / dpi))
        return np.concatenate([corner, corner + box])


def _inside(points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Which points are in which boxes."""
    return np.asarray(((points >= low) & (points <= high)).all(axis=-1), dtype=np.float64)


def _overlap(low: FloatArray, high: FloatArray, taken: FloatArray) -> FloatArray:
    """Which boxes overlap which that are taken, ``(n_boxes, n_taken)``."""
    return np.asarray(((low[:, None] < taken[:, 2:]) & (high[:, None] > taken[:, :2])).all(axis=-1), dtype=np.float64)
