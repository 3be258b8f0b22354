"""Measuring by a command: what it is called with, what is done before it, and how its output is read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from paretopick._arrays import check_integer, check_real
from paretopick._words import cut
from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.storage.addresses import PASSWORD_FILE
from paretopick.studies.definition import RESERVED
from paretopick.studies.measurement import Measurement
from paretopick.studies.plain_words import Filled, PlainWords, check_names, word_for_a_shell
from paretopick.studies.readings import line_with, readings
from paretopick.studies.shell import OPTION, REPEAT, SETTING, ShellCode, variables
from paretopick.studies.shell_syntax import PLACEHOLDER
from paretopick.studies.started import Started, end_of, how_it_ended
from paretopick.studies.usage import Usage, built_in

LONGEST_OUTPUT = 10_000_000
"""Bytes; a command that prints more prints something else than a measurement."""

MOST_LOOKED_AT = 100_000
"""Bytes of output that is data in which we look for what might have been meant as a metric."""

LONGEST_VARIABLE = 100_000
"""Characters; a longer setting would keep commands from being started, and is in their environment only if they ask for it."""

FOR_US = ("PARETOPICK_STORAGE", PASSWORD_FILE)
"""Variables of the environment that say where the study is kept; a command that measures does not see them."""


class Command:
    """A command that measures an option: ``{option}`` and ``{setting}`` stand for its name and its settings.

    ``{repeat}`` stands for which measurement of the option it is, from 0.

    It prints one JSON object, or lines ``name=value``. Numbers and texts that the object has beside the metrics are kept, as
    whatever is told beside metrics is; whatever else it prints is ignored. Metrics that are called as in ``BUILT_IN`` it need not
    print: they are measured from outside. If all of them are, its output is data: as long as it likes, and not read.

    Its environment is ours, without what says where the study is kept; it finds there the name of the option, its settings, the
    number of the measurement, the round and the repeat in PARETOPICK_OPTION, PARETOPICK_SETTING_name, PARETOPICK_NUMBER,
    PARETOPICK_ROUND and PARETOPICK_REPEAT. It ends when this process does.

    Args:
        words: the program and its arguments, which see the values as they are, without a shell; or with ``shell`` one text for
            ``/bin/sh``, in which ``{option}`` is one word whatever it holds. ``{option...}`` is several words. ``{{`` and ``}}``
            are braces.
        metrics: what it must print, as far as that is not built in.
        settings: the columns of the table of options.
        timeout: seconds after which it is stopped; None for never.
        shell: whether a shell reads it.
        folder: in which it runs.
        prepare: another command, read in the same way, which runs before each measurement and is not measured.
        warmup: how often to run it for each option before that is measured for the first time, without counting.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        metrics: Iterable[str],
        settings: Iterable[str] = (),
        timeout: float | None = None,
        shell: bool = False,
        folder: str | os.PathLike[str] = ".",
        prepare: Sequence[str] = (),
        warmup: int = 0,
    ) -> None:
        self._metrics = tuple(metrics)
        self._built_in = built_in(self._metrics)
        self._names = variables(settings)
        self._folder = Path(folder)
        self._hidden = set(FOR_US)
        self._warmup = check_integer(warmup, "warmup", minimum=0)
        self._warm: set[str] = set()
        """The options that need no runs before they are measured."""
        self.not_read = ""
        """A line that would have printed a metric, had output been read that is data."""
        if not words or not words[0].strip():
            raise InvalidInput("there is no command that measures; write for instance ./bench.sh {option}.")
        self._shell = shell
        self._given, self._prepared = [" ".join(words)] if shell else list(words), list(prepare)
        self._command = self._read(words, shell)
        self._prepare = self._read(prepare, shell) if prepare else None
        self._started = Started(self._folder, None if timeout is None else check_real(timeout, "timeout", above=0.0))

    def __call__(self, todo: Measurement) -> dict[str, Any]:
        """Returns what the command printed, by metric, and what it printed beside them."""
        if todo.option not in self._warm:
            for turn in range(self._warmup):
                try:
                    self._measure(todo)
                except MeasuringFailed as problem:
                    problem.args = (f"in run {turn + 1} of {self._warmup} before it is measured: {problem}",)
                    raise
            self._warm.add(todo.option)
        return self._measure(todo)

    @property
    def depends_on_the_option(self) -> bool:
        """Whether the command says which option it measures; otherwise it must look into its environment."""
        return any(
            OPTION in word or SETTING in word or any(self._is_about_the_option(found[1]) for found in PLACEHOLDER.finditer(word))
            for word in self._given
        )

    def _is_about_the_option(self, name: str | None) -> bool:
        return name is not None and self._names.get(name) != REPEAT

    @property
    def word_for_a_shell(self) -> str:
        """A word of the command, or of what runs before it, that is likely to be meant for a shell, and none reads it."""
        given = [] if self._shell else [self._given, *([self._prepared] if self._prepared else [])]
        return next((word for words in given if (word := word_for_a_shell(words))), "")

    def hide(self, *names: str) -> None:
        """Keeps variables of the environment from the command: secrets that are for us."""
        self._hidden |= set(names)

    def stop(self) -> None:
        """Kills whatever is running, and starts nothing more."""
        self._started.stop()

    def _measure(self, todo: Measurement) -> dict[str, Any]:
        values = {"option": todo.option, "repeat": str(todo.repeat)}
        values |= {name: str(value) for name, value in todo.settings.items()}
        if self._prepare is not None:
            try:
                self._run(self._prepare.filled(values), todo, values, measured=False)
            except MeasuringFailed as problem:
                problem.args = (f"what is to be run before it failed: {problem}",)
                raise
        return self._run(self._command.filled(values), todo, values, measured=True)

    def _run(self, filled: Filled, todo: Measurement, values: Mapping[str, str], *, measured: bool) -> dict[str, Any]:
        """Runs a command to its end; returns what it printed, and what of it was measured, if that is what is wanted."""
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            try:
                kept = LONGEST_OUTPUT + 1 if measured and self._built_in else None
                environment = self._environment(todo, values) | filled.variables
                code, usage = self._started.run(filled.words, environment, stdout, stderr, kept=kept)
                if code != 0 and not (usage and "exit_code" in self._built_in):
                    said = (end_of(stderr) or end_of(stdout)).strip().splitlines()[-1:] or ["nothing"]
                    how = how_it_ended(code)
                    raise MeasuringFailed(f"{how}; it said: {cut(said[0].strip(), 200)}{self._hint(code, filled, values)}")
                return self._printed(stdout, stderr, usage, todo) if measured else {}
            except MeasuringFailed as problem:
                problem.output = f"{filled.shown}\n{end_of(stdout)}{end_of(stderr)}"
                raise

    def _printed(self, stdout: IO[bytes], stderr: IO[bytes], usage: Usage | None, todo: Measurement) -> dict[str, Any]:
        """What it printed, and what was measured of that which it did not print; output is data if nothing has to be printed."""
        from_outside = {} if usage is None else {name: float(getattr(usage, name)) for name in self._built_in}
        size = stdout.seek(0, os.SEEK_END)
        stdout.seek(0)
        if len(from_outside) == len(self._metrics):
            self.not_read = self.not_read or line_with(stdout.read(MOST_LOOKED_AT), self._metrics)
            return dict(from_outside)
        if size > LONGEST_OUTPUT:
            raise MeasuringFailed(f"it printed more than {LONGEST_OUTPUT // 10**6} MB; print the metrics alone")
        output = stdout.read()
        taken = {*RESERVED, *todo.settings}
        return readings(
            output.decode(errors="replace"), self._metrics, beside=end_of(stderr), taken=taken, from_outside=from_outside
        )

    def _environment(self, todo: Measurement, values: Mapping[str, str]) -> dict[str, str]:
        ours = {
            self._names[name]: value for name, value in values.items() if name in self._names and len(value) <= LONGEST_VARIABLE
        }
        names = {OPTION: todo.option, REPEAT: str(todo.repeat)}
        names |= {"PARETOPICK_NUMBER": str(todo.number), "PARETOPICK_ROUND": str(todo.round)}
        return {name: value for name, value in os.environ.items() if name not in self._hidden} | ours | names

    def _hint(self, code: int | None, filled: Filled, values: Mapping[str, str]) -> str:
        """If a shell found no such program: that a value is one word."""
        for name, variable in self._names.items():
            if code in (126, 127) and variable in filled.variables and len(values[name].split()) > 1:
                return f"; {{{name}}} is one word, write {{{name}...}} for several"
        return ""

    def _read(self, words: Sequence[str], shell: bool) -> PlainWords | ShellCode:
        """Takes a command as it was given; refuses what could not work for any option, before anything is measured."""
        check_names(words, self._names)
        if not self._folder.is_dir():
            raise InvalidInput(f"the command is to run in {os.fspath(self._folder)!r}, which is not a folder.")
        if shell:
            return ShellCode(" ".join(words), self._names)
        plain = PlainWords(words, self._names, self._folder)
        plain.check_program()
        return plain
