"""Right or wrong: what each run's answer adds to the counts of a simulation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick.bandits import Bandit
from paretopick.simulation.results import BILLION, TALLIES, UNDEFINED
from paretopick.simulation.tasks import Task
from paretopick.theory import losses
from paretopick.theory.requirements import covered_by, feasible, is_right, optimal_and_feasible, worth_keeping

MOST_REMEMBERED = 1 << 17
"""Hypervolumes of different answers to the same bandit that are remembered at a time."""


class Scorer:
    """Counts how answers compare with the Pareto set of one bandit, or with that of each run; with limits, of who keeps them."""

    def __init__(self, task: Task) -> None:
        self._bandit = bandit = task.bandit
        self._required = required = task.requirements
        self._ladder = task.ladder
        self._each = task.truths is not None
        self._means = bandit.means[None] if task.truths is None else task.truths.means
        if task.truths is not None:
            self._optimal = task.truths.optimal(required)
        else:
            self._optimal = bandit.optimal[None] if required is None else optimal_and_feasible(self._means, required)
        self._right = packed(self._optimal)
        # An answer of more arms than there are is none, so without max_arms this asks for the whole Pareto set.
        self._max_arms = task.options.get("max_arms", bandit.n_arms + 1)
        self._hypervolume = task.hypervolume

    def tally(self, answers: NDArray[np.uint64], pulls: IntArray, rounds: IntArray, *, first: int) -> IntArray:
        """Returns the totals of ``TALLIES`` over runs, and behind them the errors within the margins and on the ladder.

        Args:
            answers: ``(n_runs, n_words)``: arm a is in the answer if bit a % 64 of word a // 64 is set.
            pulls: how many each run used, or one number for all together.
            rounds: the same of rounds.
            first: the number of the first run.
        """
        runs = slice(first, first + len(answers)) if self._each else slice(None)
        erred = (answers != self._right[runs]).any(axis=1)
        wrong = answers[erred]
        if self._each:
            truth, means = self._optimal[runs][erred], self._means[runs][erred]
            different, counts = wrong, np.ones(len(wrong), dtype=np.int64)
        else:
            truth, means, (different, counts) = self._optimal, self._means, _different(wrong)
        masks = unpacked(different, self._bandit.n_arms)
        relaxed = np.where(masks.sum(axis=1) == self._max_arms, (masks & ~truth).any(axis=1), True)
        totals = {
            "errors": len(wrong),
            "relaxed_losses": counts @ relaxed,
            "wrongly_accepted": counts @ (masks & ~truth).sum(axis=1),
            "wrongly_rejected": counts @ (truth & ~masks).sum(axis=1),
            "pulls": pulls.sum(),
            "rounds": rounds.sum(),
            **self._volume_totals(masks, counts, len(answers) - len(wrong)),
        }
        within = self._errors_within(means, masks, truth, counts)
        return np.array([*(totals[name] for name in TALLIES), *within], dtype=np.int64)

    def _errors_within(self, means: FloatArray, masks: BoolArray, truth: BoolArray, counts: IntArray) -> list[int]:
        """How many of the answers that are not exactly right are not right within the margins either, nor on the ladder."""
        errors: list[int] = []
        if self._required is not None:
            errors.append(int(counts @ ~is_right(means, masks, self._required, front=truth)))
        before: FloatArray = np.full(means.shape[-1], np.inf)
        for rung in self._ladder:
            if (rung.margins < before).any():  # not above the rung before, so that what was right there may be wrong here
                left = np.arange(len(masks))
            own = left if self._each else slice(None)
            left = left[~is_right(means[own], masks[left], rung, front=truth[own])] if len(left) else left
            errors.append(int(counts[left].sum()))
            before = rung.margins
        return errors

    def wrong_by_arm(self, answers: NDArray[np.uint64], *, first: int) -> IntArray:
        """Returns in how many of the runs each arm was in the answer and not optimal, or optimal and not in the answer.

        Within margins and limits: in the answer and not worth keeping, or feasible, outside, and covered by no member.
        """
        runs = slice(first, first + len(answers)) if self._each else slice(None)
        if self._required is None:
            return np.asarray((unpacked(answers, self._bandit.n_arms) != self._optimal[runs]).sum(axis=0))
        means, counts = self._means[runs], np.ones(len(answers), dtype=np.int64)
        if not self._each:
            answers, counts = _different(answers)
        masks = unpacked(answers, self._bandit.n_arms)
        outside = feasible(means, self._required) & ~covered_by(means, masks, self._required)
        return np.asarray(counts @ np.where(masks, ~worth_keeping(means, self._required), outside))

    def _volume_totals(self, masks: BoolArray, counts: IntArray, n_right: int) -> dict[str, int]:
        """The sums of the hypervolume fractions, and of their squares, in billionths."""
        if not self._hypervolume or not _has_volume(self._bandit):
            undefined = UNDEFINED * (int(counts.sum()) + n_right)
            return {"hypervolume": undefined, "squared_hypervolume": undefined}
        volumes = _volumes(self._bandit) if len(counts) else None
        fractions = [volumes.fraction(mask) for mask in masks] if volumes else []
        times = counts.tolist()
        plain = sum(n * fraction for n, fraction in zip(times, fractions, strict=True))
        squared = sum(n * ((fraction * fraction + BILLION // 2) // BILLION) for n, fraction in zip(times, fractions, strict=True))
        return {"hypervolume": n_right * BILLION + plain, "squared_hypervolume": n_right * BILLION + squared}


def _has_volume(bandit: Bandit) -> bool:
    """Whether the hypervolume of the Pareto set is neither 0 nor infinite, which is known without computing it."""
    above = bandit.means[(bandit.means > 0).all(axis=1)]
    with np.errstate(over="ignore"):
        return len(above) > 0 and bool(np.isfinite(above.max(axis=0).prod()) and above.prod(axis=1).max() > 0)


class _Volumes:
    """The hypervolumes of the answers that occurred, each computed once: in many objectives one may take seconds."""

    def __init__(self, bandit: Bandit) -> None:
        self._means = bandit.means
        self._whole = losses.hypervolume(bandit.means[bandit.optimal])
        self._fractions: dict[bytes, int] = {}

    def fraction(self, mask: BoolArray) -> int:
        """Returns the hypervolume fraction of an answer in billionths."""
        key = mask.tobytes()
        if key not in self._fractions:
            if len(self._fractions) >= MOST_REMEMBERED:
                self._fractions.clear()
            self._fractions[key] = round(losses.hypervolume(self._means[mask]) / self._whole * BILLION)
        return self._fractions[key]


@lru_cache(maxsize=4)
def _volumes(bandit: Bandit) -> _Volumes:
    return _Volumes(bandit)


def _different(answers: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntArray]:
    """The answers that occurred, and how often each did; of at most 64 arms, which are numbers, they are sorted faster."""
    if answers.shape[1] == 1:
        numbers, counts = np.unique(answers[:, 0], return_counts=True)
        return numbers[:, None], counts
    return np.unique(answers, axis=0, return_counts=True)


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
