"""Block effects: what pulls of different arms with the same repeat have in common.

The n-th pull of every arm is repeat n - 1, and repeat r of all arms is made in block r: on the same question, split or plate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paretopick._arrays import FloatArray, IntArray

DrawEffects = Callable[[int], FloatArray]
"""The effects of so many blocks, drawn independently: ``(n, n_objectives)``."""


class BlockEffects:
    """The effects of the blocks of one run: drawn when the first arm gets there, and then the same for all arms.

    Args:
        counts: how often each arm was pulled before, ``(n_arms,)``.
        draw: see ``DrawEffects``.
    """

    def __init__(self, counts: IntArray, draw: DrawEffects) -> None:
        self._counts = counts.copy()
        self._draw = draw
        self._of: dict[int, FloatArray] = {}

    def next(self, arms: IntArray) -> FloatArray:
        """Returns the effects of one more pull of each of ``arms``, ``(len(arms), n_objectives)``, and counts these."""
        repeats = (self._counts[arms] + pulls_before(arms, np.ones_like(arms))).tolist()
        np.add.at(self._counts, arms, 1)
        new = [repeat for repeat in dict.fromkeys(repeats) if repeat not in self._of]
        drawn = self._draw(len(new))
        self._of.update(zip(new, drawn, strict=True))
        return np.array([self._of[repeat] for repeat in repeats]).reshape(len(arms), drawn.shape[1])


def effects_of_sums(arms: IntArray, pulls: IntArray, draw: DrawEffects) -> FloatArray:
    """Returns the sums of the effects of ``pulls[i]`` pulls of ``arms[i]``; an arm that is named again goes on with its repeats.

    Between the repeats at which some sum begins or ends all effects are drawn as one number, so that the sums are exact in
    distribution, and jointly.
    """
    starts = pulls_before(arms, pulls)
    ends = starts + pulls
    marks = np.unique(np.concatenate((starts, ends)))
    steps = np.sqrt(np.diff(marks))[:, None] * draw(max(len(marks) - 1, 0))
    walk = np.concatenate((np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)))
    return np.asarray(walk[np.searchsorted(marks, ends)] - walk[np.searchsorted(marks, starts)])


def pulls_before(arms: IntArray, pulls: IntArray) -> IntArray:
    """Returns for each entry how many pulls entries before it have of the same arm.

    >>> pulls_before(np.array([4, 7, 4, 4]), np.array([3, 1, 2, 5]))
    array([0, 0, 3, 5])
    """
    order = np.argsort(arms, kind="stable")
    ranked = arms[order]
    so_far = np.cumsum(pulls[order]) - pulls[order]
    before = np.empty_like(so_far)
    before[order] = so_far - so_far[np.searchsorted(ranked, ranked)]
    return before
