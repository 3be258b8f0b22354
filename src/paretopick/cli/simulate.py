"""``paretopick simulate``: how often policies are wrong on an instance."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from paretopick._arrays import check_integer
from paretopick.bandits import Bandit
from paretopick.cli.arguments import Data, Json, Minimise, Seed, bandit_from, policy_spec, whole_numbers
from paretopick.cli.output import print_csv, print_json, print_table, progress_bars
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.simulation import ErrorCurve, make_runner, simulate

NAME = "simulate"
EXAMPLE = "paretopick simulate cov-boost --policy ege-sr --policy apt:batch=25 --budget 250,500 --runs 50"


def command(
    name: Annotated[str, typer.Argument(help="An instance, or a CSV file of means (then give --std or --bernoulli).")],
    policies: Annotated[list[str], typer.Option("--policy", help="NAME, or NAME:OPTION=VALUE,...; once for each policy.")] = [  # noqa: B006
        "ege-sr",
        "uniform",
    ],
    budget: Annotated[list[str], typer.Option(help="One or several, with commas; by default that of the instance.")] = [],  # noqa: B006
    runs: Annotated[int, typer.Option(help="At each budget.")] = 1000,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one for each core.")] = None,
    data: Data = None,
    std: Annotated[str | None, typer.Option(help="Noise of a CSV file: one standard deviation, or one per objective.")] = None,
    bernoulli: Annotated[bool, typer.Option("--bernoulli", help="Noise of a CSV file: means are probabilities.")] = False,
    minimise: Minimise = [],  # noqa: B006
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Run policies many times on an instance and count how often they are wrong.

    A CSV file has a header and one line per arm: names in text columns at the left, then one column per objective.
    """
    if as_json and as_csv:
        raise InvalidInput("--json and --csv are both given; choose one.")
    check_integer(seed, "--seed", minimum=0)
    bandit = bandit_from(name, data, std, bernoulli, minimise)
    budgets = whole_numbers(budget, "--budget") or None
    if budgets is None and bandit.budget is None:
        raise InvalidInput(f"--budget is missing, and {name} has none of its own; write for instance --budget 500,1000.")
    if len(set(policies)) < len(policies):
        raise InvalidInput(
            f"--policy {next(text for text in policies if policies.count(text) > 1)} is given twice; once is enough."
        )
    for text in policies:  # all of them, before the first one runs
        make_runner(bandit, policy_spec(text), budgets=budgets)
    processes = workers if workers is not None else (os.cpu_count() or 1)

    curves: dict[str, ErrorCurve] = {}
    interrupted = False
    with progress_bars() as add_bar:
        for text in policies:
            advance = add_bar(text, runs)
            try:
                curves[text] = simulate(
                    bandit, policy_spec(text), budgets=budgets, runs=runs, rng=seed, workers=processes, progress=advance
                )
            except SimulationInterrupted as stop:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not lose what is about to be printed
                interrupted = True
                if isinstance(stop.partial, ErrorCurve):
                    curves[text] = stop.partial
                break
    if as_json:
        print_json([curve.to_dict() for curve in curves.values()])
    elif as_csv:
        print_csv([row for curve in curves.values() for row in curve.rows()])
    elif curves:
        _print(bandit, curves)
    if interrupted:
        finished = sum(curve.runs for curve in curves.values())
        print(f"interrupted after {finished} of {runs * len(policies)} runs; what is finished is shown.", file=sys.stderr)
        sys.exit(130)


def _print(bandit: Bandit, curves: dict[str, ErrorCurve]) -> None:
    relaxed = any("max_arms" in curve.options for curve in curves.values())
    rows = []
    for label, curve in curves.items():
        intervals = curve.interval()
        for i, budget in enumerate(curve.budgets):
            low, high = intervals[i]
            rate = f"{curve.rate[i]:.4f}" if curve.errors[i] else f"< {high:.2g}"
            row = [label, budget, rate, f"{low:.4f} to {high:.4f}", f"{curve.errors[i]} of {curve.runs}", f"{curve.pulls[i]:.1f}"]
            rows.append(row + [f"{curve.relaxed_losses[i]} of {curve.runs}"] * relaxed)
    size = f"{bandit.n_arms} arms, {int(bandit.optimal.sum())} of them optimal"
    print(f"{bandit.name}: {size}; {type(bandit.noise).__name__} noise; larger is better in {', '.join(bandit.objective_names)}")
    print("How often the answer is not the Pareto set:\n")
    header = ["policy", "budget", "error rate", "95% interval", "errors", "pulls used"]
    print_table(header + ["max_arms missed"] * relaxed, rows)
