"""Tables in files: options, sheets to fill in by hand, measurements to import, exports."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from paretopick.errors import InvalidInput, MissingFile
from paretopick.studies.study import Measurement, Study

FORMATS = ("csv", "json", "parquet")


@dataclass(frozen=True)
class Imported:
    """What the rows of a file brought."""

    told: int
    """Measurements that were asked for, new ones and those told before."""
    failed: int
    added: int
    """Measurements that nobody had asked for: they were made before the study, or beside it."""
    empty: int
    """Rows that are not filled in yet."""


def read_table(path: str | os.PathLike[str]) -> dict[int, dict[str, str]]:
    """Returns the rows of a CSV file, by their number in it, each by the names in the first line.

    As spreadsheets write them: separated by commas, semicolons or tabs, with or without a byte order mark, with empty lines.
    """
    content = _content(path)
    here = os.fspath(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{here} is not a text in UTF-8; save it as CSV in that encoding.") from None
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = {row: line for row, line in enumerate(reader, start=1) if any(map(str.strip, line))}
    if not lines:
        raise InvalidInput(f"{here} is empty; its first line must name the columns.")
    header = [name.strip() for name in lines.pop(min(lines))]
    for name in header:
        if not name or header.count(name) > 1:
            raise InvalidInput(f"{here} has {_times(header.count(name), name)} in its first line; name every column once.")
    for row, line in lines.items():
        if len(line) != len(header):
            raise InvalidInput(f"{here}, row {row}, has {len(line)} cells; the first line names {len(header)} columns.")
    decimal_comma = separator != ","
    return {
        row: {name: _cell(cell, decimal_comma) for name, cell in zip(header, line, strict=True)} for row, line in lines.items()
    }


def read_options(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """Returns options and their settings from a table: names are in the column ``option``, or else in the first."""
    here, rows = os.fspath(path), [*read_table(path).values()]
    if not rows:
        raise InvalidInput(f"{here} has no options; give each a row.")
    key = "option" if "option" in rows[0] else next(iter(rows[0]))
    names = [row[key] for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"option {name!r} is in {here} twice; every option needs a name of its own.")
    return {row[key]: {column: cell for column, cell in row.items() if column != key} for row in rows}


def sheet(study: Study, todos: Iterable[Measurement]) -> str:
    """Returns measurements to make as a table to fill in: a row each, with an empty cell for every metric.

    Whoever cannot measure one writes the reason into the column ``failed``.
    """
    settings = list(study.definition.settings[0])
    rows = [
        [todo.number, todo.option, *(todo.settings[name] for name in settings), todo.round, *[""] * len(study.metrics), ""]
        for todo in todos
    ]
    return _csv(["number", "option", *settings, "round", *study.metrics, "failed"], rows)


def import_table(study: Study, path: str | os.PathLike[str]) -> Imported:
    """Takes over a sheet that was filled in, or measurements made before the study; all rows, or none if one is wrong.

    A row with a number is what came out of that measurement. One without was not asked for, and needs the name of its option.
    Rows without any value are left for later. The same file can be imported again after more of it was filled in.
    """
    rows = read_table(path)
    here = os.fspath(path)
    columns = next((list(row) for row in rows.values()), None)
    for name in study.metrics:
        if columns is not None and name not in columns:
            raise InvalidInput(f"{here} has no column {name!r}; it has {', '.join(map(repr, columns))}.")
    told: dict[int, list[float]] = {}
    failed: dict[int, str] = {}
    added: list[tuple[str, list[float]]] = []
    empty = 0
    for line, row in rows.items():
        try:
            number, values, why = _number(row), _values(study, row), row.get("failed", "")
            if values is not None and why:
                raise InvalidInput("it has values and a reason in 'failed'; it can have one of both.")
            if number is not None and (number in told or number in failed):
                raise InvalidInput(f"measurement {number} is there a second time.")
            if values is None and not why:
                empty += 1
            elif number is None:
                if values is None:
                    raise InvalidInput("it says that a measurement failed, without its number.")
                if "option" not in row:
                    raise InvalidInput("it has neither a number nor an option; one must say what was measured.")
                study.definition.arm(row["option"])
                added.append((row["option"], values))
            elif values is None:
                failed[number] = why
            else:
                told[number] = values
        except InvalidInput as problem:
            raise InvalidInput(f"{here}, row {line}: {problem} Nothing was imported.") from None
    options = {number: row["option"] for row in rows.values() if (number := _number(row)) is not None and "option" in row}
    source = hashlib.sha256(repr(added).encode()).hexdigest()[:16] if added else ""
    study.record(told, failed, added, options=options, source=f"{Path(here).name} ({source})" if added else "")
    return Imported(len(told), len(failed), len(added), empty)


def export(study: Study, form: str) -> bytes:
    """Returns all measurements of a study as the content of a file.

    Args:
        study: of any state.
        form: "csv" or "parquet", a row per measurement; "json", with the definition, the result and every event, too.
    """
    rows = [{**row, "at": _time(row["at"])} for row in study.measurements()]
    columns = ["number", "option", "round", *study.metrics, "status", "why", "worker", "at"]
    if form == "csv":
        return _csv(columns, [[row[name] for name in columns] for row in rows]).encode()
    if form == "json":
        record = {
            "study": study.name,
            "definition": study.definition.to_dict(),
            "result": study.result().to_dict(),
            "measurements": rows,
            "events": [{**event._asdict(), "at": _time(event.at)} for event in study.events()],
        }
        return (json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    if form != "parquet":
        raise InvalidInput(f"there is no format {form!r}; write {', '.join(FORMATS)}.")
    try:
        import pandas
        import pyarrow  # noqa: F401 -- what pandas writes Parquet with
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"Parquet needs the package {missing.name}; pip install 'paretopick[parquet]', or export CSV."
        ) from None
    content = io.BytesIO()
    kinds = {"number": "int64", "round": "Int64", **dict.fromkeys(study.metrics, "float64")}
    pandas.DataFrame(rows, columns=columns).astype(kinds).to_parquet(content, index=False)
    return content.getvalue()


def _content(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"there is no file {os.fspath(path)}; check its name.") from None
    except OSError as problem:
        raise InvalidInput(f"{os.fspath(path)} cannot be read: {problem.strerror}.") from None


def _cell(text: str, decimal_comma: bool) -> str:
    """A cell without blanks around; where commas do not separate cells, 1,5 is a number."""
    text = text.strip()
    if decimal_comma and text.count(",") == 1:
        try:
            float(text.replace(",", "."))
        except ValueError:
            return text
        return text.replace(",", ".")
    return text


def _number(row: Mapping[str, str]) -> int | None:
    text = row.get("number", "")
    try:
        return int(text) if text else None
    except ValueError:
        raise InvalidInput(f"its number is {text!r}; it must be a whole number from a sheet, or empty.") from None


def _values(study: Study, row: Mapping[str, str]) -> list[float] | None:
    """The values of a row, None if it has none at all."""
    cells = {name: row[name] for name in study.metrics}
    if not any(cells.values()):
        return None
    missing = [name for name, cell in cells.items() if not cell]
    if missing:
        raise InvalidInput(f"there is no value for metric {missing[0]!r}; fill in all metrics, or none.")
    values = {}
    for name, cell in cells.items():
        try:
            values[name] = float(cell)
        except ValueError:
            raise InvalidInput(f"metric {name!r} is {cell!r}, which is not a number.") from None
    return study.definition.values(values)


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _times(n: int, name: str) -> str:
    return f"{name!r} {n} times" if name else "a column without a name"
