"""The answer of ``doubt`` to the data of other policies, beside their own answers: the same runs, judged twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._tables import markdown_table
from paretopick._words import joined
from paretopick.errors import SimulationInterrupted
from paretopick.paper.database import ResultsDatabase
from paretopick.paper.families import Problem
from paretopick.paper.ratios import REFERENCE, Score, geometric_mean, ratio_of
from paretopick.paper.series import Series, affordable
from paretopick.policies.doubt import likely_optimal
from paretopick.policies.ege import EGE
from paretopick.simulation.results import TALLIES, ErrorCurve, Span

JUDGED = ("ege-sr", "uniform", "apt")
"""The policies whose data are judged by the rule of ``doubt``, too."""

MOST_STEPS = {"paper": 2600}
"""By set: with larger budgets, policies that choose pull by pull are not looked at, since a run goes through ask and tell."""
MOST_RANDOM_STEPS = 1000

COUNTED = [TALLIES.index(name) for name in ("errors", "relaxed_losses", "pulls")]

TEXT = """## The rule of the answer, for every policy

`doubt` does not answer with the empirical Pareto set alone: arms below it are in the answer, too, as long as their most likely
dominator is no more likely to dominate them than not, and arms of it are left out that another one has most likely overtaken, as
explained above. The rule is a function of counts, means and variances, so that it can judge
the data of any policy. Here it judges the final data of runs whose policy gives its own answer beside it; the ratio is that of
errors by the rule of `doubt` to errors of the policy's own answer, on the same runs. Runs go through ask and tell: those of
`apt`, which chooses pull by pull, on problems with budgets up to {paper:,} (the paper's) and {random:,} (random ones). The
policies of the paper stay as they are.

"""


@dataclass(frozen=True, eq=False)
class JudgedTwice(Series):
    """Runs through ask and tell: ``errors`` are those of the policy's own answers, ``relaxed_losses`` those by the other rule."""

    @cached_property
    def key(self) -> str:
        """That of no other series."""
        return f"{super().key[:24]}-answers"

    @cached_property
    def engine(self) -> Literal["compiled", "reference"]:
        """Only the reference engine has the data of a run."""
        return "reference"

    @property
    def label(self) -> str:
        """What is running."""
        return f"the answers of {super().label}"

    @property
    def weight(self) -> float:
        """About how many nanoseconds a run takes."""
        player = self.task.player(self.budgets[0])
        asked = len(player.schedule.pulls) if isinstance(player, EGE) else self.budgets[0]
        return 1e6 + 130_000.0 * asked + 200.0 * self.budgets[0]

    def simulate(self, **how: Any) -> ErrorCurve:
        """Makes runs, one after the other; see ``Series.simulate``."""
        (budget,), first, n, seed = how["budgets"], how["start"], how["runs"], how["rng"]
        totals, done = np.zeros(len(TALLIES), dtype=np.int64), 0

        def curve() -> ErrorCurve:
            counted = self.task.curve("reference", totals[None], (Span((seed,), first, first + done),))
            return replace(counted, draws="order")  # from a generator, not as simulate() draws

        try:
            for run in range(first, first + n):
                totals[COUNTED] += self._judge(budget, np.random.SeedSequence(seed, spawn_key=(run,)))
                done += 1
                if how["progress"] is not None:
                    how["progress"](done, n)
        except KeyboardInterrupt:
            raise SimulationInterrupted(curve() if done else None) from None
        return curve()

    def _judge(self, budget: int, seed: np.random.SeedSequence) -> tuple[int, int, int]:
        """Whether the policy's own answer is wrong, and that by the rule of ``doubt`` to the same data; and the pulls."""
        player, rng = self.task.player(budget), np.random.default_rng(seed)
        data = _Data(self.bandit.n_arms, self.bandit.n_objectives)
        while not player.done:
            arms = player.ask()
            values = self.bandit.sample(arms, rng)
            player.tell(arms, values)
            data.add(arms, values)
        own = np.zeros(self.bandit.n_arms, dtype=np.bool_)
        own[player.recommend()] = True
        wrong, otherwise_wrong = (int((answer != self.bandit.optimal).any()) for answer in (own, data.answer()))
        return wrong, otherwise_wrong, int(data.counts.sum())


class _Data:
    """Counts, sums, and sums of squared deviations from the first value of each arm, which lose no digits to large means."""

    def __init__(self, n_arms: int, n_objectives: int) -> None:
        self.counts: IntArray = np.zeros(n_arms, dtype=np.int64)
        self.first, self.sums, self.squares = np.zeros((3, n_arms, n_objectives))

    def add(self, arms: IntArray, values: FloatArray) -> None:
        """Takes observations."""
        new, place = np.unique(arms, return_index=True)
        fresh = self.counts[new] == 0
        self.first[new[fresh]] = values[place[fresh]]
        away = values - self.first[arms]
        np.add.at(self.counts, arms, 1)
        np.add.at(self.sums, arms, away)
        np.add.at(self.squares, arms, away * away)

    def answer(self) -> BoolArray:
        """Returns what ``doubt`` would answer."""
        counts = self.counts[:, None]
        squares = np.maximum(self.squares - self.sums**2 / counts, 0.0)
        return likely_optimal(self.counts, self.sums + counts * self.first, squares)


def judged_twice(problems: Iterable[Problem]) -> list[JudgedTwice]:
    """Returns the runs of the policies on those of the problems that they can be run on."""
    several = []
    for one in problems:
        for policy in JUDGED:
            if affordable(one.bandit, policy, {}, (one.budget,)):
                series = JudgedTwice(one.bandit, policy, {}, (one.budget,))
                if series.by_rounds or one.budget <= MOST_STEPS.get(one.group, MOST_RANDOM_STEPS):
                    several.append(replace(series, share=_share(one, series)))
    return several


def _share(one: Problem, series: JudgedTwice) -> float:
    """Of the runs: of 20,000 on the paper's instances, or of 1,024; a policy that chooses pull by pull takes seconds for ten."""
    if not series.by_rounds:
        return 1 / 32 if one.group == "paper" else 1 / 8
    return 1 / 8 if one.group == "paper" else 1 / 2


@dataclass(frozen=True)
class Judged:
    """Both answers to the data of one policy on the problems of a set, problem by problem: its own, and that by the rule."""

    group: str
    policy: str
    pairs: list[tuple[Score, Score]]

    @property
    def ratio(self) -> float:
        """The geometric mean of the ratios of errors by the rule to errors of the own answer."""
        return geometric_mean([ratio_of(other, own).value for own, other in self.pairs]).value

    @property
    def cells(self) -> list[str]:
        """A row of the table."""
        own, other = (sum(pair[i].errors for pair in self.pairs) for i in (0, 1))
        fewer, more = (sum((b.errors - a.errors) * sign > 0 for a, b in self.pairs) for sign in (-1, 1))
        counts = [len(self.pairs), sum(a.runs for a, _ in self.pairs), own, other]
        return [self.group, f"`{self.policy}`", *(f"{n:,}" for n in counts), f"**{self.ratio:.2f}**", str(fewer), str(more)]


def answers_section(problems: Mapping[str, Iterable[Problem]], database: ResultsDatabase) -> str:
    """Returns the section of the page about answers by the rule of ``doubt``; nothing if no such run has been made."""
    judged = answer_rules(problems, database)
    if not judged:
        return ""
    header = ["set", "policy", "problems", "runs", "errors", "by the rule of doubt", "geometric mean", "fewer on", "more on"]
    table = markdown_table(header, (one.cells for one in judged), shown=str)
    ratios = {one.group: one.ratio for one in judged if one.policy == REFERENCE}
    found = [f"{ratio:.2f} times as many errors as its own answers in the set {group}" for group, ratio in ratios.items()]
    finding = f"Judged by it, the data of EGE-SR led to {joined(found)}.\n\n"
    return TEXT.format(paper=MOST_STEPS["paper"], random=MOST_RANDOM_STEPS) + (finding if found else "") + table + "\n"


def answer_rules(problems: Mapping[str, Iterable[Problem]], database: ResultsDatabase) -> list[Judged]:
    """Returns for each set and policy how often its own answer was wrong, and that by the rule of ``doubt`` to the same data."""
    counted: dict[tuple[str, str], list[tuple[Score, Score]]] = {}
    for group, several in problems.items():
        for series in judged_twice(several):
            for point in database.points(series).values():
                own, other = (Score(int(getattr(point.curve, of)[0]), point.runs) for of in ("errors", "relaxed_losses"))
                counted.setdefault((group, series.policy), []).append((own, other))
    return [Judged(group, policy, pairs) for (group, policy), pairs in counted.items()]
