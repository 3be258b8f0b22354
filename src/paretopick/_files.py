"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes) -> Path:
    """Writes a file so that a reader, or a crash, never sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.half")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def remove_halves(folder: Path) -> None:
    """Removes what a process left behind that was killed while it wrote a file; a minute is more than writing takes."""
    for half in folder.glob(".*.half"):
        with suppress(FileNotFoundError):  # somebody else has removed it
            if time.time() - half.stat().st_mtime > 60:
                half.unlink()
