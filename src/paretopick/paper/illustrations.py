"""Entries that draw instances rather than results: arms, gaps, and the lower bound's alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick import plots
from paretopick._arrays import FloatArray
from paretopick.bandits import Bandit, Gaussian
from paretopick.instances import FROM_FILE
from paretopick.paper.contestants import EGE_SH, EGE_SR, UNIFORM, Contestant
from paretopick.paper.entries import Entry, Rows, line_of, rate_and_interval, setting
from paretopick.paper.evidence import Evidence
from paretopick.paper.ledger import Point
from paretopick.paper.series import Series
from paretopick.plots import BLACK, GREY, PURPLE, VERMILION
from paretopick.theory import bounds
from paretopick.theory.complexity import complexity
from paretopick.theory.dominance import excess, pareto_mask
from paretopick.theory.gaps import gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ArmsFigure(Entry):
    """The arms of an instance in two objectives."""

    @property
    def shareable(self) -> bool:
        """Means from a file that is not shipped stay with whoever has it."""
        return not FROM_FILE.intersection(self.instances)

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each arm."""
        bandit = evidence.bandit(self.instances[0])
        return [
            {"arm": name, **_named(bandit, mean), "optimal": bool(best), "gap": float(gap)}
            for name, mean, best, gap in zip(bandit.arm_names, bandit.means, bandit.optimal, bandit.gaps, strict=True)
        ]

    def draw(self, evidence: Evidence) -> Figure:
        """All arms and the front."""
        bandit = evidence.bandit(self.instances[0])
        figure, (axis,) = plots.new_figure(size=(5.2, 4.6))
        plots.arms(axis, bandit.means, labels=[name.replace("_", " ") for name in bandit.objective_names])
        axis.legend()
        axis.set_title(f"{self.title}\n{setting(bandit)}")
        return figure


def _named(bandit: Bandit, mean: FloatArray) -> dict[str, float]:
    return dict(zip(bandit.objective_names, map(float, mean), strict=True))


FOUR_ARMS = {"i": (-4.5, -1.0), "j": (-2.0, 2.0), "k": (3.0, 0.5), "l": (1.5, -3.0)}
"""The arms of the paper's illustration of the gaps."""


