"""Relations between arms whose pulls share blocks: ``doubt`` where the n-th pull of every arm has something in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._blocks import Blocked, Spread, fit
from paretopick._doubting import PRIOR, on_grid
from paretopick.policies.pair_tables import PairTables
from paretopick.policies.pairs import Pairs
from paretopick.policies.pairs_within import PairsWithin
from paretopick.theory.requirements import Requirements

CLOSE = 1e-3
"""How exactly the variances are found, as a part of the variance of a pull: enough to choose by."""


class BlockModel:
    """What is known of arms, each of which has been pulled, if their pulls share blocks; and of pulls that are being made.

    Args:
        blocked: the pulls, larger is better.
        counts: ``(n_arms,)`` how many there are; a pull may lack objectives.
        exact: which objectives are without noise.
        means: ``(n_arms, n_objectives)``, whatever the blocks: those of objectives without noise.
        numbers: of the blocks, ascending, where the next pull of an arm goes to the lowest number that it lacks; None where
            nobody knows in which block the next pull will be.
    """

    def __init__(self, blocked: Blocked, counts: IntArray, exact: BoolArray, means: FloatArray, numbers: IntArray | None) -> None:
        self.counts, self.means = counts, means.copy()
        self.pending: IntArray = np.zeros_like(self.counts)
        self._objectives = [
            None if exact[at] else _Objective(blocked, at, self.means[:, at]) for at in range(blocked.alone.shape[1])
        ]
        self._taken = None if numbers is None else _Numbers(blocked, numbers)
        self._find()

    def expect(self, pending: IntArray) -> bool:
        """Counts pulls of each arm that are being made: means and noise stay; returns whether these are others than before."""
        if (pending == self.pending).all():
            return False
        self.pending = pending.copy()
        self._find()
        return True

    def _find(self) -> None:
        n, d = len(self.counts), len(self._objectives)
        self.variances = np.zeros((d, n, n))
        """Of the difference between any two arms."""
        self.falls = np.zeros((d, n, n))
        """``[d, i, j]``: what the next pull of i takes away of the variance of the difference between i and j."""
        self.own = np.zeros((d, n))
        """The variances of the means."""
        self.own_falls = np.zeros((d, n))
        """What the next pull of an arm takes away of that."""
        places = None if self._taken is None else self._taken.places(self.pending)
        for at, objective in enumerate(self._objectives):
            if objective is not None:
                objective.fill(self, at, self.pending, places)


class _Objective:
    """One objective with noise."""

    def __init__(self, blocked: Blocked, at: int, means: FloatArray) -> None:
        self.seen = np.flatnonzero(blocked.counts[:, :, at].sum(axis=0) + blocked.alone[:, at])
        self.cells = blocked.cells(at, self.seen)
        squares = self.cells.deviations()
        self.variances, self.block_variance = _moderate(squares, np.maximum(self.cells.sizes - 1.0, 0.0), on_grid), 0.0
        if self.cells.shared:
            model = fit(self.cells, _moderate, close=CLOSE)
            if model.block_variance > 0.0:  # else all is as it is without blocks
                self.variances, self.block_variance = model.variances, model.block_variance
                means[self.seen] = model.means
        self.typical = float(self.variances.mean())
        self.spread = 0.0
        if len(self.seen) < len(means):  # the others are taken to be like these, give or take what lies between them
            missing = np.setdiff1d(np.arange(len(means)), self.seen)
            self.spread = float(np.var(means[self.seen]))
            means[missing] = float(np.mean(means[self.seen]))

    def fill(self, model: BlockModel, at: int, pending: IntArray, places: tuple[list[IntArray], IntArray, int] | None) -> None:
        """Writes variances and what pulls take away of them."""
        seen, tau2 = self.seen, self.block_variance
        if not self.cells.varies:
            return
        variances = self.variances
        counts, alone = self.cells.counts, self.cells.alone
        opened, links = np.zeros(len(seen)), np.zeros((len(seen), len(seen)))
        if places is not None:
            made, following, n_blocks = places
            counts = np.concatenate((counts, np.zeros((n_blocks - len(counts), len(seen)), dtype=np.int64)))
            for place, arm in enumerate(seen.tolist()):
                counts[made[arm], place] += 1
            found = Spread(counts, alone, variances, tau2)
            covariance = found.covariance
            rows = following[seen]
            opened, links = found.open[rows], found.links[rows]
        else:
            sizes = self.cells.sizes
            covariance = Spread(counts, alone, variances, tau2).covariance
            covariance = covariance - np.diag(variances / sizes - variances / (sizes + pending[seen]))
        # A pull of i in block b tells of mu_i + effect_b; what it takes away is the square of its covariance with what matters.
        told = covariance + links
        own = np.diagonal(told)
        weight = 1.0 / (variances + opened)
        grid = np.ix_(seen, seen)
        width = np.diagonal(covariance)
        model.own[at] = self.typical + self.spread
        model.own_falls[at] = model.own[at]
        model.own[at, seen] = width
        model.own_falls[at, seen] = own**2 * weight
        model.variances[at] = model.own[at][:, None] + model.own[at]
        model.falls[at] = model.own_falls[at][:, None]
        model.variances[at][grid] = np.maximum(width[:, None] + width - 2.0 * covariance, 0.0)
        model.falls[at][grid] = (own[:, None] - told) ** 2 * weight[:, None]


class _Numbers:
    """Which blocks each arm lacks, lowest first, where blocks are numbered."""

    def __init__(self, blocked: Blocked, numbers: IntArray) -> None:
        self._numbers = numbers
        has: BoolArray = np.asarray(blocked.counts.any(axis=2))
        self._first = blocked.alone.max(axis=1)  # pulls in no block have the lowest numbers
        self._before = []
        """For each arm, how many numbers it lacks before each that it has."""
        for arm, first in enumerate(self._first.tolist()):
            taken = numbers[has[:, arm]]
            taken = taken[taken >= first]
            self._before.append(taken - first - np.arange(len(taken)))

    def places(self, pending: IntArray) -> tuple[list[IntArray], IntArray, int]:
        """Returns the rows of the blocks of the pulls that are being made, that of the next pull of each arm, and how many.

        Rows behind the last block are blocks that nobody has yet.
        """
        lacked = []
        for first, before, n in zip(self._first.tolist(), self._before, pending.tolist(), strict=True):
            nth = np.arange(n + 1)
            lacked.append(first + nth + np.searchsorted(before, nth, side="right"))
        new = np.setdiff1d(np.concatenate(lacked), self._numbers)
        every = np.concatenate((self._numbers, new))
        order = np.argsort(every, kind="stable")
        rows = [order[np.searchsorted(every, each, sorter=order)] for each in lacked]
        return [each[:-1] for each in rows], np.array([each[-1] for each in rows]), len(every)


def _moderate(residuals: FloatArray, degrees: FloatArray, rounded: Callable[[float], float] = float) -> FloatArray:
    """The variance of an arm is its own, moderated by that of all, as it is without blocks."""
    several = degrees > 1e-9
    pool = rounded(float((residuals[several] / degrees[several]).mean())) if several.any() else 0.0
    return np.asarray((residuals + PRIOR * pool) / (degrees + PRIOR))


class _Blockwise(PairTables):
    """Tables of pairs whose variances come from a model of blocks, found anew when anything changes."""

    def __init__(self, model: BlockModel, *more: Requirements) -> None:
        self.model = model
        super().__init__(model.counts, model.means, np.zeros(model.means.shape), *more)

    def _estimate(self, arms: IntArray) -> bool:
        self._variances[:] = self.model.own
        return False

    def count(self, counts: IntArray) -> None:
        """Takes the counts with pulls of which nothing is known yet: means and noise stay."""
        if self.model.expect(counts - self._told.astype(np.int64)):
            self._counts[:] = counts
            self._variances[:] = self.model.own
            self._look_again(self._every)

    def _between(self, arms: IntArray, others: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        means, model = self._means, self.model
        mine, theirs = model.falls[:, arms, others], model.falls[:, others, arms]
        return means[:, others] - means[:, arms], model.variances[:, arms, others], mine, theirs


class PairedPairs(_Blockwise, Pairs):
    """Who dominates whom, where pulls share blocks."""


class PairedPairsWithin(_Blockwise, PairsWithin):
    """Who outdoes and covers whom, and who keeps the limits, where pulls share blocks."""

    def _share_of_limits(self) -> FloatArray:
        own, falls = self.model.own[self._limited], self.model.own_falls[self._limited]
        return np.asarray((falls / np.where(own > 0, own, np.inf)).mean(axis=0))


def paired_tables(model: BlockModel, required: Requirements) -> PairTables:
    """Returns the relations between arms whose pulls share blocks."""
    return PairedPairs(model) if required.is_plain else PairedPairsWithin(model, required)
