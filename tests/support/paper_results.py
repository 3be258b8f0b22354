"""Ledgers with counts of our choice."""

import numpy as np

from paretopick.paper.ledger import Ledger
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


def a_ledger(folder, seed=0):
    return Ledger(folder / "results.db", seed)
