"""``paretopick sheet``: the open round as a table to fill in by hand."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import check_target, print_json, write_or_print
from paretopick.cli.studying import Name, Storage
from paretopick.errors import NotReady
from paretopick.studies import Study
from paretopick.studies.tables import sheet

NAME = "sheet"
EXAMPLE = "paretopick sheet boosters -o sheet.csv"


def command(
    name: Name,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; stdout without it.", show_default=False)
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", help="At most so many rows; by default the whole round.", show_default=False)
    ] = None,
    worker: Annotated[str, typer.Option(help="Who fills it in; people with sheets of their own need different names.")] = "sheet",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write what is due in this round into a CSV file, to be filled in and read back with "import".

    The measurements are reserved without limit. Asked again, the same rows come out until they are told.
    """
    check_target(output, force=force)  # before anything is reserved
    study = Study.open(name, storage=storage)
    todos = study.ask(study.budget if n is None else n, worker=worker, lease=None)
    if not todos and not as_json:
        raise NotReady(
            f"there is nothing to measure: {'the study is done' if study.done else 'all that is due is with others'}; "
            f"see paretopick status {shlex.quote(name)}."
        )
    if as_json:
        print_json([{"number": todo.number, "option": todo.option, **todo.settings, "round": todo.round} for todo in todos])
        return
    write_or_print(
        sheet(study, todos).encode(),
        output,
        f"{len(todos)} {'measurement' if len(todos) == 1 else 'measurements'} to make",
        force=force,
    )
