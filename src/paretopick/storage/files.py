"""What the system knows about the file of an SQLite database: who holds its lock, and on what kind of file system it is.

On Linux ``/proc`` tells; elsewhere messages say less.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from paretopick._words import cut, joined
from paretopick.errors import StorageFailed
from paretopick.storage.patience import within

T = TypeVar("T")

NETWORKS = re.compile(
    "9p|acfs|afs|beegfs|ceph|cifs|coda|davfs|drvfs|fhgfs|fuse([.].*)?|gfs2?|glusterfs|gpfs|lustre|ncpfs|nfs4?|ocfs2|orangefs|panfs|"
    "prl_fs|pvfs2|smb[23]|smbfs|vboxsf|vmhgfs|wekafs"
)
"""File systems on which several machines may use a file, or whose locks are those of another system."""


LOCKS = Path("/proc/locks")
MOUNTS = Path("/proc/self/mountinfo")


class Holder(NamedTuple):
    """A process that holds the lock of a database."""

    pid: int
    command: str
    stopped: bool

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})" if self.command else f"process {self.pid}"


def wait_for_lock(act: Callable[[], T], path: str, patience: float) -> T:
    """Returns what an act returns that needs the lock of a file.

    The act itself waits for about a second. Then whoever holds the lock is looked at: one that is stopped will not let go of it.

    Args:
        act: that raises SQLite's error if the lock is not to be had.
        path: of the database.
        patience: seconds after which nobody waits any longer.
    """
    start = time.monotonic()
    while True:
        try:
            return act()
        except sqlite3.OperationalError as problem:
            if error_code(problem) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            holders = list(lock_holders(path))
            if stopped := [holder for holder in holders if holder.stopped]:
                pids = " ".join(str(holder.pid) for holder in stopped)
                them = joined(list(map(str, stopped)))
                raise StorageFailed(
                    f"the database is locked: {them} holds {path} and is stopped; let it go on with: kill -CONT {pids}"
                ) from None
            if time.monotonic() - start >= within(patience):
                who, seconds = joined(list(map(str, holders))) or "somebody else", within(patience)
                raise StorageFailed(
                    f"the database is locked: {who} has held {path} for {seconds:g} s; nothing was written, so simply try again."
                ) from None


def lock_holders(path: str) -> Iterator[Holder]:
    """Yields the other processes that keep everybody from writing to a database, as far as the system tells."""
    inodes = {}
    for file in (path, f"{path}-wal", f"{path}-shm"):
        try:
            found = os.stat(file)
        except OSError:
            continue
        inodes[found.st_ino] = found
    seen = {os.getpid()}
    for pid, device, inode in _writers():
        if pid in seen or inode not in inodes:
            continue
        # Some file systems have numbers of their own in the list of locks; then the open files of the process decide.
        if device != _device(inodes[inode].st_dev) and not _has_open(pid, inodes[inode]):
            continue
        seen.add(pid)
        yield Holder(pid, _command(pid), _state(pid) in ("T", "t"))


def _writers() -> Iterator[tuple[int, str, int]]:
    """Process, device and inode of every lock against others."""
    try:
        lines = LOCKS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if found := re.match(r"\d+: (?:POSIX|OFDLCK)\s+\S+\s+WRITE\s+(\d+) (\w+:\w+):(\d+) ", line):
            yield int(found[1]), found[2], int(found[3])


def _device(number: int) -> str:
    return f"{os.major(number):02x}:{os.minor(number):02x}"


def _has_open(pid: int, file: os.stat_result) -> bool:
    try:
        return any(os.path.samestat(os.stat(entry.path), file) for entry in os.scandir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def _state(pid: int) -> str:
    """A letter: R runs, S sleeps, T is stopped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _command(pid: int) -> str:
    try:
        return cut(Path(f"/proc/{pid}/comm").read_text(errors="replace").strip(), 40)
    except OSError:
        return ""


def network_file_system(path: str, mounts: str | None = None) -> str | None:
    r"""Returns the kind of network file system that a file is on, or would be; None if it is on none, or nobody knows.

    Args:
        path: of the file.
        mounts: the text of ``/proc/self/mountinfo``.

    >>> network_file_system("/lab/s.db", "30 1 0:40 / / rw - ext4 /dev/sda rw\n31 30 0:41 / /lab rw - nfs4 server:/lab rw")
    'nfs4'
    """
    kind = _file_system(os.path.realpath(path), _mounts() if mounts is None else mounts)
    return kind if NETWORKS.fullmatch(kind) else None


def _mounts() -> str:
    try:
        return MOUNTS.read_text(errors="replace")
    except OSError:
        return ""


def _file_system(path: str, mounts: str) -> str:
    """The kind of the mount that is nearest above a path; of those on the same place, the last one hides the others."""
    nearest, kind = "", ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
        if (path == place or path.startswith(place.rstrip("/") + "/")) and len(place) >= len(nearest):
            nearest, kind = place, kinds[0]
    return kind


def error_code(problem: BaseException) -> int:
    """Returns SQLite's number of an error, 0 if it has none."""
    return int(getattr(problem, "sqlite_errorcode", 0)) & 0xFF


_NOT_OPENED = (sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_READONLY_DIRECTORY, sqlite3.SQLITE_READONLY_RECOVERY)
"""Reading failed, since something would have to be written for it."""


def remedy(problem: BaseException, path: str) -> str | None:
    """Returns what to do about an error of SQLite, None if there is nothing in particular."""
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    if getattr(problem, "sqlite_errorcode", None) in _NOT_OPENED:
        return _why_not_opened(path, folder)
    match error_code(problem):
        case sqlite3.SQLITE_CANTOPEN:
            return _why_not_opened(path, folder)
        case sqlite3.SQLITE_READONLY if os.path.exists(path) and os.access(path, os.W_OK) and os.access(folder, os.W_OK):
            return "it was opened for reading only; open it without mode=ro to change it"
        case sqlite3.SQLITE_READONLY:
            unwritable = path if not os.access(path, os.W_OK) else folder
            return f"you may not write to {unwritable}, so nothing was changed; look at its owner and permissions"
        case sqlite3.SQLITE_FULL:
            return f"the disk of {folder} is full and nothing was half-written; free some space, and do the same again"
        case sqlite3.SQLITE_NOTADB:
            return "check the name of the file; this one was left as it is"
        case sqlite3.SQLITE_CORRUPT:
            return f"the file is damaged: {start_anew(path)}"
    return None


def start_anew(path: str) -> str:
    """Returns what to do about a file that is damaged; nothing can be restored into it, and what is beside it belongs to it."""
    return f"move it away, with {path}-wal and {path}-shm if they are there, then restore a backup into a new file of that name"


def _why_not_opened(path: str, folder: str) -> str:
    if os.path.isdir(path):
        return f"{path} is a folder; name a file in it, such as {os.path.join(path, 'paretopick.db')}"
    if not os.path.isdir(folder):
        return f"there is no folder {folder}; make it first, or check the name"
    if not os.path.exists(path):
        return f"you may not make a file in {folder}; look at its owner and permissions, or check the name"
    if not os.access(path, os.R_OK):
        return f"you may not read {path}; look at its owner and permissions"
    if not os.access(folder, os.W_OK):
        return (
            f"to read it, SQLite makes {path}-shm beside it, and you may not write to its folder; copy it elsewhere, or if "
            f"nobody writes to it, open sqlite:///{path}?immutable=1"
        )
    return "check the name of the file, and that its folder is there"


def file_identity(path: str) -> tuple[int, int] | None:
    """Returns by what the system knows a file, whatever its name; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
