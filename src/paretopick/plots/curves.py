"""Rates against a budget, or against anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.plots.labels import Names
from paretopick.plots.room import arranged, laid_out
from paretopick.plots.style import BLACK, AxisLabel, label_axes, legend_above
from paretopick.plots.texts import legible, shortened
from paretopick.plots.ticks import log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


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
    ylabel: str = "probability of a wrong answer",
) -> Axes:
    """Draws error rates against the budget, both on logarithmic axes, with 95% bands.

    Where no error was seen, an arrow hangs from the upper limit.

    Args:
        axes: to draw on.
        lines: one for each policy.
        target: the error rate that is wanted.
        chosen: the budget that was chosen, and its error rate.
        truth: dashed lines besides, such as the error if the means of the pilot were exactly right.
        ylabel: what the rates are of.
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
    label_axes(axes, (AxisLabel("budget", "measurements, log scale"), AxisLabel(ylabel, "log scale")))
    star = None if chosen is None else (chosen[0], chosen[1] or _upper_limit(lines, chosen[0]))
    _scale(axes, [*lines, *truth], target, star)
    legend_above(axes, entries)
    if chosen is not None and star is not None:
        axes.plot(*star, "*", color=BLACK, markersize=11, markeredgecolor="white", markeredgewidth=0.7, zorder=4)
        text = f"{chosen[0]:,.0f} measurements: {'' if chosen[1] else 'below '}{_percent(star[1])}"
        drawn_lines = [_seen(line) for line in (*lines, *truth)]
        wanted = [] if target is None else [np.array((axes.get_xlim(), (target, target)))]
        laid_out(axes)
        name = Names(axes, np.array([star]), [text], [BLACK], np.array([star]), lines=[*drawn_lines, *wanted], size=8)
        arranged(axes, name.arrange)
    return axes


def _seen(line: Line) -> FloatArray:
    """Budgets and rates, NaN where no error was seen."""
    return np.array((line.x, np.where(line.rate > 0, line.rate, np.nan)))


def _upper_limit(lines: Sequence[Line], budget: float) -> float:
    """The smallest upper limit at a budget at which a line saw no error; else what can be drawn instead of nothing."""
    limits = [high for line in lines for high in line.high[(line.x == budget) & (line.rate == 0)]]
    return float(min(limits, default=min((high for line in lines for high in line.high), default=0.01)))


def _band_and_limits(axes: Axes, line: Line) -> None:
    seen = line.rate > 0
    band = seen & (line.low > 0)
    low, high = (np.where(band, edge, np.nan) for edge in (line.low, line.high))
    axes.fill_between(line.x, low, high, color=line.colour, alpha=0.15, linewidth=0)
    style: dict[str, Any] = {"linestyle": "none", "color": line.colour, "capsize": 3, "elinewidth": 1.0}
    if band.sum() == 1:  # which makes no band
        axes.vlines(line.x[band], low[band], high[band], color=line.colour, linewidth=1.0)
    limits = line.high[~seen]
    axes.errorbar(line.x[~seen], limits, yerr=0.25 * limits, uplims=True, **style)


def _scale(axes: Axes, lines: Sequence[Line], target: float | None, star: tuple[float, float] | None) -> None:
    """Logarithmic axes with room for everything, and ticks that people can read: 500, 1,000, 2,500 and 10%, 1%, 0.1%."""
    budgets = [*(budget for line in lines for budget in line.x), *(star[:1] if star else ())]
    shown = [np.where(line.rate > 0, line.rate, 0.7 * line.high) for line in lines]
    edges = [edge for line in lines for edge in (line.low, line.high)]
    rates = [*(rate for part in (*shown, *edges) for rate in part), target or 0.0, *(star[1:] if star else ())]
    axes.set(xscale="log", yscale="log")
    _room(axes.xaxis, budgets, lambda tick: f"{tick:,.6g}" if tick % 1 else f"{tick:,.0f}")
    _room(axes.yaxis, rates, _percent)


def _room(axis: Axis, values: Sequence[float], text: Callable[[float], str]) -> None:
    """Ends and ticks of a logarithmic axis."""
    positive = [value for value in values if value > 0]
    if not positive:
        axis.set_ticks([])
        axis.set_ticks([], minor=True)
        return
    low, high = min(positive), max(positive)
    room = max((high / low) ** 0.05, 1.08)
    log_axis(axis, (low / room, high * room), text)


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.3g}%"
