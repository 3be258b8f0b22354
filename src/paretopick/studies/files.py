"""The file of a study in TOML: what it is about and how it is measured, read and written."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paretopick._arrays import check_choice, check_flag, check_integer, check_real
from paretopick._files import path_text, read_whole
from paretopick._words import quoted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import Metric
from paretopick.policies import DEFAULT_POLICY
from paretopick.studies.budgets import Amount
from paretopick.studies.commands import Command
from paretopick.studies.definition import Definition, define
from paretopick.studies.plain_words import code_in
from paretopick.studies.tables import read_options
from paretopick.studies.usage import check_exit_code

KEYS = (
    *(
        "name",
        "options",
        "metrics",
        "exact",
        "budget",
        "cost",
        "policy",
        "scale",
        "confidence",
        "resolution",
        "pairing",
        "baseline",
    ),
    *("command", "shell", "timeout", "folder", "prepare", "warmup", "retries", "workers"),
)
NEEDED = ("options", "metrics", "budget")


@dataclass(frozen=True)
class StudyFile:
    """What a file says; None where it says nothing."""

    name: str
    definition: Definition
    """With the command by which the study is measured, and the folder in which that runs."""
    retries: int | None = None
    workers: int | None = None

    def measure(self) -> Command:
        """Returns what measures an option; refuses what could not give an answer, before anything is created."""
        definition, costs = self.definition, self.definition.costs
        check_exit_code(definition.metrics)
        return Command(
            definition.command,
            metrics=[
                *definition.goals,
                *([costs.name] if costs is not None and costs.is_beside and not costs.is_elapsed else []),
            ],
            settings=definition.settings[0],
            timeout=definition.timeout,
            shell=definition.shell,
            folder=definition.folder or ".",
            prepare=definition.prepare,
            warmup=definition.warmup,
        )


def read_study_file(path: str | os.PathLike[str]) -> StudyFile:
    """Returns what a TOML file says, or what is wrong with it."""
    here = Path(path_text(path))
    try:
        record = tomllib.loads(read_whole(here, remedy="give the name of a study file, such as study.toml").decode())
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{here} cannot be read: {problem}.") from None
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as problem:  # or too many digits, or brackets
        raise InvalidInput(f"{here} is not valid TOML: {problem}.") from None
    try:
        return _study(record, here)
    except InvalidInput as problem:
        problem.args = (f"{here}: {problem}",)
        raise


def study_file_text(study: StudyFile) -> str:
    """Returns the file of a study, of which ``read_study_file`` makes an equal one."""
    definition = study.definition
    settings = any(definition.settings)
    record = {
        "name": study.name,
        "budget": dict([definition.budget]) if isinstance(definition.budget, Amount) else definition.budget,
        "cost": definition.cost,
        "policy": definition.choice.to_dict(),
        "exact": list(definition.exact) or None,
        "scale": None if definition.scale == "noise" else definition.scale,
        **definition.aim.to_dict(),
        "pairing": definition.pairing,
        "baseline": definition.baseline,
        "command": list(definition.command) or None,
        "shell": definition.shell or None,
        "timeout": definition.timeout,
        "folder": definition.folder,
        "prepare": list(definition.prepare) or None,
        "warmup": definition.warmup or None,
        "retries": study.retries,
        "workers": study.workers,
        "options": None if settings else list(definition.options),
    }
    lines = [f"{key} = {_toml(value)}" for key, value in record.items() if value is not None]
    tables: dict[str, Mapping[str, Any]] = {"metrics": {metric.name: _metric(metric) for metric in definition.metrics}}
    if settings:
        tables["options"] = dict(zip(definition.options, definition.settings, strict=True))
    for title, table in tables.items():
        lines += ["", f"[{title}]", *(f"{_key(key)} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _metric(metric: Metric) -> Any:
    """What the file says of a metric: its goal, or a table if there is more; exact ones and widths are named elsewhere in it."""
    details = metric.details
    if isinstance(metric.margin, str):
        del details["log"]  # which follows
    return ({} if metric.goal is None else {"goal": metric.goal}) | details if details else metric.goal


def _study(record: Mapping[str, Any], path: Path) -> StudyFile:
    for key in record:
        check_choice(key, KEYS, "key of a study file")
    missing = [key for key in NEEDED if key not in record]
    if missing:
        raise InvalidInput(f"there is no {missing[0]!r}; a study file needs {quoted(NEEDED)}.")
    options, several = _joined(record["options"])
    shell = check_flag(record.get("shell", False), "shell")
    commands = {key: command_words(record[key], shell, key) for key in ("command", "prepare") if key in record}
    if several and not shell:
        commands = {key: _with_several(words) for key, words in commands.items()}
    definition = define(
        options=read_options(path.parent / options) if isinstance(options, str) else options,
        metrics=record["metrics"],
        budget=record["budget"],
        policy=record.get("policy", DEFAULT_POLICY),
        scale=record.get("scale", "noise"),
        exact=record.get("exact", ()),
        cost=record.get("cost"),
        confidence=record.get("confidence"),
        resolution=record.get("resolution"),
        pairing=record.get("pairing"),
        baseline=_joined([record["baseline"]])[0][0] if "baseline" in record else None,
    )
    return StudyFile(
        name=_text(record.get("name", path.stem), "name"),
        definition=replace(
            definition,
            command=commands.get("command", ()),
            shell=shell,
            timeout=check_real(record["timeout"], "timeout", above=0.0) if "timeout" in record else None,
            folder=os.path.abspath(path.parent / path_text(_text(record.get("folder", "."), "folder"))),
            prepare=commands.get("prepare", ()),
            warmup=check_integer(record.get("warmup", 0), "warmup", minimum=0),
        ),
        retries=check_integer(record["retries"], "retries", minimum=0) if "retries" in record else None,
        workers=check_integer(record["workers"], "workers", minimum=1) if "workers" in record else None,
    )


def _joined(options: Any) -> tuple[Any, bool]:
    """Options, each as a text where some are lists of words, and whether some are; their names are what one would type."""
    if not isinstance(options, list) or not any(isinstance(entry, list) for entry in options):
        return options, False
    words = [entry if isinstance(entry, list) else [entry] for entry in options]
    for entry in words:
        if not entry or not all(isinstance(word, str) for word in entry):
            raise InvalidInput(f'options have {short(entry)}, which is not a list of words; write ["gzip", "-9"].')
    return [shlex.join(entry) for entry in words], True


def _with_several(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command in which ``{option}``, as a word of its own, stands for a list of words."""
    return tuple("{option...}" if word == "{option}" else word for word in words)


def command_words(command: Any, shell: bool, name: str = "command") -> tuple[str, ...]:
    """Returns the words of a command from a text or a list; a text for a shell is one word.

    Args:
        command: as it was given.
        shell: whether a shell reads it.
        name: what it is called where it was given.
    """
    if isinstance(command, str):
        if not shell and (code := code_in(command)):
            raise InvalidInput(
                f"{name}={short(command)} has {code!r}, which only a shell understands, and none reads it; write --shell, in a "
                f"file shell = true. Between single quotes it is a character like others."
            )
        try:
            return (command,) if shell else tuple(shlex.split(command))
        except ValueError as problem:
            raise InvalidInput(
                f"{name}={short(command)} cannot be taken apart ({problem}); write its quotes in pairs, or a list of words in a "
                "study file."
            ) from None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return tuple(command)
    raise InvalidInput(f'{name}={short(command)} is neither a text nor a list of texts; write ["./bench.sh", "{{option}}"].')


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{key}={short(value)} is not a text; put it between quotes.")
    return value


def _toml(value: Any) -> str:
    """A value of TOML: its texts, numbers and lists are those of JSON, with one more character that cannot stand for itself."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    """A key of TOML, in quotes where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
