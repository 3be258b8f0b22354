"""Errors of policies as ratios to those of EGE-SR: problem by problem, and geometric means over problems of a kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paretopick.paper.families import Problem

REFERENCE = "ege-sr"
"""What all policies are compared with."""

Z = 1.959963984540054
"""Of a 95% interval."""


@dataclass(frozen=True)
class Score:
    """How often one policy was wrong on one problem."""

    errors: int
    runs: int

    @property
    def rate(self) -> float:
        """The share of wrong runs."""
        return self.errors / self.runs

    @property
    def estimate(self) -> float:
        """``(errors + 1/2) / (runs + 1)``, which can be divided by and is never 0 or 1.

        >>> Score(0, 9).estimate
        0.05
        """
        return (self.errors + 0.5) / (self.runs + 1)

    @property
    def variance_of_log(self) -> float:
        """That of the logarithm of the estimate."""
        return (1 - self.estimate) / (self.errors + 0.5)


class Ratio(NamedTuple):
    """A ratio of errors with its 95% interval: below 1 is better."""

    value: float
    low: float
    high: float

    @property
    def loses(self) -> bool:
        """Whether it is above 1 by more than its interval."""
        return self.low > 1

    @property
    def wins(self) -> bool:
        """Whether it is below 1 by more than its interval."""
        return self.high < 1


def ratio_of(score: Score, other: Score) -> Ratio:
    """Returns the ratio of two policies' errors on one problem; the interval is the normal one of its logarithm.

    >>> ratio_of(Score(49, 998), Score(99, 998)).value.__round__(4)
    0.4975
    """
    log = math.log(score.estimate / other.estimate)
    return _ratio(log, math.sqrt(score.variance_of_log + other.variance_of_log))


def geometric_mean(ratios: Sequence[float]) -> Ratio:
    """Returns the geometric mean of ratios, and the interval in which it is for other problems of the kind; 0 to inf for one.

    >>> geometric_mean([0.25, 1.0]).value
    0.5
    """
    logs = [math.log(ratio) for ratio in ratios]
    mean = math.fsum(logs) / len(logs)
    if len(logs) == 1:
        return Ratio(ratios[0], 0.0, math.inf)
    variance = math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1)
    return _ratio(mean, math.sqrt(variance / len(logs)))


def _ratio(log: float, deviation: float) -> Ratio:
    return Ratio(math.exp(log), math.exp(log - Z * deviation), math.exp(log + Z * deviation))


@dataclass(frozen=True)
class Scores:
    """What has been counted of a set: problems, and how every policy did on each of them that it was run on."""

    problems: tuple[Problem, ...]
    of: Mapping[tuple[str, str], Score]
    """By the names of problem and policy."""

    @property
    def policies(self) -> list[str]:
        """All that were run on any problem, in the order in which they came."""
        return list(dict.fromkeys(policy for _, policy in self.of))

    def ratios(self, policy: str, other: str = REFERENCE) -> dict[Problem, Ratio]:
        """Returns the ratio of a policy's errors to another's, on every problem on which both were run."""
        pairs = ((one, self.of.get((one.name, policy)), self.of.get((one.name, other))) for one in self.problems)
        return {one: ratio_of(mine, theirs) for one, mine, theirs in pairs if mine and theirs}

    def grouped(self, by: str) -> dict[str, Scores]:
        """Returns the scores in the groups of one of ``GROUPINGS``, those that are not empty, in their order."""
        names, group_of = GROUPINGS[by]
        groups: dict[str, list[Problem]] = {name: [] for name in names}
        for one in self.problems:
            if (reference := self.of.get((one.name, REFERENCE))) is not None:
                groups.setdefault(group_of(one, reference), []).append(one)
        return {name: self.only(several) for name, several in groups.items() if several}

    def only(self, problems: Iterable[Problem]) -> Scores:
        """Returns the scores on some of the problems."""
        kept = tuple(problems)
        names = {one.name for one in kept}
        return Scores(kept, {key: score for key, score in self.of.items() if key[0] in names})


def _objectives(one: Problem, _: Score) -> str:
    D = one.bandit.n_objectives
    if D == 1:
        return "D = 1"
    return "D = 2 to 4" if D < 5 else "D >= 5, few optimal arms" if one.few_optimal else "D >= 5, others"


def _arms(one: Problem, _: Score) -> str:
    return "K up to 20" if one.bandit.n_arms <= 20 else "K from 21 to 60" if one.bandit.n_arms <= 60 else "K above 60"


def _budget(one: Problem, _: Score) -> str:
    pulls = one.budget / one.bandit.n_arms
    return "T below 10 K" if pulls < 10 else "T from 10 K to 100 K" if pulls < 100 else "T above 100 K"


def _difficulty(_: Problem, reference: Score) -> str:
    rate = reference.estimate
    return "EGE-SR errs below 10%" if rate < 0.1 else "10% to 1/3" if rate <= 1 / 3 else "above 1/3"


GROUPINGS: dict[str, tuple[tuple[str, ...], Callable[[Problem, Score], str]]] = {
    "family": ((), lambda one, _: one.family),
    "objectives": (("D = 1", "D = 2 to 4", "D >= 5, few optimal arms", "D >= 5, others"), _objectives),
    "noise": ((), lambda one, _: one.noise),
    "arms": (("K up to 20", "K from 21 to 60", "K above 60"), _arms),
    "budget": (("T below 10 K", "T from 10 K to 100 K", "T above 100 K"), _budget),
    "error of EGE-SR": (("EGE-SR errs below 10%", "10% to 1/3", "above 1/3"), _difficulty),
}
"""What problems are sorted by: the order of the groups, where they do not come in one, and the group of a problem."""
