"""The verbs by which a study is measured: create it, ask, tell, and say where it stands."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from paretopick._texts import value_of
from paretopick._words import counted, listed, quoted
from paretopick.cli.amendments import name_far_off
from paretopick.cli.arguments import (
    BaselineGiven,
    BudgetGiven,
    ConfidenceGiven,
    CostGiven,
    Csv,
    ExactGiven,
    Force,
    Json,
    MetricsGiven,
    Name,
    Number,
    OnlyName,
    OptionsGiven,
    PairingGiven,
    Picture,
    PolicyGiven,
    Reason,
    Request,
    ResolutionGiven,
    ScaleGiven,
    Storage,
    Worker,
    aim_from,
    check_file_alone,
    check_one_form,
    measured_pairs,
    open_study,
    study_from,
)
from paretopick.cli.output import (
    check_picture,
    note,
    print_csv,
    print_json,
    print_result,
    print_result_as_json,
    print_standing,
    print_table,
    say,
    spent_of,
    used_text,
    write_picture,
)
from paretopick.errors import InvalidInput, LogDamaged
from paretopick.policies import DEFAULT_POLICY
from paretopick.studies import Study
from paretopick.studies.answer import LEVEL
from paretopick.studies.checks import check_storage
from paretopick.studies.files import read_study_file
from paretopick.studies.opening import new_study


def create(
    name: Annotated[
        str,
        typer.Argument(
            metavar="STUDY | FILE.toml", help="The name of the new study, or the file of a study.", show_default=False
        ),
    ],
    options: OptionsGiven = None,
    metrics: MetricsGiven = None,
    budget: BudgetGiven = None,
    policy: PolicyGiven = DEFAULT_POLICY,
    exact: ExactGiven = "",
    scale: ScaleGiven = "noise",
    cost: CostGiven = None,
    confidence: ConfidenceGiven = None,
    resolution: ResolutionGiven = None,
    pairing: PairingGiven = None,
    baseline: BaselineGiven = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Create a study from options, metrics and a budget, or from a file.

    Then measure what "ask" or "sheet" hand out, and give it back with "tell" or "import".
    """
    aim = aim_from(confidence, resolution)
    if name.endswith(".toml"):
        beside = {"--options": options, "--metrics": metrics, "--budget": budget, "--exact": exact, "--cost": cost}
        beside |= {"--pairing": pairing, "--baseline": baseline}
        changed = {"--policy": policy != DEFAULT_POLICY, "--scale": scale != "noise"} | {f"--{key}": True for key in aim}
        check_file_alone(name, {flag: bool(given) for flag, given in beside.items()} | changed)
        file = read_study_file(name)
        study = new_study(file.name, file.definition, storage)
    else:
        told = study_from(options, metrics, budget, policy, exact, scale, cost=cost, pairing=pairing, baseline=baseline) | aim
        study = Study.create(name, **told, storage=storage)
    state, name = study.status(), study.name
    if as_json:
        print_json(state)
        return
    planned = f"{counted(state['planned'], 'measurement')} planned" if study.spent is None else f"a budget of {study.budget}"
    print(f"Created {name!r} in {state['storage']}: {counted(len(study.options), 'option')}, {planned}.")
    sheet = "a sheet to fill in" if state["roundless"] else "a whole round"
    print(f"What to measure: paretopick ask {shlex.quote(name)}, or {sheet}: paretopick sheet {shlex.quote(name)}")


