"""The command line as a user meets it: in this process where only its words matter, in one of its own where streams do."""

import contextlib
import io
import os
import pty
import signal
import subprocess
import sys
from unittest import mock

from paretopick.cli import main

OURS = ("PARETOPICK_SNW", "PARETOPICK_STORAGE", "PYTHONDONTWRITEBYTECODE")
"""Variables of the environment that the command does not inherit from the tests; with the last it would start slowly."""


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Runs the command in a process of its own, with pipes."""
    environment = {key: value for key, value in os.environ.items() if key not in OURS}
    command = [sys.executable, "-m", "paretopick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, **options)


class Stream(io.TextIOWrapper):
    """A stream to be read afterwards; it says of itself that it is a terminal if it is to be one."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()


def call(*arguments: str, cwd=None, columns: int | None = None, **variables: str) -> subprocess.CompletedProcess:
    """Runs the command in this process: the same function, streams to be read afterwards, and its exit code.

    Args:
        arguments: as one types them.
        cwd: the working folder.
        columns: of a terminal; without, there are pipes.
        variables: of the environment.
    """
    stdout, stderr = Stream(columns is not None), Stream(columns is not None)
    given = {**variables, "COLUMNS": str(columns), "LINES": "25", "TERM": "dumb"} if columns else variables
    environment = {key: value for key, value in os.environ.items() if key not in (*OURS, "COLUMNS")} | given
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    code = 0
    try:
        with contextlib.ExitStack() as changed:
            changed.enter_context(contextlib.chdir(cwd or "."))
            changed.enter_context(mock.patch.dict(os.environ, environment, clear=True))
            changed.enter_context(mock.patch.object(sys, "argv", ["paretopick", *arguments]))
            changed.enter_context(contextlib.redirect_stdout(stdout))
            changed.enter_context(contextlib.redirect_stderr(stderr))
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(list(arguments), code, stdout.text(), stderr.text())


def stdout_of(*arguments: str, **options) -> str:
    """What a call that succeeds prints."""
    result = call(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def on_a_terminal(*arguments: str, columns: int, term: str = "dumb", **options) -> str:
    """What a terminal of so many columns shows of the command."""
    return python_on_a_terminal("-m", "paretopick", *arguments, columns=columns, term=term, **options)


def python_on_a_terminal(*arguments: str, columns: int, term: str = "dumb", **options) -> str:
    """What a terminal of so many columns shows of Python."""
    master, slave = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in OURS}
    environment |= {"COLUMNS": str(columns), "LINES": "25", "TERM": term}
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, stdout=slave, stderr=slave, env=environment, **options)
    os.close(slave)
    text = b""
    try:
        while chunk := os.read(master, 4096):
            text += chunk
    except OSError:  # the end of a terminal
        pass
    assert process.wait(timeout=60) == 0
    os.close(master)
    return text.decode()
