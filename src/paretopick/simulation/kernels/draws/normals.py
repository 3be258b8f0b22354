"""Standard normals by counter, in pairs by the transformation of Box and Muller.

Its logarithm, sine and cosine are polynomials with errors below 1e-12, the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.draws.counters import ONE, unit_interval, words
from paretopick.simulation.kernels.vectors import as_lanes, as_words, choose, fused, spread, square_root

_MIX = np.uint64(0x9FB21C651E98DF25)
_MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)
_TWO_52 = np.uint64(0x4330000000000000)
_S0, _S1, _S2, _S3, _S4, _S5, _S6 = [(-1) ** n * (math.pi / 2) ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(7)]
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = [(-1) ** n * (math.pi / 2) ** (2 * n) / math.factorial(2 * n) for n in range(7)]


@inlined
def normal_pair(start, middle, counters):
    """Two vectors of independent standard normals; arguments as of ``words``."""
    first = words(start, middle, counters)
    second = (first ^ (first >> spread(np.uint64(31)))) * spread(_MIX)
    second = second ^ (second >> spread(np.uint64(32)))
    radius = square_root(spread(-2.0) * _log(spread(1.0) - unit_interval(first)))  # sqrt(-2 log(1 - u))
    angle = unit_interval(second) - spread(0.5)  # from -1/8 to 1/8 of a turn; two low bits turn it to the whole circle
    square = angle * angle
    sine = fused(square, spread(_S6), spread(_S5))
    cosine = fused(square, spread(_C6), spread(_C5))
    sine, cosine = fused(sine, square, spread(_S4)), fused(cosine, square, spread(_C4))
    sine, cosine = fused(sine, square, spread(_S3)), fused(cosine, square, spread(_C3))
    sine, cosine = fused(sine, square, spread(_S2)), fused(cosine, square, spread(_C2))
    sine, cosine = fused(sine, square, spread(_S1)), fused(cosine, square, spread(_C1))
    sine, cosine = fused(sine, square, spread(_S0)), fused(cosine, square, spread(_C0))
    sine = radius * sine * angle
    cosine = radius * as_lanes(as_words(cosine) ^ (second << spread(np.uint64(63))))
    swap = (second & spread(np.uint64(2))) == spread(np.uint64(0))
    return choose(swap, sine, cosine), choose(swap, cosine, sine)


@inlined
def _log(x):
    """The natural logarithm of numbers in (0, 1]."""
    shifted = as_words(x) + spread(ONE - _ROOT_HALF)
    exponent = as_lanes((shifted >> spread(np.uint64(52))) | spread(_TWO_52)) - spread(4503599627370496.0 + 1023.0)
    mantissa = as_lanes((shifted & spread(_MANTISSA)) + spread(_ROOT_HALF))  # from sqrt(1/2) to sqrt(2)
    s = (mantissa - spread(1.0)) / (mantissa + spread(1.0))  # log m = 2 (s + s^3 / 3 + s^5 / 5 + ..)
    square = s * s
    series = fused(square, spread(1 / 15), spread(1 / 13))
    series = fused(series, square, spread(1 / 11))
    series = fused(series, square, spread(1 / 9))
    series = fused(series, square, spread(1 / 7))
    series = fused(series, square, spread(1 / 5))
    series = fused(series, square, spread(1 / 3))
    series = fused(series, square, spread(1.0))
    return fused(exponent, spread(math.log(2)), spread(2.0) * s * series)
