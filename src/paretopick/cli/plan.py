"""``paretopick plan``: how many measurements are enough."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from paretopick._texts import number_of, split_at_commas
from paretopick._words import joined, quoted
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
    Storage,
    bandit_from,
    check_one_form,
    is_file,
    names_in,
    whole_numbers,
)
from paretopick.cli.output import check_picture, print_csv, print_json, print_table, say, write_picture
from paretopick.cli.progress import work_bar
from paretopick.errors import InvalidInput, MissingFile, SimulationInterrupted, UnknownName
from paretopick.instances import INSTANCES
from paretopick.metrics import Metric, check_metrics
from paretopick.planning import Pilot, Plan, look_ahead, plan
from paretopick.studies import Study
from paretopick.studies.continuation import Continuation

NAME = "plan"
EXAMPLE = "paretopick plan cov-boost --target 0.2 --policy ege-sr --policy ege-sh"


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A study that goes on, a CSV file of measurements (then give --metrics) or of means (then give --std or "
            "--bernoulli), or an instance.",
            show_default=False,
        ),
    ],
    more: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBERS",
            help="How many more measurements of a study to look at, separated by commas.  [default: 100,300,1000]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    anew: Annotated[
        bool, typer.Option("--anew", help="Take a study for the pilot of a new one, which starts from nothing.")
    ] = False,
    target: Annotated[str, typer.Option(help="The share of wrong answers that is acceptable, such as 0.05 or 5%.")] = "5%",
    budget: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBERS",
            help="The budgets to look at, separated by commas.  [default: ten, up to where the target is reached]",
            show_default=False,
        ),
    ] = [],  # noqa: B006 -- typer copies it
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="A policy to look at: NAME, or NAME:OPTION=VALUE,...; give it once for each.  [default: all for studies]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    runs: Annotated[
        int | None,
        typer.Option(
            help="How many studies to simulate for each policy and budget.  [default: 2000; of a study that goes on 400 or "
            "fewer]",
            show_default=False,
        ),
    ] = None,
    max_budget: Annotated[
        int | None,
        typer.Option(help="The largest budget to consider.  [default: 500 times the number of options]", show_default=False),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="?",
            help="With '?', say which differences the budgets resolve: the smallest margins, the same multiple of the noise in "
            "every metric, or of the margins in --metrics, within which the target is met.",
            show_default=False,
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            help="The columns of the file that count, with their goals, margins and limits: time:min~2%<=50,quality:max.",
            show_default=False,
        ),
    ] = None,
    exact: Annotated[
        str,
        typer.Option(help="The metrics of a file of measurements that have no noise, separated by commas.", show_default=False),
    ] = "",
    pairing: Annotated[
        str | None,
        typer.Option(
            help="The column of the file that says which measurements share what makes them vary (the question, the plate), or "
            "'repeat' for the n-th of every option.",
            show_default=False,
        ),
    ] = None,
    std: Std = None,
    bernoulli: Coins = False,
    minimise: Minimise = [],  # noqa: B006
    study: Annotated[
        bool, typer.Option("--study", help="Take the name for that of a study, even if an instance has it too.")
    ] = False,
    plot: Picture = None,
    force: Force = False,
    seed: Seed = 0,
    executor: Cluster = None,
    data: Data = None,
    storage: Storage = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Say which budget is enough, and how often the answer will be wrong.

    Of a study: what it will reach with more measurements, from what it has measured so far, in a second or two; or with --anew,
    which budget a new one like it would take. A file of measurements is a pilot, too: what it leaves open about the means is
    drawn anew for every simulated study. Means from a file or an instance are taken for the truth.
    """
    check_one_form(as_json, as_csv)
    check_picture(plot, force=force)
    known = _Source(source, metrics, exact, pairing, std, bernoulli, minimise, data, storage).known(study)
    if isinstance(known, Study):
        if not anew:
            _check_only_more(known.name, budget, policies, max_budget, plot, executor)
            numbers = whole_numbers(more, "--more") or None
            ahead = look_ahead(known, more=numbers, target=_share(target), runs=runs, margin=margin, rng=seed)
            _print_ahead(ahead, as_json, as_csv)
            return
        known = Pilot.of_study(known)
    if more:
        raise InvalidInput("--more is for a study that goes on; for a new one say --budget.")
    if margin is not None and not budget:
        raise InvalidInput(f"--margin {margin} asks which margins a budget resolves; say which budget, such as --budget 300.")
    made, interrupted = _planned(
        known,
        policies=policies or None,
        margin=margin,
        budgets=whole_numbers(budget, "--budget") or None,
        target=_share(target),
        runs=runs,
        max_budget=max_budget,
        rng=seed,
        executor=executor,
    )
    _print(made, as_json, as_csv)
    if plot is not None:
        from paretopick import plots

        write_picture(plots.plan_of(made), plot, beside=as_json or as_csv)
    if interrupted:
        print("interrupted; the policies that are finished are shown.", file=sys.stderr)
        raise typer.Exit(130)


