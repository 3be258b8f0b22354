"""Pictures: a record and an Axes in, the Axes out. What is drawn has been computed before.

One look for all: colours that colour-blind readers can tell apart (Okabe and Ito, 2008), no chart junk, letters that can be read
in print. Matplotlib is loaded when something is drawn; no window is opened and no global setting is touched.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._files import write_whole
from paretopick.theory.dominance import pareto_mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = "#e69f00", "#56b4e9", "#009e73", "#d4b600", "#0072b2", "#d55e00", "#cc79a7"
"""Okabe and Ito's colours; the yellow is a little darker, to be seen on white."""

LOOK: dict[str, Any] = {
    "font.size": 9,
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


@dataclass(frozen=True)
class Line:
    """Rates against something, with their intervals; where no error was seen, ``rate`` is 0 and ``high`` the upper limit."""

    label: str
    x: FloatArray
    rate: FloatArray
    low: FloatArray
    high: FloatArray
    colour: str
    dash: str = "-"
    marker: str = "o"


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


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Writes a figure as PNG and PDF, whole or not at all, the same bytes for the same figure; returns the files.

    The PNG has 128 colours, which nobody sees and which makes it a quarter of the size.
    """
    from PIL import Image

    drawn, small, pdf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    contents = {f"{name}.png": small, f"{name}.pdf": pdf}
    return [write_whole(folder / file, content.getvalue()) for file, content in contents.items()]


def log_rates(axes: Axes, lines: Iterable[Line], *, xlabel: str, ylabel: str = "log10 of the error rate") -> Axes:
    """Draws log10 of rates with their 95% bands; where no error was seen, an arrow hangs from the upper limit."""
    for line in lines:
        seen = line.rate > 0
        style: dict[str, Any] = {"color": line.colour, "linestyle": line.dash, "marker": line.marker}
        y = np.log10(line.rate, where=seen, out=np.full(len(seen), np.nan))
        axes.plot(line.x, y, label=line.label, **style)
        band = seen & (line.low > 0)
        low, high = (np.log10(edge, where=band, out=np.full(len(band), np.nan)) for edge in (line.low, line.high))
        axes.fill_between(line.x, low, high, color=line.colour, alpha=0.15, linewidth=0)
        limits = np.log10(line.high[~seen])
        axes.errorbar(
            line.x[~seen],
            limits,
            yerr=0.12 * np.ones(len(limits)),
            uplims=True,
            linestyle="none",
            color=line.colour,
            capsize=3,
            elinewidth=1.0,
        )
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return axes


def shares(axes: Axes, lines: Iterable[Line], *, xlabel: str, ylabel: str) -> Axes:
    """Draws numbers between 0 and 1 with the bars of their intervals."""
    for line in lines:
        error = np.maximum(np.vstack((line.rate - line.low, line.high - line.rate)), 0.0)
        style: dict[str, Any] = {"color": line.colour, "linestyle": line.dash, "marker": line.marker}
        axes.errorbar(line.x, line.rate, yerr=error, label=line.label, capsize=2, **style)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return axes


def arms(
    axes: Axes, means: FloatArray, *, names: Sequence[str] = (), labels: Sequence[str] = ("objective 1", "objective 2")
) -> Axes:
    """Draws arms in two objectives: the optimal ones in colour above the staircase of what they dominate, the others in grey."""
    optimal = pareto_mask(means)
    axes.plot(*staircase(means[optimal]), color=BLUE, linewidth=0.8, alpha=0.6)
    axes.plot(*means[~optimal].T, "o", color=GREY, markersize=3, label=f"dominated ({int((~optimal).sum())})")
    axes.plot(*means[optimal].T, "D", color=BLUE, markersize=4.5, label=f"Pareto-optimal ({int(optimal.sum())})")
    for name, point in zip(names, means, strict=False):
        axes.annotate(name, point, textcoords="offset points", xytext=(5, 4), fontsize=8)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    return axes


def staircase(front: FloatArray) -> FloatArray:
    """Returns the corners of the staircase below a front in two objectives, ``(2, n_corners)``, from left to right."""
    points = front[np.lexsort((-front[:, 1], front[:, 0]))]
    corners = [points[0]]
    for left, right in itertools.pairwise(points):
        corners += [np.array((left[0], right[1])), right]
    return np.array(corners).T


def common_legend(figure: Figure, axes: Iterable[Axes], *, columns: int) -> None:
    """Puts one legend for several axes below them, each label once."""
    entries: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(columns, len(entries)))
