"""``paretopick paper``: every figure and table of the paper, and whether its claims hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretopick._arrays import check_integer
from paretopick.cli.arguments import Cluster, Data, Json, Seed, Workers
from paretopick.cli.output import print_json, print_table, say
from paretopick.cli.progress import resumable_work

if TYPE_CHECKING:
    from paretopick.paper.comparisons import Claim

NAME = "paper"
EXAMPLE = "paretopick paper unique-dominator best-arm --runs 500"


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAMES",
            help="Names of figures and tables, as --list shows them.  [default: all of them]",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="How many runs each point takes; runs that were made before count.")] = 4000,
    out: Annotated[Path, typer.Option(help="The folder for the results, which is made if it is not there.")] = Path(
        "paper-results"
    ),
    data: Data = None,
    workers: Workers = None,
    executor: Cluster = None,
    seed: Seed = 0,
    listed: Annotated[bool, typer.Option("--list", help="List what there is, and run nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Reproduce the paper: run its experiments, draw its figures, and check its claims one by one.

    Finished work is kept in OUT/results.db: killed or interrupted, the same command goes on where it stopped, and with more
    --runs only the missing ones are made. Figures (PNG, PDF) and their data (CSV) go to OUT/figures, and what they say about
    the claims to OUT/reproduction.md; when only some are named, only claims that rest on them are looked at. Without the file
    of the sorting networks (--data, or PARETOPICK_SNW) what needs it is left out.
    """
    if listed:
        _print_list(as_json)
        return
    check_integer(runs, "--runs", minimum=1)
    check_integer(seed, "--seed", minimum=0)
    with resumable_work(out) as advance:
        from paretopick.paper import reproduce

        result = reproduce(
            names or (), out=out, runs=runs, data=data, workers=workers, executor=executor, seed=seed, progress=advance
        )
    if as_json:
        record: dict[str, Any] = asdict(result)
        record["files"] = [str(file) for file in result.files]
        for claim, entry in zip(result.claims, record["claims"], strict=True):
            entry["result"] = claim.summary
            for part, row in zip(claim.parts, entry["parts"], strict=True):
                row["result"] = part.result
        print_json(record)
        return
    _print_claims(result.claims)
    if result.spent:
        _print_times(result.spent)
    print(f"\nWrote {len(result.files)} files to {out} in {_duration(result.seconds)}; the page is {out / 'reproduction.md'}.")
    if result.skipped:
        left_out = ", ".join(result.skipped)
        print(f"left out of the page for want of the sorting networks' file (--data): {left_out}", file=sys.stderr)


def _print_claims(claims: Sequence[Claim]) -> None:
    looked_at = [claim for claim in claims if claim.looked_at]
    others = [str(claim.number) for claim in claims if not claim.looked_at]
    if looked_at:
        print("What the paper claims, and what these runs say:\n")
        print_table(["claim", "summary", "result"], ([claim.number, claim.quote, claim.summary] for claim in looked_at))
    if others:
        print()
        say(f"Claims not looked at, since they rest on other figures and tables: {', '.join(others)}.")


def _print_times(spent: list[dict[str, Any]]) -> None:
    print("\nWhere the time went, in seconds, over all calls for this folder:\n")
    header = list(spent[0])
    rows = [[_seconds(cell) for cell in row.values()] for row in spent]
    sums = [sum(row[name] for row in spent) for name in header[1:]]
    print_table(header, [*rows, ["total", *map(_seconds, sums)]])


def _print_list(as_json: bool) -> None:
    from paretopick.paper import CATALOGUE

    rows = [{"name": entry.name, "place": entry.place, "summary": entry.title} for entry in CATALOGUE.values()]
    if as_json:
        print_json(rows)
    else:
        print_table(["name", "place", "summary"], (row.values() for row in rows))


def _seconds(cell: Any) -> Any:
    return f"{cell:.1f}" if isinstance(cell, float) else cell


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
