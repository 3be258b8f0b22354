"""``paretopick status``: where a study stands, or which there are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json, print_table
from paretopick.cli.studying import Storage
from paretopick.studies import Study

NAME = "status"
EXAMPLE = "paretopick status boosters"


def command(
    name: Annotated[str, typer.Argument(metavar="[STUDY]", help="The name of the study; without one, all are listed.")] = "",
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands: round, budget, who is still in, who measures what; or list all studies."""
    if name:
        state = Study.open(name, storage=storage).status()
        if as_json:
            print_json(state)
        else:
            _print(state)
        return
    states = [Study.open(each, storage=storage).status() for each in Study.list(storage=storage)]
    if as_json:
        print_json(states)
    elif states:
        print_table(
            ["study", "used", "budget", "candidates", "active", "done"],
            [[row["study"], row["used"], row["budget"], row["options"], len(row["active"]), row["done"]] for row in states],
        )
    else:
        print("There are no studies yet; see paretopick create --help.")


def _print(state: dict[str, Any]) -> None:
    rounds = f" of {state['rounds']}" if state["rounds"] else ""
    where = "done" if state["done"] else f"round {state['round']}{rounds}"
    print(f"{state['study']} in {state['storage']}, {state['policy']}: {where}.")
    print(f"{state['used']} of {state['budget']} measurements count; {state['due']} are due now, {state['failed']} failed.")
    for word in ("active", "accepted", "rejected"):
        if state[word] and not state["done"]:
            print(f"{len(state[word])} {word}: {', '.join(state[word])}")
    print(f"{'Pareto-optimal' if state['done'] else 'Best guess so far'}: {', '.join(state['pareto']) or 'nobody'}")
    for note in state["notes"]:
        print(f"Note: {note}")
    if state["out"]:
        print()
        print_table(
            ["number", "option", "with", "seconds left"],
            [[row["number"], row["option"], row["worker"], _left(row["seconds_left"])] for row in state["out"]],
        )


def _left(seconds: float | None) -> str:
    return "no limit" if seconds is None else "0" if seconds < 0 else f"{seconds:.0f}"
