"""Models of noise: how pulls scatter around the means of the arms."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import FloatArray, IntArray, check_means, check_numbers, check_real, check_sequence, frozen
from paretopick._block_effects import BlockEffects, effects_of_sums
from paretopick._words import short
from paretopick.errors import InvalidInput


@runtime_checkable
class Noise(Protocol):
    """How pulls scatter around the means; the base of a noise of your own, which needs ``sample`` and nothing else.

    What a policy is told is what ``sample`` returns, and what it is judged by are the means: so the mean of the pulls of an arm
    must be the mean of that arm. Simulations give ``sample`` a generator of the run and the arms in the order in which they are
    asked for. Such noise runs in the reference engine, with any policy.

    Noise whose pulls depend on those before them in a run has a method ``begin_run(means, counts, rng)`` too, which returns a
    function of ``arms`` that draws them; ``counts`` says how often each arm was pulled before.

    >>> from paretopick.bandits import Bandit

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Laplace(Noise):
    ...     width: float = 1.0
    ...
    ...     def sample(self, means, arms, rng):
    ...         return means[arms] + rng.laplace(scale=self.width, size=(len(arms), means.shape[1]))
    >>> bandit = Bandit([[0.0, 1.0], [1.0, 0.0]], noise=Laplace(0.5))
    >>> bandit.sample([0, 0, 1], rng=0).shape
    (3, 2)
    """

    @property
    def sigma(self) -> float:
        """The subgaussian parameter of the widest marginal, as the bounds take it; by default infinite: tails may be heavy."""
        return math.inf

    @property
    def parameters(self) -> tuple[FloatArray, ...]:
        """All numbers that the noise is made of, as arrays: curves of noise with other ones do not add up.

        By default its attributes, which are to be numbers or arrays of them.
        """
        found = []
        for name, value in sorted(vars(self).items()):
            try:
                found.append(check_numbers(value, name))
            except InvalidInput:
                raise InvalidInput(
                    f"{type(self).__name__} has {name}={short(value)}, which is no number or array; give it a property "
                    "parameters, a tuple of arrays that says what it is made of."
                ) from None
        return tuple(found)

    def check(self, means: FloatArray) -> None:
        """Refuses means ``(n_arms, n_objectives)`` that this noise does not fit, by raising ``ValueError``; by default none."""
        return  # type checkers take the method of a protocol for abstract if it has no body, and refuse Laplace(0.5)

    @abstractmethod
    def sample(self, means: FloatArray, arms: IntArray, rng: np.random.Generator) -> FloatArray:
        """Returns one pull of each of ``arms``, ``(len(arms), n_objectives)``.

        Args:
            means: ``(n_arms, n_objectives)``, those of the bandit.
            arms: numbers of arms; an arm may be named several times.
            rng: the only source of random numbers to use, so that runs can be made again.
        """
        ...

    def sample_sums(self, means: FloatArray, arms: IntArray, pulls: IntArray, rng: np.random.Generator) -> FloatArray:
        """Returns the sum of ``pulls[i]`` pulls of ``arms[i]``; by default pull by pull."""
        sums = np.zeros((len(arms), means.shape[1]))
        for place, (arm, n) in enumerate(zip(arms, pulls, strict=True)):
            for first in range(0, int(n), MOST_AT_ONCE):
                several = np.full(min(MOST_AT_ONCE, int(n) - first), arm)
                sums[place] += self.sample(means, several, rng).sum(axis=0)
        return sums


MOST_AT_ONCE = 1 << 16
"""Pulls of which a sum is made at a time, where it has to be made of pulls."""

Puller: TypeAlias = Callable[[IntArray], FloatArray]
"""Draws one pull of each of some arms, ``(len(arms), n_objectives)``, one call after the other in the same run."""


@runtime_checkable
class RunNoise(Noise, Protocol):
    """Noise whose pulls depend on those before them in the same run; noise without this member draws each of them anew."""

    def begin_run(self, means: FloatArray, counts: IntArray, rng: np.random.Generator) -> Puller:
        """Returns what draws the pulls of one run, in which each arm was pulled ``counts[arm]`` times before."""
        ...


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Normal noise, independent between pulls of an arm, and between arms but for what they share.

    Args:
        std: one standard deviation, or one per objective. Or instead:
        cov: a covariance ``(n_objectives, n_objectives)``, or one per arm ``(n_arms, n_objectives, n_objectives)``.
        shared: the share of the variance, from 0 to less than 1, that pulls of different arms with the same repeat have in
            common; the n-th pull of every arm is repeat n - 1. It says how far measurements are paired, by a question, a split,
            a plate or a day that all arms are measured on.

    Repeat r of arm i is ``mean_i + b_r + e``, with a covariance of ``shared`` times the mean over arms of the covariances for
    the block effect ``b_r``, and ``(1 - shared) cov_i`` for e. Arms with equal noise correlate with ``shared`` in every objective
    at the same repeat, and each of them has its variance all the same. With unequal noise the covariance of arm i in all is
    ``(1 - shared) cov_i`` and ``shared`` times the mean covariance.

    >>> from paretopick.bandits import Bandit

    >>> Gaussian(std=[0.5, 2.0]).sigma
    2.0
    >>> bandit = Bandit([[0.0], [5.0]], Gaussian(std=1.0, shared=0.999999))
    >>> one, other = bandit.sample([0, 1], rng=0)
    >>> (other - one).round(1)  # differences are nearly exact
    array([5.])
    """

    std: FloatArray | float | None = None
    cov: FloatArray | None = None
    shared: float = 0.0
    root: FloatArray = field(init=False, repr=False)
    """What standard normals are multiplied by: stds, or square roots of covariances; of ``e``, if something is shared."""
    block_root: FloatArray = field(init=False, repr=False)
    """The same of block effects: one number, one per objective, or ``(n_objectives, n_objectives)``."""

    if TYPE_CHECKING:  # lists become arrays

        def __init__(self, std: ArrayLike | None = None, cov: ArrayLike | None = None, shared: float = 0.0) -> None: ...

    def __post_init__(self) -> None:
        if (self.std is None) == (self.cov is None):
            raise InvalidInput(f"Gaussian got std={short(self.std)} and cov={short(self.cov)}; give one of the two.")
        shared = _check_shared(self.shared)
        object.__setattr__(self, "shared", shared)
        if self.std is not None:
            std = _finite(self.std, "std")
            if std.ndim > 1 or std.size == 0 or not (std >= 0).all():
                raise InvalidInput(
                    f"std={short(self.std)} is not one standard deviation, or one per objective, none negative; "
                    "arms with noise of their own take cov=, (n_arms, n_objectives, n_objectives)."
                )
            object.__setattr__(self, "std", float(std) if std.ndim == 0 else frozen(std))
            root = common = std
        else:
            cov = _finite(self.cov, "cov")
            object.__setattr__(self, "cov", frozen(cov))
            root = _square_root(cov)
            common = _square_root(cov.mean(axis=0)) if cov.ndim == 3 and shared else root
        object.__setattr__(self, "root", np.sqrt(1.0 - shared) * root if shared else root)
        object.__setattr__(self, "block_root", np.sqrt(shared) * common if shared else np.zeros(()))

    @property
    def sigma(self) -> float:
        if self.cov is None:
            return float(np.max(np.asarray(self.std)))
        variances = np.diagonal(self.cov, axis1=-2, axis2=-1)
        if self.shared and variances.ndim == 2:
            variances = (1.0 - self.shared) * variances + self.shared * variances.mean(axis=0)
        return float(np.sqrt(variances.max()))

    @property
    def parameters(self) -> tuple[FloatArray, ...]:
        given = np.asarray(self.std if self.cov is None else self.cov)
        return (given, np.asarray(self.shared)) if self.shared else (given,)

    def check(self, means: FloatArray) -> None:
        K, D = means.shape
        expected = ((), (D,)) if self.cov is None else ((D, D), (K, D, D))
        given = np.asarray(self.std if self.cov is None else self.cov).shape
        if given not in expected:
            name = "std" if self.cov is None else "cov"
            raise InvalidInput(
                f"{name} has shape {given}; {K} arms with {D} objectives take {expected[0]} or {expected[1]}. "
                "For noise that differs between arms give cov= with one covariance per arm."
            )

    def sample(self, means: FloatArray, arms: IntArray, rng: np.random.Generator) -> FloatArray:
        if self.shared:
            return self.begin_run(means, np.zeros(len(means), dtype=np.int64), rng)(arms)
        return means[arms] + self._scatter(arms, means.shape[1], rng)

    def begin_run(self, means: FloatArray, counts: IntArray, rng: np.random.Generator) -> Puller:
        """Returns what draws the pulls of one run, which remembers the block effects of its repeats."""
        if not self.shared:
            return lambda arms: self.sample(means, arms, rng)
        effects = BlockEffects(counts, lambda n: self._effects(n, means.shape[1], rng))
        return lambda arms: means[arms] + effects.next(arms) + self._scatter(arms, means.shape[1], rng)

    def sample_sums(self, means: FloatArray, arms: IntArray, pulls: IntArray, rng: np.random.Generator) -> FloatArray:
        """The sums of the first pulls of each arm; an arm that is named again goes on where it was."""
        scatter = self._scatter(arms, means.shape[1], rng)
        sums = pulls[:, None] * means[arms] + np.sqrt(pulls)[:, None] * scatter
        if self.shared:
            sums += effects_of_sums(arms, pulls, lambda n: self._effects(n, means.shape[1], rng))
        return sums

    def _effects(self, n: int, n_objectives: int, rng: np.random.Generator) -> FloatArray:
        z = rng.standard_normal((n, n_objectives))
        return z * self.block_root if self.cov is None else z @ self.block_root.T

    def _scatter(self, arms: IntArray, n_objectives: int, rng: np.random.Generator) -> FloatArray:
        z = rng.standard_normal((len(arms), n_objectives))
        if self.cov is None:
            return z * self.root
        factor = self.root[arms] if self.root.ndim == 3 else self.root
        return np.asarray(np.einsum("...de,...e->...d", factor, z))


