"""``paretopick run``: measure until the study is done."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from paretopick._arrays import check_integer
from paretopick._words import counted
from paretopick.cli.arguments import (
    BudgetGiven,
    ExactGiven,
    Json,
    MetricsGiven,
    OptionsGiven,
    PolicyGiven,
    ScaleGiven,
    Storage,
    check_file_alone,
    study_from,
    typed,
)
from paretopick.cli.output import note, print_result, print_result_as_json, say
from paretopick.cli.progress import study_bar
from paretopick.errors import InvalidInput, MeasuringFailed, StorageFailed
from paretopick.policies import DEFAULT_POLICY
from paretopick.storage import open_storage
from paretopick.studies import Study, run_study
from paretopick.studies.definition import Definition, define
from paretopick.studies.files import StudyFile, read_study_file
from paretopick.studies.interrupts import Stopped
from paretopick.studies.running import RETRIES, create_or_open

NAME = "run"
RUNNERS = re.compile(r"python[\d.]*|bash|sh|zsh|node|ruby|perl|Rscript|julia|env|time|timeout|nice|uv")
"""Programs that run what somebody has written."""
STOPPED_BY = (signal.SIGTERM, signal.SIGHUP)
"""Requests to end, by a person or a system, and the end of the terminal."""
PASSWORDS_OF_POSTGRESQL = ("PGPASSWORD", "PGPASSFILE")
"""If the study is kept there, they are for us, and not for the command."""
EXAMPLE = "paretopick run --options 1,2,3 --metrics size:min --budget 12 -- echo size={option}"


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE.toml | -- COMMAND...",
            help="The file of a study, or the command that measures {option}.",
            show_default=False,
        ),
    ] = None,
    options: OptionsGiven = None,
    metrics: MetricsGiven = None,
    budget: BudgetGiven = None,
    name: Annotated[
        str | None, typer.Option(help="The name of the study.  [default: that of the command]", show_default=False)
    ] = None,
    policy: PolicyGiven = DEFAULT_POLICY,
    exact: ExactGiven = "",
    scale: ScaleGiven = "noise",
    shell: Annotated[
        bool,
        typer.Option("--shell", help="Have a shell read the command; {option} is one word for it, $PARETOPICK_OPTION several."),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="How many measurements to make at the same time.  [default: 1]", show_default=False)
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a measurement is stopped.  [default: never]", show_default=False)
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            help=f"How often an option may fail again in a row before the run stops.  [default: {RETRIES}]", show_default=False
        ),
    ] = None,
    worker: Annotated[
        str | None,
        typer.Option(help="A name for this run, under which it finds its open measurements again.", show_default=False),
    ] = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Measure with a command until the study is done.

    The study is created if it is not there, and continued if it is. The command prints one JSON object or lines name=value.
    {option} and any column of the table of options are replaced, without a shell in between. Run it several times to have
    more workers, with PostgreSQL on several machines.
    """
    if options is not None or metrics is not None:
        definition = define(**study_from(options, metrics, budget, policy, exact, scale))
        told = _inline(what or [], definition, name, shell, timeout)
    else:
        changed = {"--policy": policy != DEFAULT_POLICY, "--exact": bool(exact), "--scale": scale != "noise", "--shell": shell}
        told = _from_file(what or [], {"--budget": budget is not None, "--name": name is not None, **changed})
    measure = told.measure(timeout)
    size = check_integer(_first(workers, told.workers, 1), "--workers", minimum=1)
    attempts = check_integer(_first(retries, told.retries, RETRIES), "--retries", minimum=0)
    if not measure.depends_on_the_option:
        note("the command is the same for all options; unless it looks at PARETOPICK_OPTION, write {option} into it.")
    database = open_storage(storage)
    study = create_or_open(told.name, told.definition, database)
    was_done = study.done
    _say_what_is_there(study, told.definition, storage)
    if database.shown.startswith("postgresql"):
        measure.hide(*PASSWORDS_OF_POSTGRESQL)
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
                signals=STOPPED_BY,
            )
    except KeyboardInterrupt as interrupt:
        _say_how_to_go_on(study, interrupt)
        raise typer.Exit(128 + getattr(interrupt, "number", signal.SIGINT)) from None
    except MeasuringFailed as problem:
        retire = typed(["paretopick", "retire", study.name, problem.option or "", "REASON"], storage)
        last = [f"    {line}" for line in (problem.output or "").splitlines()[-8:]]
        output = ["Its last output:", *last] if last else []
        raise MeasuringFailed("\n".join([str(problem), *output, f"Go on with: {_again()}", f"Or without it: {retire}"])) from None
    if as_json:
        print_result_as_json(result)
    else:
        print_result(result)
        if was_done:
            say(f"Nothing was measured now: this is the study {study.name!r} as it was finished before.")


