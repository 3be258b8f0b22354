"""What the measurements of a study have cost so far, as exact sums, and what that leaves of a budget in a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretopick._arrays import LARGEST_BUDGET, FloatArray
from paretopick.errors import LogDamaged
from paretopick.events import Event
from paretopick.studies.budgets import NEARLY, Amount, Costs, Spent, budget_of
from paretopick.studies.sums import Sums

LEAST = 0.01
"""An option that costs less than this part of what options cost on average is taken to cost that: one that costs nothing would
be measured for ever."""

SMALL = 1e-150
"""Costs that are all below this are told to policies as parts of the largest one: only their ratios matter."""


class Payments:
    """What was paid, by option. The order in which it was paid leaves no trace.

    A measurement that is taken back has been paid for, and one that failed, too, if it is known what it cost. One whose cost is a
    metric, and is corrected, has cost what it says now. What was brought along and does not say its cost has cost nothing.

    Args:
        budget: in a unit.
        costs: what measurements cost of it.
        n_options: how many options there are.
    """

    def __init__(self, budget: Amount, costs: Costs, n_options: int) -> None:
        self.budget = budget
        self.costs = costs
        self._sums = Sums(n_options, 1)

    @property
    def spent(self) -> Spent:
        """How much of the budget is spent."""
        return Spent(self.budget.unit, math.fsum(self._totals()), self.budget.amount)

    def _totals(self) -> list[float]:
        totals: list[float] = self._sums.totals(range(len(self._sums.counts)))[:, 0].tolist()
        return totals

    def extend(self, budget: Amount) -> None:
        """Allows more to be spent, if it is more."""
        self.budget = max(self.budget, budget)

    def add_option(self, costs: Costs) -> None:
        """Makes room for one more option, with what measurements cost then."""
        self._sums.add_option()
        self.costs = costs

    def told(self, event: Event) -> None:
        """Takes in that a measurement was told."""
        extra = (event.details or {}).get("extra", {})
        cost = self.costs.of(event.arm or 0, event.measured or (), extra)
        if cost is not None:
            self._sums.add(event.arm or 0, [cost])

    def failed(self, event: Event) -> None:
        """Takes in that a measurement failed."""
        cost = self.costs.of_failure(event.arm or 0, event.details or {})
        if cost is not None:
            self._sums.add(event.arm or 0, [cost])

    def corrected(self, event: Event, before: Sequence[float | None]) -> None:
        """Takes in that a measurement has other values: what it cost may be one of them."""
        if self.costs.metric is None:
            return
        arm, old, new = event.arm or 0, before[self.costs.metric], (event.measured or ())[self.costs.metric]
        if old is not None:
            if not self._sums.counts[arm]:
                raise LogDamaged(f"event {event.position} of the log corrects what a measurement cost that was not paid for.")
            self._sums.remove(arm, [old])
        if new is not None:
            self._sums.add(arm, [self.costs.checked(new)])

    def expected(self) -> FloatArray | None:
        """Returns what a measurement of each option will cost, about; None if nothing is known of any.

        It is the mean of what those so far have cost; options without any are taken to be like the others.
        """
        if self.costs.by_option is not None:
            return np.array(self.costs.by_option)
        means = self._sums.means()[:, 0]
        known = ~np.isnan(means)
        return np.asarray(np.where(known, means, means[known].mean())) if known.any() else None

    def charges(self) -> FloatArray | None:
        """Returns the same for policies, which divide by it: all of them above 0; None if nothing has a cost."""
        expected = self.expected()
        if expected is None or not expected.any():
            return None
        if expected.max() < SMALL:  # dividing by such numbers is not exact, or not possible
            expected = expected / expected.max()
        return np.asarray(np.maximum(expected, LEAST * expected.mean()))

    def measurements_left(self, present: Sequence[int]) -> int | None:
        """Returns how many measurements what is left will pay for, about; None if nobody knows."""
        if self.spent.reached:
            return 0
        expected = self.expected()
        if expected is None or not present:
            return None
        paid = int(self._sums.counts.sum())
        each = self.spent.spent / paid if paid else float(expected[list(present)].mean())
        return LARGEST_BUDGET if each <= 0 else max(1, math.ceil(min(self.spent.left / each, LARGEST_BUDGET)))

    def most(self, n: int, out: Mapping[int, int], *, unknown: int) -> int:
        """Returns how many of ``n`` measurements can be affordable at all: so many need to be chosen; see ``affordable``."""
        expected = self.expected()
        if expected is None:
            return min(n, max(unknown - sum(out.values()), 1))
        least = float(expected.min())
        return n if least <= 0 else int(min(n, self.spent.left / least + 1))

    def affordable(self, arms: Sequence[int], out: Mapping[int, int], *, unknown: int) -> list[int]:
        """Returns the first ones of measurements, as many as what is left will pay for, about, beside those that are being made.

        The last one may exceed it: less than all would be spent otherwise.

        Args:
            arms: the options to be measured, in this order.
            out: how many measurements of each option are being made.
            unknown: how many may be made at the same time while nobody knows what they cost.
        """
        expected = self.expected()
        if expected is None:
            return list(arms[: max(unknown - sum(out.values()), 1)])
        left = self.spent.left - sum(float(expected[arm]) * count for arm, count in out.items())
        chosen: list[int] = []
        for arm in arms:
            if left <= (1 - NEARLY) * self.budget.amount:
                break
            chosen.append(arm)
            left -= float(expected[arm])
        return chosen

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON values."""
        return {"budget": list(self.budget), "costs": self._sums.to_list()}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Takes over what ``to_dict`` described, of as many options as there are."""
        budget = budget_of(saved["budget"])
        if not isinstance(budget, Amount) or budget.unit != self.budget.unit or budget < self.budget:
            raise ValueError(f"its budget is {budget}, and the study has {self.budget}")
        self.budget = budget
        self._sums = Sums.from_list(saved["costs"], len(self._sums.counts), 1)
        if self._sums.counts.sum() > saved["position"]:
            raise ValueError(f"more was paid for than its {saved['position']} events")
