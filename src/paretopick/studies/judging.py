"""``judge``: the answer for data that exist already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from paretopick._arrays import check_name
from paretopick._frames import Frame, TableGiven, read_frame
from paretopick._words import quoted, text_of
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.metrics import Metric, MetricsGiven, check_metrics, goals_of
from paretopick.studies.answer import LEVEL
from paretopick.studies.result import ParetoResult
from paretopick.studies.study import Study
from paretopick.studies.told_rows import check_frame, counting_rows, option_name, told_rows


def judge(
    frame: TableGiven,
    metrics: MetricsGiven,
    *,
    option: str = "option",
    exact: Iterable[str] = (),
    pairing: str | None = None,
    baseline: Any = None,
    level: float = LEVEL,
) -> ParetoResult:
    """Returns which options are Pareto-optimal by measurements that exist already, and how sure that is.

    It says the same as a study that was told these measurements; ``result.next_step`` says what more of them would bring.

    Args:
        frame: a row for each measurement, several for each option: a data frame of pandas, or of anything else that has the Arrow
            or the data frame protocol (polars, pyarrow, duckdb; these need the package pyarrow), a list of mappings, a mapping
            from columns to lists, or the path of a CSV file. Values that are missing (None, NaN, an empty cell) are missing
            metrics; rows without any value are left out, and so are those whose ``status`` an export says is failed or voided.
            Columns beside the metrics are kept (``result.measurements``), but for those that exports have of their own.
        metrics: the columns that count, with what matters about them: ``{"seconds": "min~2%<=50", "errors": "<=0.01"}``, or a
            list of ``pp.Metric``.
        option: the column with the names of the options.
        exact: metrics without noise, a price for instance.
        pairing: the column that says which measurements share what makes them vary, a plate or a split; or "repeat" if the n-th
            rows of all options belong together (or those with the same number in a column ``repeat``).
        baseline: the option that the result compares the others with, what is used today for instance.
        level: how probable it must be that an option is in, or out, to be called sure; above 0.5.

    >>> rows = [{"model": name, "accuracy": value} for name, value in [("a", 0.9), ("a", 0.92), ("b", 0.5), ("b", 0.53)]]
    >>> judge(rows, {"accuracy": "max"}, option="model").pareto
    ('a',)
    """
    measured = check_metrics(metrics, exact=exact)
    goals = goals_of(measured)
    table = read_frame(frame, numbers=list(goals), texts=[check_name(option, "column")])
    check_frame(table, [option, *goals])
    if pairing not in (None, "repeat"):
        table.check_columns([check_name(pairing, "column")])
    if pairing == "repeat" and "repeat" not in table.columns:
        table = _numbered(table, option)
    counting = counting_rows(table, goals)
    if not counting:
        raise InvalidInput(f"{table.name} has no measurements: no row has a value of {quoted(goals)}.")
    given = _options(table, option, counting)
    study = _study(list(given), measured, len(counting), pairing)
    study.add(told_rows(study.definition, table, option))
    return replace(study.result(level=level, baseline=baseline), judged=True, given=given)


def _options(table: Frame, column: str, counting: Collection[int]) -> dict[str, Any]:
    """The options by their names, in the order of the rows; those without an option and without measurements are no rows."""
    names: dict[str, Any] = {}
    for row, entries in table.rows.items():
        if entries[column] is None and row not in counting:
            continue
        try:
            names.setdefault(option_name(entries[column]), entries[column])
        except InvalidInput as problem:
            raise InvalidInput(f"{table.place(row)}: {problem}") from None
    return names


def _numbered(table: Frame, option: str) -> Frame:
    """The same with a column ``repeat``: the n-th row of its option, from 0."""
    seen: Counter[str] = Counter()
    rows = {}
    for row, entries in table.rows.items():
        name = text_of(entries[option])
        rows[row] = {**entries, "repeat": seen[name]}
        seen[name] += 1
    return replace(table, columns=(*table.columns, "repeat"), rows=rows)


def _study(options: list[str], metrics: Sequence[Metric], budget: int, pairing: str | None) -> Study:
    """The study that has asked for so many measurements, or that would ask for a few more."""
    create = partial(Study.create, "data", options=options, metrics=metrics, pairing=pairing, storage="sqlite://")
    try:
        return create(budget=budget)
    except BudgetTooSmall as refusal:
        return create(budget=refusal.smallest)
