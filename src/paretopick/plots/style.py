"""The one look of all pictures: colours, letters, figures and their legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from paretopick.metrics import Metric
from paretopick.plots.texts import FONT, fitted, legible, numbers, plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
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


WIDEST_ROW = 170.0
"""Points that names of rows may take."""


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
    "open in": Kind("open, in the answer", "#c27c00", "s", 4.8),
    "open out": Kind("open, not in it", "#c27c00", "s", 4.4, filled=False),
    "dominated": Kind("dominated", GREY, "o", 3.4),
    "retired": Kind("retired", GREY, "x", 4.2, alpha=0.55),
}
"""What an option can be, the most interesting first. The orange is darker than Okabe and Ito's, to be read as letters, too."""


def look() -> AbstractContextManager[None]:
    """Returns the context in which to make and to save figures."""
    import matplotlib

    return matplotlib.rc_context(cast(Any, LOOK))


def new_figure(n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float], **options: Any) -> tuple[Figure, list[Axes]]:
    """Returns a figure of so many inches and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    return figure, list(axes.ravel())


def axis_label(metric: Metric, *, log: bool = False) -> str:
    """Returns what an axis says about its metric.

    >>> axis_label(Metric("seconds", "min")), axis_label(Metric("bytes", "min"), log=True)
    ('seconds (small is good)', 'bytes (small is good, logarithmic)')
    """
    return f"{shortened(legible(metric.name), 48)} ({metric.direction}{', logarithmic' if log else ''})"


def counted(kinds: Sequence[str]) -> list[tuple[str, Kind]]:
    """Returns the kinds that are there with their labels, such as ``dominated (3)``, in the order of ``KINDS``."""
    return [(f"{kind.label} ({kinds.count(name)})", kind) for name, kind in KINDS.items() if name in kinds]


def legend(axes: Axes, entries: Sequence[tuple[str, Any]], **options: Any) -> Legend | None:
    """Draws a legend that shows labels as they are; older matplotlibs hide those that begin with an underscore."""
    if not entries:
        return None
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
        pad: between the axes and the legend, in sizes of its letters.
    """
    figure = laid_out(axes)
    inside, outside = axes.get_window_extent(), axes.get_tightbbox() or axes.get_window_extent()
    left = (outside.x0 - inside.x0) / inside.width
    for columns in range(len(entries), 0, -1):
        made = legend(axes, entries, ncols=columns, loc="lower left", bbox_to_anchor=(left, 1.0), borderaxespad=pad, borderpad=0)
        if made is not None and outside.x0 + made.get_window_extent().width < figure.bbox.x1 - 4:
            break


def laid_out(axes: Axes) -> Figure:
    """Returns the figure of the axes, after everything in it has found its place."""
    figure = cast("Figure", axes.get_figure())
    figure.draw_without_rendering()
    return figure


def label_axes(axes: Axes, labels: tuple[str, str]) -> None:
    """Writes what is along the axes, shortened to the room that there is; their goals stay."""
    share, inches = axes.get_position(), cast("Figure", axes.get_figure()).bbox_inches
    room = (80 * share.width * inches.width, 80 * share.height * inches.height)
    for axis, label, points in zip((axes.xaxis, axes.yaxis), labels, room, strict=True):
        metric, bracket, goal = label.rpartition(" (")
        shown = f"{fitted(metric, points - 5.3 * len(goal), 9)}{bracket}{goal}" if bracket else fitted(goal, points, 9)
        axis.set_label_text(shown, **plain(shown))
        axis.set_major_formatter(_number_formatter())


def name_rows(axes: Axes, names: Sequence[str], *, size: float) -> None:
    """Writes names on the left of rows 0, 1, ... from above, none of them wider than a good quarter of a page."""
    labels = [fitted(name, WIDEST_ROW, size) for name in names]
    axes.set_yticks(range(len(labels)), labels=labels, fontsize=size, **plain(*labels))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def say_nothing_yet(axes: Axes) -> Axes:
    """Draws that there is nothing to be drawn."""
    axes.set(xticks=[], yticks=[])
    axes.annotate("nothing was measured yet", (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", color=GREY)
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
