"""Errors against the budget: of a plan, with its target and the budget that reaches it, and of any simulations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick.planning import Plan
from paretopick.planning.plans import limits_of, wrong
from paretopick.plots.curves import Line, plan
from paretopick.plots.pictures import Part, drawn
from paretopick.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, look, new_figure, write_title
from paretopick.plots.texts import fitted, legible, plain, short_names
from paretopick.simulation import ErrorCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY)
MARKERS = "osD^vP"
DASHES = ("-", "--", ":", "-.")
"""Lines differ in colour and marker, and where these come again in their dashes."""

SIZE = (6.8, 4.6)
"""Inches."""

PANEL = (4.6, 3.9)
"""Inches of each of several."""


def plan_of(planned: Plan) -> Figure:
    """Returns the picture of a plan; of a pilot, also the error in the easiest and the hardest quarter of what it leaves open."""
    with look():
        return drawn([plan_part(planned)], "")


def plan_part(planned: Plan) -> Part:
    """Returns the picture of a plan, as a part of a figure."""
    lines = _lines(planned.curves, planned.labels)
    beside = []
    if planned.if_right is not None:
        label = planned.labels[planned.best]
        beside = [
            _line(planned.quarters[0], f"{label}, easiest quarter", GREY),
            _line(planned.quarters[-1], f"{label}, hardest quarter", BLACK),
            _line(planned.if_right, f"{label}, if the pilot is right", COLOURS[planned.best % len(COLOURS)]),
        ]
    found = planned.recommendation
    chosen = None if found is None else (found.budget, found.rate)
    return Part((), SIZE, lambda axes: plan(axes[0], lines, target=planned.target, chosen=chosen, truth=beside))


def curves_of(groups: Mapping[str, Sequence[ErrorCurve]], labels: Sequence[str]) -> Figure:
    """Returns the picture of errors against the budget, with a panel for each instance.

    Args:
        groups: the curves of each instance, all in the order of the labels.
        labels: of the policies.
    """
    columns = min(len(groups), 3)
    rows = -(-len(groups) // columns)
    size = SIZE if len(groups) == 1 else (PANEL[0] * columns, PANEL[1] * rows)
    with look():
        figure, panels = new_figure(rows, columns, size=size)
        for one in panels[len(groups) :]:
            one.remove()
        for one, (name, curves) in zip(panels, groups.items(), strict=False):
            title = fitted(legible(name), 60 * size[0] / columns, 10)
            one.set_title(title, loc="left", **plain(title)) if len(groups) > 1 else write_title(figure, name)
            curves_part(curves, labels[: len(curves)]).draw([one])
    return figure


def curves_part(curves: Sequence[ErrorCurve], labels: Sequence[str]) -> Part:
    """Returns the picture of errors against the budget: those within margins, where a curve has some."""
    within = [curve.margins is not None for curve in curves]
    said = "probability of a wrong answer"
    if all(within):
        said = f"{said} within the margins"
    elif any(within):
        labels = [f"{label}, within margins" if has else label for label, has in zip(labels, within, strict=True)]
    lines = _lines(curves, labels)

    def draw(axes: list[Axes]) -> Any:
        return plan(axes[0], lines, ylabel=said)

    arrows = " Arrows: no error was seen, and the rate is below." if any((line.rate == 0).any() for line in lines) else ""
    return Part((f"Bands: 95% intervals of the rates.{arrows}",), SIZE, draw)


def labels_of(curves: Sequence[ErrorCurve]) -> tuple[str, ...]:
    """Returns names by which curves can be told apart: the policy, and where they differ in that the instance."""
    several = len({curve.instance for curve in curves}) > 1
    named = [f"{_policy(curve)}{f' on {curve.instance}' if several else ''}" for curve in curves]
    return short_names(named, 40)


def _policy(curve: ErrorCurve) -> str:
    told = ", ".join(f"{key}={value}" for key, value in curve.options.items() if (key, value) != ("spend", "all"))
    return f"{curve.policy} ({told})" if told else curve.policy


def _lines(curves: Sequence[ErrorCurve], labels: Sequence[str]) -> list[Line]:
    n = len(COLOURS)
    return [
        _line(curve, label, COLOURS[i % n], marker=MARKERS[i % n], dash=DASHES[i // n % len(DASHES)])
        for i, (curve, label) in enumerate(zip(curves, labels, strict=True))
    ]


def _line(curve: ErrorCurve, label: str, colour: str, *, marker: str = "", dash: str = "-") -> Line:
    limits, budgets = limits_of(curve), np.array(curve.budgets, dtype=np.float64)
    return Line(label, budgets, wrong(curve) / curve.runs, limits[:, 0], limits[:, 1], colour, dash=dash, marker=marker)
