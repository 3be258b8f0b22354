"""``paretopick tournament``: every policy on the paper's instances and on random problems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paretopick._arrays import check_integer
from paretopick._texts import split_at_commas
from paretopick.cli.arguments import Data, Json, Seed, Workers
from paretopick.cli.output import print_json, print_table
from paretopick.cli.progress import resumable_work
from paretopick.policies import check_policy

if TYPE_CHECKING:
    from paretopick.paper.ratios import Scores

NAME = "tournament"
EXAMPLE = "paretopick tournament --set paper --policy ege-sh --policy uniform --runs 500"


def command(
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="SET",
            help="The problems: paper, tuning or judging; several are separated by commas.  [default: paper,tuning]",
            show_default=False,
        ),
    ] = [],  # noqa: B006 -- typer copies it
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="A policy to run beside ege-sr: NAME, or NAME:OPTION=VALUE,...; give it once for each.  [default: all]",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    runs: Annotated[
        int, typer.Option(help="How many runs each policy makes on each problem; runs that were made before count.")
    ] = 1024,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers", help="Judge the data of ege-sr, uniform and apt by the rule of doubt, too, which takes a while."
        ),
    ] = False,
    out: Annotated[Path, typer.Option(help="The folder for the results, which is made if it is not there.")] = Path(
        "tournament-results"
    ),
    data: Data = None,
    workers: Workers = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare policies: on the paper's instances, and on random problems of six families with four kinds of noise.

    Finished work is kept in OUT/results.db: killed or interrupted, the same command goes on where it stopped, and with more
    --runs only the missing ones are made. OUT/policies.md says which policy is for whom, with the figure and the data in
    OUT/figures, for all sets that were run in the folder. The set judging is for the last word on a policy; work with tuning.
    Take another folder when the code of a policy has changed.
    """
    check_integer(runs, "--runs", minimum=1)
    check_integer(seed, "--seed", minimum=0)
    with resumable_work(out) as advance:
        from paretopick.paper.tournament import tournament

        result = tournament(
            [name.strip() for name in split_at_commas(sets)] or ("paper", "tuning"),
            out=out,
            runs=runs,
            policies=[check_policy(text) for text in policies],
            answers=answers,
            data=data,
            workers=workers,
            seed=seed,
            progress=advance,
        )
    if as_json:
        record = {"files": [str(file) for file in result.files], "skipped": list(result.skipped), "seconds": result.seconds}
        print_json({**record, "rows": result.rows()})
        return
    for group, scores in result.scores.items():
        _print_ratios(group, scores)
    print(f"Wrote {len(result.files)} files to {out} in {result.seconds:.0f} s; the page is {out / 'policies.md'}.")
    if result.skipped:
        left_out = ", ".join(result.skipped)
        print(f"left out for want of the sorting networks' file (--data): {left_out}", file=sys.stderr)


def _print_ratios(group: str, scores: Scores) -> None:
    from paretopick.paper.ratios import geometric_mean

    print(f"Set {group}, ratios of errors to those of ege-sr:\n")
    rows = []
    for policy in scores.policies:
        ratios = list(scores.ratios(policy).values())
        values = [ratio.value for ratio in ratios]
        numbers = [f"{value:.2f}" for value in (geometric_mean(values).value, min(values), max(values))]
        rows.append([policy, len(values), *numbers, sum(r.wins for r in ratios), sum(r.loses for r in ratios)])
    print_table(["policy", "problems", "geometric mean", "best", "worst", "better on", "worse on"], rows)
    print()
