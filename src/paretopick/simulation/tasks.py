"""What is to be simulated: one policy on one bandit at several budgets, checked before any run starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
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
from paretopick.policies import OwnPolicyGiven, PolicyChoice, PolicyGiven, check_simulated, policies_with
from paretopick.policies.base import Policy
from paretopick.simulation.common_draws import by_counter
from paretopick.simulation.known import Known
from paretopick.simulation.results import TALLIES, ErrorCurve, Span
from paretopick.simulation.truths import Truths
from paretopick.theory.complexity import complexity
from paretopick.theory.margins import Limits, Margins
from paretopick.theory.requirements import Requirements, check_requirements


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
    requirements: Requirements | None = None
    """Which differences matter and which limits arms must keep, in the units of the bandit; None if nobody said."""
    ladder: tuple[Requirements, ...] = ()
    """Other margins under which answers are counted."""

    @property
    def divisors(self) -> FloatArray | None:
        """What values are divided by before the policy is told them; where objectives are without noise it divides itself."""
        return None if has_exact(self.scale) else self.scale

    @property
    def seen_requirements(self) -> Requirements | None:
        """The requirements in the units in which the policy is told values; None if every difference matters, without limits."""
        required = self.requirements
        if required is None or required.is_plain:
            return None
        return required if self.divisors is None else required.divided(self.divisors)

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
        """A text that is equal for tasks that are equal, in this process.

        What is of your own counts by where it is in memory: in a notebook the class of that name may be another one by now.
        """
        scale = None if self.scale is None else self.scale.tolist()
        required = None if self.requirements is None else self.requirements.key
        parts = [self.bandit.name, self.digest, self.policy, self.options, self.budgets, scale, self.hypervolume, self.by_arm]
        parts += [required, [rung.key for rung in self.ladder], id(type(self.bandit.noise)), id(self.choice.own)]
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

    def player(self, budget: int, rng: np.random.Generator | None = None) -> Policy:
        """Returns a policy that has pulled nothing, and starts from what is known.

        It is told what is required, if it regards that: margins and limits, each unless its options say something else.
        Policies of your own that throw dice are given ``rng``.
        """
        player = self.choice.new(n_arms=self.bandit.n_arms, n_objectives=self.bandit.n_objectives, budget=budget, rng=rng)
        if (seen := self.seen_requirements) is not None and player.knows_margins:
            margins = self.options.get("margins", seen.as_margins)
            limits = self.options.get("limits", seen.as_limits)
            player.require(check_requirements(margins, limits, self.bandit.n_objectives))
        if self.known is not None:
            self.known.begin(player, self.scale)
        return player

    def bandit_of(self, run: int) -> Bandit:
        """Returns what is pulled in a run."""
        return self.bandit if self.truths is None else replace(self.bandit, means=self.truths.means[run])

    def draws(self, engine: str) -> str:
        """Returns what runs of the same seed have in common in an engine, as ``ErrorCurve.draws`` says it."""
        if not by_counter(self.bandit.noise):
            return "order"
        return "pulls" if engine == "reference" or self.kind.stepwise else "rounds"

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
            margins=None if self.requirements is None else self.requirements.as_margins,
            limits=None if self.requirements is None else self.requirements.as_limits,
            ladder=tuple(rung.as_margins for rung in self.ladder),
            draws=self.draws(engine),
        )


def make_task(
    bandit: Bandit,
    policy: PolicyGiven | OwnPolicyGiven,
    /,
    *,
    budgets: int | Iterable[int] | None = None,
    scale: ArrayLike | None = None,
    hypervolume: bool = True,
    truths: Truths | None = None,
    known: Known | None = None,
    by_arm: bool = False,
    margins: Margins = None,
    limits: Limits = None,
    ladder: Sequence[Margins] = (),
) -> Task:
    """Returns what is to be simulated; refuses a policy, an option or a budget that does not work."""
    T = check_budgets(budgets, bandit)
    widths = check_scale(scale, bandit.n_objectives)
    choice = informed(check_simulated(policy), bandit, scale=None if has_exact(widths) else widths)
    given = margins is not None or limits is not None
    required = check_requirements(margins, limits, bandit.n_objectives) if given else None
    rungs = check_ladder(ladder, required or Requirements.none(bandit.n_objectives))
    # Arms that break a limit may lie above the Pareto set of the others, of whose volume answers would be more than all.
    whole = required is None or not (required.limited or not required.compared.all())
    volume = check_flag(hypervolume, "hypervolume") and truths is None and whole
    if known is not None and not choice.growable:
        able = ", ".join(policies_with("growable"))
        raise InvalidInput(f"{choice.name} cannot start from known=; these can: {able}.")
    task = Task(bandit, choice, T, widths, volume, truths, known, check_flag(by_arm, "by_arm"), required, rungs)
    for budget in task.budgets:
        try:
            player = task.player(budget)
            check_exact(player, widths)
            check_player(player, task, budget)
        except BudgetTooSmall as refusal:
            raise BudgetTooSmall(f"{choice.name} on {bandit.name}: {refusal}", refusal.smallest) from None
    return task


def check_player(player: Policy, task: Task, budget: int) -> None:
    """Refuses a policy that was made for another problem, or does not keep the budget; a function of yours may return such."""
    if task.choice.own is None:
        return
    size = (player.n_arms, player.n_objectives)
    if size != task.bandit.means.shape:
        raise InvalidInput(
            f"{task.choice.name} made a policy for {size[0]} arms and {size[1]} objectives, and {task.bandit.name} has "
            f"{task.bandit.n_arms} and {task.bandit.n_objectives}; hand on n_arms= and n_objectives=."
        )
    if player.pulls_left is None or player.pulls_left > budget:
        planned = "without end" if player.pulls_left is None else f"for {player.pulls_left} pulls"
        raise InvalidInput(f"{task.choice.name} was given budget={budget} and plans {planned}; hand on budget=.")


def check_ladder(ladder: Sequence[Margins], required: Requirements) -> tuple[Requirements, ...]:
    """Returns what is required with each of the margins on a ladder; refuses those that compare arms in other objectives."""
    rungs = []
    for given in check_sequence(ladder, "ladder", "is not a list of margins, such as [0.1, 0.2]"):
        rung = check_requirements(given, required.as_limits, len(required.margins))
        if (rung.compared != required.compared).any():
            raise InvalidInput(
                f"ladder has the margins {list(rung.as_margins)}, and arms are compared in other objectives under "
                f"margins={list(required.as_margins)}; write None in both, or in neither."
            )
        rungs.append(rung)
    return tuple(rungs)


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
    """Returns how many totals there are for each budget: those of ``ErrorCurve.tallies``."""
    return len(TALLIES) + (task.requirements is not None) + len(task.ladder) + (2 * task.bandit.n_arms if task.by_arm else 0)


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
        raise InvalidInput(
            f"bandit={short(bandit)} is not a Bandit; write pp.instance(NAME) or pp.Bandit(means, noise=...), one in each call."
        )
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
