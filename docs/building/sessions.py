"""Runs what a tutorial types into a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from building.pages import blocks_of, not_printed


class NotAsShown(Exception):
    """A tutorial cannot be followed, or prints something else than it shows."""


def outputs_of(page: str) -> list[str]:
    """Returns what each block of commands of the page prints, when it is followed in an empty folder.

    Raises:
        NotAsShown: a command failed, or a line that the page shows was not printed.
    """
    outputs: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks_of(page):
            if block.name:
                Path(folder, block.name).write_text(block.content, encoding="utf-8")
            elif block.kind == "sh":
                outputs.append(_typed(block.content, folder))
            elif block.kind == "text" and (missing := not_printed(block.content, outputs[-1])):
                raise NotAsShown(f"{missing[0]!r} was not printed, but:\n{outputs[-1]}")
    return outputs


def surroundings(folder: str) -> dict[str, str]:
    """Returns an environment with our commands and nothing that changes what they do.

    The database that several machines would share is a file in the folder, so that no server is needed.
    """
    meddling = ("PARETOPICK_", "MPL", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(meddling)} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "DATABASE": f"sqlite:///{folder}/shared.db",
    }


def _typed(commands: str, folder: str) -> str:
    shell = ["bash", "-euo", "pipefail", "-c", commands]
    done = subprocess.run(shell, cwd=folder, env=surroundings(folder), capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise NotAsShown(f"this failed:\n{commands}{done.stdout}{done.stderr}")
    return done.stdout
