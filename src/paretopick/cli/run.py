"""``paretopick run``: measure until the study is done."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from paretopick._arrays import check_integer
from paretopick.cli.arguments import (
    BaselineGiven,
    BudgetGiven,
    ConfidenceGiven,
    CostGiven,
    ExactGiven,
    Json,
    MetricsGiven,
    OptionsGiven,
    PairingGiven,
    PolicyGiven,
    ResolutionGiven,
    ScaleGiven,
    Storage,
    aim_from,
    check_file_alone,
    study_from,
)
from paretopick.cli.begun import name_of, say_what_is_there, under_a_name_of_its_own
from paretopick.cli.disturbances import Watch, watching_times
from paretopick.cli.going_on import after_failure, after_interrupt, after_its_time
from paretopick.cli.output import note, print_result, print_result_as_json, say
from paretopick.cli.progress import study_bar
from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.policies import DEFAULT_POLICY
from paretopick.storage import open_storage
from paretopick.studies import Study, run_study
from paretopick.studies.budgets import seconds_of
from paretopick.studies.commands import Command
from paretopick.studies.company import OtherPrograms
from paretopick.studies.crew import RETRIES
from paretopick.studies.definition import Definition, define
from paretopick.studies.files import StudyFile, command_words, read_study_file
from paretopick.studies.opening import create_or_open
from paretopick.studies.started import smallest_memory
from paretopick.studies.time_metrics import times_among

NAME = "run"
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
    cost: CostGiven = None,
    confidence: ConfidenceGiven = None,
    resolution: ResolutionGiven = None,
    pairing: PairingGiven = None,
    baseline: BaselineGiven = None,
    shell: Annotated[
        bool,
        typer.Option("--shell", help="Have a shell read the command; {option} is one word for it, {option...} several."),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="How many measurements to make at the same time.  [default: 1]", show_default=False)
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a measurement is stopped.  [default: never]", show_default=False)
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option(
            help="How often to run the command for each option before it is measured, without counting.  [default: 0]",
            show_default=False,
        ),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Another command to run before each measurement, which is not measured; with --shell a shell reads it, too.",
            show_default=False,
        ),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            help=f"How often an option may fail again in a row before the run stops.  [default: {RETRIES}]", show_default=False
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="How long this run may take, such as 90s, 20m or 2h; what is being measured then is finished, and the same "
            "command goes on later.",
            show_default=False,
        ),
    ] = None,
    repaired: Annotated[
        bool,
        typer.Option("--repaired", help="Go on with a study that was begun with another command: it measures the same."),
    ] = False,
    worker: Annotated[
        str | None,
        typer.Option(help="A name for this run, under which it finds its open measurements again.", show_default=False),
    ] = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Measure with a command until the study is done.

    The study is created if it is not there, and continued if it is. The command prints one JSON object or lines name=value;
    the metrics wall_seconds, cpu_seconds, max_memory_mb, output_bytes and exit_code are measured without. {option} and any column
    of the table of options are replaced, without a shell in between; {option...} by several words, {repeat} by which measurement
    of the option this is, from 0, which is also in PARETOPICK_REPEAT. Run it several times to
    have more workers, with PostgreSQL on several machines.
    """
    others = OtherPrograms()
    aim = aim_from(confidence, resolution)
    if options is not None or metrics is not None:
        definition = define(
            **study_from(options, metrics, budget, policy, exact, scale, cost=cost, pairing=pairing, baseline=baseline), **aim
        )
        told = _inline(what or [], definition, name, shell)
    else:
        changed = {
            "--policy": policy != DEFAULT_POLICY,
            "--exact": bool(exact),
            "--cost": cost is not None,
            "--pairing": pairing is not None,
            "--baseline": baseline is not None,
            "--scale": scale != "noise",
            "--shell": shell,
        } | {f"--{name}": True for name in aim}
        told = _from_file(what or [], {"--budget": budget is not None, "--name": name is not None, **changed})
    told = _as_said_now(told, timeout, warmup, prepare)
    measure = told.measure()
    size = check_integer(_first(workers, told.workers, 1), "--workers", minimum=1)
    seconds = None if limit is None else seconds_of(limit, "--for")
    attempts = check_integer(_first(retries, told.retries, RETRIES), "--retries", minimum=0)
    if not measure.depends_on_the_option:
        note("the command is the same for all options; unless it looks at PARETOPICK_OPTION, write {option} into it.")
    if word := measure.word_for_a_shell:
        note(f"no shell reads the command, so {word!r} is a word like others for it; write --shell, in a file shell = true.")
    smallest = _smallest_memory(told.definition)
    database = open_storage(storage)
    if name is None and options is not None:
        told = under_a_name_of_its_own(told, database)
    study = create_or_open(told.name, told.definition, database)
    was_done = study.done
    file = " ".join(what or []) if options is None and metrics is None else None
    say_what_is_there(study, told.definition, storage, file=file, repaired=repaired)
    if smallest is not None and not was_done:
        note(f"max_memory_mb is never below {smallest:.1f}, which is what starting a command takes: less is shown as that.")
    times = [] if was_done else times_among(told.definition.metrics)
    if database.shown.startswith("postgresql"):
        measure.hide(*PASSWORDS_OF_POSTGRESQL)
    try:
        with watching_times(study, times, size, others) as with_others, study_bar(study) as watch:
            result = run_study(
                study,
                measure,
                workers=size,
                retries=attempts,
                worker=worker,
                watch=_with_what_is_not_read(with_others(watch), measure),
                abandon=measure.stop,
                signals=STOPPED_BY,
                seconds=seconds,
            )
    except KeyboardInterrupt as interrupt:
        after_interrupt(study, interrupt)
        raise typer.Exit(128 + getattr(interrupt, "number", signal.SIGINT)) from None
    except MeasuringFailed as problem:
        raise MeasuringFailed(after_failure(problem, study, storage, database, file)) from None
    if as_json:
        print_result_as_json(result)
    else:
        print_result(result)
        if was_done:
            say(f"Nothing was measured now: this is the study {study.name!r} as it was finished before.")
    if limit is not None:
        after_its_time(study, result, limit)


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


