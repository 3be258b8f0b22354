"""All that is peculiar to SQLite or PostgreSQL: settings, locks, clocks, limits of time, and what their errors mean.

Writers have a database to themselves for as long as it takes: an SQLite file is locked (``BEGIN IMMEDIATE``, with WAL so that
readers never wait); on PostgreSQL whoever writes locks the rows that matter. Nobody waits for ever: see ``PATIENCE``.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from paretopick.errors import InvalidInput, MissingFile, OutcomeUnknown, StorageFailed, StudyGone, UnsafeStorage
from paretopick.storage.addresses import PASSWORD_FILE, Address, file_address, password_in_file, read_address
from paretopick.storage.files import error_code, file_identity, network_file_system, remedy, wait_for_lock

PATIENCE = 60.0
"""Seconds after which whoever waits for a database gives up and says so: for a lock that others hold, for a server that accepts
no connection, for an answer that does not come. So every call answers in about that time, whatever happens to the network."""

LOOK = 1.0
"""Seconds after which whoever waits for the lock of an SQLite file looks at who holds it."""


class Taken(StorageFailed):
    """A row that may be there once is there already."""


class Database(ABC):
    """A database with SQLAlchemy: transactions that read or write, and errors that say what to do.

    Args:
        address: of the database.
    """

    def __init__(self, address: Address) -> None:
        self.shown = address.shown
        """The URL without its password."""
        self.path = address.path
        """Of the file, for SQLite."""
        self._address = address
        self._engine = self._new_engine(address)
        self._pid = os.getpid()
        weakref.finalize(self, self._engine.dispose)

    @abstractmethod
    def _new_engine(self, address: Address) -> sql.Engine:
        """Connects to nothing yet."""

    @abstractmethod
    def lock_layout(self, connection: sql.Connection) -> None:
        """Waits until nobody else is changing the tables themselves; that may then take as long as it takes."""

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A transaction that sees one state of the database."""
        with self._transaction(self._for_reading, nullcontext()) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A transaction whose changes are stored at its end, all or none."""
        with self._transaction(self._for_writing, self._in_turn()) as connection:
            yield connection

    def close(self) -> None:
        """Closes the connections; they are opened again when needed."""
        self._engine.dispose()

    _for_reading: dict[str, Any]
    """Options of a connection that reads."""
    _for_writing: dict[str, Any]

    @contextmanager
    def _transaction(self, options: dict[str, Any], turn: AbstractContextManager[Any]) -> Iterator[sql.Connection]:
        if self._pid != os.getpid():  # connections must not be used on both sides of a fork
            self._engine.dispose(close=False)
            self._pid = os.getpid()
            self._forked()
        self._look_at_file()
        committing = False
        try:
            with turn, self._engine.connect().execution_options(**options) as connection, connection.begin():
                yield connection
                committing = options is self._for_writing
        except (sql.exc.DBAPIError, sql.exc.TimeoutError, sqlite3.Error) as problem:
            failure = self.failure(problem, committing=committing)
            raise failure from failure.__cause__

    def failure(self, problem: Exception, *, committing: bool) -> StorageFailed:
        """Returns what to raise for a problem of the database; in a commit, nobody may know whether the change was stored."""
        said = self._said(problem)
        if committing and getattr(problem, "connection_invalidated", False):
            error: type[StorageFailed] = OutcomeUnknown
            remedy = "whether the change was stored is not known: it is there as a whole, or not at all"
        else:
            error = Taken if isinstance(problem, sql.exc.IntegrityError) else StorageFailed
            remedy = self._remedy(getattr(problem, "orig", None) or problem)
        failure = error(f"the database {self.shown} cannot be used: {said}; {remedy}.")
        if self._address.without_secrets(str(problem)) == str(problem):  # what would show a secret is left out of tracebacks
            failure.__cause__ = problem
        return failure

    def _said(self, problem: BaseException) -> str:
        """What the database said, in one line."""
        said = " ".join(str(getattr(problem, "orig", None) or problem).split()).rstrip(".")
        return self._address.without_secrets(said)

    def _remedy(self, problem: BaseException) -> str:
        """What to do about it."""
        return "nothing was half-written, so simply try again when it is back"

    def _in_turn(self) -> AbstractContextManager[Any]:
        """Within a process, who writes when."""
        return nullcontext()

    def _forked(self) -> None:  # noqa: B027 -- most databases have nothing to mend
        """This is another process than the one that opened the database."""

    def _look_at_file(self) -> None:  # noqa: B027 -- most databases are not a file of ours
        """Raises ``StudyGone`` if it is not the one that is open any more."""


class SQLite(Database):
    """An SQLite file.

    Args:
        address: of the file.
        shared: whether many processes read and write it all the time: readers then never wait for writers, nothing that was
            stored is lost with the power, and connections stay open. If not, a connection lives as long as its transaction, and
            nobody has to close anything.
    """

    _for_reading = {"begin": "BEGIN"}  # noqa: RUF012 -- never changed
    _for_writing = {"begin": "BEGIN IMMEDIATE"}  # noqa: RUF012

    def __init__(self, address: Address, *, shared: bool = True) -> None:
        self._shared = shared
        # Within a process those who write queue here, which is fairer and faster than waiting for the file to be unlocked.
        self._turn = threading.RLock()
        self._place = os.path.abspath(address.path or "")
        self._file: tuple[int, int] | None = None
        """By which the system knows the file that connections are open to; None if there are none."""
        super().__init__(address)

    def close(self) -> None:
        """Closes the connections; another file may be put in place then."""
        super().close()
        self._file = None

    def _look_at_file(self) -> None:
        """A file that was removed or replaced goes on for whoever has it open, and is lost with him."""
        if not self._shared:
            return
        found = file_identity(self._place)
        if self._file is None:
            self._file = found
        elif found != self._file:
            raise StudyGone(
                f"{self._place} was {'replaced' if found else 'removed'} while this process had it open; nothing more was "
                "written. End all that use it, remove the files beside it that end in -wal and -shm, then put a file in its "
                "place; paretopick restore does so while others work."
            )

    def _new_engine(self, address: Address) -> sql.Engine:
        pool: dict[str, Any] = {"max_overflow": -1} if self._shared else {"poolclass": sql.NullPool}
        # Threads may hand a connection on, since only one uses it at a time.
        settings = {"timeout": min(LOOK, PATIENCE), "check_same_thread": False}
        engine = sql.create_engine(address.url, connect_args=settings, **pool)
        path = address.path or ""
        prepare = _prepare_shared if self._shared else _prepare
        sql.event.listen(engine, "connect", lambda connection, _: prepare(connection, path))
        sql.event.listen(engine, "begin", lambda connection: _begin(connection, path))
        return engine

    def lock_layout(self, connection: sql.Connection) -> None:
        """Whoever writes has the file to himself already."""

    def _remedy(self, problem: BaseException) -> str:
        return remedy(problem, self._address.path or "") or super()._remedy(problem)

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=PATIENCE):
            raise StorageFailed(
                f"another thread of this process has been writing to {self.shown} for {PATIENCE:g} s; nothing was written."
            )
        try:
            yield
        finally:
            self._turn.release()

    def _forked(self) -> None:
        self._turn = threading.RLock()


_LOGGING_IN = {
    "password authentication failed|no password supplied": (
        "check the name of the user; the password comes from ~/.pgpass, PGPASSWORD or the file that "
        f"{PASSWORD_FILE} names, if the address has none"
    ),
    'database ".*" does not exist': "check the name of the database, or have it made on the server",
    'role ".*" does not exist': "check the name of the user, or have it made on the server",
    "resolve host|translate host name|[Nn]ame or service not known": "check the name of the host, and that the network is up",
}
"""What keeps somebody from logging in, however often it is tried, and what helps. The driver tells no codes of these errors;
where a server speaks another language, the usual remedy is given."""


class PostgreSQL(Database):
    """A database of a PostgreSQL server."""

    _for_reading = {"isolation_level": "REPEATABLE READ"}  # noqa: RUF012 -- never changed
    _for_writing = {"isolation_level": "READ COMMITTED"}  # noqa: RUF012

    def _new_engine(self, address: Address) -> sql.Engine:
        try:
            from paretopick.storage import networks
        except ModuleNotFoundError as missing:
            raise InvalidInput(
                f"PostgreSQL needs the package {missing.name}; install it with: pip install 'paretopick[postgresql]'"
            ) from None
        try:
            engine = sql.create_engine(address.url, pool_timeout=PATIENCE)
            networks.check_settings({**engine.dialect.create_connect_args(address.url)[1], **address.secrets})
        except (sql.exc.ArgumentError, networks.BadSetting) as problem:
            said = address.without_secrets(" ".join(str(problem).split()))
            raise InvalidInput(f"storage {address.shown!r} cannot be used: {said}.") from None
        secrets = dict(address.secrets)

        def connect(_: Any, __: Any, ___: Any, settings: dict[str, Any]) -> networks.PatientConnection:
            given = settings | secrets
            if "password" not in given and (password := password_in_file()) is not None:
                given["password"] = password
            return networks.connect(PATIENCE, networks.timeouts(PATIENCE) | given)

        def check_out(connection: networks.PatientConnection, _: Any, __: Any) -> None:
            if networks.is_dead(connection):
                raise sql.exc.DisconnectionError  # it is replaced by a new one, before anything was sent
            connection.patience = PATIENCE

        sql.event.listen(engine, "do_connect", connect)
        sql.event.listen(engine, "checkout", check_out)
        return engine

    def _remedy(self, problem: BaseException) -> str:
        said = str(problem)
        return next((helps for what, helps in _LOGGING_IN.items() if re.search(what, said)), super()._remedy(problem))

    def lock_layout(self, connection: sql.Connection) -> None:
        """Waits for a lock that all of us take before they change tables."""
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7066, 1)")  # any two numbers, the same for everybody
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        driver: Any = connection.connection.driver_connection
        driver.patience = None


def open_database(address: str | os.PathLike[str], *, new: bool = True, shared: bool = True) -> Database:
    """Returns the database at a URL, or of an SQLite file by its path.

    Args:
        address: ``sqlite:///file.db``, ``postgresql://user@host/database``, or a path.
        new: whether an SQLite file is made if it is not there.
        shared: whether an SQLite file is set up for many processes; without, it stays as it is.
    """
    found = read_address(os.fspath(address))
    if found.path is None:
        return PostgreSQL(found)
    if not new and not os.path.exists(found.path):
        raise MissingFile(
            f"there is no database {found.path}; check the storage and the working folder, or create a study first."
        )
    if kind := network_file_system(found.path):
        warnings.warn(
            f"{found.path} is on a network file system ({kind}), where locks of SQLite may fail, and a study be damaged if "
            "several machines use it; keep it on a local disk, or use PostgreSQL for several machines.",
            UnsafeStorage,
            stacklevel=2,
        )
    return SQLite(found, shared=shared)


def sqlite_file(path: Path) -> SQLite:
    """Returns an SQLite file that few processes write now and then; nobody has to close it."""
    return SQLite(file_address(str(path)), shared=False)


# What listens to an engine must not hold the database: whoever lets go of that lets go of its connections.


def _prepare(connection: Any, _: str) -> None:
    connection.isolation_level = None  # transactions are begun by us
    _be_patient(connection)


def _be_patient(connection: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * PATIENCE)}")


def _prepare_shared(connection: Any, path: str) -> None:
    connection.isolation_level = None

    def set_up() -> Any:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # what was told survives a loss of power
        return connection.execute("PRAGMA journal_mode").fetchone()[0]

    patience = time.monotonic() + PATIENCE
    while wait_for_lock(set_up, path, PATIENCE) == "delete":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as problem:
            if error_code(problem) == sqlite3.SQLITE_READONLY:  # then others do not write beside us either
                break
            if error_code(problem) != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
            time.sleep(0.01)  # somebody else is doing the same, for which SQLite does not wait
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":  # then readers and writers wait for each other
        _be_patient(connection)


def _begin(connection: sql.Connection, path: str) -> None:
    """Begins a transaction, and takes its lock at once: whatever is waited for is waited for here."""
    begin = connection.get_execution_options()["begin"]
    driver: Any = connection.connection.driver_connection

    def act() -> None:
        if not driver.in_transaction:
            driver.execute(begin)
        if begin == "BEGIN":
            driver.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()

    try:
        wait_for_lock(act, path, PATIENCE)
    except BaseException:
        driver.rollback()
        raise
