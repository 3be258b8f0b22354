"""What to type when a run has ended and its study is not done: after a failure, an interrupt, or when its time is over."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from paretopick.cli.arguments import typed
from paretopick.cli.output import note, used_text
from paretopick.errors import InvalidInput, MeasuringFailed, StorageFailed
from paretopick.storage import Storage as Studies
from paretopick.studies import Study
from paretopick.studies.interrupts import Stopped
from paretopick.studies.next_step import SURE
from paretopick.studies.readings import NotPrinted
from paretopick.studies.result import ParetoResult


def after_failure(problem: MeasuringFailed, study: Study, storage: str | None, database: Studies, file: str | None) -> str:
    """Returns what to do after a failure, with the last output of the command.

    Args:
        problem: what went wrong.
        study: that was measured.
        storage: as it was given.
        database: that is.
        file: in which the study stands, if it was given in one.
    """
    last = [f"    {line}" for line in (problem.output or "").splitlines()[-8:]]
    output = ["Its last output:", *last] if last else []
    cause = problem.__cause__
    ways = [f"Go on with: {again()}"]
    if isinstance(cause, InvalidInput | NotPrinted):  # a value that the study does not take, or none: the same may never help
        ways = [f"If the command is wrong, repair it. {ways[0]}", *_with_other_metrics(study, storage, database, file)]
    retire = typed(["paretopick", "retire"], storage, names=[study.name, problem.option or "", "REASON"])
    return "\n".join([str(problem), *output, *ways, f"Or without it: {retire}"])


def _with_other_metrics(study: Study, storage: str | None, database: Studies, file: str | None) -> list[str]:
    """What to do if the metrics of a study do not fit what is measured."""
    anew = f"{typed(['paretopick', 'delete', '--yes'], storage, names=[study.name])}, and then the same with other ones."
    if file is not None:
        other = f"give it other ones and another name in {file}"
    else:
        taken: Sequence[str] = ()
        with suppress(StorageFailed):
            taken = database.names()
        free = next(name for n in range(2, len(taken) + 3) if (name := f"{study.name}-{n}") not in taken)
        other = f"begin another one with other --metrics or --exact: {again(free)}"
    kept = f"If the metrics are wrong: they belong to the study {study.name!r} and stay as they are"
    return [f"{kept}; {other}", f"Or begin this one anew: {anew}"]


def after_interrupt(study: Study, interrupt: KeyboardInterrupt) -> None:
    """Says how far a study came before it was interrupted, and what goes on with it."""
    how = f"Ended by {signal.Signals(interrupt.number).name}" if isinstance(interrupt, Stopped) else "Interrupted"
    with suppress(StorageFailed):
        how += f" with {used_text(study.status())}"
    try:
        print(f"{how}. Go on with: {again()}", file=sys.stderr, flush=True)
    except OSError:  # the terminal is gone, and what could not be written must not be tried again at the very end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def after_its_time(study: Study, result: ParetoResult, limit: str) -> None:
    """Says what goes on with a study for which the time of a run was too short, unless its result is sure already."""
    if result.done:
        return
    aim = study.definition.aim
    is_sure = (result.probability or 0.0) >= result.level or vars(result).get("next_step") == SURE
    if is_sure and aim.resolution is None and aim.level <= result.level:
        note(
            f"the time of this run, {limit}, is over, and the result is sure enough; a part of the budget is left "
            f"({result.used_text})."
        )
    else:
        note(f"the time of this run, {limit}, is over, and the study is not done ({result.used_text}). Go on with: {again()}")


def again(name: str | None = None) -> str:
    """Returns the command as it was typed, or with another name for the study."""
    words = sys.argv[1:]
    if name is None:
        return typed(["paretopick", *words])
    end = words.index("--") if "--" in words else len(words)
    place = next((at for at in range(end) if words[at] == "--name" or words[at].startswith("--name=")), None)
    if place is not None:
        del words[place : place + (2 if words[place] == "--name" else 1)]
    return typed(["paretopick", words[0], "--name", name, *words[1:]])
