"""Entries that are curves: errors, losses, hypervolumes and times, against the budget, k or the number of arms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretopick import plots
from paretopick.bandits import Bandit, Bernoulli, Gaussian
from paretopick.paper.contestants import CONTESTANTS, EGE_SH, EGE_SR, UNIFORM, Contestant, Panel
from paretopick.paper.entries import Entry, Rows, line_of, loss_row, numbers_of_runs, point_row, setting
from paretopick.paper.evidence import Evidence, budgets_up_to
from paretopick.paper.ledger import Point
from paretopick.paper.series import Series, affordable
from paretopick.plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = (BLACK, SKY, BLUE, GREEN, ORANGE, VERMILION, PURPLE, YELLOW)
MARKERS = ("o", "s", "D", "^", "*", "v", "x", "P")


@dataclass(frozen=True)
class ErrorFigure(Entry):
    """The error rate of every contestant on one instance, up to the paper's budget."""

    def line(self, evidence: Evidence, contestant: Contestant) -> Series:
        """The runs of one contestant."""
        return evidence.contest(self.instances[0], contestant)

    def series(self, evidence: Evidence) -> list[Series]:
        """One for each contestant."""
        return [self.line(evidence, one) for one in CONTESTANTS.values()]

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each contestant and budget."""
        return [
            {"contestant": one.name, **point_row(point)}
            for one in CONTESTANTS.values()
            for point in evidence.points(self.line(evidence, one))
        ]

    def draw(self, evidence: Evidence) -> Figure:
        """Two panels: APE-FB with c as in the paper's text, and with 9 c, as its curves were drawn."""
        points = {one.name: evidence.points(self.line(evidence, one)) for one in CONTESTANTS.values()}
        every = [point for several in points.values() for point in several]
        most = max(point.runs for point in every)
        figure, axes = plots.new_figure(1, 2, size=(8.4, 4.3), sharey=True)
        titles: dict[Panel, str] = {"text": "APE-FB with c as in the text", "drawn": "APE-FB with 9 c, as the paper's curves"}
        for axis, (panel, title) in zip(axes, titles.items(), strict=True):
            shown = [one for one in CONTESTANTS.values() if panel in one.panels]
            plots.log_rates(axis, [self._line(one, points[one.name], most) for one in shown], xlabel="budget T")
            axis.set_title(title)
        axes[1].set_ylabel("")
        plots.common_legend(figure, axes, columns=5)
        bandit = evidence.bandit(self.instances[0])
        figure.suptitle(f"{self.title}\n{setting(bandit)}; {numbers_of_runs(every)}", fontsize=10)
        return figure

    def _line(self, one: Contestant, points: Sequence[Point], most: int) -> plots.Line:
        fewer = f", N = {points[0].runs}" if points and points[0].runs < most else ""
        return line_of(one.label + fewer, points, one.colour, one.dash, one.marker)


