"""``paretopick release``: give measurements back that nobody will make."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.studying import Name, Storage, Worker, report
from paretopick.studies import Study

NAME = "release"
EXAMPLE = "paretopick release boosters 1 3"


def command(
    name: Name,
    numbers: Annotated[list[int] | None, typer.Argument(help="Of the measurements; or all.", show_default=False)] = None,
    worker: Worker = "main",
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Give measurements back that a worker will not make, so that others get their options; a sheet's worker is "sheet"."""
    study = Study.open(name, storage=storage)
    released = study.release(*(numbers or ()), worker=worker)
    others = sorted({repr(row["worker"]) for row in study.status()["out"]})
    with_others = f" ({', '.join(others)} have some)" if others and not released else ""
    report(study, f"{len(released)} of {worker!r} given back{with_others}", as_json)
