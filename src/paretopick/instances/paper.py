"""The instances of the paper that the package ships (Section 6, Appendix G).

Where the paper says T = H, the budget is H rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import resources

import numpy as np
from numpy.typing import ArrayLike

from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.instances.files import read_instance

COV_BOOST_VARIANCES = (0.70437039, 0.82845749, 1.53743137)
COV_BOOST_SOURCE = (
    "COV-BOOST booster trial: logs of the geometric means published by Munro et al. (2021), as processed by Kone et al. (2023)"
)


def cov_boost() -> Bandit:
    """Twenty booster vaccines, three immune responses."""
    return _cov_boost("cov-boost", n_objectives=3)


def cov_boost_2d() -> Bandit:
    """COV-BOOST with its first two responses, which is what the paper's published curve agrees with."""
    return _cov_boost("cov-boost-2d", n_objectives=2)


def convex_front() -> Bandit:
    """Experiment 1: ten arms on a convex front, fifty below it."""
    x = np.linspace(0.55, 0.95, 10)
    front = np.column_stack((x**2, 1 / (4 * x**2)))
    means = np.concatenate((front, _frozen_means("convex_front_dominated")))
    return _experiment(
        1, "convex-front", means, "ten points over the whole interval; the dominated arms were drawn once and kept"
    )


def unique_dominator() -> Bandit:
    """Experiment 2: every sub-optimal arm is dominated by one arm only."""
    means = [(0.4, 0.75), (0.75, 0.4)]
    for i in range(1, 5):
        means += [(0.45 + 0.2**i, 0.35 - 0.2**i), (0.10 + 0.2**i, 0.70 - 0.2**i)]
    return _experiment(2, "unique-dominator", means)


def unit_circle() -> Bandit:
    """Experiment 3: two hundred arms on the unit circle, twenty of them optimal."""
    angles = np.concatenate(
        (np.linspace(math.pi / 12, 5 * math.pi / 12, 20), np.linspace(2 * math.pi / 3, 11 * math.pi / 6, 180))
    )
    means = np.column_stack((np.cos(angles), np.sin(angles)))
    return _experiment(3, "unit-circle", means, noise=Gaussian(std=0.25))


def high_dimension() -> Bandit:
    """Experiment 4: two groups of arms in ten objectives."""
    return _experiment(4, "high-dimension", _frozen_means("high_dimension"), "drawn once as the paper says and kept")


def two_clusters() -> Bandit:
    """Experiment 5: two clusters of ten arms."""
    return _experiment(5, "two-clusters", _frozen_means("two_clusters"), "drawn once as the paper says and kept")


def all_optimal() -> Bandit:
    """Experiment 6: all arms are optimal, closer and closer to each other."""
    return _experiment(6, "all-optimal", [(0.75 - 0.65**i, 0.25 + 0.65**i) for i in range(1, 11)])


def equal_gaps() -> Bandit:
    """Experiment 7: all arms have the same gap."""
    step = [0.1 * i for i in range(8)]
    front = [(0.3 + c, 0.8 - c) for c in step]
    below = [(0.25 + c, 0.7 - c) for c in step[:7]]
    lowest = [(x, y - 0.05) for x, y in below]
    return _experiment(7, "equal-gaps", front + below + lowest, "c = 0.1, which the paper leaves open")


def geometric() -> Bandit:
    """Experiment 8: one optimal arm, the others nearer to it in geometric progression."""
    return _experiment(8, "geometric", [(0.75 - 0.25**i,) * 2 for i in range(1, 6)])


def _experiment(
    number: int, name: str, means: ArrayLike | Sequence[Sequence[float]], note: str = "", noise: Noise | None = None
) -> Bandit:
    source = f"Experiment {number} of Kone, Kaufmann and Richert (2024)" + (f"; {note}" if note else "")
    noise = Bernoulli() if noise is None else noise
    plain = Bandit(np.asarray(means, dtype=np.float64), noise)
    # The gaps of `equal-gaps` are 0.05 up to rounding: H = 8800 must not become 8799.
    budget = math.floor(round(plain.complexity, 6))
    return Bandit(plain.means, noise, name=name, budget=budget, source=source)


def _cov_boost(name: str, n_objectives: int) -> Bandit:
    table = _read("cov_boost", Gaussian(std=np.sqrt(COV_BOOST_VARIANCES)))
    return Bandit(
        table.means[:, :n_objectives],
        Gaussian(std=np.sqrt(COV_BOOST_VARIANCES[:n_objectives])),
        name=name,
        arm_names=table.arm_names,
        objective_names=table.objective_names[:n_objectives],
        budget=2500,
        source=COV_BOOST_SOURCE,
    )


def _frozen_means(name: str) -> np.ndarray:
    return _read(name, Bernoulli()).means


def _read(name: str, noise: Noise) -> Bandit:
    with resources.as_file(resources.files("paretopick.instances") / "data" / f"{name}.csv") as path:
        return read_instance(path, noise=noise)
