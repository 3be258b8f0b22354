"""What a database holds at one moment, row by row and as it is: for whoever checks it, or copies it elsewhere.

Nothing is changed here: a database of an older version is not brought up to date, only a copy of it.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sql

from paretopick._words import counted
from paretopick.errors import InvalidInput, StorageFailed
from paretopick.events import Lease
from paretopick.storage import IN_MEMORY, StorageChoice, address_of
from paretopick.storage.chain import FIELDS
from paretopick.storage.contract import PAGE, pages
from paretopick.storage.dialects import Database, SQLite, open_database, sqlite_file
from paretopick.storage.files import error_code, remedy
from paretopick.storage.schema import LAYOUT, bring_up_to_date, checkpoints, events, layout, leases, studies
from paretopick.storage.sql import SQLStorage, SQLTransaction, read_study
from paretopick.storage.statements import Rows, Statement, run

Moved = Callable[[float, float], None]
"""Is told how much is done, of how much."""

FAULTS = 20
"""The most that SQLite is asked to say about a damaged file."""

OLDER = (
    "{shown} was written by an older version of paretopick (layout {found}); open it once with this one, which brings it up to "
    "date: paretopick status does."
)
NEWER = "{shown} was written by a newer version of paretopick (layout {found}); install that one."


class Unreadable(StorageFailed):
    """Rows that the database itself cannot read."""


class StudyRow(NamedTuple):
    """What is stored of a study beside its events."""

    id: int
    token: str
    name: str
    definition: str
    created: float
    n_events: int
    head: str
    next_number: int
    clock: float


_STUDIES = sql.select(*(studies.c[field] for field in StudyRow._fields)).order_by(studies.c.id)
_STUDY = sql.bindparam("study", type_=sql.Integer)
_AFTER = sql.bindparam("after", type_=sql.Integer)
_EVENTS = (
    sql.select(*(events.c[field] for field in FIELDS), events.c.hash)
    .where(events.c.study_id == _STUDY, events.c.position > _AFTER)
    .order_by(events.c.position)
    .limit(PAGE)
)
_LEASES = (
    sql.select(*(leases.c[field] for field in Lease._fields))
    .where(leases.c.study_id == _STUDY, leases.c.number > _AFTER)
    .order_by(leases.c.number)
    .limit(PAGE)
)
_CHECKPOINT = sql.select(checkpoints.c.position, checkpoints.c.head, checkpoints.c.state, checkpoints.c.hash).where(
    checkpoints.c.study_id == _STUDY
)
_BEFORE_ALL = -(2**31)


class Records:
    """The rows of a database, in one transaction that reads.

    Args:
        database: that holds them.
        connection: of the transaction.
        empty: whether there is not even a table.
    """

    def __init__(self, database: Database, connection: sql.Connection, *, empty: bool = False) -> None:
        self.shown, self.path = database.shown, database.path
        self.empty = empty
        self.is_file = isinstance(database, SQLite)
        self._database, self._connection = database, connection

    def studies(self) -> list[StudyRow]:
        """Returns the rows of all studies."""
        return [] if self.empty else [StudyRow(*row) for row in self._ask(Statement(_STUDIES, {}))]

    def events(self, study: int) -> Iterator[Rows]:
        """Yields the events of a study in their order, a page at a time: what the chain is over, and the hash."""
        return self._pages(_EVENTS, study)

    def leases(self, study: int) -> Iterator[Rows]:
        """Yields the leases of a study by number, a page at a time."""
        return self._pages(_LEASES, study)

    def checkpoint(self, study: int) -> tuple[Any, ...] | None:
        """Returns position, head, state and hash of a checkpoint, None if there is none."""
        found = self._ask(Statement(_CHECKPOINT, {"study": study}))
        return found[0] if found else None

    def hash_at(self, study: int, position: int) -> str | None:
        """Returns the hash of an event, None if it is not there."""
        return hash_at(self._connection, study, position)

    def verify(self, study: StudyRow, followed: Callable[[int], None]) -> None:
        """Raises ``LogDamaged`` if the events of a study do not follow from each other, ``Unreadable`` if a file has lost them.

        Args:
            study: its row.
            followed: is told how many more events are right.
        """
        transaction = SQLTransaction(self._database, self._connection, read_study(study[:5]), locked=False)
        try:
            for page in pages(transaction):
                followed(len(page))
        except sql.exc.DBAPIError as problem:
            if not self.is_file:
                raise
            raise Unreadable(str(problem.orig)) from problem

    def faults(self) -> list[str]:
        """Returns what the database says about its own damage; a server does not say."""
        if not self.is_file:
            return []
        driver = _driver(self._connection)
        try:
            said = [str(row[0]) for row in driver.execute(f"PRAGMA integrity_check({FAULTS})")]
            strays: dict[tuple[str, str], int] = {}
            for table, _, parent, _ in driver.execute("PRAGMA foreign_key_check"):
                strays[table, parent] = strays.get((table, parent), 0) + 1
        except sqlite3.Error as problem:
            return [str(problem)]
        lost = [f"{table} has {counted(n, 'row')} of which {parent} knows nothing" for (table, parent), n in strays.items()]
        return [line for line in said if line != "ok"] + lost

    def copy_file(self, path: str, moved: Moved | None = None) -> None:
        """Copies a whole SQLite file as it is at this moment, whoever writes meanwhile."""
        try:
            with closing(sqlite3.connect(path)) as target:
                advance = None if moved is None else lambda _, left, total: moved(total - left, total)
                _driver(self._connection).backup(target, pages=1000, progress=advance)
                target.execute("PRAGMA journal_mode = DELETE")  # one file, which can be read where nobody may write
        except sqlite3.Error as problem:
            # A full disk is that of the copy; whatever else is wrong is wrong with what is copied.
            place = path if error_code(problem) == sqlite3.SQLITE_FULL else self.path or ""
            helps = remedy(problem, place) or "nothing was changed"
            raise StorageFailed(f"{self.shown} cannot be copied: {problem}; {helps}.") from problem

    def _pages(self, query: sql.Select[Any], study: int) -> Iterator[Rows]:
        after: Any = _BEFORE_ALL
        while page := self._ask(Statement(query, {"study": study, "after": after})):
            yield page
            after = page[-1][0]

    def _ask(self, statement: Statement) -> Rows:
        try:
            return run(self._connection, [statement])[0]
        except sql.exc.DBAPIError as problem:
            if not self.is_file:  # after which a server answers nothing more
                raise
            raise Unreadable(str(problem.orig)) from problem


@contextmanager
def open_records(storage: StorageChoice = None) -> Iterator[Records]:
    """What a storage holds at this moment; refuses one in memory."""
    database = _database(storage)
    with database.reading() as connection:
        found = layout(connection)
        if found in (None, LAYOUT):
            yield Records(database, connection, empty=found is None)
            connection.rollback()  # a damaged file may refuse to end with anything else
            return
        if not _is_older(found):
            raise InvalidInput(NEWER.format(shown=database.shown, found=found))
        if not isinstance(database, SQLite):
            raise InvalidInput(OLDER.format(shown=database.shown, found=found))
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy.db")
            Records(database, connection).copy_file(copy)
            with _brought_up_to_date(Path(copy), database) as records:
                yield records


@contextmanager
def open_file(path: str | os.PathLike[str]) -> Iterator[Records]:
    """What an SQLite file of this layout holds."""
    database = sqlite_file(Path(path))
    with database.reading() as connection:
        yield Records(database, connection)


@contextmanager
def _brought_up_to_date(copy: Path, original: Database) -> Iterator[Records]:
    database = sqlite_file(copy)
    try:
        bring_up_to_date(database)
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        raise StorageFailed(
            f"{original.shown} was written by an older version of paretopick and is damaged: {problem!r}."
        ) from problem
    with database.reading() as connection:
        records = Records(database, connection)
        records.shown, records.path = original.shown, original.path
        yield records


def _is_older(found: str | None) -> bool:
    return str(found) < LAYOUT


def _database(storage: StorageChoice) -> Database:
    """The database of a storage; a file is not set up for anything, nor brought up to date."""
    if isinstance(storage, SQLStorage):
        return storage.database
    if storage is not None and not isinstance(storage, str | os.PathLike):
        raise _not_kept(getattr(storage, "shown", repr(storage)))
    address = address_of(storage)
    if IN_MEMORY.fullmatch(address):
        raise _not_kept(address)
    return open_database(address, new=False, shared=False)


def _not_kept(shown: str) -> InvalidInput:
    return InvalidInput(f"storage {shown} is in memory, where nothing is kept; name a file, or give the address of a database.")


def _driver(connection: sql.Connection) -> Any:
    return connection.connection.driver_connection


def hash_at(connection: sql.Connection, study: int, position: int) -> str | None:
    """Returns the hash of an event, None if it is not there."""
    query = sql.select(events.c.hash).where(events.c.study_id == study, events.c.position == position)
    return connection.execute(query).scalar()
