"""The reference engine: every run goes through ask and tell, pull by pull; slow, and obviously right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paretopick._arrays import IntArray
from paretopick.bandits import Bandit
from paretopick.policies import policy
from paretopick.policies.base import Policy
from paretopick.simulation.results import BILLION, TALLIES, UNDEFINED, ErrorCurve, Span
from paretopick.theory import losses


def play(bandit: Bandit, player: Policy, rng: np.random.Generator) -> None:
    """Pulls whatever the policy asks for until it is done."""
    while not player.done:
        arms = player.ask()
        player.tell(arms, bandit.sample(arms, rng))


def simulate_span(bandit: Bandit, name: str, options: Mapping[str, Any], budgets: tuple[int, ...], span: Span) -> ErrorCurve:
    """Returns the curve of one span of runs: a function of its arguments alone, whatever else runs beside it.

    Run r of a seed draws from a generator of its own, the same one at every budget and for every policy.
    """
    tallies = np.zeros((len(budgets), len(TALLIES)), dtype=np.int64)
    score = _Scorer(bandit, options.get("max_arms"))
    entropy, *key = span.seed
    for run in range(span.first, span.last):
        seed = np.random.SeedSequence(entropy, spawn_key=(*key, run))
        for row, budget in zip(tallies, budgets, strict=True):
            player = policy(name, n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=budget, **options)
            play(bandit, player, np.random.default_rng(seed))
            row += score(player)
    return ErrorCurve(bandit.name, name, options, budgets, tallies, (span,))


class _Scorer:
    """The row of ``TALLIES`` of a finished run."""

    def __init__(self, bandit: Bandit, max_arms: int | None) -> None:
        self._bandit = bandit
        # An answer of more arms than there are is none, so this asks for the whole Pareto set.
        self._max_arms = bandit.n_arms + 1 if max_arms is None else max_arms
        self._volumes: dict[bytes, int] = {}

    def __call__(self, player: Policy) -> IntArray:
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
        key = answer.tobytes()
        if key not in self._volumes:
            fraction = losses.hypervolume_fraction(answer, self._bandit.means)
            self._volumes[key] = UNDEFINED if np.isnan(fraction) else round(fraction * BILLION)
        return self._volumes[key]
