"""Options in any number of metrics: a line for each, across an axis for each metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.plots.labels import spread
from paretopick.plots.options import Options
from paretopick.plots.style import BLUE, GREEN, GREY, KINDS, PURPLE, SKY, VERMILION, counted, legend_above
from paretopick.plots.texts import legible, plain, short_names, shortened
from paretopick.studies.verdicts import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 30
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, "#b58900", SKY, "#5b3a8c")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 3)))
"""Lines differ in colour, and where colours come again in their dashes."""


@dataclass(frozen=True, eq=False)
class ParallelData:
    """Options across metrics, the most interesting first."""

    metrics: tuple[str, ...]
    goals: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    heights: FloatArray
    """``(n_options, n_metrics)``: 1 for the best value of a metric, 0 for the worst, 1/2 if all have the same."""
    best: tuple[str, ...]
    """Values at the upper end of the axes, as people read them."""
    worst: tuple[str, ...]
    n_coloured: int
    """So many lines, the first ones, are of the answer."""
    tags: tuple[str, ...]
    """Names at the right ends of these lines; none if there are too many."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, result: ParetoResult) -> ParallelData:
        """Returns what there is to be drawn of a result."""
        metrics = tuple(result.metrics)
        options = Options.of(result, metrics)
        signs = np.array([1.0 if goal == "max" else -1.0 for goal in result.metrics.values()])
        good = options.means * signs
        low, high = (good.min(axis=0), good.max(axis=0)) if len(good) else (np.zeros(len(metrics)), np.zeros(len(metrics)))
        width = high - low
        with np.errstate(invalid="ignore"):
            heights = np.where(width > 0, (good - low) / np.where(width > 0, width, 1.0), 0.5)
        ends = [end_values(sign * b, sign * w) for sign, b, w in zip(signs, high, low, strict=True)]
        n = sum(kind in ("pareto", "guess") for kind in options.kinds)
        crowd = (f"{n} options of the answer are too many to be named here.",) if n > MOST_NAMES else ()
        return cls(
            metrics=tuple(shortened(legible(name), 32) for name in metrics),
            goals=tuple(result.metrics.values()),
            names=options.names,
            kinds=options.kinds,
            heights=heights,
            best=tuple(best for best, _ in ends),
            worst=tuple(worst for _, worst in ends),
            n_coloured=n,
            tags=short_names(options.names[:n]) if n <= MOST_NAMES else (),
            notes=(*crowd, *options.notes),
        )


def parallel(axes: Axes, record: ParallelData) -> Axes:
    """Draws a line for every option: those of the answer in colour and named at the right end, the others grey and thin."""
    from matplotlib.lines import Line2D

    n_options, n_metrics = record.heights.shape
    across = np.arange(n_metrics)
    for i in reversed(range(n_options)):
        axes.plot(across, record.heights[i], **_line(record, i))
    axes.set(xlim=(-0.15, n_metrics - 1 + 0.02), ylim=(-0.04, 1.04), yticks=[])
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.vlines(across, 0, 1, color="#444444", linewidth=0.8, zorder=2.5)
    _write_ends(axes, record)
    _write_tags(axes, record)
    handles = []
    for label, kind in counted(record.kinds):
        thin = kind not in (KINDS["pareto"], KINDS["guess"])
        handles.append((label, Line2D([], [], color=kind.colour, linewidth=0.8 if thin else 1.6, alpha=0.6 if thin else 1.0)))
    if handles:
        legend_above(axes, handles)
    return axes


