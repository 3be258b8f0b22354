"""``paretopick export``: all measurements of a study in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paretopick._arrays import check_choice
from paretopick.cli.arguments import Json
from paretopick.cli.output import write_or_print
from paretopick.cli.studying import Name, Storage
from paretopick.errors import InvalidInput
from paretopick.studies import Study
from paretopick.studies.tables import FORMATS, export

NAME = "export"
EXAMPLE = "paretopick export boosters -o measurements.csv"


def command(
    name: Name,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; its ending says csv, json or parquet.", show_default=False)
    ] = None,
    form: Annotated[str | None, typer.Option("--format", help="csv, json or parquet.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write every measurement, told, failed or void, as CSV (to stdout without -o), JSON or Parquet.

    JSON has the definition of the study, the result and every event, too.
    """
    ending = output.suffix.lstrip(".").lower() if output is not None else ""
    chosen = check_choice(form or ("json" if as_json else ending or "csv"), FORMATS, "format")
    if chosen == "parquet" and output is None:
        raise InvalidInput("Parquet is not for terminals; name a file with -o measurements.parquet.")
    study = Study.open(name, storage=storage)
    write_or_print(export(study, chosen), output, "the measurements", force=force)
