"""What the data resolve: up to which differences an answer is right, where nobody has said which ones matter.

That the exact set is right is often improbable, and no number of measurements helps against a tie. With margins that are the same
multiple of the noise in every metric, the answer is right within them from some multiple on: that is how far the data see.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._words import joined
from paretopick.metrics import Metric

AT_ONCE = 1 << 21
"""Pairs that are looked at together."""


@dataclass(frozen=True)
class Resolution:
    """Up to which differences an answer is right, with a probability of ``level``."""

    level: float
    factor: float
    """The margins in units of the noise of one measurement."""
    widths: dict[str, float]
    """By metric with a goal: the differences in its unit; of metrics that are compared as logarithms the share, 0.02 for 2%. 0
    for exact metrics."""
    text: str
    """In words: ``0.8 ms in seconds and 40 kB in size``; empty if the answer is right as it is."""

    @property
    def sentence(self) -> str:
        """What it says, without a full stop."""
        if not self.text:
            return f"right, however small the differences, with {percent_of(self.level)}"
        return f"right up to differences of {self.text}, with {percent_of(self.level)}"


def percent_of(level: float) -> str:
    """Returns a level as people write it.

    >>> percent_of(0.95), percent_of(0.999)
    ('95%', '99.9%')
    """
    return f"{level * 100:.10g}%"


def resolution_of(
    draws: FloatArray, answer: BoolArray, noise: FloatArray, limits: FloatArray, metrics: Sequence[Metric], level: float
) -> Resolution | None:
    """Returns up to which differences an answer is right; None if limits are so much in doubt that none would do.

    Args:
        draws: ``(n_draws, n_options, n_metrics)`` of what the true means may be, as they are compared, larger is better.
        answer: ``(n_options,)``
        noise: ``(n_metrics,)`` standard deviations of one measurement, likewise; 0 where a metric is exact.
        limits: ``(n_metrics,)`` the least that options must have, -inf where there is no limit.
        metrics: of which they are the means.
        level: in which share of the draws it must be right.
    """
    factors = np.sort(factors_in_each(draws, answer, noise, limits, np.array([metric.compared for metric in metrics])))
    factor = float(factors[min(math.ceil(level * len(factors)) - 1, len(factors) - 1)])
    if not math.isfinite(factor):
        return None
    widths, text = in_units(factor * noise, metrics)
    return Resolution(level, factor, widths, text)


def in_units(differences: FloatArray, metrics: Sequence[Metric]) -> tuple[dict[str, float], str]:
    """Returns differences as people know them, by metric with a goal, and in words: see ``Resolution.widths`` and ``text``.

    Args:
        differences: ``(n_metrics,)`` as means are compared.
        metrics: in which they are.
    """
    compared = [(metric, width) for metric, width in zip(metrics, differences.tolist(), strict=True) if metric.compared]
    widths = {metric.name: float(metric.apart(width)) for metric, width in compared}
    return widths, joined([f"{metric.difference_text(width)} in {metric.name}" for metric, width in compared if width])


def factors_in_each(
    draws: FloatArray, answer: BoolArray, noise: FloatArray, limits: FloatArray, compared: BoolArray
) -> FloatArray:
    """Returns, for each draw, from which multiple of the noise on margins make the answer right; infinite if none does.

    A member i is outdone by j as long as the margins are at most ``min_d (x_j - x_i) / noise``; one outside is covered as soon as
    they are at least ``min_j max_d (x_i - x_j) / noise`` over the members j.
    """
    able: BoolArray = np.asarray((draws >= limits).all(axis=2))
    factors = np.where((able | ~answer).all(axis=1), 0.0, np.inf)
    n_options, step = len(answer), max(1, AT_ONCE // len(answer) ** 2)
    places: IntArray = np.flatnonzero(compared).astype(np.int64)
    inside, outside = np.flatnonzero(answer), np.flatnonzero(~answer)
    for start in range(0, len(draws), step):
        some = slice(start, start + step)
        x, can = draws[some], able[some]
        worst = np.zeros(len(x))
        if len(inside) and n_options > 1:
            ahead = _ahead(x, x[:, inside], noise, places)  # of each other option over each member
            ahead[~can] = -np.inf
            ahead[:, inside, np.arange(len(inside))] = -np.inf
            worst = np.maximum(worst, ahead.max(axis=(1, 2)))
        if len(outside):
            behind = -_ahead(x[:, inside], x[:, outside], noise, places, covering=True)
            nearest = behind.min(axis=1) if len(inside) else np.full((len(x), len(outside)), np.inf)
            worst = np.maximum(worst, np.where(can[:, outside], nearest, -np.inf).max(axis=1))
        factors[some] = np.maximum(factors[some], worst)
    return factors


def _ahead(rows: FloatArray, columns: FloatArray, noise: FloatArray, places: IntArray, *, covering: bool = False) -> FloatArray:
    """``[draw, j, i]``: by how many times the noise row j is ahead of column i at least, over all metrics that are compared.

    In exact metrics, and those that never varied, no multiple of the noise makes up for a difference, and a tie costs nothing.
    """
    least = np.full((rows.shape[0], rows.shape[1], columns.shape[1]), np.inf)
    strictly = np.zeros(least.shape, dtype=np.bool_)
    for d in places.tolist():
        apart = rows[:, :, None, d] - columns[:, None, :, d]
        strictly |= apart > 0
        if noise[d] > 0:
            np.minimum(least, apart / noise[d], out=least)
        else:
            least[apart < 0] = -np.inf
    if not covering:
        least[~strictly] = -np.inf  # twins do not outdo each other
    return least
