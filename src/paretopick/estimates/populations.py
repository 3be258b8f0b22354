"""Options seen as a population, which says where a mean that is known badly is likely to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray, IntArray

STEPS = 200
"""The most steps in which the population is found."""

TINY = 1e-9
"""Added to variances that may be 0, in units of those of the options."""


@dataclass(frozen=True, eq=False)
class Normal:
    """Options whose true means are normal, each by itself, in the units of the metrics."""

    mean: FloatArray
    """``(n_options, n_metrics)``"""
    covariances: FloatArray

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Returns the mean of every option and the standard deviations around it."""
        return self.mean, np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    def draws(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Returns ``(n, n_options, n_metrics)`` of deviations, and what they are from."""
        return np.einsum("kde,nke->nkd", root(self.covariances), rng.standard_normal((n, *self.mean.shape))), self.mean


@dataclass(frozen=True, eq=False)
class Population:
    """A normal population that options come from, and what it and their measurements together say about them.

    Everything is in ``units``, in which the options as measured have variance 1 in every metric.
    """

    units: FloatArray
    points: FloatArray
    """``(n_options, n_metrics)`` as measured."""
    noise: FloatArray
    """``(n_options, n_metrics, n_metrics)`` covariances of these."""
    between: FloatArray
    """The covariance of the population."""
    nearer: FloatArray
    """Where options are likely to be, with what their measurements say."""
    left: FloatArray
    """Covariances of what is left open."""
    log_likelihood: float
    """Of the options as measured, up to a constant that depends on their number alone."""

    def normal(self) -> Normal:
        """Returns what is known about the options, in the units of the metrics."""
        return Normal(self.nearer * self.units, self.left * self.units[:, None] * self.units)


def normal_population(located: FloatArray, spread: FloatArray) -> Population:
    """Returns the normal population that options come from, found by expectation-maximisation.

    The covariance of the means as they are weighs as much as one more option, so that the population does not shrink to a point.
    What is known without noise stays where it is.

    Args:
        located: ``(n_options, n_metrics)`` where they are as measured.
        spread: covariances of that.
    """
    units = located.std(axis=0)
    units = np.where(units > 0, units, 1.0)
    points, noise = located / units, spread / (units[:, None] * units)
    n, n_metrics = points.shape
    observed = np.cov(points.T).reshape(n_metrics, n_metrics)
    observed += np.diag(np.where(np.diagonal(observed) > 0, 0.0, np.diagonal(noise, axis1=1, axis2=2).mean(axis=0) / n))
    centre, between = points.mean(axis=0), observed
    tiny = TINY * np.eye(n_metrics)
    for _ in range(STEPS):
        weight = noise @ np.linalg.inv(between + noise + tiny)  # of the population, against the measurements
        nearer = points - np.einsum("kde,ke->kd", weight, points - centre)
        left = noise - weight @ noise
        centre, before = nearer.mean(axis=0), between
        apart = nearer - centre
        between = (apart.T @ apart + left.sum(axis=0) + observed) / (n + 1)
        if np.abs(between - before).max() < 1e-7:
            break
    likelihood = log_density(points - centre, between + noise + tiny).sum()
    return Population(units, points, noise, between, nearer, left, float(likelihood))


def shrunken(located: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and covariances given that the options come from a normal population, in the units of the metrics."""
    found = normal_population(located, spread).normal()
    return found.mean, found.covariances


def log_density(apart: FloatArray, covariances: FloatArray) -> FloatArray:
    """Of normal distributions at points that are so far apart from their means, up to a constant."""
    chi = np.einsum("...d,...de,...e->...", apart, np.linalg.inv(covariances), apart)
    return np.asarray(-0.5 * (np.linalg.slogdet(covariances)[1] + chi))


def root(covariances: FloatArray) -> FloatArray:
    """Matrices A with ``A A^T`` the covariances, also of those that rounding made a little negative.

    From correlations, so that bytes and milliseconds do not drown each other.
    """
    widths = np.sqrt(np.maximum(np.diagonal(covariances, axis1=-2, axis2=-1), 0.0))
    safe = np.where(widths > 0, widths, 1.0)
    correlations = covariances / (safe[..., :, None] * safe[..., None, :])
    values, vectors = np.linalg.eigh((correlations + np.swapaxes(correlations, -1, -2)) / 2)
    return np.asarray(widths[..., :, None] * vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


def shared_out(n: int, weights: FloatArray) -> IntArray:
    """Returns how many of n draws each of some models makes, as near to their weights as can be."""
    exact = n * weights / weights.sum()
    sizes = np.floor(exact).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
    return np.asarray(sizes)
