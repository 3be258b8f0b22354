"""The rows of a file of measurements: what each says, what is wrong with it, and what the study knows of it already."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paretopick._arrays import check_name
from paretopick._tables import Table
from paretopick._texts import whole_number_of
from paretopick._words import counted, cut, quoted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import ERROR_SUFFIX
from paretopick.studies.definition import RESERVED
from paretopick.studies.repeats import check_repeat
from paretopick.studies.study import Study
from paretopick.studies.tables import cells_of, check_metric_columns
from paretopick.studies.times import time_of
from paretopick.studies.told import Told

NO_FAILURE = ("", "-", "0", "no", "none", "false", "n", "nein", "non")
"""What people write into the column ``failed`` when nothing failed."""

MOST_PROBLEMS = 20
"""Of a file that are named."""


@dataclass(frozen=True)
class Difference:
    """A value that is another one than was told before."""

    row: int
    """In the file."""
    number: int
    """Of the measurement."""
    option: str
    metric: str
    before: float | None
    """None if it was missing."""
    after: float | None

    def __str__(self) -> str:
        before, after = ("missing" if value is None else f"{value:.15g}" for value in (self.before, self.after))
        return f"row {self.row}: {self.metric} of measurement {self.number} ({self.option}) was {before}, and is {after} here"


@dataclass
class _Row:
    """What a row of a file says about a measurement that was asked for."""

    line: int
    option: str | None
    values: list[float | None] | None
    """None if it failed."""
    why: str = ""
    repeat: int | None = None
    """None if it is not said."""


@dataclass
class FilledRows:
    """What the rows of a table say, and how that compares with what the study holds."""

    study: Study
    table: Table
    request: str | None
    told: dict[int, Told] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    costs: dict[int, float] = field(default_factory=dict)
    """Of what failed, as far as it is said."""
    added: list[tuple[str, Told, int]] = field(default_factory=list)
    """Option, measurement, and row."""
    corrected: dict[int, list[float | None]] = field(default_factory=dict)
    options: dict[int, str] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    """Numbers that are told now."""
    failures: list[int] = field(default_factory=list)
    """Numbers that failed now."""
    known: int = 0
    empty: int = 0

    def __post_init__(self) -> None:
        _check_columns(self.study, self.table)
        self._rows: dict[int, _Row] = {}
        self._problems: dict[int, str] = {}
        self._older: list[int] = []
        self._other_extras: list[int] = []
        self._exact = self.study.exact_values()
        self._roundless = self.study.definition.choice.roundless
        settings = self.study.definition.settings[0]
        self._extras = [name for name in self.table.columns if _is_extra(name, {*self.study.metrics, *settings})]
        theirs = not self.study.definition.counts_repeats and "repeat" not in {*self.study.metrics, *settings}
        if theirs and "repeat" in self.table.columns:
            self._extras.append("repeat")
        for name in self._extras:
            check_name(name, "value beside the metrics")

    def take(self, line: int) -> None:
        """Reads one more row."""
        try:
            self._take(line, self.table.rows[line])
        except InvalidInput as problem:
            self._refuse(line, problem)

    def _refuse(self, line: int, problem: Exception | str) -> None:
        self._problems.setdefault(line, str(problem).removeprefix(f"{self.table.place(line)}: "))

    def _take(self, line: int, row: Mapping[str, str]) -> None:
        number, why = _number(row), row.get("failed", "")
        why = "" if why.casefold() in NO_FAILURE else why
        values = self._values(line, row)
        if row.get("study", self.study.name) not in ("", self.study.name):
            if "status" not in row:
                raise InvalidInput(f"it is of the study {row['study']!r}, and not of {self.study.name!r}.")
            number = None  # an export of another study: made before this one
        elif number is None and row.get("study"):
            raise InvalidInput("it is of a sheet, and its number is missing; without, it would count twice.")
        if values is not None and why:
            raise InvalidInput("it has values and a reason in 'failed'; it can have one of both.")
        if (values is None and not why) or row.get("status", "told") not in ("", "told"):
            self.empty += 1
        elif number is not None:
            if number in self._rows:
                raise InvalidInput(f"measurement {number} is there a second time.")
            self._rows[number] = _Row(line, row.get("option"), values, why, self._repeat(row))
        elif values is None:
            raise InvalidInput("it says that a measurement failed, without its number.")
        elif "option" not in row:
            raise InvalidInput(
                "it has neither a number nor an option; one column must be called 'option', and there are "
                f"{quoted(self.table.columns)}."
            )
        else:
            self.study.definition.arm(row["option"])
            self._check_exact(row["option"], values)
            self.added.append((row["option"], self._measured(line, values), line))

    def _repeat(self, row: Mapping[str, str]) -> int | None:
        """Which repeat of its option a measurement was, if that is said."""
        text = row.get("repeat", "") if self.study.definition.counts_repeats else ""
        try:
            return check_repeat(whole_number_of(text.removesuffix(".0").removesuffix(",0"))) if text else None
        except ValueError:
            raise InvalidInput(f"its repeat is {short(text)}; it must be a whole number from 0 on, or empty.") from None

    def _values(self, line: int, row: Mapping[str, str]) -> list[float | None] | None:
        """In the order of the metrics; None if the row has none."""
        study = self.study
        if not any(row[name] for name in study.metrics):
            return None
        given = cells_of(study.metrics, self.table, line)
        for name, value in given.items():
            if value is None and not self._roundless:
                raise InvalidInput(
                    f"there is no value for metric {name!r}, and {study.definition.policy} compares options in rounds, all "
                    "metrics measured equally often; fill in all metrics, or empty them and write the reason into 'failed'."
                )
            if value is not None and not math.isfinite(value):
                cell = " leave the cell empty; or" if self._roundless else ""
                raise InvalidInput(
                    f"metric {name!r} is {value};{cell} leave the cells of a measurement that failed empty, and write the reason "
                    "into the column 'failed', or leave the row out."
                )
        return study.definition.values(given)

    def _measured(self, line: int, values: Sequence[float | None]) -> Told:
        """A measurement with what a row says beside the metrics."""
        row, metrics = self.table.rows[line], self.study.metrics
        extra = {name: self.table.value(line, name) for name in self._extras}
        told = self.study.definition.told({**dict(zip(metrics, values, strict=True)), **extra})
        worker = row.get("worker") or None
        who = None if worker is None else check_name(worker, "worker")
        return told._replace(worker=who, at=time_of(row.get("at", "")), repeat=self._repeat(row))

    def _check_exact(self, option: str, values: Sequence[float | None]) -> None:
        """Refuses a row with another value of an exact metric than the study has, or a row before it."""
        known = self._exact.setdefault(option, {})
        for metric, value in zip(self.study.definition.metrics, values, strict=True):
            if metric.exact and value is not None and value != known.setdefault(metric.name, value):
                raise InvalidInput(
                    f"metric {metric.name!r} of {option!r} is {value:.15g} and was {known[metric.name]:.15g} before; an exact "
                    "metric never changes, so one of them is wrong, or the metric is not exact."
                )

    def sort_out(self) -> None:
        """Compares the rows that have a number with what the study knows of these."""
        there = self.study.look_up(list(self._rows))
        for number, row in self._rows.items():
            try:
                self._compare(number, row, there.get(number))
            except InvalidInput as problem:
                self._refuse(row.line, problem)

    def _compare(self, number: int, row: _Row, there: Mapping[str, Any] | None) -> None:
        if there is None:
            raise InvalidInput(f"measurement {number} was never handed out, or was given back; see 'number' in the sheet.")
        if row.option is not None and row.option != there["option"]:
            raise InvalidInput(
                f"measurement {number} is of {there['option']!r}, and not of {row.option!r}; have rows been mixed up?"
            )
        if row.option is not None:
            self.options[number] = row.option
        if row.repeat is not None and row.repeat != there["repeat"]:
            was = "has no repeat" if there["repeat"] is None else f"is repeat {there['repeat']}"
            raise InvalidInput(f"measurement {number} {was}, and not {row.repeat}; have rows been mixed up?")
        mine = self.request is not None and there["request"] == self.request  # the same call, made again
        if row.values is None:
            self._compare_failure(number, row, there, mine)
            return
        before = [there[name] for name in self.study.metrics]
        if mine and there["before"]:
            self._correct(number, row, there, there["before"][-1])
        elif there["status"] == "out" or mine:
            if there["status"] == "out":
                self._check_exact(there["option"], row.values)
            self.told[number] = self._measured(row.line, row.values)
            self.new.append(number)
        elif before == row.values:
            self.told[number] = Told(row.values, {})
            self.known += 1
            self._compare_extras(number, row, there)
        elif there["status"] == "told" and row.values in there["before"]:
            self.told[number] = Told(row.values, {})
            self.known += 1
            self._older.append(number)
        elif there["status"] == "told":
            self._correct(number, row, there, before)
        else:
            fate = "failed" if there["status"] == "failed" else "was taken back"
            raise InvalidInput(
                f"measurement {number} {fate} ({there['why']}); leave the row out. It is measured again under another number; if "
                "these are its right values, import them in a file without the columns 'number' and 'study'."
            )

    def _correct(self, number: int, row: _Row, there: Mapping[str, Any], before: Sequence[float | None]) -> None:
        self.corrected[number] = row.values or []
        named = zip(self.study.metrics, before, self.corrected[number], strict=True)
        self.differences += [
            Difference(row.line, number, there["option"], name, old, new) for name, old, new in named if old != new
        ]

    def _compare_failure(self, number: int, row: _Row, there: Mapping[str, Any], mine: bool) -> None:
        if there["status"] not in ("out", "failed"):
            if there["status"] == "told":
                raise InvalidInput(f"measurement {number} has values already; void it if it was wrong.")
            raise InvalidInput(f"measurement {number} was taken back ({there['why']}); leave the row out.")
        self.failed[number] = row.why
        costs = self.study.definition.costs
        if costs is not None and costs.name in self._extras and self.table.rows[row.line][costs.name]:
            self.costs[number] = costs.checked(self.table.value(row.line, costs.name))
        if there["status"] == "out" or mine:
            self.failures.append(number)
        else:
            self.known += 1

    def _compare_extras(self, number: int, row: _Row, there: Mapping[str, Any]) -> None:
        cells = {name: self.table.value(row.line, name) for name in self._extras}
        if any(cell is not None and str(cell) != str(there.get(name)) for name, cell in cells.items()):
            self._other_extras.append(number)

    def refuse_problems(self) -> None:
        """Says all that is wrong with the file, if there is anything."""
        if not self._problems:
            return
        lines = sorted(self._problems)
        if len(lines) == 1:
            raise InvalidInput(f"{self.table.place(lines[0])}: {self._problems[lines[0]]} Nothing was imported.")
        raise InvalidInput(
            listing(
                f"{self.table.name} has {counted(len(lines), 'row')} with a problem; nothing was imported:",
                [f"row {line}: {self._problems[line]}" for line in lines],
            )
        )

    def place(self, problem: Exception) -> str:
        """Returns the row that an error speaks of, as far as it names a measurement."""
        found = re.match(r"measurement (\d+)( of \d+,)?", str(problem))
        if found is None:
            return ""
        at = int(found[1])
        line = self.added[at - 1][2] if found[2] else self._rows[at].line if at in self._rows else None
        return "" if line is None else f", row {line}"

    def notes(self) -> list[str]:
        """Returns what was left as it was."""
        said = []
        if self._older:
            said.append(f"the values of {_numbers(self._older)} were corrected since; the corrections stay.")
        if self._other_extras:
            said.append(f"what stands beside the metrics of {_numbers(self._other_extras)} was otherwise before, and stays.")
        return said


def _check_columns(study: Study, table: Table) -> None:
    """Refuses a table without a metric, and a column that was meant to be one that matters."""
    check_metric_columns(study.metrics, table)
    known = {*RESERVED, *study.metrics, *study.definition.settings[0]}
    for column in set(table.columns) - known:
        near = difflib.get_close_matches(column.lower(), {"number", "option", "failed"} - set(table.columns), n=1, cutoff=0.8)
        if near:
            raise InvalidInput(f"{table.name} has a column {column!r}; did you mean {near[0]!r}?")


def _is_extra(column: str, known: set[str]) -> bool:
    """Whether a column is kept beside the metrics: not if it has no name, or comes from a result."""
    return bool(column) and column not in known and column not in RESERVED and not column.endswith(ERROR_SUFFIX)


def _number(row: Mapping[str, str]) -> int | None:
    text = row.get("number", "")
    try:
        number = whole_number_of(text.removesuffix(".0").removesuffix(",0")) if text else None
    except ValueError:
        raise InvalidInput(f"its number is {short(text)}; it must be a whole number from a sheet, or empty.") from None
    if number is not None and not 1 <= number < 2**31:
        raise InvalidInput(f"its number is {short(text)}; it must be one from a sheet.")
    return number


def listing(title: str, lines: Sequence[str]) -> str:
    """Returns a sentence and lines below it, the first ones if they are many."""
    more = [f"and {len(lines) - MOST_PROBLEMS} more"] if len(lines) > MOST_PROBLEMS else []
    return "\n  ".join([title, *(cut(line, 400) for line in lines[:MOST_PROBLEMS]), *more])


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_PROBLEMS]))
    return f"measurement{'s' if len(numbers) > 1 else ''} {shown}{' and others' if len(numbers) > MOST_PROBLEMS else ''}"
