"""Commands end with us, even if we are killed: a process beside ours sees it, and ends what was running.

We hold the one end of a pipe and the supervisor the other: however we end, the system closes ours, and the supervisor wakes up.
What is running stands in a file that both have open, so that it sleeps until then and takes no time from what is measured. A
command is found by its process group, and on Linux by a mark in its environment, too, which its children inherit. The mark is in
the file before the command is started, and the pipe is closed only when whatever was being started has become that command: there
is no moment in between.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from paretopick.studies import supervisor_process
from paretopick.studies.supervisor_process import RECORD

MARK = "PARETOPICK_MARK"
"""The variable of the environment by which a command and its children are found."""

KEPT_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What some Pythons need to start; the supervisor sees nothing else of our environment."""

logger = logging.getLogger(__name__)


class Supervisor:
    """A process that ends commands when ours has ended; it is started with the first of them."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._taken: set[int] = set()
        self._table: int | None = None
        self._lifeline: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._works = True

    @contextmanager
    def watching(self) -> Iterator[tuple[str, Callable[[int], None]]]:
        """Yields the mark of a command that is about to be started, and what is to be called with its process group."""
        mark = secrets.token_hex(12)
        slot = self._enter(f"{MARK}={mark}")
        try:
            yield mark, lambda group: self._write(slot, f"{MARK}={mark} {group}")
        finally:
            self._write(slot, "")
            with self._turn:
                self._taken.discard(slot)

    def close(self) -> None:
        """Ends the supervisor, and with it what it watches."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    def forget(self) -> None:
        """In a process that was forked: the supervisor is its parent's, and must not wait for both to end."""
        if self._process is not None:
            self._process.returncode = 0  # there is nothing to wait for, it is not our child
        for file in filter(None, (self._lifeline, self._table)):
            os.close(file)
        self._turn = threading.Lock()
        self._taken.clear()
        self._table = self._lifeline = self._process = None

    def _enter(self, record: str) -> int:
        with self._turn:
            if self._works and (self._process is None or self._process.poll() is not None):
                self._start()
            slot = next(number for number in range(len(self._taken) + 1) if number not in self._taken)
            self._taken.add(slot)
        self._write(slot, record)
        return slot

    def _write(self, slot: int, record: str) -> None:
        if self._table is not None:
            os.pwrite(self._table, record.encode().ljust(RECORD), slot * RECORD)

    def _start(self) -> None:
        if self._table is None:
            with tempfile.TemporaryFile() as file:
                self._table = os.dup(file.fileno())
        if self._lifeline is not None:
            os.close(self._lifeline)
        theirs, self._lifeline = os.pipe()
        program = Path(supervisor_process.__file__)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", program, str(theirs), str(self._table)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
                pass_fds=(theirs, self._table),
                start_new_session=True,  # it must survive whatever ends us
            )
            assert self._process.stdout is not None
            with self._process.stdout as ready:  # it starts before the first command, not beside it
                self._works = ready.read() == b"!"
        except (OSError, TypeError):
            self._works = False
        finally:
            os.close(theirs)
        if not self._works:
            logger.warning("commands will go on if this process is killed: %r cannot be run beside it", sys.executable)


SUPERVISOR = Supervisor()
"""The one of this process."""

atexit.register(SUPERVISOR.close)
os.register_at_fork(after_in_child=SUPERVISOR.forget)
