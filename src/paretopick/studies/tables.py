"""Tables in files: options, sheets to fill in by hand, measurements to import, exports."""

from __future__ import annotations

import difflib
import io
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from paretopick._arrays import check_name
from paretopick._tables import Table, csv_text, read_table
from paretopick._texts import whole_number_of
from paretopick._words import quoted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import LARGEST_VALUE
from paretopick.studies.measurement import Measurement
from paretopick.studies.study import Study

FORMATS = ("csv", "json", "parquet")

NO_FAILURE = ("", "-", "0", "no", "none", "false", "n", "nein", "non")
"""What people write into the column ``failed`` when nothing failed."""


@dataclass(frozen=True)
class Imported:
    """What the rows of a file brought."""

    told: int
    """Measurements that were asked for, new ones and those told before."""
    failed: int
    added: int
    """Measurements that nobody had asked for: they were made before the study, or beside it."""
    known: int
    """Such measurements that were imported before."""
    empty: int
    """Rows that are not filled in yet, or that an export says failed or were voided."""


def read_options(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """Returns options and their settings from a table: names are in the column ``option``, or else in the first."""
    table = read_table(path, expected=("option",))
    if not table.rows:
        raise InvalidInput(f"{table.name} has no options; give each a row.")
    key = "option" if "option" in table.columns else table.columns[0]
    names = [row[key] for row in table.rows.values()]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"option {name!r} is in {table.name} twice; every option needs a name of its own.")
    return {row[key]: {column: cell for column, cell in row.items() if column != key} for row in table.rows.values()}


def sheet(study: Study, todos: Iterable[Measurement]) -> str:
    """Returns measurements to make as a table to fill in: a row each, with an empty cell for every metric.

    Whoever cannot measure one writes the reason into the column ``failed``.
    """
    settings = list(study.definition.settings[0])
    rows = [
        [
            todo.number,
            todo.option,
            *(todo.settings[name] for name in settings),
            todo.round,
            *[""] * len(study.metrics),
            "",
            study.name,
        ]
        for todo in todos
    ]
    return csv_text(["number", "option", *settings, "round", *study.metrics, "failed", "study"], rows)


def import_table(study: Study, path: str | os.PathLike[str], *, again: bool = False, request: str | None = None) -> Imported:
    """Takes over a sheet that was filled in, or measurements made before the study; all rows, or none if one is wrong.

    A row with a number is what came out of that measurement. One without was not asked for, and needs the name of its option.
    Rows without any value are left for later. The same file can be imported again after more of it was filled in, or after rows
    were added at its end.

    Args:
        study: that takes them.
        path: of a CSV file.
        again: whether rows that are equal to some that were imported before are other measurements.
        request: an id of this call; given again with the same one, it has no further effect.
    """
    table = read_table(path, expected=("number", "option", "failed", *study.metrics))
    _check_columns(study, table)
    read = _Read()
    for line, row in table.rows.items():
        try:
            read.take(study, table, row, line)
        except InvalidInput as problem:
            raise InvalidInput(f"{_at(table, line, problem)} Nothing was imported.") from None
    try:
        added = study.record(read.told, read.failed, read.added, options=read.options, again=again, request=request)
    except InvalidInput as problem:
        problem.args = (f"{table.name}{read.place(problem)}: {problem} Nothing was imported.",)
        raise
    return Imported(len(read.told), len(read.failed), len(added), len(read.added) - len(added), read.empty)


def read_measurements(path: str | os.PathLike[str], metrics: Mapping[str, str]) -> dict[str, list[list[float]]]:
    """Returns the measurements of every option in a table, in the order of the metrics; rows that an export voided are left out.

    Args:
        path: of a CSV file with a row for each measurement: its option (in the column ``option``, or else the first), and a
            value for every metric.
        metrics: names and goals.
    """
    table = read_table(path, expected=("option", *metrics))
    _check_metrics(metrics, table)
    key = "option" if "option" in table.columns else table.columns[0]
    if key in metrics:
        raise InvalidInput(f"{table.name} has no column that names the options; call it 'option'.")
    measured: dict[str, list[list[float]]] = {}
    for line, row in table.rows.items():
        try:
            values = _values(metrics, table, line)
            if values is None or row.get("status", "told") not in ("", "told"):
                continue
            for name, value in values.items():
                if not abs(value) <= LARGEST_VALUE:
                    raise InvalidInput(f"metric {name!r} is {value:g}; expected a number within {LARGEST_VALUE:g}.")
            measured.setdefault(check_name(row[key], "option"), []).append(list(values.values()))
        except InvalidInput as problem:
            raise InvalidInput(_at(table, line, problem)) from None
    if not measured:
        raise InvalidInput(f"{table.name} has no measurements; give each a row.")
    return measured


