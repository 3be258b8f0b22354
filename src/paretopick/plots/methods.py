"""What the ``plot`` methods of results, studies, plans and curves do: draw onto axes that are given, or onto a new figure.

A new figure is made with pyplot, so that a notebook shows it by itself, and ``plt.show()`` and ``plt.savefig()`` do in a script.
No setting of matplotlib is changed for what is drawn later.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import check_choice, check_sequence
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.planning import Plan
from paretopick.plots.course import CourseData
from paretopick.plots.pictures import PICTURES, Part, course_part, drawn, figure_size, part_of, parts_of_result, title_of
from paretopick.plots.plans import curves_part, labels_of, plan_part
from paretopick.plots.room import laid_out, make_room
from paretopick.plots.style import LOOK, look
from paretopick.plots.texts import legible, plain, shortened
from paretopick.simulation import ErrorCurve
from paretopick.studies.course import course_of
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paretopick.studies.study import Study

KINDS_OF_STUDIES = (*PICTURES, "course")


def plot_result(
    result: ParetoResult,
    kind: str | None = None,
    ax: Any = None,
    *,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
) -> Any:
    """Draws a result; see ``ParetoResult.plot``."""
    as_usual = kind is None and ax is None and x is None and y is None
    parts = parts_of_result(result) if as_usual else [part_of(result, kind, x, y)]
    return _drawn(parts, ax, title, title_of(result, None))


def plot_study(
    study: Study,
    kind: str | None = None,
    ax: Any = None,
    *,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
) -> Any:
    """Draws a study; see ``Study.plot``."""
    if kind is not None:
        check_choice(kind, KINDS_OF_STUDIES, "kind of picture")
    if kind != "course":
        return plot_result(study.result(), kind, ax, x=x, y=y, title=title)
    if x is not None or y is not None:
        raise InvalidInput("kind='course' has no metrics to choose; leave out x= and y=.")
    found = course_of(study.definition, study.events())
    what = "" if found is None else f": {CourseData.of(found).title}"
    return _drawn([course_part(found, study.used)], ax, title, f"{shortened(legible(study.name), 40)}{what}")


def plot_plan(planned: Plan, ax: Any = None, *, title: str | None = None) -> Axes:
    """Draws a plan; see ``Plan.plot``."""
    drawn_on: Axes = _drawn([plan_part(planned)], ax, title, f"Planned from {planned.source}")
    return drawn_on


def plot_curves(
    curves: Sequence[ErrorCurve] | ErrorCurve,
    ax: Any = None,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Draws how often policies are wrong against their budgets, with 95% bands, and returns the Axes.

    Both axes are logarithmic. Where no error was seen, an arrow hangs from the upper limit of the rate. Of curves that were
    simulated with margins or limits, errors are those within them.

    ::

        bandit = pp.instance("cov-boost")
        curves = [pp.simulate(bandit, policy, budgets=[500, 1000, 2000], runs=1000) for policy in ("doubt", "ege-sr", "uniform")]
        pp.plot_curves(curves)

    Args:
        curves: what ``pp.simulate`` returns, one or several.
        ax: the Axes to draw on; by default those of a new figure.
        labels: a name for each curve in the legend; by default the policy, and the instance if there are several.
        title: above the picture; by default the instance and the number of runs on a new figure, and none on ``ax``.
    """
    listed = [curves] if isinstance(curves, ErrorCurve) else check_sequence(curves, "curves", "is no list of curves")
    if not listed:
        raise InvalidInput("curves=[] has no curve to draw; pass what pp.simulate returned.")
    for one in listed:
        if not isinstance(one, ErrorCurve):
            raise InvalidInput(f"curves has {short(one)}, which is no curve; pass what pp.simulate returned.")
    names = list(labels_of(listed)) if labels is None else check_sequence(labels, "labels", "is no list of texts")
    if len(names) != len(listed) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"labels={short(labels)} must be a text for each of the curves, of which there are {len(listed)}.")
    instances = list(dict.fromkeys(curve.instance for curve in listed))
    runs = sorted({curve.runs for curve in listed})
    made = f"{runs[0]:,} runs" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,} runs"
    usual = f"{instances[0]}, {made}" if len(instances) == 1 else f"{len(instances)} instances, {made}"
    drawn_on: Axes = _drawn([curves_part(listed, names)], ax, title, usual)
    return drawn_on


def _drawn(parts: Sequence[Part], ax: Any, title: str | None, usual_title: str) -> Any:
    """Draws parts onto a new figure, or the first one onto axes that are given; returns the axes of the first one."""
    if title is not None and not isinstance(title, str):
        raise InvalidInput(f"title={short(title)} is no text.")
    first = parts[0]
    if ax is None:
        figure = _new_figure(figure_size(parts))
        with look():
            drawn(parts, usual_title if title is None else title, figure)
        panels = figure.axes[: first.side**2]
        figure.sca(panels[0])
    else:
        panels = _given(ax, first)
        if title:
            shown = legible(title)
            panels[0].set_title(shown, **plain(shown))
        with look():
            first.draw(panels)
            laid_out(panels[0])  # what is written then suits the axes as a layout engine has made them
            make_room(panels)
    if first.side == 1:
        return panels[0]
    square = np.empty(len(panels), dtype=object)
    square[:] = panels
    return square.reshape(first.side, first.side)


def _new_figure(size: tuple[float, float]) -> Figure:
    """A figure that pyplot knows.

    A notebook closes its figures after each cell, so that no number of them is too many. It is not made within ``look``: what
    the first figure of a notebook has pyplot set, so that later ones are shown, too, would be gone in the end.
    """
    import matplotlib
    from matplotlib import pyplot as plt

    with warnings.catch_warnings():
        if "inline" in matplotlib.get_backend():
            warnings.filterwarnings("ignore", message="More than .* figures have been opened", category=RuntimeWarning)
        return plt.figure(figsize=size, layout="constrained", dpi=LOOK["figure.dpi"])


def _given(ax: Any, part: Part) -> list[Axes]:
    """The axes that somebody gives, as many as a picture takes, row by row."""
    from matplotlib.axes import Axes

    needed = part.side**2
    if isinstance(ax, Axes):
        given: list[Any] = [ax]
    else:
        try:
            given = list(np.array(ax, dtype=object).ravel())
        except (TypeError, ValueError):
            given = []
    if not given or not all(isinstance(one, Axes) for one in given):
        raise InvalidInput(f"ax={short(ax)} is not what to draw on; pass Axes of matplotlib, such as ax=plt.gca().")
    if len(given) != needed:
        how = "one Axes" if needed == 1 else f"{needed} Axes: ax=plt.subplots({part.side}, {part.side})[1]"
        raise InvalidInput(f"this picture needs {how}, and ax has {len(given)}.")
    return given
