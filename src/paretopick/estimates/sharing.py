"""What measurements of different options have in common, where they share blocks: the same question, plate, day or seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._blocks import Blocked, Cells, Mixed, Moderate, fit
from paretopick.estimates.noise import moderated, spread_of_chances
from paretopick.estimates.populations import root

TYPICAL = 4.0
"""How many measurements it counts for, of a metric that is 0 or 1, how much of the noise options share on average."""

CAREFUL = 6.0
"""As if so many of them had shared nothing: a few zeros and ones say little about what they have in common."""


class Share(NamedTuple):
    """Which part of the noise of a metric measurements in the same block have in common, with a 95% interval."""

    low: float
    value: float
    high: float


@dataclass(frozen=True, eq=False)
class Sharing:
    """What blocks bring to the measurements of some options, and what is not known of it; in the units of the metrics."""

    common: FloatArray
    """``(n_metrics, n_options, n_options)`` covariances of the means that come from what is not known of the blocks."""
    stds: FloatArray
    """``(n_metrics,)`` of what blocks bring; 0 where they bring nothing."""
    freedom: FloatArray
    """``(n_metrics,)`` degrees of freedom of these."""
    correlation: FloatArray
    """``(n_metrics, n_metrics)`` between what blocks bring to metrics."""
    effects: FloatArray
    """``(n_blocks, n_metrics)`` what each block brings, as expected."""
    shares: tuple[Share | None, ...]
    """For each metric; None where that cannot be known."""
    gains: FloatArray
    """``(n_metrics,)`` how many times as many measurements it would take without blocks to know differences in a metric as well:
    a median over pairs of options."""

    @property
    def covariance(self) -> FloatArray:
        """``(n_metrics, n_metrics)`` of what a block brings."""
        return self.correlation * self.stds[:, None] * self.stds

    def draws(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Returns ``(n, n_options, n_metrics)`` of how far off all means may be together because of the blocks."""
        n_metrics, n_options = self.common.shape[:2]
        z = rng.standard_normal((n, n_options, n_metrics)) @ root(self.correlation).T
        drawn = np.einsum("dij,njd->nid", root(self.common), z)
        return np.asarray(drawn * np.sqrt(self.freedom / rng.chisquare(self.freedom, (n, n_metrics)))[:, None])

    @property
    def variances(self) -> FloatArray:
        """``(n_options, n_metrics)`` of the means: the part that comes from the blocks."""
        return np.asarray(np.diagonal(self.common, axis1=1, axis2=2).T)


class Paired(NamedTuple):
    """Estimates of means and noise with the blocks taken into account, each ``(n_options, n_metrics)``."""

    means: FloatArray
    stds: FloatArray
    freedom: FloatArray
    correlation: FloatArray
    """Between the metrics of one measurement, without what its block brings."""
    sharing: Sharing


def paired(
    blocked: Blocked,
    *,
    means: FloatArray,
    stds: FloatArray,
    freedom: FloatArray,
    correlation: FloatArray,
    exact: BoolArray,
    chances: BoolArray,
) -> Paired | None:
    """Returns what measurements say about the means if those of a block share what makes them vary; None if none do.

    Metrics in which no block has two measurements, or blocks bring nothing, stay as they are.

    Args:
        blocked: the measurements.
        means: ``(n_options, n_metrics)`` without regard to blocks, as the next three.
        stds: of one measurement.
        freedom: of these.
        correlation: between metrics.
        exact: which metrics have no noise.
        chances: which are 0 or 1.
    """
    n_blocks, n_options, n_metrics = blocked.counts.shape
    models: dict[int, tuple[IntArray, Cells, Mixed]] = {}
    for metric in np.flatnonzero(~exact).tolist():
        seen = np.flatnonzero(~np.isnan(means[:, metric]))
        cells = blocked.cells(metric, seen)
        if len(seen) and cells.shared:
            moderate = _of_chances(cells) if chances[metric] else _variances
            models[metric] = seen, cells, fit(cells, moderate)
    if not models:
        return None
    means, stds, freedom = means.copy(), stds.copy(), freedom.copy()
    common = np.zeros((n_metrics, n_options, n_options))
    effects, left = np.zeros((n_blocks, n_metrics)), np.zeros((n_blocks, n_options, n_metrics))
    widths, degrees = np.zeros(n_metrics), np.ones(n_metrics)
    gains = np.ones(n_metrics)
    for metric, (seen, cells, model) in models.items():
        widths[metric] = np.sqrt(model.block_variance)
        degrees[metric] = max(int((cells.counts.sum(axis=1) > 1).sum()) - 1, 1)
        left[:, seen, metric] = model.residuals_of(cells) * np.sqrt(cells.counts)
        if model.block_variance == 0.0:
            continue
        gains[metric] = np.median(_gains(model)) if len(seen) > 1 else 1.0
        means[seen, metric], stds[seen, metric] = model.means, np.sqrt(model.variances)
        common[metric][np.ix_(seen, seen)] = model.common
        effects[:, metric] = model.effects
        if not chances[metric]:
            freedom[seen, metric] = moderated(model.residuals, model.degrees)[1]
    sharing = Sharing(
        common=common,
        stds=widths,
        freedom=degrees,
        correlation=_together(effects[:, None]),
        effects=effects,
        shares=tuple(_share(*models[metric][1:]) if metric in models else None for metric in range(n_metrics)),
        gains=gains,
    )
    return Paired(means, stds, freedom, _together(left) if widths.any() else correlation, sharing)


