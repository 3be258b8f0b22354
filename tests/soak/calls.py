"""Calls of one life of a worker, each with a line in the ledger before and after it; and the studies that they are about."""

from __future__ import annotations

import os
import random
import re
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import paretopick as pp
from paretopick.storage import open_storage
from paretopick.storage.backups import backup
from paretopick.studies.checks import check_storage
from soak.ledger import Call, Ledger

BACKUP = "backup-"
"""What the names of backups begin with."""

OPTIONS = [str(i) for i in range(8)]


class Line(NamedTuple):
    """A line of studies that follow each other: whenever one is finished, the next one is created."""

    name: str
    policy: tuple[str, dict[str, Any]]
    budget: int
    exact: bool = False
    """Whether there is a third metric that is exact."""

    @property
    def definition(self) -> dict[str, Any]:
        """What its studies are created with."""
        metrics = {"x": "max", "y": "min"} | ({"price": "min"} if self.exact else {})
        exact = ["price"] if self.exact else []
        return {"options": OPTIONS, "metrics": metrics, "budget": self.budget, "policy": self.policy, "exact": exact}

    def values(self, option: str, chance: random.Random) -> list[float]:
        """Of every option another mean. No two measurements come out the same, so each is known by its values."""
        arm = int(option)
        values = [arm % 5 + chance.gauss(0, 1), (arm * 7) % 11 + chance.gauss(0, 1)]
        return [*values, float(arm % 3)] if self.exact else values


LINES = (
    Line("rejects", ("ege-sr", {}), 100),
    Line("anytime", ("apt", {"batch": 6}), 80),
    Line("halving", ("ege-sh", {}), 120, exact=True),
)


def line_of(name: str) -> Line:
    """Returns the line that a study belongs to."""
    return next(line for line in LINES if name.startswith(line.name))


def generation(name: str) -> int:
    """Returns which study of its line it is."""
    found = re.search(r" (\d+)$", name)
    assert found
    return int(found[1])


@dataclass
class Life:
    """Who a worker is, and how long it has.

    Args:
        url: of the database.
        folder: of the ledger.
        seed: of all its choices.
        slot: which of the workers it is.
        number: how many lives that worker had before.
        worker: the name under which it asks.
        patience: seconds that it waits for a database.
        until: when it ends by itself, by the monotonic clock.
    """

    url: str
    folder: Path
    seed: int
    slot: int
    number: int
    worker: str
    patience: float
    until: float

    @property
    def name(self) -> str:
        """By which its file is known."""
        return f"w{self.slot}.{self.number}"

    @property
    def errors(self) -> Path:
        """For what it says before it ends without having been asked."""
        return self.folder / f"{self.name}.err"

    @property
    def predecessor(self) -> Path:
        """The file of the life before."""
        return self.folder / f"w{self.slot}.{self.number - 1}.jsonl"