@dataclass(frozen=True)
class GapsFigure(Entry):
    """What m(i, j), M(i, j) and the gaps are, on four arms."""

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each ordered pair of arms, and the gap of the first."""
        means = np.array(list(FOUR_ARMS.values()))
        M, gap, optimal = excess(means, means), gaps(means), pareto_mask(means)
        return [
            {
                "arm": a,
                "other": b,
                "m": float(-M[i, j]),
                "M": float(M[i, j]),
                "optimal": bool(optimal[i]),
                "gap": float(gap[i]),
            }
            for i, a in enumerate(FOUR_ARMS)
            for j, b in enumerate(FOUR_ARMS)
            if i != j
        ]

    def draw(self, evidence: Evidence) -> Figure:
        """Dashed: by how much a dominated arm is below an optimal one. Plain: how far optimal arms are from each other."""
        i, j, k, low = map(np.array, FOUR_ARMS.values())
        figure, (axis,) = plots.new_figure(size=(4.8, 4.4))
        plots.arms(axis, np.array([i, j, k, low]), names=list(FOUR_ARMS))
        _arrow(axis, i, (j[0], i[1]), "m(i, j)", "--")
        _arrow(axis, i, (i[0], k[1]), "m(i, k)", "--")
        _arrow(axis, low, (k[0], low[1]), "m(l, k)", "--")
        _arrow(axis, k, (k[0], j[1]), "M(j, k)", "-", PURPLE)
        _arrow(axis, j, (k[0], j[1]), "M(k, j)", "-", PURPLE)
        _arrow(axis, (j[0], -4.0), (low[0], -4.0), "M(l, j)", ":", PURPLE)
        values = gaps(np.array([i, j, k, low]))
        text = "\n".join(f"gap of {name} = {value:g}" for name, value in zip(FOUR_ARMS, values, strict=True))
        axis.annotate(text, (0.02, 0.02), xycoords="axes fraction", fontsize=8)
        axis.set(xlim=(-5.6, 4.6), ylim=(-5.4, 3.2))
        axis.legend(loc="upper left")
        axis.set_title(self.title)
        return figure


@dataclass(frozen=True)
class LowerBoundFigure(Entry):
    """An instance of class B, its four alternatives, and the error on the worst of the five beside the lower bound."""

    means: tuple[tuple[float, float], ...] = ((-2.5, 3.0), (-3.0, 1.0), (2.0, -0.5), (1.5, -3.0))
    budgets: tuple[int, ...] = (8, 16, 24, 32, 40, 48)
    std: float = 1.0

    def bandits(self) -> list[Bandit]:
        """The instance and its alternatives."""
        means = np.array(self.means)
        names = ["lower-bound", *(f"lower-bound-{i + 1}" for i in range(len(means)))]
        several = [means, *bounds.alternatives(means)]
        return [Bandit(points, Gaussian(std=self.std), name=name) for points, name in zip(several, names, strict=True)]

    def tried(self, contestant: Contestant) -> list[Series]:
        """The runs of a contestant on each of the five."""
        return [Series(bandit, contestant.policy, {}, self.budgets) for bandit in self.bandits()]

    def worst(self, evidence: Evidence, contestant: Contestant) -> list[Point]:
        """For each budget the point with the largest error among the five instances."""
        several = [evidence.points(series) for series in self.tried(contestant)]
        return [max(points, key=lambda point: point.curve.rate[0]) for points in zip(*several, strict=True)]

    def bound(self, budget: int) -> float:
        """The lower bound, the same for the five."""
        return bounds.lower_bound(np.array(self.means), budget, sigma=self.std)

    def series(self, evidence: Evidence) -> list[Series]:
        """Three policies on five instances."""
        return [series for one in (UNIFORM, EGE_SR, EGE_SH) for series in self.tried(one)]

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each policy, instance and budget."""
        rows = []
        for one in (UNIFORM, EGE_SR, EGE_SH):
            for series in self.tried(one):
                H = complexity(series.bandit.means)
                optimal = " ".join(str(arm + 1) for arm in np.flatnonzero(series.bandit.optimal))
                for point in evidence.points(series):
                    rate, low, high = rate_and_interval(point)
                    head: dict[str, Any] = {"instance": series.bandit.name, "optimal": optimal, "H": H, "contestant": one.name}
                    numbers = {"runs": point.runs, "errors": int(point.curve.errors[0]), "rate": rate, "low": low, "high": high}
                    rows.append({**head, "budget": point.budget, **numbers, "lower_bound": self.bound(point.budget)})
        return rows

    def draw(self, evidence: Evidence) -> Figure:
        """Five small panels, and the errors below."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.6, 5.2), layout="constrained")
        grid = figure.add_gridspec(2, 5, height_ratios=(1, 1.5))
        base = np.array(self.means)
        for i, bandit in enumerate(self.bandits()):
            axis = figure.add_subplot(grid[0, i])
            plots.arms(axis, bandit.means, names=[str(arm + 1) for arm in range(len(base))], labels=("", ""))
            for arm in np.flatnonzero((bandit.means != base).any(axis=1)):
                _arrow(axis, base[arm], bandit.means[arm], "", "--", VERMILION)
            axis.set(xlim=(-4.2, 3.5), ylim=(-3.9, 3.9))
            axis.set_title("instance" if i == 0 else f"alternative {i}")
        axis = figure.add_subplot(grid[1, :])
        lines = []
        for one in (UNIFORM, EGE_SR, EGE_SH):
            label = f"{one.label}, worst of the five"
            lines.append(line_of(label, self.worst(evidence, one), one.colour, one.dash, one.marker))
        plots.log_rates(axis, lines, xlabel="budget T")
        limits = [np.log10(self.bound(budget)) for budget in self.budgets]
        axis.plot(self.budgets, limits, color=BLACK, linestyle=":", label="lower bound for any policy")
        axis.legend()
        figure.suptitle(f"{self.title}; H = {complexity(base):g} in all five, sigma = {self.std:g}", fontsize=10)
        return figure


def _arrow(axis: Axes, start: object, end: object, label: str, dash: str, colour: str = GREY) -> None:
    (x, y), (u, v) = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    arrow = {"arrowstyle": "->", "linestyle": dash, "color": colour, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", (u, v), (x, y), arrowprops=arrow)
    offset = (0, 3) if y == v else (3, 0)
    axis.annotate(label, ((x + u) / 2, (y + v) / 2), offset, textcoords="offset points", fontsize=8, color=colour)
