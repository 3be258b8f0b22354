"""Tables in files: options, sheets to fill in by hand, measurements made elsewhere, exports."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from paretopick._arrays import check_name
from paretopick._frames import TableGiven, read_frame
from paretopick._tables import Table, csv_text, read_table
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.metrics import LARGEST_VALUE
from paretopick.studies.blocks import Block, as_block
from paretopick.studies.measurement import Measurement
from paretopick.studies.study import Study
from paretopick.studies.times import time_text
from paretopick.studies.told_rows import check_frame, counting_rows, option_name
from paretopick.studies.views import columns_of, measured_frame

FORMATS = ("csv", "json", "parquet")


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
    """Returns measurements to make as a table to fill in: a row each, with an empty cell for every metric, and for what it cost.

    And for what it shares with others, where the study is paired by a column.

    Whoever cannot measure one writes the reason into the column ``failed``. Rounds are named where there are some.
    """
    settings, in_rounds = list(study.definition.settings[0]), not study.definition.choice.roundless
    costs = study.definition.costs
    pairing = study.definition.pairing
    to_fill_in = [*study.metrics, *([costs.name] if costs is not None and costs.is_beside else [])]
    to_fill_in = [*([] if pairing in (None, "repeat", *to_fill_in) else [str(pairing)]), *to_fill_in]
    rows = [
        {
            "number": todo.number,
            "option": todo.option,
            "round": todo.round,
            "repeat": todo.repeat,
            "failed": "",
            "study": study.name,
            **dict.fromkeys(to_fill_in, ""),
            **todo.settings,
        }
        for todo in todos
    ]
    ours = [*(["round"] if in_rounds else []), *(["repeat"] if study.definition.counts_repeats else [])]
    return csv_text(["number", "option", *settings, *ours, *to_fill_in, "failed", "study"], rows)


class MeasuredTable(NamedTuple):
    """Measurements that stand in a table, by option."""

    rows: dict[str, list[list[float]]]
    """In the order of the metrics."""
    blocks: dict[str, list[Block | None]]
    """What each shares with others; None for nothing."""
    name: str
    """Of the table, as messages know it."""


def read_measurements(
    given: TableGiven, metrics: Mapping[str, str | None], *, option: str | None = None, pairing: str | None = None
) -> MeasuredTable:
    """Returns the measurements of every option in a table; rows that an export voided are left out.

    Args:
        given: a CSV file or a data frame with a row for each measurement: its option and a value for every metric.
        metrics: names and goals.
        option: the column of the options; by default ``option``, or else the first.
        pairing: the column whose values say what measurements share, or "repeat": without such a column, the n-th rows of all
            options share something. None if nothing is shared.
    """
    named = None if option is None else check_name(option, "column")
    frame = read_frame(given, numbers=list(metrics), texts=[named or "option"])
    frame.check_columns(metrics)
    if pairing is not None and pairing != "repeat":
        if pairing in metrics:
            raise InvalidInput(f"pairing={pairing!r} is a metric; name the column that says what measurements share.")
        frame.check_columns([pairing])
    key = named or ("option" if "option" in frame.columns else frame.columns[0])
    if key in metrics:
        raise InvalidInput(f"{frame.name} has no column that names the options; call it 'option'.")
    check_frame(frame, [key])
    measured: dict[str, list[list[float]]] = {}
    blocks: dict[str, list[Block | None]] = {}
    for number, row in counting_rows(frame, metrics).items():
        try:
            name = option_name(row[key])
            measured.setdefault(name, []).append([_known(metric, row[metric]) for metric in metrics])
            if pairing is not None:
                same = blocks.setdefault(name, [])
                same.append(as_block(row[pairing]) if pairing in frame.columns else len(same))
        except InvalidInput as problem:
            raise InvalidInput(f"{frame.place(number)}: {problem}") from None
    if not measured:
        raise InvalidInput(f"{frame.name} has no measurements; give each a row.")
    return MeasuredTable(measured, blocks, frame.name)


def _known(metric: str, value: Any) -> float:
    """A value as a number, or what is wrong with it."""
    if value is None:
        raise InvalidInput(f"there is no value for metric {metric!r}; fill in all metrics, or none.")
    if not isinstance(value, int | float):
        raise InvalidInput(f"metric {metric!r} is {short(value)}, which is not a number.")
    if not abs(value) <= LARGEST_VALUE:
        raise InvalidInput(f"metric {metric!r} is {short(value)}; expected a number within {LARGEST_VALUE:g}.")
    return float(value)


def check_metric_columns(metrics: Iterable[str], table: Table) -> None:
    """Refuses a table without the column of a metric, or whose numbers can be read in two ways."""
    names = list(metrics)
    table.check_columns(names)
    table.check_decimals(names)


def measured_rows(study: Study) -> tuple[list[str], list[dict[str, Any]]]:
    """Returns the columns of a table of all measurements, and its rows: with the study, and times as people read them."""
    measured = study.measurements()
    columns = columns_of(study.definition, measured)
    columns.insert(len(columns_of(study.definition, ())), "study")
    return columns, [{**row, "at": time_text(row["at"]), "study": study.name} for row in measured]


def export(study: Study, form: str) -> bytes:
    """Returns all measurements of a study as the content of a file.

    Args:
        study: of any state.
        form: "csv" or "parquet", a row per measurement; "json", with the definition, the result and every event, too.

    An export has a column ``study``, so that its numbers are not taken for those of another one, and the settings of options.
    What was told beside the metrics is last.
    """
    columns, rows = measured_rows(study)
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
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401 -- what pandas writes Parquet with
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"Parquet needs the package {missing.name}; pip install 'paretopick[parquet]', or export CSV."
        ) from None
    content = io.BytesIO()
    frame = measured_frame(study.definition, columns, rows)
    extras = columns[columns.index("study") + 1 :]
    for name in [*study.definition.settings[0], *extras]:  # a column of Parquet has one type
        if not all(value is None or isinstance(value, int | float) for value in (row[name] for row in rows)):
            frame[name] = [None if row[name] is None else str(row[name]) for row in rows]
    frame.to_parquet(content, index=False)
    return content.getvalue()


def cells_of(metrics: Iterable[str], table: Table, line: int) -> dict[str, float | None]:
    """Returns the values of a row, None for those that are not filled in."""
    cells = {name: table.rows[line][name] for name in metrics}
    return {name: table.number(line, name) if cell else None for name, cell in cells.items()}
