"""The picture of a plan: errors against the budget, the target, and the budget that reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretopick.planning import Plan
from paretopick.planning.plans import limits_of, wrong
from paretopick.plots.curves import Line, plan
from paretopick.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, look, new_figure
from paretopick.simulation import ErrorCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY)
MARKERS = "osD^vP"


def plan_of(planned: Plan) -> Figure:
    """Returns the picture of a plan; of a pilot, also the error in the easiest and the hardest quarter of what it leaves open."""
    lines = [
        _line(curve, label, COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)])
        for i, (curve, label) in enumerate(zip(planned.curves, planned.labels, strict=True))
    ]
    beside = []
    if planned.if_right is not None:
        label = planned.labels[planned.best]
        beside = [
            _line(planned.quarters[0], f"{label}, easiest quarter", GREY),
            _line(planned.quarters[-1], f"{label}, hardest quarter", BLACK),
            _line(planned.if_right, f"{label}, if the pilot is right", COLOURS[planned.best % len(COLOURS)]),
        ]
    found = planned.recommendation
    with look():
        figure, (axes,) = new_figure(size=(6.8, 4.6))
        plan(axes, lines, target=planned.target, chosen=None if found is None else (found.budget, found.rate), truth=beside)
    return figure


def _line(curve: ErrorCurve, label: str, colour: str, *, marker: str = "") -> Line:
    limits, budgets = limits_of(curve), np.array(curve.budgets, dtype=np.float64)
    return Line(label, budgets, wrong(curve) / curve.runs, limits[:, 0], limits[:, 1], colour, marker=marker)
