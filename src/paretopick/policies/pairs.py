"""Who dominates whom, as far as the data go: the relations between pairs of arms that ``doubt`` chooses by."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._doubting import MOST, OVERTAKEN, PRIOR, on_grid
from paretopick._normals import SMALLEST, clipped, deviation_of, sign_of, value_of

LANES = 8
"""Sums over arms are kept in so many parts, as the kernels keep them: what is rounded depends on the order."""

AT_ONCE = 1 << 15
"""Pairs that are looked at together, so that what is computed of them stays in the processor's cache."""


class Pairs:
    """The relations between arms, each of which has been pulled, and what one more pull of each is worth.

    Everything here is a function of the counts, means and squares alone. When a few arms change, only their pairs are looked at
    again; only the arms that nobody dominates at the estimated means, the front, are looked at as dominators.

    Args:
        counts: ``(n_arms,)`` pulls of each arm, at least one.
        means: ``(n_arms, n_objectives)``.
        squares: sums of squared deviations from these, likewise; 0 in objectives without noise.
    """

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
        self._count_dominators()
        self._pool: list[float] = []
        self._estimate(self._every)
        self.factor = 1.0
        """F, which the odds of all pairs are multiplied by."""
        self.front: IntArray = self._every[:0]
        """The arms that nobody dominates at the estimated means, sorted."""
        self._in_front = np.zeros(n, dtype=np.bool_)
        self._stale = np.empty((0, self._width), dtype=np.bool_)
        self._relations, self._values = np.empty((3, 0, self._width)), np.empty((2, 0, self._width))
        self._look_again(self.front)

    # What is known of each arm.

    def _estimate(self, arms: IntArray) -> bool:
        """Brings the variances of some arms up to date; returns whether that changed the mean of all, and with it all of them."""
        told = self._told[arms]
        self._ratios[:, arms] = self._squares[:, arms] / np.where(told > 1.0, told - 1.0, np.inf)
        several = max(np.count_nonzero(self._told > 1.0), 1)
        pool = [on_grid(total / several) for total in _ends(_lanes(self._ratios)).tolist()]
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

    # Who is above whom at the estimated means.

    def _count_dominators(self) -> None:
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

    def _base_factor(self) -> float:
        """F: how much more often arms dominate each other than if every difference were as likely positive as negative."""
        n_objectives, n = self._means.shape
        flat = 0.5 ** min(n_objectives, 60)
        share = min(0.5, (float(np.add.reduce(self._dominators)) + n * flat) / (float(n) * float(n)))
        return on_grid(max(1.0, (share / (1.0 - share)) / (flat / (1.0 - flat))))

    # Changes.

    def update(self, counts: IntArray, means: FloatArray, squares: FloatArray) -> None:
        """Takes the data of all arms as they are now."""
        differs = np.logical_or.reduce((self._means != means.T) | (self._squares != squares.T), axis=0)
        arms = (differs | (self._told != counts) | (self._counts != counts)).nonzero()[0]
        if 4 * len(arms) > len(counts) > 100:
            self._means[:] = means.T
            self._count_dominators()
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
        in_front = self._dominators == 0
        whole = np.zeros(len(in_front), dtype=np.bool_)
        whole[changed] = True
        if (in_front != self._in_front).any():
            whole |= in_front > self._in_front
            self._keep_front(in_front)
        for places, arms in self._pairs_of(whole[self.front], changed):
            self._look_at(places, arms)
        factor = self._base_factor()
        if factor != self.factor:
            self.factor = factor
            self._stale[:] = True
        self._place = _first_largest(self._relations[0, :, : len(in_front)])
        """For each arm, where in the front is the one that most likely dominates it."""
        self._best = self._relations[0, self._place, self._every] * factor
        """The odds that it does."""
        self.dominated: BoolArray = (self._best > 1.0) > in_front
        """The arms that are below the front, and more likely than not dominated by one of it."""

    def _keep_front(self, in_front: BoolArray) -> None:
        """Makes tables for those that are in the front now, and keeps what is known of those that were in it before."""
        front = in_front.nonzero()[0]
        stay, kept = self._in_front[front], in_front[self.front]
        self.front, self._in_front = front, in_front
        relations, values = np.zeros((3, len(front), self._width)), np.zeros((2, len(front), self._width))
        relations[:, stay], values[:, stay] = self._relations[:, kept], self._values[:, kept]
        self._relations = relations
        """Of each of the front, a row, with each arm: the odds that the first dominates the second, under a flat prior; and what
        a pull of the second, and of the first, takes away of the variance between them."""
        self._values = values
        """What such pulls are worth, if the second is optimal and unless this is stale."""
        stale = np.zeros((len(front), self._width), dtype=np.bool_)
        stale[stay] = self._stale[kept]
        self._stale = stale

    # The pairs.

    def _pairs_of(self, whole: BoolArray, changed: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Places in the front and arms, pair by pair: all arms for some places, and those that have changed for the others."""
        every, places, rest = self._every, whole.nonzero()[0], (~whole).nonzero()[0]
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

    def _look_at(self, places: IntArray, arms: IntArray) -> None:
        """Fills in pairs of an arm and a place in the front: whether the second dominates the first, and what pulls take away."""
        at = places * self._width + arms
        self._relations.reshape(3, -1)[:, at] = self._relation(arms, self.front[places])
        self._stale.reshape(-1)[at] = True

    @np.errstate(over="ignore", invalid="ignore")  # finite means may be infinitely far apart
    def _relation(self, arms: IntArray, others: IntArray) -> FloatArray:
        """Of pairs of arms: the odds that the second dominates the first, and what a pull of either takes away of their variance.

        An arm does not dominate itself, and a pull of it takes nothing away from that.
        """
        mine, theirs = self._known.take(arms, axis=2), self._known.take(others, axis=2)
        likely, unlikely, weight, precision = sign_of(theirs[0] - mine[0], mine[1] + theirs[1])
        terms = np.empty((4, *likely.shape))
        terms[0], terms[3] = weight, unlikely
        weighted = weight * precision
        np.multiply(weighted, mine[2], out=terms[1])
        np.multiply(weighted, theirs[2], out=terms[2])
        dominates = np.multiply.accumulate(likely, axis=0)
        terms[3, 1:] *= dominates[:-1]
        sums = np.add.accumulate(terms, axis=1)[:, -1]  # one after the other, as the kernels add
        sums[1:3] /= sums[0]
        np.divide(dominates[-1], sums[3], out=sums[0])
        sums[:, arms == others] = 0.0
        return np.asarray(sums[:3])

    # What follows.

    @property
    def answer(self) -> BoolArray:
        """The arms that are not dominated, without those of the front that another of it has most likely overtaken by noise."""
        answer = ~self.dominated
        answer[self.front] = self._overtaken() <= OVERTAKEN
        return answer

    def _overtaken(self) -> FloatArray:
        """For each of the front, the odds that another of it dominates it, against all else.

        At the estimated means no one of the front dominates another, and in many objectives chance alone keeps it so. Of the
        three relations that two arms can have (one is above, the other is, or neither), the first two are as likely beforehand
        as the pairs of the front together say, at most ``MOST`` times as likely as if every difference were a toss-up.
        """
        size, n_objectives = len(self.front), len(self._means)
        if size < 2 or n_objectives < 2:
            return np.zeros(size)
        odds = self._relations[0][:, self.front].T
        above = odds / (1.0 + odds)
        flat = 0.5 ** min(n_objectives, 60)
        share = min(0.49, (float(np.cumsum(above)[-1]) + flat) / (size * (size - 1.0) + 1.0))
        factor = min(MOST, max(1.0, (share / (1.0 - 2.0 * share)) / (flat / (1.0 - 2.0 * flat))))
        neither = np.maximum(1.0 - above - above.T, SMALLEST)
        return np.asarray((above * factor / (above.T * factor + neither)).max(axis=1))

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
        from_optimal = _lanes(np.where(status[0], self._values[1], 0.0))
        sums = _ends(np.concatenate((from_optimal, from_dominated, _lanes(roots * status))))
        some, rest = sums[-2:].tolist()
        little = 0.02 * (some + rest)
        weight = math.sqrt((some + little) / (rest + little))  # of what is dominated; what is not weighs the inverse
        scores: FloatArray = np.add.reduce(self._values[0], axis=0)[:n] / weight
        scores[below] = weight * own
        scores[self.front] += sums[:size] / weight + sums[size:-2] * weight
        return scores

    def choice(self) -> int:
        """The arm to pull next: that with the largest score, or the least pulled if there is nothing to be learnt."""
        scores = self.scores()
        arm = int(scores.argmax())
        return arm if scores[arm] > 0.0 else int(self._counts.argmin())


def _first_largest(table: FloatArray) -> IntArray:
    """Where in each column its largest number is first; in parts, since NumPy turns what it is given on its side."""
    if table.size <= AT_ONCE:
        return np.asarray(table.argmax(axis=0))
    return np.concatenate([table[:, start : start + 64].argmax(axis=0) for start in range(0, table.shape[1], 64)])


def _lanes(rows: FloatArray) -> FloatArray:
    """Adds up every eighth number of each row, one after the other, as the kernels do."""
    return np.asarray(np.add.reduce(rows.reshape(len(rows), -1, LANES), axis=1))


def _ends(lanes: FloatArray) -> FloatArray:
    """Adds up the eight sums of each row, likewise."""
    fours = lanes[:, :4] + lanes[:, 4:]
    twos = fours[:, :2] + fours[:, 2:]
    return np.asarray(twos[:, 0] + twos[:, 1])
