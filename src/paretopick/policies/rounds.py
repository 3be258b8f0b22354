"""What is due, round after round, and the hook by which a policy of your own says what comes next."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import LARGEST_BUDGET, BoolArray, IntArray, check_arms, check_budget, check_integer
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.policies.observations import Observations


class Rounds(Observations):
    """The pulls of the open round, the budget that they come from, and the arms that have left."""

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None = None, planned: int | None = None) -> None:
        """Starts without data; ``planned`` is the most pulls that it will ask for, by default the budget, None without limit."""
        super().__init__(n_arms=n_arms, n_objectives=n_objectives)
        self.budget = None if budget is None else check_budget(budget)
        self._planned = self.budget if planned is None else check_budget(planned)
        self._begun = type(self)._close_round is not Rounds._close_round
        """Whether the first round was chosen: those that close rounds in their own way fill ``_due`` when they are made."""
        self._round = int(self._begun)
        self._due: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._left_in: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._accepted: BoolArray = np.zeros(self.n_arms, dtype=np.bool_)
        self._given_up: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        """Pulls that were taken back and are not made again."""

    # What a policy of your own says.

    def choose(self) -> ArrayLike:
        """Returns the arms to pull next, each as often as it is to be pulled; none of them to end.

        This is the one method that a policy of your own must have. It is called before the first pull, and whenever all that it
        asked for has been told; not when the budget is spent, which is the end in any case. It goes by ``counts`` and ``means``
        (and ``squares``, if the class says ``keeps_squares = True``), by ``pulls_left``, ``active`` and ``round``, the number of
        rounds so far, and by what it remembers in attributes of its own.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not say what to pull: give it a method choose(self) that returns the arms to pull next, "
            "such as [0, 0, 2], or [] when it is done."
        )

    def accept(self, arms: ArrayLike) -> None:
        """Takes arms for optimal: they leave, and are in the answer. For ``choose``, when nothing is due.

        Args:
            arms: numbers of arms that are ``active``.
        """
        self._leave(arms, "accept()", accepted=True)

    def reject(self, arms: ArrayLike) -> None:
        """Takes arms for dominated: they leave, and are not in the answer. For ``choose``, when nothing is due.

        Args:
            arms: numbers of arms that are ``active``.
        """
        self._leave(arms, "reject()", accepted=False)

    def _leave(self, given: ArrayLike, what: str, *, accepted: bool) -> None:
        arms = check_arms(given, f"what {type(self).__name__} gave to {what}", self.n_arms)
        if self._due.any():
            raise InvalidInput(f"{what} is for choose(), when all that was asked for has been told; {self._due.sum()} are due.")
        gone = arms[self._left_in[arms] > 0]
        if len(gone):
            raise InvalidInput(f"{what} got arm {gone[0]}, which left in round {self._left_in[gone[0]]}; see self.active.")
        self._left_in[arms] = max(self._round, 1)
        self._accepted[arms] = accepted

    # What it may go by.

    @property
    def active(self) -> IntArray:
        """The arms that have not left, sorted."""
        return np.flatnonzero(self._left_in == 0)

    @property
    def pulls_left(self) -> int | None:
        """How many pulls the budget still has, those that are due included; None without limit."""
        return None if self._planned is None else self._planned - int(self._counts.sum() + self._given_up.sum())

    @property
    def round(self) -> int:
        """The number of the open round, or of the last one when done; in ``choose``, that of the round that was closed."""
        return self._round

    @property
    def due(self) -> IntArray:
        """How often each arm is still due in the open round."""
        self._begin()
        return self._due.copy()

    @property
    def done(self) -> bool:
        """Whether nothing is due any more."""
        self._begin()
        return not self._due.any()

    def ask(self, limit: int | None = None) -> IntArray:
        """Returns the arms still due in the open round, each repeated as often as it is due; empty when done.

        Args:
            limit: at most so many; by default all.
        """
        self._begin()
        due = self._due
        if limit is not None:
            before = np.cumsum(due) - due
            due = np.clip(min(check_integer(limit, "limit", minimum=0), LARGEST_BUDGET) - before, 0, due)
        return np.repeat(np.arange(self.n_arms), due)

    # How rounds follow each other.

    def _begin(self) -> None:
        """Chooses the first round, if that is still to be done: when a policy of your own is made, it may not be ready yet."""
        if not self._begun:
            self._begun = True
            self._end_round()

    def _end_round(self) -> None:
        with np.errstate(over="ignore"):  # finite means may be infinitely far apart
            self._close_round()

    def _close_round(self) -> None:
        """Called when nothing is due any more: decides on what is known, then fills ``_due``, or leaves it empty when done."""
        if self.pulls_left == 0:
            return
        chosen = self._checked_choice()
        self._due = np.bincount(chosen, minlength=self.n_arms)
        self._round += len(chosen) > 0

    def _checked_choice(self) -> IntArray:
        """What ``choose`` returned, if these are arms that can be pulled."""
        kind = type(self).__name__
        given = self.choose()
        if given is None:
            raise InvalidInput(f"{kind}.choose() returned None; return the arms to pull next, such as [0, 0, 2], or [] to end.")
        if isinstance(given, range | set | frozenset):
            given = list(given)
        arms = check_arms(given, f"what {kind}.choose() returned", self.n_arms)
        if len(left := arms[self._left_in[arms] > 0]):
            raise InvalidInput(f"{kind}.choose() returned arm {left[0]}, which it has accepted or rejected; see self.active.")
        most = self.pulls_left
        if most is not None and len(arms) > most:
            raise InvalidInput(
                f"{kind}.choose() returned {len(arms)} pulls ({short(arms.tolist())}), and {most} are left of its budget of "
                f"{self.budget}; return no more than self.pulls_left."
            )
        return arms
