"""Tables of pairs of arms that are kept while arms change: what ``doubt`` needs whatever the relations between arms are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._doubting import PRIOR, front_factor, on_grid
from paretopick._normals import SMALLEST

LANES = 8
"""Sums over arms are kept in so many parts, as the kernels keep them: what is rounded depends on the order."""

AT_ONCE = 1 << 15
"""Pairs that are looked at together, so that what is computed of them stays in the processor's cache."""


class PairTables(ABC):
    """What is known of arms, each of which has been pulled, and of their pairs with those of a front.

    Everything here is a function of the counts, means and squares alone. When a few arms change, only their pairs are looked at
    again; only the arms of the front are looked at as dominators. A subclass says who is in the front, what the relations of a
    pair are, and what follows.

    Args:
        counts: ``(n_arms,)`` pulls of each arm, at least one.
        means: ``(n_arms, n_objectives)``.
        squares: sums of squared deviations from these, likewise; 0 in objectives without noise.
    """

    n_relations: ClassVar[int]
    """How many numbers ``_relation`` returns for a pair."""

    def __init__(self, counts: IntArray, means: FloatArray, squares: FloatArray) -> None:
        n, n_objectives = means.shape
        self._width = -(-n // LANES) * LANES
        self._every = np.arange(n)
        self._told = counts.astype(np.float64)
        self._counts = self._told.copy()
        """With the pulls that have been chosen and not been told yet."""
        self._squares = squares.T.copy()  # one row for each objective, as in all tables here
        self._ratios = np.zeros((n_objectives, self._width))
        """The variance of each arm as its own data have it, 0 after a single pull."""
        self._known = np.empty((3, n_objectives, n))
        self._means, self._variances, self._falls = self._known
        """The variances of the means, and what one more pull takes away from them."""
        self._means[:] = means.T
        self._count_relations()
        self._pool: list[float] = []
        self._estimate(self._every)
        self.factor = 1.0
        """F, which the odds of all pairs are multiplied by."""
        self.front: IntArray = self._every[:0]
        """The arms that others are compared with, sorted."""
        self._in_front = np.zeros(n, dtype=np.bool_)
        self._stale = np.empty((0, self._width), dtype=np.bool_)
        self._relations, self._values = np.empty((self.n_relations, 0, self._width)), np.empty((2, 0, self._width))
        self._look_again(self.front)

    @abstractmethod
    def _count_relations(self) -> None:
        """Counts of how many pairs one arm is above the other at the estimated means."""

    @abstractmethod
    def _move(self, arm: int, mean: FloatArray) -> None:
        """Gives an arm another mean, and counts again."""

    @abstractmethod
    def _find_front(self) -> BoolArray:
        """The arms that others are compared with."""

    @abstractmethod
    def _relation(self, arms: IntArray, others: IntArray) -> FloatArray:
        """Of pairs of arms, ``n_relations`` numbers."""

    @abstractmethod
    def _judge(self) -> None:
        """Finds the status of every arm, from relations that are up to date."""

    @property
    @abstractmethod
    def answer(self) -> BoolArray:
        """The arms of the answer."""

    @property
    @abstractmethod
    def doubt(self) -> FloatArray:
        """How likely it is that each arm does not belong where the answer puts it."""

    @abstractmethod
    def scores(self) -> FloatArray:
        """What one more pull of each arm is worth: how much doubt it removes, roughly, weighed so that both kinds count alike."""

    def choice(self, costs: FloatArray | None = None) -> int:
        """The arm to pull next: that with the largest score, or the least pulled if there is nothing to be learnt.

        Args:
            costs: what scores are divided by.
        """
        scores = self.scores() if costs is None else self.scores() / costs
        arm = int(scores.argmax())
        return arm if scores[arm] > 0.0 else int(self._counts.argmin())

    # What is known of each arm.

    def _estimate(self, arms: IntArray) -> bool:
        """Brings the variances of some arms up to date; returns whether that changed the mean of all, and with it all of them."""
        told = self._told[arms]
        self._ratios[:, arms] = self._squares[:, arms] / np.where(told > 1.0, told - 1.0, np.inf)
        several = max(np.count_nonzero(self._told > 1.0), 1)
        pool = [on_grid(total / several) for total in ends(lanes(self._ratios)).tolist()]
        changes, self._pool = pool != self._pool, pool
        if changes:
            self._prior = PRIOR * np.array(pool)[:, None]
        self._moderate(self._every if changes else arms)
        return changes

    def _moderate(self, arms: IntArray) -> None:
        """The variance of one pull is an arm's own, moderated by that of all; that of a mean falls with every pull."""
        counts = self._counts[arms]
        variances = (self._squares[:, arms] + self._prior) / (self._told[arms] + (PRIOR - 1.0)) / counts
        self._variances[:, arms] = variances
        self._falls[:, arms] = variances / counts

    # Changes.

    def update(self, counts: IntArray, means: FloatArray, squares: FloatArray) -> None:
        """Takes the data of all arms as they are now."""
        differs = np.logical_or.reduce((self._means != means.T) | (self._squares != squares.T), axis=0)
        arms = (differs | (self._told != counts) | (self._counts != counts)).nonzero()[0]
        if 4 * len(arms) > len(counts) > 100:
            self._means[:] = means.T
            self._count_relations()
        else:
            for arm in arms.tolist():
                self._move(arm, means[arm])
        self._told[arms] = self._counts[arms] = counts[arms]
        self._squares[:, arms] = squares[arms].T
        self._look_again(self._every if self._estimate(arms) else arms)

    def count(self, counts: IntArray) -> None:
        """Takes the counts with pulls of which nothing is known yet: means and noise stay."""
        arms = (self._counts != counts).nonzero()[0]
        if len(arms):
            self._counts[arms] = counts[arms]
            self._moderate(arms)
            self._look_again(arms)

    def _look_again(self, changed: IntArray) -> None:
        """Brings the pairs of some arms up to date, and those of arms that have joined the front."""
        in_front = self._find_front()
        whole = np.zeros(len(in_front), dtype=np.bool_)
        whole[changed] = True
        if (in_front != self._in_front).any():
            whole |= in_front > self._in_front
            self._keep_front(in_front)
        for places, arms in self._pairs_of(whole[self.front], changed):
            self._look_at(places, arms)
        self._judge()

    def _keep_front(self, in_front: BoolArray) -> None:
        """Makes tables for those that are in the front now, and keeps what is known of those that were in it before."""
        front = in_front.nonzero()[0]
        stay, kept = self._in_front[front], in_front[self.front]
        self.front, self._in_front = front, in_front
        relations = np.zeros((self.n_relations, len(front), self._width))
        values = np.zeros((2, len(front), self._width))
        relations[:, stay], values[:, stay] = self._relations[:, kept], self._values[:, kept]
        self._relations = relations
        """Of each of the front, a row, with each arm: what ``_relation`` says."""
        self._values = values
        """What pulls of the second and of the first are worth, if the second is optimal and unless this is stale."""
        stale = np.zeros((len(front), self._width), dtype=np.bool_)
        stale[stay] = self._stale[kept]
        self._stale = stale

    # The pairs.

    def _pairs_of(self, whole: BoolArray, changed: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Places in the front and arms, pair by pair: all arms for some places, and those that have changed for the others."""
        every, places, rest = self._every, whole.nonzero()[0], (~whole).nonzero()[0]
        if not len(whole):
            return
        if len(places) * len(every) + len(rest) * len(changed) <= AT_ONCE:
            yield (
                np.concatenate((places.repeat(len(every)), rest.repeat(len(changed)))),
                np.concatenate((every,) * len(places) + (changed,) * len(rest)),
            )
            return
        for some, arms in ((places, every), (rest, changed)):
            step = max(AT_ONCE // max(len(arms), 1), 1)
            for start in range(0, len(some), step):
                part = some[start : start + step]
                yield part.repeat(len(arms)), np.tile(arms, len(part))

    def _between(self, arms: IntArray, others: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Of pairs of arms: how far the second is ahead, the variance of that, and what a pull of either takes away of it."""
        mine, theirs = self._known.take(arms, axis=2), self._known.take(others, axis=2)
        return theirs[0] - mine[0], mine[1] + theirs[1], mine[2], theirs[2]

    def _look_at(self, places: IntArray, arms: IntArray) -> None:
        """Fills in pairs of an arm and a place in the front."""
        at = places * self._width + arms
        self._relations.reshape(self.n_relations, -1)[:, at] = self._relation(arms, self.front[places])
        self._stale.reshape(-1)[at] = True


def together(signs: tuple[FloatArray, ...], mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """Joins the signs of differences in several objectives, ``(n_objectives, n_pairs)``, as ``sign_of`` returns them.

    Args:
        signs: those of each objective.
        mine: what one more pull of the first arm takes away of the variance, and ``theirs``, of the second.

    Returns:
        The odds that all are positive; and what pulls of the first and of the second take away of the variance between them,
        by how much of the doubt hangs on each objective.
    """
    likely, unlikely, weight, precision = signs
    terms = np.empty((4, *likely.shape))
    terms[0], terms[3] = weight, unlikely
    weighted = weight * precision
    np.multiply(weighted, mine, out=terms[1])
    np.multiply(weighted, theirs, out=terms[2])
    all_positive = np.multiply.accumulate(likely, axis=0)
    terms[3, 1:] *= all_positive[:-1]
    sums = np.add.accumulate(terms, axis=1)[:, -1]  # one after the other, as the kernels add
    sums[1:3] /= sums[0]
    np.divide(all_positive[-1], sums[3], out=sums[0])
    return np.asarray(sums[:3])


def overtaken(above: FloatArray, n_objectives: int) -> FloatArray:
    """Returns, for each of a front, the odds that another of it is above it in all objectives, against all else.

    At the estimated means no one of the front is above another, and in many objectives chance alone keeps it so. Of the three
    relations that two arms can have (one is above, the other is, or neither), the first two are as likely beforehand as the
    pairs of the front together say, at most ``MOST`` times as likely as if every difference were a toss-up.

    Args:
        above: ``[i, j]``, how likely j is above i under a flat prior; 0 for i itself.
        n_objectives: in how many.
    """
    size = len(above)
    if size < 2 or n_objectives < 2:
        return np.zeros(size)
    factor = front_factor(size, n_objectives, float(np.cumsum(above)[-1]))
    neither = np.maximum(1.0 - above - above.T, SMALLEST)
    return np.asarray((above * factor / (above.T * factor + neither)).max(axis=1))


def lanes(rows: FloatArray) -> FloatArray:
    """Adds up every eighth number of each row, one after the other, as the kernels do."""
    return np.asarray(np.add.reduce(rows.reshape(len(rows), rows.shape[1] // LANES, LANES), axis=1))


def ends(lanes: FloatArray) -> FloatArray:
    """Adds up the eight sums of each row, likewise."""
    fours = lanes[:, :4] + lanes[:, 4:]
    twos = fours[:, :2] + fours[:, 2:]
    return np.asarray(twos[:, 0] + twos[:, 1])