class _Read:
    """What the rows of a table say."""

    def __init__(self) -> None:
        self.told: dict[int, list[float | None]] = {}
        self.failed: dict[int, str] = {}
        self.added: list[tuple[str, list[float | None]]] = []
        self.options: dict[int, str] = {}
        self.lines: dict[int | tuple[int], int] = {}
        """Where a number is in the file, or the n-th of those that were added."""
        self.empty = 0

    def place(self, problem: Exception) -> str:
        """Returns the row that an error speaks of, as far as it names a measurement."""
        found = re.match(r"measurement (\d+)( of \d+,)?", str(problem))
        line = None if found is None else self.lines.get((int(found[1]),) if found[2] else int(found[1]))
        return "" if line is None else f", row {line}"

    def take(self, study: Study, table: Table, row: Mapping[str, str], line: int) -> None:
        """Reads one more row."""
        number, given, why = _number(row), _values(study.metrics, table, line), row.get("failed", "")
        for name, value in (given or {}).items():
            if not math.isfinite(value):
                raise InvalidInput(
                    f"metric {name!r} is {value}; leave the cells of a measurement that failed empty, and write the reason into "
                    "the column 'failed', or leave the row out."
                )
        values = None if given is None else study.definition.values(given)
        why = "" if why.casefold() in NO_FAILURE else why
        if row.get("study", study.name) not in ("", study.name):
            if "status" not in row:
                raise InvalidInput(f"it is of the study {row['study']!r}, and not of {study.name!r}.")
            number = None  # an export of another study: made before this one
        elif number is None and row.get("study"):
            raise InvalidInput("it is of a sheet, and its number is missing; without, it would count twice.")
        if values is not None and why:
            raise InvalidInput("it has values and a reason in 'failed'; it can have one of both.")
        if (values is None and not why) or row.get("status", "told") not in ("", "told"):
            self.empty += 1
            return
        if number is None:
            if values is None:
                raise InvalidInput("it says that a measurement failed, without its number.")
            if "option" not in row:
                raise InvalidInput(
                    "it has neither a number nor an option; one column must be called 'option', and there are "
                    f"{quoted(table.columns)}."
                )
            study.definition.arm(row["option"])
            self.added.append((row["option"], values))
            self.lines[(len(self.added),)] = line
            return
        if number in self.told or number in self.failed:
            raise InvalidInput(f"measurement {number} is there a second time.")
        self.lines[number] = line
        if "option" in row:
            self.options[number] = row["option"]
        if values is None:
            self.failed[number] = why
        else:
            self.told[number] = values


def _check_metrics(metrics: Iterable[str], table: Table) -> None:
    """Refuses a table without a metric, or whose numbers can be read in two ways."""
    names = list(metrics)
    table.check_columns(names)
    table.check_decimals(names)


def _check_columns(study: Study, table: Table) -> None:
    """Refuses a table without a metric, and a column that was meant to be one that matters."""
    _check_metrics(study.metrics, table)
    known = {"number", "option", "round", "failed", "study", *study.metrics, *study.definition.settings[0]}
    for column in set(table.columns) - known:
        near = difflib.get_close_matches(column.lower(), {"number", "option", "failed"} - set(table.columns), n=1, cutoff=0.8)
        if near:
            raise InvalidInput(f"{table.name} has a column {column!r}; did you mean {near[0]!r}?")


def export(study: Study, form: str) -> bytes:
    """Returns all measurements of a study as the content of a file.

    Args:
        study: of any state.
        form: "csv" or "parquet", a row per measurement; "json", with the definition, the result and every event, too.

    An export has a column ``study``, so that its numbers are not taken for those of another one.
    """
    rows = [{**row, "at": time_text(row["at"]), "study": study.name} for row in study.measurements()]
    columns = ["number", "option", "round", *study.metrics, "status", "why", "worker", "at", "study"]
    if form == "csv":
        return csv_text(columns, [[row[name] for name in columns] for row in rows]).encode()
    if form == "json":
        record = {
            "study": study.name,
            "definition": study.definition.to_dict(),
            "result": study.result().to_dict(),
            "measurements": rows,
            "events": [{**event._asdict(), "at": time_text(event.at)} for event in study.events()],
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


def _number(row: Mapping[str, str]) -> int | None:
    text = row.get("number", "")
    try:
        return whole_number_of(text.removesuffix(".0").removesuffix(",0")) if text else None
    except ValueError:
        raise InvalidInput(f"its number is {short(text)}; it must be a whole number from a sheet, or empty.") from None


def _values(metrics: Iterable[str], table: Table, line: int) -> dict[str, float] | None:
    """The values of a row, None if it has none at all."""
    cells = {name: table.rows[line][name] for name in metrics}
    if not any(cells.values()):
        return None
    missing = [name for name, cell in cells.items() if not cell]
    if missing:
        raise InvalidInput(f"there is no value for metric {missing[0]!r}; fill in all metrics, or none.")
    return {name: table.number(line, name) for name in cells}


def _at(table: Table, line: int, problem: Exception) -> str:
    """What is wrong with a row, with its place in front."""
    place = f"{table.place(line)}: "
    return f"{place}{str(problem).removeprefix(place)}"


def time_text(at: float) -> str:
    """A moment, in seconds since 1970, as people and spreadsheets read it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
