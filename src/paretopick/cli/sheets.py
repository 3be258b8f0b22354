"""The verbs that read and write tables of a study: sheets to fill in by hand, imports and exports."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from paretopick._arrays import check_choice
from paretopick._tables import csv_text
from paretopick._words import counted
from paretopick.cli.amendments import name_far_off
from paretopick.cli.arguments import (
    SHOWN,
    Csv,
    Force,
    Json,
    Name,
    OnlyName,
    Request,
    Storage,
    Where,
    Why,
    check_one_form,
    column_pairs,
    open_study,
)
from paretopick.cli.output import check_target, note, print_json, print_standing, print_table, write_or_print
from paretopick.errors import AlreadyTold, InvalidInput, NotReady
from paretopick.studies import Study, tables
from paretopick.studies.filled_rows import Difference
from paretopick.studies.imports import Imported, import_table
from paretopick.studies.views import matching

FEWEST_ROWS = 8
"""Of a sheet, where there are no rounds."""


def sheet(
    name: OnlyName = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The CSV file to write.  [default: standard output]", show_default=False),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            help="How many rows, at most.  [default: one for each option, at least 8; of policies with rounds, the whole round]",
            show_default=False,
        ),
    ] = None,
    worker: Annotated[
        str, typer.Option(help="The name of whoever fills it in; people with sheets of their own need different names.")
    ] = "sheet",
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write what to measure next as a table to fill in by hand.

    It is a CSV file, to be read back with "import". The measurements are reserved without limit. Asked again, the same rows come
    out until they were imported. Fewer rows at a time are better chosen: each sheet follows from all that is known by then.
    """
    _check_csv(output)
    check_target(output, force=force)  # before anything is reserved
    study = open_study(name, storage)
    todos = study.ask(_usual_rows(study, worker) if n is None else n, worker=worker, lease=None)
    if not todos and not as_json:
        raise NotReady(
            f"there is nothing to measure: {'the study is done' if study.done else 'all that is left is with others'}; "
            f"see paretopick status {shlex.quote(study.name)}."
        )
    if as_json:
        ours = ["round", *(["repeat"] if study.definition.counts_repeats else [])]
        shown = ({"number": todo.number, "option": todo.option, **todo.settings} for todo in todos)
        print_json([row | {name: getattr(todo, name) for name in ours} for row, todo in zip(shown, todos, strict=True)])
        return
    text = tables.sheet(study, todos)
    mark = "" if output is None or text.isascii() else "\N{BYTE ORDER MARK}"  # without, spreadsheets show other letters
    write_or_print(f"{mark}{text}".encode(), output, f"{counted(len(todos), 'measurement')} to make", force=force)


