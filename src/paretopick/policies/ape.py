"""APE-FB, which must be told how hard the problem is, and APE-FB-ADAPT, which estimates it (Appendix D)."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretopick._arrays import (
    FloatArray,
    IntArray,
    check_budget,
    check_flag,
    check_integer,
    check_numbers,
    check_real,
    check_size,
)
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.policies.base import Policy
from paretopick.theory.dominance import excess
from paretopick.theory.gaps import optimal_and_gaps

SMALLEST_GAP = 1e-8
"""Keeps the estimated complexity finite where empirical gaps are zero."""


class APE(Policy):
    """What the variants of APE-FB share (Algorithm 3): every arm once, then step by step the less pulled of b and c.

    Arm b is the undecided arm that looks most optimal, arm c the one most likely to dominate it. The answer is the empirical
    Pareto set of all arms.
    """

    stepwise = True
    _bounds: _Bounds

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, planned=budget)
        if budget < self.n_arms:
            raise BudgetTooSmall(
                f"the first step pulls each of the {self.n_arms} arms once; raise budget={budget} to at least {self.n_arms}.",
                self.n_arms,
            )
        self._steps = check_budget(budget) - self.n_arms
        self._pulled: IntArray = np.empty(0, dtype=np.int64)
        self._due += 1

    @abstractmethod
    def _learn(self, arms: IntArray) -> None:
        """Brings the bounds up to date after pulls of ``arms``."""

    def _close_round(self) -> None:
        if self._round == 1:
            self._build()
        self._learn(self._pulled)
        left = self.n_arms + self._steps - int(self._counts.sum())
        if left:
            self._round += 1
            self._pulled = self._choice(left)
            self._due[self._pulled] = 1

    def _build(self) -> None:
        self._bounds = _Bounds(self.means, np.zeros(self.n_arms))

    def _choice(self, left: int) -> IntArray:
        return np.array([self._less_pulled(*self._bounds.candidates())])

    def _less_pulled(self, b: int, c: int) -> int:
        return c if self._counts[c] < self._counts[b] else b

    def _latest_gaps(self) -> FloatArray:
        return optimal_and_gaps(self.means)[1] if self._round > 1 or self.done else super()._latest_gaps()

    def _load_more(self, state: Mapping[str, Any]) -> None:
        if (self._round > 1 and not self._counts.all()) or (self._due > 1).any():
            raise InvalidInput("the saved counts do not fit this policy; pass what to_dict() returned, unchanged.")
        if self._round > 1:
            # What was told of the open step is in the means already; what is still due changes the bounds when it arrives.
            self._pulled = np.flatnonzero(self._due)
            self._build()


class APEFB(APE):
    """APE-FB with exploration a: bonuses ``beta_i = 2/5 sqrt(a / N_i)``, of which a step changes one."""

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int, exploration: float) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        self.exploration = exploration

    @classmethod
    def needs_complexity(cls, options: Mapping[str, Any]) -> bool:
        """Returns whether it is to work the exploration out from the complexity."""
        return "exploration" not in options

    def _build(self) -> None:
        self._bounds = _Bounds(self.means, _bonus(self.exploration, self._counts))

    def _learn(self, arms: IntArray) -> None:
        for arm in arms:
            mean = self._sums[arm] / self._counts[arm]
            self._bounds.update(arm, mean, _bonus(self.exploration, self._counts[arm]))


class AdaptiveAPEFB(APE):
    """APE-FB-ADAPT, corrected: ``a = c 25/36 (T - K) / H`` with H of the empirical gaps, and all bonuses anew at every step."""

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int, c: float) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        self.c = c

    def _learn(self, arms: IntArray) -> None:
        for arm in arms:
            self._bounds.move(arm, self._sums[arm] / self._counts[arm])
        gaps = optimal_and_gaps(self._bounds.means)[1]
        hardness = _hardness(np.maximum(gaps, SMALLEST_GAP))
        self._bounds.set_bonuses(_bonus(oracle_exploration(self.c, self._steps, hardness), self._counts))


class PublishedAdaptiveAPEFB(APE):
    """APE-FB-ADAPT as published: all bonuses start at 0, a step pulls b and c both, and refreshes one of the two bonuses.

    Arms without a bonus are never looked at again, so that two or three absorb the budget. With one pull left, the less pulled of
    b and c takes it.
    """

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int, c: float) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        self.c = c
        self._bonuses = np.zeros(self.n_arms)
        self._hardness = 0.0
        """H of the means before the open step."""
        self._refreshed = -1
        """The arm whose bonus the open step refreshes."""

    def _build(self) -> None:
        self._bounds = _Bounds(self.means, self._bonuses.copy())

    def _learn(self, arms: IntArray) -> None:
        if self._refreshed >= 0:
            a = oracle_exploration(self.c, self._steps, self._hardness)
            self._bonuses[self._refreshed] = _bonus(a, self._counts[self._refreshed])
        for arm in {*arms.tolist(), self._refreshed} - {-1}:
            self._bounds.update(arm, self._sums[arm] / self._counts[arm], self._bonuses[arm])
        gaps = optimal_and_gaps(self._bounds.means)[1]
        self._hardness = _hardness(gaps + SMALLEST_GAP)

    def _choice(self, left: int) -> IntArray:
        b, c = self._bounds.candidates()
        self._refreshed = self._less_pulled(b, c)
        return np.unique([b, c]) if left > 1 else np.array([self._refreshed])

    def _more_state(self) -> dict[str, Any]:
        return {"bonuses": self._bonuses.tolist(), "hardness": self._hardness, "refreshed": self._refreshed}

    def _load_more(self, state: Mapping[str, Any]) -> None:
        self._bonuses = check_numbers(state["bonuses"], "bonuses")
        self._hardness = check_real(state["hardness"], "hardness", minimum=0.0)
        self._refreshed = check_integer(state["refreshed"], "refreshed", minimum=-1, maximum=self.n_arms - 1)
        if self._bonuses.shape != (self.n_arms,) or not np.isfinite(self._bonuses).all():
            raise InvalidInput("the saved bonuses are not one finite number for each arm.")
        super()._load_more(state)


class _Bounds:
    """``M(i, j)`` of all pairs, and for each i the smallest ``M(i, j) + beta_i + beta_j`` and ``M(i, j) - beta_i - beta_j``.

    The pair (i, i) is infinitely far, which takes it out of every minimum.
    """

    def __init__(self, means: FloatArray, bonuses: FloatArray) -> None:
        self.means = means
        self.excess = excess(means, means)
        np.fill_diagonal(self.excess, np.inf)
        self.set_bonuses(bonuses)

    def set_bonuses(self, bonuses: FloatArray) -> None:
        """Takes a bonus for every arm, at the price of every pair."""
        self.bonuses = bonuses
        self.upper = _RowMinima(self.excess + bonuses[:, None] + bonuses)
        self.lower = _RowMinima(self.excess - bonuses[:, None] - bonuses)

    def move(self, arm: int, mean: FloatArray) -> None:
        """Takes a new mean of one arm; the minima are those of before until ``set_bonuses``."""
        self.means[arm] = mean
        self.excess[arm] = excess(mean[None], self.means)[0]
        self.excess[:, arm] = excess(self.means, mean[None])[:, 0]
        self.excess[arm, arm] = np.inf

    def update(self, arm: int, mean: FloatArray, bonus: float) -> None:
        """Takes a new mean and bonus of one arm, at the price of one row and one column."""
        self.move(arm, mean)
        self.bonuses[arm] = bonus
        row, column = self.excess[arm], self.excess[:, arm]
        self.upper.replace(arm, row=row + bonus + self.bonuses, column=column + self.bonuses + bonus)
        self.lower.replace(arm, row=row - bonus - self.bonuses, column=column - self.bonuses - bonus)

    def candidates(self) -> tuple[int, int]:
        """The arms b and c of this step; among equals the smallest index."""
        settled = self.lower.minima > 0  # OPT
        b = self.lower.minima.argmin() if settled.all() else np.where(settled, -np.inf, self.upper.minima).argmax()
        c = (self.excess[b] - self.bonuses).argmin()
        return int(b), int(c)


class _RowMinima:
    """A square matrix with its row minima, kept while single rows and columns are replaced."""

    def __init__(self, matrix: FloatArray) -> None:
        self.matrix = matrix
        self._where = matrix.argmin(axis=1)
        self.minima = matrix.min(axis=1)

    def replace(self, index: int, *, row: FloatArray, column: FloatArray) -> None:
        """Replaces a row and the column of the same index; other rows are searched anew only if they lost their minimum."""
        self.matrix[:, index] = column
        self.matrix[index] = row
        smaller = column <= self.minima
        lost = (self._where == index) & ~smaller
        lost[index] = True
        self.minima[smaller] = column[smaller]
        self._where[smaller] = index
        rows = self.matrix[lost]
        self._where[lost] = rows.argmin(axis=1)
        self.minima[lost] = rows.min(axis=1)


def _hardness(gaps: FloatArray) -> float:
    """The estimated H, added up in the order of the arms: every version of NumPy must lead to the same pulls."""
    return float(np.cumsum(1.0 / (gaps * gaps))[-1])


def _bonus(exploration: float, counts: Any) -> Any:
    """``beta = 2/5 sqrt(a / N)`` of one arm or of all."""
    return 2 / 5 * np.sqrt(exploration / counts)


def oracle_exploration(c: float, steps: int, hardness: float) -> float:
    """``a = c 25/36 (T - K) / H``, at most the largest float; 0 where H is 0, as for one arm, which leaves nothing to explore."""
    return min(c * (25 / 36) * steps / hardness, sys.float_info.max) if hardness > 0 else 0.0


def ape_fb(
    *,
    n_arms: int,
    n_objectives: int,
    budget: int,
    exploration: float | None = None,
    c: float | None = None,
    complexity: float | None = None,
) -> APEFB:
    """APE-FB: confidence bounds on every pair; needs the complexity H of the problem, or a guess of it.

    Args:
        exploration: a, at least 0. Or instead:
        c: scale of the oracle ``a = c 25/36 (T - K) / H``, by default 1. The paper's published curves are labelled c and drawn
            with 9 c.
        complexity: H, as ``pp.complexity(means)`` returns it for true means.
    """
    if exploration is not None and complexity is None and c is None:
        a = check_real(exploration, "exploration", minimum=0.0)
    elif complexity is not None and exploration is None:
        K, _ = check_size(n_arms)
        H = check_real(complexity, "complexity", minimum=0.0, infinite=True)
        if H == 0 and K > 1:
            raise InvalidInput(f"complexity=0 is the H of one arm, not of {K}; pass pp.complexity(means).")
        a = oracle_exploration(check_real(1.0 if c is None else c, "c", minimum=0.0), check_budget(budget) - K, H)
    else:
        raise InvalidInput(
            f"ape-fb got exploration={exploration!r}, c={c!r}, complexity={complexity!r}; give exploration= alone (the a of the "
            "paper), or complexity= (the H of the problem) and if you like c=, by default 1."
        )
    return APEFB(n_arms=n_arms, n_objectives=n_objectives, budget=budget, exploration=a)


def ape_fb_adapt(
    *, n_arms: int, n_objectives: int, budget: int, c: float = 9.0, as_published: bool = False
) -> AdaptiveAPEFB | PublishedAdaptiveAPEFB:
    """APE-FB that estimates H as it goes.

    Args:
        c: scale of the estimated ``a = c 25/36 (T - K) / H``; 9 is what the paper's curves were drawn with.
        as_published: the heuristic of the paper's experiments, which starves most arms; by default the corrected one.
    """
    scale = check_real(c, "c", minimum=0.0)
    variant = PublishedAdaptiveAPEFB if check_flag(as_published, "as_published") else AdaptiveAPEFB
    return variant(n_arms=n_arms, n_objectives=n_objectives, budget=budget, c=scale)
