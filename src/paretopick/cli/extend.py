"""``paretopick extend``: more budget, or more time for a measurement."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.studying import Name, Storage, Worker, report
from paretopick.errors import InvalidInput
from paretopick.studies import Study

NAME = "extend"
EXAMPLE = "paretopick extend boosters --number 3 --lease 7200"


def command(
    name: Name,
    budget: Annotated[int | None, typer.Option(help="The new one, for a study with the policy apt.", show_default=False)] = None,
    number: Annotated[int | None, typer.Option(help="Of a measurement that needs more time.", show_default=False)] = None,
    lease: Annotated[float, typer.Option(help="Seconds from now that it gets; 0 for ever.")] = 3600.0,
    worker: Worker = "main",
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Give a study more budget, or a worker more time for a measurement."""
    if (budget is None) == (number is None):
        raise InvalidInput("say --budget, or --number: what is to be extended.")
    study = Study.open(name, storage=storage)
    if budget is not None:
        study.extend(budget=budget)
        report(study, f"The budget is {budget} now", as_json)
    elif number is not None:
        if not study.renew(number, worker=worker, lease=lease or None):
            raise InvalidInput(f"measurement {number} is not out with worker {worker!r}; see paretopick status {name}.")
        report(study, f"Measurement {number} has more time", as_json)
