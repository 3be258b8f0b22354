"""Entries that are figures: errors, losses, hypervolumes and times, and pictures of arms and gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick import plots
from paretopick._arrays import FloatArray
from paretopick.bandits import Bandit, Bernoulli, Gaussian
from paretopick.instances import FROM_FILE
from paretopick.paper.database import Point
from paretopick.paper.entries import Entry, Results, Rows, line_of, loss_row, numbers_of_runs, point_row, setting
from paretopick.paper.series import ALGORITHMS, EGE_SH, EGE_SR, UNIFORM, Algorithm, Look, Scale, Series, affordable
from paretopick.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from paretopick.theory.dominance import excess, pareto_mask
from paretopick.theory.gaps import gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = (BLACK, SKY, BLUE, GREEN, ORANGE, VERMILION, PURPLE, YELLOW)
MARKERS = ("o", "s", "D", "^", "*", "v", "x", "P")


@dataclass(frozen=True)
class ErrorFigure(Entry):
    """The error rate of every algorithm on one instance, up to the paper's budget."""

    def line(self, results: Results, algorithm: Algorithm) -> Series:
        """The runs of one algorithm."""
        return results.curve(self.instances[0], algorithm)

    def series(self, results: Results) -> list[Series]:
        """One for each algorithm."""
        return [self.line(results, one) for one in ALGORITHMS.values()]

    def rows(self, results: Results) -> Rows:
        """One row for each algorithm and budget."""
        return [
            {"algorithm": one.name, **point_row(point)}
            for one in ALGORITHMS.values()
            for point in results.points(self.line(results, one))
        ]

    def draw(self, results: Results) -> Figure:
        """Two panels: APE-FB with c as in the paper's text, and with 9 c, as its curves were drawn."""
        points = {one.name: results.points(self.line(results, one)) for one in ALGORITHMS.values()}
        every = [point for several in points.values() for point in several]
        most = max(point.runs for point in every)
        figure, axes = plots.new_figure(1, 2, size=(8.4, 4.3), sharey=True)
        titles: dict[Scale, str] = {"text": "APE-FB with c as in the text", "drawn": "APE-FB with 9 c, as the paper's curves"}
        for axis, (scale, title) in zip(axes, titles.items(), strict=True):
            shown = [one for one in ALGORITHMS.values() if scale in one.scales]
            plots.log_rates(axis, [self._line(one, points[one.name], most) for one in shown], xlabel="budget T")
            axis.set_title(title)
        axes[1].set_ylabel("")
        plots.common_legend(figure, axes, columns=5)
        bandit = results.bandit(self.instances[0])
        figure.suptitle(f"{self.title}\n{setting(bandit)}; {numbers_of_runs(every)}", fontsize=10)
        return figure

    def _line(self, one: Algorithm, points: Sequence[Point], most: int) -> plots.Line:
        fewer = f", N = {points[0].runs}" if points and points[0].runs < most else ""
        return line_of(one.label + fewer, points, one.drawn_as)


@dataclass(frozen=True)
class RelaxedFigure(Entry):
    """The PSI-k loss of EGE-SR-k for several k."""

    sizes: tuple[int, ...] = ()

    def relaxed(self, results: Results, k: int) -> Series:
        """EGE-SR-k at all budgets."""
        return results.relaxed(self.instances[0], k)

    def series(self, results: Results) -> list[Series]:
        """One for each k."""
        return [self.relaxed(results, k) for k in self.sizes]

    def rows(self, results: Results) -> Rows:
        """One row for each k and budget."""
        return [{"k": k, **loss_row(point)} for k in self.sizes for point in results.points(self.relaxed(results, k))]

    def draw(self, results: Results) -> Figure:
        """One line for each k, with an asterisk at the size of the Pareto set."""
        bandit = results.bandit(self.instances[0])
        n_optimal, n = int(bandit.optimal.sum()), len(self.sizes)
        figure, (axis,) = plots.new_figure(size=(5.8, 4.2))
        points = {k: results.points(self.relaxed(results, k)) for k in self.sizes}
        lines = []
        for k, colour, marker in zip(self.sizes, PALETTE[:n], MARKERS[:n], strict=True):
            label, dash = f"k = {k}" + ("*" if k == n_optimal else ""), ":" if k > n_optimal else "-"
            lines.append(line_of(label, points[k], Look(colour, dash, marker), "relaxed_losses"))
        plots.log_rates(axis, lines, xlabel="budget T", ylabel="log10 of the PSI-k loss")
        axis.legend(title="* the Pareto set's size", ncols=2)
        every = [point for several in points.values() for point in several]
        axis.set_title(f"{self.title}\n{setting(bandit)}; {numbers_of_runs(every)}")
        return figure


