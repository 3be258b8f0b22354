"""The command line: parses, calls, prints. Results go to stdout, progress and errors to stderr."""

from __future__ import annotations

import csv
import inspect
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from paretopick import __version__
from paretopick._arrays import check_choice, check_integer
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise
from paretopick.errors import InvalidInput, MissingFile, ParetopickError, SimulationInterrupted
from paretopick.instances import FROM_FILE, INSTANCES, instance, read_instance
from paretopick.policies import POLICIES, policy, policy_options
from paretopick.schedules import SCHEDULES, schedule, smallest_budget
from paretopick.simulation import ErrorCurve, informed_options, play, simulate

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Seed = Annotated[int, typer.Option(help="Of the random numbers; the same seed gives the same result.")]
Data = Annotated[Path | None, typer.Option(help="The file of the sorting networks, for snw and snw-paper.")]


def main() -> None:
    """Runs the command line; errors of ours are one line on stderr and exit code 2."""
    try:
        app()
    except ParetopickError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"paretopick {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: paretopick demo")
def paretopick(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it and exit.")] = False,
) -> None:
    """Find the Pareto-optimal options among many, when every measurement is noisy and only so many can be paid for."""


@app.command(epilog="Example: paretopick demo --policy ege-sh --seed 3")
def demo(
    budget: Annotated[int, typer.Option(help="Patients, that is, measurements.")] = 2500,
    policy_name: Annotated[
        str, typer.Option("--policy", help="Who is vaccinated next; see: paretopick show policies")
    ] = "ege-sr",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run the COV-BOOST vaccine trial once: 20 boosters, three immune responses, 2,500 simulated patients.

    Shows who was found, who left when, and against what truth.
    """
    bandit = instance("cov-boost")
    check_integer(seed, "--seed", minimum=0)
    name, options = _policy_spec(policy_name)
    options = informed_options(name, options, bandit)
    player = policy(name, n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=budget, **options)
    play(bandit, player, np.random.default_rng(seed))
    record, answer = player.snapshot(), player.recommend().tolist()
    truth = np.flatnonzero(bandit.optimal).tolist()
    arms: list[dict[str, Any]] = [
        {
            "arm": bandit.arm_names[i],
            "patients": int(record.counts[i]),
            **{metric: float(mean) for metric, mean in zip(bandit.objective_names, record.means[i], strict=True)},
            "left_in_round": int(record.left_in[i]) or None,
            "found": i in answer,
            "optimal": bool(bandit.optimal[i]),
        }
        for i in range(bandit.n_arms)
    ]
    result = {
        "instance": bandit.name,
        "policy": name,
        "budget": budget,
        "seed": seed,
        "patients": record.pulls_used,
        "rounds": record.round,
        "found": [bandit.arm_names[i] for i in answer],
        "truth": [bandit.arm_names[i] for i in truth],
        "correct": answer == truth,
        "arms": arms,
    }
    if as_json:
        _print_json(result)
        return
    print(f"{bandit.source}.\n{record.pulls_used} of {budget} patients in {record.round} rounds with {name}, seed {seed}.\n")
    last = record.round + 1
    _print_table(
        ["booster", "patients", *bandit.objective_names, "left after round", "found", "truly optimal"],
        (
            [
                row["arm"],
                row["patients"],
                *(f"{row[metric]:.2f}" for metric in bandit.objective_names),
                row["left_in_round"] or "stayed",
                "yes" if row["found"] else "",
                "yes" if row["optimal"] else "",
            ]
            for row in sorted(arms, key=lambda row: -(row["left_in_round"] or last))
        ),
    )
    verdict = "which is right" if result["correct"] else f"which is wrong: the truth is {', '.join(result['truth'])}"
    print(f"\nFound Pareto-optimal: {', '.join(result['found'])}, {verdict}.")
    print(f"How often does that happen? paretopick simulate cov-boost --policy {policy_name} --budget {budget} --runs 200")


@app.command(epilog="Example: paretopick show sr --arms 20 --budget 2500")
def show(
    what: Annotated[str, typer.Argument(help="instances, policies, schedules, or the name of one.")],
    arms: Annotated[int, typer.Option(help="Of the schedules shown.")] = 20,
    budget: Annotated[int, typer.Option(help="Of the schedules shown.")] = 2500,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the instances, policies or schedules there are, or show one of them."""
    if what == "instances":
        _show_rows([_instance_row(name, data) for name in INSTANCES], as_json)
    elif what == "policies":
        _show_rows([_policy_row(name) for name in POLICIES], as_json)
    elif what == "schedules":
        _show_rows([_schedule_row(name, arms, budget) for name in SCHEDULES], as_json)
    else:
        check_choice(
            what, dict.fromkeys(("instances", "policies", "schedules", *INSTANCES, *POLICIES, *SCHEDULES)), "entry to show"
        )
        parts = {
            "instance": _instance_details(what, data) if what in INSTANCES else None,
            "policy": _policy_details(what) if what in POLICIES else None,
            "schedule": _schedule_details(what, arms, budget) if what in SCHEDULES else None,
        }
        _show_details({kind: part for kind, part in parts.items() if part is not None}, as_json)


@app.command("simulate", epilog="Example: paretopick simulate equal-gaps --policy ege-sr-k:max_arms=2 --budget 500,900 --runs 50")
def simulate_command(
    name: Annotated[str, typer.Argument(help="An instance, or a CSV file of means (then give --std or --bernoulli).")],
    policy_names: Annotated[
        list[str], typer.Option("--policy", help="NAME, or NAME:OPTION=VALUE,...; may be given several times.")
    ] = ["ege-sr", "uniform"],  # noqa: B006 -- typer copies it
    budget: Annotated[str | None, typer.Option(help="One or several, with commas; by default that of the instance.")] = None,
    runs: Annotated[int, typer.Option(help="At each budget.")] = 1000,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one for each core.")] = None,
    data: Data = None,
    std: Annotated[str | None, typer.Option(help="Noise of a CSV file: one standard deviation, or one per objective.")] = None,
    bernoulli: Annotated[bool, typer.Option("--bernoulli", help="Noise of a CSV file: means are probabilities.")] = False,
    minimise: Annotated[str, typer.Option(help="Objectives of a CSV file where smaller is better, with commas.")] = "",
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Run policies many times on an instance and count how often they are wrong."""
    if as_json and as_csv:
        raise InvalidInput("--json and --csv are both given; choose one.")
    bandit = _bandit(name, data, std, bernoulli, minimise)
    check_integer(seed, "--seed", minimum=0)
    specs = [_policy_spec(text) for text in policy_names]
    budgets = None if budget is None else [check_integer(_value(text), "--budget", minimum=0) for text in budget.split(",")]
    processes = workers if workers is not None else (os.cpu_count() or 1)
    curves: list[ErrorCurve] = []
    interrupted = False
    with _progress() as bar:
        for spec in specs:
            task = bar.add_task(spec[0], total=runs)

            def advance(done: int, _: int, task: TaskID = task) -> None:
                bar.update(task, completed=done)

            try:
                curves.append(simulate(bandit, spec, budgets=budgets, runs=runs, rng=seed, workers=processes, progress=advance))
            except SimulationInterrupted as stop:
                interrupted = True
                if isinstance(stop.partial, ErrorCurve):
                    curves.append(stop.partial)
                break
    if as_json:
        _print_json([curve.to_dict() for curve in curves])
    elif as_csv:
        _print_csv([row for curve in curves for row in curve.rows()])
    elif curves:
        _print_curves(curves)
    if interrupted:
        print("interrupted: the finished runs are shown; the same command with the same seed repeats them.", file=sys.stderr)
        sys.exit(130)


def _bandit(name: str, data: Path | None, std: str | None, bernoulli: bool, minimise: str) -> Bandit:
    """An instance by name, or the one of a CSV file."""
    if not name.endswith(".csv"):
        if std is not None or bernoulli or minimise:
            raise InvalidInput(f"--std, --bernoulli and --minimise go with a CSV file; {name!r} brings its own noise.")
        return instance(name, path=data)
    if bernoulli == (std is not None):
        raise InvalidInput(f"{name} holds means alone; say how noisy a measurement is with --std 0.5 or --bernoulli.")
    noise: Noise = Bernoulli()
    if std is not None:
        widths = [_value(text) for text in std.split(",")]
        noise = Gaussian(std=widths[0] if len(widths) == 1 else np.array(widths))
    return read_instance(name, noise=noise, minimise=filter(None, minimise.split(",")))


def _policy_spec(text: str) -> tuple[str, dict[str, Any]]:
    """``name:option=value,option=value`` taken apart."""
    name, _, tail = text.partition(":")
    options = {}
    for pair in filter(None, tail.split(",")):
        option, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(f"{pair!r} in --policy {text} is not OPTION=VALUE; write for instance ege-sr-k:max_arms=1.")
        options[option] = _value(value)
    return check_choice(name, POLICIES, "policy"), options


def _value(text: str) -> Any:
    """A number or a truth value where the text is one, else the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.strip()


def _instance_row(name: str, data: Path | None) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "summary": _summary(INSTANCES[name])}
    try:
        bandit = instance(name, path=data if name in FROM_FILE else None)
    except MissingFile:
        return row | dict.fromkeys(("arms", "objectives", "optimal", "noise", "budget", "H")) | {"noise": "needs --data FILE"}
    return row | {
        "arms": bandit.n_arms,
        "objectives": bandit.n_objectives,
        "optimal": int(bandit.optimal.sum()),
        "noise": type(bandit.noise).__name__,
        "budget": bandit.budget,
        "H": round(bandit.complexity, 2),
    }


def _instance_details(name: str, data: Path | None) -> dict[str, Any]:
    bandit = instance(name, path=data)
    rows = [
        {
            "arm": bandit.arm_names[i],
            **{metric: float(mean) for metric, mean in zip(bandit.objective_names, bandit.means[i], strict=True)},
            "gap": float(bandit.gaps[i]),
            "optimal": bool(bandit.optimal[i]),
        }
        for i in range(bandit.n_arms)
    ]
    return _instance_row(name, data) | {"sigma": bandit.noise.sigma, "source": bandit.source, "rows": rows}


def _policy_row(name: str) -> dict[str, Any]:
    options = {
        option: "required" if default is inspect.Parameter.empty else default for option, default in policy_options(name).items()
    }
    return {"name": name, "summary": _summary(POLICIES[name]), "options": options}


def _policy_details(name: str) -> dict[str, Any]:
    return _policy_row(name) | {"documentation": inspect.getdoc(POLICIES[name])}


def _schedule_row(name: str, arms: int, budget: int) -> dict[str, Any]:
    rounds = schedule(name, arms, budget)
    return {
        "name": name,
        "summary": _summary(SCHEDULES[name]),
        "arms": arms,
        "budget": budget,
        "rounds": rounds.n_rounds,
        "cost": rounds.cost,
        "cost_with_spend_all": schedule(name, arms, budget, spend="all").cost,
        "smallest_budget": smallest_budget(name, arms),
    }


def _schedule_details(name: str, arms: int, budget: int) -> dict[str, Any]:
    rounds = schedule(name, arms, budget)
    rows = [
        {"round": r + 1, "active": rounds.active[r], "pulls_each": rounds.pulls[r], "pulls_each_so_far": rounds.cumulative[r]}
        for r in range(rounds.n_rounds)
    ]
    return _schedule_row(name, arms, budget) | {"left_at_the_end": rounds.active[-1], "rows": rows}


def _summary(documented: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(documented) or "").partition("\n")[0]


def _show_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        _print_json(rows)
    else:
        _print_table(list(rows[0]), (row.values() for row in rows))


def _show_details(parts: Mapping[str, dict[str, Any]], as_json: bool) -> None:
    if as_json:
        _print_json(parts)
        return
    for kind, part in parts.items():
        print(f"{kind} {part['name']}")
        for key, value in part.items():
            if key not in ("name", "rows"):
                print(f"  {key.replace('_', ' ')}: {_text(value)}")
        if rows := part.get("rows"):
            _print_table(list(rows[0]), (row.values() for row in rows))


def _print_curves(curves: list[ErrorCurve]) -> None:
    rows = []
    for curve in curves:
        intervals = curve.interval()
        for i, budget in enumerate(curve.budgets):
            low, high = intervals[i]
            rate = f"{curve.rate[i]:.4f}" if curve.errors[i] else f"< {high:.2g}"
            options = ",".join(f"{key}={_text(value)}" for key, value in curve.options.items())
            rows.append(
                [
                    curve.policy + (f":{options}" if options else ""),
                    budget,
                    rate,
                    f"{low:.4f} to {high:.4f}",
                    f"{curve.errors[i]} of {curve.runs}",
                    f"{curve.pulls[i]:.1f}",
                ]
            )
    print(f"{curves[0].instance}: how often the answer is not the Pareto set")
    _print_table(["policy", "budget", "error rate", "95% interval", "errors", "pulls used"], rows)


def _print_table(header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    cells = [[_text(cell) for cell in row] for row in rows]
    table = Table(*(name.replace("_", " ") for name in header), box=None, pad_edge=False, header_style="bold")
    for column, values in zip(table.columns, zip(*cells, strict=True), strict=False):
        if all(_is_numeric(value) for value in values):
            column.justify = "right"
    for row in cells:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _is_numeric(text: str) -> bool:
    try:
        float(text.replace(",", "").removeprefix("< ") or "0")
    except ValueError:
        return False
    return True


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:,.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={'none' if entry is None else _text(entry)}" for key, entry in value.items())
    return "" if value is None else str(value)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _print_csv(rows: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows(rows)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
