"""The tables in which a database keeps studies, and the migrations that make them.

``measured``, ``details``, ``definition`` and ``state`` are JSON, kept as the texts that were written: the chain is over them.
"""

from __future__ import annotations

import threading
from pathlib import Path

import sqlalchemy as sql

from paretopick.errors import InvalidInput
from paretopick.storage.dialects import Database

LAYOUT = "0003"
"""The newest migration: the layout that this version reads and writes."""

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = "paretopick_version"

_migrating = threading.Lock()
metadata = sql.MetaData()

studies = sql.Table(
    "paretopick_studies",
    metadata,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("token", sql.Text, nullable=False),
    sql.Column("name", sql.Text, nullable=False, unique=True),
    sql.Column("definition", sql.Text, nullable=False),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("n_events", sql.Integer, nullable=False),
    sql.Column("head", sql.Text, nullable=False),
    sql.Column("next_number", sql.Integer, nullable=False),
    sql.Column("clock", sql.Double, nullable=False),
    sqlite_autoincrement=True,
)
"""An id is never given twice. The token is random: whoever has another one means a study that is gone. ``head`` is the hash of
the last event, ``clock`` the time of the last change."""


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
    sql.Column("measured", sql.Text),
    sql.Column("details", sql.Text),
    sql.Column("worker", sql.Text),
    sql.Column("at", sql.Double, nullable=False),
    sql.Column("request", sql.Text),
    sql.Column("digest", sql.Text),
    sql.Column("hash", sql.Text, nullable=False),
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
    sql.Column("repeat", sql.Integer),
)
"""Measurements that are out with a worker. One that is withdrawn is no longer waited for, but welcome."""

checkpoints = sql.Table(
    "paretopick_checkpoints",
    metadata,
    _study_id(),
    sql.Column("position", sql.Integer, nullable=False),
    sql.Column("head", sql.Text, nullable=False),
    sql.Column("state", sql.Text, nullable=False),
    sql.Column("hash", sql.Text, nullable=False),
)
"""What follows from the events up to some position, so that opening a long study need not replay them all; can be deleted.
``head`` is the hash of the event there, ``hash`` that of the state and of ``head``."""

# Positions are in the indexes, or SQLite reads the whole log to have them in order.
_told = events.c.kind == "told"
_whole = events.c.number.is_(None)
sql.Index("paretopick_events_number", events.c.study_id, events.c.number, events.c.position)
sql.Index("paretopick_told_once", events.c.study_id, events.c.number, unique=True, sqlite_where=_told, postgresql_where=_told)
sql.Index("paretopick_events_digest", events.c.study_id, events.c.digest, events.c.position)
sql.Index(
    "paretopick_events_request",
    events.c.study_id,
    events.c.request,
    events.c.position,
    sqlite_where=_whole,
    postgresql_where=_whole,
)
sql.Index("paretopick_leases_worker", leases.c.study_id, leases.c.worker, leases.c.number)
sql.Index("paretopick_leases_expires", leases.c.study_id, leases.c.expires, leases.c.number)
sql.Index("paretopick_leases_arm", leases.c.study_id, leases.c.withdrawn, leases.c.arm, leases.c.number)


def bring_up_to_date(database: Database) -> None:
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
