"""The ledger: which calls workers made and what they were told, in files that no database has a part in.

Every life of a worker, from its start until it ends or is killed, has a file of its own. A line is on the disk before a call
is made, and another one before anything else happens after it; so a call that was interrupted is known, too.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WRITING = ("tell", "fail", "void", "retire", "extend", "add", "record", "release")
"""Calls that leave events."""

OUTCOMES = ("promised", "refused", "gone", "failed", "unknown", "killed", "damaged", "error")
"""What a call came to: it was done; it was refused; its study is gone; the database failed, and nothing was stored; nobody knows
whether it was; its worker was killed meanwhile; the log did not fit; it raised what it must not raise."""

UNCERTAIN = ("unknown", "killed")
"""Outcomes after which nobody knows whether something was stored."""


@dataclass
class Call:
    """A call and what came of it."""

    id: str
    """Its life and its number, as in ``w3.5:120``."""
    worker: str
    """The name under which it asks."""
    pid: int
    kind: str
    study: str
    token: str | None
    """Of the study that was meant; None if that was not known."""
    given: dict[str, Any] = field(default_factory=dict)
    """The arguments."""
    repeats: str | None = None
    """The call that this one is made for again, with the same request."""
    at: float = 0.0
    until: float | None = None
    outcome: str = "killed"
    answer: Any = None
    """What it returned, or what was said instead."""

    @property
    def life(self) -> str:
        """The file that it is in."""
        return self.id.rpartition(":")[0]

    @property
    def request(self) -> str | None:
        """The id under which it can be made again, as far as anybody knows."""
        found: str | None = self.given.get("request")
        if found is None and self.outcome == "unknown":
            found = self.answer["request"]
        return found

    def __str__(self) -> str:
        again = f", which repeats {self.repeats}" if self.repeats else ""
        return f"call {self.id} ({self.worker}: {self.kind} {_cut(self.given)} in {self.study!r}, {self.outcome}{again})"


class Ledger:
    """The file of one life of a worker.

    Args:
        folder: of all files.
        life: a name that no other life has.
        worker: the name under which it asks.
    """

    def __init__(self, folder: Path, life: str, worker: str) -> None:
        # Opened for appending: whatever happens, nothing that was written before is touched.
        self._file = os.open(folder / f"{life}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        self._numbers = itertools.count(1)
        self.life = life
        self._write({"life": life, "worker": worker, "pid": os.getpid()})

    def begin(self, kind: str, study: str, token: str | None, given: dict[str, Any], repeats: str | None = None) -> int:
        """Writes down a call that is about to be made, and returns its number."""
        number = next(self._numbers)
        call = {"call": number, "kind": kind, "study": study, "token": token, "given": given, "repeats": repeats}
        self._write(call | {"at": time.monotonic()})
        return number

    def end(self, number: int, outcome: str, answer: Any) -> None:
        """Writes down what a call came to."""
        self._write({"end": number, "until": time.monotonic(), "outcome": outcome, "answer": answer})

    def _write(self, line: dict[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")
        os.fsync(self._file)


def read_life(file: Path) -> list[Call]:
    """Returns the calls of one life, in their order."""
    lines = list(_lines(file))
    if not lines:
        return []
    head, calls = lines[0], {}
    for line in lines[1:]:
        if "call" in line:
            number = line.pop("call")
            calls[number] = Call(f"{head['life']}:{number}", head["worker"], head["pid"], **line)
        else:
            call = calls[line["end"]]
            call.until, call.outcome, call.answer = line["until"], line["outcome"], line["answer"]
    return list(calls.values())


def read_ledger(folder: Path) -> list[Call]:
    """Returns all calls, in the order in which they were made."""
    return sorted((call for file in folder.glob("*.jsonl") for call in read_life(file)), key=lambda call: call.at)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines(keepends=True):
        if line.endswith("\n"):  # the last one may have been cut off by a kill
            yield json.loads(line)


def _cut(given: dict[str, Any]) -> str:
    text = json.dumps(given)
    return text if len(text) < 300 else f"{text[:300]}..."
