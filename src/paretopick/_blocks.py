"""Measurements that share what makes them vary: the mixed model of one metric, with options and blocks.

A measurement of option i in block b is ``mu_i + effect_b + e``. Effects of blocks are random with one variance, and e has a
variance of its own for each option. The means are found by generalised least squares, the variances by restricted maximum
likelihood (Harville 1977, Journal of the American Statistical Association 72). Differences between options that were measured in
the same blocks are then known better than either mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray, IntArray

STEPS = 100
"""The most steps in which variances are found."""

CLOSE = 1e-7
"""They are found when a step changes none of them by more than such a part of the variance of a measurement."""

Moderate = Callable[[FloatArray, FloatArray], FloatArray]
"""Variances of the options, from sums of squared residuals and their degrees of freedom."""


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

    @property
    def shared(self) -> bool:
        """Whether there is a block with two measurements."""
        return bool((self.counts.sum(axis=1) > 1).any())

    def plain_means(self) -> FloatArray:
        """Returns the mean of the measurements of each option, whatever their blocks."""
        totals = np.where(self.counts > 0, self.counts * self.means, 0.0).sum(axis=0)
        return np.asarray((totals + np.where(self.alone > 0, self.alone * self.alone_means, 0.0)) / self.sizes)


@dataclass(frozen=True, eq=False)
class Mixed:
    """What the model says about the options, in the units of the metric."""

    means: FloatArray
    """``(n_options,)``"""
    covariance: FloatArray
    """``(n_options, n_options)`` of the means."""
    variances: FloatArray
    """``(n_options,)`` of a measurement, without what its block brings."""
    block_variance: float
    """Of the effects of blocks."""
    residuals: FloatArray
    """``(n_options,)`` sums of squared residuals, after means and effects."""
    degrees: FloatArray
    """``(n_options,)`` degrees of freedom of these; not whole numbers."""
    effects: FloatArray
    """``(n_blocks,)`` as expected, given the measurements."""
    sizes: IntArray
    """``(n_options,)`` measurements of each option."""
    open_effects: FloatArray
    """``(n_blocks,)`` variances of what is left open about the effects where the means are known."""
    links: FloatArray
    """``(n_blocks, n_options)`` covariances of effects and means, given the measurements."""

    @property
    def own(self) -> FloatArray:
        """``(n_options,)`` the part of the variance of each mean that comes from its own measurements alone."""
        return self.variances / self.sizes

    @property
    def common(self) -> FloatArray:
        """``(n_options, n_options)`` the rest of the covariance: what is not known of the effects of blocks."""
        return self.covariance - np.diag(self.own)


def fit(cells: Cells, moderate: Moderate) -> Mixed:
    """Returns the model that fits the measurements.

    Args:
        cells: the measurements; for every option one at least, and of one option two.
        moderate: how the variances of options follow from sums of squared residuals and degrees of freedom; with their ratio it
            is restricted maximum likelihood.
    """
    centre = cells.plain_means()
    apart = np.where(cells.counts > 0, cells.means - centre, 0.0)
    alone_apart = np.where(cells.alone > 0, cells.alone_means - centre, 0.0)
    plain = cells.squares + cells.alone_squares + (cells.counts * apart**2).sum(axis=0) + cells.alone * alone_apart**2
    variances = moderate(plain, np.maximum(cells.sizes - 1.0, 0.0))
    block_variance = 0.0
    for _ in range(STEPS):
        step = _Step(cells, apart, alone_apart, variances, block_variance)
        new_block = max(block_variance + step.score / step.information, 0.0) if step.information > 0 else 0.0
        new = moderate(step.residuals, step.degrees)
        close = CLOSE * (variances.max() + block_variance)
        done = np.abs(new - variances).max() <= close and abs(new_block - block_variance) <= close
        variances, block_variance = new, new_block
        if done:
            break
    step = _Step(cells, apart, alone_apart, variances, block_variance)
    return Mixed(
        means=centre + step.means,
        covariance=step.covariance,
        variances=variances,
        block_variance=block_variance,
        residuals=step.residuals,
        degrees=step.degrees,
        effects=block_variance * step.sums,
        sizes=cells.sizes,
        open_effects=step.open,
        links=-step.open[:, None] * (step.weights @ step.covariance),
    )


class _Step:
    """Means and what follows from them, where the variances are taken to be known."""

    def __init__(
        self, cells: Cells, apart: FloatArray, alone_apart: FloatArray, variances: FloatArray, block_variance: float
    ) -> None:
        n, single = cells.counts, cells.alone
        self.weights = w = n / variances
        whole = w.sum(axis=1)
        damped = 1.0 + block_variance * whole
        self.open = block_variance / damped
        precision = 1.0 / (variances + block_variance)  # of a measurement that is alone
        information = np.diag(w.sum(axis=0) + single * precision) - w.T @ (self.open[:, None] * w)
        self.covariance = C = np.linalg.inv(information)
        weighted = w * apart
        self.means = mu = C @ (weighted.sum(axis=0) - w.T @ (self.open * weighted.sum(axis=1)) + single * precision * alone_apart)
        off = np.where(n > 0, apart - mu, 0.0)
        self.sums = (w * off).sum(axis=1) / damped
        alone_off = cells.alone_squares + single * (alone_apart - mu) ** 2
        # Residuals, and what of them the means and effects have taken away.
        kept = variances * precision
        left = off - block_variance * self.sums[:, None]
        self.residuals = cells.squares + (n * left**2).sum(axis=0) + kept**2 * alone_off
        spread = w @ C
        across = (spread * w).sum(axis=1)
        own = np.diagonal(C)
        fitted = (self.open + self.open**2 * across)[:, None] - 2.0 * self.open[:, None] * spread + own
        alone_fitted = own * kept**2 + block_variance * kept
        self.degrees = np.maximum(cells.sizes - ((n * fitted).sum(axis=0) + single * alone_fitted) / variances, 0.0)
        # The slope of the likelihood in the variance of blocks, and its expected curvature, both twice.
        M = w / damped[:, None]
        q, turned = whole / damped, across / damped**2
        S = M.T @ M + np.diag(single * precision**2)
        CS = C @ S
        trace = q.sum() - turned.sum() + (single * (precision - precision**2 * own)).sum()
        self.score = float((self.sums**2).sum() + (precision**2 * alone_off).sum() - trace)
        self.information = float(
            (q**2).sum()
            + (single * precision**2).sum()
            - 2.0 * ((q * turned).sum() + (single * precision**3 * own).sum())
            + (CS * CS.T).sum()
        )
