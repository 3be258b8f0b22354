"""``paretopick fail``: a measurement that could not be made."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.studying import Name, Number, Storage, report
from paretopick.studies import Study

NAME = "fail"
EXAMPLE = 'paretopick fail boosters 1 "the tube broke"'


def command(
    name: Name,
    number: Number,
    why: Annotated[str, typer.Argument(help="The reason, which is kept.", show_default=False)],
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Report that a measurement could not be made; its option stays due, under a new number."""
    study = Study.open(name, storage=storage)
    study.fail(number, why)
    report(study, f"Measurement {number} is reported as failed", as_json)
