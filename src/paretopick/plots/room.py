"""Room in a figure: how much of it there is around axes, how to keep within it, and what to do when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

EDGE = 5.0
"""Pixels that are kept free at the edges of a figure and beside others."""


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


def around(*together: Axes) -> Bbox:
    """Returns how far what is written beside axes may reach: to the edges of the figure or to what is next to them, in pixels."""
    from matplotlib.transforms import Bbox

    figure, inside = figure_of_axes(together[0]), Bbox.union([axes.get_window_extent() for axes in together])
    left, bottom, right, top = figure.bbox.extents
    for itself, with_all in _others(together, figure):
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


def make_room(panels: Sequence[Axes], try_out: Callable[[Figure], Sequence[Axes]]) -> None:
    """Puts axes where what is written beside them will be within the figure and on top of nothing else.

    As ``Figure.colorbar`` does, it takes the room from the axes. Nothing is done where a layout engine will see to it, and to
    axes whose place somebody has chosen by hand.

    Args:
        panels: on which nothing was drawn yet.
        try_out: draws the same onto an empty figure, and returns its axes in the order of the panels.
    """
    figure = laid_out(panels[0])
    if figure.get_layout_engine() is not None or any(one.get_subplotspec() is None for one in panels):
        return
    room = around(*panels)
    tried = plain_figure((room.width / figure.dpi, room.height / figure.dpi))
    tried.set_dpi(figure.dpi)
    trial = try_out(tried)
    trial[0].set_title(panels[0].get_title() or "a title that may come later")
    for _ in range(2):  # what is written then suits the axes as they have become
        tried.draw_without_rendering()
    for one, other in zip(panels, trial, strict=True):
        box = other.get_window_extent().translated(room.x0, room.y0).get_points()
        (x0, y0), (x1, y1) = cast(Any, one.get_figure()).transSubfigure.inverted().transform(box)
        one.set_position((x0, y0, x1 - x0, y1 - y0))
        one.set_in_layout(True)  # which set_position takes away


def plain_figure(size: tuple[float, float]) -> Figure:
    """Returns an empty figure of so many inches, of which pyplot does not know, so that it goes with whoever has it."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


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


def _others(together: Sequence[Axes], figure: Figure) -> Iterator[tuple[Bbox, Bbox]]:
    """What else there is in a figure: the box of each, and the box with all that is written beside it."""
    for other in figure.axes:
        if other not in together and other.get_visible():
            yield other.get_window_extent(), other.get_tightbbox() or other.get_window_extent()
    for beside in (*figure.texts, *figure.legends):
        if beside.get_visible():
            yield beside.get_window_extent(), beside.get_window_extent()