@dataclass(frozen=True)
class HypervolumeFigure(Entry):
    """The hypervolume fraction of what EGE-SR-k returns at the paper's budget, against k."""

    sizes: tuple[int, ...] = ()

    def covered(self, results: Results, k: int) -> Series:
        """EGE-SR-k at the paper's budget."""
        return results.relaxed(self.instances[0], k, at_the_end=True)

    def series(self, results: Results) -> list[Series]:
        """One for each k."""
        return [self.covered(results, k) for k in self.sizes]

    def rows(self, results: Results) -> Rows:
        """One row for each k."""
        rows = []
        for k in self.sizes:
            for point in results.points(self.covered(results, k)):
                low, high = point.curve.hypervolume_interval()[0]
                rows.append({"k": k, **loss_row(point), "hypervolume_low": float(low), "hypervolume_high": float(high)})
        return rows

    def draw(self, results: Results) -> Figure:
        """The fraction against k."""
        bandit = results.bandit(self.instances[0])
        points = [point for k in self.sizes for point in results.points(self.covered(results, k))]
        intervals = np.array([point.curve.hypervolume_interval()[0] for point in points])
        mean = np.array([point.curve.hypervolume[0] for point in points])
        figure, (axis,) = plots.new_figure(size=(5.8, 3.8))
        line = plots.Line("EGE-SR-k", np.array(self.sizes), mean, intervals[:, 0], intervals[:, 1], BLUE)
        plots.shares(axis, [line], xlabel="k", ylabel="hypervolume fraction")
        axis.axvline(int(bandit.optimal.sum()), color=BLACK, linewidth=0.8, linestyle=":")
        axis.annotate("|S*|", (int(bandit.optimal.sum()), axis.get_ylim()[0]), (3, 3), textcoords="offset points")
        axis.set_xticks(self.sizes)
        axis.set_title(f"{self.title}\n{setting(bandit)}\nT = {bandit.budget}; {numbers_of_runs(points)}")
        return figure


@dataclass(frozen=True)
class RuntimeFigure(Entry):
    """How long a run of EGE takes, against the number of arms."""

    n_objectives: int = 2
    budget: int = 1000
    n_arms: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)

    def timed(self, algorithm: Algorithm) -> list[Series]:
        """The runs of one algorithm, one series for each number of arms that the budget is enough for."""
        several = []
        for K in self.n_arms:
            bandit = _random_bandit(K, self.n_objectives)
            if affordable(bandit, algorithm.policy, {}, (self.budget,)):
                several.append(Series(bandit, algorithm.policy, {}, (self.budget,), share=0.5, timed=True))
        return several

    def series(self, results: Results) -> list[Series]:
        """EGE-SR and EGE-SH for every number of arms."""
        return [series for one in (EGE_SR, EGE_SH) for series in self.timed(one)]

    def rows(self, results: Results) -> Rows:
        """One row for each policy and number of arms; times differ from machine to machine and from run to run."""
        return [
            {
                "policy": series.policy,
                "n_arms": series.bandit.n_arms,
                "n_objectives": self.n_objectives,
                "budget": self.budget,
                "runs": point.runs,
                "seconds_per_run": point.seconds / point.runs,
            }
            for series in self.series(results)
            for point in results.points(series)
        ]

    def draw(self, results: Results) -> Figure:
        """Log of the seconds against the log of the arms."""
        figure, (axis,) = plots.new_figure(size=(4.8, 3.6))
        rows = self.rows(results)
        for one in (EGE_SR, EGE_SH):
            times = [(row["n_arms"], math.log10(row["seconds_per_run"])) for row in rows if row["policy"] == one.policy]
            axis.plot(*zip(*times, strict=True), label=one.label, color=one.drawn_as.colour, marker=one.drawn_as.marker)
        axis.set_xscale("log", base=2)
        axis.set_xticks(self.n_arms, [str(K) for K in self.n_arms])
        axis.set_xlabel("arms K")
        axis.set_ylabel("log10 of the seconds per run")
        axis.set_title(f"{self.title}\nT = {self.budget}, mean of {rows[0]['runs']} runs, one thread")
        axis.legend()
        return figure


