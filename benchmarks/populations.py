"""Options of all kinds, whose truth is known: what the calibration draws its studies from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import paretopick as pp

PAPER = ("cov-boost", "convex-front", "unique-dominator", "two-clusters", "equal-gaps", "all-optimal", "high-dimension")


@dataclass(frozen=True)
class Drawn:
    """Options, and which of their metrics are exact."""

    bandit: pp.Bandit
    exact: tuple[int, ...] = ()
    easier: int = 1
    """Budgets are so many times larger."""

    @property
    def noise(self) -> np.ndarray:
        """Standard deviations of the metrics, by which what a policy sees is divided, as in a study."""
        kind = self.bandit.noise
        if not isinstance(kind, pp.Gaussian):
            return np.ones(1)
        if kind.cov is None:
            return np.asarray(kind.std, dtype=float)
        variances = np.diagonal(kind.cov, axis1=-2, axis2=-1)
        return np.sqrt(variances.reshape(-1, variances.shape[-1]).mean(axis=0))

    def sample(self, arms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Returns measurements of some options."""
        values = self.bandit.sample(arms, rng)
        values[:, self.exact] = self.bandit.means[arms][:, self.exact]
        return values


Draw = Callable[[np.random.Generator], Drawn]


def independent(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(6, 30)), int(rng.integers(2, 5))
    return Drawn(pp.Bandit(rng.normal(size=(K, D)), pp.Gaussian(std=1.0)))


def few(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    return Drawn(pp.Bandit(rng.normal(size=(K, D)), pp.Gaussian(std=1.0)))


def correlated(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(6, 30)), int(rng.integers(2, 9))
    means = rng.normal(size=(K, 1)) * 0.8 + rng.normal(size=(K, D)) * 0.3
    return Drawn(pp.Bandit(means, pp.Gaussian(cov=0.5 * np.eye(D) + 0.5)))


def few_in_many(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(3, 6)), int(rng.integers(4, 9))
    means = rng.normal(size=(K, 1)) * 0.8 + rng.normal(size=(K, D)) * 0.3
    return Drawn(pp.Bandit(means, pp.Gaussian(std=1.0)))


def skewed(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    return Drawn(pp.Bandit(np.exp(rng.normal(size=(K, 2))), pp.Gaussian(std=0.5)))


def conflicting(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    shared = rng.normal(size=(K, 1))
    means = np.hstack((shared, -shared)) + rng.normal(size=(K, 2)) * 0.4
    return Drawn(pp.Bandit(means, pp.Gaussian(std=[1.0, 0.5])))


def circle(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 16))
    angles, radius = rng.uniform(0, np.pi / 2, K), 2 * rng.choice([1.0, 0.8], K)
    return Drawn(pp.Bandit(radius[:, None] * np.column_stack((np.cos(angles), np.sin(angles))), pp.Gaussian(std=1.0)))


def uneven(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    stds = np.exp(rng.normal(size=(K, 2)) * 0.7)
    return Drawn(pp.Bandit(rng.normal(size=(K, 2)), pp.Gaussian(cov=stds[:, :, None] ** 2 * np.eye(2))))


def chances(rng: np.random.Generator) -> Drawn:
    K, D = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    return Drawn(pp.Bandit(rng.uniform(0.1, 0.95, (K, D)), pp.Bernoulli()), easier=3)


POPULATIONS: dict[str, tuple[str, Draw]] = {
    "independent": ("6 to 29 options, 2 to 4 metrics, independent normal means", independent),
    "few": ("2 to 5 options, 1 to 3 metrics", few),
    "correlated": ("2 to 8 metrics that go together: good options are good in all", correlated),
    "few in many": ("3 to 5 options, 4 to 8 such metrics", few_in_many),
    "skewed": ("most options are poor and a few far better (lognormal means)", skewed),
    "conflicting": ("2 metrics that pull in opposite directions", conflicting),
    "circle": ("options on two arcs, so that most are optimal and near to each other", circle),
    "uneven": ("every option has a noise of its own, often half or twice that of others", uneven),
    "0 or 1": ("4 to 19 options whose metrics are 0 or 1, with independent chances", chances),
}


def sphere(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(8, 30))
    means = np.abs(rng.normal(size=(K, 3)))
    means *= (2 * rng.choice([1.0, 0.8], K) / np.linalg.norm(means, axis=1))[:, None]
    return Drawn(pp.Bandit(means, pp.Gaussian(std=1.0)))


def price(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 20))
    costs = rng.uniform(0, 1, K)
    quality = 2 * np.sqrt(costs) - 0.3 * np.abs(rng.normal(size=K)) * (rng.random(K) < 0.5)
    return Drawn(pp.Bandit(np.column_stack((quality, -costs)), pp.Gaussian(std=0.5)), exact=(1,))


def simplex(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(8, 26))
    means = 3 * rng.dirichlet(np.ones(3), K) - (rng.exponential(0.3, K) * (rng.random(K) < 0.5))[:, None]
    return Drawn(pp.Bandit(means, pp.Gaussian(std=[1.0, 0.7, 0.5])))


def hollow(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 20))
    t = rng.uniform(0, 1, K)
    means = np.column_stack((3 * t, 3 * (1 - t) ** 2)) - (0.15 * np.abs(rng.normal(size=K)))[:, None]
    return Drawn(pp.Bandit(means, pp.Gaussian(std=0.8)))


def accuracy(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 20))
    size = rng.normal(size=K)
    lag = 0.5 * np.abs(rng.normal(size=K)) * (rng.random(K) < 0.4)
    means = 1 / (1 + np.exp(np.column_stack((-size - 0.5 + lag, size))))
    return Drawn(pp.Bandit(means, pp.Bernoulli()), exact=(1,), easier=3)


def steep(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 20))
    t = rng.normal(size=K)
    means = -np.exp(np.column_stack((t, -t))) * (1 + 0.15 * np.abs(rng.normal(size=(K, 1))))
    return Drawn(pp.Bandit(means, pp.Gaussian(std=0.5)))


FRONTS: dict[str, tuple[str, Draw]] = {
    "circle": POPULATIONS["circle"],
    "sphere": ("the same in 3 metrics, 8 to 29 options", sphere),
    "price": ("quality is the root of an exact price, or less", price),
    "simplex": ("3 metrics with a constant sum, or less", simplex),
    "accuracy": ("0 or 1, more often 1 with a higher exact price, or less often", accuracy),
    "hollow": ("a front that is bent towards what is worse, and options somewhat behind it", hollow),
    "steep": ("a front with long arms, where a little in one metric costs much in the other", steep),
}
"""Options that trade off: most are on a front. The prior was made with *circle* and *price* in view."""


def tenfold(rng: np.random.Generator) -> Drawn:
    K = int(rng.integers(6, 30))
    stds = np.exp(rng.uniform(np.log(0.3), np.log(3.0), K))
    return Drawn(pp.Bandit(rng.normal(size=(K, 2)), pp.Gaussian(cov=stds[:, None, None] ** 2 * np.eye(2))))


def draw(name: str, rng: np.random.Generator) -> Drawn:
    """Returns options of a population, or of an instance of the paper."""
    if name in PAPER:
        return Drawn(pp.instance(name))
    if name == "tenfold":
        return tenfold(rng)
    return (POPULATIONS | FRONTS)[name][1](rng)
