"""``paretopick import``: a sheet that was filled in, or measurements made before the study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json
from paretopick.cli.studying import Name, Storage, report
from paretopick.studies import Study
from paretopick.studies.tables import import_table

NAME = "import"
EXAMPLE = "paretopick import boosters filled.csv"


def command(
    name: Name,
    file: Annotated[Path, typer.Argument(help="A CSV file with a column for every metric.", show_default=False)],
    again: Annotated[bool, typer.Option("--again", help="Rows that were imported before are other measurements.")] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Read measurements from a CSV file: a sheet that was filled in, or what was measured before the study.

    Rows with a number are what came out of that measurement; rows with an option alone count as soon as it is due. All rows are
    taken, or none if one is wrong; rows without values are left for later.
    """
    study = Study.open(name, storage=storage)
    imported = import_table(study, file, again=again)
    if as_json:
        print_json({"imported": asdict(imported), **study.status()})
        return
    known = f", {imported.known} known already" if imported.known else ""
    counts = f"{imported.told} told, {imported.added} made before{known}, {imported.failed} failed, {imported.empty} left out"
    report(study, f"Read {file}: {counts}", as_json=False)
