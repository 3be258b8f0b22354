"""Random numbers by counter: every number is a function of (seed, run, counter), computed where it is used.

Results then do not depend on threads, on how runs are cut into pieces, or on what was drawn before. A word is the counter on the
Weyl sequence of the golden ratio (Steele, Lea and Flood 2014, SplitMix), mixed by P. Evensen's *moremur* with a second key of the
run in its middle. Normals come in pairs by the transformation of Box and Muller; its logarithm, sine and cosine are polynomials
with errors below 1e-12, the same on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.vectors import as_lanes, as_words, choose, fused, inlined, inner, spread, square_root

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2, _MIX_3 = np.uint64(0x3C79AC492BA7B653), np.uint64(0x1C69B3F74AC4AE35), np.uint64(0x9FB21C651E98DF25)
_ONE = np.uint64(0x3FF0000000000000)
_MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)
_TWO_52 = np.uint64(0x4330000000000000)
_SIN = [(-1) ** n * (math.pi / 2) ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(7)]
_COS = [(-1) ** n * (math.pi / 2) ** (2 * n) / math.factorial(2 * n) for n in range(7)]
_S0, _S1, _S2, _S3, _S4, _S5, _S6 = _SIN
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = _COS


class Key(NamedTuple):
    """What the random numbers of one run depend on, besides their counter."""

    start: np.uint64
    middle: np.uint64


@inlined
def _mixed(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(27))) * _MIX_1
    z = (z ^ (z >> np.uint64(33))) * _MIX_2
    return z ^ (z >> np.uint64(27))


@inner
def run_key(seed: Key, run: int) -> Key:
    """The key of one run of a seed."""
    weyl = uint64(run + 1) * GOLDEN
    return Key(_mixed(seed.start + weyl), _mixed(seed.middle ^ weyl))


@inlined
def words(start, middle, counters):
    """Eight random words, from the two keys of the run of each lane, and counters times ``GOLDEN``."""
    z = start + counters
    z = (z ^ (z >> spread(np.uint64(27)))) * spread(_MIX_1)
    z = (z ^ (z >> spread(np.uint64(33))) ^ middle) * spread(_MIX_2)
    return z ^ (z >> spread(np.uint64(27)))


@inlined
def unit_interval(word):
    """Uniform in [0, 1), in steps of 2^-52."""
    return as_lanes((word >> spread(np.uint64(12))) | spread(_ONE)) - spread(1.0)


@inlined
def normal_pair(start, middle, counters):
    """Two vectors of independent standard normals; arguments as of ``words``."""
    first = words(start, middle, counters)
    second = (first ^ (first >> spread(np.uint64(31)))) * spread(_MIX_3)
    second = second ^ (second >> spread(np.uint64(32)))
    radius = square_root(spread(-2.0) * _log(spread(1.0) - unit_interval(first)))
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
    shifted = as_words(x) + spread(_ONE - _ROOT_HALF)
    exponent = as_lanes((shifted >> spread(np.uint64(52))) | spread(_TWO_52)) - spread(4503599627370496.0 + 1023.0)
    mantissa = as_lanes((shifted & spread(_MANTISSA)) + spread(_ROOT_HALF))  # from sqrt(1/2) to sqrt(2)
    s = (mantissa - spread(1.0)) / (mantissa + spread(1.0))
    square = s * s
    series = fused(square, spread(1 / 15), spread(1 / 13))
    series = fused(series, square, spread(1 / 11))
    series = fused(series, square, spread(1 / 9))
    series = fused(series, square, spread(1 / 7))
    series = fused(series, square, spread(1 / 5))
    series = fused(series, square, spread(1 / 3))
    series = fused(series, square, spread(1.0))
    return fused(exponent, spread(math.log(2)), spread(2.0) * s * series)
