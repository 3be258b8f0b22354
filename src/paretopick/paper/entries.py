"""What an entry of the catalogue is, the results that it reads, and what entries of all kinds say about them."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from paretopick import plots
from paretopick._arrays import check_choice
from paretopick.bandits import Bandit, Bernoulli, Gaussian
from paretopick.errors import MissingFile
from paretopick.instances import FROM_FILE, INSTANCES, instance
from paretopick.paper.database import Point, ResultsDatabase
from paretopick.paper.series import Algorithm, Look, Series, affordable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = list[dict[str, Any]]

GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""The budgets of every curve as parts of the paper's, which does not say which ones it used."""


class Results:
    """Gives out bandits by name, the series of the algorithms on them, and what has been counted of any series.

    Args:
        database: the results database.
        data: the file of the sorting networks; None looks at the environment variable.
    """

    def __init__(self, database: ResultsDatabase, data: str | os.PathLike[str] | None = None) -> None:
        self.database = database
        self._data = data
        self._read: dict[tuple[str, tuple[int, ...]], list[Point]] = {}
        self.bandit = cache(self._bandit)
        self.curve = cache(self._curve)
        self.relaxed = cache(self._relaxed)
        self.has = cache(self._has)

    def points(self, series: Series) -> list[Point]:
        """Returns what has been counted, one point per budget; none if nothing has."""
        key = (series.key, series.budgets)
        if key not in self._read:
            self._read[key] = list(self.database.points(series).values())
        return self._read[key]

    def read_again(self) -> None:
        """Forgets what was read: there may be more runs now."""
        self._read.clear()

    def final(self, instance: str, algorithm: Algorithm) -> Point | None:
        """Returns what has been counted of an algorithm at the paper's budget, None if nothing has or the data is not at hand."""
        if not self.has(instance):
            return None
        points = self.points(self.curve(instance, algorithm))
        return next((point for point in points if point.budget == self.bandit(instance).budget), None)

    def _bandit(self, name: str) -> Bandit:
        return instance(check_choice(name, INSTANCES, "instance"), path=self._data if name in FROM_FILE else None)

    def _has(self, name: str) -> bool:
        """Whether an instance can be made: the data of some is not shipped."""
        try:
            self.bandit(name)
        except MissingFile:
            return False
        return True

    def _curve(self, name: str, algorithm: Algorithm) -> Series:
        """The runs of an algorithm on an instance, up to the paper's budget."""
        bandit = self.bandit(name)
        return algorithm.series(bandit, budgets_up_to(bandit.budget or 0))

    def _relaxed(self, name: str, k: int, *, at_the_end: bool = False) -> Series:
        """The runs of EGE-SR-k, with the hypervolume that they found: up to the paper's budget, or with that one only."""
        bandit, options = self.bandit(name), {"max_arms": k}
        budgets = (bandit.budget or 0,) if at_the_end else budgets_up_to(bandit.budget or 0)
        return Series(bandit, "ege-sr-k", options, affordable(bandit, "ege-sr-k", options, budgets), hypervolume=True)


def budgets_up_to(budget: int) -> tuple[int, ...]:
    """Returns the budgets of a curve that ends at the paper's.

    >>> budgets_up_to(2543)
    (254, 509, 763, 1017, 1272, 1526, 2034, 2543)
    """
    return tuple(round(budget * part) for part in GRID)


@dataclass(frozen=True)
class Entry(ABC):
    """One figure or table.

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

    def series(self, results: Results) -> list[Series]:
        """The runs it needs."""
        return []

    @abstractmethod
    def rows(self, results: Results) -> Rows:
        """Its data, one flat record per row of the CSV file."""

    @property
    def draws(self) -> bool:
        """Whether it is a figure and not a table."""
        return type(self).draw is not Entry.draw

    def draw(self, results: Results) -> Figure | None:
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


def line_of(label: str, points: Sequence[Point], look: Look, of: Counted = "errors") -> plots.Line:
    """Returns points as a line that can be drawn."""
    numbers = np.array([(point.budget, *rate_and_interval(point, of)) for point in points]).reshape(-1, 4)
    budgets, rate, low, high = numbers.T
    return plots.Line(label, budgets, rate, low, high, *look)


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