def _inline(words: list[str], definition: Definition, name: str | None, shell: bool) -> StudyFile:
    if not words:
        raise InvalidInput("there is no command that measures; write it after --, for instance: -- ./bench.sh {option}")
    definition = replace(definition, command=tuple(words), shell=shell, folder=os.getcwd())
    return StudyFile(name or name_of(" ".join(words).split()), definition)


def _as_said_now(told: StudyFile, timeout: float | None, warmup: int | None, prepare: str | None) -> StudyFile:
    """What a file says, with what the command line says instead."""
    before = told.definition
    said = replace(
        before,
        timeout=before.timeout if timeout is None else timeout,
        warmup=before.warmup if warmup is None else check_integer(warmup, "--warmup", minimum=0),
        prepare=before.prepare if prepare is None else command_words(prepare, before.shell, "--prepare"),
    )
    return replace(told, definition=said)


def _with_what_is_not_read(watch: Watch, measure: Command) -> Watch:
    """Returns what watches a run, and says once if the command prints a metric where its output is not read."""
    said = False

    def look(study: Study, sentence: str) -> None:
        nonlocal said
        watch(study, sentence)
        if measure.not_read and not said:
            said = True
            watch(
                study,
                f"note: the command prints {measure.not_read!r}, which is not read: all metrics are measured from outside, and "
                "what is printed is data then. To have it read, give the metric another name, in the command and in the study.",
            )

    return look


def _smallest_memory(definition: Definition) -> float | None:
    """The least that can be measured of ``max_memory_mb``, if it is a metric; a limit below that is refused."""
    memory = next((metric for metric in definition.metrics if metric.name == "max_memory_mb"), None)
    smallest = None if memory is None else smallest_memory()
    if smallest is not None and memory is not None and memory.at_most is not None and memory.at_most < 1.05 * smallest:
        raise InvalidInput(
            f"max_memory_mb is never below {smallest:.1f}, which is what starting a command takes, so nobody could be seen to "
            f"keep {memory.limit_text}; choose a limit above {1.05 * smallest:.1f}, or let the command print its memory under "
            "another name."
        )
    return smallest


def _first(*given: int | None) -> int | None:
    """The first that was said."""
    return next((value for value in given if value is not None), None)
