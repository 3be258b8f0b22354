"""Entries that hold our runs against what the paper prints or proves: its tables, its numbers, its bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick import plots
from paretopick.bandits import Bandit, Gaussian
from paretopick.paper.database import Point
from paretopick.paper.entries import Entry, Results, Rows, line_of, noise_of, rate_and_interval
from paretopick.paper.figures import arrow
from paretopick.paper.series import ALGORITHMS, APE_FB, APT, EGE_GG, EGE_SH, EGE_SR, UNIFORM, Algorithm, Series
from paretopick.plots import BLACK, VERMILION
from paretopick.theory import bounds
from paretopick.theory.complexity import complexity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {
    "cov-boost": (20, 3, 2),
    "snw-paper": (206, 2, 5),
    "convex-front": (60, 2, 10),
    "unique-dominator": (10, 2, 2),
    "unit-circle": (200, 2, 20),
    "high-dimension": (50, 10, 18),
}
"""K, D and |S*| as the paper's Table 2 prints them."""


@dataclass(frozen=True)
class InstancesTable(Entry):
    """How large the instances are, beside the paper's table."""

    listed: tuple[str, ...] = ()

    def rows(self, results: Results) -> Rows:
        """One row for each instance."""
        rows = []
        for name in filter(results.has, self.listed):
            bandit = results.bandit(name)
            K, D, n = size_of(bandit)
            row = {"instance": name, "K": K, "D": D, "n_optimal": n, "noise": noise_of(bandit)}
            row |= {"T": bandit.budget, "H": round(bandit.complexity, 2)}
            printed = SIZES.get(name)
            rows.append({**row, "K_D_n_optimal_in_the_paper": "" if printed is None else ", ".join(map(str, printed))})
        return rows


def size_of(bandit: Bandit) -> tuple[int, int, int]:
    """K, D and |S*|."""
    return bandit.n_arms, bandit.n_objectives, int(bandit.optimal.sum())


PRINTED = {
    ("cov-boost-2d", "uniform"): -0.53,
    ("cov-boost-2d", "ege-sr"): -1.03,
    ("cov-boost-2d", "ege-sh"): -1.32,
    ("unit-circle", "ege-sr"): -0.95,
    ("unit-circle", "ege-sh"): -0.73,
}
"""log10 of error rates at the last budget, read off the paper's curves."""

PRINTED_VOLUMES = {"snw-paper": 0.85, "convex-front": 0.5}
"""Hypervolume fractions of EGE-SR-1 that the paper gives in words: nearly 0.85, nearly half."""

VOLUME_MARGINS = {"snw-paper": 0.02, "convex-front": 0.05}
"""How far from these words is near: our choice."""

PUBLISHED_RUNS = 4000
READING = 0.02
"""How well a log10 can be read off a printed curve."""


@dataclass(frozen=True)
class PrintedTable(Entry):
    """The few numbers that can be read off the paper, beside ours."""

    def series(self, results: Results) -> list[Series]:
        """Runs that other entries make too."""
        errors = [results.curve(name, ALGORITHMS[one]) for name, one in PRINTED]
        return errors + [self._covered(results, name) for name in PRINTED_VOLUMES if results.has(name)]

    def _covered(self, results: Results, name: str) -> Series:
        """EGE-SR-1 at the paper's budget."""
        return results.relaxed(name, 1, at_the_end=True)

    def rows(self, results: Results) -> Rows:
        """One row for each number."""
        rows = []
        for (name, one), printed in PRINTED.items():
            point = results.final(name, ALGORITHMS[one])
            if point is not None:
                numbers = [math.log10(number) if number else -math.inf for number in rate_and_interval(point)]
                what = f"{name}, {ALGORITHMS[one].label}: log10 of the error rate"
                rows.append(_beside(what, printed, _published_interval(printed), numbers, point))
        for name, printed in PRINTED_VOLUMES.items():
            for point in results.points(self._covered(results, name)) if results.has(name) else []:
                numbers = [float(point.curve.hypervolume[0]), *map(float, point.curve.hypervolume_interval()[0])]
                words = (printed - VOLUME_MARGINS[name], printed + VOLUME_MARGINS[name])
                rows.append(_beside(f"{name}, EGE-SR-1: hypervolume fraction", printed, words, numbers, point))
        return rows


