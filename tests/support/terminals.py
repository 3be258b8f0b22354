"""The command line run as a user runs it: in a process of its own, with pipes or on a terminal."""

import os
import pty
import subprocess
import sys


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if key not in ("PARETOPICK_SNW", "PARETOPICK_STORAGE")}
    command = [sys.executable, "-m", "paretopick", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, **options)


def succeed(*arguments: str, **options) -> str:
    result = run(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def on_a_terminal(*arguments: str, columns: int, term: str = "dumb", **options) -> str:
    """What a terminal of so many columns shows."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": term}
    command = [sys.executable, "-m", "paretopick", *arguments]
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
