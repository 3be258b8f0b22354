"""What an experiment asks the engine for: runs of one policy on one bandit at some budgets."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from paretopick import __version__
from paretopick.bandits import Bandit
from paretopick.errors import BudgetTooSmall
from paretopick.simulation import make_task
from paretopick.simulation.tasks import Task


@dataclass(frozen=True, eq=False)
class Series:
    """Runs of one policy on one bandit at some budgets: the data of one line in a figure.

    Args:
        bandit: what is pulled.
        policy: its name.
        options: of the policy.
        budgets: all of which the policy can work with; see ``affordable``.
        share: of the runs asked for: less than 1 where a run takes long, more than 1 where rare events are looked for.
        hypervolume: whether the hypervolume fraction is wanted.
        timed: whether this is about how long a run takes: in one thread, after the kernels have been compiled.
    """

    bandit: Bandit
    policy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    budgets: tuple[int, ...] = ()
    share: float = 1.0
    hypervolume: bool = False
    timed: bool = False

    @property
    def label(self) -> str:
        """What is running, for people who wait."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.policy} on {self.bandit.name}" + (f" ({options})" if options else "")

    def wanted(self, runs: int) -> int:
        """How many runs this is, when so many are asked for."""
        return max(1, math.ceil(runs * self.share))

    @cached_property
    def key(self) -> str:
        """A text that is equal for series whose runs at a budget are the same; another version may count other runs."""
        parts = [__version__, self.bandit.name, self.bandit.digest, self.policy, dict(self.options), self.hypervolume, self.timed]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    @cached_property
    def task(self) -> Task:
        """What the engine makes of it."""
        spec = (self.policy, self.options)
        return make_task(self.bandit, spec, budgets=self.budgets, hypervolume=self.hypervolume)

    @property
    def weight(self) -> float:
        """About how many nanoseconds a run takes, all budgets together: to say how long is left."""
        K, D = self.bandit.n_arms, self.bandit.n_objectives
        if self.policy not in NANOSECONDS_PER_PULL:
            return len(self.budgets) * 30.0 * K * D
        per_pull, per_arm = NANOSECONDS_PER_PULL[self.policy]
        pulls = max(self.budgets) if self.policy == "apt" else sum(self.budgets)
        return pulls * (per_pull + per_arm * K * math.sqrt(D))


NANOSECONDS_PER_PULL = {"ape-fb": (12.0, 1.0), "ape-fb-adapt": (30.0, 3.6), "apt": (30.0, 1.5)}
"""Of the policies that pull one arm at a time: a part of every pull, and one that grows with arms and objectives."""


def affordable(bandit: Bandit, policy: str, options: Mapping[str, Any], budgets: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the budgets that a policy can work with."""

    def works(budget: int) -> bool:
        try:
            make_task(bandit, (policy, options), budgets=budget)
        except BudgetTooSmall:
            return False
        return True

    return tuple(budget for budget in budgets if works(budget))
