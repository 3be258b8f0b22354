"""Who outdoes whom, who covers whom, and who keeps the limits, as far as the data go: ``doubt`` with margins and limits.

Without either, the same arms are chosen as by ``Pairs``, which is faster.
"""

from __future__ import annotations

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._doubting import OVERTAKEN, balance, base_factor, on_grid
from paretopick._normals import SMALLEST, SURE, clipped, deviation_of, either_way, sign_of, value_of
from paretopick.policies.pair_tables import AT_ONCE, LANES, PairTables, ends, lanes, overtaken, together
from paretopick.theory.dominance import optimal_rows
from paretopick.theory.requirements import Requirements, covers, feasible, outdoes


class PairsWithin(PairTables):
    """The relations between arms within margins, their chances to keep limits, and what one more pull of each is worth.

    The front are the arms that keep all limits at the estimated means and that no other such arm dominates there, margins aside;
    it may be empty. Of each pair are kept the odds that the second outdoes the first, under a flat prior, and what a pull of
    either takes away of the doubt about that; then the same for covering.

    Args:
        counts: ``(n_arms,)`` pulls of each arm, at least one.
        means: ``(n_arms, n_objectives)``.
        squares: sums of squared deviations from these, likewise; 0 in objectives without noise.
        required: which differences matter, and which limits arms must keep, in the units of the means.
    """

    n_relations = 6

    def __init__(self, counts: IntArray, means: FloatArray, squares: FloatArray, required: Requirements) -> None:
        self.required = required
        self._compared = np.flatnonzero(required.compared)
        self._margins = required.margins[self._compared, None]
        self._limited = np.flatnonzero(required.limits > -np.inf)
        self._limits = required.limits[self._limited, None]
        self.cover_factor = 1.0
        """F of covering, which the odds of all pairs are multiplied by; ``factor`` is that of outdoing."""
        super().__init__(counts, means, squares)

    # Who is above whom at the estimated means.

    def _count_relations(self) -> None:
        """Counts of how many pairs one arm outdoes the other, and of how many it covers it and is not the same."""
        points, some = self._means.T, max(8 * AT_ONCE // len(self._every), 1)
        _, twins = np.unique(points[:, self._compared] + 0.0, axis=0, return_counts=True)
        self._n_outdone, self._n_covered = 0, -int(np.square(twins).sum())
        for start in range(0, len(points), some):
            part = points[start : start + some]
            self._n_outdone += int(np.count_nonzero(outdoes(part, points, self.required)))
            self._n_covered += int(np.count_nonzero(covers(part, points, self.required)))

    def _move(self, arm: int, mean: FloatArray) -> None:
        self._count_arm(arm, -1)
        self._means[:, arm] = mean
        self._count_arm(arm, 1)

    @np.errstate(over="ignore")
    def _count_arm(self, arm: int, times: int) -> None:
        """Adds the pairs of an arm with all others to what is counted, or takes them away."""
        compared, margins = self._means[self._compared], self._margins
        ahead = compared - compared[:, arm, None]
        above = (ahead >= margins).all(axis=0) & (ahead > margins).any(axis=0)
        below = (ahead <= -margins).all(axis=0) & (ahead < -margins).any(axis=0)
        self._n_outdone += times * int(np.count_nonzero(above) + np.count_nonzero(below))
        either = np.count_nonzero((ahead >= -margins).all(axis=0)) + np.count_nonzero((ahead <= margins).all(axis=0))
        self._n_covered += times * int(either - 2 * np.count_nonzero((ahead == 0.0).all(axis=0)))

    def _find_front(self) -> BoolArray:
        points = self._means.T
        able = feasible(points, self.required).nonzero()[0]
        in_front = np.zeros(len(points), dtype=np.bool_)
        in_front[able] = optimal_rows(points[able[:, None], self._compared]) if len(able) else False
        return in_front

    # The pairs.

    @np.errstate(over="ignore", invalid="ignore")  # finite means may be infinitely far apart
    def _relation(self, arms: IntArray, others: IntArray) -> FloatArray:
        """Of pairs of arms: the odds that the second outdoes the first, and what a pull of either takes away; of covering, too.

        An arm neither outdoes nor covers itself, and a pull of it takes nothing away from that.
        """
        ahead, variance, mine, theirs = (table[self._compared] for table in self._between(arms, others))
        found = np.concatenate(
            [together(sign_of(ahead + side, variance), mine, theirs) for side in (-self._margins, self._margins)]
        )
        found[:, arms == others] = 0.0
        return found

    # Statuses.

    def _judge(self) -> None:
        n = len(self._every)
        factor = on_grid(base_factor(n, len(self._compared), float(self._n_outdone)))
        if factor != self.factor:
            self.factor = factor
            self._stale[:] = True
        self.cover_factor = on_grid(base_factor(n, len(self._compared), float(self._n_covered)))
        self._look_at_limits()
        fit, unfit = self._fit[self.front, None], self._unfit[self.front, None]
        outdone = self._relations[0, :, :n] * factor
        worst = (outdone / (1.0 + outdone) * fit).max(axis=0, initial=0.0)
        uncovered = unfit + fit / (1.0 + self._relations[3, :, :n] * self.cover_factor)
        self._place = uncovered.argmin(axis=0) if len(self.front) else np.zeros(n, dtype=np.int64)
        """For each arm, where in the front is the one that most likely keeps the limits and covers it."""
        self._uncovered = uncovered[self._place, self._every] if len(self.front) else np.ones(n)
        """How likely it is that this one does not."""
        self._wrong_in = self._unfit + self._fit * worst
        self._wrong_out = self._fit * self._uncovered
        self.out: BoolArray = ((self._wrong_in > self._wrong_out) | self._beaten()) > self._in_front
        """The arms that are thought not to belong to the answer."""

    def _beaten(self) -> BoolArray:
        """Which arms are more likely covered than not by one that is better somewhere by more than the margin, at the means.

        Nobody may outdo them, if they are equal to it elsewhere; they are not worth keeping all the same.
        """
        if not len(self.front):
            return np.zeros(len(self._every), dtype=np.bool_)
        means = self._means[self._compared]
        ahead = means[:, self.front[self._place]] - means > self._margins
        return np.asarray((self._uncovered < 0.5) & ahead.any(axis=0))

    @np.errstate(over="ignore", divide="ignore")
    def _look_at_limits(self) -> None:
        """How likely each arm keeps all limits, and how likely it does not; chances below 1 / ``SURE`` count as none."""
        self._fit, self._unfit = np.ones(len(self._every)), np.zeros(len(self._every))
        if not len(self._limited):
            return
        likely, unlikely, _, _ = sign_of(self._means[self._limited] - self._limits, self._variances[self._limited])
        fit = np.multiply.accumulate(likely, axis=0)
        unlikely[1:] *= fit[:-1]
        self._fit, self._unfit = fit[-1], np.add.accumulate(unlikely, axis=0)[-1]
        self._fit_odds = self._fit / self._unfit
        self._fit = np.where(self._fit > 1.0 / SURE, self._fit, 0.0)

    @property
    def answer(self) -> BoolArray:
        """The arms that are not out, without those of the front that another of it has most likely overtaken by noise."""
        answer = ~self.out
        odds = self._relations[0][:, self.front].T
        above = odds / (1.0 + odds) * self._fit[self.front]
        answer[self.front] = overtaken(above, len(self._compared)) <= OVERTAKEN
        return answer

    @property
    def doubt(self) -> FloatArray:
        """How likely it is that each arm does not belong where the answer puts it."""
        return np.minimum(np.where(self.answer, self._wrong_in, self._wrong_out), 1.0)

    # What follows.

    def _value(self, below: IntArray, place: IntArray) -> FloatArray:
        """Values the stale pairs of arms that are in; returns what pulls of others and of who covers them are worth."""
        status = np.zeros(self._width, dtype=np.bool_)
        status[: len(self.out)] = ~self.out
        at = (self._stale & status).reshape(-1).nonzero()[0]
        n, tables = len(at), self._relations.reshape(6, -1)
        relations = np.concatenate((tables[:3].take(at, axis=1), tables[3:].take(place * self._width + below, axis=1)), axis=1)
        odds, shares = relations[0], relations[1:]
        np.divide(1.0, np.maximum(odds[:n] * self.factor, SMALLEST), out=odds[:n])
        odds[n:] = either_way(odds[n:] * self.cover_factor)
        odds = clipped(odds)
        values: FloatArray = shares * value_of(odds, deviation_of(odds), *shares)
        self._values.reshape(2, -1)[:, at] = values[:, :n]
        self._stale.reshape(-1)[at] = False
        return values[:, n:]

    def _value_of_limits(self) -> FloatArray:
        """What a pull of each arm is worth for whether it keeps its limits: if it is out, as far as that matters."""
        if not len(self._limited):
            return np.zeros(len(self._every))
        odds = clipped(np.where(self.out, either_way(self._fit_odds), self._fit_odds))
        share = self._share_of_limits()
        values = share * value_of(odds, deviation_of(odds), share, share)
        return np.asarray(values * np.where(self.out, self._uncovered, 1.0))

    def _share_of_limits(self) -> FloatArray:
        """The part of the variance of a mean that one more pull of its arm takes away."""
        return 1.0 / self._counts

    def scores(self) -> FloatArray:
        """What one more pull of each arm is worth: how much doubt it removes, roughly, weighed so that both kinds count alike."""
        n, size = len(self._every), len(self.front)
        below = self.out.nonzero()[0] if size else self._every[:0]
        place = self._place[below]
        own, others = self._value(below, place) * self._fit[below]
        limits = self._value_of_limits()
        status, fit, roots = np.zeros((2, self._width), dtype=np.bool_), np.zeros(self._width), np.zeros(self._width)
        status[0, :n], status[1, :n], fit[:n], roots[:n] = ~self.out, self.out, self._fit, np.sqrt(self._counts)
        from_out = np.bincount(place * LANES + below % LANES, others, size * LANES).reshape(size, LANES)
        from_in = lanes(np.where(status[0], self._values[1] * fit, 0.0))
        sums = ends(np.concatenate((from_in, from_out, lanes(roots * status))))
        weight = balance(*sums[-2:].tolist())  # of what is out; what is in weighs the inverse
        front = self._fit[self.front]
        scores: FloatArray = (np.add.reduce(self._values[0] * front[:, None], axis=0)[:n] * self._fit + limits) / weight
        scores[self.out] = weight * limits[self.out]
        scores[below] += weight * own
        scores[self.front] += front * sums[:size] / weight + sums[size:-2] * weight
        return scores
