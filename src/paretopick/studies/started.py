"""Commands that were started: waited for, stopped when they take too long or are not wanted any more, and measured if need be."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from paretopick.errors import MeasuringFailed
from paretopick.studies.supervisors import MARK, SUPERVISOR
from paretopick.studies.usage import Usage, measuring, reported

KEPT_OUTPUT = 4000
"""Characters of the end of the output that are kept of a failure."""


LONGEST_POLL = 1e6
"""Seconds that systems can be asked to wait at once."""


LONGEST_TRIAL = 10.0
"""Seconds for a command that does nothing."""


class Started:
    """What is running right now.

    Args:
        folder: in which commands run.
        timeout: seconds after which they are stopped; None for never.
    """

    def __init__(self, folder: Path, timeout: float | None) -> None:
        self._folder, self._timeout = folder, timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False
        self._turn = threading.Lock()

    def run(
        self, words: list[str], environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes], *, kept: int | None = None
    ) -> tuple[int, Usage | None]:
        """Runs a command to its end; returns its exit code, or the signal with a minus, and what it used.

        Its output goes to files, since a pipe would wait for whoever inherited it.

        Args:
            words: the program and its arguments.
            environment: that it sees.
            stdout: where its output goes.
            stderr: likewise.
            kept: bytes of the output that go there if what it uses is to be measured; None if that is not wanted.
        """
        if kept is None:
            return self._wait_for(words, words, environment, stdout, stderr), None
        reader, writer = os.pipe()
        try:
            program = measuring(words, writer, kept, environment)
            code = self._wait_for(program, words, environment, stdout, stderr, report=(reader, writer))
            usage = reported(os.read(reader, 1000), words[0]) if _has_something(reader) else None
        finally:
            os.close(reader)
            os.close(writer)
        if usage is None:
            raise MeasuringFailed(
                f"what was to measure it ended without a report ({how_it_ended(code)}), and the command was ended with it"
            )
        return usage.code, usage

    def stop(self) -> None:
        """Kills whatever is running, and starts nothing more."""
        with self._turn:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def _wait_for(
        self,
        words: list[str],
        meant: list[str],
        environment: Mapping[str, str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        *,
        report: tuple[int, int] | None = None,
    ) -> int:
        """Runs a command to its end, and returns its exit code.

        Args:
            words: the program and its arguments.
            meant: what people call it.
            environment: that it sees.
            stdout: where its output goes.
            stderr: likewise.
            report: the two ends of the pipe into which it writes when it is done; if it ends without, what it has started ends.
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
                        pass_fds=report[1:] if report else (),
                        start_new_session=True,  # Ctrl-C is for us, and its children can be stopped with it
                    )
                except OSError as problem:
                    raise MeasuringFailed(f"{meant[0]!r} cannot be started: {problem.strerror}") from None
                except ValueError as problem:  # a character that no program can be given
                    raise MeasuringFailed(f"{meant[0]!r} cannot be started: {problem}") from None
                started(process.pid)
                self._running.add(process)
            try:
                _wait(process, self._timeout)
                if report and not _has_something(report[0]):
                    _kill(process)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.wait()
                raise MeasuringFailed(f"it was stopped after {self._timeout:g} s, without a result") from None
            finally:
                with self._turn:
                    self._running.discard(process)
            return process.wait()


def smallest_memory() -> float | None:
    """Returns the ``max_memory_mb`` of a command that needs hardly any: no other has less. None if that cannot be measured."""
    with tempfile.TemporaryFile() as output:
        try:
            _, usage = Started(Path("/"), LONGEST_TRIAL).run(["/bin/sh", "-c", ":"], os.environ, output, output, kept=0)
        except MeasuringFailed:
            return None
    return None if usage is None else usage.max_memory_mb


def how_it_ended(code: int) -> str:
    """Returns in words how a command ended: by itself, or killed by a signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def end_of(stream: IO[bytes]) -> str:
    """Returns the last of what was written, if it is text."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - KEPT_OUTPUT))
    end = stream.read()
    return f"({size:,} bytes that are not text)\n" if b"\0" in end else end.decode(errors="replace")


def _wait(process: subprocess.Popen[bytes], timeout: float | None) -> None:
    """Waits for the end of a process, whose group keeps its number where we can: until it is asked for its exit code.

    ``Popen.wait`` with a timeout would look every now and then, and lose time.
    """
    if hasattr(os, "pidfd_open") and (timeout is None or timeout <= LONGEST_POLL):
        with suppress(OSError):  # an old system, or one that does not let us
            file = os.pidfd_open(process.pid)
            try:
                watch = select.poll()
                watch.register(file, select.POLLIN)
                if not watch.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
                return
            finally:
                os.close(file)
    process.wait(timeout)


def _has_something(reader: int) -> bool:
    """Whether there is something to read in a pipe."""
    watch = select.poll()
    watch.register(reader, select.POLLIN)
    return bool(watch.poll(0))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and whatever it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
