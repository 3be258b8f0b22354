"""What measurements say about the means of some options, how far off it may be, and draws of what the truth may be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._chances import beta_quantiles
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.errors import NotReady
from paretopick.estimates.fronts import Front, fronts_of
from paretopick.estimates.populations import Normal, normal_population, shared_out, shrunken
from paretopick.estimates.sharing import Sharing

POPULATION = 6
POPULATION_IN_MANY_METRICS = 3
MANY_METRICS = 4
"""From so many options on they are seen as a population, which says where a mean that is known badly is likely to be."""

UNKNOWN = 1e6
"""The variance of what was not measured, in variances of what was."""

FAR = 8.0
"""Standard deviations beyond which a chance is as good as 0 or 1."""

NORMAL_FROM = 1e6
"""With so many measurements a chance is normal for all we can see, and its Beta distribution hard to invert."""


def population_from(n_metrics: int) -> int:
    """Returns how many options it takes for them to be seen as a population."""
    return POPULATION if n_metrics < MANY_METRICS else POPULATION_IN_MANY_METRICS


@dataclass(frozen=True, eq=False)
class Estimates:
    """Means of options in every metric, as measured, with what is known about the noise of one measurement.

    All in the units of the metrics; ``signs`` says which are to be large (1) and which small (-1).
    """

    counts: IntArray
    """``(n_options,)`` measurements of each, none zero."""
    both: IntArray
    """``(n_options, n_metrics, n_metrics)``: how many of them have both of two metrics."""
    means: FloatArray
    """``(n_options, n_metrics)``, NaN where no measurement of an option has the metric."""
    stds: FloatArray
    """``(n_options, n_metrics)`` of one measurement: the option's own, moderated by those of the others; without what its block
    brings, where measurements share blocks."""
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
    sharing: Sharing | None = None
    """What blocks bring to measurements, if they share some."""

    @property
    def is_population(self) -> bool:
        """Whether there are enough options to see them as a population."""
        n_options, n_metrics = self.means.shape
        return bool(n_options >= population_from(n_metrics))

    @property
    def front_probability(self) -> float:
        """How likely most options lie on a front, each the best for what it costs in other metrics; else they are a population.

        0 where too few options would say it.
        """
        return float(self._models[1][1:].sum()) if self.is_population else 0.0

    @property
    def known(self) -> IntArray:
        """``(n_options, n_metrics)``: how many measurements have the metric; 0 where nothing is known but of other options."""
        return np.diagonal(self.both, axis1=1, axis2=2)

    @property
    def covariances(self) -> FloatArray:
        """``(n_options, n_metrics, n_metrics)`` of one measurement."""
        return self.correlation * self.stds[:, :, None] * self.stds[:, None, :]

    def bandit(self, name: str = "estimates") -> Bandit:
        """Returns options whose true means are those measured, larger is better, to be simulated.

        What was not measured is where the other options and metrics let it be expected.
        """
        means = self.means
        if np.isnan(means).any():
            means = np.where(np.isnan(means), shrunken(*self._located())[0], means)
            means = np.where(self.binary, np.clip(means, 0.0, 1.0), means)
        return Bandit(self.larger_is_better(means), self.noise, name=name)

    @property
    def as_chances(self) -> bool:
        """Whether simulations have 0 and 1: if all metrics are that, and what is simulated is not the noise within blocks."""
        return bool(self.binary.all()) and self.sharing is None

    @property
    def noise(self) -> Noise:
        """How measurements scatter, for simulations where larger is better: 0 or 1 if all metrics are that, else normal.

        Without what blocks bring, where measurements share some: differences between options then vary as they do in the same
        blocks, and that blocks may be incomplete is left out.
        """
        if self.as_chances:
            return Bernoulli()
        return Gaussian(cov=self.covariances * self.signs[:, None] * self.signs)

    @property
    def whole_noise(self) -> Noise:
        """How measurements scatter that share no blocks, for the same simulations as ``noise``."""
        if self.sharing is None:
            return self.noise
        return Gaussian(cov=(self.covariances + self.sharing.covariance) * self.signs[:, None] * self.signs)

    def larger_is_better(self, means: FloatArray) -> FloatArray:
        """Returns means in which larger is better; chances stay chances, of the opposite where small is good."""
        flipped = 1.0 - means if self.as_chances else -means
        return np.where(self.signs > 0, means, flipped) + 0.0  # not -0.0

    def scale(self) -> FloatArray:
        """Returns what a study divides each metric by: its noise, and 0 where it is exact; 1 where all values are equal."""
        return np.where(self.exact, 0.0, np.where(self.pooled > 0, self.pooled, 1.0))

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Returns confidence intervals of the means, ``(n_options, n_metrics, 2)``, in the units of the metrics.

        Student's, with the moderated stds; of chances the normal one of Jeffreys' posterior, cut at 0 and 1. NaN where no
        measurement has the metric.
        """
        from scipy.special import stdtrit  # and not the distributions of scipy.stats, which take a second to import

        located, spread = self._located()
        variances, freedom = np.diagonal(spread, axis1=1, axis2=2), self.freedom
        if self.sharing is not None:
            common = self.sharing.variances
            whole = variances + common
            with np.errstate(divide="ignore", invalid="ignore"):  # Satterthwaite's, of a sum of two variances
                freedom = whole**2 / (variances**2 / freedom + common**2 / self.sharing.freedom)
            variances, freedom = whole, np.where(common > 0, freedom, self.freedom)
        widths = np.sqrt(variances) * stdtrit(freedom, (1 + level) / 2)
        limits = np.stack((located - widths, located + widths), axis=-1)
        limits[self.known == 0] = np.nan
        return np.where(self.binary[:, None], np.clip(limits, 0.0, 1.0), limits)

    def draws(
        self, n: int, rng: np.random.Generator, *, population: bool = True, front: bool = True, blocks: bool = True
    ) -> FloatArray:
        """Returns ``(n, n_options, n_metrics)`` of what the true means may be, in the units of the metrics.

        Normal around the means with the covariances of these, wider where stds are known from few repeats (Student's t); chances
        of metrics that are 0 or 1 follow a Beta distribution, which after s of n successes is Beta(s + 1/2, n - s + 1/2). If they
        are enough, options are taken to be drawn from a normal population, whose mean and covariance are estimated: a mean that
        is known badly is likely to lie near the others, and in the direction in which the metrics go together. Or most of them
        lie on a front, where they trade off: so many of the draws are made so as this is likely, given what was measured.

        Args:
            n: how many.
            rng: where they come from.
            population: False to leave that out, however many options there are.
            front: False to leave out that options may lie on a front.
            blocks: False to leave out what is not known of the blocks, which moves all options together, or nearly so.

        Raises:
            NotReady: if an option lacks a metric, and there is no population that would say what it may be.
        """
        models, weights = self._models if population and self.is_population else (self._plain(), np.ones(1))
        sizes = shared_out(n, weights if front else weights[:1])
        parts = [self._drawn(model, size, rng, blocks) for model, size in zip(models, sizes.tolist(), strict=False) if size]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)[rng.permutation(n)]

    def _drawn(self, model: Normal | Front, n: int, rng: np.random.Generator, blocks: bool) -> FloatArray:
        """Draws as one model has them, with what is not known of the blocks or without."""
        mean, widths = model.moments()
        deviations, middles = model.draws(n, rng)
        drawn = self._heavier(n, rng)
        drawn *= deviations
        drawn += middles
        if self.sharing is not None and blocks:
            together = self.sharing.draws(n, rng)
            drawn += together
            deviations, widths = deviations + together, np.sqrt(widths**2 + self.sharing.variances)
        for metric in np.flatnonzero(self.binary):
            normal = deviations[..., metric] + (middles - mean)[..., metric]
            if self.sharing is not None:  # whose draws have heavy tails
                normal = np.clip(normal, -FAR * widths[:, metric], FAR * widths[:, metric])
            drawn[..., metric] = _chances(mean[:, metric], widths[:, metric], normal)
        fixed = self.exact & (self.known > 0)
        drawn[:, fixed] = self.means[fixed]
        return drawn

    def _plain(self) -> list[Normal | Front]:
        if not self.known.all():
            raise NotReady("options that lack a metric can be drawn as part of a population only.")
        return [Normal(*self._located())]

    @cached_property
    def _models(self) -> tuple[list[Normal | Front], FloatArray]:
        """What options may be drawn from, and how likely each is: a normal population, or one of several fronts.

        Before anything is measured, a front is as likely as not, where options trade off.
        """
        population = normal_population(*self._located())
        fronts = fronts_of(population, self.signs)
        logs = np.array([population.log_likelihood] + [front.log_likelihood - np.log(len(fronts)) for front in fronts])
        weights = np.exp(logs - logs.max())
        return [population.normal(), *fronts], weights / weights.sum()

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
        known = self.known
        means = np.nan_to_num(self.means) if np.isnan(self.means).any() else self.means
        located = np.where(self.binary, (np.clip(means, 0.0, 1.0) * known + 0.5) / (known + 1), means)
        several = np.maximum(known, 1)
        widths = np.where(self.binary, self.stds / np.sqrt(known + 2), self.stds / np.sqrt(several))
        # Two metrics go together less in means than in measurements, where some of these have only one of them.
        together = self.both / np.sqrt(several[:, :, None] * several[:, None, :])
        spread = self.correlation * together * widths[:, :, None] * widths[:, None, :]
        return _with_unknown(located, spread, known == 0)


def _with_unknown(located: FloatArray, spread: FloatArray, unknown: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Puts what was not measured in the middle of what was, and as good as anywhere."""
    for metric in np.flatnonzero(unknown.any(axis=0)):
        missing = unknown[:, metric]
        located[missing, metric] = located[~missing, metric].mean()
        spread[missing, metric, metric] = UNKNOWN * max(located[~missing, metric].var(), spread[~missing, metric, metric].max())
    return located, spread


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