@dataclass(frozen=True)
class Bernoulli:
    """Every objective is 1 with the probability that is its mean, and 0 otherwise; objectives are independent.

    >>> from paretopick.bandits import Bandit

    >>> bandit = Bandit([[0.9, 0.1], [0.2, 0.8]], Bernoulli())
    >>> bandit.sample([0, 0, 1], rng=0)
    array([[1., 0.],
           [1., 1.],
           [0., 0.]])
    """

    @property
    def sigma(self) -> float:
        return 0.5

    @property
    def parameters(self) -> tuple[FloatArray, ...]:
        return ()

    def check(self, means: FloatArray) -> None:
        outside = (means < 0) | (means > 1)
        if outside.any():
            arm, objective = np.argwhere(outside)[0]
            raise InvalidInput(
                f"means has {means[arm, objective]:g} for arm {arm}, objective {objective}; "
                "Bernoulli means are probabilities, between 0 and 1."
            )

    def sample(self, means: FloatArray, arms: IntArray, rng: np.random.Generator) -> FloatArray:
        return (rng.random((len(arms), means.shape[1])) < means[arms]).astype(np.float64)

    def sample_sums(self, means: FloatArray, arms: IntArray, pulls: IntArray, rng: np.random.Generator) -> FloatArray:
        return rng.binomial(pulls[:, None], means[arms]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Resampled:
    """Pulls are rows drawn with replacement from a table of real measurements of each arm.

    Args:
        tables: for each arm ``(n_measurements, n_objectives)``; arms may have different numbers of measurements.

    >>> from paretopick.bandits import Bandit

    >>> tables = [[[1.0, 0.0], [2.0, 0.0]], [[1.0, 3.0]]]
    >>> bandit = Bandit([[1.5, 0.0], [1.0, 3.0]], Resampled(tables))
    >>> bandit.sample([0, 0, 1], rng=0)
    array([[2., 0.],
           [2., 0.],
           [1., 3.]])
    """

    tables: tuple[FloatArray, ...]

    def __init__(self, tables: Sequence[ArrayLike]) -> None:
        given = check_sequence(tables, "tables", "is not a list; give one table (n_measurements, n_objectives) for each arm")
        clean = tuple(frozen(check_means(table, f"table of arm {arm}")) for arm, table in enumerate(given))
        if not clean:
            raise InvalidInput("tables is empty; give the measurements of at least one arm.")
        for arm, table in enumerate(clean):
            if table.shape[1] != clean[0].shape[1]:
                raise InvalidInput(
                    f"the table of arm {arm} has {table.shape[1]} objectives and that of arm 0 has {clean[0].shape[1]}."
                )
        object.__setattr__(self, "tables", clean)

    @cached_property
    def means(self) -> FloatArray:
        """The means of the tables, which are the true means of what is drawn from them."""
        return frozen(np.array([table.mean(axis=0) for table in self.tables]))

    @property
    def sigma(self) -> float:
        """Half the widest range: a bounded variable is subgaussian with that (Hoeffding)."""
        return float(max(np.ptp(table, axis=0).max() for table in self.tables) / 2)

    @property
    def parameters(self) -> tuple[FloatArray, ...]:
        return self.tables

    def check(self, means: FloatArray) -> None:
        if means.shape != self.means.shape or not np.array_equal(means, self.means):
            raise InvalidInput("the means of resampled data are those of its tables; use Bandit.resampled(tables).")

    def sample(self, means: FloatArray, arms: IntArray, rng: np.random.Generator) -> FloatArray:
        rows, first, sizes = self._stacked
        return rows.take(first[arms] + rng.integers(sizes[arms]), axis=0)

    def sample_sums(self, means: FloatArray, arms: IntArray, pulls: IntArray, rng: np.random.Generator) -> FloatArray:
        sums = np.empty((len(arms), means.shape[1]))
        for i, (arm, n) in enumerate(zip(arms, pulls, strict=True)):
            table = self.tables[arm]
            sums[i] = rng.multinomial(n, np.full(len(table), 1 / len(table))) @ table
        return sums

    @cached_property
    def _stacked(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The rows of all tables, where each table begins among them, and how long it is."""
        sizes = np.array([len(table) for table in self.tables])
        return np.concatenate(self.tables), np.cumsum(sizes) - sizes, sizes


def _check_shared(value: Any) -> float:
    try:
        return check_real(value, "shared", minimum=0.0, below=1.0) + 0.0  # -0.0 is 0.0
    except InvalidInput:
        raise InvalidInput(
            f"shared={short(value)} is not a number from 0 to less than 1: the share of the noise variance that pulls of "
            "different arms with the same repeat have in common, such as 0.5."
        ) from None


def _finite(value: Any, name: str) -> FloatArray:
    array = check_numbers(value, name)
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} has {array[~np.isfinite(array)].flat[0]}; every entry must be finite.")
    return array


def _square_root(cov: FloatArray) -> FloatArray:
    """A matrix A with ``A A^T = cov`` for one covariance or a stack; singular ones are allowed."""
    if cov.ndim not in (2, 3) or cov.shape[-1] != cov.shape[-2] or cov.size == 0:
        raise InvalidInput(f"cov has shape {cov.shape}; expected a square matrix, or one per arm.")
    asymmetry = np.atleast_1d(np.abs(cov - np.swapaxes(cov, -1, -2)).max(axis=(-1, -2)))
    scale = np.atleast_1d(np.abs(cov).max(axis=(-1, -2)))
    if (asymmetry > 1e-9 * scale).any():
        arm = int(np.argmax(asymmetry > 1e-9 * scale))
        raise InvalidInput(f"cov{_of(arm, cov)} is not symmetric: entries differ by {asymmetry[arm]:g} across the diagonal.")
    eigenvalues, vectors = np.linalg.eigh(cov)
    smallest = np.atleast_1d(eigenvalues.min(axis=-1))
    if (smallest < -1e-9 * scale).any():
        arm = int(np.argmax(smallest < -1e-9 * scale))
        raise InvalidInput(
            f"cov{_of(arm, cov)} is not positive semi-definite: its smallest eigenvalue is {smallest[arm]:g}. "
            "No noise has such a covariance; check the signs and sizes of the entries off the diagonal."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0))[..., None, :])


def _of(arm: int, cov: FloatArray) -> str:
    return f" of arm {arm}" if cov.ndim == 3 else ""
