"""``paretopick simulate``: how often policies are wrong on instances."""

from __future__ import annotations

import math
import signal
import sys
from dataclasses import replace
from typing import Annotated, Any, cast

import typer

from paretopick._arrays import check_integer
from paretopick._texts import number_of, split_at_commas, value_of
from paretopick._words import short
from paretopick.bandits import Bandit, Gaussian
from paretopick.cli.arguments import (
    Cluster,
    Coins,
    Csv,
    Data,
    Force,
    Json,
    Minimise,
    Picture,
    Seed,
    Std,
    Workers,
    bandit_from,
    check_one_form,
    whole_numbers,
)
from paretopick.cli.output import check_picture, print_csv, print_json, print_table, say, write_picture
from paretopick.cli.progress import progress_bars
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.policies import check_policy
from paretopick.simulation import ErrorCurve, check_goal, make_task, opened, simulate
from paretopick.theory.requirements import check_requirements, feasible, optimal_and_feasible

NAME = "simulate"
EXAMPLE = "paretopick simulate cov-boost equal-gaps --policy ege-sr --policy apt --budget 1000,4000 --runs 4000 --plot errors.png"


def command(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="INSTANCES", help="Instances, or CSV files of means (then give --std or --bernoulli).", show_default=False
        ),
    ],
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy", metavar="POLICY", help="A policy to run: NAME, or NAME:OPTION=VALUE,...; give it once for each."
        ),
    ] = ["ege-sr", "uniform"],  # noqa: B006 -- typer copies it
    budget: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBERS",
            help="The budgets to run with, separated by commas.  [default: that of the instance]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    runs: Annotated[
        str,
        typer.Option(
            help="How many runs to make at each budget; with until:5%, as many as bring the 95% intervals within 5% of the rates."
        ),
    ] = "10000",
    max_runs: Annotated[
        str | None, typer.Option(help="The number of runs at which until:... gives up.  [default: 1000000]", show_default=False)
    ] = None,
    start: Annotated[
        int, typer.Option(help="The number of the first run: jobs with different ones make different runs, which add up.")
    ] = 0,
    seed: Seed = 0,
    workers: Workers = None,
    executor: Cluster = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="Divide the objectives by this before a policy sees them: one number, or one for each, separated by commas.",
            show_default=False,
        ),
    ] = None,
    margins: Annotated[
        str | None,
        typer.Option(
            help="The smallest difference that matters: one number, or one for each objective, separated by commas, and none "
            "where arms are not compared; also counts the answers that are wrong by more than that.",
            show_default=False,
        ),
    ] = None,
    limits: Annotated[
        str | None,
        typer.Option(
            help="The least that arms must have, or the most in --minimise columns: one for each objective, separated by commas, "
            "and none where there is no limit.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="The engine to use: auto, compiled, or reference (slow, pull by pull).")] = "auto",
    hypervolume: Annotated[
        bool, typer.Option(help="Whether to compute the hypervolume fraction, for --json and --csv; slow in many objectives.")
    ] = True,
    data: Data = None,
    std: Std = None,
    shared: Annotated[
        str | None,
        typer.Option(
            help="The share of the variance, from 0 to less than 1, that the n-th pulls of all arms have in common, as of "
            "measurements that are paired.  [default: that of the instance, mostly 0]",
            show_default=False,
        ),
    ] = None,
    bernoulli: Coins = False,
    minimise: Minimise = [],  # noqa: B006
    plot: Picture = None,
    force: Force = False,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Run policies many times and count how often they are wrong.

    A CSV file has a header and one line per arm: names in text columns at the left, then one column per objective. The picture
    has the error rates against the budgets, in a panel for each instance.
    """
    check_one_form(as_json, as_csv)
    check_picture(plot, force=force)
    check_integer(seed, "--seed", minimum=0)
    _refuse_twice(names, "the instance")
    _refuse_twice(policies, "--policy")
    bandits = [_sharing(bandit_from(name, data, std, bernoulli, minimise), shared) for name in names]
    budgets = whole_numbers(budget, "--budget") or None
    for name, bandit in zip(names, bandits, strict=True):
        if budgets is None and bandit.budget is None:
            raise InvalidInput(f"--budget is missing, and {name} has none of its own; write for instance --budget 500,1000.")
    goal = runs if runs.startswith("until") else _one_whole_number(runs, "--runs")
    most = None if max_runs is None else _one_whole_number(max_runs, "--max-runs")
    check_goal(goal, most)
    widths = None if scale is None else [value_of(text) for text in split_at_commas([scale])]
    if widths is not None and len(widths) == 1:
        widths = widths[0]
    work = [(bandit, text, check_policy(text)) for bandit in bandits for text in policies]
    deltas = None if margins is None else _numbers_or_none(margins, "--margins")
    bounds = None if limits is None else _numbers_or_none(limits, "--limits")
    small = {f"-{column}" for column in split_at_commas(minimise)}
    matters = deltas[0] if deltas is not None and len(deltas) == 1 and deltas[0] is not None else deltas
    for bandit, _, spec in work:  # all of them, before the first one runs
        make_task(bandit, spec, budgets=budgets, scale=widths, margins=matters, limits=_signed(bounds, bandit, small))

    curves: list[tuple[Bandit, str, ErrorCurve]] = []
    interrupted = False
    with opened(executor) as pool, progress_bars() as add_bar:
        for bandit, text, spec in work:
            label = text if len(bandits) == 1 else f"{bandit.name} {text}"
            advance = add_bar(label, goal if isinstance(goal, int) else None)
            try:
                curve = simulate(
                    bandit,
                    spec,
                    budgets=budgets,
                    runs=goal,
                    max_runs=most,
                    rng=seed,
                    start=start,
                    workers=workers,
                    executor=pool,
                    scale=widths,
                    hypervolume=hypervolume,
                    margins=matters,
                    limits=_signed(bounds, bandit, small),
                    engine=cast(Any, engine),  # simulate() checks it
                    progress=advance,
                )
                curves.append((bandit, text, curve))
            except SimulationInterrupted as stop:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not lose what is about to be printed
                interrupted = True
                if isinstance(stop.partial, ErrorCurve):
                    curves.append((bandit, text, stop.partial))
                break
    if as_json:
        print_json([curve.to_dict() for _, _, curve in curves])
    elif as_csv:
        print_csv([row for _, _, curve in curves for row in curve.rows()])
    elif curves:
        _print(curves)
    if plot is not None and curves:
        from paretopick import plots

        groups = {bandit.name: [curve for other, _, curve in curves if other is bandit] for bandit in bandits}
        figure = plots.curves_of({name: found for name, found in groups.items() if found}, policies)
        write_picture(figure, plot, beside=as_json or as_csv)
    if interrupted:
        finished = sum(curve.runs for _, _, curve in curves)
        wanted = f" of {goal * len(work)}" if isinstance(goal, int) else ""
        print(f"interrupted after {finished}{wanted} runs; what is finished is shown.", file=sys.stderr)
        sys.exit(130)


def _sharing(bandit: Bandit, shared: str | None) -> Bandit:
    """The bandit with noise of which arms share a part."""
    if shared is None:
        return bandit
    if not isinstance(bandit.noise, Gaussian):
        kind = type(bandit.noise).__name__
        raise InvalidInput(f"--shared {short(shared)} is for Gaussian noise, and that of {bandit.name} is {kind}; leave it out.")
    return replace(bandit, noise=replace(bandit.noise, shared=cast(Any, shared)))


def _refuse_twice(texts: list[str], what: str) -> None:
    for text in texts:
        if texts.count(text) > 1:
            raise InvalidInput(f"{what} {text} is given twice; once is enough.")


def _one_whole_number(text: str, name: str) -> int:
    if "," in text or not text.strip():
        raise InvalidInput(f"{name} {text!r} is not one whole number; write it without commas, such as 2000.")
    return check_integer(whole_numbers([text], name)[0], name, minimum=1)


def _numbers_or_none(text: str, name: str) -> list[float | None]:
    """Numbers that are separated by commas; none stands for none."""
    found: list[float | None] = []
    for part in text.split(","):
        try:
            found.append(None if part.strip().lower() == "none" else number_of(part))
        except ValueError:
            raise InvalidInput(
                f"{name} has {short(part)}, which is neither a number nor none; write for instance {name} 0.1,none."
            ) from None
    return found


def _signed(limits: list[float | None] | None, bandit: Bandit, small: set[str]) -> list[float | None] | None:
    """Limits as the simulation wants them, larger is better: of columns that are to be small they were the most."""
    if limits is None or len(limits) != bandit.n_objectives:  # which is refused later
        return limits
    signs = [-1.0 if name in small else 1.0 for name in bandit.objective_names]
    return [None if limit is None else sign * limit for limit, sign in zip(limits, signs, strict=True)]


def _print(curves: list[tuple[Bandit, str, ErrorCurve]]) -> None:
    bandits = list(dict.fromkeys(bandit for bandit, _, _ in curves))
    relaxed = any("max_arms" in curve.options for _, _, curve in curves)
    within = any(curve.margins is not None for _, _, curve in curves)
    limited = any(limit is not None for _, _, curve in curves for limit in curve.limits or ())
    rows = []
    for bandit, label, curve in curves:
        intervals, narrower = curve.interval(), curve.interval(of="errors_within")
        for i, budget in enumerate(curve.budgets):
            low, high = intervals[i]
            interval = f"{_digits(low, low, high)} to {_digits(high, low, high)}"
            rate = _rate(curve.rate[i], low, high)
            row = [label, budget, rate, interval, f"{curve.errors[i]} of {curve.runs}", f"{curve.pulls[i]:.8g}"]
            if within:
                row[4:4] = [_rate(curve.rate_within[i], *narrower[i])]
            missed = f"{curve.relaxed_losses[i]} of {curve.runs}" if "max_arms" in curve.options else ""
            rows.append([bandit.name] * (len(bandits) > 1) + row + [missed] * relaxed)
    for bandit in bandits:
        size = next(_size(bandit, curve) for other, _, curve in curves if other is bandit)
        objectives = ", ".join(bandit.objective_names)
        common = f", {bandit.noise.shared:g} of it shared" if isinstance(bandit.noise, Gaussian) and bandit.noise.shared else ""
        say(f"{bandit.name}: {size}; {type(bandit.noise).__name__} noise{common}; larger is better in {objectives}")
    print(f"How often the answer is not the Pareto set{' of the arms that keep the limits' * limited}:\n")
    header = ["policy", "budget", "error rate", "95% interval", *["within margins"] * within, "errors", "pulls used"]
    print_table(["instance"] * (len(bandits) > 1) + header + ["max_arms missed"] * relaxed, rows)
    if within:
        print()
        say("within margins: how often the answer is not right even if differences up to the margins do not matter.")
    if relaxed:
        print()
        say("max_arms missed: the answer is neither max_arms optimal arms nor all of them, which is what ege-sr-k is for.")


def _size(bandit: Bandit, curve: ErrorCurve) -> str:
    """How many arms there are, and how many of them are to be found."""
    if curve.margins is None or curve.limits is None:
        return f"{bandit.n_arms} arms, {int(bandit.optimal.sum())} of them optimal"
    required = check_requirements(curve.margins, curve.limits, bandit.n_objectives)
    able, optimal = feasible(bandit.means, required).sum(), optimal_and_feasible(bandit.means, required).sum()
    kept = f"{able} of them within the limits, " if required.limited else ""
    return f"{bandit.n_arms} arms, {kept}{optimal} of {'those' if kept else 'them'} optimal"


def _rate(rate: float, low: float, high: float) -> str:
    """A rate, or without any error its upper limit."""
    return _digits(rate, low, high) if rate else f"< {high:.2g}"


def _digits(number: float, low: float, high: float) -> str:
    """A rate or a limit of its interval with as many digits as the interval bears out."""
    width = high - low
    if high < 1e-3 or width <= 0:
        return f"{number:.2g}"
    return f"{number:.{max(2, math.ceil(-math.log10(width)) + 1)}f}"
