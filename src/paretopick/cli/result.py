"""``paretopick result``: which options are Pareto-optimal."""

from __future__ import annotations

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json
from paretopick.cli.studying import Name, Storage, print_result
from paretopick.studies import Study

NAME = "result"
EXAMPLE = "paretopick result boosters"


def command(name: Name, storage: Storage = None, as_json: Json = False) -> None:
    """Say which options are Pareto-optimal, with the means of all; the best guess, if the study is not done."""
    result = Study.open(name, storage=storage).result()
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result)
