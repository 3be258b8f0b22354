"""Studies in a database, SQLite or PostgreSQL: a table of studies, one of events, one of leases, one of checkpoints.

Layouts are changed by the migrations in ``storage/migrations``, which run when a database is opened.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from paretopick.errors import InvalidInput, StorageFailed
from paretopick.events import Event, Lease
from paretopick.storage.contract import GONE, StoredStudy, check_study
from paretopick.storage.dialects import Database, Taken, open_database

LAYOUT = "0001"
"""The newest migration: the layout that this version reads and writes."""

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = "paretopick_version"

_migrating = threading.Lock()
metadata = sql.MetaData()
_json = sql.JSON(none_as_null=True)

studies = sql.Table(
    "paretopick_studies",
    metadata,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("name", sql.Text, nullable=False, unique=True),
    sql.Column("definition", _json, nullable=False),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("n_events", sql.Integer, nullable=False),
    sql.Column("next_number", sql.Integer, nullable=False),
)


def _study_id() -> sql.Column[int]:
    return sql.Column("study_id", sql.Integer, sql.ForeignKey("paretopick_studies.id", ondelete="CASCADE"), primary_key=True)


events = sql.Table(
    "paretopick_events",
    metadata,
    _study_id(),
    sql.Column("position", sql.Integer, primary_key=True),
    sql.Column("kind", sql.String(16), nullable=False),
    sql.Column("number", sql.Integer),
    sql.Column("arm", sql.Integer),
    sql.Column("round", sql.Integer),
    sql.Column("measured", _json),
    sql.Column("details", _json),
    sql.Column("worker", sql.Text),
    sql.Column("at", sql.Double, nullable=False),
)
"""Appended, never changed; positions are 1 to ``n_events``."""

leases = sql.Table(
    "paretopick_leases",
    metadata,
    _study_id(),
    sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("arm", sql.Integer, nullable=False),
    sql.Column("round", sql.Integer, nullable=False),
    sql.Column("worker", sql.Text, nullable=False),
    sql.Column("expires", sql.Double),
    sql.Column("withdrawn", sql.Boolean, nullable=False),
)
"""Measurements that are out with a worker. One that is withdrawn is no longer waited for, but welcome."""

checkpoints = sql.Table(
    "paretopick_checkpoints",
    metadata,
    _study_id(),
    sql.Column("state", _json, nullable=False),
)
"""What follows from the events up to some position, so that opening a long study need not replay them all; can be deleted."""

sql.Index("paretopick_events_number", events.c.study_id, events.c.number)
sql.Index(
    "paretopick_told_once",
    events.c.study_id,
    events.c.number,
    unique=True,
    sqlite_where=events.c.kind == "told",
    postgresql_where=events.c.kind == "told",
)


# Statements are put together once: SQLAlchemy takes longer for that than SQLite for carrying them out.
_STUDY = sql.bindparam("study", type_=sql.Integer)
_NUMBER = sql.bindparam("a_number", type_=sql.Integer)
_NUMBERS: sql.BindParameter[Any] = sql.bindparam("numbers", expanding=True)
_EVENTS = sql.select(*(events.c[field] for field in Event._fields)).where(events.c.study_id == _STUDY).order_by(events.c.position)
_EVENTS_AFTER = _EVENTS.where(events.c.position > sql.bindparam("after", type_=sql.Integer))
_LEASES = sql.select(*(leases.c[field] for field in Lease._fields)).where(leases.c.study_id == _STUDY).order_by(leases.c.number)
_LEASE = _LEASES.where(leases.c.number == _NUMBER)
_DROP_LEASE = sql.delete(leases).where(leases.c.study_id == _STUDY, leases.c.number == _NUMBER)
_DROP_LEASES = sql.delete(leases).where(leases.c.study_id == _STUDY, leases.c.number.in_(_NUMBERS))
_CHANGE_LEASES = sql.update(leases).where(leases.c.study_id == _STUDY, leases.c.number.in_(_NUMBERS))
_COUNTERS = sql.select(studies.c.n_events, studies.c.next_number).where(studies.c.id == _STUDY)
_COUNTERS_LOCKED = _COUNTERS.with_for_update()
_SET_COUNTERS = (
    sql.update(studies)
    .where(studies.c.id == _STUDY)
    .values(n_events=sql.bindparam("n_events"), next_number=sql.bindparam("next_number"))
)
_CHECKPOINT = sql.select(checkpoints.c.state).where(checkpoints.c.study_id == _STUDY)


class SQLStorage:
    """A database that holds studies; its tables are made or brought up to date when it is opened.

    Args:
        address: ``sqlite:///file.db``, ``postgresql://user@host/database``, or the path of an SQLite file.
        new: whether an SQLite file is made if it is not there.
    """

    def __init__(self, address: str | os.PathLike[str], *, new: bool = True) -> None:
        self._database = open_database(address, new=new)
        self.shown = self._database.shown
        """The URL without its password."""
        try:
            _bring_up_to_date(self._database)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the connections; they are opened again when needed."""
        self._database.close()

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""
        with self._database.reading() as connection:
            return sorted(connection.execute(sql.select(studies.c.name)).scalars())

    def create(self, name: str, definition: Mapping[str, Any]) -> StoredStudy | None:
        """Keeps a new study; None if the name is taken."""
        created = time.time()
        row = {"name": name, "definition": definition, "created": created, "n_events": 0, "next_number": 1}
        try:
            with self._database.writing() as connection:
                key = connection.execute(sql.insert(studies).values(row).returning(studies.c.id)).scalar_one()
        except Taken:
            return None
        return StoredStudy(key, name, definition, created)

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name."""
        with self._database.reading() as connection:
            query = sql.select(*(studies.c[field] for field in StoredStudy._fields)).where(studies.c.name == name)
            found = connection.execute(query).one_or_none()
        if found is not None:
            return StoredStudy(*found)
        check_study(name, self.names(), self.shown)
        return self.find(name)  # it has just been created

    def delete(self, name: str) -> None:
        """Removes a study with all that belongs to it."""
        study = self.find(name)
        with self._database.writing() as connection:
            for table in (checkpoints, leases, events):
                connection.execute(sql.delete(table).where(table.c.study_id == study.id))
            connection.execute(sql.delete(studies).where(studies.c.id == study.id))

    @contextlib.contextmanager
    def reading(self, study_id: int) -> Iterator[SQLTransaction]:
        """A transaction that sees one state of a study and waits for nobody."""
        with self._database.reading() as connection:
            yield SQLTransaction(self._database, connection, study_id, _COUNTERS)

    @contextlib.contextmanager
    def writing(self, study_id: int) -> Iterator[SQLTransaction]:
        """A transaction that nobody else can write to the study beside: on PostgreSQL its row is locked."""
        with self._database.writing() as connection:
            transaction = SQLTransaction(self._database, connection, study_id, _COUNTERS_LOCKED)
            yield transaction
            transaction.flush()


class SQLTransaction:
    """What can be read of a study, and written if it is locked, at one moment."""

    def __init__(self, database: Database, connection: sql.Connection, study_id: int, counters: sql.Select[Any]) -> None:
        self._connection = connection
        self._study = {"study": study_id}
        found = connection.execute(counters, self._study).one_or_none()
        if found is None:
            raise StorageFailed(GONE)
        self.n_events, self.next_number = self._stored = tuple(found)
        self.appended: list[Event] = []
        """Events that this transaction has added so far."""
        self.now = database.now(connection)
        """After the lock was waited for."""

    def events(self, *, after: int = 0, number: int | None = None, kind: str | None = None) -> list[Event]:
        """Returns events in their order: those after a position, of one measurement, of one kind."""
        query = _EVENTS_AFTER
        if number is not None:
            query = query.where(events.c.number == number)
        if kind is not None:
            query = query.where(events.c.kind == kind)
        return list(map(Event._make, self._connection.execute(query, self._study | {"after": after})))

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at their positions and with the time."""
        added = [event._replace(position=self.n_events + i, at=self.now) for i, event in enumerate(new, start=1)]
        if added:
            self._connection.execute(sql.insert(events), self._rows(added))
            self.n_events += len(added)
            self.appended += added

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""
        first, self.next_number = self.next_number, self.next_number + n
        return range(first, self.next_number)

    def leases(self) -> list[Lease]:
        """Returns what is out, by number."""
        return list(map(Lease._make, self._connection.execute(_LEASES, self._study)))

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out."""
        found = self._connection.execute(_LEASE, self._study | {"a_number": number}).one_or_none()
        return None if found is None else Lease._make(found)

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""
        if rows := self._rows(new):
            self._connection.execute(sql.insert(leases), rows)

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end or state."""
        for some in _parts(numbers):
            self._connection.execute(_CHANGE_LEASES.values(fields), self._study | {"numbers": some})

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases."""
        for some in _parts(numbers):
            if len(some) == 1:
                self._connection.execute(_DROP_LEASE, self._study | {"a_number": some[0]})
            else:
                self._connection.execute(_DROP_LEASES, self._study | {"numbers": some})

    def checkpoint(self) -> Mapping[str, Any] | None:
        """Returns the state that was kept last."""
        return self._connection.execute(_CHECKPOINT, self._study).scalar_one_or_none()

    def keep_checkpoint(self, state: Mapping[str, Any]) -> None:
        """Keeps the state that follows from the events so far, instead of an older one."""
        self._connection.execute(sql.delete(checkpoints).where(checkpoints.c.study_id == _STUDY), self._study)
        self._connection.execute(sql.insert(checkpoints).values(study_id=self._study["study"], state=state))

    def flush(self) -> None:
        """Writes the counters of the study."""
        if (self.n_events, self.next_number) != self._stored:
            counters = {"n_events": self.n_events, "next_number": self.next_number}
            self._connection.execute(_SET_COUNTERS, self._study | counters)

    def _rows(self, records: Iterable[Event | Lease]) -> list[dict[str, Any]]:
        return [{"study_id": self._study["study"], **record._asdict()} for record in records]


def _parts(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Numbers in parts that a statement can hold."""
    rest = list(numbers)
    while rest:
        yield rest[:500]
        rest = rest[500:]


def _bring_up_to_date(database: Database) -> None:
    """Makes the tables, or changes those of an older version."""
    with database.reading() as connection:
        found = layout(connection)
    if found == LAYOUT:
        return
    # Alembic keeps what it works on in a place that all threads share.
    with _migrating, database.writing() as connection:
        database.lock_layout(connection)
        _migrate(connection, database.shown)


def layout(connection: sql.Connection) -> str | None:
    """Returns the migration that a database is at, None if it never held a study."""
    if not sql.inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()


def _migrate(connection: sql.Connection, shown: str) -> None:
    """Runs the migrations that are missing; the caller holds the lock."""
    from alembic import command  # only for a database that is new or old
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    found = layout(connection)
    if found is not None and found not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise InvalidInput(f"{shown} was written by a newer version of paretopick (layout {found}); install that one.")
    command.upgrade(config, "head")
