"""Random words by counter: every word is a function of (seed, run, counter), computed where it is used.

Results then do not depend on threads, on how runs are cut into pieces, or on what was drawn before. A word is the counter on the
Weyl sequence of the golden ratio (Steele, Lea and Flood 2014, SplitMix), mixed by P. Evensen's *moremur* with a second key of the
run in its middle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.vectors import as_lanes, spread

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0x3C79AC492BA7B653), np.uint64(0x1C69B3F74AC4AE35)
ONE = np.uint64(0x3FF0000000000000)
"""The bits of 1.0."""


class Key(NamedTuple):
    """What the random numbers of one run depend on, besides their counter."""

    start: np.uint64
    middle: np.uint64


class Runs(NamedTuple):
    """The runs ``first`` to ``last - 1`` of a seed."""

    seed: Key
    first: int
    last: int


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
    return as_lanes((word >> spread(np.uint64(12))) | spread(ONE)) - spread(1.0)
