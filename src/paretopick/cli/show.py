"""``paretopick show``: what instances, policies and schedules there are, and each of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from paretopick._arrays import check_choice
from paretopick._texts import split_at_commas
from paretopick.bandits import Bandit, Gaussian
from paretopick.cli.arguments import Data, Json, Minimise, is_file
from paretopick.cli.output import print_json, print_table, say, text
from paretopick.errors import MissingFile
from paretopick.instances import FROM_FILE, INSTANCES, InstanceName, instance, read_instance
from paretopick.policies import POLICIES, PolicyName, policy_options
from paretopick.schedules import SCHEDULES, ScheduleName, schedule, smallest_budget

NAME = "show"
EXAMPLE = "paretopick show sr --arms 20 --budget 2500"


def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="What to show: instances, policies, schedules, the name of one, or a CSV file of means.",
            show_default=False,
        ),
    ],
    arms: Annotated[int, typer.Option(help="The number of arms of the schedules shown.")] = 20,
    budget: Annotated[int, typer.Option(help="The budget of the schedules shown.")] = 2500,
    data: Data = None,
    minimise: Minimise = [],  # noqa: B006 -- typer copies it
    as_json: Json = False,
) -> None:
    """List instances, policies or schedules, or show one of them.

    Of an instance or a file it shows means and gaps, of a policy its options, of a schedule its rounds.
    """
    lists = {
        "instances": lambda: [_instance_row(name, data) for name in INSTANCES],
        "policies": lambda: [_policy_row(name) for name in POLICIES],
        "schedules": lambda: [_schedule_row(name, arms, budget) for name in SCHEDULES],
    }
    if what in lists:
        rows = lists[what]()
        if as_json:
            print_json(rows)
        else:
            print_table(list(map(_words, rows[0])), (row.values() for row in rows))
        return
    parts: dict[str, dict[str, Any]] = {}
    if is_file(what):
        parts["file"] = _file_details(what, split_at_commas(minimise))
    else:
        check_choice(what, dict.fromkeys((*lists, *INSTANCES, *POLICIES, *SCHEDULES)), "entry to show")
    if what in INSTANCES:
        parts["instance"] = _instance_details(instance(what, path=data))
    if what in POLICIES:
        parts["policy"] = {"name": what, "options": _options(what), "documentation": inspect.getdoc(POLICIES[what])}
    if what in SCHEDULES:
        parts["schedule"] = _schedule_details(what, arms, budget)
    if as_json:
        print_json(parts)
    else:
        _print(parts)


def _instance_row(name: InstanceName, data: Path | None) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "summary": _summary(INSTANCES[name])}
    try:
        return row | _size(instance(name, path=data if name in FROM_FILE else None))
    except MissingFile:
        if data is not None:
            raise
        return row | dict.fromkeys(("arms", "objectives", "optimal", "noise", "budget", "H")) | {"noise": "needs --data FILE"}


def _size(bandit: Bandit) -> dict[str, Any]:
    return {
        "arms": bandit.n_arms,
        "objectives": bandit.n_objectives,
        "optimal": int(bandit.optimal.sum()),
        "noise": type(bandit.noise).__name__,
        "budget": bandit.budget,
        "H": round(bandit.complexity, 2),
    }


def _instance_details(bandit: Bandit) -> dict[str, Any]:
    return {"name": bandit.name, **_size(bandit), "sigma": bandit.noise.sigma, "source": bandit.source, "rows": _arms(bandit)}


def _file_details(path: str, minimise: list[str]) -> dict[str, Any]:
    """Means alone: a file says nothing about noise, and gaps do not need it."""
    bandit = read_instance(path, noise=Gaussian(std=0.0), minimise=minimise)
    size = {key: value for key, value in _size(bandit).items() if key not in ("noise", "budget")}
    return {"name": bandit.name, **size, "rows": _arms(bandit)}


def _arms(bandit: Bandit) -> list[dict[str, Any]]:
    return [
        {
            "arm": bandit.arm_names[i],
            "means": {name: float(mean) for name, mean in zip(bandit.objective_names, bandit.means[i], strict=True)},
            "gap": float(bandit.gaps[i]),
            "optimal": bool(bandit.optimal[i]),
        }
        for i in range(bandit.n_arms)
    ]


def _policy_row(name: PolicyName) -> dict[str, Any]:
    return {"name": name, "summary": _summary(POLICIES[name]), "options": _options(name)}


def _options(name: str) -> dict[str, Any]:
    return {
        option: "required" if default is inspect.Parameter.empty else default for option, default in policy_options(name).items()
    }


def _schedule_row(name: ScheduleName, arms: int, budget: int) -> dict[str, Any]:
    """The size of a schedule; without rounds and cost where the budget is too small for it."""
    row = {"name": name, "summary": _summary(SCHEDULES[name]), "arms": arms, "budget": budget}
    smallest = smallest_budget(name, arms)
    rounds = schedule(name, arms, budget) if budget >= smallest else None
    everything = schedule(name, arms, budget, spend="all") if rounds else None
    return row | {
        "rounds": rounds.n_rounds if rounds else None,
        "cost": rounds.cost if rounds else None,
        "cost_with_spend_all": everything.cost if everything else None,
        "smallest_budget": smallest,
    }


def _schedule_details(name: ScheduleName, arms: int, budget: int) -> dict[str, Any]:
    rounds = schedule(name, arms, budget)
    rows = [
        {"round": r + 1, "active": rounds.active[r], "pulls_each": rounds.pulls[r], "pulls_each_so_far": rounds.cumulative[r]}
        for r in range(rounds.n_rounds)
    ]
    return _schedule_row(name, arms, budget) | {"left_at_the_end": rounds.active[-1], "rows": rows}


def _summary(documented: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _print(parts: Mapping[str, dict[str, Any]]) -> None:
    for kind, part in parts.items():
        print(f"{kind} {part['name']}")
        for key, entry in part.items():
            if key not in ("name", "rows"):
                say(f"  {_words(key)}: {text(entry)}")
        if rows := part.get("rows"):
            print_table([name for name, _ in _cells(rows[0])], ([cell for _, cell in _cells(row)] for row in rows))


def _cells(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The cells of a row with their headers; a cell that is a mapping is several."""
    cells: list[tuple[str, Any]] = []
    for key, entry in row.items():
        cells += entry.items() if isinstance(entry, Mapping) else [(_words(key), entry)]
    return cells


def _words(key: str) -> str:
    """A name of ours as people read it; names of metrics stay as they are."""
    return key.replace("_", " ")
