"""The figure of the tournament: the ratio of every policy's errors to those of EGE-SR, instance by instance and sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick import plots
from paretopick.paper.policies_page import OURS
from paretopick.paper.ratios import REFERENCE, Scores, geometric_mean
from paretopick.paper.series import ALGORITHMS, SPARE_LOOKS, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

TICKS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""Of the axes of ratios."""

OUR_LOOK = Look(plots.ORANGE, "-", "D")

LEAST, MOST = 0.04, 30.0
"""Ratios beyond are drawn at the edge."""


def draw_ratios(scores: Mapping[str, Scores]) -> Figure:
    """Draws one panel for each set: the paper's instances by name, random problems sorted by the ratio, policy by policy."""
    figure, axes = plots.new_figure(1, len(scores), size=(4.0 + 3.6 * len(scores), 4.8))
    every = [policy for policy in dict.fromkeys(p for found in scores.values() for p in found.policies) if policy != REFERENCE]
    looks = {policy: look_of(policy, every) for policy in every}
    for axis, (group, found) in zip(axes, scores.items(), strict=True):
        if group == "paper":
            _by_instance(axis, found, looks)
        else:
            _sorted(axis, found, looks)
            axis.set_title(f"{group}: {len(found.problems)} random problems")
    plots.common_legend(figure, axes, columns=4)
    figure.suptitle("Errors of every policy as a ratio to those of EGE-SR; below 1 is better", fontsize=10)
    return figure


def look_of(policy: str, every: list[str]) -> Look:
    """Returns how a policy is drawn: as in the error curves, or as the next that is not in them."""
    if policy == OURS:
        return OUR_LOOK
    known = next((one for one in ALGORITHMS.values() if one.policy == policy), None)
    if known is not None:
        return known.drawn_as._replace(dash="-")
    new = [one for one in every if one != OURS and all(other.policy != one for other in ALGORITHMS.values())]
    return SPARE_LOOKS[new.index(policy) % len(SPARE_LOOKS)]


def _by_instance(axis: Axes, scores: Scores, looks: Mapping[str, Look]) -> None:
    """A row for each instance, and one for the geometric means."""
    names = [one.name for one in scores.problems]
    place = {name: len(names) - i for i, name in enumerate(names)}
    for policy, look in looks.items():
        ratios = {one.name: ratio.value for one, ratio in scores.ratios(policy).items()}
        if not ratios:
            continue
        mean = geometric_mean(list(ratios.values())).value
        x = np.clip([*ratios.values(), mean], LEAST, MOST)
        axis.plot(x, [*(place[name] for name in ratios), 0], linestyle="none", label=policy, **_marker(look))
    axis.set_yticks([*place.values(), 0], [*place, "geometric mean"])
    axis.axhline(0.5, color=plots.GREY, linewidth=0.6)
    axis.set_ylim(-0.6, len(names) + 0.6)
    axis.axvline(1.0, color=plots.BLACK, linewidth=0.9)
    axis.set_xscale("log")
    _show_ratios(axis.xaxis)
    axis.set_title("the paper's instances")


def _sorted(axis: Axes, scores: Scores, looks: Mapping[str, Look]) -> None:
    """A line for each policy: its ratios from the smallest to the largest."""
    for policy, look in looks.items():
        values = np.sort([ratio.value for ratio in scores.ratios(policy).values()])
        if not len(values):
            continue
        x = 100 * (np.arange(len(values)) + 0.5) / len(values)
        style = _marker(look) | {"markevery": max(len(values) // 8, 1)}
        axis.plot(x, np.clip(values, LEAST, MOST), linestyle=look.dash, label=policy, **style)
    axis.axhline(1.0, color=plots.BLACK, linewidth=0.9)
    axis.set_yscale("log")
    _show_ratios(axis.yaxis)
    axis.set_xlabel("problems, each policy's best first (%)")


def _marker(look: Look) -> dict[str, Any]:
    ours = look == OUR_LOOK
    return {"color": look.colour, "marker": look.marker, "markersize": 6.0 if ours else 5.0, "linewidth": 2.4 if ours else 1.3}


def _show_ratios(axis: XAxis | YAxis) -> None:
    """Says what an axis is about, and at which ratios."""
    from matplotlib.ticker import NullLocator

    low, high = axis.get_view_interval()
    shown = [tick for tick in TICKS if low <= tick <= high]
    axis.set_minor_locator(NullLocator())
    axis.set_ticks(shown, labels=[f"{tick:g}" for tick in shown])
    axis.set_label_text("ratio to EGE-SR")
