"""Constants and scalar functions of ``doubt``: the policy runs them as they are, and the kernels compile the same ones."""

from __future__ import annotations

import math

PRIOR = 30.0
"""How many measurements the mean of all arms' variances counts for, beside those of an arm itself."""

OVERTAKEN = 2.0
"""Odds above which one of the front is left out of the answer."""

MOST = 8.0
"""How much more often than by toss-ups arms of the front are thought to dominate each other, at most."""

SINGLE = 64
"""An arm with fewer pulls is pulled one at a time."""


def missing(count: int) -> int:
    """Returns how many pulls an arm with ``count`` of them lacks until its turn ends.

    Turns end at multiples of 2 from 64 pulls on, of 4 from 128 on, of 8 from 256 on, and so forth: a turn adds at most a
    thirty-second to what is known.
    """
    step = 1
    while count >= SINGLE * step:
        step *= 2
    return -count % step


def on_grid(value: float) -> float:
    """Returns the nearest power of the square root of 2, and 0 for what is not positive."""
    if value <= 0.0:
        return 0.0
    mantissa, exponent = math.frexp(value)
    if mantissa < 0.5946035575013605:
        return math.ldexp(0.5, exponent)
    return math.ldexp(0.7071067811865476 if mantissa < 0.8408964152537145 else 1.0, exponent)


def base_factor(n_arms: int, n_objectives: int, n_pairs: float) -> float:
    """Returns F: how much more often arms are above each other than if every difference were as likely positive as negative.

    Args:
        n_arms: how many there are.
        n_objectives: in which they are compared.
        n_pairs: of which one is above the other at the estimated means.
    """
    flat = 0.5 ** min(n_objectives, 60)
    share = min(0.5, (n_pairs + n_arms * flat) / (float(n_arms) * float(n_arms)))
    return max(1.0, (share / (1.0 - share)) / (flat / (1.0 - flat)))


def front_factor(size: int, n_objectives: int, above: float) -> float:
    """Returns the same for pairs of a front, of which one is above the other, or the other above the one, or neither.

    Args:
        size: how many are in the front, at least two.
        n_objectives: in which they are compared, at least two.
        above: the sum over all ordered pairs of how likely one is above the other.
    """
    flat = 0.5 ** min(n_objectives, 60)
    share = min(0.49, (above + flat) / (size * (size - 1.0) + 1.0))
    return min(MOST, max(1.0, (share / (1.0 - 2.0 * share)) / (flat / (1.0 - 2.0 * flat))))


def balance(some: float, rest: float) -> float:
    """Returns what events of arms outside the answer weigh; those of the others weigh the inverse: who has got less weighs more.

    Args:
        some: the sum of the square roots of the pulls of arms that are thought to belong to the answer.
        rest: the same of the others.
    """
    little = 0.02 * (some + rest)
    return math.sqrt((some + little) / (rest + little))
