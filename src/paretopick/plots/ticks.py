"""Logarithmic axes: when, between which ends, and with which ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric
from paretopick.plots.room import figure_of_axes
from paretopick.plots.texts import numbers, text_width

if TYPE_CHECKING:
    from matplotlib.axis import Axis

STEPS = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2.5, 5), (1, 3), (1,))
"""Ticks of a logarithmic axis within a power of ten, from many to few."""

APART = 6.0
"""Points between what is written at two ticks, side by side; a third of that where they are one above the other."""

SPAN = 30.0
"""Where the largest of some positive values is so many times the smallest, even steps would squeeze most of them together."""


def is_log(values: FloatArray, metric: Metric | None = None) -> bool:
    """Whether values are drawn on a logarithmic axis: all are positive, and they differ widely or are compared as logarithms.

    >>> is_log(np.array([1.0, 29.0])), is_log(np.array([1.0, 31.0])), is_log(np.array([0.0, 31.0]))
    (False, True, False)
    >>> is_log(np.array([1.0, 2.0]), Metric("seconds", "min", margin="2%"))
    True
    """
    if not len(values) or values.min() <= 0:
        return False
    return bool((metric is not None and metric.log) or values.max() > SPAN * values.min())


def log_axis(axis: Axis, ends: tuple[float, float], text: Callable[[float], str] | None = None) -> None:
    """Gives a logarithmic axis its ends, and ticks that people can read.

    Args:
        axis: whose scale is logarithmic already.
        ends: of what it shows.
        text: what is written at a tick; by default the number.
    """
    from matplotlib.ticker import NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_view_interval(*ends, ignore=True)

    def labels(ticks: Sequence[float]) -> list[str]:
        return [text(tick) for tick in ticks] if text else numbers(ticks)

    ticks = log_ticks(*ends, fits=lambda ticks: _have_room(axis, ends, ticks, labels(ticks)))
    axis.set_ticks(ticks, labels=labels(ticks))


def log_ticks(
    low: float, high: float, most: int = 7, *, fits: Callable[[Sequence[float]], bool] = lambda ticks: True
) -> list[float]:
    """Returns round numbers between two ends of a logarithmic axis, as many as there is room for.

    Args:
        low: the lower end.
        high: the upper end.
        most: ticks.
        fits: says whether there is room for some ticks.

    >>> log_ticks(300.0, 6000.0), log_ticks(0.073, 0.13)
    ([500.0, 1000.0, 2500.0, 5000.0], [0.08, 0.09, 0.1, 0.11, 0.12, 0.13])
    """
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ways = [[float(f"{step}e{power}") for power in powers for step in steps] for steps in STEPS]
    ways += [[float(f"1e{power}") for power in powers if power % apart == 0] for apart in range(2, max(len(powers) // 2, 2))]
    for way in ways:
        ticks = [tick for tick in way if low <= tick <= high]
        if len(ticks) <= most and fits(ticks):
            break
    even = [] if len(ticks) > 3 else _even_ticks(low, high, most, fits)
    return even if len(even) > len(ticks) else ticks


def _even_ticks(low: float, high: float, most: int, fits: Callable[[Sequence[float]], bool]) -> list[float]:
    """Round numbers in even steps, for ends that are close to each other."""
    power = int(np.floor(np.log10(high - low))) - 1
    for step in (float(f"{size}e{power + more}") for more in range(3) for size in (1, 2, 5)):
        ticks = [float(f"{i * step:.6g}") for i in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
        if (high - low) / step <= most and fits(ticks):
            break
    return ticks


def _have_room(axis: Axis, ends: tuple[float, float], ticks: Sequence[float], labels: Sequence[str]) -> bool:
    """Whether what is written at ticks of a logarithmic axis, as long as it is now, keeps apart."""
    box, across = axis.axes.get_window_extent(), axis is axis.axes.xaxis
    length = (box.width if across else box.height) * 72 / figure_of_axes(axis.axes).dpi
    size = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
    sizes = np.array([text_width(label, size) if across else size for label in labels])
    places = length * np.log(np.array(ticks) / ends[0]) / np.log(ends[1] / ends[0])
    return bool((np.diff(places) >= (sizes[1:] + sizes[:-1]) / 2 + (APART if across else APART / 3)).all())
