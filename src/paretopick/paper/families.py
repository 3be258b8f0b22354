"""Random problems for the tournament of policies: six families, four kinds of noise, two sets with seeds of their own.

A problem is a pure function of its set and its number. Its budget was chosen once by a pilot of EGE-SR (``paper.budgets``) and is
kept in ``data/families.csv``, so that making a problem runs nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import numpy as np

from paretopick._arrays import FloatArray, check_choice, check_integer
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.theory.complexity import complexity

SETS = {"tuning": 72, "judging": 96}
"""How many problems each set has: every family with every kind of noise equally often. ``tuning`` is for work on policies,
``judging`` for the last word on them."""

SEEDS = {"tuning": 1, "judging": 3}
"""What the random numbers of a set begin with. A set judges once: 2 was used up by ``doubt`` before it pulled in turns."""

FEWEST_ARMS, MOST_ARMS, MOST_OBJECTIVES = 5, 200, 10

SAME_SIZE = 20
"""So many attempts at a problem have the same number of arms and objectives, so that easy sizes are not preferred."""

LOWEST, HIGHEST = 0.05, 0.95
"""Between which the means lie in every objective, so that they can be probabilities."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A bandit with a budget, and what the tables of the tournament sort it by.

    Args:
        bandit: what is pulled; its budget is that of the problem.
        group: the set it belongs to.
        family: how its means were drawn; for an instance of the paper its own name.
        noise: the kind of it.
        few_optimal: whether it was drawn in five objectives or more with few optimal arms.
    """

    bandit: Bandit
    group: str
    family: str
    noise: str
    few_optimal: bool = False

    @property
    def name(self) -> str:
        """Such as ``judging-017-cube``."""
        return self.bandit.name

    @property
    def budget(self) -> int:
        """T."""
        assert self.bandit.budget is not None
        return self.bandit.budget


def problems(group: str, /) -> list[Problem]:
    """Returns all problems of a set.

    >>> [problem.name for problem in problems("judging")[15:18]]
    ['judging-015-clusters', 'judging-016-anti-correlated', 'judging-017-dense']
    """
    check_choice(group, SETS, "set of problems")
    return [problem(group, number) for number in range(SETS[group])]


def problem(group: str, number: int, /) -> Problem:
    """Returns one problem of a set, with the budget that the pilot chose.

    Args:
        group: "tuning" or "judging".
        number: from 0.

    >>> one = problem("tuning", 0)
    >>> one.name, one.budget == one.bandit.budget
    ('tuning-000-cube', True)
    """
    check_choice(group, SETS, "set of problems")
    check_integer(number, "number", minimum=0, maximum=SETS[group] - 1)
    attempt, budget = _chosen()[group, number]
    drawn = draw(group, number, attempt)
    return replace(drawn, bandit=replace(drawn.bandit, budget=budget))


def draw(group: str, number: int, attempt: int) -> Problem:
    """Returns a problem without a budget; the pilot takes the first attempt for which it finds one.

    Which family, noise and number of objectives it is to have follows from the number, the rest is random.
    """
    family, noise = list(FAMILIES)[number % 6], list(NOISES)[number // 6 % 4]
    kind = (number + number // 6 + number // 24) % 3
    size, rng = (np.random.default_rng([SEEDS[group], number, part, n]) for part, n in ((1, attempt // SAME_SIZE), (2, attempt)))
    K = round(FEWEST_ARMS * (MOST_ARMS / FEWEST_ARMS) ** size.random())
    if kind == 0:
        D = int(size.integers(5, MOST_OBJECTIVES + 1))
    elif kind == 1:
        D = int(size.integers(2, 5))
    else:
        D = 1 if number // 12 % 2 else int(size.integers(2, MOST_OBJECTIVES + 1))
    if few := kind == 0:
        n_front = int(rng.integers(1, max(1, K // 5) + 1))
        means = _with_arms_behind(FAMILIES[family](rng, n_front, D), K, rng)
    else:
        means = FAMILIES[family](rng, K, D)
    means = _within_bounds(means)
    bandit = Bandit(means, NOISES[noise](rng, K, D), name=f"{group}-{number:03d}-{family}", source=f"drawn with {noise} noise")
    return Problem(bandit, group, family, noise, few)


# Families: functions of a generator, the number of arms and the number of objectives. Each is scaled to the same box afterwards.


def _cube(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """Means uniform in the cube: in many objectives nearly all arms are optimal."""
    return rng.random((K, D))


def _quality(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """One quality that all objectives of an arm share, and a part of each objective's own."""
    share = rng.uniform(0.5, 0.9)
    return np.asarray(share * rng.random((K, 1)) + (1 - share) * rng.random((K, D)))


