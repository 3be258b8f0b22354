"""``paretopick ask``: what to measure next."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json, print_table
from paretopick.cli.studying import Name, Storage, Worker
from paretopick.studies import Study

NAME = "ask"
EXAMPLE = "paretopick ask boosters -n 3"


def command(
    name: Name,
    n: Annotated[int, typer.Option("-n", help="The most that are wanted.")] = 1,
    worker: Worker = "main",
    lease: Annotated[float, typer.Option(help="Seconds until others may have them too; 0 for never.")] = 3600.0,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say what to measure next, and reserve it for a worker.

    A worker that asks again gets what it has not told yet. Nothing comes out when the rest of the round is with others.
    """
    study = Study.open(name, storage=storage)
    todos = study.ask(n, worker=worker, lease=lease or None)
    if as_json:
        print_json([asdict(todo) for todo in todos])
    elif todos:
        columns = list(todos[0].settings)
        rows = [[todo.number, todo.option, *todo.settings.values(), todo.round] for todo in todos]
        print_table(["number", "option", *columns, "round"], rows)
    else:
        print("Nothing: the study is done." if study.done else "Nothing now: the rest of this round is out with other workers.")
