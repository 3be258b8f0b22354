"""One life of a worker: it makes calls of every kind on several studies, and writes down each, until it is told to end."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import paretopick as pp
from paretopick.storage import dialects, open_storage, sql
from paretopick.studies import live
from soak.ledger import UNCERTAIN, WRITING, Call, Ledger, read_life

END = "end"
"""The file in the folder of the ledger that asks workers to end."""

OPTIONS = [str(i) for i in range(8)]


class Line(NamedTuple):
    """A line of studies that follow each other: whenever one is finished, the next one is created."""

    name: str
    policy: tuple[str, dict[str, Any]]
    budget: int
    exact: bool = False
    """Whether there is a third metric that is exact."""


LINES = (
    Line("rejects", ("ege-sr", {}), 100),
    Line("anytime", ("apt", {"batch": 6}), 80),
    Line("halving", ("ege-sh", {}), 120, exact=True),
)


@dataclass
class Life:
    """Who this worker is, and how long it has.

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


@dataclass
class Place:
    """What a worker has of one line of studies."""

    line: Line
    study: pp.Study | None = None
    todo: dict[int, str] = field(default_factory=dict)
    """Numbers and options that it was asked to measure."""
    told: list[int] = field(default_factory=list)
    retired: int = 0


def live_once(life: Life) -> None:
    """Works until it is told to end."""
    sys.stderr = open(life.errors, "w", buffering=1)  # noqa: SIM115 -- as long as the process
    os.dup2(sys.stderr.fileno(), 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    Worker(life).work()


class Worker:
    """Makes calls at random, but not without sense: what it was asked for it measures, and tells, most of the time."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self._random = random.Random(f"{life.seed} {life.name}")
        self._ids = (f"{life.name}/{i}" for i in itertools.count(1))
        dialects.PATIENCE = life.patience
        # Small enough for all paths to be taken: checkpoints of others, catching up in pages and without the lock.
        live.CHECKPOINT_EVERY = self._random.choice([10, 40, 1000])
        live.FEW_EVENTS = self._random.choice([3, 50, 2000])
        sql.PAGE = self._random.choice([7, 100, 10_000])
        self._places = [Place(line) for line in LINES]
        self._storage: Any = None
        self._calls: deque[Call] = deque(maxlen=400)
        self._ledger = Ledger(life.folder, life.name, life.worker)

    @property
    def _ended(self) -> bool:
        """Whether workers are asked to end, by a file: one that is only just being started sees it, too."""
        return time.monotonic() > self.life.until or (self.life.folder / END).exists()

    def work(self) -> None:
        """Makes calls until it is told to end; then gives back what it has."""
        self._finish_for_predecessor()
        while not self._ended:
            self._step(self._random.choice(self._places))
            time.sleep(self._random.expovariate(1 / 0.004))
        self._give_everything_back()

    def _step(self, place: Place) -> None:
        if place.study is None:
            self._open(place)
        elif place.todo and self._random.random() < 0.75:
            self._measure(place)
        else:
            acts = {
                self._ask: 100,
                self._look: 20,
                self._open: 8,
                self._add: 8,
                self._void: 8,
                self._tell_again: 6,
                self._tell_otherwise: 3,
                self._repeat: 4,
                self._release: 4,
                self._extend: 10,
                self._retire: 1,
                self._delete: 0.15,
            }
            act = self._random.choices(list(acts), list(acts.values()))[0]
            act(place)

    # Calls, and what they come to.

    def _call(
        self, kind: str, name: str, token: str | None, given: dict[str, Any], act: Callable[[], Any], repeats: str | None = None
    ) -> Call:
        """Makes a call, with a line in the ledger before and after it."""
        number = self._ledger.begin(kind, name, token, given, repeats)
        call = Call(f"{self.life.name}:{number}", self.life.worker, os.getpid(), kind, name, token, given, repeats)
        call.outcome, call.answer = outcome_of(act)
        self._ledger.end(number, call.outcome, call.answer)
        self._calls.append(call)
        if call.outcome in ("failed", "unknown"):
            time.sleep(self._random.uniform(0.02, 0.3))
        return call

    def _on(self, place: Place, kind: str, **given: Any) -> Call:
        """Makes a call on the study that it has; one that may have been stored is often made again, with its request."""
        call = self._made(place, kind, given)
        first = call.id
        while call.outcome in ("unknown", "failed") and kind in WRITING and call.request and self._random.random() < 0.8:
            if self._ended:
                break
            call = self._made(place, kind, given | {"request": call.request}, first)
        if call.outcome == "gone":
            place.study, place.todo, place.told, place.retired = None, {}, [], 0
        return call

    def _made(self, place: Place, kind: str, given: dict[str, Any], repeats: str | None = None) -> Call:
        study = place.study
        assert study is not None
        act = partial(make, study, kind, given, self.life.worker)
        return self._call(kind, study.name, token_of(study), given, act, repeats)

    def _request(self) -> dict[str, str]:
        """An id for half of the calls."""
        return {"request": next(self._ids)} if self._random.random() < 0.5 else {}

    # Studies come and go.

    def _open(self, place: Place) -> None:
        """Opens the newest study of a line, or creates the first one; those that are finished are followed by new ones."""
        if place.study is not None and self._random.random() < 0.5:
            place.study.close()
        if self._storage is None:
            call = self._call("connect", "", None, {}, self._connect)
            if call.outcome != "promised":
                return
        call = self._call("list", "", None, {}, lambda: pp.Study.list(storage=self._where()))
        if call.outcome != "promised":
            return
        newest = max((generation(name) for name in call.answer if name.startswith(place.line.name)), default=0)
        if newest == 0:
            self._create(place, f"{place.line.name} 1")
            return
        self._open_named(place, f"{place.line.name} {newest}")

    def _connect(self) -> None:
        self._storage = open_storage(self.life.url)

    def _where(self) -> Any:
        """The storage that is open already, or sometimes its address."""
        return self._storage if self._random.random() < 0.9 else self.life.url

    def _open_named(self, place: Place, name: str) -> None:
        opened: list[pp.Study] = []

        def act() -> dict[str, Any]:
            opened.append(pp.Study.open(name, storage=self._where()))
            return {"token": token_of(opened[0])}

        call = self._call("open", name, None, {}, act)
        if call.outcome == "refused":  # somebody has deleted it
            self._create(place, name)
        elif call.outcome == "promised":
            self._sit_down(place, opened[0])

    def _create(self, place: Place, name: str) -> None:
        line, created = place.line, []
        metrics = {"x": "max", "y": "min"} | ({"price": "min"} if line.exact else {})
        given: dict[str, Any] = {"options": OPTIONS, "metrics": metrics, "budget": line.budget, "policy": line.policy}
        given |= {"exact": ["price"]} if line.exact else {}

        def act() -> dict[str, Any]:
            created.append(pp.Study.create(name, storage=self._where(), **given))
            return {"token": token_of(created[0])}

        call = self._call("create", name, None, given, act)
        if call.outcome == "promised":
            self._sit_down(place, created[0])
        else:
            place.study = None

    def _sit_down(self, place: Place, study: pp.Study) -> None:
        """What it was asked for in the same study it still has."""
        if place.study is None or token_of(place.study) != token_of(study):
            place.todo, place.told, place.retired = {}, [], 0
        place.study = study

    def _delete(self, place: Place) -> None:
        assert place.study is not None
        name = place.study.name
        self._call("delete", name, None, {}, lambda: pp.Study.delete(name, storage=self._where()))
        if self._random.random() < 0.8:  # otherwise whoever misses it creates it
            was, place.study = place.study, None
            self._create(place, name)
            if self._random.random() < 0.5:
                place.study = was  # like those who do not know yet

    # Measurements.

    def _ask(self, place: Place) -> None:
        n, lease = self._random.randint(1, 3), self._random.choice([0.3, 2.0, 20.0])
        call = self._on(place, "ask", n=n, lease=lease, wait=self._random.choice([0, 0, 0, 0.3]))
        if call.outcome == "promised":
            place.todo |= {number: option for number, option, _ in call.answer}
            if not call.answer and place.study is not None and self._done(place):
                self._next(place)

    def _done(self, place: Place) -> bool:
        return bool(self._on(place, "done").answer is True)

    def _next(self, place: Place) -> None:
        """The study is finished: most go on with the next one, and some open the finished one again."""
        assert place.study is not None
        if self._random.random() < 0.9:
            name = f"{place.line.name} {generation(place.study.name) + 1}"
            place.study = None
            self._open_named(place, name)

    def _measure(self, place: Place) -> None:
        number, option = self._random.choice(list(place.todo.items()))
        what = self._random.choices(["tell", "fail", "record", "give back", "renew"], [80, 6, 8, 3, 6])[0]
        if what == "tell":
            given = {"number": number, "values": self._values(place, option)}
            given |= {"worker": self.life.worker} if self._random.random() < 0.3 else {}
            call = self._on(place, "tell", **given, **self._request())
        elif what == "fail":
            given = {"number": number, "why": f"failed by {next(self._ids)}"}
            given |= {"worker": self.life.worker} if self._random.random() < 0.3 else {}
            call = self._on(place, "fail", **given, **self._request())
        elif what in ("record", "renew"):
            (self._record if what == "record" else self._renew)(place)
            return
        else:
            call = self._on(place, "release", numbers=[number], **self._request())
        if call.outcome in ("promised", "refused", *UNCERTAIN):  # otherwise it can still be told
            place.todo.pop(number, None)
        if (call.outcome, what) == ("promised", "tell"):
            place.told.append(number)

    def _record(self, place: Place) -> None:
        some = dict(self._random.sample(list(place.todo.items()), k=min(3, len(place.todo))))
        told = {number: self._values(place, option) for number, option in some.items()}
        failed = {}
        if len(told) > 1 and self._random.random() < 0.5:
            number, _ = told.popitem()
            failed[number] = f"failed by {next(self._ids)}"
        added = self._rows(place) if self._random.random() < 0.5 else []
        pairs = {"told": list(told.items()), "failed": list(failed.items()), "added": added}
        call = self._on(place, "record", **pairs, **self._request())
        if call.outcome in ("promised", "refused", *UNCERTAIN):
            for number in some:
                place.todo.pop(number, None)
        if call.outcome == "promised":
            place.told += told

    def _add(self, place: Place) -> None:
        self._on(place, "add", rows=self._rows(place), **self._request())

    def _rows(self, place: Place) -> list[tuple[str, list[float]]]:
        options = self._random.choices(OPTIONS, k=self._random.randint(1, 3))
        return [(option, self._values(place, option)) for option in options]

    def _values(self, place: Place, option: str) -> list[float]:
        """Of every option another mean. No two measurements come out the same, so each is known by its values."""
        arm = int(option)
        values = [arm % 5 + self._random.gauss(0, 1), (arm * 7) % 11 + self._random.gauss(0, 1)]
        return [*values, float(arm % 3)] if place.line.exact else values

    def _void(self, place: Place) -> None:
        if place.told:
            number = self._random.choice(place.told)
            self._on(place, "void", number=number, why=f"voided by {next(self._ids)}", **self._request())

    def _tell_again(self, place: Place) -> None:
        """The same as before is harmless."""
        before = [call for call in self._past(place) if call.kind == "tell" and call.outcome == "promised"]
        if before:
            call = self._random.choice(before[-20:])
            self._on(place, "tell", number=call.given["number"], values=call.given["values"])

    def _tell_otherwise(self, place: Place) -> None:
        """Other values than before are refused."""
        if place.told:
            self._on(place, "tell", number=self._random.choice(place.told), values=self._values(place, OPTIONS[0]))

    def _repeat(self, place: Place) -> None:
        """What was done with a request is done once, however often it is asked for."""
        done = [call for call in self._past(place) if call.request and call.outcome in ("promised", "unknown")]
        if done:
            call = self._random.choice(done[-20:])
            self._again(place, call)

    def _again(self, place: Place, call: Call) -> None:
        self._made(place, call.kind, call.given | {"request": call.request}, call.repeats or call.id)

    def _past(self, place: Place) -> list[Call]:
        """What this life did with the study lately."""
        assert place.study is not None
        token = token_of(place.study)
        return [call for call in self._calls if call.kind in WRITING and call.token == token]

    def _renew(self, place: Place) -> None:
        if place.todo:
            numbers = self._random.sample(list(place.todo), k=min(2, len(place.todo)))
            call = self._on(place, "renew", numbers=numbers, lease=self._random.choice([0.5, 5.0]))
            if call.outcome == "promised":
                for number in set(numbers) - set(call.answer):
                    place.todo.pop(number, None)

    def _release(self, place: Place) -> None:
        """Everything that it has in the study."""
        call = self._on(place, "release", numbers=[], **self._request())
        if call.outcome in ("promised", *UNCERTAIN):
            place.todo.clear()

    def _extend(self, place: Place) -> None:
        study = place.study
        assert study is not None
        if place.line.policy[0] == "apt":
            call = self._on(place, "budget")
            if call.outcome == "promised" and call.answer < 2 * place.line.budget:
                self._on(place, "extend", budget=call.answer + self._random.randint(1, 10), **self._request())

    def _retire(self, place: Place) -> None:
        if place.retired < 2:
            place.retired += 1
            option = self._random.choice(OPTIONS[2:])  # some stay in any case
            self._on(place, "retire", option=option, why=f"retired by {next(self._ids)}", **self._request())

    def _look(self, place: Place) -> None:
        kinds = {"used": 10, "budget": 5, "done": 5, "progress": 5, "status": 3, "result": 2, "measurements": 1}
        self._on(place, self._random.choices(list(kinds), list(kinds.values()))[0])

    # The life before, and the end of this one.

    def _finish_for_predecessor(self) -> None:
        """A call that a kill has interrupted is often made again by whoever comes next, if it had a request."""
        if self.life.number == 0:
            return
        with contextlib.suppress(FileNotFoundError):  # killed before it could write anything
            open_calls = [call for call in read_life(self.life.predecessor)[-3:] if call.outcome in UNCERTAIN]
            for call in open_calls:
                if call.kind in WRITING and call.request and self._random.random() < 0.8:
                    self._repeat_for_predecessor(call)

    def _repeat_for_predecessor(self, call: Call) -> None:
        place = next(place for place in self._places if call.study.startswith(place.line.name))
        if self._storage is None and self._call("connect", "", None, {}, self._connect).outcome != "promised":
            return
        opened: list[pp.Study] = []

        def act() -> dict[str, Any]:
            opened.append(pp.Study.open(call.study, storage=self._storage))
            return {"token": token_of(opened[0])}

        found = self._call("open", call.study, None, {}, act)
        if found.outcome == "promised" and found.answer["token"] == call.token:
            place.study = opened[0]
            self._again(place, call)

    def _give_everything_back(self) -> None:
        """In all studies: names of workers are used by several lives."""
        names: list[str] = []
        for _ in range(20):
            call = self._call("list", "", None, {}, lambda: pp.Study.list(storage=self.life.url))
            if call.outcome == "promised":
                names = call.answer
                break
            time.sleep(0.5)
        for name in names:
            for _ in range(20):
                place = Place(next(line for line in LINES if name.startswith(line.name)))
                self._open_to_give_back(place, name)
                if place.study is not None and self._on(place, "release", numbers=[]).outcome in ("promised", "gone"):
                    break
                time.sleep(0.2)

    def _open_to_give_back(self, place: Place, name: str) -> None:
        def act() -> dict[str, Any]:
            place.study = pp.Study.open(name, storage=self._storage or self.life.url)
            return {"token": token_of(place.study)}

        self._call("open", name, None, {}, act)


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
            return study.tell(given["number"], given["values"], worker=given.get("worker"), request=request)
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
    """By which a study is known, whatever its name."""
    return study._live.study.token


def generation(name: str) -> int:
    """Which study of its line it is."""
    found = re.search(r" (\d+)$", name)
    assert found
    return int(found[1])
