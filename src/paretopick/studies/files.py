"""The file of a study: what it is about and how it is measured, in TOML."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paretopick._arrays import check_choice, check_flag, check_integer, check_real
from paretopick.errors import InvalidInput, MissingFile
from paretopick.policies import DEFAULT_POLICY
from paretopick.studies.commands import Command
from paretopick.studies.definition import Definition, define
from paretopick.studies.tables import read_options

KEYS = ("name", "options", "metrics", "exact", "budget", "policy", "scale", "command", "shell", "timeout", "retries", "workers")
NEEDED = ("options", "metrics", "budget", "command")


@dataclass(frozen=True)
class StudyFile:
    """What a file says; None where it says nothing."""

    name: str
    definition: Definition
    command: tuple[str, ...]
    shell: bool
    folder: Path
    """Of the file: the command runs there."""
    timeout: float | None
    retries: int | None
    workers: int | None

    @property
    def described(self) -> Definition:
        """The definition, with the command by which the study is measured."""
        return replace(self.definition, command=self.command)

    def measure(self, timeout: float | None = None) -> Command:
        """Returns what measures an option."""
        return Command(
            self.command,
            metrics=self.definition.goals,
            settings=self.definition.settings[0],
            timeout=self.timeout if timeout is None else timeout,
            shell=self.shell,
            folder=self.folder,
        )


def read_study(path: str | os.PathLike[str]) -> StudyFile:
    """Returns what a TOML file says, or what is wrong with it."""
    here = Path(path)
    try:
        record = tomllib.loads(here.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFile(
            f"there is no file {here}; give the name of a study file, or --options, --metrics and --budget."
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{here} cannot be read: {problem}.") from None
    except tomllib.TOMLDecodeError as problem:
        raise InvalidInput(f"{here} is not valid TOML: {problem}.") from None
    try:
        return _study(record, here)
    except InvalidInput as problem:
        problem.args = (f"{here}: {problem}",)
        raise


def _study(record: Mapping[str, Any], path: Path) -> StudyFile:
    for key in record:
        check_choice(key, KEYS, "key of a study file")
    missing = [key for key in NEEDED if key not in record]
    if missing:
        raise InvalidInput(f"there is no {missing[0]!r}; a study file needs {', '.join(map(repr, NEEDED))}.")
    options = record["options"]
    shell = check_flag(record.get("shell", False), "shell")
    definition = define(
        options=read_options(path.parent / options) if isinstance(options, str) else options,
        metrics=record["metrics"],
        budget=record["budget"],
        policy=record.get("policy", DEFAULT_POLICY),
        scale=record.get("scale", "noise"),
        exact=record.get("exact", ()),
    )
    return StudyFile(
        name=str(record.get("name", path.stem)),
        definition=definition,
        command=_words(record["command"], shell),
        shell=shell,
        folder=path.parent,
        timeout=check_real(record["timeout"], "timeout", above=0.0) if "timeout" in record else None,
        retries=check_integer(record["retries"], "retries", minimum=0) if "retries" in record else None,
        workers=check_integer(record["workers"], "workers", minimum=1) if "workers" in record else None,
    )


def _words(command: Any, shell: bool) -> tuple[str, ...]:
    if isinstance(command, str):
        try:
            return (command,) if shell else tuple(shlex.split(command))
        except ValueError as problem:
            raise InvalidInput(f"command={command!r} cannot be taken apart ({problem}); write it as a list of words.") from None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return tuple(command)
    raise InvalidInput(f'command={command!r} is neither a text nor a list of texts; write ["./bench.sh", "{{option}}"].')