def ask(
    name: OnlyName = None,
    n: Annotated[int, typer.Option("-n", help="How many measurements to hand out, at most.")] = 1,
    worker: Worker = "main",
    lease: Annotated[float, typer.Option(help="Seconds until others may get them too; 0 means never.")] = 3600.0,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say what to measure next, and reserve it.

    A worker that asks again gets what it has not told yet. Nothing comes out when all that is left is with others.
    """
    study = open_study(name, storage)
    todos = study.ask(n, worker=worker, lease=lease or None)
    if as_json:
        print_json([asdict(todo) for todo in todos])
    elif todos:
        columns = list(todos[0].settings)
        in_rounds = not study.definition.choice.roundless
        ours = [*(["round"] if in_rounds else []), *(["repeat"] if study.definition.counts_repeats else [])]
        rows = [[todo.number, todo.option, *todo.settings.values(), *(getattr(todo, name) for name in ours)] for todo in todos]
        print_table(["number", "option", *columns, *ours], rows)
    else:
        left = "budget" if study.definition.choice.roundless else "round"
        print("Nothing: the study is done." if study.done else f"Nothing now: the rest of the {left} is out with other workers.")


def tell(
    name: Name,
    number: Number,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="VALUES",
            help="METRIC=VALUE for each metric, METRIC=none if it could not be measured, and what else is to be kept, such as "
            "plate=3; or one JSON object.",
            show_default=False,
        ),
    ],
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Tell what came out of a measurement.

    Telling the same twice is harmless; telling other values is refused, so that nothing is lost: "correct" them. What stands
    beside the metrics is kept and exported.
    """
    study = Study.open(name, storage=storage)
    given: Any = value_of(values[0]) if len(values) == 1 else None
    read = given if isinstance(given, dict) else measured_pairs(values, study.metrics, "the values")
    study.tell(number, read, request=request)
    far = study.far_off([number])
    if not as_json:
        name_far_off(study, far, storage)
    print_standing(study, f"Measurement {number} is kept", as_json, {"far_off": [asdict(each) for each in far]})


def fail(
    name: Name,
    number: Number,
    why: Reason,
    cost: Annotated[
        float | None,
        typer.Option(help="What it has cost all the same, in the unit of the budget.", show_default=False),
    ] = None,
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Report that a measurement could not be made.

    Its option is due again, under a new number.
    """
    study = Study.open(name, storage=storage)
    study.fail(number, why, cost=cost, request=request)
    print_standing(study, f"Measurement {number} is reported as failed", as_json)


def release(
    name: Name,
    numbers: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="NUMBERS", help="The numbers of the measurements.  [default: all of the worker]", show_default=False
        ),
    ] = None,
    worker: Worker = "main",
    request: Request = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Give measurements back that will not be made, so that others get them.

    The worker of a sheet is called "sheet", unless somebody said otherwise.
    """
    study = Study.open(name, storage=storage)
    released = study.release(*(numbers or ()), worker=worker, request=request)
    others = sorted({row["worker"] for row in study.status()["out"]})
    with_others = f" (there are some with {quoted(others)})" if others and not released else ""
    print_standing(study, f"{len(released)} of {worker!r} given back{with_others}", as_json)


def status(
    name: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="The name of the study; without one, all studies are listed.", show_default=False),
    ] = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands, or list all studies.

    How much of the budget is used, which options look Pareto-optimal, how sure that is and why it stopped, who measures what and
    why, and what comes next.
    """
    if name is not None:
        state = Study.open(name, storage=storage).status()
        if as_json:
            print_json(state)
        else:
            _print_status(state)
        return
    states = [_status_of(each, storage) for each in Study.list(storage=storage)]
    if as_json:
        print_json(states)
    elif states:
        print_table(["study", "used", "budget", "options", "still measured", "done"], list(map(_status_row, states)))
        for state in states:
            if "problem" in state:
                note(state["problem"])
    else:
        print("There are no studies yet; see paretopick create --help.")


def result(
    name: OnlyName = None,
    level: Annotated[float, typer.Option(help="How probable an option must be in, or out, to be called sure.")] = LEVEL,
    rehearsals: Annotated[int, typer.Option(help="How often to simulate the same study as if the measured means were true.")] = 0,
    baseline: BaselineGiven = None,
    plot: Picture = None,
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Say which options are Pareto-optimal, how sure that is, and what to do next.

    While the study goes on, this is the best guess so far. The table has the means of all options, who beats whom by how much,
    and how each compares with the baseline, if there is one. The picture is what suits the number of metrics: the front of two,
    for instance.
    """
    check_one_form(as_json, as_csv)
    check_picture(plot, force=force)
    found = open_study(name, storage).result(level=level, rehearsals=rehearsals, baseline=baseline)
    if as_json:
        print_result_as_json(found)
    elif as_csv:
        print_csv([row | {"dominated_by": "; ".join(row["dominated_by"])} for row in found.table])
    else:
        print_result(found)
    if plot is not None:
        from paretopick import plots

        write_picture(plots.figure_of(found), plot, beside=as_json or as_csv)


def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it; without this, only say what would be lost.")] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Remove a study and all its measurements, for ever."""
    try:
        n: int | None = len(Study.open(name, storage=storage).measurements())
        what = counted(n or 0, "measurement")
    except LogDamaged:
        n, what = None, f"a damaged log of {counted(check_storage(storage, [name]).events, 'event')}"
    if not yes:
        remedy = "export them if need be" if n is not None else "restore a backup if there is one"
        raise InvalidInput(f"{name!r} has {what}, which would be lost; {remedy}, then add --yes.")
    Study.delete(name, storage=storage)
    if as_json:
        print_json({"deleted": name, "measurements": n})
    else:
        print(f"Deleted {name!r} with {what}.")


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "create": (create, "paretopick create boosters --options a,b,c --metrics 'response:max~0.05,price:min<=9' --budget 60"),
    "ask": (ask, "paretopick ask boosters -n 3"),
    "tell": (tell, "paretopick tell boosters 1 response=0.8 price=3"),
    "fail": (fail, 'paretopick fail boosters 1 "the tube broke"'),
    "release": (release, "paretopick release boosters 1 3"),
    "status": (status, "paretopick status boosters"),
    "result": (result, "paretopick result boosters --plot front.png"),
    "delete": (delete, "paretopick delete boosters --yes"),
}
"""By name, each with an example."""