def _sphere(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """A front on the positive part of a sphere, and arms behind it."""
    n_front = min(K, max(1, round(K * rng.uniform(0.1, 0.5))))
    front = np.abs(rng.standard_normal((n_front, D)))
    return _with_arms_behind(front / np.linalg.norm(front, axis=1, keepdims=True), K, rng)


def _clusters(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """Two to five groups of arms that resemble each other."""
    centres = rng.random((int(rng.integers(2, 6)), D))
    spread = rng.uniform(0.03, 0.15)
    return np.asarray(centres[rng.integers(len(centres), size=K)] + spread * rng.standard_normal((K, D)))


def _anti_correlated(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """Who is good in one objective is bad in the others: means near a plane of equal sums."""
    own = rng.random((K, D))
    return np.asarray(own - rng.uniform(0.5, 0.95) * own.mean(axis=1, keepdims=True))


def _dense(rng: np.random.Generator, K: int, D: int) -> FloatArray:
    """Many arms near the point that is best in everything, and a few far from it."""
    return np.asarray(1.0 - rng.random((K, D)) ** rng.uniform(1.5, 3.0))


FAMILIES: dict[str, Callable[[np.random.Generator, int, int], FloatArray]] = {
    "cube": _cube,
    "quality": _quality,
    "sphere": _sphere,
    "clusters": _clusters,
    "anti-correlated": _anti_correlated,
    "dense": _dense,
}


def _with_arms_behind(front: FloatArray, n_arms: int, rng: np.random.Generator) -> FloatArray:
    """The front, and arms each of which is below one arm of it in every objective; in random order."""
    n_behind = n_arms - len(front)
    steps = rng.uniform(0.2, 0.8) * rng.random((n_behind, front.shape[1]))
    behind = front[rng.integers(len(front), size=n_behind)] - steps
    return np.asarray(rng.permutation(np.concatenate((front, behind))))


def _within_bounds(means: FloatArray) -> FloatArray:
    low, high = means.min(axis=0), means.max(axis=0)
    return np.asarray(LOWEST + (HIGHEST - LOWEST) * (means - low) / (high - low))


# Kinds of noise: functions of a generator, the number of arms and the number of objectives.


def _size(rng: np.random.Generator) -> float:
    return float(0.02 * 20 ** rng.random())


def _equal(rng: np.random.Generator, K: int, D: int) -> Noise:
    return Gaussian(std=_size(rng))


def _by_arm(rng: np.random.Generator, K: int, D: int) -> Noise:
    """The noisiest arm may have nine times the standard deviation of the quietest."""
    std = _size(rng) * 3 ** rng.uniform(-1, 1, (K, 1))
    return Gaussian(cov=(std**2)[:, :, None] * np.eye(D))


def _by_arm_and_objective(rng: np.random.Generator, K: int, D: int) -> Noise:
    std = _size(rng) * 3 ** rng.uniform(-1, 1, (K, D))
    return Gaussian(cov=(std**2)[:, :, None] * np.eye(D))


NOISES: dict[str, Callable[[np.random.Generator, int, int], Noise]] = {
    "equal": _equal,
    "by arm": _by_arm,
    "by arm and objective": _by_arm_and_objective,
    "bernoulli": lambda rng, K, D: Bernoulli(),
}
"""Gaussian of equal, or unequal size, and Bernoulli."""


def deviations(bandit: Bandit) -> FloatArray:
    """Returns the standard deviation of every arm's pulls in every objective, ``(n_arms, n_objectives)``."""
    if isinstance(bandit.noise, Bernoulli):
        return np.sqrt(bandit.means * (1 - bandit.means))
    assert isinstance(bandit.noise, Gaussian)
    if bandit.noise.cov is None:
        return np.broadcast_to(np.asarray(bandit.noise.std), bandit.means.shape)
    variances = np.diagonal(bandit.noise.cov, axis1=-2, axis2=-1)
    return np.broadcast_to(np.sqrt(variances), bandit.means.shape)


def noisy_complexity(bandit: Bandit) -> float:
    """Returns H in the units of the paper's experiments, where Bernoulli pulls have a standard deviation of up to 1/2.

    It is that of the means divided by twice the noise of each objective, averaged over arms.
    """
    widths = 2 * np.sqrt((deviations(bandit) ** 2).mean(axis=0))
    return complexity(bandit.means / widths)


@cache
def _chosen() -> dict[tuple[str, int], tuple[int, int]]:
    """The attempt and the budget of every problem, as the pilot chose them."""
    table = (resources.files("paretopick.paper") / "data" / "families.csv").read_text()
    rows = csv.DictReader(table.splitlines())
    return {(row["set"], int(row["number"])): (int(row["attempt"]), int(row["budget"])) for row in rows}
