"""The chain of a log: each event has a hash of its own contents and of the hash before it.

Whoever knows the hash at one place notices at any later one whether something before it is missing or was changed. The chain
guards against restored backups, lagging copies, broken disks and edits by hand; not against somebody who writes a new chain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

FIELDS = ("position", "kind", "number", "arm", "round", "measured", "details", "worker", "at", "request", "digest")
"""What a link holds of an event, in this order; ``measured`` and ``details`` as the JSON texts that are stored."""


def first_link(definition: str) -> str:
    """Returns the hash before the first event: of what the study is about, as its JSON text."""
    return _hash("", definition)


def next_link(before: str, row: Sequence[Any]) -> str:
    """Returns the hash of an event, from the hash before it and its fields."""
    return _hash(before, json.dumps(list(row)))


def links(before: str, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yields the hash of each of several events that follow each other."""
    for row in rows:
        before = next_link(before, row)
        yield before


def _hash(before: str, contents: str) -> str:
    return hashlib.blake2b(f"{before}\n{contents}".encode(), digest_size=16).hexdigest()
