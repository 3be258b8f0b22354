"""What the verbs of studies share: which database, which study, and how a result is shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from paretopick.cli.arguments import policy_spec, split_at_commas
from paretopick.cli.output import print_json, print_table
from paretopick.errors import InvalidInput
from paretopick.studies import ParetoResult, Study
from paretopick.studies.tables import read_options

Storage = Annotated[
    str | None,
    typer.Option(
        help="The database: sqlite:///FILE, a file name, or postgresql://USER@HOST/NAME.  [default: $PARETOPICK_STORAGE, or "
        "paretopick.db in the working folder]",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="STUDY", help="The name of the study.", show_default=False)]
Number = Annotated[int, typer.Argument(help="Of the measurement, as ask or the sheet gave it.", show_default=False)]
Worker = Annotated[str, typer.Option(help="Who asks; workers that run side by side need different names.")]
Policy = Annotated[str, typer.Option("--policy", help="Who is next, such as apt:batch=4; see: paretopick show policies")]

OptionsChoice = Annotated[
    str | None,
    typer.Option("--options", help="Their names, separated by commas, or a CSV file with a row for each.", show_default=False),
]
MetricsChoice = Annotated[
    str | None, typer.Option("--metrics", help="Names and goals, such as time:min,quality:max.", show_default=False)
]
BudgetChoice = Annotated[int | None, typer.Option("--budget", help="The most measurements that count.", show_default=False)]
ExactChoice = Annotated[str, typer.Option("--exact", help="Metrics without noise, a price for instance, separated by commas.")]
ScaleChoice = Annotated[
    str, typer.Option("--scale", help="Compare metrics in units of their noise, raw, or of what you say: time=0.1,size=20.")
]


def options_from(given: str) -> Sequence[str] | Mapping[str, Mapping[str, Any]]:
    """Names from a list, or names and settings from a file."""
    if given.lower().endswith(".csv") or os.path.isfile(given):
        return read_options(given)
    names = [name.strip() for name in split_at_commas([given])]
    if len(names) < 2:
        raise InvalidInput(f"--options {given!r} is one option; give two or more, separated by commas, or a CSV file.")
    return names


def study_from(
    options: str | None, metrics: str | None, budget: int | None, policy: str, exact: str, scale: str
) -> dict[str, Any]:
    """What defines a study, from the texts of the command line."""
    if options is None or metrics is None or budget is None:
        raise InvalidInput("a study needs --options, --metrics and --budget; --help ends in an example.")
    return {
        "options": options_from(options),
        "metrics": metrics_from(metrics),
        "budget": budget,
        "policy": policy_spec(policy),
        "scale": scale_from(scale),
        "exact": [part.strip() for part in split_at_commas([exact])],
    }


def metrics_from(given: str) -> dict[str, str]:
    """``time:min,quality:max`` taken apart."""
    metrics: dict[str, str] = {}
    for part in split_at_commas([given]):
        name, _, goal = part.rpartition(":")
        if name.strip() in metrics:
            raise InvalidInput(f"--metrics {given} has {name.strip()!r} twice.")
        if goal.strip() not in ("min", "max") or not name.strip():
            raise InvalidInput(f"{part!r} in --metrics {given} is not NAME:min or NAME:max.")
        metrics[name.strip()] = goal.strip()
    return metrics


def scale_from(given: str) -> str | dict[str, float]:
    """``noise``, ``raw``, or ``time=0.1,size=20`` taken apart."""
    if "=" not in given:
        return given
    return number_pairs(split_at_commas([given]), f"--scale {given}")


def number_pairs(texts: Sequence[str], where: str) -> dict[str, float]:
    """``name=value`` pairs, each name once."""
    pairs: dict[str, float] = {}
    for pair in texts:
        name, equals, number = (part.strip() for part in pair.rpartition("="))
        if not equals or not name:
            raise InvalidInput(f"{pair!r} in {where} is not NAME=NUMBER.")
        if name in pairs:
            raise InvalidInput(f"{name!r} is in {where} twice.")
        try:
            pairs[name] = float(number)
        except ValueError:
            raise InvalidInput(f"{pair!r} in {where} does not end in a number.") from None
    return pairs


def report(study: Study, what: str, as_json: bool) -> None:
    """Prints where the study stands after something was done."""
    state = study.status()
    if as_json:
        print_json(state)
    else:
        print(f"{what}; {state['used']} of {state['budget']} measurements count, round {state['round']}.")
        if state["done"]:
            print(f"The study is done. {study.result()}")


def print_result(result: ParetoResult) -> None:
    """Prints the options, the Pareto-optimal ones first, and what else one should know."""
    print_table(*result.cells())
    print()
    for note in result.notes:
        print(f"Note: {note}")
    print(result)
    print(f"How sure: {result.certainty.how}")
    if result.rehearsal is not None:
        print(f"Rehearsed: {result.rehearsal.how}")
