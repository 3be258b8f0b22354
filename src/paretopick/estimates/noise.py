"""How measurements scatter: the noise of each option in each metric, and how metrics go together."""

from __future__ import annotations

import numpy as np

from paretopick._arrays import FloatArray, IntArray


def moderated(squares: FloatArray, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of one metric and their degrees of freedom, from sums of squared deviations.

    Where variances differ between options no more than chance would have it, all get the pooled one. Otherwise each is a mean of
    its own and of a typical one, which weighs the less, the more they differ (Smyth 2004, Statistical Applications in Genetics
    and Molecular Biology 3(1), sections 3 and 6). Degrees of freedom are never more than there are in all.
    """
    from scipy.special import digamma, polygamma

    total = degrees.sum()
    pooled = squares.sum() / total
    seen = (degrees > 0) & (squares > 0)
    d = degrees[seen]
    if seen.sum() >= 3:
        logs = np.log(squares[seen] / d) - digamma(d / 2) + np.log(d / 2)
        excess = logs.var(ddof=1) - polygamma(1, d / 2).mean()
        if excess > 1e-6:
            from scipy.optimize import brentq

            prior = 2 * brentq(lambda x: polygamma(1, x) - excess, 1e-6, 1e7)
            typical = np.exp(logs.mean() + digamma(prior / 2) - np.log(prior / 2))
            return np.sqrt((prior * typical + squares) / (prior + degrees)), np.minimum(prior + degrees, total)
    return np.full(len(degrees), np.sqrt(pooled)), np.full(len(degrees), total)


def unseen(means: FloatArray, degrees: FloatArray) -> float:
    """A standard deviation for a metric that never varied: as if one more repeat had differed as little as options do."""
    levels = np.unique(means)
    return float(np.diff(levels).min() / np.sqrt(2.0 * (1.0 + degrees.sum()))) if len(levels) > 1 else 0.0


def correlation_between(products: FloatArray, stds: FloatArray, both: IntArray) -> FloatArray:
    """Between the metrics of one measurement, pooled over the options; with few repeats, nearer to none.

    Args:
        products: ``(n_options, n_metrics, n_metrics)`` sums of products of deviations.
        stds: ``(n_options, n_metrics)``
        both: how many measurements have both of two metrics, in the form of ``products``.
    """
    n_metrics = stds.shape[1]
    safe = np.where(stds > 0, stds, np.inf)
    widths = safe[:, :, None] * safe[:, None, :]
    total = (products / np.where(widths > 0, widths, np.inf)).sum(axis=0)  # of very small numbers they are 0
    degrees = np.maximum(both - 1.0, 0.0).sum(axis=0)
    own = np.diagonal(degrees)
    width = np.sqrt(np.diagonal(total))
    width = np.where(width > 0, width, np.inf)
    # A metric varies over all measurements that have it; two together, over those that have both.
    rarer = np.sqrt(own[:, None] * own) / np.where(degrees > 0, degrees, np.inf)
    correlation = degrees / (degrees + n_metrics) * total * rarer / (width[:, None] * width)
    np.fill_diagonal(correlation, 1.0)
    return correlation if (degrees == own).all() else possible(correlation)


def possible(correlation: FloatArray) -> FloatArray:
    """Returns correlations, nearer to none where metrics that were rarely measured together seem to go together too much."""
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least >= 0.0:
        return correlation
    return np.asarray((correlation - least * np.eye(len(correlation))) / (1.0 - least))


def spread_of_chances(chances: FloatArray) -> FloatArray:
    """Standard deviations of what is 1 with such chances, else 0; of numbers that are no chances, nothing of use."""
    return np.asarray(np.sqrt(np.abs(chances * (1.0 - chances))))
