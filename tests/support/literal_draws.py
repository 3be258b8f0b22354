"""How sure an answer is, as it is defined: chances found one by one, and every option compared with all others."""

import numpy as np
from scipy.special import betaincinv, ndtr

from paretopick.estimates import Estimates
from paretopick.estimates.populations import Normal, root
from paretopick.estimates.records import NORMAL_FROM


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
    """``Estimates.draws`` with a Beta quantile for each number, from one model after the other."""
    if not estimates.is_population:
        return _of_one_model(estimates, Normal(*estimates._located()), n, rng)
    models, weights = estimates._models
    sizes = [int(n * weight) for weight in weights]
    while sum(sizes) < n:
        lacking = [n * weight - size for weight, size in zip(weights, sizes, strict=True)]
        sizes[lacking.index(max(lacking))] += 1
    parts = [_of_one_model(estimates, model, size, rng) for model, size in zip(models, sizes, strict=True) if size]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)[rng.permutation(n)]


def _of_one_model(estimates: Estimates, model, n: int, rng: np.random.Generator) -> np.ndarray:
    from_middle, middles, mean, widths = (_from_a_normal if isinstance(model, Normal) else _from_a_front)(model, n, rng)
    draws = middles + from_middle * estimates._heavier(n, rng)
    for option, metric in np.argwhere(np.broadcast_to(estimates.binary, mean.shape)):
        at, width = mean[option, metric], max(widths[option, metric], 1e-12)
        deviations = (middles + from_middle)[:, option, metric] - at
        centre = np.clip(at, 1e-9, 1 - 1e-9)
        size = np.clip(centre * (1 - centre) / width**2 - 1.0, 1e-3, NORMAL_FROM)
        chances = betaincinv(centre * size, (1 - centre) * size, ndtr(deviations / width))
        draws[:, option, metric] = chances if size < NORMAL_FROM else np.clip(at + deviations, 0.0, 1.0)
    draws[..., estimates.exact] = estimates.means[:, estimates.exact]
    return draws


def _from_a_normal(model, n, rng):
    z = np.einsum("kde,nke->nkd", root(model.covariances), rng.standard_normal((n, *model.mean.shape)))
    return z, np.broadcast_to(model.mean, z.shape), model.mean, np.sqrt(np.diagonal(model.covariances, axis1=1, axis2=2))


def _from_a_front(front, n, rng):
    """Draw by draw and option by option; moments from the derivative of the bend."""
    n_options, n_metrics = front.nearer.shape[1:]
    z, tosses = rng.standard_normal((n, n_options, n_metrics)), rng.random((n, n_options))
    roots = root(front.left)
    from_middle, middles = np.empty((2, *z.shape))
    for draw in range(n):
        for option in range(n_options):
            side = int(tosses[draw, option] < front.shares[1, option])
            middles[draw, option] = _bent(front, front.nearer[side, option])
            point = front.nearer[side, option] + roots[side, option] @ z[draw, option]
            from_middle[draw, option] = _bent(front, point) - middles[draw, option]
    mean, widths = np.empty((2, n_options, n_metrics))
    for option in range(n_options):
        centres = [_bent(front, front.nearer[side, option]) for side in (0, 1)]
        mean[option] = sum(front.shares[side, option] * centres[side] for side in (0, 1))
        around = np.zeros(n_metrics)
        for side in (0, 1):
            slope = np.eye(n_metrics)
            slope[-1, :-1] = 2 * front.bend * (front.nearer[side, option, :-1] - front.middle)
            turned = np.diag(front.units) @ front.axes @ slope
            variances = np.diagonal(turned @ front.left[side, option] @ turned.T)
            around += front.shares[side, option] * (np.maximum(variances, 0) + (centres[side] - mean[option]) ** 2)
        widths[option] = np.sqrt(around)
    return from_middle, middles, mean, widths


def _bent(front, flat):
    point = [*flat[:-1], flat[-1] + sum(b * (u - m) ** 2 for b, u, m in zip(front.bend, flat[:-1], front.middle, strict=True))]
    return np.array(
        [unit * sum(a * p for a, p in zip(row, point, strict=True)) for unit, row in zip(front.units, front.axes, strict=True)]
    )


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