class Caller:
    """Makes calls and writes them down.

    Args:
        life: whose calls they are.
        chance: for what is chosen at random.
    """

    def __init__(self, life: Life, chance: random.Random) -> None:
        self.made: deque[Call] = deque(maxlen=400)
        """The last calls."""
        self._life = life
        self._random = chance
        self._storage: Any = None
        self._ledger = Ledger(life.folder, life.name, life.worker)

    def on(self, study: pp.Study, kind: str, given: dict[str, Any], repeats: str | None = None) -> Call:
        """Makes a call on a study."""
        act = partial(make, study, kind, given, self._life.worker)
        return self._call(kind, act, study.name, token_of(study), given, repeats)

    def names(self) -> list[str] | None:
        """Returns the names of all studies, None if the database does not say."""
        call = self._call("list", lambda: pp.Study.list(storage=self._where()))
        return call.answer if call.outcome == "promised" else None

    def open(self, name: str) -> tuple[str, pp.Study | None]:
        """Returns what came of opening a study, and the study if it was opened."""
        return self._study("open", name, {}, lambda: pp.Study.open(name, storage=self._where()))

    def create(self, name: str) -> pp.Study | None:
        """Returns a new study, None if there is none."""
        given = line_of(name).definition
        return self._study("create", name, given, lambda: pp.Study.create(name, storage=self._where(), **given))[1]

    def delete(self, name: str) -> None:
        """Deletes a study."""
        self._call("delete", lambda: pp.Study.delete(name, storage=self._where()), name)

    def check(self) -> None:
        """Checks the whole database while others write."""
        self._call("check", lambda: [str(finding) for finding in check_storage(self._where()).findings if not finding.harmless])

    def backup(self) -> None:
        """Makes a backup while others write."""
        file = self._life.folder / f"{BACKUP}{self._life.name}-{len(self.made)}.db"
        given = {"file": file.name}
        self._call("backup", lambda: backup(self._where(), file, overwrite=True).events, given=given)

    def _study(self, kind: str, name: str, given: dict[str, Any], act: Callable[[], pp.Study]) -> tuple[str, pp.Study | None]:
        opened: list[pp.Study] = []

        def tokens() -> dict[str, Any]:
            opened.append(act())
            return {"token": token_of(opened[0])}

        call = self._call(kind, tokens, name, None, given)
        return call.outcome, opened[0] if opened else None

    def _where(self) -> Any:
        """The storage that is open already, or its address: at first, and sometimes later."""
        if self._storage is None:
            self._storage = open_storage(self._life.url)
        return self._storage if self._random.random() < 0.9 else self._life.url

    def _call(
        self,
        kind: str,
        act: Callable[[], Any],
        name: str = "",
        token: str | None = None,
        given: dict[str, Any] | None = None,
        repeats: str | None = None,
    ) -> Call:
        number = self._ledger.begin(kind, name, token, given or {}, repeats)
        life = self._life
        call = Call(f"{life.name}:{number}", life.worker, os.getpid(), kind, name, token, given or {}, repeats)
        call.outcome, call.answer = outcome_of(act)
        self._ledger.end(number, call.outcome, call.answer)
        self.made.append(call)
        if call.outcome in ("failed", "unknown"):
            time.sleep(self._random.uniform(0.02, 0.3))
        return call


def outcome_of(act: Callable[[], Any]) -> tuple[str, Any]:
    """Makes a call, and returns its outcome and what it returned, or what was said instead."""
    try:
        return "promised", act()
    except pp.OutcomeUnknown as problem:
        return "unknown", {"request": problem.request, "said": str(problem)}
    except pp.StudyGone as problem:
        return "gone", str(problem)
    except pp.LogDamaged as problem:
        return "damaged", str(problem)
    except pp.StorageFailed as problem:
        return "failed", str(problem)
    except (pp.InvalidInput, pp.NotReady) as problem:
        return "refused", f"{type(problem).__name__}: {problem}"
    except Exception:  # whatever else comes out is a fault
        return "error", traceback.format_exc()


def make(study: pp.Study, kind: str, given: dict[str, Any], worker: str) -> Any:
    """Makes the call that a line of the ledger describes, and returns JSON values."""
    request = given.get("request")
    match kind:
        case "ask":
            todos = study.ask(given["n"], worker=worker, lease=given["lease"], wait=given["wait"])
            return [(todo.number, todo.option, todo.round) for todo in todos]
        case "tell":
            if not study.tell(given["number"], given["values"], worker=given.get("worker"), request=request):
                raise pp.NotDue("a namesake was first.")
            return None
        case "fail":
            return study.fail(given["number"], given["why"], worker=given.get("worker"), request=request)
        case "void":
            return study.void(given["number"], given["why"], request=request)
        case "retire":
            return study.retire(given["option"], given["why"], request=request)
        case "extend":
            return study.extend(budget=given["budget"], request=request)
        case "add":
            return study.add(given["rows"], request=request)
        case "record":
            return study.record(dict(given["told"]), dict(given["failed"]), given["added"], request=request)
        case "release":
            return study.release(*given["numbers"], worker=worker, request=request)
        case "renew":
            return study.renew(*given["numbers"], worker=worker, lease=given["lease"])
        case "used" | "budget" | "done":
            return getattr(study, kind)
        case "progress":
            return study.progress().used
        case "status":
            return study.status()["used"]
        case "result":
            return list(study.result().pareto)
        case "measurements":
            return len(study.measurements())
    raise AssertionError(kind)


def token_of(study: pp.Study) -> str:
    """Returns by what a study is known, whatever its name."""
    return study._live.study.token
