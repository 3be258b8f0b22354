"""Room in a figure: how much of it there is around axes, how to keep within it, and what to do when it changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

EDGE = 5.0
"""Pixels that are kept free at the edges of a figure and beside others."""

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


def make_room(panels: Sequence[Axes]) -> None:
    """Sees to it that what is written beside axes is within the figure and on top of nothing else.

    As ``Figure.tight_layout`` does, with room for a title that may come later. Nothing is done where a layout engine will see to
    it, and to axes whose place somebody has chosen by hand.
    """
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    figure = figure_of_axes(panels[0])
    engine = figure.get_layout_engine()
    has_engine = engine is not None and not isinstance(engine, PlaceHolderLayoutEngine)
    if has_engine or any(one.get_subplotspec() is None for one in panels):
        return
    titled = any(one.get_title() for one in figure.axes)
    top = 1.0 if titled else max(1.0 - TITLE / 72 / figure.get_figheight(), 0.5)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Tight layout not applied", category=UserWarning)  # there is no room
        for _ in range(2):  # what is written then suits the axes as they have become
            figure.tight_layout(rect=(0.0, 0.0, 1.0, top))
            figure.draw_without_rendering()


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
