"""``paretopick tell``: what came out of a measurement."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paretopick.cli.arguments import Json, value
from paretopick.cli.studying import Name, Number, Storage, number_pairs, report
from paretopick.studies import Study

NAME = "tell"
EXAMPLE = "paretopick tell boosters 1 response=0.8 price=3"


def command(
    name: Name,
    number: Number,
    values: Annotated[list[str], typer.Argument(help="metric=value for each, or one JSON object.", show_default=False)],
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Tell what came out of a measurement. Told twice the same, nothing happens."""
    study = Study.open(name, storage=storage)
    given: Any = value(values[0]) if len(values) == 1 else None
    study.tell(number, given if isinstance(given, dict) else number_pairs(values, "the values"))
    report(study, f"Measurement {number} is kept", as_json)
