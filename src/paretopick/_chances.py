"""Beta distributed chances from normal deviations: as exact as SciPy's, and for many deviations some fifty times as fast."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from paretopick._arrays import BoolArray, FloatArray

APART = 0.5
"""Between the deviations at which quantiles are found first, from ``-REACH`` to ``REACH``; beyond, each is found by itself."""
REACH = 4.0
ORDER = 16
"""Terms of the series at each of them."""

CELLS = 8
"""In which each series is cut, since shorter ones of ``DEGREE`` are enough there."""
DEGREE = 6

WORTH_IT = 200
"""From so many deviations of one distribution on, series cost less than finding each quantile by itself."""

ERROR = 1e-11
"""Where two neighbouring series differ by more where they meet, relative to their size, they are not used."""

NEAR_ONE = 25.0
"""Log odds above which chances are so near to 1 that equal ones must be equal to the last bit: found by themselves."""

AT_ONCE = 1 << 17
"""Deviations in one go, so that what is computed from them stays in the processor's cache."""


def beta_quantiles(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """Returns the quantiles of Beta distributions that are as likely as normal deviations.

    In log odds g a quantile x is a smooth function of the deviation z: from ``g' = u = phi(z) B(a, b) / (x^a (1 - x)^b)`` and
    ``x' = x (1 - x) u`` follows ``u' = u (u (b x - a (1 - x)) - z)``, so that all terms of its series follow from its value.
    Values are found at a few deviations, the others from series around these, which neighbouring ones confirm.

    Args:
        a: ``(n,)`` first parameters, positive.
        b: ``(n,)`` second ones.
        z: ``(n_deviations, n)``.
    """
    quantiles = np.empty(z.shape)
    if len(z) < WORTH_IT:
        quantiles[:] = _one_by_one(a, b, z)
        return quantiles
    step = max(1, AT_ONCE // len(z))
    for start in range(0, len(a), step):
        some = slice(start, start + step)
        quantiles[:, some] = _from_series(a[some], b[some], np.ascontiguousarray(z[:, some].T)).T
    return quantiles


def _one_by_one(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    from scipy.special import betaincinv, ndtr

    return np.asarray(betaincinv(a, b, ndtr(z)))


def _from_series(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """``beta_quantiles`` of deviations ``(n, n_deviations)``."""
    from scipy.special import expit

    middles = np.arange(-REACH, REACH + APART / 2, APART)
    with np.errstate(all="ignore"):  # where a series overflows, it is not used
        series = _series(a, b, middles[:, None])
        above, below = _summed(series[:, :-1], APART / 2), _summed(series[:, 1:], -APART / 2)
        fits: BoolArray = np.all(np.abs(above - below) <= ERROR * np.maximum(1.0, np.abs(above)), axis=0)
        terms = _cuts() @ np.moveaxis(series, 0, 1)[:, None]  # (n_middles, CELLS, DEGREE + 1, n)
    n_cells = len(middles) * CELLS
    terms = np.ascontiguousarray(terms.transpose(2, 3, 0, 1)).reshape(DEGREE + 1, -1)
    place = (z + (REACH + APART / 2)) * (CELLS / APART)
    cell = np.clip(place.astype(np.intp), 0, n_cells - 1)
    place -= cell
    place -= 0.5
    cell += n_cells * np.arange(len(a))[:, None]
    odds = np.take(terms[-1], cell)
    with np.errstate(all="ignore"):
        for term in terms[-2::-1]:
            odds *= place
            odds += np.take(term, cell)
    quantiles = np.asarray(expit(odds))
    alone = (np.abs(z) > REACH) | ~(odds <= NEAR_ONE) | ~fits[:, None]
    which = np.nonzero(alone)[0]
    quantiles[alone] = _one_by_one(a[which], b[which], z[alone])
    return quantiles


def _series(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    """The terms of the log odds around deviations z, ``(ORDER + 1, n_middles, n)``."""
    from scipy.special import betaln

    low = a / (a + b) + z * np.sqrt(a * b / (a + b + 1)) / (a + b) < 0.5  # of x and 1 - x, the one that is not near 1
    found = _one_by_one(np.where(low, a, b), np.where(low, b, a), np.where(low, z, -z))
    log_found, log_rest = np.log(found), np.log1p(-found)
    log_x, log_y = np.where(low, log_found, log_rest), np.where(low, log_rest, log_found)
    odds, x, y, u, spread, lean, pull = np.zeros((7, ORDER + 1, *found.shape))  # pull is u'/u, from lean = b x - a y
    odds[0] = log_x - log_y
    x[0], y[0] = np.where(low, found, 1 - found), np.where(low, 1 - found, found)
    u[0] = np.exp(betaln(a, b) - a * log_x - b * log_y - z * z / 2) / np.sqrt(2 * np.pi)
    for k in range(ORDER):
        odds[k + 1] = u[k] / (k + 1)
        spread[k] = _term(x, y, k)
        x[k + 1] = _term(spread, u, k) / (k + 1)
        y[k + 1] = -x[k + 1]
        lean[k] = b * x[k] - a * y[k]
        pull[k] = _term(u, lean, k) - (z if k == 0 else k == 1)
        u[k + 1] = _term(u, pull, k) / (k + 1)
    return np.asarray(odds)


def _term(first: FloatArray, second: FloatArray, k: int) -> FloatArray:
    """The k-th term of the product of two series."""
    return np.asarray((first[: k + 1] * second[k::-1]).sum(axis=0))


def _summed(series: FloatArray, t: float) -> FloatArray:
    return np.asarray(np.tensordot(t ** np.arange(len(series)), series, axes=1))


@cache
def _cuts() -> FloatArray:
    """What makes of a series those of its cells, each from -1/2 to 1/2: ``(CELLS, DEGREE + 1, ORDER + 1)``."""
    width = APART / CELLS
    middles = width * (np.arange(CELLS) + 0.5) - APART / 2
    cuts = np.zeros((CELLS, DEGREE + 1, ORDER + 1))
    for k in range(DEGREE + 1):
        for j in range(k, ORDER + 1):
            cuts[:, k, j] = comb(j, k) * middles ** (j - k) * width**k
    return cuts
