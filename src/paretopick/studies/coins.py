"""Metrics that are 0 or 1, as whether a test passed: where nobody can see whether chance has a part in them."""

from __future__ import annotations

from paretopick._words import probability

SURE = 0.95
"""So sure is it that a chance is no further from 1 than is said."""


def taken_for_coins(metric: str, repeats: int) -> str:
    """Returns what to say of a metric that is not exact and was 0 or 1, the same in all repeats of each option.

    Measurements of it are taken for flips of a coin, which may still fall on its other side: after n flips that were alike the
    chance of such a one is Beta(n + 1/2, 1/2) distributed.

    Args:
        metric: its name.
        repeats: of the option that has the most.

    >>> print(taken_for_coins("passed", 15))
    'passed' was 0 or 1, the same in all repeats of an option, and is taken for the flips of a coin: 15 alike leave open that \
only 88% are. If repeats cannot differ, declare it exact, exact=['passed'], and the others decide.
    """
    from scipy.special import betaincinv  # which takes a moment to import

    least = float(betaincinv(repeats + 0.5, 0.5, 1.0 - SURE))
    return (
        f"{metric!r} was 0 or 1, the same in all repeats of an option, and is taken for the flips of a coin: {repeats:,} alike "
        f"leave open that only {probability(least)} are. If repeats cannot differ, declare it exact, exact=[{metric!r}], and the "
        "others decide."
    )
