"""Options seen as a population, which says where a mean that is known badly is likely to be."""

from __future__ import annotations

import numpy as np

from paretopick._arrays import FloatArray

STEPS = 200
"""The most steps in which the population is found."""


def shrunken(located: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and covariances given that the options come from a normal population, which is found by expectation-maximisation.

    The covariance of the means as they are weighs as much as one more option, so that the population does not shrink to a point.
    What is known without noise stays where it is.
    """
    units = located.std(axis=0)
    units = np.where(units > 0, units, 1.0)
    points, noise = located / units, spread / (units[:, None] * units)
    n, n_metrics = points.shape
    observed = np.cov(points.T).reshape(n_metrics, n_metrics)
    observed += np.diag(np.where(np.diagonal(observed) > 0, 0.0, np.diagonal(noise, axis1=1, axis2=2).mean(axis=0) / n))
    centre, between = points.mean(axis=0), observed
    for _ in range(STEPS):
        weight = noise @ np.linalg.inv(between + noise + 1e-9 * np.eye(n_metrics))  # of the population, against the measurements
        nearer = points - np.einsum("kde,ke->kd", weight, points - centre)
        left = noise - weight @ noise
        centre, before = nearer.mean(axis=0), between
        apart = nearer - centre
        between = (apart.T @ apart + left.sum(axis=0) + observed) / (n + 1)
        if np.abs(between - before).max() < 1e-7:
            break
    return nearer * units, left * units[:, None] * units
