"""What is to be simulated: one policy on one bandit at several budgets, checked before any run starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import (
    LARGEST_BUDGET,
    BoolArray,
    FloatArray,
    IntArray,
    check_flag,
    check_integer,
    check_numbers,
    check_sequence,
    frozen,
)
from paretopick._words import short
from paretopick.bandits import Bandit
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.policies import PolicyChoice, PolicyGiven, check_policy, policies_with
from paretopick.policies.base import Policy
from paretopick.simulation.known import Known
from paretopick.simulation.results import TALLIES, ErrorCurve, Span
from paretopick.simulation.truths import Truths
from paretopick.theory.complexity import complexity


@dataclass(frozen=True, eq=False)
class Task:
    """One policy on one bandit at several budgets."""

    bandit: Bandit
    choice: PolicyChoice
    budgets: tuple[int, ...]
    scale: FloatArray | None
    hypervolume: bool
    truths: Truths | None
    known: Known | None = None
    by_arm: bool = False

    @property
    def divisors(self) -> FloatArray | None:
        """What values are divided by before the policy is told them; where objectives are without noise it divides itself."""
        return None if has_exact(self.scale) else self.scale

    @property
    def exact(self) -> BoolArray:
        """Which objectives are without noise."""
        return np.zeros(self.bandit.n_objectives, dtype=np.bool_) if self.scale is None else self.scale == 0

    @property
    def policy(self) -> str:
        """The name of the policy."""
        return self.choice.name

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the policy, as JSON values."""
        return self.choice.options

    @cached_property
    def identity(self) -> str:
        """A text that is equal for tasks that are equal."""
        scale = None if self.scale is None else self.scale.tolist()
        parts = [self.bandit.name, self.digest, self.policy, self.options, self.budgets, scale, self.hypervolume, self.by_arm]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @cached_property
    def digest(self) -> str:
        """That of the bandit, and another one where runs have means of their own, or start from data."""
        parts = [self.bandit.digest]
        if self.truths is not None:
            parts.append(self.truths.digest)
        if self.known is not None:
            parts.append(f"known {self.known.digest}")
        return parts[0] if len(parts) == 1 else hashlib.sha256("|".join(parts).encode()).hexdigest()[:16]

    @cached_property
    def kind(self) -> type[Policy]:
        """The class of the policy, for which one is made once: with very many arms its schedule takes a while."""
        return type(self.player(self.budgets[0]))

    def player(self, budget: int) -> Policy:
        """Returns a policy that has pulled nothing, and starts from what is known."""
        player = self.choice.new(n_arms=self.bandit.n_arms, n_objectives=self.bandit.n_objectives, budget=budget)
        if self.known is not None:
            self.known.begin(player, self.scale)
        return player

    def bandit_of(self, run: int) -> Bandit:
        """Returns what is pulled in a run."""
        return self.bandit if self.truths is None else replace(self.bandit, means=self.truths.means[run])

    def curve(self, engine: str, tallies: IntArray, spans: tuple[Span, ...]) -> ErrorCurve:
        """Returns the curve of counted runs."""
        return ErrorCurve(
            instance=self.bandit.name,
            digest=self.digest,
            policy=self.policy,
            options=self.options,
            scale=None if self.scale is None else tuple(self.scale.tolist()),
            engine=engine,
            budgets=self.budgets,
            tallies=tallies,
            spans=spans,
        )


