"""The reference engine: every run goes through ask and tell, pull by pull; slow, and obviously right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from paretopick._arrays import IntArray, check_rng
from paretopick.bandits import Bandit, Seed
from paretopick.errors import InvalidInput
from paretopick.policies import policy
from paretopick.policies.base import Policy
from paretopick.simulation.results import BILLION, TALLIES, UNDEFINED, ErrorCurve, Span
from paretopick.theory import losses


def play(bandit: Bandit, player: Policy, rng: Seed) -> None:
    """Pulls whatever the policy asks for until it is done.

    Args:
        bandit: what is pulled.
        player: a policy, fresh or in the middle of a run.
        rng: an int, SeedSequence or Generator.
    """
    if not isinstance(player, Policy):
        raise InvalidInput(f"player={player!r} is not a policy; write pp.policy(NAME, n_arms=..., n_objectives=..., budget=...).")
    if (player.n_arms, player.n_objectives) != bandit.means.shape:
        raise InvalidInput(
            f"the policy is for {player.n_arms} arms and {player.n_objectives} objectives, the bandit has {bandit.n_arms} and "
            f"{bandit.n_objectives}; make one for the other."
        )
    if player.snapshot().pulls_left is None:
        raise InvalidInput(f"{player.name or 'this policy'} has no budget and is never done; make it with budget=.")
    generator = check_rng(rng)
    while not player.done:
        arms = player.ask()
        player.tell(arms, bandit.sample(arms, generator))


class Runner:
    """Runs of one policy on one bandit at several budgets."""

    def __init__(
        self, bandit: Bandit, name: str, options: Mapping[str, Any], budgets: tuple[int, ...], hypervolume: bool
    ) -> None:
        self._bandit, self._name, self._options, self._budgets = bandit, name, options, budgets
        # An answer of more arms than there are is none, so without max_arms this asks for the whole Pareto set.
        self._max_arms = options.get("max_arms", bandit.n_arms + 1)
        self._hypervolume = hypervolume
        self._volumes: dict[bytes, int] = {}

    def empty(self) -> ErrorCurve:
        """Returns the curve of no runs."""
        return self._curve(np.zeros((len(self._budgets), len(TALLIES)), dtype=np.int64), ())

    def span(self, span: Span) -> ErrorCurve:
        """Returns the curve of a span of runs: a function of the span alone, whatever else runs beside it.

        Run r of a seed draws from a generator of its own, the same one at every budget and for every policy.
        """
        tallies = np.zeros((len(self._budgets), len(TALLIES)), dtype=np.int64)
        entropy, *key = span.seed
        for run in range(span.first, span.last):
            seed = np.random.SeedSequence(entropy, spawn_key=(*key, run))
            for row, budget in zip(tallies, self._budgets, strict=True):
                player = self.player(budget)
                play(self._bandit, player, seed)
                row += self._score(player)
        return self._curve(tallies, (span,))

    def player(self, budget: int) -> Policy:
        """Returns a fresh policy."""
        size = {"n_arms": self._bandit.n_arms, "n_objectives": self._bandit.n_objectives}
        return policy(self._name, **size, budget=budget, **self._options)

    def _curve(self, tallies: IntArray, spans: tuple[Span, ...]) -> ErrorCurve:
        return ErrorCurve(
            instance=self._bandit.name,
            digest=self._bandit.digest,
            policy=self._name,
            options=self._options,
            budgets=self._budgets,
            tallies=tallies,
            spans=spans,
        )

    def _score(self, player: Policy) -> IntArray:
        """The row of ``TALLIES`` of a finished run."""
        answer, optimal = player.recommend(), self._bandit.optimal
        record = player.snapshot()
        return np.array(
            [
                losses.misidentified(answer, optimal),
                losses.relaxed_loss(answer, optimal, max_arms=self._max_arms),
                losses.wrongly_accepted(answer, optimal),
                losses.wrongly_rejected(answer, optimal),
                record.pulls_used,
                record.round,
                self._volume(answer),
            ],
            dtype=np.int64,
        )

    def _volume(self, answer: IntArray) -> int:
        """The hypervolume fraction in billionths, computed once for each answer that occurs."""
        if not self._hypervolume or not 0 < self._front_volume < math.inf:
            return UNDEFINED
        key = answer.tobytes()
        if key not in self._volumes:
            volume = losses.hypervolume(self._bandit.means[answer])
            self._volumes[key] = round(volume / self._front_volume * BILLION)
        return self._volumes[key]

    @cached_property
    def _front_volume(self) -> float:
        return losses.hypervolume(self._bandit.means[self._bandit.optimal])
