"""Right or wrong: what each run's answer adds to the counts of a simulation."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from paretopick._arrays import BoolArray, IntArray
from paretopick.bandits import Bandit
from paretopick.simulation.results import BILLION, TALLIES, UNDEFINED
from paretopick.theory import losses


class Judge:
    """Knows the truth about one bandit, and remembers the hypervolumes of answers it has seen."""

    def __init__(self, bandit: Bandit, max_arms: int | None, hypervolume: bool) -> None:
        self._bandit = bandit
        # An answer of more arms than there are is none, so without max_arms this asks for the whole Pareto set.
        self._max_arms = bandit.n_arms + 1 if max_arms is None else max_arms
        self._hypervolume = hypervolume
        self._volumes: dict[bytes, int] = {}

    def tally(self, answers: NDArray[np.uint64], pulls: IntArray, rounds: IntArray) -> IntArray:
        """Returns the totals of ``TALLIES`` over runs.

        Args:
            answers: ``(n_runs, n_words)``: arm a is in the answer if bit a % 64 of word a // 64 is set.
            pulls: how many each run used, or one number for all together.
            rounds: the same of rounds.
        """
        truth = self._bandit.optimal
        wrong = answers[(answers != packed(truth[None])).any(axis=1)]
        different, counts = np.unique(wrong, axis=0, return_counts=True)
        masks = unpacked(different, len(truth))
        relaxed = np.where(masks.sum(axis=1) == self._max_arms, (masks & ~truth).any(axis=1), True)
        totals = {
            "errors": len(wrong),
            "relaxed_losses": counts @ relaxed,
            "wrongly_accepted": counts @ (masks & ~truth).sum(axis=1),
            "wrongly_rejected": counts @ (truth & ~masks).sum(axis=1),
            "pulls": pulls.sum(),
            "rounds": rounds.sum(),
            "hypervolume": self._volume(masks, counts, len(answers) - len(wrong)),
        }
        return np.array([totals[name] for name in TALLIES], dtype=np.int64)

    def _volume(self, masks: BoolArray, counts: IntArray, n_right: int) -> int:
        """The sum of the hypervolume fractions in billionths, each computed once for each answer that occurs."""
        if not self._hypervolume or not 0 < self._front_volume < math.inf:
            return UNDEFINED * (int(counts.sum()) + n_right)
        total = n_right * BILLION
        for mask, count in zip(masks, counts.tolist(), strict=True):
            key = mask.tobytes()
            if key not in self._volumes:
                volume = losses.hypervolume(self._bandit.means[mask])
                self._volumes[key] = round(volume / self._front_volume * BILLION)
            total += count * self._volumes[key]
        return total

    @cached_property
    def _front_volume(self) -> float:
        return losses.hypervolume(self._bandit.means[self._bandit.optimal])


def packed(masks: BoolArray) -> NDArray[np.uint64]:
    """Returns masks ``(n, n_arms)`` as words, arm a in bit a % 64 of word a // 64."""
    n, n_arms = masks.shape
    whole = np.zeros((n, -(-n_arms // 64) * 64), dtype=np.bool_)
    whole[:, :n_arms] = masks
    return np.packbits(whole, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(words: NDArray[np.uint64], n_arms: int) -> BoolArray:
    """Returns the masks that ``packed`` made words of."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little", count=n_arms).astype(np.bool_)
