"""The one look of all pictures: colours, letters, figures and their legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from paretopick.metrics import Metric
from paretopick.plots.room import around, arranged, figure_of_axes, laid_out, plain_figure
from paretopick.plots.texts import FONT, fitted, legible, numbers, plain, shortened, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text
    from matplotlib.ticker import Formatter

BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = "#e69f00", "#56b4e9", "#009e73", "#d4b600", "#0072b2", "#d55e00", "#cc79a7"
"""Okabe and Ito's colours; the yellow is a little darker, to be seen on white."""

LOOK: dict[str, Any] = {
    "font.family": FONT,
    "font.size": 9,
    "text.usetex": False,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 110,
}


LONGEST_UNIT = 16
"""Characters of a unit along an axis."""

WIDEST_ROW, MOST_ROW = 170.0, 0.37
"""Points that names of rows may take, and which share of the width that there is."""

LEAST_ROW = 4.5
"""Size of the smallest letters of names of rows."""

LABEL_SIZES = (9.0, 7.5, 6.5)
"""Of letters along an axis, smaller where it is short."""

LEGEND_SIZES = (8.0, 7.0, 6.0)
MOST_LEGEND = 0.2
"""Letters of a legend become smaller where it would take more than this share of the height that there is."""

TICK_WIDTH = 32.0
"""Points that a whole number below a tick takes, with what is free beside it."""

FORBIDDEN = "#a8508a"
"""Of limits, and of options that break them: Okabe and Ito's purple, darker, to be read as letters, too."""


@dataclass(frozen=True)
class Kind:
    """How options of one kind are drawn."""

    label: str
    colour: str
    marker: str
    size: float
    filled: bool = True
    alpha: float = 1.0

    @property
    def style(self) -> dict[str, Any]:
        """Properties of a line that draws the points."""
        face = self.colour if self.filled else "white"
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": self.size,
            "markerfacecolor": face,
            "markeredgewidth": 0.9,
            "alpha": self.alpha,
            "linestyle": "none",
        }


KINDS = {
    "pareto": Kind("Pareto-optimal", BLUE, "D", 5.0),
    "worth keeping": Kind("worth keeping", BLUE, "D", 5.0),
    "open in": Kind("open, in the answer", "#c27c00", "s", 4.8),
    "open out": Kind("open, not in it", "#c27c00", "s", 4.4, filled=False),
    "covered": Kind("covered, not needed", "#4f83a8", "o", 4.2, filled=False),
    "dominated": Kind("dominated", GREY, "o", 3.4),
    "infeasible": Kind("infeasible", FORBIDDEN, "X", 5.4, alpha=0.8),
    "retired": Kind("retired", GREY, "x", 4.2, alpha=0.55),
}
"""What an option can be, the most interesting first. The orange is darker than Okabe and Ito's, to be read as letters, too."""


def look() -> AbstractContextManager[None]:
    """Returns the context in which to make and to save figures."""
    import matplotlib

    return matplotlib.rc_context(cast(Any, LOOK))


def new_figure(n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float], **options: Any) -> tuple[Figure, list[Axes]]:
    """Returns a figure of so many inches and its axes, row by row."""
    figure = plain_figure(size)
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.ravel())


def parts_of(figure: Figure, sides: Sequence[int], heights: Sequence[float]) -> list[list[Axes]]:
    """Returns the axes of parts of a figure that are above each other, of each part row by row.

    Args:
        figure: without any axes.
        sides: of the square of axes that each part is made of; those in a column share their horizontal axis, and in a row the
            vertical one.
        heights: of the parts, to each other.
    """
    rows = figure.add_gridspec(len(sides), 1, height_ratios=list(heights))
    parts = [
        rows[i]
        .subgridspec(side, side)
        .subplots(squeeze=False, sharex="col" if side > 1 else False, sharey="row" if side > 1 else False)
        for i, side in enumerate(sides)
    ]
    return [list(axes.ravel()) for axes in parts]


class AxisLabel(NamedTuple):
    """What an axis says about its metric."""

    name: str
    details: str
    """Its unit, which direction is good, and whether the axis is logarithmic; maybe nothing."""

    def __str__(self) -> str:
        return f"{self.name} ({self.details})" if self.details else self.name


