"""Entries that are tables: the instances, and the bounds beside the measured errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paretopick.bandits import Bandit
from paretopick.paper.contestants import APE_FB, APT, CONTESTANTS, EGE_GG, EGE_SH, EGE_SR, UNIFORM, Contestant
from paretopick.paper.curves import ege_sr_k
from paretopick.paper.entries import Entry, Rows, noise_of, rate_and_interval
from paretopick.paper.evidence import Evidence
from paretopick.paper.ledger import Point
from paretopick.paper.series import Series
from paretopick.theory import bounds

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

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each instance."""
        rows = []
        for name in filter(evidence.has, self.listed):
            bandit = evidence.bandit(name)
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

    def series(self, evidence: Evidence) -> list[Series]:
        """Runs that other entries make too."""
        errors = [evidence.contest(name, CONTESTANTS[one]) for name, one in PRINTED]
        return errors + [self._covered(evidence, name) for name in PRINTED_VOLUMES if evidence.has(name)]

    def _covered(self, evidence: Evidence, name: str) -> Series:
        """EGE-SR-1 at the paper's budget."""
        bandit = evidence.bandit(name)
        return ege_sr_k(bandit, 1, (bandit.budget or 0,))

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each number."""
        rows = []
        for (name, one), printed in PRINTED.items():
            point = evidence.final(name, CONTESTANTS[one])
            if point is not None:
                numbers = [math.log10(number) if number else -math.inf for number in rate_and_interval(point)]
                what = f"{name}, {CONTESTANTS[one].label}: log10 of the error rate"
                rows.append(_beside(what, printed, _published_interval(printed), numbers, point))
        for name, printed in PRINTED_VOLUMES.items():
            for point in evidence.points(self._covered(evidence, name)) if evidence.has(name) else []:
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


Bound = Callable[[Bandit, int], float]

BOUNDS: dict[str, tuple[Contestant, Bound]] = {
    "uniform": (UNIFORM, lambda bandit, T: bounds.uniform(bandit.means, T, sigma=bandit.noise.sigma)),
    "ege-sr": (EGE_SR, lambda bandit, T: bounds.ege_sr(bandit.means, T, sigma=bandit.noise.sigma)),
    "ege-sh": (EGE_SH, lambda bandit, T: bounds.ege_sh(bandit.means, T, sigma=bandit.noise.sigma)),
    "ege-gg": (EGE_GG, lambda bandit, T: bounds.ege_gg(bandit.means, T, sigma=bandit.noise.sigma)),
    "ape-fb": (APE_FB["text"]["1"], lambda bandit, T: bounds.ape_fb(bandit.means, T, sigma=bandit.noise.sigma)),
    "apt": (APT, lambda bandit, T: bounds.apt(bandit.means, T, sigma=bandit.noise.sigma)),
}
"""Policies with a proven upper bound, as a function of the bandit and the budget; that of apt is ours."""

ROUND_BASED = ("uniform", "ege-sr", "ege-sh", "ege-gg")

TARGET = 0.05
"""The error whose budget is looked for in the bounds."""


@dataclass(frozen=True)
class BoundsTable(Entry):
    """The upper bound of each algorithm at the paper's budget, beside the error that was measured."""

    listed: tuple[str, ...] = ()

    def promised(self, evidence: Evidence, name: str) -> dict[str, Series]:
        """Runs with the budget for which the bound promises ``TARGET``, of the policies that play it as fast as any other."""
        bandit = evidence.bandit(name)
        round_based = [(one, bound) for one, bound in BOUNDS.values() if one.policy in ROUND_BASED]
        return {one.label: Series(bandit, one.policy, one.options, (_enough(bandit, bound),)) for one, bound in round_based}

    def series(self, evidence: Evidence) -> list[Series]:
        """The runs of the error curves, and those with the promised budgets."""
        several = []
        for name in filter(evidence.has, self.listed):
            several += [evidence.contest(name, contestant) for contestant, _ in BOUNDS.values()]
            several += self.promised(evidence, name).values()
        return several

    def rows(self, evidence: Evidence) -> Rows:
        """One row for each instance and algorithm."""
        rows = []
        for name in filter(evidence.has, self.listed):
            bandit = evidence.bandit(name)
            promised = self.promised(evidence, name)
            for contestant, bound in BOUNDS.values():
                point = evidence.final(name, contestant)
                if point is None:
                    continue
                kept = evidence.points(promised[contestant.label]) if contestant.label in promised else []
                rate, low, high = rate_and_interval(point)
                value = bound(bandit, point.budget)
                rows.append(
                    {
                        "instance": name,
                        "contestant": contestant.name,
                        "budget": point.budget,
                        "log10_bound": math.log10(value) if value > 0 else -math.inf,
                        "runs": point.runs,
                        "errors": int(point.curve.errors[0]),
                        "rate": rate,
                        "low": low,
                        "high": high,
                        "promised_budget": _enough(bandit, bound),
                        "promised_runs": kept[0].runs if kept else None,
                        "promised_errors": int(kept[0].curve.errors[0]) if kept else None,
                    }
                )
        return rows


def _enough(bandit: Bandit, bound: Bound) -> int:
    """The smallest budget for which the bound promises an error of at most ``TARGET``, to a tenth of a percent."""
    low = high = max(2 * bandit.n_arms * math.ceil(math.log2(bandit.n_arms)), bandit.n_arms + 1)
    while bound(bandit, high) > TARGET:
        low, high = high, 2 * high
    while high - low > high / 1000:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(bandit, middle) > TARGET else (low, middle)
    return high
