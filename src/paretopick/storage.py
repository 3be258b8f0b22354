"""The database of studies: a log of events for each, and who is measuring what. SQLite by default, PostgreSQL by URL.

Whoever changes a study does so in a transaction that nobody else can write beside: on SQLite the file is locked (``BEGIN
IMMEDIATE``, with WAL so that readers never wait), on PostgreSQL the row of the study. What a transaction has read is therefore
still true when it writes, whatever the number of workers; and it is stored whole or not at all.

Layouts are changed by the migrations in ``paretopick/migrations``, which run when a database is opened.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sql

from paretopick._arrays import check_choice
from paretopick.errors import InvalidInput, MissingFile, StorageFailed, UnknownName
from paretopick.events import Event, Lease

LAYOUT = "0001"
"""The newest migration: the layout that this version reads and writes."""

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = "paretopick_version"
PATIENCE = 60.0
"""Seconds to wait while others write."""

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


class StoredStudy(NamedTuple):
    """The row of a study."""

    id: int
    name: str
    definition: Mapping[str, Any]
    created: float


class Storage:
    """A database that holds studies; its tables are made or brought up to date when it is opened.

    Args:
        url: ``sqlite:///file.db``, ``postgresql://user@host/database``, or the path of an SQLite file; ``sqlite://`` is kept in
            memory.
        new: whether an SQLite file is made if it is not there.
    """

    def __init__(self, url: str | os.PathLike[str], *, new: bool = True) -> None:
        self._url = _parsed(url)
        self.shown = self._url.render_as_string(hide_password=True)
        """The URL without its password."""
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        file = self._url.database
        if not new and self._is_sqlite and file not in (None, "", ":memory:") and not os.path.exists(file or ""):
            raise MissingFile(f"there is no database {file}; check --storage and the working folder, or create a study first.")
        self._engine = _engine(self._url)
        self._pid = os.getpid()
        # Within a process writers queue here, which is fairer and faster than waiting for the file to be unlocked.
        self._turn = threading.RLock()
        weakref.finalize(self, self._engine.dispose)
        try:
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the connections; they are opened again when needed."""
        self._engine.dispose()

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""
        with self._connection(writes=False) as connection:
            return sorted(connection.execute(sql.select(studies.c.name)).scalars())

    def create(self, name: str, definition: Mapping[str, Any]) -> StoredStudy | None:
        """Keeps a new study; None if the name is taken."""
        created = time.time()
        row = {"name": name, "definition": definition, "created": created, "n_events": 0, "next_number": 1}
        try:
            with self._connection(writes=True) as connection:
                key = connection.execute(sql.insert(studies).values(row).returning(studies.c.id)).scalar_one()
        except _Taken:
            return None
        return StoredStudy(key, name, definition, created)

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name."""
        with self._connection(writes=False) as connection:
            query = sql.select(*(studies.c[field] for field in StoredStudy._fields)).where(studies.c.name == name)
            found = connection.execute(query).one_or_none()
        if found is not None:
            return StoredStudy(*found)
        try:
            check_choice(name, self.names(), "study")
        except UnknownName as problem:
            raise UnknownName(f"{problem} The database is {self.shown}.") from None
        return self.find(name)  # it has just been created

    def delete(self, name: str) -> None:
        """Removes a study with all that belongs to it."""
        study = self.find(name)
        with self._connection(writes=True) as connection:
            for table in (checkpoints, leases, events):
                connection.execute(sql.delete(table).where(table.c.study_id == study.id))
            connection.execute(sql.delete(studies).where(studies.c.id == study.id))

    @contextlib.contextmanager
    def reading(self, study_id: int) -> Iterator[Transaction]:
        """A transaction that sees one state of a study and waits for nobody."""
        with self._connection(writes=False) as connection:
            yield Transaction(connection, study_id, self._is_sqlite)

    @contextlib.contextmanager
    def writing(self, study_id: int) -> Iterator[Transaction]:
        """A transaction that nobody else can write to the study beside; all that it does is stored at its end, or nothing."""
        with self._connection(writes=True) as connection:
            transaction = Transaction(connection, study_id, self._is_sqlite, lock=True)
            yield transaction
            transaction.flush()

    def _bring_up_to_date(self) -> None:
        with self._connection(writes=False) as connection:
            found = _layout(connection)
        if found == LAYOUT:
            return
        # Alembic keeps what it works on in a place that all threads share.
        with _migrating, self._connection(writes=True) as connection:
            if not self._is_sqlite:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7066, 1)")  # any two numbers, the same for everybody
            _migrate(connection, self.shown)

    @contextlib.contextmanager
    def _connection(self, *, writes: bool) -> Iterator[sql.Connection]:
        if self._pid != os.getpid():  # connections must not be used on both sides of a fork
            self._engine.dispose(close=False)
            self._pid, self._turn = os.getpid(), threading.RLock()
        turn = self._turn if self._is_sqlite else contextlib.nullcontext()
        try:
            with turn, self._engine.connect().execution_options(**self._isolation(writes)) as connection, connection.begin():
                yield connection
        except (sql.exc.DBAPIError, sql.exc.TimeoutError) as problem:
            error = _Taken if isinstance(problem, sql.exc.IntegrityError) else StorageFailed
            raise error(_explained(self.shown, getattr(problem, "orig", None) or problem)) from problem

    def _isolation(self, writes: bool) -> dict[str, Any]:
        if self._is_sqlite:
            return {"begin": "BEGIN IMMEDIATE" if writes else "BEGIN"}
        return {"isolation_level": "READ COMMITTED" if writes else "REPEATABLE READ"}


class _Taken(StorageFailed):
    """A row that may be there once is there already."""


class Transaction:
    """What can be read of a study, and written if it is locked, at one moment."""

    def __init__(self, connection: sql.Connection, study_id: int, is_sqlite: bool, *, lock: bool = False) -> None:
        self._connection = connection
        self._study = study_id
        query = sql.select(studies.c.n_events, studies.c.next_number).where(studies.c.id == study_id)
        found = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if found is None:
            raise StorageFailed("the study is no longer in its database; somebody has deleted it.")
        self.n_events, self.next_number = self._stored = tuple(found)
        self.appended: list[Event] = []
        """Events that this transaction has added so far."""
        # Looked at after the lock was waited for; on a server its own clock, since those of workers may differ.
        clock = sql.select(sql.extract("epoch", sql.func.clock_timestamp()))
        self.now = time.time() if is_sqlite else float(connection.execute(clock).scalar_one())

    def events(self, *, after: int = 0, number: int | None = None, kind: str | None = None) -> list[Event]:
        """Returns events in their order: those after a position, of one measurement, of one kind."""
        query = sql.select(*(events.c[field] for field in Event._fields)).where(events.c.study_id == self._study)
        if after:
            query = query.where(events.c.position > after)
        if number is not None:
            query = query.where(events.c.number == number)
        if kind is not None:
            query = query.where(events.c.kind == kind)
        return list(map(Event._make, self._connection.execute(query.order_by(events.c.position))))

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at their positions and with the time."""
        added = [event._replace(position=self.n_events + i, at=self.now) for i, event in enumerate(new, start=1)]
        if added:
            rows = [{"study_id": self._study, **event._asdict()} for event in added]
            self._connection.execute(sql.insert(events), rows)
            self.n_events += len(added)
            self.appended += added

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""
        first, self.next_number = self.next_number, self.next_number + n
        return range(first, self.next_number)

    def leases(self) -> list[Lease]:
        """Returns what is out, by number."""
        query = sql.select(*(leases.c[field] for field in Lease._fields)).where(leases.c.study_id == self._study)
        return list(map(Lease._make, self._connection.execute(query.order_by(leases.c.number))))

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out."""
        query = sql.select(*(leases.c[field] for field in Lease._fields)).where(self._are([number]))
        found = self._connection.execute(query).one_or_none()
        return None if found is None else Lease._make(found)

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""
        rows = [{"study_id": self._study, **lease._asdict()} for lease in new]
        if rows:
            self._connection.execute(sql.insert(leases), rows)

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end or state."""
        for some in _parts(numbers):
            self._connection.execute(sql.update(leases).where(self._are(some)).values(fields))

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases."""
        for some in _parts(numbers):
            self._connection.execute(sql.delete(leases).where(self._are(some)))

    def checkpoint(self) -> Mapping[str, Any] | None:
        """Returns the state that was kept last."""
        query = sql.select(checkpoints.c.state).where(checkpoints.c.study_id == self._study)
        return self._connection.execute(query).scalar_one_or_none()

    def keep_checkpoint(self, state: Mapping[str, Any]) -> None:
        """Keeps the state that follows from the events so far, instead of an older one."""
        self._connection.execute(sql.delete(checkpoints).where(checkpoints.c.study_id == self._study))
        self._connection.execute(sql.insert(checkpoints).values(study_id=self._study, state=state))

    def flush(self) -> None:
        """Writes the counters of the study."""
        if (self.n_events, self.next_number) != self._stored:
            counters = {"n_events": self.n_events, "next_number": self.next_number}
            self._connection.execute(sql.update(studies).where(studies.c.id == self._study).values(counters))

    def _are(self, numbers: Sequence[int]) -> sql.ColumnElement[bool]:
        return sql.and_(leases.c.study_id == self._study, leases.c.number.in_(numbers))


def _parts(numbers: Iterable[int]) -> Iterator[list[int]]:
    """Numbers in parts that a statement can hold."""
    rest = list(numbers)
    while rest:
        yield rest[:500]
        rest = rest[500:]


def _parsed(url: str | os.PathLike[str]) -> sql.URL:
    """The URL of a database, from one or from the path of a file."""
    text = os.fspath(url)
    if "://" not in text:
        return sql.URL.create("sqlite", database=text)
    try:
        parsed = sql.make_url(text)
    except sql.exc.ArgumentError:
        raise InvalidInput("the storage is not the address of a database; write for instance sqlite:///file.db.") from None
    if parsed.drivername in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        shown = parsed.render_as_string(hide_password=True)
        raise InvalidInput(f"storage {shown!r} is a {parsed.get_backend_name()} database; sqlite and postgresql are supported.")
    return parsed


def _engine(url: sql.URL) -> sql.Engine:
    if url.get_backend_name() != "sqlite":
        try:
            engine = sql.create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        except ModuleNotFoundError as missing:
            raise InvalidInput(
                f"{url.drivername} needs the package {missing.name}; install it with: pip install 'paretopick[postgresql]'"
            ) from None
        sql.event.listen(engine, "connect", _prepare_postgresql)
        return engine
    in_memory = url.database in (None, "", ":memory:")
    pool = {"poolclass": sql.StaticPool} if in_memory else {}
    try:  # threads may hand a connection on, since only one uses it at a time
        engine = sql.create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **pool)
        engine.dialect.create_connect_args(url)
    except sql.exc.ArgumentError:
        raise InvalidInput(f"storage '{url}' has too few slashes; write sqlite:///{url.host or 'file.db'}.") from None
    sql.event.listen(engine, "connect", _prepare_sqlite)
    sql.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(connection.get_execution_options()["begin"]))
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun by us
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")  # what was told survives a loss of power
    patience = time.monotonic() + PATIENCE
    while connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:  # somebody else is doing the same, for which SQLite does not wait
            if time.monotonic() > patience:
                raise
            time.sleep(0.01)


def _prepare_postgresql(connection: Any, _: Any) -> None:
    """Nobody waits for ever: for a row that is locked, or for a client that stopped in the middle of a transaction."""
    with connection.cursor() as cursor:
        for setting in ("lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SET {setting} = {int(1000 * PATIENCE)}")
    connection.commit()


def _layout(connection: sql.Connection) -> str | None:
    """The migration that a database is at, None if it never held a study."""
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
    found = _layout(connection)
    if found is not None and found not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise InvalidInput(f"{shown} was written by a newer version of paretopick (layout {found}); install that one.")
    command.upgrade(config, "head")


def _explained(shown: str, problem: BaseException) -> str:
    """What the database said, and what to do about it."""
    said = " ".join(str(problem).split()).rstrip(".")
    if "not a database" in said or "unable to open" in said:
        remedy = "check the name of the file, and that its folder is there"
    else:
        remedy = "nothing was half-written, so simply try again when it is back"
    return f"the database {shown} cannot be used: {said}; {remedy}."