def import_(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with a column for every metric.", show_default=False)],
    again: Annotated[bool, typer.Option("--again", help="Take rows that were imported before for other measurements.")] = False,
    correct: Annotated[
        bool, typer.Option("--correct", help="Take other values of measurements that the study knows for corrections.")
    ] = False,
    why: Why = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Read measurements from a CSV file.

    It is a sheet that was filled in, what was measured before the study, or an export of another one. Rows with a number are what
    came out of that measurement, others name their option. Columns beside the metrics are kept, too. All rows are taken, or none
    if one is wrong; rows without values are left for later. If the study knows other values, they are shown, and nothing is
    imported without --correct.
    """
    study = Study.open(name, storage=storage)
    try:
        imported = import_table(study, file, again=again, correct=correct, why=why or "", request=request)
    except AlreadyTold as problem:
        if not problem.differences:
            raise
        _print_differences(problem.differences, as_json)
        raise AlreadyTold(
            f"{file} has {counted(len(problem.differences), 'other value')} for measurements that the study knows; nothing was "
            "imported. If they are right, add --correct."
        ) from None
    except InvalidInput as problem:  # where Python has an argument there is an option here
        problem.args = (str(problem).replace("say so with again.", "add --again."),)
        raise
    for sentence in imported.notes:
        note(sentence)
    if not as_json:
        if imported.differences:
            _print_differences(imported.differences, as_json)
        name_far_off(study, imported.far_off, storage)
    print_standing(study, f"Read {file}: {_what_came(imported)}", as_json, {"imported": asdict(imported)})


def export(
    name: OnlyName = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The file to write: .csv, .json or .parquet.  [default: standard output]", show_default=False
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="csv, json or parquet.  [default: as the file is called, or csv]", show_default=False),
    ] = None,
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write every measurement as CSV, JSON or Parquet.

    Those that failed or are void are in it, with the reason. JSON has the definition, the result and every event, too.
    """
    ending = output.suffix.lstrip(".").lower() if output is not None else ""
    chosen = check_choice(form or ("json" if as_json else ending or "csv"), tables.FORMATS, "format")
    if chosen == "parquet" and output is None:
        raise InvalidInput("Parquet is not for terminals; name a file with -o measurements.parquet.")
    study = open_study(name, storage)
    write_or_print(tables.export(study, chosen), output, "the measurements", force=force)


def measurements(
    name: OnlyName = None,
    where: Where = None,
    storage: Storage = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """List the measurements of a study, those that failed or are void included.

    With the settings of their options, who made them and when, and what was told beside the metrics. CSV is that of "export".
    """
    check_one_form(as_json, as_csv)
    study = open_study(name, storage)
    columns, rows = tables.measured_rows(study)
    listed = matching(rows, column_pairs(where or []), columns)
    if as_json:
        print_json(listed)
    elif as_csv:
        print(csv_text(columns, listed), end="")
    elif not listed:
        print("There are none." if where else "There are none yet.")
    else:
        hidden = {"study", *(["round"] if study.definition.choice.roundless else [])}
        hidden |= {column for column in ("why", "worker") if not any(row[column] for row in listed)}
        shown = [column for column in columns if column not in hidden]
        print_table(shown, [[_cell(row, column) for column in shown] for row in listed])


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "sheet": (sheet, "paretopick sheet boosters -o sheet.csv"),
    "measurements": (measurements, "paretopick measurements boosters --where option=b"),
    "import": (import_, "paretopick import boosters filled.csv"),
    "export": (export, "paretopick export boosters -o measurements.csv"),
}
"""By name, each with an example."""


def _usual_rows(study: Study, worker: str) -> int:
    """How many rows a sheet has: those of the round; without rounds one for each option, and all that its worker has."""
    if not study.definition.choice.roundless:
        return study.progress().budget
    state = study.status()
    mine = [row for row in state["out"] if row["worker"] == worker]
    return max(FEWEST_ROWS, len(state["active"]), len(mine))


def _what_came(imported: Imported) -> str:
    """What a file brought, in words."""
    counts = {
        "new": imported.told,
        "made before": imported.added,
        "corrected": imported.corrected,
        "failed": imported.failed,
        "known already": imported.known,
        "left out": imported.empty,
    }
    return ", ".join(f"{n} {what}" for what, n in counts.items() if n) or "no rows"


def _print_differences(differences: Iterable[Difference], as_json: bool) -> None:
    if as_json:
        print_json({"differences": [asdict(difference) for difference in differences]})
        return
    header = ["row", "number", "option", "metric", "before", "after"]
    print_table(header, [[_missing(getattr(difference, column)) for column in header] for difference in differences])


def _missing(value: Any) -> Any:
    return "missing" if value is None else value


def _cell(row: Mapping[str, Any], column: str) -> Any:
    if column == "status":
        return SHOWN.get(row[column], row[column])
    return row[column][:19].replace("T", " ") if column == "at" else row[column]


def _check_csv(output: Path | None) -> None:
    """Refuses a name that promises another format than CSV."""
    if output is not None and output.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise InvalidInput(
            f"a sheet is written as CSV, and {output} is called otherwise; write -o {output.with_suffix('.csv')}, which every "
            "spreadsheet program opens."
        )
