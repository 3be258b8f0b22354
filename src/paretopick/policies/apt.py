"""apt: an anytime policy that needs neither the budget nor the noise nor the complexity; not in the paper.

The Pareto-set version of the APT idea that Katz-Samuels and Scott use for feasible arms, which the paper names as the way to an
anytime algorithm.
"""

from __future__ import annotations

import numpy as np

from paretopick._arrays import IntArray, check_real
from paretopick.policies.anytime import Anytime, check_batches


class APT(Anytime):
    """Pulls the arm with the smallest ``sqrt(N_i) gap_i``, whose equilibrium is the allocation behind H: N_i like 1 / gap_i^2.

    An arm with fewer than ``gamma t / n_arms`` pulls goes first: without that, an unlucky arm would never be looked at again.
    The answer at any time is the empirical Pareto set. A batch freezes the gaps and updates the counts alone.
    """

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, gamma: float, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=batch, initial=initial)
        self.gamma = gamma

    def _choose(self, size: int, out: IntArray) -> IntArray:
        active = self._known
        gaps = self._optimal_and_gaps(active, self.means[active])[1]
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
) -> APT:
    """Anytime: pulls where the next pull helps most; stop whenever you like, or at the budget.

    Args:
        budget: None never ends.
        batch: pulls handed out at once.
        gamma: share of the pulls spread evenly over the arms, from 0 to 1.
        initial: pulls of every arm to start with.
    """
    size, start = check_batches(n_arms=n_arms, budget=budget, batch=batch, initial=initial)
    share = check_real(gamma, "gamma", minimum=0.0, maximum=1.0)
    return APT(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=size, gamma=share, initial=start)
