"""``paretopick result``: which options are Pareto-optimal."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json
from paretopick.cli.studying import Name, Storage, print_result
from paretopick.studies import Study

NAME = "result"
EXAMPLE = "paretopick result boosters"


def command(
    name: Name,
    rehearsals: Annotated[int, typer.Option(help="How often to simulate the same study at the means as measured.")] = 0,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say which options are Pareto-optimal how sure that is, and the means of all; the best guess, if the study is not done."""
    result = Study.open(name, storage=storage).result(rehearsals=rehearsals)
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result)