WORDS = {"active": "still measured", "accepted": "found Pareto-optimal", "rejected": "found dominated"}
"""What a policy calls options, and what we do."""


def _print_status(state: dict[str, Any]) -> None:
    if state["roundless"]:
        _print_roundless(state)
    else:
        _print_rounds(state)
    found = listed(state["pareto"]) or ("none" if state["done"] else "none yet")
    say(f"{state['sought'].capitalize() if state['done'] else 'Best guess so far'}: {found}")
    if state["used"]:
        say(state["how_sure"])
    if state["stopped"]:
        say(state["stopped"])
    for sentence in state["notes"]:
        say(f"Note: {sentence}")
    if state["roundless"] and not state["done"]:
        say(f"Next: {_next(state['next']) or 'nothing before what is being measured came in'}")
    if state["out"]:
        print()
        reasons = any(row["why"] for row in state["out"])
        header = ["number", "option", "with", "seconds left", *(["why"] if reasons else [])]
        cells = ([row["number"], row["option"], row["worker"], _left(row["seconds_left"]), row["why"]] for row in state["out"])
        print_table(header, [row[: len(header)] for row in cells])


def _print_roundless(state: dict[str, Any]) -> None:
    done = "done, " if state["done"] else ""
    more = f", {state['failed']} failed, {len(state['out'])} being made"
    used = f"{done}{used_text(state)} {'used' if state['spent'] is None else 'spent'}"
    print(f"{state['study']} in {state['storage']}, {state['policy']}: {used}{more}.")


def _print_rounds(state: dict[str, Any]) -> None:
    rounds = f" of {state['rounds']}" if state["rounds"] else ""
    where = "done" if state["done"] else f"round {state['round']}{rounds}"
    print(f"{state['study']} in {state['storage']}, {state['policy']}: {where}.")
    due = "1 is" if state["due"] == 1 else f"{state['due']} are"
    say(f"{state['used']} of {state['budget']} measurements count; {due} due now, {state['failed']} failed.")
    for key, words in WORDS.items():
        if state[key] and not state["done"]:
            say(f"{len(state[key])} {words}: {listed(state[key])}")


def _next(rows: list[dict[str, Any]]) -> str:
    """What would be handed out next, and why; an option that is there several times in one."""
    times = Counter((row["option"], row["why"]) for row in rows)
    parts = []
    for (option, why), n in times.items():
        often = f" {n} times" if n > 1 else ""
        parts.append(f"{listed([option])}{often}{f' ({why})' if why else ''}")
    return ", ".join(parts)


def _status_of(name: str, storage: str | None) -> dict[str, Any]:
    """Where a study stands; one that cannot be read does not hide the others."""
    try:
        return Study.open(name, storage=storage).status()
    except LogDamaged as problem:
        return {"study": name, "problem": str(problem)}


def _status_row(state: dict[str, Any]) -> list[Any]:
    if "problem" in state:
        return [state["study"], "", "", "", "", "damaged"]
    budget = state["budget"] if state["spent"] is None else str(spent_of(state))
    return [state["study"], state["used"], budget, state["options"], _still_measured(state), state["done"]]


def _still_measured(state: dict[str, Any]) -> int:
    return 0 if state["done"] else len(state["active"])


def _left(seconds: float | None) -> str:
    return "no limit" if seconds is None else "0" if seconds < 0 else f"{seconds:.0f}"
