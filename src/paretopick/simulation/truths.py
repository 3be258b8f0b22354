"""Means of their own for every run: what is simulated when the means are themselves uncertain."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import BoolArray, FloatArray, check_numbers, frozen
from paretopick.bandits import Bandit, Resampled
from paretopick.errors import InvalidInput
from paretopick.theory.dominance import optimal_rows
from paretopick.theory.requirements import Requirements, optimal_and_feasible


@dataclass(frozen=True)
class Truths:
    """``means[r]`` are the means of run r, ``(n_arms, n_objectives)``; the array is read-only."""

    means: FloatArray = field(compare=False)
    digest: str
    """A short text that is equal for equal truths, and for no others."""

    def __len__(self) -> int:
        return len(self.means)

    def optimal(self, required: Requirements | None = None) -> BoolArray:
        """Returns the masks of the Pareto sets, ``(n_truths, n_arms)``; with limits, of the arms that keep them."""
        return _optimal(self, required)

    def check_enough(self, runs: int | str, start: int) -> None:
        """Refuses runs that have no truth."""
        n = len(self)
        if isinstance(runs, str):
            raise InvalidInput(
                f"runs={runs!r} may need any number of runs, and truths has the means of {n}; say how many, such as {n}."
            )
        if start + runs > n:
            remedy = f"say runs={n - start}" if start < n else "lower start"
            raise InvalidInput(
                f"truths has the means of {n} runs, and runs={runs} from start={start} on need {start + runs}; "
                f"give more truths, or {remedy}."
            )


@lru_cache(maxsize=2)
def _optimal(truths: Truths, required: Requirements | None) -> BoolArray:
    """Remembered, since one array serves many simulations of a plan."""
    if required is not None:
        return frozen(optimal_and_feasible(truths.means, required))
    return frozen(np.array([optimal_rows(means) for means in truths.means]))


def check_truths(truths: ArrayLike | None, bandit: Bandit) -> Truths | None:
    """Returns a copy of the means of every run, or None; refuses what does not fit the bandit and its noise."""
    if truths is None:
        return None
    expected = f"(n_truths, {bandit.n_arms}, {bandit.n_objectives}): the means of all arms, once for each run"
    if isinstance(truths, np.ma.MaskedArray):
        raise InvalidInput(f"truths is a masked array; fill the masked entries first, and give {expected}.")
    try:
        means = check_numbers(truths, "truths")
    except InvalidInput as problem:
        raise InvalidInput(f"truths cannot be read as numbers ({problem}); give an array {expected}.") from None
    if means.shape[1:] != bandit.means.shape or len(means) == 0:
        raise InvalidInput(f"truths has shape {means.shape}; expected {expected}.")
    finite = np.isfinite(means)
    if not finite.all():
        run, arm, objective = np.argwhere(~finite)[0]
        value = means[run, arm, objective]
        raise InvalidInput(f"truths has {value} for run {run}, arm {arm}, objective {objective}; every entry must be finite.")
    if isinstance(bandit.noise, Resampled):
        raise InvalidInput(
            "truths= gives every run other means, and those of resampled data are the means of its tables; "
            "simulate a pp.Bandit with pp.Gaussian or pp.Bernoulli noise."
        )
    for run, one in enumerate(means):
        try:
            bandit.noise.check(one)
        except InvalidInput as problem:
            raise InvalidInput(f"the truth of run {run} does not fit the noise: {problem}") from None
    digest = hashlib.sha256(str(means.shape).encode() + (means + 0.0).tobytes()).hexdigest()[:16]  # -0.0 is 0.0
    return Truths(frozen(means), digest)