@dataclass(frozen=True)
class RelaxedFigure(Entry):
    """The PSI-k loss of EGE-SR-k for several k."""

    sizes: tuple[int, ...] = ()

    def relaxed(self, evidence: Evidence, k: int) -> Series:
        """EGE-SR-k at all budgets."""
        bandit = evidence.bandit(self.instances[0])
        return ege_sr_k(bandit, k, budgets_up_to(bandit.budget or 0))

    def series(self, evidence: Evidence) -> list[Series]:
        """One for each k."""
        return [self.relaxed(evidence, k) for k in self.sizes]

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each k and budget."""
        return [{"k": k, **loss_row(point)} for k in self.sizes for point in evidence.points(self.relaxed(evidence, k))]

    def draw(self, evidence: Evidence) -> Figure:
        """One line for each k, with an asterisk at the size of the Pareto set."""
        bandit = evidence.bandit(self.instances[0])
        n_optimal, n = int(bandit.optimal.sum()), len(self.sizes)
        figure, (axis,) = plots.new_figure(size=(5.8, 4.2))
        points = {k: evidence.points(self.relaxed(evidence, k)) for k in self.sizes}
        lines = []
        for k, colour, marker in zip(self.sizes, PALETTE[:n], MARKERS[:n], strict=True):
            label, dash = f"k = {k}" + ("*" if k == n_optimal else ""), ":" if k > n_optimal else "-"
            lines.append(line_of(label, points[k], colour, dash, marker, "relaxed_losses"))
        plots.log_rates(axis, lines, xlabel="budget T", ylabel="log10 of the PSI-k loss")
        axis.legend(title="* the Pareto set's size", ncols=2)
        every = [point for several in points.values() for point in several]
        axis.set_title(f"{self.title}\n{setting(bandit)}; {numbers_of_runs(every)}")
        return figure


@dataclass(frozen=True)
class HypervolumeFigure(Entry):
    """The hypervolume fraction of what EGE-SR-k returns at the paper's budget, against k."""

    sizes: tuple[int, ...] = ()

    def covered(self, evidence: Evidence, k: int) -> Series:
        """EGE-SR-k at the paper's budget."""
        bandit = evidence.bandit(self.instances[0])
        return ege_sr_k(bandit, k, (bandit.budget or 0,))

    def series(self, evidence: Evidence) -> list[Series]:
        """One for each k."""
        return [self.covered(evidence, k) for k in self.sizes]

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each k."""
        rows = []
        for k in self.sizes:
            for point in evidence.points(self.covered(evidence, k)):
                low, high = point.curve.hypervolume_interval()[0]
                rows.append({"k": k, **loss_row(point), "hypervolume_low": float(low), "hypervolume_high": float(high)})
        return rows

    def draw(self, evidence: Evidence) -> Figure:
        """The fraction against k."""
        bandit = evidence.bandit(self.instances[0])
        points = [point for k in self.sizes for point in evidence.points(self.covered(evidence, k))]
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

    def timed(self, contestant: Contestant) -> list[Series]:
        """The runs of one contestant, one series for each number of arms that the budget is enough for."""
        several = []
        for K in self.n_arms:
            bandit = _random_bandit(K, self.n_objectives)
            if affordable(bandit, contestant.policy, {}, (self.budget,)):
                several.append(Series(bandit, contestant.policy, {}, (self.budget,), share=0.5, timed=True))
        return several

    def series(self, evidence: Evidence) -> list[Series]:
        """EGE-SR and EGE-SH for every number of arms."""
        return [series for one in (EGE_SR, EGE_SH) for series in self.timed(one)]

    def rows(self, evidence: Evidence) -> Rows:
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
            for series in self.series(evidence)
            for point in evidence.points(series)
        ]

    def draw(self, evidence: Evidence) -> Figure:
        """Log of the seconds against the log of the arms."""
        figure, (axis,) = plots.new_figure(size=(4.8, 3.6))
        rows = self.rows(evidence)
        for one in (EGE_SR, EGE_SH):
            times = [(row["n_arms"], math.log10(row["seconds_per_run"])) for row in rows if row["policy"] == one.policy]
            axis.plot(*zip(*times, strict=True), label=one.label, color=one.colour, marker=one.marker)
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

    def ordered(self, contestant: Contestant, best: str) -> Series:
        """The runs with the best arm ``"first"``, where ties at the cuts of EGE-SH keep it, or ``"last"``, where they do not."""
        means = np.full((8, 1), 0.4)
        means[0 if best == "first" else -1] = 0.7
        bandit = Bandit(means, Bernoulli(), name=f"best-arm-{best}")
        return Series(bandit, contestant.policy, {}, self.budgets, share=25.0)

    def series(self, evidence: Evidence) -> list[Series]:
        """Both contestants with the best arm at both ends."""
        return [self.ordered(one, best) for one in (UNIFORM, EGE_SH) for best in ("first", "last")]

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each contestant, place of the best arm and budget."""
        return [
            {"contestant": one.name, "best_arm": best, **point_row(point)}
            for one in (UNIFORM, EGE_SH)
            for best in ("first", "last")
            for point in evidence.points(self.ordered(one, best))
        ]

    def draw(self, evidence: Evidence) -> Figure:
        """Four lines."""
        figure, (axis,) = plots.new_figure(size=(5.6, 4.0))
        lines, every = [], []
        for one in (UNIFORM, EGE_SH):
            for best, dash in (("first", "-"), ("last", "--")):
                points = evidence.points(self.ordered(one, best))
                every += points
                lines.append(line_of(f"{one.label}, best arm {best}", points, one.colour, dash, one.marker))
        plots.log_rates(axis, lines, xlabel="budget T")
        axis.legend()
        axis.set_title(f"{self.title}\n{numbers_of_runs(every)}")
        return figure


def ege_sr_k(bandit: Bandit, k: int, budgets: tuple[int, ...]) -> Series:
    """Returns runs of EGE-SR-k that also say how much of the Pareto set's hypervolume they found."""
    options = {"max_arms": k}
    return Series(bandit, "ege-sr-k", options, affordable(bandit, "ege-sr-k", options, budgets), hypervolume=True)


def _random_bandit(n_arms: int, n_objectives: int) -> Bandit:
    means = np.random.default_rng([n_arms, n_objectives]).random((n_arms, n_objectives))
    return Bandit(means, Gaussian(std=0.5), name=f"random-{n_arms}-{n_objectives}")
