"""Measuring by a command: what it is called with, and how its output is read."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from paretopick._arrays import check_real
from paretopick._words import cut
from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.storage.addresses import PASSWORD_FILE
from paretopick.studies.definition import RESERVED
from paretopick.studies.measurement import Measurement
from paretopick.studies.readings import readings
from paretopick.studies.shell import OPTION, SETTING, SHELL, ShellCode, check_nested, variables
from paretopick.studies.shell_syntax import PLACEHOLDER
from paretopick.studies.supervisors import MARK, SUPERVISOR

LONGEST_OUTPUT = 10_000_000
"""Bytes; a command that prints more prints something else than a measurement."""

KEPT_OUTPUT = 4000
"""Characters of the end of the output that are kept of a failure."""

LONGEST_VARIABLE = 100_000
"""Characters; a longer setting would keep commands from being started, and is in their environment only if they ask for it."""

FOR_US = ("PARETOPICK_STORAGE", PASSWORD_FILE)
"""Variables of the environment that say where the study is kept; a command that measures does not see them."""


class Command:
    """A command that measures an option: ``{option}`` and ``{setting}`` stand for its name and its settings.

    It prints one JSON object, or lines ``name=value``. Numbers and texts that the object has beside the metrics are kept, as
    whatever is told beside metrics is; whatever else it prints is ignored. Its environment is ours, without
    what says where the study is kept; it finds there the name of the option, its settings, the number of the measurement and the
    round in PARETOPICK_OPTION, PARETOPICK_SETTING_name, PARETOPICK_NUMBER and PARETOPICK_ROUND. It ends when this process does.

    Args:
        words: the program and its arguments, which see the values as they are, without a shell; or with ``shell`` one text for
            ``/bin/sh``, in which ``{option}`` is one word whatever it holds. ``{{`` and ``}}`` are braces.
        metrics: what it must print.
        settings: the columns of the table of options.
        timeout: seconds after which it is stopped; None for never.
        shell: whether a shell reads it.
        folder: in which it runs.
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
    ) -> None:
        self._words = [" ".join(words)] if shell else list(words)
        self._metrics = tuple(metrics)
        self._names = variables(settings)
        self._timeout = None if timeout is None else check_real(timeout, "timeout", above=0.0)
        self._folder = Path(folder)
        self._hidden = set(FOR_US)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._turn = threading.Lock()
        self._check(shell)
        self._code = ShellCode(self._words[0], self._names) if shell else None

    def __call__(self, todo: Measurement) -> dict[str, Any]:
        """Returns what the command printed, by metric, and what it printed beside them."""
        values = {"option": todo.option, **{name: str(value) for name, value in todo.settings.items()}}
        words = self._filled(values)
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            try:
                code = self._run(words, self._environment(todo, values), stdout, stderr)
                said = _end(stderr) or _end(stdout)
                if code is None:
                    raise MeasuringFailed(f"it was stopped after {self._timeout:g} s, without a result")
                if code != 0:
                    how = f"exit code {code}" if code > 0 else f"killed by signal {_signal(-code)}"
                    last = said.strip().splitlines()[-1:] or ["nothing"]
                    raise MeasuringFailed(f"{how}; it said: {cut(last[0].strip(), 200)}{self._hint(code, values)}")
                if stdout.seek(0, os.SEEK_END) > LONGEST_OUTPUT:
                    raise MeasuringFailed(f"it printed more than {LONGEST_OUTPUT // 10**6} MB; print the metrics alone")
                stdout.seek(0)
                text = stdout.read().decode(errors="replace")
                return readings(text, self._metrics, beside=_end(stderr), taken={*RESERVED, *todo.settings})
            except MeasuringFailed as problem:
                problem.output = f"{self._shown(words, values)}\n{_end(stdout)}{_end(stderr)}"
                raise

    @property
    def depends_on_the_option(self) -> bool:
        """Whether the command says which option it measures; otherwise it must look into its environment."""
        return any(
            OPTION in word or SETTING in word or any(found[1] is not None for found in PLACEHOLDER.finditer(word))
            for word in self._words
        )

    def hide(self, *names: str) -> None:
        """Keeps variables of the environment from the command: secrets that are for us."""
        self._hidden |= set(names)

    def stop(self) -> None:
        """Kills whatever is running, and starts nothing more."""
        with self._turn:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def _run(self, words: list[str], environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes]) -> int | None:
        """Runs it to its end and returns its exit code, None if it took too long.

        The output goes to files, since a pipe would wait for whoever inherited it.
        """
        with SUPERVISOR.watching() as (mark, started):
            with self._turn:
                if self._stopped:
                    raise MeasuringFailed("it was not begun, since the run is being stopped")
                try:
                    process = subprocess.Popen(
                        words,
                        stdin=subprocess.DEVNULL,
                        stdout=stdout,
                        stderr=stderr,
                        cwd=self._folder,
                        env={**environment, MARK: mark},
                        start_new_session=True,  # Ctrl-C is for us, and its children can be stopped with it
                    )
                except OSError as problem:
                    raise MeasuringFailed(f"{words[0]!r} cannot be started: {problem.strerror}") from None
                except ValueError as problem:  # a character that no program can be given
                    raise MeasuringFailed(f"{words[0]!r} cannot be started: {problem}") from None
                started(process.pid)
                self._running.add(process)
            try:
                return process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.wait()
                return None
            finally:
                with self._turn:
                    self._running.discard(process)

    def _environment(self, todo: Measurement, values: Mapping[str, str]) -> dict[str, str]:
        needed = self._code.used if self._code else {}
        ours = {
            self._names[name]: value
            for name, value in values.items()
            if name in needed or (name in self._names and len(value) <= LONGEST_VARIABLE)
        }
        names = {OPTION: todo.option, "PARETOPICK_NUMBER": str(todo.number), "PARETOPICK_ROUND": str(todo.round)}
        return {name: value for name, value in os.environ.items() if name not in self._hidden} | ours | names

    def _filled(self, values: Mapping[str, str]) -> list[str]:
        if self._code is not None:
            self._code.check(values)
            return [SHELL, "-c", self._code.text]

        def fill(found: re.Match[str]) -> str:
            if found[0] in ("{{", "}}"):
                return found[0][0]
            return values.get(found[1], found[0])  # braces that are not ours stay

        check_nested(self._words, values, self._names)
        return [PLACEHOLDER.sub(fill, word) for word in self._words]

    def _shown(self, words: list[str], values: Mapping[str, str]) -> str:
        """The command for people; what a shell reads, and apart from it the values that it finds in its variables."""
        if self._code is None:
            return f"$ {shlex.join(words)}"
        variables = (f"{variable}={shlex.quote(values[name])}" for name, variable in self._code.used.items())
        return "\n".join([f"$ {self._code.text}", *variables])

    def _hint(self, code: int, values: Mapping[str, str]) -> str:
        """If a shell found no such program: that a value is one word."""
        for name, variable in (self._code.used if self._code and code in (126, 127) else {}).items():
            if len(values[name].split()) > 1:
                return f"; {{{name}}} is one word, write ${variable} to have the shell split it"
        return ""

    def _check(self, shell: bool) -> None:
        """Refuses what could not work for any option, before anything is measured."""
        if not self._words or not self._words[0].strip():
            raise InvalidInput("there is no command that measures; write for instance ./bench.sh {option}.")
        for word in self._words:
            for found in PLACEHOLDER.finditer(word):
                if found[1] is not None and found[1] not in self._names and found[1].isidentifier():
                    names = ", ".join(f"{{{name}}}" for name in sorted(self._names))
                    raise InvalidInput(
                        f"the command has {found[0]}, and options have {names}; write {{{{{found[1]}}}}} for plain braces."
                    )
        if not self._folder.is_dir():
            raise InvalidInput(f"the command is to run in {os.fspath(self._folder)!r}, which is not a folder.")
        program = self._words[0]
        if not shell and len(self._words) == 1 and len(program.split()) > 1:
            raise InvalidInput(f"{program!r} is one word; write the command without quotes around it, or have a shell read it.")
        if not shell and not PLACEHOLDER.search(program):
            place = os.path.abspath(self._folder / program) if os.sep in program else program
            if shutil.which(place) is None:
                raise InvalidInput(
                    f"there is no program {program!r} that could be run; check its path, and chmod +x it if it is yours."
                )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _end(stream: IO[bytes]) -> str:
    """The last of what was written, as text."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - KEPT_OUTPUT))
    return stream.read().decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and whatever it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
