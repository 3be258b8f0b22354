"""Who dominates whom, as far as the data go: the relations between pairs of arms that ``doubt`` chooses by."""

from __future__ import annotations

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._normals import sign_of, value_of

PRIOR = 30.0
"""How many measurements the mean of all arms' variances counts for, beside those of an arm itself."""

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
        self._told = counts.astype(np.float64)
        self._counts = self._told.copy()
        """With the pulls that have been chosen and not been told yet."""
        self._means = means.T.copy()  # one row for each objective, as in all tables here
        self._squares = squares.T.copy()
        self._pool = self._pooled()
        self._noise = self._moderated()
        self._dominators = np.array([self._dominating(arm).sum() for arm in range(len(counts))], dtype=np.int64)
        self._front: IntArray = np.empty(0, dtype=np.int64)
        self._odds, self._share, self._other = np.empty((3, 0, len(counts)))
        self._look_again(np.empty(0, dtype=np.int64))

    # What is known of each arm.

    def _pooled(self) -> FloatArray:
        """The mean of the variances of the arms in each objective, on a grid, so that it seldom changes."""
        several = self._told > 1.0
        variances = np.where(several, self._squares / np.where(several, self._told - 1.0, 1.0), 0.0)
        return on_grid(lane_sums(variances) / max(float(several.sum()), 1.0))

    def _moderated(self) -> FloatArray:
        """The variance of one pull of each arm: its own, moderated by that of all."""
        return (self._squares + (PRIOR * self._pool)[:, None]) / (self._told + (PRIOR - 1.0))

    @property
    def _variances(self) -> FloatArray:
        """Of the means."""
        return self._noise / self._counts

    # Who is above whom at the estimated means.

    def _dominating(self, arm: int) -> BoolArray:
        """Which arms dominate an arm."""
        mine = self._means[:, arm, None]
        return np.asarray((self._means >= mine).all(axis=0) & (self._means > mine).any(axis=0))

    def _dominated(self, arm: int) -> BoolArray:
        """Which arms an arm dominates."""
        mine = self._means[:, arm, None]
        return np.asarray((self._means <= mine).all(axis=0) & (self._means < mine).any(axis=0))

    def _base_factor(self) -> float:
        """F: how much more often arms dominate each other than if every difference were as likely positive as negative."""
        n_objectives, n = self._means.shape
        flat = 0.5 ** min(n_objectives, 60)
        share = min(0.5, (float(self._dominators.sum()) + n * flat) / (float(n) * float(n)))
        factor = (share / (1.0 - share)) / (flat / (1.0 - flat))
        return float(on_grid(np.array(max(1.0, factor))))

    # Changes.

    def update(self, counts: IntArray, means: FloatArray, squares: FloatArray) -> None:
        """Takes the data of all arms as they are now."""
        differs = (self._means != means.T) | (self._squares != squares.T)
        arms = np.flatnonzero(differs.any(axis=0) | (counts != self._told) | (counts != self._counts))
        for arm in arms.tolist():
            self._dominators -= self._dominated(arm)
            self._means[:, arm] = means[arm]
            self._dominators += self._dominated(arm)
            self._dominators[arm] = self._dominating(arm).sum()
        self._told[arms] = self._counts[arms] = counts[arms]
        self._squares[:, arms] = squares[arms].T
        before, self._pool = self._pool, self._pooled()
        self._noise = self._moderated()
        self._look_again(arms if np.array_equal(before, self._pool) else np.arange(len(counts)))

    def count(self, arm: int) -> None:
        """Takes one more pull of an arm of which nothing is known yet: its mean and its noise stay."""
        self._counts[arm] += 1.0
        self._look_again(np.array([arm]))

    def _look_again(self, changed: IntArray) -> None:
        """Brings the pairs of some arms up to date, and those of arms that have joined the front."""
        front = np.flatnonzero(self._dominators == 0)
        joined = ~np.isin(front, self._front)
        if joined.any() or len(front) < len(self._front):
            stay = np.isin(self._front, front)
            tables = np.empty((3, len(front), len(self._counts)))
            tables[:, ~joined] = [table[stay] for table in (self._odds, self._share, self._other)]
            self._odds, self._share, self._other = tables
            self._front = front
        n = len(self._counts)
        whole = joined | np.isin(front, changed)
        places, rest = np.flatnonzero(whole), np.flatnonzero(~whole)
        self._look_at(
            np.concatenate((np.repeat(places, n), np.repeat(rest, len(changed)))),
            np.concatenate((np.tile(np.arange(n), len(places)), np.tile(changed, len(rest)))),
        )
        self._place = self._odds.argmax(axis=0)
        """For each arm, where in the front is the one that most likely dominates it."""
        self._best = self._odds[self._place, np.arange(n)] * self._base_factor()
        """The odds that it does."""

    # The pairs.

    def _look_at(self, places: IntArray, arms: IntArray) -> None:
        """Fills in pairs of an arm and a place in the front: whether the second dominates the first."""
        for start in range(0, len(arms), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            place, arm = places[some], arms[some]
            at = (place, arm)
            self._odds[at], self._share[at], self._other[at] = self._relation(arm, self._front[place])

    @np.errstate(over="ignore", invalid="ignore")  # finite means may be infinitely far apart
    def _relation(self, arms: IntArray, others: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of pairs: the odds that the second dominates the first, under a flat prior, and what a pull of either takes away.

        An arm does not dominate itself, and a pull of it takes nothing away from that.
        """
        variance, counts = self._variances, self._counts
        first, second = variance[:, arms], variance[:, others]
        difference = self._means[:, others] - self._means[:, arms]
        likely, unlikely, weight, precision = sign_of(difference, first + second)
        weighted = weight * precision
        first, second = weighted * (first / counts[arms]), weighted * (second / counts[others])
        dominates, not_so = np.ones(len(arms)), np.zeros(len(arms))
        total, share, other = np.zeros((3, len(arms)))
        for d in range(len(difference)):
            not_so = not_so + dominates * unlikely[d]
            dominates = dominates * likely[d]
            total = total + weight[d]
            share = share + first[d]
            other = other + second[d]
        itself = arms == others
        return (
            np.where(itself, 0.0, dominates / not_so),
            np.where(itself, 0.0, share / total),
            np.where(itself, 0.0, other / total),
        )

    # What follows.

    @property
    def dominated(self) -> BoolArray:
        """The arms that are below the front, and more likely than not dominated by one of it."""
        return np.asarray((self._dominators > 0) & (self._best > 1.0))

    @property
    def doubt(self) -> FloatArray:
        """How likely the status of each arm is wrong, going by its most likely dominator."""
        odds = self._best
        return np.asarray(np.where(self.dominated, 1.0, odds) / (1.0 + odds))

    @np.errstate(divide="ignore", over="ignore")  # of odds of 0, and of those beyond all measure
    def scores(self) -> FloatArray:
        """What one more pull of each arm is worth: how much doubt it removes, roughly, weighed so that both kinds count alike."""
        factor, dominated = self._base_factor(), self.dominated
        roots = np.sqrt(self._counts)
        some, rest = float(lane_sums(np.where(dominated, 0.0, roots))), float(lane_sums(np.where(dominated, roots, 0.0)))
        little = 0.02 * (some + rest)
        weight = float(np.sqrt((some + little) / (rest + little)))  # of what is dominated; what is not weighs the inverse
        own = np.zeros(len(self._counts))
        from_optimal, from_dominated = np.zeros((2, len(self._front), len(self._counts)))
        arms = np.flatnonzero(dominated)
        place, odds = self._place[arms], self._best[arms]
        share, other = self._share[place, arms], self._other[place, arms]
        value = value_of(odds, share, other)
        own[arms] = weight * (value * share)
        from_dominated[place, arms] = value * other
        arms = np.flatnonzero(~dominated)
        share, other = self._share[:, arms], self._other[:, arms]
        value = value_of(1.0 / (self._odds[:, arms] * factor), share, other)
        own[arms] = np.add.reduce(value * share, axis=0) / weight
        from_optimal[:, arms] = value * other
        own[self._front] += lane_sums(from_optimal) / weight + lane_sums(from_dominated) * weight
        return own

    def choice(self) -> int:
        """The arm to pull next: that with the largest score, or the least pulled if there is nothing to be learnt."""
        scores = self.scores()
        arm = int(scores.argmax())
        return arm if scores[arm] > 0.0 else int(self._counts.argmin())


def on_grid(values: FloatArray) -> FloatArray:
    """Returns the nearest powers of the square root of 2, and 0 as it is."""
    mantissa, exponent = np.frexp(values)
    half = np.where(mantissa < 0.5946035575013605, 0.5, np.where(mantissa < 0.8408964152537145, 0.7071067811865476, 1.0))
    return np.asarray(np.where(mantissa > 0.0, np.ldexp(half, exponent), 0.0))


def lane_sums(rows: FloatArray) -> FloatArray:
    """Returns the sums along the last axis, added up in the order in which the kernels do it."""
    n = rows.shape[-1]
    parts = np.zeros((*rows.shape[:-1], -(-n // LANES) * LANES))
    parts[..., :n] = rows
    parts = parts.reshape(*rows.shape[:-1], -1, LANES)
    lanes = np.zeros((*parts.shape[:-2], LANES))
    for k in range(parts.shape[-2]):
        lanes = lanes + parts[..., k, :]
    for width in (4, 2, 1):
        lanes = lanes[..., :width] + lanes[..., width:]
    return np.asarray(lanes[..., 0])
