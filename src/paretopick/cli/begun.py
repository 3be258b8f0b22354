"""What one should know of studies that are there before a run: one that is finished, was begun otherwise, or has the name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from paretopick._words import counted
from paretopick.cli.arguments import typed
from paretopick.cli.output import note
from paretopick.errors import InvalidInput
from paretopick.storage import Storage as Studies
from paretopick.studies import Study
from paretopick.studies.aims import Aim, halved, written
from paretopick.studies.budgets import Amount
from paretopick.studies.definition import Definition
from paretopick.studies.files import StudyFile
from paretopick.studies.opening import differences_from, newer_aim

RUNNERS = re.compile(r"python[\d.]*|bash|sh|zsh|node|ruby|perl|Rscript|julia|env|time|timeout|nice|uv")
"""Programs that run what somebody has written."""
SCRIPT = re.compile(r"[^\s$;|&<>()'\"=]*\.[A-Za-z]\w*")
"""The name of what somebody has written."""


def say_what_is_there(
    study: Study, definition: Definition, storage: str | None, *, file: str | None, repaired: bool = False
) -> None:
    """Says what one should know of a study that was begun before: that it is finished, or was measured in another way.

    Refuses to mix what two commands have measured, unless the other one was repaired.

    Args:
        study: that is run.
        definition: as it was given now.
        storage: likewise.
        file: in which it stands, if it was given in one.
        repaired: whether another command than before measures the same.
    """
    another = "another --name" if file is None else f"another name in {file}"
    used, before = study.used, study.definition.command
    if study.done:
        status = study.status()
        if status["stopped"] and len(status["retired"]) == len(study.options) - 1 and not study.definition.requirements.limited:
            go_on = "To go on: reinstate another option, or add one, and then the same again."
        elif study.definition.choice.roundless:
            more = typed(["paretopick", "extend", study.name, *_more(study, used, stopped=bool(status["stopped"]))], storage)
            go_on = f"To go on: {more}, and then the same again."
        else:
            go_on = "Its rounds were planned for its budget; a new study with a larger one can import an export of it."
        anew = f"To measure anew: {another}, or {typed(['paretopick', 'delete', study.name, '--yes'], storage)}."
        note(f"the study {study.name!r} was finished before, and nothing is measured now: this is its result. {go_on} {anew}")
    if (newer := newer_aim(study, definition.aim)) is not None:
        back = typed(["paretopick", "extend", study.name, *_typed_aim(definition.aim)], storage)
        note(
            f"the study {study.name!r} is measured {newer.until}, as was said since, and not {definition.aim.until}, as was said "
            f"before. To go back to that: {back}"
        )
    if before and before != definition.command:
        begun = f"the study {study.name!r} was begun with another command, {shlex.join(before)}"
        if study.done:
            note(f"{begun}.")
        elif used and not repaired:
            raise InvalidInput(
                f"{begun}, and its {counted(used, 'measurement')} would be taken for the same as those of this one. If they are, "
                f"because the command was repaired, add --repaired; if not, choose {another}."
            )
        else:
            study.choose_command(definition)


def _more(study: Study, used: int, *, stopped: bool) -> list[str]:
    """With what a study that is done goes on: to be surer, or finer, if it is as sure as it was to be, else more budget."""
    aim, budget = study.aims[-1], study.budget
    if stopped:
        if aim.resolution is None:
            return _typed_aim(Aim(1 - (1 - aim.level) / 5))
        if isinstance(aim.resolution, Mapping):
            return _typed_aim(Aim(None, {name: halved(width) for name, width in aim.resolution.items()}))
        return _typed_aim(Aim(None, aim.resolution / 2))
    if isinstance(budget, Amount):
        return ["--budget", Amount(budget.unit, 2 * budget.amount).typed]
    return ["--budget", str(max(budget, used) + budget)]


def _typed_aim(aim: Aim) -> list[str]:
    """An aim as one types it."""
    words = [] if aim.confidence is None else ["--confidence", f"{aim.confidence:.6g}"]
    if isinstance(aim.resolution, Mapping):
        return [*words, "--resolution", ",".join(f"{name}={written(width)}" for name, width in aim.resolution.items())]
    return words if aim.resolution is None else [*words, "--resolution", f"{aim.resolution:.6g}"]


def under_a_name_of_its_own(told: StudyFile, database: Studies) -> StudyFile:
    """The same, under another name if what is called as its command is, is another study."""
    there, name, reasons = database.names(), told.name, []
    while name in there and (why := _why_not(Study.open(name, storage=database), told.definition)):
        reasons.append(why)
        name = f"{told.name}-{len(reasons) + 1}"
    if reasons:
        note(
            f"another study is called {told.name!r} ({reasons[0]}), so this one is {name!r}; --name {told.name} goes on with "
            "that one, if it can, and any other --name begins anew."
        )
    return replace(told, name=name)


def _why_not(study: Study, definition: Definition) -> str:
    """Why a study is not the one that is meant, where nobody has named it; empty if it is."""
    before = study.definition.command
    if before and before != definition.command and study.used:
        return f"it was begun with {shlex.join(before)}"
    return "; ".join(differences_from(study, definition))


def name_of(words: list[str]) -> str:
    """What is measured, by the command: the script rather than what runs it."""
    plain = [word for word in words if "{" not in word and not word.startswith("-")]
    scripts = [word for word in plain if SCRIPT.fullmatch(word)]
    chosen = scripts if RUNNERS.fullmatch(Path(words[0]).name) and scripts else plain
    return Path(chosen[0]).stem if chosen else "study"
