"""Logarithmic axes: when, between which ends, and with which ticks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric
from paretopick.plots.texts import numbers

if TYPE_CHECKING:
    from matplotlib.axis import Axis

STEPS = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2.5, 5), (1, 3), (1,))
"""Ticks of a logarithmic axis within a power of ten, from many to few."""

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
    ticks = log_ticks(*ends)
    axis.set_ticks(ticks, labels=[text(tick) if text else numbers([tick])[0] for tick in ticks])


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Returns round numbers between two ends of a logarithmic axis, as many as there is room for.

    >>> log_ticks(300.0, 6000.0), log_ticks(0.073, 0.13)
    ([500.0, 1000.0, 2500.0, 5000.0], [0.08, 0.09, 0.1, 0.11, 0.12, 0.13])
    """
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for steps in STEPS:
        ticks = [float(f"{step}e{power}") for power in powers for step in steps if low <= float(f"{step}e{power}") <= high]
        if len(ticks) <= most:
            break
    return ticks if len(ticks) > 3 else _even_ticks(low, high, most)


def _even_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers in even steps, for ends that are close to each other."""
    power = int(np.floor(np.log10(high - low))) - 1
    for step in (float(f"{size}e{power + more}") for more in range(3) for size in (1, 2, 5)):
        if (high - low) / step <= most:
            break
    return [float(f"{i * step:.6g}") for i in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