def _published_interval(log_rate: float) -> tuple[float, float]:
    """What the paper's curve leaves open: 4,000 runs, and a hundredth or two in reading it."""
    from scipy.stats import binomtest

    limits = binomtest(round(PUBLISHED_RUNS * 10**log_rate), PUBLISHED_RUNS).proportion_ci(method="wilson")
    return math.log10(limits.low) - READING, math.log10(limits.high) + READING


def _beside(what: str, printed: float, published: tuple[float, float], numbers: list[float], point: Point) -> dict[str, Any]:
    ours, low, high = numbers
    head = {"number": what, "budget": point.budget, "runs": point.runs}
    theirs = {"paper": printed, "paper_low": published[0], "paper_high": published[1]}
    agrees = low <= published[1] and published[0] <= high
    return {**head, **theirs, "ours": ours, "low": low, "high": high, "agrees": "yes" if agrees else "no"}


BOUNDS: dict[Algorithm, Callable[..., float]] = {
    UNIFORM: bounds.uniform,
    EGE_SR: bounds.ege_sr,
    EGE_SH: bounds.ege_sh,
    EGE_GG: bounds.ege_gg,
    APE_FB["text"]["1"]: bounds.ape_fb,
    APT: bounds.apt,
}
"""Algorithms with a proven upper bound, a function of means, budget and sigma; that of apt is ours."""

TARGET = 0.05
"""The error whose budget is looked for in the bounds."""


@dataclass(frozen=True)
class BoundsTable(Entry):
    """The upper bound of each algorithm at the paper's budget, beside the error that was measured."""

    listed: tuple[str, ...] = ()

    def promised(self, results: Results, name: str) -> dict[str, Series]:
        """Runs with the budget for which the bound promises ``TARGET``, of the policies that play it as fast as any other."""
        bandit = results.bandit(name)
        round_based = [one for one in BOUNDS if results.curve(name, one).by_rounds]
        return {one.label: Series(bandit, one.policy, one.options, (_enough(bandit, one),)) for one in round_based}

    def series(self, results: Results) -> list[Series]:
        """The runs of the error curves, and those with the promised budgets."""
        several = []
        for name in filter(results.has, self.listed):
            several += [results.curve(name, algorithm) for algorithm in BOUNDS]
            several += self.promised(results, name).values()
        return several

    def rows(self, results: Results) -> Rows:
        """One row for each instance and algorithm."""
        rows = []
        for name in filter(results.has, self.listed):
            bandit = results.bandit(name)
            promised = self.promised(results, name)
            for algorithm in BOUNDS:
                point = results.final(name, algorithm)
                if point is None:
                    continue
                kept = results.points(promised[algorithm.label]) if algorithm.label in promised else []
                rate, low, high = rate_and_interval(point)
                value = upper_bound(algorithm, bandit, point.budget)
                rows.append(
                    {
                        "instance": name,
                        "algorithm": algorithm.name,
                        "budget": point.budget,
                        "log10_bound": math.log10(value) if value > 0 else -math.inf,
                        "runs": point.runs,
                        "errors": int(point.curve.errors[0]),
                        "rate": rate,
                        "low": low,
                        "high": high,
                        "promised_budget": _enough(bandit, algorithm),
                        "promised_runs": kept[0].runs if kept else None,
                        "promised_errors": int(kept[0].curve.errors[0]) if kept else None,
                    }
                )
        return rows