def axis_label(metric: Metric, *, log: bool = False, limit: bool = False) -> AxisLabel:
    """Returns what an axis says about its metric.

    Args:
        metric: whose values are along the axis.
        log: whether the axis is logarithmic.
        limit: whether to say what its limit is.

    >>> str(axis_label(Metric("time", "min", unit="s"))), str(axis_label(Metric("bytes", "min"), log=True))
    ('time (s, small is good)', 'bytes (small is good, log scale)')
    """
    unit = "" if metric.unit is None else shortened(legible(metric.unit), LONGEST_UNIT)
    bound = legible(metric.limit_text) if limit and metric.compared else ""
    details = (unit, legible(metric.direction), bound, "log scale" if log else "")
    return AxisLabel(shortened(legible(metric.name), 48), ", ".join(filter(None, details)))


def counted(kinds: Sequence[str]) -> list[tuple[str, Kind]]:
    """Returns the kinds that are there with their labels, such as ``dominated (3)``, in the order of ``KINDS``."""
    return [(f"{kind.label} ({kinds.count(name)})", kind) for name, kind in KINDS.items() if name in kinds]


def legend(axes: Axes, entries: Sequence[tuple[str, Any]], **options: Any) -> Legend:
    """Draws a legend that shows labels as they are; older matplotlibs hide those that begin with an underscore."""
    labels, handles = zip(*entries, strict=True)
    made = axes.legend(handles, [str(i) for i in range(len(labels))], handletextpad=0.4, columnspacing=1.2, **options)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set(text=label, **plain(label))
    return made


def legend_above(axes: Axes, entries: Sequence[tuple[str, Any]], *, pad: float = 1.0) -> None:
    """Draws a legend above the axes, where it hides nothing, from the left, in as many columns as there is room for.

    Args:
        axes: with everything else already drawn.
        entries: labels and what is drawn beside them.
        pad: between the axes and the legend, in units of 8 points.
    """
    from matplotlib.transforms import ScaledTranslation

    if not entries:
        return
    figure = laid_out(axes)
    inside, outside, room = axes.get_window_extent(), axes.get_tightbbox() or axes.get_window_extent(), around(axes)
    free, place = 8 * pad * figure.dpi / 72, {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderpad": 0}
    for size in LEGEND_SIZES:
        for columns in range(len(entries), 0, -1):
            made = legend(axes, entries, ncols=columns, borderaxespad=8 * pad / size, fontsize=size, **place)
            width, height = made.get_window_extent().size
            if room.x0 + width < room.x1:
                break
        if height < MOST_LEGEND * room.height:
            break
    left = max(min(outside.x0, room.x1 - width), room.x0)  # from where the axes begin with what is written beside them, if it can
    across = ScaledTranslation((left - free - inside.x0) / figure.dpi, 0.0, figure.dpi_scale_trans)
    made.set_bbox_to_anchor((0.0, 1.0), transform=axes.transAxes + across)
    _raise_titles(axes)


def _raise_titles(axes: Axes) -> None:
    """Keeps titles of axes above their legend, whenever somebody writes them.

    Matplotlib puts titles above whatever axes are part of theirs, and does not look at legends: there are invisible ones, then,
    as large as the legend.
    """
    from matplotlib.transforms import TransformedBbox

    def place(_: Axes, renderer: Any) -> TransformedBbox:
        shown = axes.get_legend()
        pixels = axes.get_window_extent() if shown is None else shown.get_window_extent(renderer)
        return TransformedBbox(pixels, cast(Any, axes.get_figure()).transSubfigure.inverted())

    spacer = axes.inset_axes((0, 1, 1, 0.1))
    spacer.set_visible(False)
    spacer.set_axes_locator(cast(Any, place))


def label_axes(axes: Axes, labels: tuple[AxisLabel | None, AxisLabel | None], *, again: bool = False) -> None:
    """Writes what is along the axes: on two lines where one is too short, and the name shortened where that is too short, too.

    Args:
        axes: to be labelled.
        labels: of the horizontal and of the vertical axis.
        again: whether only what is written already is written again, as it suits the axes now.
    """
    for axis, label, points in zip((axes.xaxis, axes.yaxis), labels, lengths(axes), strict=True):
        if label is not None and (axis.get_label_text() or not again):
            label_axis(axis, label, points)


def label_axis(axis: Axis, label: AxisLabel, points: float) -> None:
    """Writes what is along an axis that is so many points long, on two lines and in smaller letters where that is little."""
    axis.set_major_formatter(_number_formatter())
    whole, parts = str(label), [label.name, f"({label.details})" if label.details else ""]
    shown, size = whole, LABEL_SIZES[0]
    if fitted(whole, points, size) != whole:
        for size in LABEL_SIZES:
            lines = [line for part in parts for line in wrapped(part, points, size)]
            if len(lines) == 2 and " ".join(lines) == whole:
                break
        else:
            lines = [fitted(part, points, size) for part in parts if part]
        shown = "\n".join(lines)
    axis.set_label_text(shown, fontsize=size, **plain(shown))


def lengths(axes: Axes) -> tuple[float, float]:
    """Returns how long the horizontal and the vertical axis are now, in points."""
    box, dpi = axes.get_window_extent(), figure_of_axes(axes).dpi
    return 72 * box.width / dpi, 72 * box.height / dpi


def name_rows(axes: Axes, names: Sequence[str], *, size: float, beside: Sequence[Text] = ()) -> None:
    """Writes names on the left of rows 0, 1, ... from above, in letters that keep apart; of very low rows, those of some.

    Args:
        axes: with the rows.
        names: none of them is shown wider than a good quarter of a page.
        size: of the letters, at most.
        beside: texts of rows whose letters are of the same size.
    """
    widest = min(WIDEST_ROW, MOST_ROW * room_across(axes))
    labels = [fitted(name, widest, size) for name in names]
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(labels) - 0.4, -0.6)

    def arrange() -> None:
        fits = min(size, 0.85 * lengths(axes)[1] / (len(names) + 0.2))
        step = 1 if fits >= LEAST_ROW else int(np.ceil(LEAST_ROW / fits))
        shown = [label if row % step == 0 else "" for row, label in enumerate(labels)]
        axes.set_yticks(range(len(labels)), labels=shown, fontsize=max(fits, LEAST_ROW), **plain(*labels))
        for row, text in enumerate(beside):
            text.set(fontsize=max(fits, LEAST_ROW), visible=row % step == 0)

    arranged(axes, arrange)