# Parsing: what is known beforehand, from whatever the source is.


@dataclass(frozen=True)
class _Source:
    """What to plan from, as the command line has it."""

    name: str
    metrics: str | None
    exact: str
    pairing: str | None
    std: str | None
    bernoulli: bool
    minimise: list[str]
    data: Path | None
    storage: str | None

    def known(self, is_study: bool) -> Pilot | Study:
        """The study, or whatever else is known."""
        of_means = self.std is not None or self.bernoulli
        if not is_study and is_file(self.name):
            return self._means() if of_means else self._measurements()
        if self.metrics is not None or self.exact or self.pairing is not None:
            raise InvalidInput(f"--metrics, --exact and --pairing go with a file; {self.name!r} is not one.")
        if not is_study and self.name in INSTANCES:
            return Pilot.guess(self._bandit(self.minimise), like_a_study=False)
        if of_means or self.minimise:
            raise InvalidInput(f"--std, --bernoulli and --minimise go with a CSV file of means; {self.name!r} is not one.")
        try:
            return Study.open(self.name, storage=self.storage)
        except (MissingFile, UnknownName) as problem:
            if is_study:
                raise
            raise UnknownName(f"{self.name!r} is neither a file nor an instance nor a study: {problem}") from None

    def _measurements(self) -> Pilot:
        if self.metrics is None:
            raise InvalidInput(
                f"{self.name} needs --metrics time:min,quality:max if it has a row for each measurement, or --std or --bernoulli "
                "if it has the means."
            )
        if self.minimise:
            raise InvalidInput("--minimise goes with a file of means; say time:min in --metrics.")
        return Pilot.of_table(self.name, self.metrics, exact=names_in(self.exact), pairing=self.pairing)

    def _means(self) -> Pilot:
        """The means in a file, larger is better except where --metrics or --minimise say otherwise."""
        if self.pairing is not None:
            raise InvalidInput("--pairing goes with a file of measurements; means do not say what measurements share.")
        if self.exact:
            raise InvalidInput(
                "--exact goes with a file of measurements; in one of means give such a column the noise 0 in --std."
            )
        if self.metrics is not None and self.minimise:
            raise InvalidInput("--metrics and --minimise both say what is to be small; choose one.")
        chosen = {} if self.metrics is None else {metric.name: metric for metric in check_metrics(self.metrics)}
        small = [name for name, metric in chosen.items() if metric.sign < 0] if chosen else split_at_commas(self.minimise)
        bandit = self._bandit(small)
        columns = [name[1:] if name.startswith("-") and name[1:] in small else name for name in bandit.objective_names]
        if chosen and set(chosen) != set(columns):
            raise InvalidInput(f"--metrics {self.metrics} must name the columns of {self.name}: {quoted(columns)}.")
        metrics = [chosen.get(name, Metric(name, "min" if name in small else "max")) for name in columns]
        return Pilot.guess(replace(bandit, name=self.name), goals=metrics)

    def _bandit(self, minimise: list[str]) -> Any:
        return bandit_from(self.name, self.data, self.std, self.bernoulli, minimise)


def _check_only_more(
    study: str,
    budget: Sequence[str],
    policies: Sequence[str],
    max_budget: int | None,
    plot: Path | None,
    executor: str | None,
) -> None:
    """Refuses what is for new studies."""
    given = {"--budget": budget, "--policy": policies, "--max-budget": max_budget, "--plot": plot, "--executor": executor}
    if others := [name for name, value in given.items() if value]:
        raise InvalidInput(
            f"{joined(others)} {'goes' if len(others) == 1 else 'go'} with a new study: say --anew too, or --more 100,300 for "
            f"what {study!r} itself will reach."
        )


def _share(text: str) -> float:
    """A share, as a number or in percent."""
    try:
        return number_of(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InvalidInput(f"--target {text} is not a share; write 0.05 or 5%.") from None


# Running.


def _planned(pilot: Pilot, **asked: Any) -> tuple[Plan, bool]:
    """The plan, and whether it was interrupted before it was complete."""
    try:
        with work_bar() as show:
            return plan(pilot, progress=show, **asked), False
    except SimulationInterrupted as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not lose what is about to be printed
        if not isinstance(stop.partial, Plan):
            print("interrupted before anything was finished.", file=sys.stderr)
            raise typer.Exit(130) from None
        return stop.partial, True


# Printing.


def _print(made: Plan, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json(made.to_dict())
        return
    if as_csv:
        print_csv([row for curve in made.curves for row in curve.rows()])
        return
    print("How often the answer will be wrong, with 95% intervals:\n")
    print_table(*made.cells())
    print()
    for sentence in made.sentences():
        say(sentence)


def _print_ahead(ahead: Continuation, as_json: bool, as_csv: bool) -> None:
    if as_json:
        print_json(ahead.to_dict())
        return
    if as_csv:
        print_csv(ahead.rows())
        return
    print(f"{ahead.title}\n")
    print_table(*ahead.cells())
    print()
    for sentence in ahead.sentences():
        say(sentence)
