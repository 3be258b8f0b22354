"""Normal probabilities from the four operations and square roots alone, which round alike wherever they are computed.

A policy chooses with these functions through NumPy, and the kernels that simulate it compile the same ones for vectors: both come
to the same bits, and so to the same choices, which no two libraries of special functions would. Arguments are arrays or vectors
of float64. Errors are below 1e-8 of the value (``deviation_of``: 2e-6), or 1e-10 where logarithms are near 0, far below what a
choice could be worth.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FAR = 9.0
"""Deviations beyond this count as this: the chance of such a one is 1e-19."""

SURE = 1e15
"""Odds beyond this are as good as certain: it is worth nothing to look again."""

SMALLEST = 1e-300
"""Variances below this count as none, since one over them might be infinite."""

_LN2 = math.log(2.0)
_ROOT_HALF = math.sqrt(0.5)
_LOG_ROOT_HALF = math.log(_ROOT_HALF)


def exp_of_minus(y: Any) -> Any:
    """Returns ``exp(-y)`` for y from 0 to 42: a polynomial of y / 64, squared six times."""
    t = y * 0.015625
    power = 0.0013330253641005538 - t * 0.0001431298072196002
    power = t * power - 0.00830305804158631
    power = t * power + 0.041657467400430595
    power = t * power - 0.1666651396271442
    power = t * power + 0.49999987509914223
    power = t * power - 0.99999999610041
    power = t * power + 0.9999999999800175
    power = power * power
    power = power * power
    power = power * power
    power = power * power
    power = power * power
    return power * power


def tail_factors(a: Any) -> tuple[Any, Any]:
    """Returns two numbers whose quotient times ``exp(-a a / 2)`` is ``Phi(-a)``, for a from 0 to ``FAR``."""
    above = 0.036782666275584845 + a * 0.0035579035586452844
    above = 0.17164744248221925 + a * above
    above = 0.42235091148198695 + a * above
    above = 0.500000000941084 + a * above
    below = 0.09221426341084718 + a * 0.008918017020494764
    below = 0.43891150961256536 + a * below
    below = 1.1538874966593933 + a * below
    below = 1.6425865297489155 + a * below
    return above, 1.0 + a * below


def log_of(x: Any) -> Any:
    """Returns the natural logarithm of positive numbers."""
    mantissa, exponent = np.frexp(x)
    s = (mantissa - _ROOT_HALF) / (mantissa + _ROOT_HALF)  # log m = log c + 2 (s + s^3 / 3 + ...), where s = (m - c) / (m + c)
    square = s * s
    series = 1 / 9 + square * (1 / 11)
    series = 1 / 7 + square * series
    series = 1 / 5 + square * series
    series = 1 / 3 + square * series
    series = 1.0 + square * series
    return exponent * _LN2 + (2.0 * s * series + _LOG_ROOT_HALF)


def deviation_of(odds: Any) -> Any:
    """Returns z, where ``Phi(z)`` to ``Phi(-z)`` stand as the odds, from 1 to ``SURE``, to 1."""
    x = log_of(odds)
    above = 0.000924961642800535 + x * 2.332476648735393e-06
    above = 0.027586712845378756 + x * above
    above = 0.12035999986464364 + x * above
    above = 0.4763813204009602 + x * above
    above = 0.6266563881264978 + x * above
    below = 0.004742387289553427 + x * 5.055458755475995e-05
    below = 0.05713603589370573 + x * below
    below = 0.21018116559052372 + x * below
    below = 0.7601541608309246 + x * below
    return x * above / (1.0 + x * below)


def sign_of(difference: Any, variance: Any) -> tuple[Any, Any, Any, Any]:
    """Returns how likely a normal number of this mean and variance is positive, and negative, and what it weighs.

    ``u = difference / sqrt(variance)``, and a step where there is no variance: then a difference of 0 counts as positive.

    Returns:
        ``Phi(u)``, ``Phi(-u)``, ``phi(u) / Phi(u)`` up to a constant factor, and one over the variance, 0 for none.
    """
    varies = variance > SMALLEST
    precision = np.where(varies, 1.0, 0.0) / np.where(varies, variance, 1.0)
    u = np.where(varies, difference * np.sqrt(precision), np.where(difference >= 0.0, FAR, -FAR))
    u = np.where(u < FAR, u, FAR)
    u = np.where(u > -FAR, u, -FAR)
    positive = u >= 0.0
    a = np.where(positive, u, -u)
    density = exp_of_minus(0.5 * a * a)
    above, below = tail_factors(a)
    tail = density * above / below
    rest = 1.0 - tail
    likely = np.where(positive, rest, tail)
    return likely, np.where(positive, tail, rest), density / likely, precision


def clipped(odds: Any) -> Any:
    """Returns odds between 1 and ``SURE``."""
    odds = np.where(odds > 1.0, odds, 1.0)
    return np.where(odds < SURE, odds, SURE)


def value_of(odds: Any, z: Any, share: Any, other: Any) -> Any:
    """Returns how fast the chance of a wrong sign falls when the precision of a pair of arms is raised.

    ``g = exp(-z^2/2 (1 + 1/x)) / (sqrt(x) (1 + x))`` at ``x = max(z^2/2, share, other)``, the slope of ``2 OwenT(z, 1/sqrt(x))``
    up to a constant factor; 0 where the sign is as good as certain.

    Args:
        odds: of the sign that the pair is thought to have, as ``clipped`` returns them.
        z: the deviation of these odds.
        share: the part of the pair's variance that one more pull of the first arm takes away.
        other: the same of the second.
    """
    half = 0.5 * z * z
    x = np.where(share > other, share, other)
    x = np.where(half > x, half, x)
    x = np.where(x > SMALLEST, x, SMALLEST)
    above, below = tail_factors(z)  # exp(-z^2/2) = Phi(-z) below / above, and Phi(-z) = 1 / (1 + odds)
    value = exp_of_minus(half / x) * below / (above * (1.0 + odds) * np.sqrt(x) * (1.0 + x))
    return np.where(odds < SURE, value, 0.0)


def either_way(odds: Any) -> Any:
    """Returns the odds of whatever is more likely: that something is so, or that it is not."""
    odds = np.where(odds > SMALLEST, odds, SMALLEST)
    return np.where(odds < 1.0, 1.0 / odds, odds)
