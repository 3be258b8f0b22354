"""Rates against a budget, or against anything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.plots.labels import write_names
from paretopick.plots.style import BLACK, legend_above
from paretopick.plots.texts import legible, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

STEPS = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 1.5, 2, 3, 5, 7), (1, 2.5, 5), (1, 3), (1,))
"""Ticks of a logarithmic axis within a power of ten, from many to few."""


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


def plan(
    axes: Axes,
    lines: Sequence[Line],
    *,
    target: float | None = None,
    chosen: tuple[float, float] | None = None,
    truth: Sequence[Line] = (),
) -> Axes:
    """Draws error rates against the budget, both on logarithmic axes, with 95% bands.

    Where no error was seen, an arrow hangs from the upper limit.

    Args:
        axes: to draw on.
        lines: one for each policy.
        target: the error rate that is wanted.
        chosen: the budget that was chosen, and its error rate.
        truth: dashed lines besides, such as the error if the means of the pilot were exactly right.
    """
    entries: list[tuple[str, Any]] = []
    for line in lines:
        (drawn,) = axes.plot(*_seen(line), color=line.colour, linestyle=line.dash, marker=line.marker)
        _band_and_limits(axes, line)
        entries.append((shortened(legible(line.label), 40), drawn))
    for line in truth:
        (drawn,) = axes.plot(*_seen(line), color=line.colour, linestyle=(0, (4, 2)), linewidth=1.0)
        entries.append((shortened(legible(line.label), 40), drawn))
    if target is not None:
        entries.append((f"target {_percent(target)}", axes.axhline(target, color=BLACK, linestyle="--", linewidth=0.9)))
    _logarithmic(axes, [*lines, *truth], [target] if target else [], chosen)
    axes.set_xlabel("budget (measurements)")
    axes.set_ylabel("probability of a wrong answer")
    legend_above(axes, entries)
    if chosen is not None:
        axes.plot(*chosen, "*", color=BLACK, markersize=11, markeredgecolor="white", markeredgewidth=0.7, zorder=4)
        label = f"{chosen[0]:,.0f} measurements: {_percent(chosen[1])}"
        points = np.vstack([np.array([chosen]), *(_seen(line).T[line.rate > 0] for line in lines)])
        write_names(axes, np.array([chosen]), [label], [BLACK], points, size=8)
    return axes


def _seen(line: Line) -> FloatArray:
    """Budgets and rates, NaN where no error was seen."""
    return np.array((line.x, np.where(line.rate > 0, line.rate, np.nan)))


def _band_and_limits(axes: Axes, line: Line) -> None:
    seen = line.rate > 0
    band = seen & (line.low > 0)
    low, high = (np.where(band, edge, np.nan) for edge in (line.low, line.high))
    axes.fill_between(line.x, low, high, color=line.colour, alpha=0.15, linewidth=0)
    limits = line.high[~seen]
    style: dict[str, Any] = {"linestyle": "none", "color": line.colour, "capsize": 3, "elinewidth": 1.0}
    axes.errorbar(line.x[~seen], limits, yerr=0.25 * limits, uplims=True, **style)


def _logarithmic(axes: Axes, lines: Sequence[Line], rates: Sequence[float], chosen: tuple[float, float] | None) -> None:
    """Limits and ticks that people can read: 500, 1,000, 2,500 and 10%, 1%, 0.1%."""
    budgets = np.concatenate([*(line.x for line in lines), [chosen[0]] if chosen else []])
    shown = [np.where(line.rate > 0, line.rate, 0.7 * line.high) for line in lines]
    edges = [edge[edge > 0] for line in lines for edge in (line.low, line.high)]
    errors = np.concatenate([*shown, *edges, rates, [chosen[1]] if chosen else []])
    errors = errors[errors > 0]
    axes.set(xscale="log", yscale="log")
    if len(budgets):
        low, high = budgets.min(), budgets.max()
        room = max((high / low) ** 0.04, 1.05)
        axes.set_xlim(low / room, high * room)
        _ticks(axes.xaxis, low / room, high * room, [f"{tick:,.6g}" for tick in log_ticks(low / room, high * room)])
    if len(errors):
        low, high = errors.min(), min(errors.max(), 1.0)
        room = max((high / low) ** 0.06, 1.1)
        axes.set_ylim(low / room, high * room)
        _ticks(axes.yaxis, low / room, high * room, [_percent(tick) for tick in log_ticks(low / room, high * room)])


def _ticks(axis: Axis, low: float, high: float, labels: Sequence[str]) -> None:
    from matplotlib.ticker import NullLocator

    axis.set_ticks(log_ticks(low, high), labels=list(labels))
    axis.set_minor_locator(NullLocator())


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Returns round numbers between two ends for a logarithmic axis, as many as there is room for.

    >>> log_ticks(300.0, 6000.0)
    [500.0, 1000.0, 2500.0, 5000.0]
    """
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for steps in STEPS:
        ticks = [float(f"{step}e{power}") for power in powers for step in steps if low <= float(f"{step}e{power}") <= high]
        if len(ticks) <= most:
            break
    if len(ticks) >= 2:
        return ticks
    return [float(f"{tick:.3g}") for tick in np.geomspace(low, high, 6)[1:-1]]


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.3g}%"