def end_values(best: float, worst: float) -> tuple[str, str]:
    """Returns the ends of an axis with as many digits as it takes to tell them apart.

    >>> end_values(0.25, 12.5), end_values(1000000.5, 1000000.0), end_values(3e-9, 1e-9)
    (('0.25', '12.50'), ('1,000,000.5', '1,000,000.0'), ('3e-09', '1e-09'))
    """
    size, apart = max(abs(best), abs(worst)), abs(best - worst)
    if size == 0:
        return "0", "0"
    if not 1e-4 <= size < 1e9:
        digits = 3 if apart == 0 else min(17, max(3, 2 + math.floor(math.log10(size)) - math.floor(math.log10(apart))))
        return f"{best:.{digits}g}", f"{worst:.{digits}g}"
    decimals = max(0, (2 if apart == 0 else 1) - math.floor(math.log10(apart or size)))
    texts = f"{best:,.{decimals}f}", f"{worst:,.{decimals}f}"
    while all("." in text and text.endswith("0") for text in texts):
        texts = texts[0][:-1].rstrip("."), texts[1][:-1].rstrip(".")
    return texts


def _line(record: ParallelData, i: int) -> dict[str, Any]:
    kind = KINDS[record.kinds[i]]
    if i < record.n_coloured:
        many = not record.tags
        colour = kind.colour if many else COLOURS[i % len(COLOURS)]
        dash = "-" if many else DASHES[(i // len(COLOURS)) % len(DASHES)]
        return {
            "color": colour,
            "linestyle": dash,
            "linewidth": 0.8 if many else 1.5,
            "alpha": 0.6 if many else 0.95,
            "zorder": 3,
        }
    crowd = 0.55 if len(record.names) <= 60 else 0.25
    return {"color": kind.colour if kind.label == "undecided" else GREY, "linewidth": 0.7, "alpha": crowd, "zorder": 2}


def _write_ends(axes: Axes, record: ParallelData) -> None:
    """Writes above each axis its metric, its goal and its best value, and below it its worst."""
    goals = ["small is good" if goal == "min" else "large is good" for goal in record.goals]
    for x, (metric, goal, best, worst) in enumerate(zip(record.metrics, goals, record.best, record.worst, strict=True)):
        label = f"{_wrapped(metric)}\n({goal})"
        axes.annotate(label, (x, 0), (0, -20), textcoords="offset points", ha="center", va="top", fontsize=8, **plain(label))
        axes.annotate(best, (x, 1), (0, 4), textcoords="offset points", ha="center", va="bottom", fontsize=7.5)
        axes.annotate(worst, (x, 0), (0, -4), textcoords="offset points", ha="center", va="top", fontsize=7.5)
    axes.set_xticks([])


def _write_tags(axes: Axes, record: ParallelData) -> None:
    """Writes names at the right end, moved apart as far as it takes, with a thin line from each end to its name."""
    if not record.tags:
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    last = record.heights.shape[1] - 1
    widest = max(record.tags, key=len)
    probe = axes.annotate(widest, (last, 0.5), (22, 0), textcoords="offset points", fontsize=7.5, **plain(widest))
    figure.draw_without_rendering()
    box, inside = probe.get_window_extent(), axes.get_window_extent()
    probe.remove()
    height = (box.height + 0.5) / inside.height * 1.08  # of the axes, as a share of what they show
    wanted = record.heights[: len(record.tags), last]
    for i, (tag, middle) in enumerate(zip(record.tags, spread(wanted, height, -0.03, 1.03), strict=True)):
        colour = _line(record, i)["color"]
        axes.annotate(
            tag,
            (last, wanted[i]),
            (22, (middle - wanted[i]) / 1.08 * inside.height * 72 / figure.dpi),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": colour, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)},
            **plain(tag),
        )


def _wrapped(text: str, most: int = 16) -> str:
    """A text on two lines at most."""
    if len(text) <= most:
        return text
    cut = text.rfind(" ", 1, most + 1)
    cut = cut if cut > 0 else most
    return f"{text[:cut]}\n{text[cut:].strip()}"


def figure_size(record: ParallelData) -> tuple[float, float]:
    """Returns inches that suit the number of metrics and names."""
    n_metrics, n_names = len(record.metrics), len(record.tags)
    return max(6.5, 1.25 * n_metrics + 2.2), max(4.2, 1.6 + 0.15 * n_names)
