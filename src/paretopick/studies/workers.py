"""What workers are called whom nobody has given a name, and whether they are still there."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

NAME = re.compile(r".+:(?P<pid>\d+):(?P<system>[0-9a-f]{6})-[0-9a-f]{6}(:\d+)?")
"""Machine, process, the running system that counts its processes, something random, and a thread that is not the main one."""

_tokens: dict[int, str] = {}
"""What is random in the names of workers in this process, by its number: a process that was forked has one of its own."""


def own_name() -> str:
    """Returns a name that nobody else has: machine and process, and something by which even their namesakes differ."""
    return _name(secrets.token_hex(3))


def name_here() -> str:
    """Returns the name of a worker in this thread of this process, always the same."""
    token = _tokens.setdefault(os.getpid(), secrets.token_hex(3))
    thread = threading.current_thread()
    return _name(token) if thread is threading.main_thread() else f"{_name(token)}:{thread.ident}"


def is_gone(worker: str) -> bool:
    """Returns whether a worker with a name that was made here was in a process of this machine that has ended.

    False where nobody can say: names that users give, other machines and containers, and systems other than Linux.
    """
    found = NAME.fullmatch(worker)
    if found is None or _system() is None or found["system"] != _system():
        return False
    try:
        os.kill(int(found["pid"]), 0)  # which does nothing to it
    except ProcessLookupError:
        return True
    except OSError:  # it is somebody else's
        pass
    return False


def _name(token: str) -> str:
    system = _system()
    return f"{socket.gethostname()}:{os.getpid()}:{token if system is None else f'{system}-{token}'}"


@cache
def _system() -> str | None:
    """By what a running system is known within which numbers of processes mean the same; None if it cannot be known."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        inside = Path("/proc/self/ns/pid").stat().st_ino  # a container counts its own processes
        return hashlib.sha256(f"{socket.gethostname()} {boot} {inside}".encode()).hexdigest()[:6]
    return None
