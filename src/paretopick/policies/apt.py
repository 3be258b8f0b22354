"""apt: an anytime policy that needs neither the budget nor the noise nor the complexity; not in the paper.

The Pareto-set version of the APT idea that Katz-Samuels and Scott use for feasible arms, which the paper names as the way to an
anytime algorithm.
"""

from __future__ import annotations

import numpy as np

from paretopick._arrays import LARGEST_BUDGET, check_budget, check_integer, check_real, check_size
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.policies.base import Policy

LARGEST_BATCH = 10**6
"""Pulls that are chosen one after the other before any of them is told."""


class APT(Policy):
    """Pulls the arm with the smallest ``sqrt(N_i) gap_i``, whose equilibrium is the allocation behind H: N_i like 1 / gap_i^2.

    An arm with fewer than ``gamma t / n_arms`` pulls goes first: without that, an unlucky arm would never be looked at again.
    The answer at any time is the empirical Pareto set. A batch freezes the gaps and updates the counts alone.
    """

    extendable = True
    stepwise = True

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, gamma: float, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, planned=budget)
        self.batch = batch
        self.gamma = gamma
        self.initial = initial
        self._due += initial

    def _close_round(self) -> None:
        active = np.flatnonzero(~self._retired)
        t = int(self._counts.sum())
        size = self.batch if self._planned is None else min(self.batch, self._planned - t)
        if len(active) == 0:
            return
        gaps = self._optimal_and_gaps(active, self.means[active])[1]
        self._gaps[active] = gaps
        counts = self._counts[active]
        self._round += size > 0
        for pulls in range(t, t + size):
            arm = int(counts.argmin())
            if counts[arm] >= self.gamma * pulls / len(active):
                score = np.sqrt(counts) * gaps
                arm = int(np.lexsort((counts, score))[0])  # smallest score, then fewest pulls, then smallest index
            counts[arm] += 1
        self._due[active] = counts - self._counts[active]

    def extend(self, budget: int) -> None:
        """Allows more pulls, up to a new budget; a batch that is open stays as it is.

        Args:
            budget: the new one, all pulls so far included.
        """
        if self.budget is None:
            raise InvalidInput(f"this policy has no budget that budget={budget} could extend; it goes on without end.")
        self.budget = self._planned = check_integer(budget, "budget", minimum=self.budget, maximum=LARGEST_BUDGET)
        if self.done:
            self._close_round()

    def _give_up(self, arm: int) -> None:
        """What was taken back can be spent again, wherever it helps most."""
        if self.done:
            self._close_round()


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
    start = check_integer(initial, "initial", minimum=1, maximum=LARGEST_BUDGET)
    share = check_real(gamma, "gamma", minimum=0.0, maximum=1.0)
    needed = start * check_size(n_arms)[0]
    if budget is not None and check_budget(budget) < needed:
        raise BudgetTooSmall(
            f"the first round pulls each of the {n_arms} arms {start} times; raise budget={budget} to at least {needed}, "
            f"or lower initial={start}.",
            needed,
        )
    small = budget is not None and budget <= LARGEST_BATCH  # so that no batch is larger
    return APT(
        n_arms=n_arms,
        n_objectives=n_objectives,
        budget=budget,
        batch=check_integer(batch, "batch", minimum=1, maximum=None if small else LARGEST_BATCH),
        gamma=share,
        initial=start,
    )
