"""Room in a figure: how much of it there is around axes, how to keep within it, and what to do when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

EDGE = 3.0
"""Pixels that are kept free at the edges of a figure and beside others."""

LEAST = 0.4
"""At least this share of their width and height is left to axes that make room for what is written beside them."""

TITLE = 20.0
"""Points that are kept free for a title that may come later."""


def figure_of_axes(axes: Axes) -> Figure:
    """Returns the figure that axes are in, the whole one if they are in a part of it."""
    figure: Any = axes.get_figure()
    while figure.figure is not None and figure.figure is not figure:
        figure = figure.figure
    return cast("Figure", figure)


def laid_out(axes: Axes) -> Figure:
    """Returns the figure of the axes, after everything in it has found its place."""
    figure = figure_of_axes(axes)
    figure.draw_without_rendering()
    return figure


def around(axes: Axes) -> Bbox:
    """Returns how far what is written beside axes may reach: to the edges of the figure or to what is next to them, in pixels."""
    from matplotlib.transforms import Bbox

    figure, inside = figure_of_axes(axes), axes.get_window_extent()
    left, bottom, right, top = figure.bbox.extents
    for itself, with_all in _others(axes, figure):
        if with_all.y0 < inside.y1 and with_all.y1 > inside.y0:
            if itself.x0 >= inside.x1:
                right = min(right, max(with_all.x0, inside.x1))
            elif itself.x1 <= inside.x0:
                left = max(left, min(with_all.x1, inside.x0))
        if with_all.x0 < inside.x1 and with_all.x1 > inside.x0:
            if itself.y0 >= inside.y1:
                top = min(top, max(with_all.y0, inside.y1))
            elif itself.y1 <= inside.y0:
                bottom = max(bottom, min(with_all.y1, inside.y0))
    return Bbox.from_extents(left + EDGE, bottom + EDGE, right - EDGE, top - EDGE)


def make_room(axes: Axes) -> None:
    """Makes axes smaller until what is written beside them is within the figure and on top of nothing else.

    As ``Figure.colorbar`` does, it takes the room from the axes. Nothing is done where a layout engine will see to it, and to
    axes whose place somebody has chosen by hand.
    """
    figure = laid_out(axes)
    if figure.get_layout_engine() is not None or axes.get_subplotspec() is None:
        return
    tight = axes.get_tightbbox()
    if tight is None:
        return
    room, inside, beside = (np.array(box.extents).reshape(2, 2) for box in (around(axes), axes.get_window_extent(), tight))
    if not any(axes.get_title(loc) for loc in ("left", "center", "right")):
        beside[1, 1] += TITLE * figure.dpi / 72
    beyond = np.maximum(((room - beside) * np.array([[1], [-1]])), 0.0)  # at the lower ends and at the upper ones
    size, taken = inside[1] - inside[0], beyond.sum(axis=0)
    beyond *= np.minimum(1.0, (1 - LEAST) * size / np.where(taken > 0, taken, size))
    box = inside + beyond * np.array([[1], [-1]])
    (x0, y0), (x1, y1) = cast(Any, axes.get_figure()).transSubfigure.inverted().transform(box)
    axes.set_position((x0, y0, x1 - x0, y1 - y0))
    axes.set_in_layout(True)  # which set_position takes away


def arranged(axes: Axes, arrange: Callable[[], object]) -> None:
    """Calls ``arrange`` now, and again before the axes are drawn in another size or between other ends.

    What is written into a picture has its place in points. Whoever calls ``tight_layout``, adds a colour bar or zooms in changes
    the picture around it.

    Args:
        axes: in a figure that is laid out.
        arrange: gives what is written its place; it may change texts that are there, and add none.
    """
    from matplotlib.artist import Artist

    class Keeper(Artist):
        known = _shape(axes)

        def draw(self, renderer: Any) -> None:
            now = _shape(axes)
            if now != self.known:
                self.known = now
                arrange()

    arrange()
    keeper = Keeper()
    keeper.set(zorder=-1000, in_layout=False)  # before anything else of the axes
    axes.add_artist(keeper)


def _shape(axes: Axes) -> tuple[float, ...]:
    """The size of axes in inches, and their ends."""
    box, dpi = axes.get_window_extent(), figure_of_axes(axes).dpi
    return (round(box.width / dpi, 2), round(box.height / dpi, 2), *axes.get_xlim(), *axes.get_ylim())


def _others(axes: Axes, figure: Figure) -> Iterator[tuple[Bbox, Bbox]]:
    """What else there is in a figure: the box of each, and the box with all that is written beside it."""
    for other in figure.axes:
        if other is not axes and other.get_visible():
            yield other.get_window_extent(), other.get_tightbbox() or other.get_window_extent()
    for beside in (*figure.texts, *figure.legends):
        if beside.get_visible():
            yield beside.get_window_extent(), beside.get_window_extent()