def room_across(axes: Axes) -> float:
    """Returns how many points wide axes may be, with all that is written beside them."""
    return 72 * around(axes).width / figure_of_axes(axes).dpi


def whole_ticks(axes: Axes) -> None:
    """Puts ticks of the horizontal axis at whole numbers, fewer where it is short."""
    from matplotlib.ticker import MaxNLocator

    most = int(np.clip(lengths(axes)[0] / TICK_WIDTH, 2, 9))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 5, 10], integer=True))


def say_nothing_yet(axes: Axes, why: str = "nothing was measured yet") -> Axes:
    """Draws that there is nothing to be drawn, and why."""
    axes.set(xticks=[], yticks=[])
    axes.annotate(why, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", color=GREY)
    return axes


def _number_formatter() -> Formatter:
    """Writes ticks with as many digits as it takes; matplotlib's own would put powers of ten where the legend is."""
    from matplotlib.ticker import Formatter

    class Numbers(Formatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return numbers([x])[0]

        def format_ticks(self, values: Any) -> list[str]:
            return numbers(list(values))

    return Numbers()


def kind_handles(kinds: Sequence[str]) -> list[tuple[str, Any]]:
    """Returns what the legend says about the kinds that are there."""
    from matplotlib.lines import Line2D

    return [(label, Line2D([], [], **kind.style)) for label, kind in counted(kinds)]


def write_title(figure: Figure, title: str) -> None:
    """Writes what is to be seen above a figure, from the left."""
    if title:
        title = fitted(legible(title), 70 * figure.get_figwidth(), 10)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, **plain(title))


def write_notes(figure: Figure, notes: Sequence[str]) -> None:
    """Writes what else one should know below a figure, one small line each."""
    if notes:
        text = "\n".join(fitted(note, 70 * figure.get_figwidth(), 7) for note in notes)
        figure.supxlabel(text, x=0.01, ha="left", fontsize=7, color="#555555", **plain(text))


def common_legend(figure: Figure, axes: Iterable[Axes], *, columns: int) -> None:
    """Puts one legend for several axes below them, each label once."""
    entries: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(columns, len(entries)))
