"""The verbs that read and write tables of a study: sheets to fill in by hand, imports and exports."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from paretopick._arrays import check_choice
from paretopick._words import counted
from paretopick.cli.arguments import Force, Json, Name, OnlyName, Request, Storage, open_study
from paretopick.cli.output import check_target, print_json, print_standing, write_or_print
from paretopick.errors import InvalidInput, NotReady
from paretopick.studies import Study, tables


def sheet(
    name: OnlyName = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The CSV file to write.  [default: standard output]", show_default=False),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", help="How many rows, at most.  [default: the whole round]", show_default=False)
    ] = None,
    worker: Annotated[
        str, typer.Option(help="The name of whoever fills it in; people with sheets of their own need different names.")
    ] = "sheet",
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write what is due in this round as a table to fill in by hand.

    It is a CSV file, to be read back with "import". The measurements are reserved without limit. Asked again, the same rows come
    out until they are told.
    """
    _check_csv(output)
    check_target(output, force=force)  # before anything is reserved
    study = open_study(name, storage)
    todos = study.ask(study.budget if n is None else n, worker=worker, lease=None)
    if not todos and not as_json:
        raise NotReady(
            f"there is nothing to measure: {'the study is done' if study.done else 'all that is due is with others'}; "
            f"see paretopick status {shlex.quote(study.name)}."
        )
    if as_json:
        print_json([{"number": todo.number, "option": todo.option, **todo.settings, "round": todo.round} for todo in todos])
        return
    text = tables.sheet(study, todos)
    mark = "" if output is None or text.isascii() else "\N{BYTE ORDER MARK}"  # without, spreadsheets show other letters
    write_or_print(f"{mark}{text}".encode(), output, f"{counted(len(todos), 'measurement')} to make", force=force)


def import_(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with a column for every metric.", show_default=False)],
    again: Annotated[bool, typer.Option("--again", help="Take rows that were imported before for other measurements.")] = False,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Read measurements from a CSV file.

    It is a sheet that was filled in, or what was measured before the study. Rows with a number are what came out of that
    measurement; rows with an option alone count as soon as it is due. All rows are taken, or none if one is wrong; rows without
    values are left for later.
    """
    study = Study.open(name, storage=storage)
    try:
        imported = tables.import_table(study, file, again=again, request=request)
    except InvalidInput as problem:  # where Python has an argument there is an option here
        problem.args = (str(problem).replace("say so with again.", "add --again."),)
        raise
    if as_json:
        print_json({"imported": asdict(imported), **study.status()})
        return
    known = f", {imported.known} known already" if imported.known else ""
    counts = f"{imported.told} told, {imported.added} made before{known}, {imported.failed} failed, {imported.empty} left out"
    print_standing(study, f"Read {file}: {counts}", as_json=False)


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


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "sheet": (sheet, "paretopick sheet boosters -o sheet.csv"),
    "import": (import_, "paretopick import boosters filled.csv"),
    "export": (export, "paretopick export boosters -o measurements.csv"),
}
"""By name, each with an example."""


def _check_csv(output: Path | None) -> None:
    """Refuses a name that promises another format than CSV."""
    if output is not None and output.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise InvalidInput(
            f"a sheet is written as CSV, and {output} is called otherwise; write -o {output.with_suffix('.csv')}, which every "
            "spreadsheet program opens."
        )
