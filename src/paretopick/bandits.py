"""Bandits: means and a model of the noise, from which pulls are drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import (
    LARGEST_BUDGET,
    BoolArray,
    FloatArray,
    IntArray,
    check_arms,
    check_integer,
    check_means,
    check_rng,
    check_sequence,
    frozen,
)
from paretopick._words import short, text_of
from paretopick.errors import InvalidInput
from paretopick.noises import Bernoulli, Gaussian, Noise, Puller, Resampled, RunNoise
from paretopick.theory.complexity import complexity
from paretopick.theory.dominance import optimal_rows
from paretopick.theory.gaps import optimal_and_gaps

__all__ = ["Bandit", "Bernoulli", "Gaussian", "Noise", "Resampled", "Run", "Seed", "check_bandit"]

Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator | None
"""What NumPy's own functions take as a source of random numbers."""


@dataclass(frozen=True, eq=False)
class Bandit:
    """K arms with true means and noise; what policies are tried on.

    Args:
        means: ``(n_arms, n_objectives)``, larger is better.
        noise: ``Gaussian``, ``Bernoulli`` or ``Resampled``, or one of your own (``Noise``).
        name: for tables and plots.
        arm_names: one per arm; by default "0", "1", ..
        objective_names: one per objective; by default "objective_1", ..
        budget: a sensible number of pulls, if one is known; for the paper's instances the paper's.
        source: one sentence on where the numbers come from.

    >>> bandit = Bandit([[0.2, 0.8], [0.8, 0.2], [0.1, 0.1]], noise=Bernoulli())
    >>> bandit.optimal, round(bandit.complexity, 1)
    (array([ True,  True, False]), 300.0)
    """

    means: FloatArray
    noise: Noise
    name: str = field(default="bandit", kw_only=True)
    arm_names: tuple[str, ...] = field(default=(), kw_only=True)
    objective_names: tuple[str, ...] = field(default=(), kw_only=True)
    budget: int | None = field(default=None, kw_only=True)
    source: str = field(default="", kw_only=True)

    if TYPE_CHECKING:  # lists become arrays and tuples

        def __init__(
            self,
            means: ArrayLike,
            noise: Noise,
            *,
            name: str = "bandit",
            arm_names: Iterable[str] = (),
            objective_names: Iterable[str] = (),
            budget: int | None = None,
            source: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        means = frozen(check_means(self.means))
        if isinstance(self.noise, type) or not isinstance(self.noise, Noise):
            example = f"{self.noise.__name__}(...)" if isinstance(self.noise, type) else "pp.Gaussian(std=...) or pp.Bernoulli()"
            raise InvalidInput(
                f"noise={short(self.noise)} is no noise; write {example}; one of your own is a subclass of pp.Noise."
            )
        self.noise.check(means)
        K, D = means.shape
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "arm_names", _labels(self.arm_names, K, "arm_names", map(str, range(K))))
        default = (f"objective_{d + 1}" for d in range(D))
        object.__setattr__(self, "objective_names", _labels(self.objective_names, D, "objective_names", default))
        if self.budget is not None:
            check_integer(self.budget, "budget", minimum=0)

    @classmethod
    def resampled(cls, tables: Sequence[ArrayLike] | Mapping[str, ArrayLike], **options: Any) -> Bandit:
        """Returns a bandit that draws rows from tables of real measurements.

        Args:
            tables: one ``(n_measurements, n_objectives)`` per arm; a mapping names the arms.
            options: as of ``Bandit``.

        >>> Bandit.resampled({"a": [[1.0, 0.0], [3.0, 0.0]], "b": [[0.0, 1.0]]}).means
        array([[2., 0.],
               [0., 1.]])
        """
        if isinstance(tables, Mapping):
            options.setdefault("arm_names", tuple(map(text_of, tables)))
            tables = list(tables.values())
        noise = Resampled(tables)
        return cls(noise.means, noise, **options)

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def n_objectives(self) -> int:
        """D."""
        return int(self.means.shape[1])

    @cached_property
    def optimal(self) -> BoolArray:
        """The mask of the true Pareto set."""
        return frozen(optimal_rows(self.means))

    @cached_property
    def gaps(self) -> FloatArray:
        """The true gaps."""
        return frozen(optimal_and_gaps(self.means)[1])

    @cached_property
    def complexity(self) -> float:
        """H."""
        return complexity(self.means)

    @cached_property
    def digest(self) -> str:
        """A short text that is equal for bandits with equal means and equally written noise, and for no others."""
        parts = [type(self.noise).__name__.encode()]
        for array in (self.means, *self.noise.parameters):
            parts += [str(array.shape).encode(), (array + 0.0).tobytes()]  # -0.0 is 0.0
        return hashlib.sha256(b"|".join(parts)).hexdigest()[:16]

    def run(self, rng: Seed, *, counts: ArrayLike | None = None) -> Run:
        """Returns a run, whose ``pull(arms)`` draws pulls and counts those of each arm: for noise that arms share.

        Args:
            rng: as of ``sample``.
            counts: how often each arm was pulled before, ``(n_arms,)``; by default never.

        >>> run = Bandit([[0.0], [5.0]], Gaussian(std=1.0, shared=0.999999)).run(0)
        >>> early, late = run.pull([0, 0]), run.pull([1, 1])  # repeats 0 and 1 of both
        >>> (late - early).round(1).ravel()
        array([5., 5.])
        """
        before = np.zeros(self.n_arms, dtype=np.int64)
        if counts is not None:
            before = _check_counts(
                counts,
                (before.shape,),
                f"counts={short(counts)} must be {self.n_arms} whole numbers, one for each arm, none negative.",
            )
        return Run(self, before, check_rng(rng))

    def sample(self, arms: ArrayLike, rng: Seed) -> FloatArray:
        """Returns one pull of each of ``arms``, ``(len(arms), n_objectives)``; an arm may be named several times.

        Of noise that arms share, the n-th pull of an arm in the call has its block effect in common with the n-th of the others.

        Args:
            arms: arm numbers.
            rng: a Generator, which moves on; an int or SeedSequence gives the same pulls each time.
        """
        return self.noise.sample(self.means, check_arms(arms, "arms", self.n_arms), check_rng(rng))

    def sample_sums(self, arms: ArrayLike, pulls: ArrayLike, rng: Seed) -> FloatArray:
        """Returns for each of ``arms`` the sum of so many pulls, drawn at once and exact in distribution.

        Of noise that arms share, these are the first pulls of each arm, and where it is named again those that follow.

        Args:
            arms: arm numbers.
            pulls: one number for all of them or one each, none negative.
            rng: as of ``sample``.
        """
        arms = check_arms(arms, "arms", self.n_arms)
        trouble = f"pulls={short(pulls)} must be one whole number, or one for each of {len(arms)} arms, none negative."
        counts = np.broadcast_to(_check_counts(pulls, ((), arms.shape), trouble), arms.shape)
        return self.noise.sample_sums(self.means, arms, counts, check_rng(rng))


