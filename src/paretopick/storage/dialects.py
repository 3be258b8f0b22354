"""All that is peculiar to SQLite or PostgreSQL: addresses, settings, locks, clocks, and what their errors mean.

Writers have a database to themselves for as long as it takes: an SQLite file is locked (``BEGIN IMMEDIATE``, with WAL so that
readers never wait); on PostgreSQL whoever writes locks the rows that matter. Nobody waits for ever.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from paretopick.errors import InvalidInput, MissingFile, StorageFailed

PATIENCE = 60.0
"""Seconds to wait while others write."""


class Taken(StorageFailed):
    """A row that may be there once is there already."""


class Database(ABC):
    """A database with SQLAlchemy: transactions that read or write, and errors that say what to do.

    Args:
        url: of the database.
    """

    def __init__(self, url: sql.URL) -> None:
        self.shown = url.render_as_string(hide_password=True)
        """The URL without its password."""
        self._engine = self._new_engine(url)
        self._pid = os.getpid()
        weakref.finalize(self, self._engine.dispose)

    @abstractmethod
    def _new_engine(self, url: sql.URL) -> sql.Engine:
        """Connects to nothing yet."""

    @abstractmethod
    def now(self, connection: sql.Connection) -> float:
        """Returns the seconds since 1970 by a clock that all who use the database share."""

    @abstractmethod
    def lock_layout(self, connection: sql.Connection) -> None:
        """Waits until nobody else is changing the tables themselves."""

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A transaction that sees one state of the database."""
        with self._transaction(self._for_reading) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A transaction whose changes are stored at its end, all or none."""
        with self._transaction(self._for_writing) as connection:
            yield connection

    def close(self) -> None:
        """Closes the connections; they are opened again when needed."""
        self._engine.dispose()

    _for_reading: dict[str, Any]
    """Options of a connection that reads."""
    _for_writing: dict[str, Any]

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[sql.Connection]:
        if self._pid != os.getpid():  # connections must not be used on both sides of a fork
            self._engine.dispose(close=False)
            self._pid = os.getpid()
            self._forked()
        try:
            with self._in_turn(), self._engine.connect().execution_options(**options) as connection, connection.begin():
                yield connection
        except (sql.exc.DBAPIError, sql.exc.TimeoutError) as problem:
            error = Taken if isinstance(problem, sql.exc.IntegrityError) else StorageFailed
            raise error(_explained(self.shown, getattr(problem, "orig", None) or problem)) from problem

    def _in_turn(self) -> Any:
        """Within a process, who uses the database when."""
        return nullcontext()

    def _forked(self) -> None:  # noqa: B027 -- most databases have nothing to mend
        """This is another process than the one that opened the database."""


class SQLite(Database):
    """An SQLite file.

    Args:
        url: of the file.
        shared: whether many processes read and write it all the time: readers then never wait for writers, nothing that was
            stored is lost with the power, and connections stay open. If not, a connection lives as long as its transaction, and
            nobody has to close anything.
    """

    _for_reading = {"begin": "BEGIN"}  # noqa: RUF012 -- never changed
    _for_writing = {"begin": "BEGIN IMMEDIATE"}  # noqa: RUF012

    def __init__(self, url: sql.URL, *, shared: bool = True) -> None:
        self._shared = shared
        # Within a process all queue here, which is fairer and faster than waiting for the file to be unlocked.
        self._turn = threading.RLock()
        super().__init__(url)

    def _new_engine(self, url: sql.URL) -> sql.Engine:
        pool = {} if self._shared else {"poolclass": sql.NullPool}
        try:  # threads may hand a connection on, since only one uses it at a time
            engine = sql.create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **pool)
            engine.dialect.create_connect_args(url)
        except sql.exc.ArgumentError:
            raise InvalidInput(f"storage '{url}' has too few slashes; write sqlite:///{url.host or 'file.db'}.") from None
        sql.event.listen(engine, "connect", _prepare_shared if self._shared else _prepare)
        sql.event.listen(engine, "begin", _begin)
        return engine

    def now(self, connection: sql.Connection) -> float:
        """Returns the time of this machine, where the file is."""
        return time.time()

    def lock_layout(self, connection: sql.Connection) -> None:
        """Whoever writes has the file to himself already."""

    def _in_turn(self) -> Any:
        return self._turn

    def _forked(self) -> None:
        self._turn = threading.RLock()


class PostgreSQL(Database):
    """A database of a PostgreSQL server."""

    _for_reading = {"isolation_level": "REPEATABLE READ"}  # noqa: RUF012 -- never changed
    _for_writing = {"isolation_level": "READ COMMITTED"}  # noqa: RUF012

    def _new_engine(self, url: sql.URL) -> sql.Engine:
        try:
            engine = sql.create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        except ModuleNotFoundError as missing:
            raise InvalidInput(
                f"{url.drivername} needs the package {missing.name}; install it with: pip install 'paretopick[postgresql]'"
            ) from None
        sql.event.listen(engine, "connect", _limit_waiting)
        return engine

    def now(self, connection: sql.Connection) -> float:
        """Returns the time of the server, since the clocks of workers may differ."""
        return float(connection.execute(_CLOCK).scalar_one())

    def lock_layout(self, connection: sql.Connection) -> None:
        """Waits for a lock that all of us take before they change tables."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7066, 1)")  # any two numbers, the same for everybody


_CLOCK = sql.select(sql.extract("epoch", sql.func.clock_timestamp()))


def open_database(address: str | os.PathLike[str], *, new: bool = True) -> Database:
    """Returns the database at a URL, or of an SQLite file by its path.

    Args:
        address: ``sqlite:///file.db``, ``postgresql://user@host/database``, or a path.
        new: whether an SQLite file is made if it is not there.
    """
    url = _parsed(os.fspath(address))
    if url.get_backend_name() != "sqlite":
        return PostgreSQL(url)
    if not new and url.database and not os.path.exists(url.database):
        raise MissingFile(
            f"there is no database {url.database}; check the storage and the working folder, or create a study first."
        )
    return SQLite(url)


def sqlite_file(path: Path) -> SQLite:
    """Returns an SQLite file that few processes write now and then; nobody has to close it."""
    return SQLite(_file_url(str(path)), shared=False)


def _parsed(text: str) -> sql.URL:
    """The URL of a database, from one or from the path of a file."""
    if "://" not in text:
        return _file_url(text)
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


def _file_url(path: str) -> sql.URL:
    return sql.URL.create("sqlite", database=path)


# What listens to an engine must not hold the database: whoever lets go of that lets go of its connections.


def _prepare(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun by us


def _prepare_shared(connection: Any, record: Any) -> None:
    _prepare(connection, record)
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


def _begin(connection: sql.Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options()["begin"])


def _limit_waiting(connection: Any, _: Any) -> None:
    """Nobody waits for ever: for a row that is locked, or for a client that stopped in the middle of a transaction."""
    with connection.cursor() as cursor:
        for setting in ("lock_timeout", "idle_in_transaction_session_timeout"):
            cursor.execute(f"SET {setting} = {int(1000 * PATIENCE)}")
    connection.commit()


def _explained(shown: str, problem: BaseException) -> str:
    """What the database said, and what to do about it."""
    said = " ".join(str(problem).split()).rstrip(".")
    if "not a database" in said or "unable to open" in said:
        remedy = "check the name of the file, and that its folder is there"
    else:
        remedy = "nothing was half-written, so simply try again when it is back"
    return f"the database {shown} cannot be used: {said}; {remedy}."
