"""The rows of a table as measurements of a study: its metrics, which option, and what stands beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np

from paretopick._arrays import check_name
from paretopick._frames import Frame
from paretopick._words import quoted, short, text_of
from paretopick.errors import InvalidInput
from paretopick.metrics import ERROR_SUFFIX
from paretopick.studies.definition import RESERVED, Definition
from paretopick.studies.times import time_of
from paretopick.studies.told import LONGEST_TEXT, Told

STATUSES = ("told", "failed", "voided")
"""What exports say of measurements; those that count are told."""


def told_rows(definition: Definition, frame: Frame, option: str) -> list[tuple[str, Told]]:
    """Returns the measurements of a table, as ``Study.add`` takes them, or says what is wrong with which row.

    Rows without any value, and those that an export says have failed or were voided, are left out. So are settings of the
    options, and what else exports have of their own, but for who has measured, when, and which repeat it was.

    Args:
        definition: of the study.
        frame: the table.
        option: the column with the names of the options.
    """
    check_frame(frame, [option, *definition.goals])
    kept = {*definition.goals, *_extras(frame, {*definition.goals, *definition.settings[0], option})}
    kept |= {"repeat"} & set(frame.columns)
    rows = []
    for number, row in counting_rows(frame, definition.goals).items():
        try:
            name = option_name(row[option])
            definition.arm(name)
            told = definition.told({column: row[column] if column in definition.goals else _kept(row[column]) for column in kept})
            rows.append((name, told._replace(worker=_worker(row.get("worker")), at=time_of(row.get("at")))))
        except InvalidInput as problem:
            problem.args = (f"{frame.place(number)}: {problem}",)
            raise
    return rows


def check_frame(frame: Frame, needed: list[str]) -> None:
    """Refuses a table that lacks a column, or has no rows."""
    if needed[0] not in frame.columns:
        raise InvalidInput(
            f"{frame.name} has no column {needed[0]!r} with the names of the options; it has {quoted(frame.columns) or 'none'}. "
            "Say which it is: option=."
        )
    frame.check_columns(needed)
    if not frame.rows:
        raise InvalidInput(f"{frame.name} has no measurements; give each a row.")


def counting_rows(frame: Frame, metrics: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Returns the rows that have a value of some metric, without those that an export says have failed or were voided."""
    says = "status" in frame.columns and all(row["status"] in (None, "", *STATUSES) for row in frame.rows.values())
    return {
        number: row
        for number, row in frame.rows.items()
        if any(row[name] is not None for name in metrics) and (not says or row["status"] in (None, "", "told"))
    }


def option_name(value: Any) -> str:
    """Returns the name of an option, of which numbers are texts."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if value is None:
        raise InvalidInput("it names no option.")
    return check_name(str(value) if is_number else value, "option")


def _extras(frame: Frame, known: set[str]) -> list[str]:
    """The columns that are kept beside the metrics: not those without a name, nor those that come from a result."""
    return [name for name in frame.columns if name and name not in {*known, *RESERVED} and not name.endswith(ERROR_SUFFIX)]


def _kept(value: Any) -> Any:
    """What stands beside the metrics, as a number or a text."""
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.isoformat() if isinstance(value, date) else text_of(value)[:LONGEST_TEXT]


def _worker(value: Any) -> str | None:
    return None if value in (None, "") else check_name(value if isinstance(value, str) else short(value), "worker")
