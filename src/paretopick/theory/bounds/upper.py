"""Upper bounds on the probability of a wrong answer (Theorems 1, 3, 4 and 6, Corollary 1, Proposition 1).

Every function takes the true means ``(n_arms, n_objectives)`` first and the noise as ``sigma``: the marginals are
sigma-subgaussian, so sigma is the largest standard deviation of Gaussian noise and 1/2 for Bernoulli.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import check_budget, check_integer, check_means, check_real, check_size
from paretopick.errors import InvalidInput
from paretopick.theory.complexity import Rounds, check_rounds, complexity, complexity_h2, effective_budget, halvings
from paretopick.theory.gaps import optimal_and_gaps


def ege(means: ArrayLike, schedule: Rounds, /, *, sigma: float) -> float:
    """Returns the bound on the error of EGE with any schedule (Theorem 1)."""
    size = _sizes(means, sigma)
    decay = exp_minus(effective_budget(means, schedule) / 144, size.variance)
    return 2 * (size.K - 1) * size.S * len(schedule.pulls) * size.D * decay


def ege_sr(means: ArrayLike, budget: int, /, *, sigma: float) -> float:
    """Returns the bound on the error of EGE-SR (Corollary 1)."""
    return _successive_rejects(means, budget, sigma, max_arms=None)


def ege_sh(means: ArrayLike, budget: int, /, *, sigma: float) -> float:
    """Returns the bound on the error of EGE-SH (Corollary 1)."""
    size = _sizes(means, sigma)
    T = check_budget(budget, minimum=size.K)
    R = halvings(size.K)
    return 2 * (size.K - 1) * R * size.S * size.D * exp_minus(T, complexity_h2(means), size.variance, 288 * max(1, R))


def ege_gg(means: ArrayLike, budget: int, /, *, sigma: float, n_rounds: int | None = None) -> float:
    """Returns the bound on the error of EGE-GG with ``n_rounds`` rounds, by default ``ceil(log2 n_arms)`` (Proposition 1).

    Proved for budgets of at least ``2 n_rounds n_arms``; a smaller one is refused.
    """
    size = _sizes(means, sigma)
    R = check_integer(n_rounds if n_rounds is not None else max(1, halvings(size.K)), "n_rounds", minimum=1)
    T = check_budget(budget, minimum=2 * R * size.K)
    root = size.K ** (1 / R)
    return 2 * (size.K - 1) * size.S * R * size.D * exp_minus(T, complexity_h2(means), size.variance, 288 * R * root)


def uniform(means: ArrayLike, budget: int, /, *, sigma: float) -> float:
    """Returns the bound on the error of uniform allocation (Section 4, Theorem 1 with one round that keeps nobody)."""
    size = _sizes(means, sigma)
    T = check_budget(budget, minimum=size.K)
    return 2 * (size.K - 1) * size.S * size.D * exp_minus(T * size.smallest_gap * size.smallest_gap, size.variance, 144 * size.K)


def ape_fb(means: ArrayLike, budget: int, /, *, sigma: float, exploration: float | None = None) -> float:
    """Returns the bound on the error of APE-FB (Theorem 6).

    Args:
        means: ``(n_arms, n_objectives)``.
        budget: T.
        sigma: of the noise.
        exploration: a, at most ``largest_exploration``, which is the default; the proof covers no larger one.
    """
    size = _sizes(means, sigma)
    T = check_budget(budget, minimum=size.K)
    limit = largest_exploration(means, budget)
    a = limit if exploration is None else check_real(exploration, "exploration", minimum=0.0)
    if a > limit:
        raise InvalidInput(f"exploration={a:g} is larger than 25/36 (T - K) / H = {limit:g}, up to which the bound is proved.")
    return 2 * (1 + math.log(T)) * size.D * size.K * exp_minus(a, size.variance, 100)


def largest_exploration(means: ArrayLike, budget: int, /) -> float:
    """Returns ``25/36 (T - K) / H``, the oracle exploration a of APE-FB (Theorem 6); 0 where H is 0, as for one arm."""
    K = len(check_means(means))
    T = check_budget(budget, minimum=K)
    H = complexity(means)
    return 25 / 36 * (T - K) / H if H > 0 else 0.0


def ege_sr_k(means: ArrayLike, budget: int, /, *, max_arms: int, sigma: float) -> float:
    """Returns the bound on the PSI-k loss of EGE-SR-k for k = ``max_arms`` (Theorem 3)."""
    return _successive_rejects(means, budget, sigma, max_arms=max_arms)


def ege_sr_k_rounds(means: ArrayLike, budget: int, /, *, max_arms: int, sigma: float) -> float:
    """Returns the bound on E[tau], the expected number of rounds of EGE-SR-k; for k below the size of the front (Theorem 4)."""
    q, probability = _early_stopping(means, budget, max_arms, sigma)
    return q + probability


def ege_sr_k_pulls(means: ArrayLike, budget: int, /, *, max_arms: int, sigma: float, schedule: Rounds) -> float:
    """Returns the bound on E[N_tau], the expected number of pulls of EGE-SR-k; for k below the size of the front (Theorem 4).

    Args:
        means: ``(n_arms, n_objectives)``.
        budget: T.
        max_arms: k.
        sigma: of the noise.
        schedule: ``schedule("sr", n_arms, budget)``, whose pulls up to round ``q = n_arms - |S*| + k`` the bound counts.
    """
    q, probability = _early_stopping(means, budget, max_arms, sigma)
    K = len(check_means(means))
    check_rounds(schedule)
    if tuple(schedule.active) != tuple(range(K, 0, -1)):
        raise InvalidInput(
            f"the schedule has {schedule.active[0]} arms and {len(schedule.pulls)} rounds; "
            f'expected schedule("sr", {K}, {budget}), which removes one arm in each of {K - 1} rounds.'
        )
    pulls_by_q = sum(n * t for n, t in zip(schedule.active[:q], schedule.pulls[:q], strict=True))  # N_q
    return pulls_by_q + budget * probability


def apt(means: ArrayLike, budget: int, /, *, sigma: float, gamma: float = 0.2) -> float:
    """Returns the bound on the error of ``apt``, which rests on its forced exploration alone; not in the paper.

    Every arm has at least ``gamma T / K - 2`` pulls, so that all empirical differences are within the smallest gap:
    ``2 K D exp( -(gamma T / K - 2) gap_(1)^2 / (8 sigma^2) )``.
    """
    size = _sizes(means, sigma)
    T = check_budget(budget, minimum=size.K)
    share = check_real(gamma, "gamma", minimum=0.0) * T / size.K - 2
    if size.K == 1:
        return 0.0
    return 2 * size.K * size.D * exp_minus(share * size.smallest_gap * size.smallest_gap, size.variance, 8)


def log_bar(n_arms: int, /) -> float:
    """Returns ``1/2 + sum_{i=2..K} 1/i``, the paper's overlined logarithm (Section 3.2)."""
    return 0.5 + math.fsum(1 / i for i in range(2, check_size(n_arms)[0] + 1))


