"""Options that lie on a front or behind it: many real ones were made so that nobody would throw them away.

Under a normal population an option that looks a little worse than its neighbours is thought to be dominated. Where many options
are the best that can be had for their price, it most likely looks so by chance. Which of both it is, the options say themselves:
both are weighed by how likely they make what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.estimates.populations import TINY, Population, log_density, root

SHARES = (0.6, 0.9)
"""Of the options that are on the front; each is tried."""

BENDS = (-0.1, -0.2, -0.4)
"""By how much, in standard deviations of the options along the front, it falls back where they are one of them off its middle,
summed over its directions; each is tried. A straight one is much like a thin normal population; what is bent the other way is
rare, since mixtures of two options would be better than those between them."""

THICKNESS = 0.1
"""The standard deviation of options on the front, in those of a normal population across it."""

FACING = 0.15
"""The least that each metric counts in the direction in which a front faces, or else it is none: there, options do not have to
pay for what is better in one metric with what is worse in others."""

STEPS = 40
"""The most steps in which a front is found."""


@dataclass(frozen=True, eq=False)
class Front:
    """A front that options are on or behind, and what it and their measurements together say about them.

    Coordinates are those of ``Population``, turned by ``axes``: the last one goes across the front, towards what is better. They
    are flat: the front's bend is taken out of the last one, and put back with ``bent``.
    """

    units: FloatArray
    axes: FloatArray
    middle: FloatArray
    """``(n_metrics - 1,)`` of the options, along the front."""
    bend: FloatArray
    """``(n_metrics - 1,)``: the front is at ``bend @ (u - middle)**2``, and flat but for that."""
    shares: FloatArray
    """``(2, n_options)``: the probabilities of each option to be on the front, and behind it."""
    nearer: FloatArray
    """``(2, n_options, n_metrics)``: where each option is likely to be, if it is on the front, and if it is behind."""
    left: FloatArray
    """``(2, n_options, n_metrics, n_metrics)``: covariances of what is left open."""
    log_likelihood: float

    def bent(self, flat: FloatArray) -> FloatArray:
        """Returns points in the units of the metrics."""
        points = flat.copy()
        points[..., -1] += np.square(flat[..., :-1] - self.middle) @ self.bend
        return np.asarray(points @ self.axes.T * self.units)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Returns the mean of every option and the standard deviations around it, in the units of the metrics."""
        centres = self.bent(self.nearer)
        slopes = np.tile(np.eye(len(self.units)), (*self.nearer.shape[:2], 1, 1))
        slopes[..., -1, :-1] = 2 * (self.nearer[..., :-1] - self.middle) * self.bend
        turned = self.units[:, None] * self.axes @ slopes
        variances = np.einsum("ckde,ckef,ckdf->ckd", turned, self.left, turned)
        mean = (self.shares[..., None] * centres).sum(axis=0)
        around = (self.shares[..., None] * (np.maximum(variances, 0.0) + np.square(centres - mean))).sum(axis=0)
        return mean, np.sqrt(around)

    def draws(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Returns ``(n, n_options, n_metrics)`` of deviations, and what they are from: the middle of where each is drawn."""
        z = rng.standard_normal((n, *self.nearer.shape[1:]))
        behind = (rng.random((n, len(self.nearer[0]))) < self.shares[1])[..., None]
        centres = self.bent(self.nearer)
        on, back = (
            self.bent(near + np.einsum("kde,nke->nkd", roots, z)) - centre
            for near, roots, centre in zip(self.nearer, root(self.left), centres, strict=True)
        )
        return np.where(behind, back, on), np.where(behind, centres[1], centres[0])


def fronts_of(population: Population, signs: FloatArray) -> list[Front]:
    """Returns the fronts that options may be on, one for each of ``SHARES`` and ``BENDS``; none if they do not trade off.

    Args:
        population: that they would come from otherwise.
        signs: 1 where large is good, -1 where small is.
    """
    variances, axes = np.linalg.eigh(population.between)
    variances, axes = np.maximum(variances[::-1], 1e-6), axes[:, ::-1]  # a front lies across where options differ least
    facing = axes[:, -1] * signs
    if len(signs) < 2 or not ((facing > FACING).all() or (facing < -FACING).all()):
        return []
    axes = axes * np.sign(facing[0])
    return [_front(population, axes, variances, share, bend) for share in SHARES for bend in BENDS]


def _front(population: Population, axes: FloatArray, variances: FloatArray, share: float, bend: float) -> Front:
    """Finds the front by expectation-maximisation.

    Along the front options are normal. Across, they are so too, in two groups with the same slope: those on it with little
    scatter, and those behind it at a distance. The variances of the normal population weigh as much as one more option. Around
    where each option is likely to be, the bend is taken for straight.
    """
    points = population.points @ axes
    noise = axes.T @ population.noise @ axes
    n, n_metrics = points.shape
    along, across = variances[:-1], float(np.sqrt(variances[-1]))
    middle = points[:, :-1].mean(axis=0)
    curve = bend * np.sqrt(along.mean()) / along
    odds = np.log([share, 1.0 - share])[:, None]
    centre, between, slope = middle, np.diag(along), np.zeros(n_metrics - 1)
    distance, scatter = np.array([0.0, across]), np.array([THICKNESS * across, across])
    near, height, before = points, None, -np.inf
    tilt = np.repeat(np.eye(n_metrics)[None], n, axis=0)
    for _ in range(STEPS):
        # The options as measured, and their noise, with the bend taken out.
        u = near[:, :-1] - middle
        tilt[:, -1, :-1] = -2 * u * curve
        flat = near + np.einsum("kde,ke->kd", tilt, points - near)
        flat[:, -1] -= np.square(u) @ curve
        tilted = tilt @ noise @ np.swapaxes(tilt, 1, 2)
        if height is None:
            height = flat[:, -1].mean() + (1.0 - share) * across
        # On which side each option is, and where.
        together = _joint(between, slope, scatter)[:, None] + tilted + TINY * np.eye(n_metrics)
        apart = flat - np.column_stack((np.tile(centre, (2, 1)), height - distance))[:, None]
        logs = odds + log_density(apart, together)
        likelihoods = np.logaddexp(*logs)
        shares = np.exp(logs - likelihoods)
        weight = tilted @ np.linalg.inv(together)
        nearer = flat - np.einsum("ckde,cke->ckd", weight, apart)
        left = tilted - weight @ tilted
        total = float(likelihoods.sum())
        if total - before < 1e-3:
            break
        before = total
        # The front that fits best.
        mean = (shares[..., None] * nearer).sum(axis=0)
        near = mean.copy()
        near[:, -1] += np.square(mean[:, :-1] - middle) @ curve
        centre = mean[:, :-1].mean(axis=0)
        off = nearer[..., :-1] - centre
        squares = left[..., :-1, :-1] + off[..., :, None] * off[..., None, :]
        between = (np.einsum("ck,ckde->de", shares, squares) + np.diag(along)) / (n + 1)
        precision = shares / np.square(scatter)[:, None]
        lifted = nearer[..., -1] + distance[:, None]  # onto the front
        products = left[..., :-1, -1] + off * (lifted - height)[..., None]
        slope = np.linalg.solve(
            np.einsum("ck,ckde->de", precision, squares) + TINY * np.eye(n_metrics - 1),
            np.einsum("ck,ckd->d", precision, products),
        )
        height = float((precision * (lifted - off @ slope)).sum() / precision.sum())
        lag = height + off[1] @ slope - nearer[1, :, -1]
        distance[1] = max((shares[1] @ lag + across) / (shares[1].sum() + 1.0), across / 2)
        against = np.append(-slope, 1.0)
        wide = np.square(lag - distance[1]) + np.einsum("d,kde,e->k", against, left[1], against)
        scatter[1] = np.sqrt((shares[1] @ wide + across**2) / (shares[1].sum() + 1.0))
    return Front(population.units, axes, middle, curve, shares, nearer, left, total)


def _joint(between: FloatArray, slope: FloatArray, scatter: FloatArray) -> FloatArray:
    """``(2, n_metrics, n_metrics)``: covariances of what varies so along the front, and with such a slope and scatter across."""
    n = len(slope) + 1
    joint = np.empty((2, n, n))
    joint[:, :-1, :-1] = between
    joint[:, :-1, -1] = joint[:, -1, :-1] = between @ slope
    joint[:, -1, -1] = slope @ between @ slope + np.square(scatter)
    return joint
