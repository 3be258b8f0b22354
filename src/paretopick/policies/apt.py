"""apt: an anytime policy that needs neither the budget nor the noise nor the complexity; not in the paper.

The Pareto-set version of the APT idea that Katz-Samuels and Scott use for feasible arms, which the paper names as the way to an
anytime algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray, check_real
from paretopick.policies.anytime import Anytime, check_batches, with_requirements
from paretopick.theory.gaps_within import front_and_gaps
from paretopick.theory.requirements import optimal_and_feasible


class APT(Anytime):
    """Pulls the arm with the smallest ``sqrt(N_i) gap_i``, whose equilibrium is the allocation behind H: N_i like 1 / gap_i^2.

    An arm with fewer than ``gamma t / n_arms`` pulls goes first: without that, an unlucky arm would never be looked at again.
    The answer at any time is the empirical Pareto set. A batch freezes the gaps and updates the counts alone. With margins and
    limits, the gaps are those within them (``theory/gaps_within.py``), so that near ties are not looked at for long.
    """

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, gamma: float, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=batch, initial=initial)
        self.gamma = gamma

    def recommend(self) -> IntArray:
        """Returns the empirical Pareto set, sorted: with limits, that of the arms that seem to keep them, which may be empty.

        It is right within the margins if the means are what they seem, and of all such answers it is the furthest from being
        wrong: leaving out members that another one covers would make it smaller, and more often wrong.
        """
        front = super().recommend()
        active = np.flatnonzero(~self._retired)
        if self._required.is_plain or not len(active) or not self._counts[active].all():
            return front
        return active[optimal_and_feasible(self.means[active], self._required)]

    def _current_gaps(self, arms: IntArray) -> FloatArray:
        """The gaps of some arms within the margins, on the scale of the widths."""
        if self._required.is_plain:
            return self._optimal_and_gaps(arms, self.means[arms])[1]
        points, required = self.means[arms], self._required
        if self._widths is not None:
            points, required = points / np.where(self._exact, 1.0, self._widths), required.divided(self._widths)
        return front_and_gaps(points, required, self._exact)[1]

    def _choose(self, size: int, out: IntArray) -> IntArray:
        active = self._known
        gaps = self._current_gaps(active)
        self._gaps[active] = gaps
        before = (self._counts + out)[active]
        counts = before.copy()
        t = int((self._counts + out).sum())
        for pulls in range(t, t + size):
            arm = int(counts.argmin())
            if counts[arm] >= self.gamma * pulls / len(active):
                score = np.sqrt(counts) * gaps
                arm = int(np.lexsort((counts, score))[0])  # smallest score, then fewest pulls, then smallest index
            counts[arm] += 1
        due = np.zeros_like(self._due)
        due[active] = counts - before
        return due


def apt(
    *,
    n_arms: int,
    n_objectives: int,
    budget: int | None = None,
    batch: int = 1,
    gamma: float = 0.2,
    initial: int = 3,
    margins: Any = None,
    limits: Any = None,
) -> APT:
    """Anytime: pulls where the next pull helps most; stop whenever you like, or at the budget.

    Args:
        budget: None never ends.
        batch: pulls handed out at once.
        gamma: share of the pulls spread evenly over the arms, from 0 to 1.
        initial: pulls of every arm to start with.
        margins: for each objective the smallest difference that matters, or None if arms are not compared in it.
        limits: for each objective the least that an arm must have, or None.
    """
    size, start = check_batches(n_arms=n_arms, budget=budget, batch=batch, initial=initial)
    share = check_real(gamma, "gamma", minimum=0.0, maximum=1.0)
    made = APT(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=size, gamma=share, initial=start)
    return with_requirements(made, margins, limits)
