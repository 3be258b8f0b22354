"""Empirical Gap Elimination with any schedule (Algorithm 1), and EGE-SR-k, the same with one stop (Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_budget, check_integer
from paretopick._words import short
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.policies.base import Policy
from paretopick.schedules import Schedule, Spend
from paretopick.schedules import schedule as make_schedule


class EGE(Policy):
    """Empirical Gap Elimination (Algorithm 1).

    Each round pulls every active arm equally often, then keeps the arms with the smallest empirical gaps; of those that leave,
    the empirically optimal are accepted and the others rejected. The answer is the accepted arms and those still active.

    With ``max_arms`` = k it stops as soon as k arms are accepted and answers with those alone (Algorithm 2); the round it stopped
    in is ``snapshot().round`` and the pulls it took ``snapshot().pulls_used``, the paper's tau and N_tau.
    """

    amendable = True

    def __init__(self, schedule: Schedule, *, n_objectives: int, budget: int | None = None, max_arms: int | None = None) -> None:
        cost = schedule.cost
        super().__init__(
            n_arms=schedule.n_arms, n_objectives=n_objectives, budget=cost if budget is None else budget, planned=cost
        )
        self.schedule = schedule
        self.n_rounds = schedule.n_rounds
        self.max_arms = max_arms
        self._round = min(1, schedule.n_rounds)
        self._due[:] = schedule.pulls[0] if schedule.pulls else 0

    def recommend(self) -> IntArray:
        return np.flatnonzero(self._accepted & ~self._retired) if self.stopped else super().recommend()

    @property
    def stopped(self) -> bool:
        """Whether ``max_arms`` are accepted, so that nothing is asked for the others."""
        return self.max_arms is not None and int((self._accepted & ~self._retired).sum()) >= self.max_arms

    def retire(self, arm: int) -> None:
        was_stopped = self.stopped
        super().retire(arm)
        if was_stopped and not self.stopped:  # another one has to be found
            self._go_on(None)

    def _close_round(self) -> None:
        if (self._left_in == 0).any():
            self._go_on(self._eliminate(self._ranked()))

    def _go_on(self, ranked: _Ranking | None) -> None:
        """Opens the next round that has pulls, after those without; ``ranked`` are the active arms, if that is known."""
        while (self._left_in == 0).any() and self._round < self.schedule.n_rounds and not self.stopped:
            self._round += 1
            if pulls := self.schedule.pulls[self._round - 1]:
                self._due[self._left_in == 0] = pulls
                return
            ranked = self._eliminate(self._ranked() if ranked is None else ranked)

    def _ranked(self) -> _Ranking:
        """The active arms, those that stay longest first: smallest gap, then empirically optimal, then smallest index."""
        active = np.flatnonzero(self._left_in == 0)
        # Active arms have equal counts, so their sums order as their means do, with exact ties for integer data; unless some
        # observation was taken back.
        counts = self._counts[active]
        equal = (counts == counts[0]).all()
        optimal, gaps = self._optimal_and_gaps(active, self._sums[active] if equal else self.means[active])
        self._gaps[active] = gaps / counts if equal else gaps
        order = np.lexsort((~optimal, gaps))  # stable, so equals stay in the order of their index
        return _Ranking(active[order], gaps[order], optimal[order])

    def _eliminate(self, ranked: _Ranking) -> _Ranking | None:
        """Takes the last arms of the ranking out at the end of the round, and returns what ranks the others without new pulls.

        That is the old ranking cut short: an arm whose gap is smaller than those of all that leave keeps it, since whoever
        defines it has a gap no larger and stays. None after a tie at the cut, or if some objective is without noise: the gaps
        have to be computed anew.
        """
        keep = self.schedule.active[self._round]
        if len(ranked.arms) <= keep:  # so many were retired
            return ranked
        self._left_in[ranked.arms[keep:]] = self._round
        self._accepted[ranked.arms[keep:]] = ranked.optimal[keep:]
        if keep > 0 and (self._exact.any() or ranked.gaps[keep - 1] == ranked.gaps[keep]):
            return None
        return _Ranking(ranked.arms[:keep], ranked.gaps[:keep], ranked.optimal[:keep])

    def _load_more(self, state: Mapping[str, Any]) -> None:
        received = np.array((0, *self.schedule.cumulative))  # by an arm that takes part up to a round
        fits = self._round <= self.schedule.n_rounds
        if fits:
            last = np.minimum(np.where(self._left_in == 0, self._round, self._left_in), self.schedule.n_rounds)
            asked = self._counts + self._due + self._given_up
            n_active, now = self.schedule.active[self._round - 1 if self._due.any() else self._round], (self._left_in == 0).sum()
            fits = (self._retired | (asked == received[last])).all() and now <= n_active <= now + self._retired.sum()
        if not fits:
            raise InvalidInput("the saved counts do not fit this policy and budget; pass what to_dict() returned, unchanged.")


class _Ranking(NamedTuple):
    """Active arms in the order in which they stay, with their gaps and whether they are empirically optimal."""

    arms: IntArray
    gaps: FloatArray
    optimal: BoolArray


def ege(*, n_arms: int, n_objectives: int, budget: int | None = None, schedule: Schedule | Mapping[str, Any]) -> EGE:
    """EGE with a schedule of your own.

    Args:
        schedule: a ``pp.Schedule``, or a mapping with its ``active`` and ``pulls``.
    """
    if isinstance(schedule, Mapping) and set(schedule) == {"active", "pulls"}:
        schedule = Schedule(schedule["active"], schedule["pulls"])
    if not isinstance(schedule, Schedule):
        raise InvalidInput(f"schedule={short(schedule)} is not a Schedule; write pp.Schedule(active=..., pulls=...).")
    if schedule.n_arms != n_arms:
        raise InvalidInput(f"the schedule is for {schedule.n_arms} arms and n_arms={short(n_arms)}; they must agree.")
    if budget is not None and schedule.cost > check_budget(budget):
        raise BudgetTooSmall(f"the schedule costs {schedule.cost} pulls; raise budget={budget} to at least that.", schedule.cost)
    return EGE(schedule, n_objectives=n_objectives, budget=budget)


def ege_sr(*, n_arms: int, n_objectives: int, budget: int, spend: Spend = "printed") -> EGE:
    """EGE with Successive Rejects: one arm leaves per round.

    Args:
        spend: "printed" is the schedule of the paper, which may leave some budget over; "all" leaves as little as it can.
    """
    return EGE(make_schedule("sr", n_arms, budget, spend=spend), n_objectives=n_objectives, budget=budget)


def ege_sh(*, n_arms: int, n_objectives: int, budget: int, spend: Spend = "printed") -> EGE:
    """EGE with Sequential Halving: half of the arms leave per round.

    Args:
        spend: "printed" is the schedule of the paper, which may leave some budget over; "all" leaves as little as it can.
    """
    return EGE(make_schedule("sh", n_arms, budget, spend=spend), n_objectives=n_objectives, budget=budget)


def ege_gg(*, n_arms: int, n_objectives: int, budget: int, n_rounds: int | None = None, spend: Spend = "printed") -> EGE:
    """EGE with the geometric schedule, in a number of rounds you choose.

    Args:
        n_rounds: by default ``ceil(log2 n_arms)``.
        spend: "printed" is the schedule of the paper, which leaves about half of the budget over; "all" spends it.
    """
    rounds = make_schedule("gg", n_arms, budget, n_rounds=n_rounds, spend=spend)
    return EGE(rounds, n_objectives=n_objectives, budget=budget)


def uniform(*, n_arms: int, n_objectives: int, budget: int, spend: Spend = "printed") -> EGE:
    """Uniform allocation: every arm equally often, then the empirical Pareto set."""
    return EGE(make_schedule("uniform", n_arms, budget, spend=spend), n_objectives=n_objectives, budget=budget)


def ege_sr_k(*, n_arms: int, n_objectives: int, budget: int, max_arms: int, spend: Spend = "printed") -> EGE:
    """EGE-SR that stops when enough optimal arms are found.

    Args:
        max_arms: k, from 1 to the number of arms; with fewer optimal arms than that all of them are looked for.
    """
    rounds = make_schedule("sr", n_arms, budget, spend=spend)
    k = check_integer(max_arms, "max_arms", minimum=1, maximum=rounds.n_arms)
    return EGE(rounds, n_objectives=n_objectives, budget=budget, max_arms=k)
