"""Statements carried out many at a time: on PostgreSQL in one round trip, on SQLite one after the other.

SQLAlchemy puts them together, once; what they are carried out by is the driver itself, since SQLAlchemy waits for each answer
before it sends the next one, and takes longer for a statement than SQLite does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sql

Values = Mapping[str, Any]
Rows = list[tuple[Any, ...]]


class Statement(NamedTuple):
    """A statement and what goes into it: once, or many times."""

    text: sql.Executable
    values: Values | Sequence[Values]


_prepared: dict[tuple[str, sql.Executable], tuple[str, Callable[[Values], Any]]] = {}
"""By dialect and statement."""


def run(connection: sql.Connection, statements: Sequence[Statement], *, commit: bool = False) -> list[Rows]:
    """Carries out statements in their order and returns the rows of each; then commits, if that is wanted.

    On PostgreSQL all of them, and the commit, are one round trip. Errors are those of SQLAlchemy.
    """
    raw: Any = connection.connection.dbapi_connection
    errors: Any = connection.dialect.loaded_dbapi.Error
    try:
        if connection.dialect.name == "postgresql":
            return _in_a_pipeline(connection, raw, statements, commit)
        found = [_one(connection, raw.cursor(), statement) for statement in statements]
        if commit:
            raw.execute("COMMIT")
        return found
    except errors as problem:
        gone = connection.dialect.is_disconnect(problem, raw, None)
        wrapped = sql.exc.DBAPIError.instance(
            None, None, problem, errors, connection_invalidated=gone, dialect=connection.dialect
        )
        if gone:
            connection.invalidate(problem)
        raise wrapped from problem
    except BaseException:  # Ctrl-C: answers may be on their way still
        if connection.dialect.name == "postgresql":
            connection.invalidate()
        raise


def _in_a_pipeline(connection: sql.Connection, raw: Any, statements: Sequence[Statement], commit: bool) -> list[Rows]:
    starting = raw.pgconn.transaction_status == 0  # idle
    if starting:
        raw.autocommit = True  # or the driver sends a BEGIN of its own, and waits for its answer
    with raw.pipeline():
        if starting:
            raw.cursor().execute(f"BEGIN ISOLATION LEVEL {connection.get_execution_options()['isolation_level']}", prepare=False)
        cursors = [raw.cursor() for _ in statements]
        for cursor, statement in zip(cursors, statements, strict=True):
            _send(connection, cursor, statement)
        if commit:
            raw.cursor().execute("COMMIT", prepare=False)
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


def _one(connection: sql.Connection, cursor: Any, statement: Statement) -> Rows:
    _send(connection, cursor, statement)
    return cursor.fetchall() if cursor.description else []


def _send(connection: sql.Connection, cursor: Any, statement: Statement) -> None:
    text, fill = _prepare(connection.dialect, statement.text)
    values = statement.values
    if isinstance(values, Mapping):
        cursor.execute(text, fill(values))
    elif len(values) == 1:
        cursor.execute(text, fill(values[0]))
    else:
        cursor.executemany(text, list(map(fill, values)))


def _prepare(dialect: sql.Dialect, statement: sql.Executable) -> tuple[str, Callable[[Values], Any]]:
    """The text of a statement, and what makes of values what the driver takes."""
    key = dialect.name, statement
    if key not in _prepared:
        compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        constants, order = {name: value for name, value in compiled.params.items() if value is not None}, compiled.positiontup
        by_name: Callable[[Values], Any] = lambda values: {**constants, **values}  # noqa: E731
        in_order: Callable[[Values], Any] = lambda values: [values.get(name, constants.get(name)) for name in order]  # noqa: E731
        _prepared[key] = compiled.string, in_order if order else by_name
    return _prepared[key]
