"""``paretopick plan``: how many measurements are enough."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from paretopick.cli.arguments import Data, Json, Minimise, Seed, bandit_from, is_file, policy_spec, split_at_commas, whole_numbers
from paretopick.cli.output import check_target, print_csv, print_json, print_table, work_bar
from paretopick.cli.studying import Storage, metrics_from
from paretopick.errors import InvalidInput, MissingFile, SimulationInterrupted, UnknownName
from paretopick.instances import INSTANCES
from paretopick.planning import PLANNED, Pilot, Plan, plan
from paretopick.planning.plans import interval, limits_of, share, wrong
from paretopick.studies import Study

NAME = "plan"
EXAMPLE = "paretopick plan cov-boost --target 0.2 --policy ege-sr --policy ege-sh"


def command(
    source: Annotated[
        str,
        typer.Argument(
            help="A CSV file of measurements (then give --metrics) or of means (then give --std or --bernoulli), a study, or an "
            "instance.",
            show_default=False,
        ),
    ],
    target: Annotated[str, typer.Option(help="The share of wrong answers that is acceptable, such as 0.05 or 5%.")] = "5%",
    budget: Annotated[
        list[str],
        typer.Option(help="To look at, with commas.  [default: ten, up to where the target is reached]", show_default=False),
    ] = [],  # noqa: B006 -- typer copies it
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy",
            help="NAME, or NAME:OPTION=VALUE,...; once for each.  [default: all that studies can use]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    runs: Annotated[
        int | None,
        typer.Option(
            help="Simulated studies for each policy and budget.  [default: 2000, with exact metrics 200]", show_default=False
        ),
    ] = None,
    max_budget: Annotated[
        int | None, typer.Option(help="The largest to consider.  [default: 500 times the options]", show_default=False)
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="Columns of the file and their goals: time:min,quality:max.",
            show_default=False,
        ),
    ] = None,
    exact: Annotated[str, typer.Option(help="Metrics of such a file without noise, separated by commas.")] = "",
    std: Annotated[str | None, typer.Option(help="Noise of a file of means: one standard deviation, or one per column.")] = None,
    bernoulli: Annotated[bool, typer.Option("--bernoulli", help="The means in a file are probabilities.")] = False,
    minimise: Minimise = [],  # noqa: B006
    study: Annotated[bool, typer.Option("--study", help="The name is that of a study, even if an instance has it too.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the errors against the budget into this PNG file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite that file.")] = False,
    seed: Seed = 0,
    data: Data = None,
    storage: Storage = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the curves as CSV instead.")] = False,
) -> None:
    """Say how often the answer will be wrong for which budget, and which budget is enough.

    A file of measurements, or a study in progress, is a pilot: what it leaves open about the means is drawn anew for every
    simulated study. Means from a file or an instance are taken for the truth.
    """
    if as_json and as_csv:
        raise InvalidInput("--json and --csv are both given; choose one.")
    if plot is not None and plot.suffix.lower() != ".png":
        raise InvalidInput(f"--plot {plot} must end in .png.")
    check_target(plot, force=force)
    pilot = _pilot(source, metrics, exact, std, bernoulli, minimise, study, data, storage)
    chosen: list[Any] = [policy_spec(text) for text in policies] or list(PLANNED)
    interrupted = False
    try:
        with work_bar() as say:
            made = plan(
                pilot,
                policies=chosen,
                budgets=whole_numbers(budget, "--budget") or None,
                target=_share(target),
                runs=runs,
                max_budget=max_budget,
                rng=seed,
                progress=say,
            )
    except SimulationInterrupted as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not lose what is about to be printed
        if not isinstance(stop.partial, Plan):
            print("interrupted before anything was finished.", file=sys.stderr)
            raise typer.Exit(130) from None
        made, interrupted = stop.partial, True
    if as_json:
        print_json(made.to_dict())
    elif as_csv:
        print_csv([row for curve in made.curves for row in curve.rows()])
    else:
        _print(made)
    if plot is not None:
        from paretopick import plots

        plots.save_png(plots.plan_of(made), plot)
        print(f"Wrote the picture to {plot}", file=sys.stderr if as_json or as_csv else sys.stdout)
    if interrupted:
        print("interrupted; the policies that are finished are shown.", file=sys.stderr)
        raise typer.Exit(130)


def _pilot(
    source: str,
    metrics: str | None,
    exact: str,
    std: str | None,
    bernoulli: bool,
    minimise: list[str],
    study: bool,
    data: Path | None,
    storage: str | None,
) -> Pilot:
    """What is known, from whatever the source is."""
    of_means = std is not None or bernoulli
    if not study and is_file(source) and not of_means:
        if metrics is None:
            raise InvalidInput(
                f"{source} needs --metrics time:min,quality:max if it has a row for each measurement, or --std or --bernoulli if "
                "it has the means."
            )
        if minimise:
            raise InvalidInput("--minimise goes with a file of means; say time:min in --metrics.")
        return Pilot.of_table(source, metrics_from(metrics), exact=_exact(exact, metrics))
    if not study and is_file(source):
        return _means(source, metrics, std, bernoulli, minimise, exact)
    if metrics is not None or exact:
        raise InvalidInput(f"--metrics and --exact go with a file; {source!r} is not one.")
    if not study and source in INSTANCES:
        return Pilot.guess(bandit_from(source, data, std, bernoulli, minimise), like_a_study=False)
    if of_means or minimise:
        raise InvalidInput(f"--std, --bernoulli and --minimise go with a CSV file of means; {source!r} is not one.")
    try:
        return Pilot.of_study(Study.open(source, storage=storage))
    except (MissingFile, UnknownName) as problem:
        if study:
            raise
        raise UnknownName(f"{source!r} is neither a file nor an instance nor a study: {problem}") from None


def _means(source: str, metrics: str | None, std: str | None, bernoulli: bool, minimise: list[str], exact: str) -> Pilot:
    """The means in a file, larger is better except where --metrics or --minimise say otherwise."""
    if exact:
        raise InvalidInput("--exact goes with a file of measurements; in one of means give such a column the noise 0 in --std.")
    if metrics is not None and minimise:
        raise InvalidInput("--metrics and --minimise both say what is to be small; choose one.")
    goals = {} if metrics is None else metrics_from(metrics)
    small = [name for name, goal in goals.items() if goal == "min"] if goals else split_at_commas(minimise)
    bandit = bandit_from(source, None, std, bernoulli, small)
    columns = [name[1:] if name.startswith("-") and name[1:] in small else name for name in bandit.objective_names]
    if goals and set(goals) != set(columns):
        raise InvalidInput(f"--metrics {metrics} must name the columns of {source}: {', '.join(columns)}.")
    named = {name: "min" if name in small else "max" for name in columns}
    return Pilot.guess(replace(bandit, name=source), goals=named)


def _share(text: str) -> float:
    """A share, as a number or in percent."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InvalidInput(f"--target {text} is not a share; write 0.05 or 5%.") from None


def _exact(given: str, metrics: str) -> list[str]:
    names = [part.strip() for part in split_at_commas([given])]
    for name in names:
        if name not in metrics_from(metrics):
            raise InvalidInput(f"--exact has {name!r}, which is not one of --metrics {metrics}.")
    return names


def _print(made: Plan) -> None:
    intervals, counts = [limits_of(curve) for curve in made.curves], [wrong(curve) for curve in made.curves]
    rows = [
        [
            f"{budget:,}",
            *(
                f"{share(n[i] / curve.runs, curve.runs)} ({interval(limits[i])})" if n[i] else f"< {limits[i][1]:.1%}"
                for curve, limits, n in zip(made.curves, intervals, counts, strict=True)
            ),
        ]
        for i, budget in enumerate(made.budgets)
    ]
    print("How often the answer will be wrong, with 95% intervals:\n")
    print_table(["budget", *made.labels], rows)
    print()
    for sentence in made.sentences():
        print(sentence)
