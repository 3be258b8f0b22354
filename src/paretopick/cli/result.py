"""``paretopick result``: which options are Pareto-optimal."""

from __future__ import annotations

from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_csv, print_json
from paretopick.cli.studying import Name, Storage, print_result
from paretopick.errors import InvalidInput
from paretopick.studies import Study

NAME = "result"
EXAMPLE = "paretopick result boosters"


def command(
    name: Name,
    rehearsals: Annotated[int, typer.Option(help="How often to simulate the same study at the means as measured.")] = 0,
    storage: Storage = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the table as CSV instead.")] = False,
) -> None:
    """Say which options are Pareto-optimal, how sure that is, and the means of all; the best guess, if the study is not done."""
    if as_json and as_csv:
        raise InvalidInput("--json and --csv are both given; choose one.")
    result = Study.open(name, storage=storage).result(rehearsals=rehearsals)
    if as_json:
        print_json(result.to_dict())
    elif as_csv:
        print_csv([row | {"dominated_by": "; ".join(row["dominated_by"])} for row in result.table])
    else:
        print_result(result)
