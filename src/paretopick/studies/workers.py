"""What workers are called whom nobody has given a name."""

from __future__ import annotations

import os
import secrets
import socket


def own_name() -> str:
    """The machine and the process, and something by which even their namesakes differ."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
