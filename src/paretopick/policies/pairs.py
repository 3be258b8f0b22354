"""Who dominates whom, as far as the data go: the relations between pairs of arms that ``doubt`` chooses by."""

from __future__ import annotations

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._doubting import OVERTAKEN, balance, base_factor, on_grid
from paretopick._normals import SMALLEST, clipped, deviation_of, sign_of, value_of
from paretopick.policies.pair_tables import AT_ONCE, LANES, PairTables, ends, lanes, overtaken, together


class Pairs(PairTables):
    """The relations between arms, and what one more pull of each is worth; the front are the arms that nobody dominates.

    Of each pair are kept the odds that the second dominates the first, under a flat prior, and what a pull of either takes away
    of the variance between them.
    """

    n_relations = 3

    # Who is above whom at the estimated means.

    def _count_relations(self) -> None:
        """Counts how many arms dominate each: those that are nowhere below it, without those that equal it."""
        n = len(self._every)
        _, group, size = np.unique(self._means.T + 0.0, axis=0, return_inverse=True, return_counts=True)
        self._dominators: IntArray = -size[group.reshape(-1)]
        some = max(8 * AT_ONCE // n, 1)
        for start in range(0, n, some):
            arms = self._every[start : start + some]
            nowhere_below = np.ones((len(arms), n), dtype=np.bool_)
            for row in self._means:
                nowhere_below &= row >= row[arms, None]
            self._dominators[arms] += np.count_nonzero(nowhere_below, axis=1)

    def _move(self, arm: int, mean: FloatArray) -> None:
        """Gives an arm another mean, and counts again whom it dominates and who dominates it."""
        places = np.array((self._means[:, arm], mean))[:, :, None]
        self._means[:, arm] = mean
        below = np.logical_and.reduce(self._means <= places, axis=1)
        above = np.logical_and.reduce(self._means >= places, axis=1)
        self._dominators += np.subtract(*(below > above)[::-1].view(np.int8))
        self._dominators[arm] = np.count_nonzero(above[1] > below[1])

    def _find_front(self) -> BoolArray:
        return np.asarray(self._dominators == 0)

    def _judge(self) -> None:
        n_objectives, n = self._means.shape
        factor = on_grid(base_factor(n, n_objectives, float(np.add.reduce(self._dominators))))
        if factor != self.factor:
            self.factor = factor
            self._stale[:] = True
        self._place = _first_largest(self._relations[0, :, :n])
        """For each arm, where in the front is the one that most likely dominates it."""
        self._best = self._relations[0, self._place, self._every] * factor
        """The odds that it does."""
        self.dominated: BoolArray = (self._best > 1.0) > self._in_front
        """The arms that are below the front, and more likely than not dominated by one of it."""

    # The pairs.

    @np.errstate(over="ignore", invalid="ignore")  # finite means may be infinitely far apart
    def _relation(self, arms: IntArray, others: IntArray) -> FloatArray:
        """Of pairs of arms: the odds that the second dominates the first, and what a pull of either takes away of their variance.

        An arm does not dominate itself, and a pull of it takes nothing away from that.
        """
        ahead, variance, mine, theirs = self._between(arms, others)
        found = together(sign_of(ahead, variance), mine, theirs)
        found[:, arms == others] = 0.0
        return found

    # What follows.

    @property
    def answer(self) -> BoolArray:
        """The arms that are not dominated, without those of the front that another of it has most likely overtaken by noise."""
        answer = ~self.dominated
        answer[self.front] = self._overtaken() <= OVERTAKEN
        return answer

    def _overtaken(self) -> FloatArray:
        """For each of the front, the odds that another of it dominates it, against all else."""
        odds = self._relations[0][:, self.front].T
        return overtaken(odds / (1.0 + odds), len(self._means))

    @property
    def doubt(self) -> FloatArray:
        """How likely it is that each arm does not belong where the answer puts it, going by its most likely dominator."""
        odds, step = self._best.copy(), max(AT_ONCE // len(self._every), 1)
        odds[self.front] = self._overtaken()
        for start in range(0, len(self.front), step):
            some = self.front[start : start + step]
            pairs = some.repeat(len(self._every)), np.tile(self._every, len(some))
            against_all = self._relation(*pairs)[0].reshape(len(some), -1)
            against_all[:, self.front] = 0.0
            odds[some] = np.maximum(odds[some], against_all.max(axis=1))
        return np.asarray(np.where(self.answer, odds, 1.0) / (1.0 + odds))

    def _value(self, optimal: BoolArray, below: IntArray, place: IntArray) -> FloatArray:
        """Values the stale pairs of optimal arms; returns what pulls of dominated ones and of their dominators are worth."""
        at = (self._stale & optimal).reshape(-1).nonzero()[0]
        n = len(at)
        relations = self._relations.reshape(3, -1).take(np.concatenate((at, place * self._width + below)), axis=1)
        odds, shares = relations[0] * self.factor, relations[1:]
        np.divide(1.0, np.maximum(odds[:n], SMALLEST), out=odds[:n])
        odds = clipped(odds)
        values: FloatArray = shares * value_of(odds, deviation_of(odds), *shares)
        self._values.reshape(2, -1)[:, at] = values[:, :n]
        self._stale.reshape(-1)[at] = False
        return values[:, n:]

    def scores(self) -> FloatArray:
        """What one more pull of each arm is worth: how much doubt it removes, roughly, weighed so that both kinds count alike."""
        n, size = len(self._every), len(self.front)
        below = self.dominated.nonzero()[0]
        place = self._place[below]
        status = np.zeros((2, self._width), dtype=np.bool_)
        np.logical_not(self.dominated, out=status[0, :n])
        status[1, :n] = self.dominated
        own, others = self._value(status[0], below, place)
        roots = np.zeros(self._width)
        np.sqrt(self._counts, out=roots[:n])
        from_dominated = np.bincount(place * LANES + below % LANES, others, size * LANES).reshape(size, LANES)
        from_optimal = lanes(np.where(status[0], self._values[1], 0.0))
        sums = ends(np.concatenate((from_optimal, from_dominated, lanes(roots * status))))
        some, rest = sums[-2:].tolist()
        weight = balance(some, rest)  # of what is dominated; what is not weighs the inverse
        scores: FloatArray = np.add.reduce(self._values[0], axis=0)[:n] / weight
        scores[below] = weight * own
        scores[self.front] += sums[:size] / weight + sums[size:-2] * weight
        return scores


def _first_largest(table: FloatArray) -> IntArray:
    """Where in each column its largest number is first; in parts, since NumPy turns what it is given on its side."""
    if table.size <= AT_ONCE:
        return np.asarray(table.argmax(axis=0))
    return np.concatenate([table[:, start : start + 64].argmax(axis=0) for start in range(0, table.shape[1], 64)])
