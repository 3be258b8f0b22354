"""The results database: integer counts of finished pieces of work, in one SQLite file that survives a kill at any moment."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sql

from paretopick.errors import InvalidInput
from paretopick.paper.series import Series
from paretopick.simulation.results import TALLIES, ErrorCurve, Span
from paretopick.storage.dialects import sqlite_file

SCHEMA = 1
"""Kept in the file; a file with another number was written by another version of the package."""

metadata = sql.MetaData()
pieces = sql.Table(
    "pieces",
    metadata,
    sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("key", sql.String(32), nullable=False),
    sql.Column("seed", sql.BigInteger, nullable=False),
    sql.Column("instance", sql.String, nullable=False),
    sql.Column("policy", sql.String, nullable=False),
    sql.Column("options", sql.JSON, nullable=False),
    sql.Column("budget", sql.BigInteger, nullable=False),
    sql.Column("first_run", sql.BigInteger, nullable=False),
    sql.Column("last_run", sql.BigInteger, nullable=False),
    *(sql.Column(name, sql.BigInteger, nullable=False) for name in TALLIES),
    sql.Column("nanoseconds", sql.BigInteger, nullable=False),
    sql.UniqueConstraint("key", "seed", "budget", "first_run"),
)
"""A row holds runs ``first_run`` to ``last_run - 1`` at one budget; those of a budget follow each other without a gap."""


@dataclass(frozen=True)
class Point:
    """All runs of a series at one budget: their counts, as a curve of that budget alone, and how long they took."""

    curve: ErrorCurve
    seconds: float

    @property
    def budget(self) -> int:
        """Of these runs."""
        return self.curve.budgets[0]

    @property
    def runs(self) -> int:
        """How many there are."""
        return self.curve.runs


class ResultsDatabase:
    """The results database in a file, which is made if it is not there.

    Args:
        path: of the file.
        seed: of the runs that are read and added; runs of other seeds stay where they are.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self._seed = seed
        self._database = sqlite_file(path)
        with self._database.writing() as connection:
            found = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            if found == 0:
                metadata.create_all(connection)
                connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")
            elif found != SCHEMA:
                raise InvalidInput(
                    f"{path} holds results of another version of paretopick (layout {found}, this one writes {SCHEMA}); "
                    "name another folder, or move the file away."
                )

    def points(self, series: Series) -> dict[int, Point]:
        """Returns what is known of a series, by budget; budgets without any run are left out."""
        totals = [sql.func.sum(pieces.c[name]) for name in (*TALLIES, "nanoseconds")]
        query = (
            sql.select(pieces.c.budget, sql.func.max(pieces.c.last_run), *totals)
            .where(pieces.c.key == series.key, pieces.c.seed == self._seed, pieces.c.budget.in_(series.budgets))
            .group_by(pieces.c.budget)
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        found = {budget: (last, tallies, nanoseconds) for budget, last, *tallies, nanoseconds in rows}
        return {
            budget: Point(self._curve(series, budget, found[budget][0], found[budget][1]), found[budget][2] / 1e9)
            for budget in series.budgets
            if budget in found
        }

    def other_seeds(self) -> list[int]:
        """Returns the seeds of runs that are in the file and not looked at."""
        with self._database.reading() as connection:
            seeds = connection.execute(sql.select(pieces.c.seed).distinct().order_by(pieces.c.seed)).scalars()
            return [seed for seed in seeds if seed != self._seed]

    def instances(self) -> set[str]:
        """Returns the names of the bandits of which runs have been counted."""
        with self._database.reading() as connection:
            return set(connection.execute(sql.select(pieces.c.instance).distinct()).scalars())

    def add(self, series: Series, curve: ErrorCurve, nanoseconds: int) -> bool:
        """Keeps the counts of new runs, all or nothing; False if somebody else has counted such runs in the meantime.

        The time is shared out over the budgets by their pulls.
        """
        (span,) = curve.spans
        pulls = curve.tallies[:, TALLIES.index("pulls")]
        times = (nanoseconds * pulls / max(pulls.sum(), 1)).astype(np.int64)
        head = {"key": series.key, "seed": self._seed, "instance": curve.instance, "policy": series.policy}
        head |= {"options": dict(series.options), "first_run": span.first, "last_run": span.last}
        with self._database.writing() as connection:
            counted = _counted(connection, series.key, self._seed)
            if any(counted[budget] != span.first for budget in curve.budgets):
                return False
            connection.execute(
                sql.insert(pieces),
                [
                    {
                        **head,
                        "budget": budget,
                        **dict(zip(TALLIES, map(int, row), strict=True)),
                        "nanoseconds": int(time),
                    }
                    for budget, row, time in zip(curve.budgets, curve.tallies, times, strict=True)
                ],
            )
        return True

    def _curve(self, series: Series, budget: int, runs: int, tallies: Any) -> ErrorCurve:
        task = series.task
        return ErrorCurve(
            instance=task.bandit.name,
            digest=task.bandit.digest,
            policy=task.policy,
            options=task.options,
            scale=None,
            engine=series.engine,
            budgets=(budget,),
            tallies=np.array([tallies], dtype=np.int64),
            spans=(Span((self._seed,), 0, runs),),
        )


def _counted(connection: sql.Connection, key: str, seed: int) -> defaultdict[int, int]:
    """How many runs of a series there are at each budget."""
    query = sql.select(pieces.c.budget, sql.func.max(pieces.c.last_run)).where(pieces.c.key == key, pieces.c.seed == seed)
    return defaultdict(int, [tuple(row) for row in connection.execute(query.group_by(pieces.c.budget))])
