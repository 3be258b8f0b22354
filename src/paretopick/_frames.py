"""Tables of measurements, whatever holds them: data frames of any kind, Arrow tables, lists of rows, columns, CSV files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from paretopick._arrays import unboxed
from paretopick._tables import Table, read_table
from paretopick._words import quoted, short
from paretopick.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

TableGiven: TypeAlias = Any
"""A data frame (pandas, or whatever has ``__arrow_c_stream__`` or ``__dataframe__``: polars, pyarrow, duckdb), a list of
mappings, a mapping from columns to lists, or the path of a CSV file."""

NO_TABLE = (
    'is no table of measurements; give a data frame, a list of rows such as [{"option": "a", "seconds": 1.5}], a mapping from '
    "columns to lists, or the path of a CSV file"
)


@dataclass(frozen=True)
class Frame:
    """A table in memory: Python values, None where there is none."""

    name: str
    """By which messages know it: the path of a file, or "the table"."""
    columns: tuple[str, ...]
    rows: dict[int, dict[str, Any]]
    """By their number: in a file that of the line, else from 0 on, as Python counts."""

    def place(self, row: int) -> str:
        """Returns where a row is, as errors name it."""
        return f"{self.name}, row {row}"

    def check_columns(self, needed: Iterable[str]) -> None:
        """Refuses a table without a column."""
        for column in needed:
            if column not in self.columns:
                raise InvalidInput(f"{self.name} has no column {column!r}; it has {quoted(self.columns) or 'none'}.")


def is_table(given: Any) -> bool:
    """Whether something is meant to be a table: not whether it can be read."""
    if isinstance(given, str | os.PathLike | Mapping) or _is_frame(given):
        return True
    return isinstance(given, Sequence) and bool(given) and isinstance(given[0], Mapping)


def read_frame(given: TableGiven, *, numbers: Sequence[str] = (), texts: Sequence[str] = ()) -> Frame:
    """Returns a table, from whatever holds it.

    Args:
        given: as ``TableGiven`` has it.
        numbers: columns of a CSV file whose cells are numbers; those of a data frame are as they are.
        texts: columns of a CSV file that are texts, even if they look like numbers; if it has none of them, the first is.
    """
    if isinstance(given, str | os.PathLike):
        return _of_file(read_table(given, expected=(*texts, *numbers)), numbers, texts)
    if _is_frame(given):
        return _of_columns(*_columns(given))
    if isinstance(given, Mapping):
        return _of_columns(list(given), list(given.values()))
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray | memoryview):
        rows = list(given)
        if rows and all(isinstance(row, Mapping) for row in rows):
            names = list(dict.fromkeys(name for row in rows for name in row))
            return _of_columns(names, [[row.get(name) for row in rows] for name in names])
    shown = short(given)
    what = f"a {_kind(given)}" if "\n" in shown else shown
    raise InvalidInput(f"{what} {NO_TABLE}.")


def _is_frame(given: Any) -> bool:
    """Whether it is a data frame, or can be made one; classes of such have the same methods."""
    named = _is_pandas(given) or hasattr(given, "__arrow_c_stream__") or hasattr(given, "__dataframe__")
    return named and not isinstance(given, type)


def _is_pandas(given: Any) -> bool:
    loaded = sys.modules.get("pandas")
    return loaded is not None and isinstance(given, loaded.DataFrame)


def _columns(given: Any) -> tuple[list[Any], list[Any]]:
    """The names and the contents of the columns of a data frame."""
    if _is_pandas(given):
        return _of_pandas(given)
    try:
        import pyarrow
        import pyarrow.interchange
    except ModuleNotFoundError:
        return _without_arrow(given)
    try:
        through = pyarrow.table if hasattr(given, "__arrow_c_stream__") else pyarrow.interchange.from_dataframe
        table = through(given)
    except (TypeError, ValueError, NotImplementedError, RuntimeError) as problem:
        raise InvalidInput(f"a {_kind(given)} {NO_TABLE} ({problem}).") from None
    return list(table.column_names), [column.to_pylist() for column in table.columns]


def _without_arrow(given: Any) -> tuple[list[Any], list[Any]]:
    """The same, of a data frame that is not of pandas, by means of pandas."""
    if hasattr(given, "__dataframe__"):
        with suppress(ModuleNotFoundError):
            from pandas.api.interchange import from_dataframe

            return _of_pandas(from_dataframe(given))
    raise InvalidInput(
        f"to read a {_kind(given)} the package pyarrow is needed: pip install pyarrow; or give a list of rows, a mapping from "
        "columns to lists, or a CSV file."
    )


def _kind(given: Any) -> str:
    return f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"


def _of_pandas(frame: Any) -> tuple[list[Any], list[Any]]:
    """Indices that have a name are columns, too."""
    names = [name for name in frame.index.names if name is not None and name not in frame.columns]
    named = frame.reset_index(level=names) if names else frame
    contents = (named.iloc[:, place].astype(object) for place in range(named.shape[1]))
    return list(named.columns), [column.where(column.notna(), None).tolist() for column in contents]


def _of_columns(names: Sequence[Any], contents: Sequence[Any]) -> Frame:
    columns = tuple(name if isinstance(name, str) else short(name) for name in names)
    for name in columns:
        if columns.count(name) > 1:
            raise InvalidInput(f"the table has {columns.count(name)} columns {name!r}; name every column once.")
    lists = [_entries(name, content) for name, content in zip(columns, contents, strict=True)]
    for name, entries in zip(columns, lists, strict=True):
        if len(entries) != len(lists[0]):
            raise InvalidInput(
                f"the column {name!r} has {len(entries)} entries, and {columns[0]!r} has {len(lists[0])}; give all as many."
            )
    n_rows = len(lists[0]) if lists else 0
    rows = {row: {name: entries[row] for name, entries in zip(columns, lists, strict=True)} for row in range(n_rows)}
    return Frame("the table", columns, rows)


def _entries(name: str, content: Any) -> list[Any]:
    if isinstance(content, str | bytes | Mapping) or not isinstance(content, Iterable):
        raise InvalidInput(f"the column {name!r} is {short(content)}; a table has a list for each column.")
    try:
        return [plain_value(value) for value in content]
    except TypeError:  # an array without dimensions
        raise InvalidInput(f"the column {name!r} is {short(content)}; a table has a list for each column.") from None


def plain_value(value: Any) -> Any:
    """Returns an entry of a table as a Python value: None where it is missing, as NaN, NaT and NA are.

    >>> [plain_value(value) for value in (np.float64(1.5), float("nan"), np.int8(3), Decimal("0.5"), "nan", None)]
    [1.5, None, 3, 0.5, 'nan', None]
    >>> plain_value(np.datetime64("2026-01-31", "ns"))
    datetime.datetime(2026, 1, 31, 0, 0)
    """
    if isinstance(value, np.datetime64 | np.timedelta64):  # of nanoseconds Python would make a number
        value = value.astype(f"{value.dtype.str[1]}8[us]")
    value = unboxed(value)
    if isinstance(value, Decimal):
        value = float(value)
    try:
        return None if value is None or value != value else value
    except TypeError:  # pandas' NA does not say whether it is equal to itself
        return None
    except Exception:  # an array, or an object of somebody else
        return value


def pandas_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Returns rows as a data frame of pandas, which is not needed otherwise, or says how to get it."""
    try:
        import pandas as pd
    except ImportError as missing:
        raise ImportError("to_pandas() needs pandas, which is not installed: pip install 'paretopick[pandas]'") from missing
    return pd.DataFrame(rows, columns=None if columns is None else list(columns))


def _of_file(table: Table, numbers: Sequence[str], texts: Sequence[str]) -> Frame:
    there = [name for name in numbers if name in table.columns]
    labels = [name for name in texts if name in table.columns] or table.columns[:1]
    table.check_decimals(there)

    def value(row: int, name: str) -> Any:
        if name in there:
            return table.number(row, name) if table.rows[row][name] else None
        return table.rows[row][name] or None if name in labels else table.value(row, name)

    return Frame(table.name, table.columns, {row: {name: value(row, name) for name in table.columns} for row in table.rows})
