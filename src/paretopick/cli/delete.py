"""``paretopick delete``: a study and all its measurements, for ever."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json
from paretopick.cli.studying import Name, Storage
from paretopick.errors import InvalidInput
from paretopick.studies import Study

NAME = "delete"
EXAMPLE = "paretopick delete boosters --yes"


def command(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only say what would be lost.")] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Remove a study and all its measurements, for ever."""
    study = Study.open(name, storage=storage)
    n = len(study.measurements())
    if not yes:
        raise InvalidInput(f"{name!r} has {n} measurements, which would be lost; export them if need be, then add --yes.")
    Study.delete(name, storage=storage)
    if as_json:
        print_json({"deleted": name, "measurements": n})
    else:
        print(f"Deleted {name!r} with {n} measurements.")
