"""``paretopick void``: a measurement that turned out to be wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.studying import Name, Number, Storage, report
from paretopick.studies import Study

NAME = "void"
EXAMPLE = 'paretopick void boosters 2 "wrong dose"'


def command(
    name: Name,
    number: Number,
    why: Annotated[str, typer.Argument(help="The reason, which is kept.", show_default=False)],
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Take a measurement back that turned out to be wrong.

    In the open round its option is due again; after that its values leave the means, and what was decided stands.
    """
    study = Study.open(name, storage=storage)
    study.void(number, why)
    report(study, f"Measurement {number} is void", as_json)
