"""``paretopick run``: measure until the study is done."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from paretopick._arrays import check_integer
from paretopick.cli.arguments import Json
from paretopick.cli.output import print_json, study_bar
from paretopick.cli.studying import (
    BudgetChoice,
    ExactChoice,
    MetricsChoice,
    OptionsChoice,
    Policy,
    ScaleChoice,
    Storage,
    print_result,
    study_from,
)
from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.studies import run_study
from paretopick.studies.definition import define
from paretopick.studies.files import StudyFile, read_study
from paretopick.studies.running import RETRIES, create_or_open

NAME = "run"
RUNNERS = re.compile(r"python[\d.]*|bash|sh|zsh|node|ruby|perl|Rscript|julia|env|time|timeout|nice|uv")
"""Programs that run what somebody has written."""
EXAMPLE = "paretopick run --options 1,2,3 --metrics size:min --budget 12 -- echo size={option}"


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE.toml | -- COMMAND...", help="The file of a study, or what measures {option}.", show_default=False
        ),
    ] = None,
    options: OptionsChoice = None,
    metrics: MetricsChoice = None,
    budget: BudgetChoice = None,
    name: Annotated[str | None, typer.Option(help="Of the study.  [default: that of the command]", show_default=False)] = None,
    policy: Policy = "ege-sr",
    exact: ExactChoice = "",
    scale: ScaleChoice = "noise",
    shell: Annotated[bool, typer.Option("--shell", help="Have the command read by a shell; values are put in quotes.")] = False,
    workers: Annotated[
        int | None, typer.Option(help="How many measure at the same time.  [default: 1]", show_default=False)
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a measurement is stopped.  [default: never]", show_default=False)
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(help=f"How often an option may fail again in a row.  [default: {RETRIES}]", show_default=False),
    ] = None,
    worker: Annotated[
        str | None, typer.Option(help="A name, under which open measurements are found again.", show_default=False)
    ] = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Measure until the study is done: creates it, or goes on with it.

    The command prints one JSON object or lines name=value. {option} and any column of the table of options are replaced, without
    a shell in between. Run it several times, on several machines, to have more workers.
    """
    inline = options is not None or metrics is not None
    if not inline and budget is not None and what:
        raise InvalidInput(f"--budget goes with --options and --metrics; write it into {what[0]}.")
    told = (
        _inline(what or [], options, metrics, budget, name, policy, exact, scale, shell)
        if inline
        else _from_file(what or [], name, policy, exact, scale, shell)
    )
    measure = told.measure(timeout)
    size = check_integer(_first(workers, told.workers, 1), "--workers", minimum=1)
    attempts = check_integer(_first(retries, told.retries, RETRIES), "--retries", minimum=0)
    if not measure.depends_on_the_option:
        _warn("the command is the same for all options; unless it looks at PARETOPICK_OPTION, write {option} into it.")
    study = create_or_open(told.name, told.described, storage, batch=size)
    before = study.definition.command
    if before and before != told.command:
        _warn(f"the study {study.name!r} was created with another command: {shlex.join(before)}")
    if study.done:
        _warn(f"the study {study.name!r} is done already; to measure anew, choose another --name or --storage, or delete it.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be asked to stop is like Ctrl-C
    try:
        with study_bar(study) as watch:
            result = run_study(
                study,
                measure,
                workers=size,
                retries=attempts,
                worker=worker,
                watch=watch,
                abandon=measure.stop,
            )
    except KeyboardInterrupt:
        print(f"Interrupted with {study.used} of {study.budget} measurements. Go on with: {_again()}", file=sys.stderr)
        raise typer.Exit(130) from None
    except MeasuringFailed as problem:
        here = "" if storage is None else f" --storage {shlex.quote(storage)}"
        retire = f"paretopick retire {shlex.quote(study.name)} {shlex.quote(problem.option or '')} REASON{here}"
        output = "".join(f"\n    {line}" for line in (problem.output or "").splitlines()[-8:])
        raise MeasuringFailed(f"{problem}\nIts last output:{output}\nGo on with: {_again()}\nOr without it: {retire}") from None
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result)


def _from_file(what: list[str], name: str | None, policy: str, exact: str, scale: str, shell: bool) -> StudyFile:
    if len(what) != 1:
        raise InvalidInput(
            "say what to run: paretopick run study.toml, or --options, --metrics and --budget and a command after --."
        )
    if name is not None or policy != "ege-sr" or exact or scale != "noise" or shell:
        raise InvalidInput(f"--name, --policy, --exact, --scale and --shell go with --options; write them into {what[0]}.")
    return read_study(what[0])


def _inline(
    words: list[str],
    options: str | None,
    metrics: str | None,
    budget: int | None,
    name: str | None,
    policy: str,
    exact: str,
    scale: str,
    shell: bool,
) -> StudyFile:
    return StudyFile(
        name=name or _name_of(" ".join(words).split()),
        definition=define(**study_from(options, metrics, budget, policy, exact, scale)),
        command=tuple(words),
        shell=shell,
        folder=Path("."),
        timeout=None,
        retries=None,
        workers=None,
    )


def _first(*given: int | None) -> int | None:
    """The first that was said."""
    return next((value for value in given if value is not None), None)


def _name_of(words: list[str]) -> str:
    """What is measured, by the command: the script rather than what runs it."""
    scripts = [word for word in words if Path(word).suffix and "{" not in word]
    chosen = scripts if words and RUNNERS.fullmatch(Path(words[0]).name) and scripts else words
    return Path(chosen[0]).stem if chosen else "study"


def _warn(sentence: str) -> None:
    print(f"note: {sentence}", file=sys.stderr, flush=True)


def _again() -> str:
    return shlex.join(["paretopick", *sys.argv[1:]])