def upper_bound(algorithm: Algorithm, bandit: Bandit, budget: int) -> float:
    """Returns what the theory promises of an algorithm in ``BOUNDS``."""
    return BOUNDS[algorithm](bandit.means, budget, sigma=bandit.noise.sigma)


@cache
def _enough(bandit: Bandit, algorithm: Algorithm) -> int:
    """The smallest budget for which the bound promises an error of at most ``TARGET``, to a tenth of a percent."""
    low = high = max(2 * bandit.n_arms * math.ceil(math.log2(bandit.n_arms)), bandit.n_arms + 1)
    while upper_bound(algorithm, bandit, high) > TARGET:
        low, high = high, 2 * high
    while high - low > high / 1000:
        middle = (low + high) // 2
        low, high = (middle, high) if upper_bound(algorithm, bandit, middle) > TARGET else (low, middle)
    return high


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

    def tried(self, algorithm: Algorithm) -> list[Series]:
        """The runs of an algorithm on each of the five."""
        return [Series(bandit, algorithm.policy, {}, self.budgets) for bandit in self.bandits()]

    def worst(self, results: Results, algorithm: Algorithm) -> list[Point]:
        """For each budget the point with the largest error among the five instances."""
        several = [results.points(series) for series in self.tried(algorithm)]
        return [max(points, key=lambda point: point.curve.rate[0]) for points in zip(*several, strict=True)]

    def bound(self, budget: int) -> float:
        """The lower bound, the same for the five."""
        return bounds.lower_bound(np.array(self.means), budget, sigma=self.std)

    def series(self, results: Results) -> list[Series]:
        """Three policies on five instances."""
        return [series for one in (UNIFORM, EGE_SR, EGE_SH) for series in self.tried(one)]

    def rows(self, results: Results) -> Rows:
        """One row for each policy, instance and budget."""
        rows = []
        for one in (UNIFORM, EGE_SR, EGE_SH):
            for series in self.tried(one):
                H = complexity(series.bandit.means)
                optimal = " ".join(str(arm + 1) for arm in np.flatnonzero(series.bandit.optimal))
                for point in results.points(series):
                    rate, low, high = rate_and_interval(point)
                    head: dict[str, Any] = {"instance": series.bandit.name, "optimal": optimal, "H": H, "algorithm": one.name}
                    numbers = {"runs": point.runs, "errors": int(point.curve.errors[0]), "rate": rate, "low": low, "high": high}
                    rows.append({**head, "budget": point.budget, **numbers, "lower_bound": self.bound(point.budget)})
        return rows

    def draw(self, results: Results) -> Figure:
        """Five small panels, and the errors below."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.6, 5.2), layout="constrained")
        grid = figure.add_gridspec(2, 5, height_ratios=(1, 1.5))
        base = np.array(self.means)
        for i, bandit in enumerate(self.bandits()):
            axis = figure.add_subplot(grid[0, i])
            plots.arms(axis, bandit.means, names=[str(arm + 1) for arm in range(len(base))], labels=("", ""))
            for arm in np.flatnonzero((bandit.means != base).any(axis=1)):
                arrow(axis, base[arm], bandit.means[arm], "", "--", VERMILION)
            axis.set(xlim=(-4.2, 3.5), ylim=(-3.9, 3.9))
            axis.set_title("instance" if i == 0 else f"alternative {i}")
        axis = figure.add_subplot(grid[1, :])
        lines = []
        for one in (UNIFORM, EGE_SR, EGE_SH):
            label = f"{one.label}, worst of the five"
            lines.append(line_of(label, self.worst(results, one), one.drawn_as))
        plots.log_rates(axis, lines, xlabel="budget T")
        limits = [np.log10(self.bound(budget)) for budget in self.budgets]
        axis.plot(self.budgets, limits, color=BLACK, linestyle=":", label="lower bound for any policy")
        axis.legend()
        figure.suptitle(f"{self.title}; H = {complexity(base):g} in all five, sigma = {self.std:g}", fontsize=10)
        return figure
