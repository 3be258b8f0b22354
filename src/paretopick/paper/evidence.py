"""What is known: the bandits of the study, and the runs that have been counted."""

from __future__ import annotations

import os
from functools import cache

from paretopick.bandits import Bandit
from paretopick.errors import MissingFile
from paretopick.instances import FROM_FILE, instance
from paretopick.paper.contestants import Contestant
from paretopick.paper.ledger import Ledger, Point
from paretopick.paper.series import Series

GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""The budgets of every curve as parts of the paper's, which does not say which ones it used."""


class Evidence:
    """Gives out bandits by name, the series of the contestants on them, and what the ledger has counted of any series.

    Args:
        ledger: the results database.
        data: the file of the sorting networks; None looks at the environment variable.
    """

    def __init__(self, ledger: Ledger, data: str | os.PathLike[str] | None = None) -> None:
        self.ledger = ledger
        self._data = data
        self.bandit = cache(self._bandit)
        self.contest = cache(self._contest)
        self.has = cache(self._has)

    def points(self, series: Series) -> list[Point]:
        """Returns what has been counted, one point per budget; none if nothing has."""
        return list(self.ledger.points(series).values())

    def final(self, instance: str, contestant: Contestant) -> Point | None:
        """Returns what has been counted of a contestant at the paper's budget, None if nothing has or the data is not at hand."""
        if not self.has(instance):
            return None
        series = self.contest(instance, contestant)
        return self.ledger.points(series).get(self.bandit(instance).budget or 0)

    def _bandit(self, name: str) -> Bandit:
        return instance(name, path=self._data if name in FROM_FILE else None)

    def _has(self, name: str) -> bool:
        """Whether an instance can be made: the data of some is not shipped."""
        try:
            self.bandit(name)
        except MissingFile:
            return False
        return True

    def _contest(self, name: str, contestant: Contestant) -> Series:
        bandit = self.bandit(name)
        return contestant.series(bandit, budgets_up_to(bandit.budget or 0))


def budgets_up_to(budget: int) -> tuple[int, ...]:
    """Returns the budgets of a curve that ends at the paper's.

    >>> budgets_up_to(2543)
    (254, 509, 763, 1017, 1272, 1526, 2034, 2543)
    """
    return tuple(round(budget * part) for part in GRID)
