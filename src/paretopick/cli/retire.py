"""``paretopick retire``: an option that is no longer to be had."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.studying import Name, Storage, report
from paretopick.studies import Study

NAME = "retire"
EXAMPLE = 'paretopick retire boosters c "no longer made"'


def command(
    name: Name,
    option: Annotated[str, typer.Argument(help="Its name.", show_default=False)],
    why: Annotated[str, typer.Argument(help="The reason, which is kept.", show_default=False)],
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Take an option out: it is never asked for again and is not in the answer."""
    study = Study.open(name, storage=storage)
    study.retire(option, why)
    report(study, f"{option!r} is retired", as_json)
