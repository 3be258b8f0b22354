"""How sure an answer is, as it is defined: chances found one by one, and every option compared with all others."""

import numpy as np
from scipy.special import betaincinv, ndtr

from paretopick.estimates import Estimates
from paretopick.estimates.populations import shrunken
from paretopick.estimates.records import NORMAL_FROM, _root


def literal_resample(estimates: Estimates, answer: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Draws of the true means, the probability of each option to be Pareto-optimal, and that of the answer to be right."""
    draws = literal_draws(estimates, n, np.random.default_rng(0))
    good = np.moveaxis(draws * estimates.signs, 2, 0).copy()
    optimal = np.empty(good.shape[1:], dtype=bool)
    for option in range(len(answer)):
        as_good, better = np.ones_like(optimal), np.zeros_like(optimal)
        for values in good:
            own = values[:, option, None]
            as_good &= values >= own
            better |= values > own
        optimal[:, option] = ~(as_good & better).any(axis=1)
    return draws, optimal.mean(axis=0), float((optimal == answer).all(axis=1).mean())


def literal_draws(estimates: Estimates, n: int, rng: np.random.Generator) -> np.ndarray:
    """``Estimates.draws`` with a Beta quantile for each number."""
    located, spread = estimates._located()
    if estimates.is_population:
        located, spread = shrunken(located, spread)
    z = np.einsum("kde,nke->nkd", _root(spread), rng.standard_normal((n, *located.shape)))
    draws = located + z * estimates._heavier(n, rng)
    widths = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
    for option, metric in np.argwhere(np.broadcast_to(estimates.binary, located.shape)):
        at, width, deviations = located[option, metric], max(widths[option, metric], 1e-12), z[:, option, metric]
        centre = np.clip(at, 1e-9, 1 - 1e-9)
        size = np.clip(centre * (1 - centre) / width**2 - 1.0, 1e-3, NORMAL_FROM)
        chances = betaincinv(centre * size, (1 - centre) * size, ndtr(deviations / width))
        draws[:, option, metric] = chances if size < NORMAL_FROM else np.clip(at + deviations, 0.0, 1.0)
    draws[..., estimates.exact] = estimates.means[:, estimates.exact]
    return draws


def literal_domination(draws: np.ndarray) -> np.ndarray:
    """``[i, j]``: the share of draws, larger being better, in which j dominates i, pair by pair."""
    n_draws, n_options, n_metrics = draws.shape
    shares = np.zeros((n_options, n_options))
    for values in draws.tolist():
        for i, own in enumerate(values):
            for j, others in enumerate(values):
                as_good = all(others[d] >= own[d] for d in range(n_metrics))
                shares[i, j] += as_good and any(others[d] > own[d] for d in range(n_metrics))
    return shares / n_draws
