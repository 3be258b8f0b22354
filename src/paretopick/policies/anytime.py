"""What anytime policies share: batch after batch until the budget ends or is extended, arms added later, data of before."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import (
    LARGEST_BUDGET,
    BoolArray,
    FloatArray,
    IntArray,
    check_budget,
    check_integer,
    check_numbers,
    check_size,
    check_table,
)
from paretopick._words import short
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.policies.base import Policy
from paretopick.policies.observations import longer
from paretopick.theory.requirements import Requirements, check_requirements

LARGEST_BATCH = 10**6
"""Pulls that are chosen one after the other before any of them is told."""


class Anytime(Policy):
    """Pulls every arm ``initial`` times, and then, batch after batch, the arms that ``_choose`` names.

    Rounds are batches; the first one is that of the initial pulls. Without a budget it never ends.
    """

    amendable = True
    extendable = True
    growable = True
    roundless = True
    stepwise = True
    knows_margins = True

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, planned=budget)
        self.batch = batch
        self.initial = initial
        self._due += initial
        self._required = self._declared = Requirements.none(self.n_objectives)
        """Which differences matter, and which limits arms must keep; and what its options say about that."""
        self._costs: FloatArray | None = None
        """What a pull of each arm costs, on average."""

    @property
    def required(self) -> Requirements:
        """Which differences matter, and which limits arms must keep, in the units in which values are told."""
        return self._required

    def require(self, required: Requirements) -> None:
        """Says which differences matter and which limits arms must keep, in all decisions to come; see ``Policy.require``."""
        if required.margins.shape != (self.n_objectives,):
            raise InvalidInput(f"required is about {len(required.margins)} objectives; expected {self.n_objectives}.")
        if not required.compared.any():
            raise InvalidInput("required compares arms in no objective; expected one at least.")
        self._required = required

    def charge(self, costs: ArrayLike | None) -> None:
        """Says what a pull of each arm costs, in all decisions to come.

        ``doubt`` then pulls where it learns most for the money: the worth of a pull is divided by its cost. Other policies pay
        no heed to it, nor do the compiled simulations, in which every pull costs the same.

        Args:
            costs: of each arm the mean cost of a pull, a positive number, in any unit; None if all cost the same. An arm that is
                added later is taken to cost as much as the others do on average.
        """
        row = None if costs is None else check_numbers(costs, "costs")
        if row is not None and (row.shape != (self.n_arms,) or not (np.isfinite(row) & (row > 0)).all()):
            raise InvalidInput(
                f"costs={short(costs)} must be {self.n_arms} positive numbers, the mean cost of a pull of each arm; "
                "or None if all cost the same."
            )
        self._costs = row

    @abstractmethod
    def _choose(self, size: int, out: IntArray) -> IntArray:
        """Returns how often to pull each arm next, ``size`` pulls in all, of arms that ``_known`` has, of which there are some.

        Called whenever nothing is due any more, with 0 when the budget is spent: for policies that keep what ``snapshot`` shows.

        Args:
            size: how many.
            out: pulls of each arm that are being made: they count as though they had come in and changed no mean.
        """

    @property
    def _known(self) -> IntArray:
        """The arms that are not retired and have observations."""
        return np.flatnonzero(~self._retired & (self._counts > 0))

    def _close_round(self) -> None:
        if self._retired.all():
            return
        size = self.batch if self._planned is None else min(self.batch, self._left)
        self._round += size > 0
        self._due = self._choose(size, np.zeros_like(self._due))

    def next_arms(self, n: int, *, out: ArrayLike | None = None) -> IntArray:
        """Returns the arms to pull next, in this order, for whoever tells pulls as they come in, and in no rounds.

        That depends on the data and on ``out`` alone. Arms with fewer than ``initial`` pulls go first, those with the fewest
        ahead. As long as there are no two arms to compare, everybody is pulled equally often.

        Args:
            n: how many pulls.
            out: pulls of each arm that are being made: they count as though they had come in and changed no mean, so that
                several who pull at the same time are sent to different places.
        """
        n = check_integer(n, "n", minimum=0, maximum=LARGEST_BATCH)
        pending = np.zeros_like(self._counts) if out is None else self._whole_numbers(out, "out", "the pulls that are being made")
        active = np.flatnonzero(~self._retired)
        first: list[int] = []
        counts = (self._counts + pending)[active]
        while len(first) < n and len(active) and (counts.min() < self.initial or len(self._known) < min(2, len(active))):
            place = int(counts.argmin())
            counts[place] += 1
            first.append(int(active[place]))
        pending[active] = counts - self._counts[active]
        rest = n - len(first) if len(active) else 0
        chosen = self._choose(rest, pending) if rest else np.zeros_like(pending)
        return np.array(first + _taking_turns(chosen), dtype=np.int64)

    def restate(
        self,
        counts: ArrayLike,
        sums: ArrayLike,
        squares: ArrayLike | None = None,
        *,
        means: ArrayLike | None = None,
        retired: ArrayLike | None = None,
    ) -> None:
        """Replaces all that was told: from now on the data are these, and nothing is due.

        For whoever keeps the data and asks with ``next_arms``: what was taken back, corrected or brought along is simply
        part of the data, or not.

        Args:
            counts: pulls of each arm.
            sums: ``(n_arms, n_objectives)``, of the observations of each arm.
            squares: of their deviations from their means, likewise; for policies that keep them.
            means: of the observations of each arm, from whoever knows them exactly: in objectives without noise they are compared
                to the last bit, which a sum divided by a count may miss.
            retired: the arms that are not to be pulled, a mask; by default those that were retired before.
        """
        n = self._whole_numbers(counts, "counts", "the pulls of each arm")
        totals, spread = self._check_data(n, sums, squares)
        mask = self._retired if retired is None else np.asarray(retired, dtype=np.bool_)
        if mask.shape != (self.n_arms,):
            raise InvalidInput(f"retired has the shape {mask.shape}; expected {self.n_arms} flags, one for each arm.")
        known = None if means is None else check_table(means, "means", columns=self.n_objectives)
        if known is not None and len(known) != self.n_arms:
            raise InvalidInput(f"means has {len(known)} rows; expected {self.n_arms}, one for each arm.")
        self._take(n, totals, spread)
        if known is not None:
            self._certain = np.where(self._exact & (n > 0)[:, None], known, 0.0)
        self._retired, self._left_in = mask.copy(), np.where(mask, np.maximum(self._left_in, 1), 0)
        self._due = np.zeros_like(self._due)

    @property
    def _left(self) -> int:
        """How many pulls the budget still has, those that are due included."""
        return LARGEST_BUDGET if self._planned is None else self._planned - int(self._counts.sum())

    def extend(self, budget: int) -> None:
        """Allows more pulls, up to a new budget; a batch that is open stays as it is.

        Args:
            budget: the new one, all pulls so far included.
        """
        if self.budget is None:
            raise InvalidInput(f"this policy has no budget that budget={budget} could extend; it goes on without end.")
        self.budget = self._planned = check_integer(budget, "budget", minimum=self.budget, maximum=LARGEST_BUDGET)
        if self.done:
            self._end_round()

    def _give_up(self, arm: int) -> None:
        """What was taken back can be spent again, wherever it helps most: on the arm itself, if nothing else is known of it."""
        if not self.done:
            return
        if self._counts[arm] == 0 and not self._retired[arm]:
            self._round += 1
            self._due[arm] = 1
        else:
            self._end_round()

    def add_arm(self) -> int:
        """Adds an arm and returns its number, the next one.

        Its initial pulls join the open batch, or reopen a policy that is done. The budget stays as it is: where it
        has too few pulls left, pulls of the open batch are due no longer, those that ``ask`` names last, which were chosen before
        there was the new arm. First pulls of arms are never given up: if nothing else is left, this is refused, and ``extend``
        makes room.
        """
        over = int(self._due.sum()) + self.initial - self._left
        chosen = np.clip(self._counts + self._due - self.initial, 0, self._due)
        if over > chosen.sum():
            assert self.budget is not None
            needed = self.budget + over - int(chosen.sum())
            raise BudgetTooSmall(
                f"a new arm is pulled {self.initial} times to start with, and the budget of {self.budget} has "
                f"{self.initial - over + int(chosen.sum())} left for that; extend({needed}) first, or to more.",
                needed,
            )
        if self.done:
            self._round += 1
        if over > 0:
            after = np.cumsum(chosen[::-1])[::-1] - chosen
            self._due -= np.clip(over - after, 0, chosen)
        self._grow(1)
        self._due[-1] = self.initial
        return self.n_arms - 1

    def _grow(self, more: int) -> None:
        super()._grow(more)
        if self._costs is not None:
            self._costs = longer(self._costs, more, float(self._costs.mean()))

    def begin(self, counts: ArrayLike, sums: ArrayLike, squares: ArrayLike | None = None) -> None:
        """Starts from data that were collected before, as though they had been told as the first round.

        Arms with fewer than ``initial`` pulls are due the rest; if there are none, the first batch is chosen at once. The budget
        counts all pulls, these included.

        Args:
            counts: pulls of each arm.
            sums: ``(n_arms, n_objectives)``, of the observations of each arm.
            squares: of their deviations from their means, likewise; for policies that keep them.
        """
        if self._counts.any() or self._round > 1:
            raise InvalidInput(f"this policy has {self._counts.sum()} pulls already; begin() is for one that was told nothing.")
        n = self._check_counts(counts)
        self._take(n, *self._check_data(n, sums, squares))
        self._due = np.where(self._retired, 0, np.maximum(self.initial - n, 0))
        if self.done:
            self._end_round()

    def _more_state(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self._required != self._declared:
            more["margins"], more["limits"] = list(self._required.as_margins), list(self._required.as_limits)
        if self._costs is not None:
            more["costs"] = self._costs.tolist()
        return more

    def _load_more(self, state: Mapping[str, Any]) -> None:
        if "margins" in state:
            self.require(check_requirements(state["margins"], state["limits"], self.n_objectives))
        self.charge(state.get("costs"))

    def _check_data(self, n: IntArray, sums: ArrayLike, squares: ArrayLike | None) -> tuple[FloatArray, FloatArray | None]:
        """The sums of so many pulls of each arm, and their squares for policies that keep them."""
        totals = self._check_rows(sums, "sums", n >= 1)
        if not self.keeps_squares:
            return totals, None
        if squares is None:
            raise InvalidInput(f"{self._shown_name} needs squares=, the squared deviations of what is known from its means.")
        spread = self._check_rows(squares, "squares", n >= 2)
        if (spread < 0).any():
            raise InvalidInput(f"squares has {spread.min():g}; sums of squares are not negative.")
        return totals, spread

    def _take(self, n: IntArray, totals: FloatArray, spread: FloatArray | None) -> None:
        if spread is not None:
            self._squares = np.where(self._exact, 0.0, spread)
        self._counts, self._sums = n, totals
        self._certain = np.where(self._exact, totals / np.maximum(n, 1)[:, None], 0.0)

    def _whole_numbers(self, given: ArrayLike, name: str, meaning: str) -> IntArray:
        row = check_numbers(given, name)
        if row.shape != (self.n_arms,) or not ((row >= 0) & (row <= LARGEST_BUDGET) & (row == np.floor(row))).all():
            raise InvalidInput(f"{name}={short(given)} must be {self.n_arms} whole numbers, none negative: {meaning}.")
        return row.astype(np.int64)

    def _check_counts(self, counts: ArrayLike) -> IntArray:
        """The pulls of each arm that are known, if the budget has room for them and for what is missing of the first ones."""
        n = self._whole_numbers(counts, "counts", "the pulls of each arm")
        needed = sum(np.where(self._retired, n, np.maximum(n, self.initial)).tolist())
        if needed > self._left:
            raise BudgetTooSmall(
                f"what is known are {sum(n.tolist())} pulls, and with {self.initial} of every arm {needed}; "
                f"raise budget={self.budget} to at least {needed}.",
                needed,
            )
        return n

    def _check_rows(self, given: ArrayLike, name: str, told: BoolArray) -> FloatArray:
        """The sums or squares that are known of each arm, 0 where there is nothing to add up."""
        rows = check_table(given, name, columns=self.n_objectives)
        if len(rows) != self.n_arms:
            raise InvalidInput(f"{name} has {len(rows)} rows; expected {self.n_arms}, one for each arm.")
        if rows[~told].any():
            arm = int(np.flatnonzero(~told & rows.any(axis=1))[0])
            raise InvalidInput(
                f"{name} has {short(rows[arm].tolist())} for arm {arm}, whose pulls are too few for that; expected 0."
            )
        return rows


AnyAnytime = TypeVar("AnyAnytime", bound=Anytime)


def _taking_turns(chosen: IntArray) -> list[int]:
    """Arms in the order in which they are pulled, as often as they were chosen: those first of which the most is missing."""
    missing, arms = chosen.copy(), []
    for _ in range(int(chosen.sum())):
        arms.append(int(missing.argmax()))
        missing[arms[-1]] -= 1
    return arms


def with_requirements(policy: AnyAnytime, margins: Any, limits: Any) -> AnyAnytime:
    """Returns a policy that was just made, having told it the margins and limits among its options."""
    policy.require(check_requirements(margins, limits, policy.n_objectives))
    policy._declared = policy._required
    return policy


def check_batches(*, n_arms: int, budget: int | None, batch: int, initial: int, minimum: int = 1) -> tuple[int, int]:
    """Returns ``batch`` and ``initial`` of an anytime policy, if they are whole numbers that its budget has room for.

    Args:
        n_arms: how many arms are pulled ``initial`` times.
        budget: None never ends.
        batch: pulls handed out at once.
        initial: pulls of every arm to start with.
        minimum: the fewest that the policy can do with.
    """
    start = check_integer(initial, "initial", minimum=minimum, maximum=LARGEST_BUDGET)
    needed = start * check_size(n_arms)[0]
    if budget is not None and check_budget(budget) < needed:
        raise BudgetTooSmall(
            f"the first round pulls each of the {n_arms} arms {start} times; raise budget={budget} to at least {needed}, "
            f"or lower initial={start}.",
            needed,
        )
    small = budget is not None and budget <= LARGEST_BATCH  # so that no batch is larger
    return check_integer(batch, "batch", minimum=1, maximum=None if small else LARGEST_BATCH), start
