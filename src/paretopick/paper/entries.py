"""What an entry of the catalogue is, and what entries of all kinds say about points and instances."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from paretopick import plots
from paretopick.bandits import Bandit, Bernoulli, Gaussian
from paretopick.paper.evidence import Evidence
from paretopick.paper.ledger import Point
from paretopick.paper.series import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Entry(ABC):
    """One figure or table of the paper.

    Args:
        name: of its files.
        place: in the paper.
        title: above the figure.
        instances: what it is about; without their data the entry is left out.
        guesses: where the paper leaves the setting open, what was chosen.
    """

    name: str
    place: str
    title: str
    instances: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()

    @property
    def shareable(self) -> bool:
        """Whether its data may be passed on; the means of an instance whose file is not shipped may not."""
        return True

    def series(self, evidence: Evidence) -> list[Series]:
        """The runs it needs."""
        return []

    @abstractmethod
    def rows(self, evidence: Evidence) -> Rows:
        """Its data, one flat record per row of the CSV file."""

    @property
    def draws(self) -> bool:
        """Whether it is a figure and not a table."""
        return type(self).draw is not Entry.draw

    def draw(self, evidence: Evidence) -> Figure | None:
        """The figure; a table has none."""
        return None


Counted = Literal["errors", "relaxed_losses"]
"""Counts that rates with intervals are made of."""


def point_row(point: Point) -> dict[str, Any]:
    """Returns a point as a row of a CSV file: counts, error rate, interval, and the log that the figures show."""
    (row,) = point.curve.rows()
    return {**row, "log10_rate": math.log10(row["rate"]) if row["rate"] else None}


def loss_row(point: Point) -> dict[str, Any]:
    """Returns a point as a row of a CSV file that is about the PSI-k loss."""
    (row,) = point.curve.rows()
    rate, low, high = rate_and_interval(point, "relaxed_losses")
    errors = ("rate", "low", "high", "upper_limit")
    losses = {"loss_rate": rate, "loss_low": low, "loss_high": high, "loss_upper_limit": None if rate else high}
    log = math.log10(rate) if rate else None
    return {**{key: cell for key, cell in row.items() if key not in errors}, **losses, "log10_loss_rate": log}


def rate_and_interval(point: Point, of: Counted = "errors") -> tuple[float, float, float]:
    """Returns a rate and its 95% Wilson interval."""
    low, high = point.curve.interval(of=of)[0]
    return int(getattr(point.curve, of)[0]) / point.runs, float(low), float(high)


def line_of(label: str, points: Sequence[Point], colour: str, dash: str, marker: str, of: Counted = "errors") -> plots.Line:
    """Returns points as a line that can be drawn."""
    numbers = np.array([(point.budget, *rate_and_interval(point, of)) for point in points]).reshape(-1, 4)
    budgets, rate, low, high = numbers.T
    return plots.Line(label, budgets, rate, low, high, colour, dash, marker)


def setting(bandit: Bandit) -> str:
    """Returns one line on an instance."""
    size = f"K = {bandit.n_arms}, D = {bandit.n_objectives}, |S*| = {int(bandit.optimal.sum())}"
    return f"{size}, {noise_of(bandit)}"


def noise_of(bandit: Bandit) -> str:
    """Returns the kind of noise, with its standard deviation or those of all objectives."""
    if isinstance(bandit.noise, Bernoulli):
        return "Bernoulli noise"
    assert isinstance(bandit.noise, Gaussian)
    widths = [f"{width:.3g}" for width in np.atleast_1d(np.asarray(bandit.noise.std, dtype=np.float64))]
    return f"Gaussian noise, sigma = {', '.join(widths)}"


def numbers_of_runs(points: Sequence[Point]) -> str:
    """Returns how many runs there are at each point."""
    numbers = sorted({point.runs for point in points})
    return "N = " + (f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}")
