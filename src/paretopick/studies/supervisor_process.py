"""The program of a supervisor: it sleeps until whoever started it is gone, and ends the commands that were running then.

``supervisors.py`` starts it. It imports next to nothing, so that it starts fast and needs little memory.
"""

import os
import sys
import time

SIGKILL = 9  # the module signal takes longer to load than all the rest
RECORD = 64
"""Bytes per command in the table: its mark and its process group, or blanks."""


def main(lifeline: int, table: int) -> None:
    """Waits for the end of a pipe to which nobody writes, and then ends what the table holds."""
    os.write(1, b"!")  # ready
    os.close(1)
    while os.read(lifeline, 1):
        pass
    records = os.pread(table, os.fstat(table).st_size, 0)
    commands = [records[i : i + RECORD].split() for i in range(0, len(records), RECORD)]
    for command in filter(None, commands):
        if len(command) > 1:
            _end(-int(command[1]))
    _end_marked({command[0] for command in commands if command})


def _end_marked(marks: set[bytes]) -> None:
    """Ends all that has a mark in its environment: what is in no group, has left it, or was started a moment ago (on Linux)."""
    for _ in range(100):
        found = [process for process in _processes() if not marks.isdisjoint(_environment(process))]
        if not found:
            return
        for process in found:
            _end(int(process))
        time.sleep(0.05)


def _processes() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(process: str) -> list[bytes]:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it has ended, or belongs to somebody else
        return []


def _end(process: int) -> None:
    try:
        os.kill(process, SIGKILL)
    except OSError:
        return  # it has ended already


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