@dataclass(frozen=True)
class _Sizes:
    """The paper's symbols for the size of a problem."""

    K: int
    D: int
    S: int
    smallest_gap: float
    variance: float


def _sizes(means: ArrayLike, sigma: Any) -> _Sizes:
    means = check_means(means)
    optimal, gap = optimal_and_gaps(means)
    return _Sizes(
        K=means.shape[0],
        D=means.shape[1],
        S=int(optimal.sum()),
        smallest_gap=float(gap.min()),
        variance=check_variance(sigma),
    )


def _successive_rejects(means: ArrayLike, budget: int, sigma: float, max_arms: int | None) -> float:
    size = _sizes(means, sigma)
    return 2 * (size.K - 1) ** 2 * size.S * size.D * _decay_of_successive_rejects(means, budget, max_arms, size)


def _decay_of_successive_rejects(means: ArrayLike, budget: int, max_arms: int | None, size: _Sizes) -> float:
    T = check_budget(budget, minimum=size.K)
    return exp_minus(T - size.K, complexity_h2(means, max_arms=max_arms), size.variance, 144 * log_bar(size.K))


def _early_stopping(means: ArrayLike, budget: int, max_arms: int, sigma: float) -> tuple[int, float]:
    """The round q and the term P of Theorem 4."""
    size = _sizes(means, sigma)
    if size.S == 1:
        raise InvalidInput("the means have one Pareto optimal arm, so no max_arms lies below that; the bound is empty here.")
    k = check_integer(max_arms, "max_arms", minimum=1, maximum=size.S - 1)
    q = size.K - size.S + k
    decay = _decay_of_successive_rejects(means, budget, k, size)
    return q, 2 * (size.K - 1) * size.S * (size.K - q - 1) * q * size.D * decay


def check_variance(sigma: Any) -> float:
    """Returns the square of a standard deviation; squares too large or too small for a float become inf or 0."""
    width = check_real(sigma, "sigma", above=0.0)
    return width * width


def exp_minus(numerator: float, *factors: float) -> float:
    """Returns ``exp(-numerator / product of factors)``, which is a limit where a float ends.

    An infinite complexity (twins) gives 1, a complexity or a noise of 0 gives 0, and a bound beyond all floats is inf.
    """
    exponent = np.float64(numerator)
    with np.errstate(all="ignore"):
        for factor in factors:
            exponent = exponent / factor
        return 1.0 if np.isnan(exponent) else float(np.exp(-exponent))