@dataclass(frozen=True)
class BestArmFigure(Entry):
    """One objective, one good arm among equals: uniform allocation against Sequential Halving, with ties for and against it."""

    budgets: tuple[int, ...] = (88, 160, 240, 320, 400, 480, 560, 640)
    """The first is H, which the paper takes for its other instances."""

    def ordered(self, algorithm: Algorithm, best: str) -> Series:
        """The runs with the best arm ``"first"``, where ties at the cuts of EGE-SH keep it, or ``"last"``, where they do not."""
        means = np.full((8, 1), 0.4)
        means[0 if best == "first" else -1] = 0.7
        bandit = Bandit(means, Bernoulli(), name=f"best-arm-{best}")
        return Series(bandit, algorithm.policy, {}, self.budgets, share=25.0)

    def series(self, results: Results) -> list[Series]:
        """Both algorithms with the best arm at both ends."""
        return [self.ordered(one, best) for one in (UNIFORM, EGE_SH) for best in ("first", "last")]

    def rows(self, results: Results) -> Rows:
        """One row for each algorithm, place of the best arm and budget."""
        return [
            {"algorithm": one.name, "best_arm": best, **point_row(point)}
            for one in (UNIFORM, EGE_SH)
            for best in ("first", "last")
            for point in results.points(self.ordered(one, best))
        ]

    def draw(self, results: Results) -> Figure:
        """Four lines."""
        figure, (axis,) = plots.new_figure(size=(5.6, 4.0))
        lines, every = [], []
        for one in (UNIFORM, EGE_SH):
            for best, dash in (("first", "-"), ("last", "--")):
                points = results.points(self.ordered(one, best))
                every += points
                lines.append(line_of(f"{one.label}, best arm {best}", points, one.drawn_as._replace(dash=dash)))
        plots.log_rates(axis, lines, xlabel="budget T")
        axis.legend()
        axis.set_title(f"{self.title}\n{numbers_of_runs(every)}")
        return figure


@dataclass(frozen=True)
class ArmsFigure(Entry):
    """The arms of an instance in two objectives."""

    @property
    def shareable(self) -> bool:
        """Means from a file that is not shipped stay with whoever has it."""
        return not FROM_FILE.intersection(self.instances)

    def rows(self, results: Results) -> Rows:
        """One row for each arm."""
        bandit = results.bandit(self.instances[0])
        return [
            {"arm": name, **_named(bandit, mean), "optimal": bool(best), "gap": float(gap)}
            for name, mean, best, gap in zip(bandit.arm_names, bandit.means, bandit.optimal, bandit.gaps, strict=True)
        ]

    def draw(self, results: Results) -> Figure:
        """All arms and the front."""
        bandit = results.bandit(self.instances[0])
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

    def rows(self, results: Results) -> Rows:
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

    def draw(self, results: Results) -> Figure:
        """Dashed: by how much a dominated arm is below an optimal one. Plain: how far optimal arms are from each other."""
        i, j, k, low = map(np.array, FOUR_ARMS.values())
        figure, (axis,) = plots.new_figure(size=(4.8, 4.4))
        plots.arms(axis, np.array([i, j, k, low]), names=list(FOUR_ARMS))
        arrow(axis, i, (j[0], i[1]), "m(i, j)", "--")
        arrow(axis, i, (i[0], k[1]), "m(i, k)", "--")
        arrow(axis, low, (k[0], low[1]), "m(l, k)", "--")
        arrow(axis, k, (k[0], j[1]), "M(j, k)", "-", PURPLE)
        arrow(axis, j, (k[0], j[1]), "M(k, j)", "-", PURPLE)
        arrow(axis, (j[0], -4.0), (low[0], -4.0), "M(l, j)", ":", PURPLE)
        values = gaps(np.array([i, j, k, low]))
        text = "\n".join(f"gap of {name} = {value:g}" for name, value in zip(FOUR_ARMS, values, strict=True))
        axis.annotate(text, (0.02, 0.02), xycoords="axes fraction", fontsize=8)
        axis.set(xlim=(-5.6, 4.6), ylim=(-5.4, 3.2))
        axis.legend(loc="upper left")
        axis.set_title(self.title)
        return figure


def _random_bandit(n_arms: int, n_objectives: int) -> Bandit:
    means = np.random.default_rng([n_arms, n_objectives]).random((n_arms, n_objectives))
    return Bandit(means, Gaussian(std=0.5), name=f"random-{n_arms}-{n_objectives}")


def arrow(axis: Axes, start: object, end: object, label: str, dash: str, colour: str = GREY) -> None:
    """Draws an arrow with a label beside its middle."""
    (x, y), (u, v) = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    arrow = {"arrowstyle": "->", "linestyle": dash, "color": colour, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", (u, v), (x, y), arrowprops=arrow)
    offset = (0, 3) if y == v else (3, 0)
    axis.annotate(label, ((x + u) / 2, (y + v) / 2), offset, textcoords="offset points", fontsize=8, color=colour)
