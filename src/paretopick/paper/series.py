"""What the engine is asked for: the algorithms that the figures compare, and series, the runs of one of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from paretopick import __version__
from paretopick.bandits import Bandit
from paretopick.errors import BudgetTooSmall
from paretopick.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from paretopick.policies import PolicyChoice
from paretopick.simulation import ErrorCurve, make_task, simulate
from paretopick.simulation.compiled import why_no_kernel
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
        parts += [] if self.engine == "compiled" else [self.engine]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    @cached_property
    def task(self) -> Task:
        """What the engine makes of it."""
        spec = PolicyChoice(self.policy, self.options)
        return make_task(self.bandit, spec, budgets=self.budgets, hypervolume=self.hypervolume)

    def simulate(self, **how: Any) -> ErrorCurve:
        """Makes runs at some of its budgets.

        Args:
            how: ``budgets``, ``runs``, ``start``, ``rng``, ``workers``, ``executor`` and ``progress``, as of ``simulate``.
        """
        spec = PolicyChoice(self.policy, self.options)
        return simulate(self.bandit, spec, hypervolume=self.hypervolume, engine=self.engine, **how)

    @cached_property
    def engine(self) -> Literal["compiled", "reference"]:
        """Which engine runs it: the slow one if the policy has no kernel; the two count different runs."""
        return "compiled" if not self.budgets or why_no_kernel(self.task) is None else "reference"

    @cached_property
    def by_rounds(self) -> bool:
        """Whether the policy pulls in rounds, so that a run costs the same for any budget."""
        return not self.budgets or not self.task.kind.stepwise

    @property
    def weight(self) -> float:
        """About how many nanoseconds a run takes, all budgets together: to say how long is left."""
        K, D = self.bandit.n_arms, self.bandit.n_objectives
        if self.by_rounds:
            return len(self.budgets) * 30.0 * K * D
        per_pull, per_arm = NANOSECONDS_PER_PULL.get(self.policy, (30.0, 3.6))
        return sum(self.budgets) * (per_pull + per_arm * K * math.sqrt(D))


NANOSECONDS_PER_PULL = {"ape-fb": (12.0, 1.0), "ape-fb-adapt": (30.0, 3.6), "apt": (8.0, 0.4), "doubt": (300.0, 1.0)}
"""Of the policies that pull one arm at a time: a part of every pull, and one that grows with arms and objectives. What differs
much from the others is here; one run of apt serves all budgets, so that its pulls count a quarter."""


def affordable(bandit: Bandit, policy: str, options: Mapping[str, Any], budgets: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the budgets that a policy can work with."""

    def works(budget: int) -> bool:
        try:
            make_task(bandit, PolicyChoice(policy, options), budgets=budget)
        except BudgetTooSmall:
            return False
        return True

    return tuple(budget for budget in budgets if works(budget))


Scale = Literal["text", "drawn"]
"""Which c of APE-FB is meant: the one in the paper's text, or the nine times larger one that its curves were drawn with."""


class Look(NamedTuple):
    """How a line is drawn."""

    colour: str
    dash: str = "-"
    marker: str = "o"


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A policy with its options, as the error curves compare it; the name of the policy is enough.

    Args:
        policy: its name.
        options: of the policy.
        name: in the data, by default that of the policy.
        label: in legends and findings, by default the name.
        look: of its line, by default one that no other algorithm has.
        scales: the panels of a figure that it appears in, by default both.
    """

    policy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    label: str = ""
    look: Look | None = None
    scales: tuple[Scale, ...] = ("text", "drawn")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.policy)
        object.__setattr__(self, "label", self.label or self.name)

    @property
    def full_label(self) -> str:
        """The label with the scale of c, where a figure says that above its panels."""
        return self.label if len(self.scales) > 1 else f"{self.label} {'(as in the text)' if 'text' in self.scales else '(9 c)'}"

    @property
    def drawn_as(self) -> Look:
        """Its look, or the next of the spare ones."""
        if self.look is not None:
            return self.look
        plain = [one.name for one in ALGORITHMS.values() if one.look is None]
        return SPARE_LOOKS[plain.index(self.name) % len(SPARE_LOOKS) if self.name in plain else 0]

    def series(self, bandit: Bandit, budgets: tuple[int, ...]) -> Series:
        """Returns its runs on a bandit, at those of the budgets that it can work with."""
        share = SHARES.get((bandit.name, self.name), 1.0)
        return Series(bandit, self.policy, self.options, affordable(bandit, self.policy, self.options, budgets), share=share)


def _ape_fb(c: str, scale: Scale) -> Algorithm:
    dash, marker = {"1/10": (":", "v"), "1": ("-", "s"), "10": ("--", "^")}[c]
    value = {"1/10": 0.1, "1": 1.0, "10": 10.0}[c] * {"text": 1, "drawn": 9}[scale]
    name = f"ape-fb-{c.replace('/', '-')}" + ("-drawn" if scale == "drawn" else "")
    return Algorithm("ape-fb", {"c": value}, name, f"APE-FB, c = {c}", Look(PURPLE, dash, marker), (scale,))


UNIFORM = Algorithm("uniform", label="UA", look=Look(GREY, marker="x"))
EGE_SR = Algorithm("ege-sr", label="EGE-SR", look=Look(BLUE))
EGE_SH = Algorithm("ege-sh", label="EGE-SH", look=Look(VERMILION))
EGE_GG = Algorithm("ege-gg", label="EGE-GG", look=Look(GREEN, marker="d"))
APE_FB: dict[Scale, dict[str, Algorithm]] = {
    "text": {c: _ape_fb(c, "text") for c in ("1/10", "1", "10")},
    "drawn": {c: _ape_fb(c, "drawn") for c in ("1/10", "1", "10")},
}
"""APE-FB with the oracle's ``a = c 25/36 (T - K) / H`` as in the paper's text, and with 9 c, as its curves were drawn."""
ADAPT = Algorithm("ape-fb-adapt", label="APE-FB-ADAPT, corrected", look=Look(SKY, marker="P"))
ADAPT_PUBLISHED = Algorithm(
    *("ape-fb-adapt", {"as_published": True}, "ape-fb-adapt-published", "APE-FB-ADAPT, as published", Look(ORANGE, "-.", "X"))
)
APT = Algorithm("apt", look=Look(BLACK, marker="*"))

ALGORITHMS = {
    one.name: one
    for one in (
        *(UNIFORM, EGE_SR, EGE_SH, EGE_GG),
        *APE_FB["text"].values(),
        *APE_FB["drawn"].values(),
        *(ADAPT, ADAPT_PUBLISHED, APT),
    )
}
"""Those in every error curve; to add one, a line such as ``Algorithm("yours")`` is enough."""

SPARE_LOOKS = tuple(
    Look(colour, dash, marker)
    for dash, marker in (("-", "D"), ("--", "h"), ("-.", "p"))
    for colour in (YELLOW, GREEN, SKY, ORANGE, BLUE, BLACK)
)

SHARES = {("unit-circle", "ape-fb-adapt"): 0.5, ("high-dimension", "ape-fb-adapt"): 0.75}
"""Of the runs asked for, by instance and algorithm: where all of them would take more than a minute a point on two cores."""