def _variances(residuals: FloatArray, degrees: FloatArray) -> FloatArray:
    """Each option's own variance, moderated by those of the others as it is without blocks."""
    return np.square(moderated(residuals, degrees)[0])


def _of_chances(cells: Cells) -> Moderate:
    """The same of a metric that is 0 or 1, whose variance is known by its mean, but for what blocks have of it."""
    n = cells.sizes
    total = np.square(spread_of_chances((cells.plain_means() * n + 0.5) / (n + 1)))
    squares, repeats = cells.deviations(), np.maximum(n - 1.0, 0.0)
    pooled = squares.sum() / repeats.sum()

    def moderate(residuals: FloatArray, degrees: FloatArray) -> FloatArray:
        typical = (residuals.sum() + CAREFUL * pooled) / (degrees.sum() + CAREFUL) / pooled
        own = residuals * repeats / np.where(degrees > 0, degrees, np.inf)
        return np.asarray(total * (own + TYPICAL * typical * total) / (squares + TYPICAL * total))

    return moderate


def _gains(model: Mixed) -> FloatArray:
    """For each pair of options, the variance of the difference if all measurements were alone, in units of what it is."""
    plain, own = (model.variances + model.block_variance) / model.sizes, np.diagonal(model.covariance)
    pairs = np.triu_indices(len(own), 1)
    with_blocks = (own[:, None] + own - 2.0 * model.covariance)[pairs]
    return np.asarray((plain[:, None] + plain)[pairs] / with_blocks)


def _together(parts: FloatArray) -> FloatArray:
    """Correlations between metrics, ``(..., n_metrics)``; with few blocks, nearer to none."""
    rows = parts.reshape(-1, parts.shape[-1])
    n_metrics = rows.shape[1]
    products = rows.T @ rows
    width = np.sqrt(np.diagonal(products))
    width = np.where(width > 0, width, np.inf)
    n = max(len(parts) - 1, 0)
    correlation = n / (n + n_metrics) * products / (width[:, None] * width)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _share(cells: Cells, model: Mixed) -> Share | None:
    """The part of the noise that a block has, with the interval of intraclass correlations (Shrout and Fleiss 1979).

    That is exact if all blocks are complete and the noise is normal and the same for all options.
    """
    from scipy.special import fdtri

    n = cells.counts.sum(axis=1)
    n = n[n > 0].astype(np.float64)
    between, within = len(n) - 1.0, float(model.degrees.sum())
    if between < 1 or within <= 0:
        return None
    size = float((n.sum() - (n**2).sum() / n.sum()) / between)
    own = float(np.average(model.variances, weights=model.sizes))
    ratio = 1.0 + size * model.block_variance / own

    def share(f: float) -> float:
        return max((f - 1.0) / (f + size - 1.0), 0.0)

    low = share(ratio / float(fdtri(between, within, 0.975)))
    high = share(ratio * float(fdtri(within, between, 0.975)))
    return Share(low, share(ratio), high)
