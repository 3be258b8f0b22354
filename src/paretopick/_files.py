"""Files that are read whole, and written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from paretopick._words import short
from paretopick.errors import FileNotWritten, InvalidInput, MissingFile, ParetopickError

Name = str | os.PathLike[str]
"""Of a file."""


def read_whole(path: Name, *, remedy: str = "check its name") -> bytes:
    """Returns what is in a file, or says why it cannot be read.

    Args:
        path: of the file.
        remedy: what to do if it is not there.
    """
    name = path_text(path)
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"there is no file {name}; {remedy}.") from None
    except OSError as problem:
        raise InvalidInput(f"{name} cannot be read: {problem.strerror}.") from None


def path_text(path: Name) -> str:
    """Returns the path of a file as a text, or says why no file can be called so."""
    try:
        name = os.fspath(path)
        if not isinstance(name, str):
            raise TypeError
        if b"\0" not in os.fsencode(name):
            return name
    except (TypeError, UnicodeError):
        pass
    raise InvalidInput(f"{short(path)} cannot be the path of a file; give a text without NUL and half characters.")


def write_whole(path: Path, content: bytes) -> Path:
    """Writes a file so that a reader, or a crash, never sees half of it."""
    with whole_file(path) as half:
        half.write_bytes(content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to be filled, which then takes its place as a whole; if anything goes wrong, what was there before stays.

    It is written under a name that nobody can foresee and put a link at, forced to the disk, and renamed. It gets the permissions
    of the file that it replaces, or those of any new file.
    """
    name = path_text(path)
    if not path.name:
        raise InvalidInput(f"{name!r} is not the name of a file that could be written; choose another one.")
    half = path.with_name(f".{path.name[:50]}.{secrets.token_hex(8)}.half")
    try:
        before = _permissions(path)
        try:
            os.close(os.open(half, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600))
            yield half
            with open(half, "rb+") as file:
                if before is not None:
                    os.fchmod(file.fileno(), before)
                os.fsync(file.fileno())
            half.replace(path)
        except BaseException:
            half.unlink(missing_ok=True)
            raise
    except OSError as problem:
        if isinstance(problem, ParetopickError):
            raise
        raise FileNotWritten(f"{name} cannot be written: {problem.strerror}; what was there before is as it was.") from None
    _keep_name(path.parent)


def remove_halves(folder: Path) -> None:
    """Removes what a process left behind that was killed while it wrote a file; a minute is more than writing takes."""
    for half in folder.glob(".*.half"):
        with suppress(FileNotFoundError):  # somebody else has removed it
            if time.time() - half.stat().st_mtime > 60:
                half.unlink()


def _permissions(path: Path) -> int | None:
    """Those of a file that is there, None if there is none; refuses to replace what is no file, such as a device."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise InvalidInput(f"{path} is there and is not a file that could be replaced; choose another name.")
    return stat.S_IMODE(found)


def _keep_name(folder: Path) -> None:
    """Forces the names in a folder to the disk, where the system can do that; the file itself is there already."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
