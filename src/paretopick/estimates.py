"""What measurements say about the means of some options, how far off it may be, and draws of what the truth may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._chances import beta_quantiles
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.errors import NotReady

POPULATION = 6
POPULATION_IN_MANY_METRICS = 3
MANY_METRICS = 4
"""From so many options on they are seen as a population, which says where a mean that is known badly is likely to be."""

NORMAL_FROM = 1e6
"""With so many measurements a chance is normal for all we can see, and its Beta distribution hard to invert."""

STEPS = 200
"""The most steps in which the population is found."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Means of options in every metric, as measured, with what is known about the noise of one measurement.

    All in the units of the metrics; ``signs`` says which are to be large (1) and which small (-1).
    """

    counts: IntArray
    """``(n_options,)``, none zero."""
    means: FloatArray
    """``(n_options, n_metrics)``"""
    stds: FloatArray
    """``(n_options, n_metrics)`` of one measurement: the option's own, moderated by those of the others."""
    freedom: FloatArray
    """``(n_options, n_metrics)`` degrees of freedom of ``stds``; infinite where they are known."""
    pooled: FloatArray
    """``(n_metrics,)`` standard deviations of one measurement, the same for all options."""
    correlation: FloatArray
    """``(n_metrics, n_metrics)`` between the metrics of one measurement, pooled over the options."""
    binary: BoolArray
    """``(n_metrics,)``: all measurements were 0 or 1."""
    exact: BoolArray
    """``(n_metrics,)``: measurements have no noise."""
    signs: FloatArray

    @property
    def is_population(self) -> bool:
        """Whether there are enough options to see them as a population."""
        n_options, n_metrics = self.means.shape
        return bool(n_options >= (POPULATION if n_metrics < MANY_METRICS else POPULATION_IN_MANY_METRICS))

    @property
    def covariances(self) -> FloatArray:
        """``(n_options, n_metrics, n_metrics)`` of one measurement."""
        return self.correlation * self.stds[:, :, None] * self.stds[:, None, :]

    def bandit(self, name: str = "estimates") -> Bandit:
        """Returns options whose true means are those measured, larger is better, to be simulated."""
        return Bandit(self.larger_is_better(self.means), self.noise, name=name)

    @property
    def noise(self) -> Noise:
        """How measurements scatter, for simulations where larger is better: 0 or 1 if all metrics are that, else normal."""
        if self.binary.all():
            return Bernoulli()
        return Gaussian(cov=self.covariances * self.signs[:, None] * self.signs)

    def larger_is_better(self, means: FloatArray) -> FloatArray:
        """Returns means in which larger is better; chances stay chances, of the opposite where small is good."""
        flipped = 1.0 - means if self.binary.all() else -means
        return np.where(self.signs > 0, means, flipped) + 0.0  # not -0.0

    def scale(self) -> FloatArray:
        """Returns what a study divides each metric by: its noise, and 0 where it is exact; 1 where all values are equal."""
        return np.where(self.exact, 0.0, np.where(self.pooled > 0, self.pooled, 1.0))

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Returns confidence intervals of the means, ``(n_options, n_metrics, 2)``, in the units of the metrics.

        Student's, with the moderated stds; of chances the normal one of Jeffreys' posterior, cut at 0 and 1.
        """
        from scipy.special import stdtrit  # and not the distributions of scipy.stats, which take a second to import

        located, spread = self._located()
        widths = np.sqrt(np.diagonal(spread, axis1=1, axis2=2)) * stdtrit(self.freedom, (1 + level) / 2)
        limits = np.stack((located - widths, located + widths), axis=-1)
        return np.where(self.binary[:, None], np.clip(limits, 0.0, 1.0), limits)

    def draws(self, n: int, rng: np.random.Generator, *, population: bool = True) -> FloatArray:
        """Returns ``(n, n_options, n_metrics)`` of what the true means may be, in the units of the metrics.

        Normal around the means with the covariances of these, wider where stds are known from few repeats (Student's t); chances
        of metrics that are 0 or 1 follow a Beta distribution, which after s of n successes is Beta(s + 1/2, n - s + 1/2). If they
        are enough, options are taken to be drawn from a normal population, whose mean and covariance are estimated: a mean that
        is known badly is likely to lie near the others, and in the direction in which the metrics go together.

        Args:
            n: how many.
            rng: where they come from.
            population: False to leave that out, however many options there are.
        """
        located, spread = self._located()
        if population and self.is_population:
            located, spread = _shrunken(located, spread)
        root = _root(spread)
        z = np.einsum("kde,nke->nkd", root, rng.standard_normal((n, *located.shape)))
        drawn = self._heavier(n, rng)
        drawn *= z
        drawn += located
        widths = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
        for metric in np.flatnonzero(self.binary):
            drawn[..., metric] = _chances(located[:, metric], widths[:, metric], z[..., metric])
        drawn[..., self.exact] = self.means[:, self.exact]
        return np.asarray(drawn)

    def _heavier(self, n: int, rng: np.random.Generator) -> FloatArray:
        """What makes normal draws Student's: stds that are not known exactly, the same for all options that share one."""
        factors = np.ones((n, *self.freedom.shape))
        for metric, freedom in enumerate(self.freedom.T):
            if np.isfinite(freedom).all():
                shared = np.ptp(freedom) == 0
                chi = rng.chisquare(freedom[:1] if shared else freedom, (n, 1 if shared else len(freedom)))
                factors[:, :, metric] = np.sqrt(freedom / chi)
        return factors

    def _located(self) -> tuple[FloatArray, FloatArray]:
        """Where the means are, and the covariances of that; of chances as Jeffreys' prior has it."""
        counts = self.counts[:, None]
        located = np.where(self.binary, (self.means * counts + 0.5) / (counts + 1), self.means)
        widths = np.where(self.binary, _spread_of_chances(located) / np.sqrt(counts + 2), self.stds / np.sqrt(counts))
        return located, self.correlation * widths[:, :, None] * widths[:, None, :]


def estimate_tables(tables: Sequence[FloatArray], *, exact: BoolArray, signs: FloatArray) -> Estimates:
    """Returns what measurements say about the means, from all of them: ``(n_measurements, n_metrics)`` for each option."""
    means = np.array([table.mean(axis=0) for table in tables])
    apart = [table - mean for table, mean in zip(tables, means, strict=True)]
    return estimate(
        np.array([len(table) for table in tables]),
        means,
        np.array([deviations.T @ deviations for deviations in apart]),
        binary=np.all([np.isin(table, (0.0, 1.0)).all(axis=0) for table in tables], axis=0),
        exact=exact,
        signs=signs,
    )


def estimate(
    counts: IntArray, means: FloatArray, products: FloatArray, *, binary: BoolArray, exact: BoolArray, signs: FloatArray
) -> Estimates:
    """Returns what measurements say about the means.

    Args:
        counts: of the measurements of each option.
        means: ``(n_options, n_metrics)`` of them.
        products: ``(n_options, n_metrics, n_metrics)`` sums of products of deviations from the means.
        binary: which metrics are 0 or 1.
        exact: which metrics have no noise.
        signs: 1 where large is good, -1 where small is.

    Raises:
        NotReady: if an option was not measured, or the noise of a metric cannot be known since no option was measured twice.
    """
    if (counts == 0).any():
        missing = int((counts == 0).sum())
        raise NotReady(f"{missing} of {len(counts)} options {'has' if missing == 1 else 'have'} no measurements.")
    degrees = counts.astype(np.float64) - 1.0
    noisy = ~(binary | exact)
    if noisy.any() and not degrees.any():
        raise NotReady("no option has been measured twice, so that the noise of measurements is not known.")
    stds: FloatArray = np.zeros(means.shape)
    freedom = np.full(means.shape, np.inf)
    squares: FloatArray = np.maximum(np.diagonal(products, axis1=1, axis2=2), 0.0)  # which rounding may have made negative
    for metric in np.flatnonzero(noisy):
        stds[:, metric], freedom[:, metric] = _moderated(squares[:, metric], degrees)
        if not stds[:, metric].any():
            stds[:, metric] = _unseen(means[:, metric], degrees)
    chances = binary & ~exact
    stds = np.where(chances, _spread_of_chances((means * counts[:, None] + 0.5) / (counts[:, None] + 1)), stds)
    typical = np.sqrt(np.square(stds).mean(axis=0))
    pooled = np.sqrt(squares.sum(axis=0) / degrees.sum()) if degrees.any() else typical
    return Estimates(
        counts=counts,
        means=means,
        stds=stds,
        freedom=freedom,
        pooled=np.where(pooled > 0, pooled, typical),
        correlation=_correlation(products, stds, degrees),
        binary=chances,
        exact=exact,
        signs=signs,
    )


def _unseen(means: FloatArray, degrees: FloatArray) -> float:
    """A standard deviation for a metric that never varied: as if one more repeat had differed as little as options do."""
    levels = np.unique(means)
    return float(np.diff(levels).min() / np.sqrt(2.0 * (1.0 + degrees.sum()))) if len(levels) > 1 else 0.0


def _spread_of_chances(chances: FloatArray) -> FloatArray:
    """Standard deviations of what is 1 with such chances, else 0; of numbers that are no chances, nothing of use."""
    return np.asarray(np.sqrt(np.abs(chances * (1.0 - chances))))


def _moderated(squares: FloatArray, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _correlation(products: FloatArray, stds: FloatArray, degrees: FloatArray) -> FloatArray:
    """Between the metrics of one measurement, pooled over the options; with few repeats, nearer to none."""
    n_metrics = stds.shape[1]
    safe = np.where(stds > 0, stds, np.inf)
    total = (products / (safe[:, :, None] * safe[:, None, :])).sum(axis=0)
    width = np.sqrt(np.diagonal(total))
    width = np.where(width > 0, width, np.inf)
    weight = degrees.sum() / (degrees.sum() + n_metrics)
    correlation = weight * total / (width[:, None] * width)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _shrunken(located: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _root(covariances: FloatArray) -> FloatArray:
    """Matrices A with ``A A^T`` the covariances, also of those that rounding made a little negative."""
    values, vectors = np.linalg.eigh((covariances + np.swapaxes(covariances, 1, 2)) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])


def _chances(located: FloatArray, widths: FloatArray, z: FloatArray) -> FloatArray:
    """Beta distributed chances with such means and standard deviations, as likely as the normal deviations ``z``."""
    centre = np.clip(located, 1e-9, 1 - 1e-9)
    widths = np.maximum(widths, 1e-12)
    size = np.clip(centre * (1 - centre) / widths**2 - 1.0, 1e-3, NORMAL_FROM)
    few = size < NORMAL_FROM
    if few.all():
        return beta_quantiles(centre * size, (1 - centre) * size, z / widths)
    drawn = np.clip(located + z, 0.0, 1.0)
    drawn[:, few] = beta_quantiles((centre * size)[few], ((1 - centre) * size)[few], (z / widths)[:, few])
    return drawn
