"""One life of a worker: it makes calls of every kind on several studies until it is asked to end."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import paretopick as pp
from paretopick.storage import dialects, sql
from paretopick.studies import live
from soak.calls import LINES, OPTIONS, Caller, Life, Line, generation, line_of, token_of
from soak.ledger import UNCERTAIN, WRITING, Call, read_life

END = "end"
"""The file in the folder of the ledger that asks workers to end."""


@dataclass
class Task:
    """What a worker has of one line of studies."""

    line: Line
    study: pp.Study | None = None
    todo: dict[int, str] = field(default_factory=dict)
    """Numbers and options that it was asked to measure."""
    told: list[int] = field(default_factory=list)

    def take(self, study: pp.Study | None) -> None:
        """Goes on with a study; what it was asked for in the same one it still has."""
        if study is None or self.study is None or token_of(self.study) != token_of(study):
            self.todo, self.told = {}, []
        self.study = study


def live_once(life: Life) -> None:
    """Works until it is asked to end."""
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
        self._caller = Caller(life, self._random)
        self._tasks = [Task(line) for line in LINES]
        self._acts = {
            self._ask: 100,
            self._look: 20,
            self._extend: 10,
            self._open: 8,
            self._add: 8,
            self._void: 8,
            self._tell_again: 6,
            self._repeat: 4,
            self._release: 4,
            self._tell_otherwise: 3,
            self._retire: 1,
            self._check: 0.3,
            self._backup: 0.3,
            self._delete: 0.15,
        }
        """How often what is done, if there is nothing to measure."""

    def work(self) -> None:
        """Makes calls until it is asked to end; then gives back what it has."""
        self._finish_for_predecessor()
        while not self._ended:
            task = self._random.choice(self._tasks)
            if task.study is None:
                self._open(task)
            elif task.todo and self._random.random() < 0.75:
                self._measure(task)
            else:
                self._random.choices(list(self._acts), list(self._acts.values()))[0](task)
            time.sleep(self._random.expovariate(1 / 0.004))
        self._give_everything_back()

    @property
    def _ended(self) -> bool:
        """Whether workers are asked to end, by a file: one that is only just being started sees it, too."""
        return time.monotonic() > self.life.until or (self.life.folder / END).exists()

    def _on(self, task: Task, kind: str, **given: Any) -> Call:
        """Makes a call on its study; one that may have been stored, or failed, is often made again, with its request."""
        study = task.study
        assert study is not None
        call = self._caller.on(study, kind, given)
        first = call.id
        while call.outcome in ("unknown", "failed") and kind in WRITING and call.request and self._random.random() < 0.8:
            if self._ended:
                break
            call = self._caller.on(study, kind, given | {"request": call.request}, first)
        if call.outcome == "gone":
            task.take(None)
        return call

    def _request(self) -> dict[str, str]:
        """An id for half of the calls."""
        return {"request": next(self._ids)} if self._random.random() < 0.5 else {}

    # Studies come and go.

    def _open(self, task: Task) -> None:
        """Opens the newest study of a line anew, or creates the first one."""
        if task.study is not None and self._random.random() < 0.5:
            task.study.close()
        names = self._caller.names()
        if names is not None:
            newest = max((generation(name) for name in names if line_of(name) == task.line), default=1)
            self._open_or_create(task, f"{task.line.name} {newest}")

    def _open_or_create(self, task: Task, name: str) -> None:
        outcome, study = self._caller.open(name)
        if outcome == "refused":  # it was never there, or somebody has deleted it
            study = self._caller.create(name)
        if study is not None:
            task.take(study)

    def _delete(self, task: Task) -> None:
        assert task.study is not None
        name = task.study.name
        self._caller.delete(name)
        if self._random.random() < 0.8:  # otherwise whoever misses it creates it
            new = self._caller.create(name)
            if self._random.random() < 0.5:  # others go on with what is gone
                task.take(new)

    def _check(self, _: Task) -> None:
        self._caller.check()

    def _backup(self, _: Task) -> None:
        self._caller.backup()

    # Measurements.

    def _ask(self, task: Task) -> None:
        n, lease = self._random.randint(1, 3), self._random.choice([0.3, 2.0, 20.0])
        call = self._on(task, "ask", n=n, lease=lease, wait=self._random.choice([0, 0, 0, 0.3]))
        if call.outcome == "promised":
            task.todo |= {number: option for number, option, _ in call.answer}
            if not call.answer and task.study is not None:
                done = self._on(task, "done").answer is True
                if done and task.study is not None and self._random.random() < 0.9:
                    self._open_or_create(task, f"{task.line.name} {generation(task.study.name) + 1}")

    def _measure(self, task: Task) -> None:
        number, option = self._random.choice(list(task.todo.items()))
        what = self._random.choices(["tell", "fail", "record", "release", "renew"], [80, 6, 8, 3, 6])[0]
        if what == "renew":
            self._renew(task)
            return
        if what == "record":
            self._record(task)
            return
        given: dict[str, Any] = {"number": number}
        if what == "tell":
            given["values"] = task.line.values(option, self._random)
        elif what == "fail":
            given["why"] = f"failed by {next(self._ids)}"
        else:
            given = {"numbers": [number]}
        if what != "release" and self._random.random() < 0.3:
            given["worker"] = self.life.worker
        call = self._on(task, what, **given, **self._request())
        self._settle(task, call, [number], told=[number] if what == "tell" else [])

    def _record(self, task: Task) -> None:
        some = dict(self._random.sample(list(task.todo.items()), k=min(3, len(task.todo))))
        told = {number: task.line.values(option, self._random) for number, option in some.items()}
        failed = {}
        if len(told) > 1 and self._random.random() < 0.5:
            number, _ = told.popitem()
            failed[number] = f"failed by {next(self._ids)}"
        added = self._rows(task) if self._random.random() < 0.5 else []
        pairs = {"told": list(told.items()), "failed": list(failed.items()), "added": added}
        self._settle(task, self._on(task, "record", **pairs, **self._request()), list(some), told=list(told))

    def _settle(self, task: Task, call: Call, numbers: list[int], told: list[int]) -> None:
        """Forgets measurements that it has told, or may have; otherwise they can still be told."""
        if call.outcome in ("promised", "refused", *UNCERTAIN):
            for number in numbers:
                task.todo.pop(number, None)
        if call.outcome == "promised":
            task.told += told

    def _add(self, task: Task) -> None:
        self._on(task, "add", rows=self._rows(task), **self._request())

    def _rows(self, task: Task) -> list[tuple[str, list[float]]]:
        options = self._random.choices(OPTIONS, k=self._random.randint(1, 3))
        return [(option, task.line.values(option, self._random)) for option in options]

    def _void(self, task: Task) -> None:
        if task.told:
            number = self._random.choice(task.told)
            self._on(task, "void", number=number, why=f"voided by {next(self._ids)}", **self._request())

    def _tell_again(self, task: Task) -> None:
        """The same as before is harmless."""
        before = [call for call in self._past(task) if call.kind == "tell" and call.outcome == "promised"]
        if before:
            call = self._random.choice(before[-20:])
            self._on(task, "tell", number=call.given["number"], values=call.given["values"])

    def _tell_otherwise(self, task: Task) -> None:
        """Other values than before are refused."""
        if task.told:
            number = self._random.choice(task.told)
            self._on(task, "tell", number=number, values=task.line.values(OPTIONS[0], self._random))

    def _repeat(self, task: Task) -> None:
        """What was done with a request is done once, however often it is asked for."""
        done = [call for call in self._past(task) if call.request and call.outcome in ("promised", "unknown")]
        if done:
            self._again(task.study, self._random.choice(done[-20:]))

    def _again(self, study: pp.Study | None, call: Call) -> None:
        assert study is not None
        self._caller.on(study, call.kind, call.given | {"request": call.request}, call.repeats or call.id)

    def _past(self, task: Task) -> list[Call]:
        """What this life changed in the study lately."""
        assert task.study is not None
        token = token_of(task.study)
        return [call for call in self._caller.made if call.kind in WRITING and call.token == token]

    def _renew(self, task: Task) -> None:
        numbers = self._random.sample(list(task.todo), k=min(2, len(task.todo)))
        call = self._on(task, "renew", numbers=numbers, lease=self._random.choice([0.5, 5.0]))
        if call.outcome == "promised":
            for number in set(numbers) - set(call.answer):
                task.todo.pop(number, None)

    def _release(self, task: Task) -> None:
        """Everything that it has in the study."""
        call = self._on(task, "release", numbers=[], **self._request())
        if call.outcome in ("promised", *UNCERTAIN):
            task.todo.clear()

    def _extend(self, task: Task) -> None:
        if task.line.policy[0] == "apt":
            call = self._on(task, "budget")
            if call.outcome == "promised" and call.answer < 2 * task.line.budget:
                self._on(task, "extend", budget=call.answer + self._random.randint(1, 10), **self._request())

    def _retire(self, task: Task) -> None:
        option = self._random.choice(OPTIONS[4:])  # half of them stay in any case
        self._on(task, "retire", option=option, why=f"retired by {next(self._ids)}", **self._request())

    def _look(self, task: Task) -> None:
        kinds = {"used": 10, "budget": 5, "done": 5, "progress": 5, "status": 3, "result": 2, "measurements": 1}
        self._on(task, self._random.choices(list(kinds), list(kinds.values()))[0])

    # The life before, and the end of this one.

    def _finish_for_predecessor(self) -> None:
        """A call that a kill has interrupted is often made again by whoever comes next, if it had a request."""
        if self.life.number == 0 or not self.life.predecessor.exists():
            return
        for call in read_life(self.life.predecessor)[-3:]:
            if call.outcome in UNCERTAIN and call.kind in WRITING and call.request and self._random.random() < 0.8:
                _, study = self._caller.open(call.study)
                if study is not None and token_of(study) == call.token:
                    self._again(study, call)

    def _give_everything_back(self) -> None:
        """In all studies: names of workers are used by several lives."""
        for _ in range(20):
            names = self._caller.names()
            if names is not None:
                break
        for name in names or ():
            for _ in range(20):
                task = Task(line_of(name), self._caller.open(name)[1])
                if task.study is not None and self._on(task, "release", numbers=[]).outcome in ("promised", "gone"):
                    break