class Run:
    """One run of a bandit, made by ``Bandit.run``: pulls that may depend on those before them."""

    def __init__(self, bandit: Bandit, counts: IntArray, rng: np.random.Generator) -> None:
        noise, means = bandit.noise, bandit.means
        self._n_arms, self._n_objectives = means.shape
        self._kind = type(noise).__name__
        self._draw: Puller
        if isinstance(noise, RunNoise):
            self._draw = noise.begin_run(means, counts, rng)
        else:
            self._draw = lambda arms: noise.sample(means, arms, rng)

    def pull(self, arms: ArrayLike) -> FloatArray:
        """Returns one pull of each of ``arms``, ``(len(arms), n_objectives)``; an arm may be named several times."""
        wanted = check_arms(arms, "arms", self._n_arms)
        values = self._draw(wanted)
        numeric = np.asarray(values).dtype.kind in "biuf" and np.shape(values) == (len(wanted), self._n_objectives)
        if not numeric or not np.isfinite(values).all():
            raise InvalidInput(
                f"{self._kind} drew {short(np.asarray(values).tolist())} for {len(wanted)} pulls; expected finite numbers of "
                f"shape ({len(wanted)}, {self._n_objectives}), a row for each pull and a column for each objective."
            )
        return values


def check_bandit(value: Any) -> Bandit:
    """Returns ``value`` if it is a bandit."""
    if isinstance(value, Bandit):
        return value
    raise InvalidInput(f"bandit={short(value)} is not a bandit; write pp.Bandit(means, noise) or pp.instance(NAME).")


def _check_counts(value: ArrayLike, shapes: tuple[tuple[int, ...], ...], trouble: str) -> IntArray:
    """Returns whole numbers of pulls of one of these shapes; otherwise says what the trouble is."""
    try:
        counts = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        counts = np.empty((), dtype=object)
    if counts.dtype.kind not in "iu" or ((counts < 0) | (counts > LARGEST_BUDGET)).any() or counts.shape not in shapes:
        raise InvalidInput(trouble)
    return counts.astype(np.int64)


def _labels(given: Sequence[str], n: int, name: str, default: Any) -> tuple[str, ...]:
    labels = tuple(map(text_of, check_sequence(given, name, f"is not a list of names; expected {n} of them")))
    if not labels:
        return tuple(default)
    if len(labels) != n:
        raise InvalidInput(f"{name} has {len(labels)} entries; expected {n}.")
    if len(set(labels)) != n:
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InvalidInput(f"{name} has {twice!r} twice; names must differ.")
    return labels
