"""Counts of our choice: in a results database, or in none."""

from dataclasses import replace

import numpy as np

from paretopick.paper.database import Point, ResultsDatabase
from paretopick.paper.entries import Results
from paretopick.simulation.results import TALLIES, ErrorCurve, Span


def counted(series, *, budgets=None, first=0, last=1000, seed=0, **totals):
    """A curve of a series with these totals, one for all budgets or one for each; 0 where none is given."""
    budgets = series.budgets if budgets is None else budgets
    columns = [np.broadcast_to(totals.get(name, 0), len(budgets)) for name in TALLIES]
    return ErrorCurve(
        instance=series.bandit.name,
        digest=series.bandit.digest,
        policy=series.policy,
        options=series.task.options,
        scale=None,
        engine="compiled",
        budgets=tuple(budgets),
        tallies=np.column_stack(columns).astype(np.int64),
        spans=(Span((seed,), first, last),),
    )


def a_database(folder, seed=0):
    return ResultsDatabase(folder / "results.db", seed)


class EnteredResults(Results):
    """Results that are entered one by one, without a database."""

    def __init__(self, data):
        super().__init__(None, data)
        self._entered = {}

    def enter(self, series, *, budgets=None, seconds=1.0, **totals):
        """Counts runs of a series; see ``counted``."""
        every = counted(series, budgets=budgets, **totals)
        for i, budget in enumerate(every.budgets):
            curve = replace(every, budgets=(budget,), tallies=every.tallies[i : i + 1])
            before = self._entered.get((series.key, budget))
            self._entered[series.key, budget] = Point(curve if before is None else before.curve + curve, seconds)

    def points(self, series):
        return [self._entered[series.key, budget] for budget in series.budgets if (series.key, budget) in self._entered]

    def clear(self):
        self._entered.clear()