def _say_what_is_there(study: Study, definition: Definition, storage: str | None) -> None:
    """Says what one should know of a study that was begun before: that it is finished, or was measured in another way."""
    used, before = study.used, study.definition.command
    if study.done:
        if study.definition.choice.roundless:
            more = typed(["paretopick", "extend", study.name, "--budget", str(max(study.budget, used) + study.budget)], storage)
            go_on = f"To go on: {more}, and then the same again."
        else:
            go_on = "Its rounds were planned for its budget; a new study with a larger one can import an export of it."
        anew = f"To measure anew: another --name, or {typed(['paretopick', 'delete', study.name, '--yes'], storage)}."
        note(f"the study {study.name!r} was finished before, and nothing is measured now: this is its result. {go_on} {anew}")
    if before and used and before != definition.command:
        mixed = f"its {counted(used, 'measurement')} and those of this one are taken for the same; if they are not, stop, and"
        more = "" if study.done else f": {mixed} choose another --name"
        note(f"the study {study.name!r} was begun with another command, {shlex.join(before)}{more}.")
    here = f"{socket.gethostname()}:"
    others = {row["worker"] for row in study.status()["out"] if row["worker"].startswith(here)}
    if others and not study.done:
        note("another run on this machine works on the study, or did a moment ago; times that both measure suffer from it.")


def _from_file(what: list[str], given: Mapping[str, bool]) -> StudyFile:
    if len(what) != 1:
        raise InvalidInput(
            "say what to run: paretopick run study.toml, or --options, --metrics and --budget and a command after --."
        )
    (path,) = what
    check_file_alone(path, given)
    told = read_study_file(path)
    if not told.definition.command:
        raise InvalidInput(f'{path} has no command that measures; write for instance command = ["./bench.sh", "{{option}}"].')
    return told


def _inline(words: list[str], definition: Definition, name: str | None, shell: bool, timeout: float | None) -> StudyFile:
    if not words:
        raise InvalidInput("there is no command that measures; write it after --, for instance: -- ./bench.sh {option}")
    definition = replace(definition, command=tuple(words), shell=shell, timeout=timeout, folder=os.getcwd())
    return StudyFile(name or _name_of(" ".join(words).split()), definition)


def _first(*given: int | None) -> int | None:
    """The first that was said."""
    return next((value for value in given if value is not None), None)


def _name_of(words: list[str]) -> str:
    """What is measured, by the command: the script rather than what runs it."""
    plain = [word for word in words if "{" not in word]
    scripts = [word for word in plain if Path(word).suffix]
    chosen = scripts if RUNNERS.fullmatch(Path(words[0]).name) and scripts else plain
    return Path(chosen[0]).stem if chosen else "study"


def _say_how_to_go_on(study: Study, interrupt: KeyboardInterrupt) -> None:
    how = f"Ended by {signal.Signals(interrupt.number).name}" if isinstance(interrupt, Stopped) else "Interrupted"
    with suppress(StorageFailed):
        how += f" with {study.used} of {study.budget} measurements"
    try:
        print(f"{how}. Go on with: {_again()}", file=sys.stderr, flush=True)
    except OSError:  # the terminal is gone, and what could not be written must not be tried again at the very end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _again() -> str:
    return typed(["paretopick", *sys.argv[1:]])
