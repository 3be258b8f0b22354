"""Measurements that share what makes them vary: the mixed model of one metric, with options and blocks.

A measurement of option i in block b is ``mu_i + effect_b + e``. Effects of blocks are random with one variance, and e has a
variance of its own for each option. The means are found by generalised least squares, the variances by restricted maximum
likelihood (Harville 1977, Journal of the American Statistical Association 72). Differences between options that were measured in
the same blocks are then known better than either mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from paretopick._arrays import FloatArray, IntArray

STEPS = 100
"""The most steps in which variances are found."""

CLOSE = 1e-7
"""They are found when a step changes none of them by more than such a part of the variance of a measurement."""

SMALL = 250_000
"""Products of so many numbers are made by one thread."""

TINY = 1e-280
"""Squares below this are as good as none."""

SHORTER, SHORTEST = 0.7, 0.2
"""Steps of the variance of blocks become shorter each time it went too far, but no shorter than that."""

LEAST = 1e-9
"""Variances of options are at least such a part of what they are without blocks: differences may not vary at all."""

ROUGH = 1e-2
"""How exactly they are found at first, with one variance for all options."""

Moderate = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Variances of the options and the degrees of freedom of these, from sums of squared residuals and theirs."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Measurements of some options in one metric, each option with one at least.

    Those of an option in a block are a cell. Measurements that share a block with nobody may be left out of the blocks, and are
    then ``alone``: each is taken to be in a block of its own.
    """

    counts: IntArray
    """``(n_blocks, n_options)`` how many are in each cell."""
    means: FloatArray
    """``(n_blocks, n_options)`` of the cells; not looked at where there is nothing."""
    squares: FloatArray
    """``(n_options,)`` sums of squared deviations from the means of the cells."""
    alone: IntArray
    """``(n_options,)`` how many are alone."""
    alone_means: FloatArray
    """``(n_options,)`` of these; not looked at where there are none."""
    alone_squares: FloatArray
    """``(n_options,)`` sums of squared deviations from these."""

    @property
    def sizes(self) -> IntArray:
        """``(n_options,)`` measurements of each option."""
        return np.asarray(self.counts.sum(axis=0) + self.alone)

    def deviations(self) -> FloatArray:
        """Returns sums of squared deviations of each option from its mean, whatever the blocks."""
        apart, alone = self._around(self.plain_means())
        return np.asarray(self.squares + self.alone_squares + (self.counts * apart**2).sum(axis=0) + self.alone * alone**2)

    def _around(self, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cells and what is alone, as differences from a number for each option; 0 where there is nothing."""
        return np.where(self.counts > 0, self.means - centre, 0.0), np.where(self.alone > 0, self.alone_means - centre, 0.0)

    @property
    def degrees_within(self) -> int:
        """Degrees of freedom of what varies within blocks: without any, nobody knows what measurements in a block share.

        A block tells options apart that it has, and options tell blocks apart; so do chains of both.
        """
        blocks, options = np.nonzero(self.counts)
        n_blocks, n_options = len(np.unique(blocks)), len(np.unique(options))
        labels, before = np.arange(self.counts.shape[1]), None
        while before is None or (labels != before).any():  # the smallest number of an option that each is linked with
            before, of_blocks = labels.copy(), np.full(len(self.counts), self.counts.shape[1])
            np.minimum.at(of_blocks, blocks, labels[options])
            np.minimum.at(labels, options, of_blocks[blocks])
        return int(self.counts.sum()) - n_blocks - n_options + len(np.unique(labels[options]))

    @property
    def shared(self) -> bool:
        """Whether anything can be known of what measurements in a block share: if there is a block with two, and they vary."""
        return bool((self.counts.sum(axis=1) > 1).any()) and self.varies and self.degrees_within > 0

    @property
    def varies(self) -> bool:
        """Whether measurements vary, by more than floats can be divided by."""
        return bool(self.deviations().max(initial=0.0) > TINY)

    def plain_means(self) -> FloatArray:
        """Returns the mean of the measurements of each option, whatever their blocks."""
        totals = np.where(self.counts > 0, self.counts * self.means, 0.0).sum(axis=0)
        return np.asarray((totals + np.where(self.alone > 0, self.alone * self.alone_means, 0.0)) / self.sizes)


@dataclass(frozen=True, eq=False)
class Blocked:
    """Measurements of some options by block, in all metrics; a measurement may lack some of them."""

    counts: IntArray
    """``(n_blocks, n_options, n_metrics)``: how many values are in each cell."""
    means: FloatArray
    """``(n_blocks, n_options, n_metrics)`` of these."""
    squares: FloatArray
    """``(n_options, n_metrics)`` sums of squared deviations from the means of the cells."""
    alone: IntArray
    """``(n_options, n_metrics)`` values that are in no block."""
    alone_means: FloatArray
    alone_squares: FloatArray

    @classmethod
    def of(cls, arms: IntArray, blocks: IntArray, rows: FloatArray, *, n_options: int) -> Blocked:
        """Returns measurements in the order in which they were made, by block.

        Args:
            arms: the option of each.
            blocks: the number of its block, from 0 on; -1 for none.
            rows: ``(n_measurements, n_metrics)``, NaN where a measurement lacks a metric.
            n_options: how many there are.
        """
        n_blocks, n_metrics = int(blocks.max(initial=-1)) + 1, rows.shape[1]
        shape = (n_blocks + 1, n_options)  # what is in no block is in the last
        at = np.where(blocks < 0, n_blocks, blocks) * n_options + arms
        counts: IntArray = np.zeros((*shape, n_metrics), dtype=np.int64)
        means, squares = np.zeros((*shape, n_metrics)), np.zeros((*shape, n_metrics))
        for metric, column in enumerate(rows.T):
            has = ~np.isnan(column)
            places, values, size = at[has], column[has], shape[0] * shape[1]
            n = np.bincount(places, minlength=size)
            mean = np.bincount(places, values, size) / np.maximum(n, 1)
            squares[..., metric] = np.bincount(places, np.square(values - mean[places]), size).reshape(shape)
            counts[..., metric], means[..., metric] = n.reshape(shape), mean.reshape(shape)
        return cls(counts[:-1], means[:-1], squares[:-1].sum(axis=0), counts[-1], means[-1], squares[-1])

    def cells(self, metric: int, options: IntArray) -> Cells:
        """Returns the measurements of some options in one metric."""
        return Cells(
            self.counts[:, options, metric],
            self.means[:, options, metric],
            self.squares[options, metric],
            self.alone[options, metric],
            self.alone_means[options, metric],
            self.alone_squares[options, metric],
        )

    def times(self, signs: FloatArray) -> Blocked:
        """Returns the same with metrics multiplied by 1 or -1."""
        return replace(self, means=self.means * signs, alone_means=self.alone_means * signs)

    def of_options(self, options: IntArray) -> tuple[Blocked, IntArray]:
        """Returns the measurements of some of the options, and which of the blocks these have."""
        counts = self.counts[:, options]
        blocks = np.flatnonzero(counts.any(axis=(1, 2)))
        some = Blocked(
            counts[blocks],
            self.means[:, options][blocks],
            self.squares[options],
            self.alone[options],
            self.alone_means[options],
            self.alone_squares[options],
        )
        return some, blocks


@dataclass(frozen=True, eq=False)
class Mixed:
    """What the model says about the options, in the units of the metric."""

    means: FloatArray
    """``(n_options,)``"""
    covariance: FloatArray
    """``(n_options, n_options)`` of the means."""
    variances: FloatArray
    """``(n_options,)`` of a measurement, without what its block brings."""
    freedom: FloatArray
    """``(n_options,)`` degrees of freedom of these."""
    block_variance: float
    """Of the effects of blocks."""
    settled: bool
    """Whether the variances were found: those that are pooled or not from one step to the next are not."""
    residuals: FloatArray
    """``(n_options,)`` sums of squared residuals, after means and effects."""
    degrees: FloatArray
    """``(n_options,)`` degrees of freedom of these; not whole numbers."""
    effects: FloatArray
    """``(n_blocks,)`` as expected, given the measurements."""
    sizes: IntArray
    """``(n_options,)`` measurements of each option."""

    @property
    def own(self) -> FloatArray:
        """``(n_options,)`` the part of the variance of each mean that comes from its own measurements alone."""
        return self.variances / self.sizes

    @property
    def common(self) -> FloatArray:
        """``(n_options, n_options)`` the rest of the covariance: what is not known of the effects of blocks."""
        return self.covariance - np.diag(self.own)

    def residuals_of(self, cells: Cells) -> FloatArray:
        """Returns ``(n_blocks, n_options)`` how far the means of cells are from what was expected, 0 where there is nothing."""
        return np.where(cells.counts > 0, cells.means - self.means - self.effects[:, None], 0.0)


def fit(cells: Cells, moderate: Moderate, *, close: float = CLOSE) -> Mixed:
    """Returns the model that fits the measurements.

    Args:
        cells: the measurements; for every option one at least, and they vary.
        moderate: how the variances of options follow from sums of squared residuals and degrees of freedom; with their ratio, or
            ``pooled``, it is restricted maximum likelihood.
        close: when variances are found, as a part of the variance of a measurement.
    """
    centre = cells.plain_means()
    apart, alone_apart = cells._around(centre)
    plain = cells.deviations(), np.maximum(cells.sizes - 1.0, 0.0)
    least = LEAST * float(moderate(*plain)[0].mean())
    # With one variance for all at first: an option that was measured in few and similar blocks alone would else be taken to be
    # exact, and all others to vary by themselves.
    (variances, freedom), block_variance, settled = pooled(*plain), 0.0, False
    for one, enough in ((pooled, max(close, ROUGH)), (moderate, close)):
        length, before, settled = 1.0, 0.0, False
        for _ in range(STEPS):
            step = _Step(cells, apart, alone_apart, variances, block_variance)
            if step.score * before < 0.0:  # the variances of options move, too, and both together too far
                length = max(SHORTER * length, SHORTEST)
            before = step.score
            new_block = max(block_variance + length * step.score / step.information, 0.0) if step.information > 0 else 0.0
            new, freedom = one(step.residuals, step.degrees)
            new = np.maximum(new, least)
            off = enough * (variances.max() + block_variance)
            settled = bool(np.abs(new - variances).max() <= off and abs(new_block - block_variance) <= off)
            variances, block_variance = new, new_block
            if settled:
                break
    step = _Step(cells, apart, alone_apart, variances, block_variance)
    return Mixed(
        means=centre + step.means,
        covariance=step.covariance,
        variances=variances,
        freedom=freedom,
        block_variance=block_variance,
        settled=settled,
        residuals=step.residuals,
        degrees=step.degrees,
        effects=block_variance * step.sums,
        sizes=cells.sizes,
    )


def pooled(residuals: FloatArray, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns one variance for all options: restricted maximum likelihood, if they have one."""
    total = degrees.sum()
    return np.full(len(residuals), residuals.sum() / total), np.full(len(residuals), total)


class Spread:
    """How far off means may be, where the variances are known: that depends on how many measurements there are, and where.

    Args:
        counts: ``(n_blocks, n_options)`` measurements in each cell.
        alone: ``(n_options,)`` measurements in blocks of their own.
        variances: ``(n_options,)`` of a measurement, without what its block brings.
        block_variance: of what blocks bring.
    """

    def __init__(self, counts: IntArray, alone: IntArray, variances: FloatArray, block_variance: float) -> None:
        self.weights = w = counts / variances
        self.whole = w.sum(axis=1)
        self.damped = 1.0 + block_variance * self.whole
        self.open = block_variance / self.damped
        """``(n_blocks,)`` variances of what is left open about the effects where the means are known."""
        self.precision = 1.0 / (variances + block_variance)
        """Of a measurement that is alone."""
        information = np.diag(w.sum(axis=0) + alone * self.precision) - _gram(w, self.open[:, None] * w)
        self.covariance: FloatArray = np.asarray(np.linalg.inv(information), dtype=np.float64)
        """``(n_options, n_options)`` of the means."""

    @property
    def links(self) -> FloatArray:
        """``(n_blocks, n_options)`` covariances of effects and means, given the measurements."""
        return np.asarray(-self.open[:, None] * _times(self.weights, self.covariance))


def _slices(a: FloatArray) -> Iterator[slice]:
    """Rows that are multiplied at a time: so few that the library of matrices starts no threads.

    These wait for each other when others use the processors, and round sums otherwise on other machines.
    """
    step = max(SMALL // max(a.shape[1] ** 2, 1), 1)
    return (slice(start, start + step) for start in range(0, len(a), step))


def _gram(a: FloatArray, b: FloatArray) -> FloatArray:
    """Returns ``a.T @ b``."""
    found = np.zeros((a.shape[1], b.shape[1]))
    for part in _slices(a):
        found += a[part].T @ b[part]
    return found


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """Returns ``a @ b``."""
    found = np.empty((len(a), b.shape[1]))
    for part in _slices(a):
        np.matmul(a[part], b, out=found[part])
    return found


class _Step:
    """Means and what follows from them, where the variances are taken to be known."""

    def __init__(
        self, cells: Cells, apart: FloatArray, alone_apart: FloatArray, variances: FloatArray, block_variance: float
    ) -> None:
        n, single = cells.counts, cells.alone
        self.spread = spread = Spread(n, single, variances, block_variance)
        w, whole, damped, opened, precision = spread.weights, spread.whole, spread.damped, spread.open, spread.precision
        self.covariance = cov = spread.covariance
        weighted = w * apart
        self.means = mu = cov @ (
            weighted.sum(axis=0) - (w * (opened * weighted.sum(axis=1))[:, None]).sum(axis=0) + single * precision * alone_apart
        )
        off = np.where(n > 0, apart - mu, 0.0)
        self.sums = (w * off).sum(axis=1) / damped
        alone_off = cells.alone_squares + single * (alone_apart - mu) ** 2
        # Residuals, and what of them the means and effects have taken away.
        kept = variances * precision
        left = off - block_variance * self.sums[:, None]
        self.residuals = cells.squares + (n * left**2).sum(axis=0) + kept**2 * alone_off
        fitting = _times(w, cov)
        across = (fitting * w).sum(axis=1)
        own = np.diagonal(cov)
        fitted = (opened + opened**2 * across)[:, None] - 2.0 * opened[:, None] * fitting + own
        alone_fitted = own * kept**2 + block_variance * kept
        degrees = cells.sizes - ((n * fitted).sum(axis=0) + single * alone_fitted) / variances
        some = degrees > 1e-9 * cells.sizes  # of an option that was measured once nothing but a rounding is left
        self.degrees, self.residuals = np.where(some, degrees, 0.0), np.where(some, self.residuals, 0.0)
        # The slope of the likelihood in the variance of blocks, and its expected curvature, both twice.
        m = w / damped[:, None]
        q, turned = whole / damped, across / damped**2
        m_m = _gram(m, m) + np.diag(single * precision**2)
        cov_mm = cov @ m_m
        trace = q.sum() - turned.sum() + (single * (precision - precision**2 * own)).sum()
        self.score = float((self.sums**2).sum() + (precision**2 * alone_off).sum() - trace)
        self.information = float(
            (q**2).sum()
            + (single * precision**2).sum()
            - 2.0 * ((q * turned).sum() + (single * precision**3 * own).sum())
            + (cov_mm * cov_mm.T).sum()
        )