def make_task(
    bandit: Bandit,
    policy: PolicyGiven,
    /,
    *,
    budgets: int | Iterable[int] | None = None,
    scale: ArrayLike | None = None,
    hypervolume: bool = True,
    truths: Truths | None = None,
    known: Known | None = None,
    by_arm: bool = False,
) -> Task:
    """Returns what is to be simulated; refuses a policy, an option or a budget that does not work."""
    T = check_budgets(budgets, bandit)
    widths = check_scale(scale, bandit.n_objectives)
    choice = informed(check_policy(policy), bandit, scale=None if has_exact(widths) else widths)
    volume = check_flag(hypervolume, "hypervolume") and truths is None
    if known is not None and not choice.growable:
        able = ", ".join(policies_with("growable"))
        raise InvalidInput(f"{choice.name} plans its rounds ahead and cannot start from known=; these can: {able}.")
    task = Task(bandit, choice, T, widths, volume, truths, known, check_flag(by_arm, "by_arm"))
    for budget in task.budgets:
        try:
            check_exact(task.player(budget), widths)
        except BudgetTooSmall as refusal:
            raise BudgetTooSmall(f"{choice.name} on {bandit.name}: {refusal}", refusal.smallest) from None
    return task


def informed(choice: PolicyChoice, bandit: Bandit, *, scale: FloatArray | None = None) -> PolicyChoice:
    """Returns the choice with the true complexity filled in, if its policy must be told it and the options do not say.

    It is that of the objectives as the policy sees them, divided by their scale.
    """
    if not choice.needs_complexity or "complexity" in choice.options:
        return choice
    return choice.with_default(complexity=bandit.complexity if scale is None else complexity(bandit.means / scale))


def check_scale(scale: ArrayLike | None, n_objectives: int) -> FloatArray | None:
    """Returns what each objective is divided by as one number per objective, or None; 0 is for objectives without noise."""
    if scale is None:
        return None
    try:
        widths = check_numbers(scale, "scale")
    except InvalidInput:
        widths = np.empty(0)
    least = widths >= 0 if widths.ndim else widths > 0
    if widths.shape not in ((), (n_objectives,)) or not (np.isfinite(widths) & least).all():
        raise InvalidInput(
            f"scale={short(scale)} must be one positive number, or {n_objectives}, one per objective: what each is divided by, "
            "or 0 where it is without noise."
        )
    return frozen(np.broadcast_to(widths, (n_objectives,)).copy())


def n_tallies(task: Task) -> int:
    """Returns how many totals there are for each budget: ``TALLIES``, and of every arm its pulls and how often it was wrong."""
    return len(TALLIES) + (2 * task.bandit.n_arms if task.by_arm else 0)


def has_exact(scale: FloatArray | None) -> bool:
    """Returns whether a scale says of some objective that it is without noise."""
    return scale is not None and not scale.all()


def check_exact(player: Policy, scale: FloatArray | None) -> None:
    """Refuses objectives without noise for a policy that knows none."""
    if scale is not None and has_exact(scale) and not player.amendable:
        raise InvalidInput(
            f"scale={scale.tolist()} says that objective {int(scale.argmin())} is without noise, and "
            f"{player.name or 'this policy'} knows no such objectives; these do: {', '.join(policies_with('amendable'))}."
        )


def check_budgets(given: int | Iterable[int] | None, bandit: Bandit) -> tuple[int, ...]:
    """Returns the budgets, by default the bandit's own; refuses none at all and one named twice."""
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"bandit={short(bandit)} is not a Bandit; write pp.instance(NAME) or pp.Bandit(means, noise=...).")
    if given is None:
        if bandit.budget is None:
            raise InvalidInput("budgets= is missing, and this bandit has no budget of its own; say budgets=[500, 1000].")
        given = bandit.budget
    if isinstance(given, str | bytes):
        raise InvalidInput(f"budgets={short(given)} is a text; write for instance budgets=[500, 1000].")
    one = isinstance(given, np.ndarray) and given.ndim == 0
    is_list = isinstance(given, Iterable) and not one
    several = check_sequence(given, "budgets", "is not a list; write for instance budgets=[500, 1000]") if is_list else (given,)
    T = tuple(check_integer(budget, "budgets", minimum=0, maximum=LARGEST_BUDGET) for budget in several)
    if not T or len(set(T)) != len(T):
        raise InvalidInput(f"budgets={list(T)} must name at least one budget, and none twice.")
    return T
