"""One database, its workers, and what is done to them."""

from __future__ import annotations

import heapq
import itertools
import json
import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from soak.calls import Life
from soak.worker import END, live_once
from support.proxies import Proxy
from support.servers import PostgresServer

OFTEN = 1.5
"""Seconds between two disturbances of a database, on average."""

READY = ["soak.worker", "psycopg", "alembic.command", "scipy.stats"]
"""What is loaded once, before workers are started, since each would take seconds for it."""


@dataclass(frozen=True)
class Plan:
    """What a soak is: how long, with how many workers, and how patient they are.

    Args:
        seconds: that it takes.
        workers: of each database.
        patience: seconds that they wait for a database.
        seed: of all that is chosen at random.
        margin: seconds that a busy machine may take for what takes no time.
    """

    seconds: float = 900.0
    workers: int = 8
    patience: float = 6.0
    seed: int = 1
    margin: float = 5.0


@dataclass
class Slot:
    """A place that a worker has: whoever dies is replaced by another life."""

    life: Life
    process: BaseProcess
    stopped: float | None = None
    """Since when."""


class Trial:
    """Workers on one database; ``tick`` is called all the time, and disturbs them.

    Args:
        kind: "sqlite" or "postgresql".
        folder: for the ledger, and the database if it is a file.
        plan: what the soak is.
    """

    def __init__(self, kind: str, folder: Path, plan: Plan) -> None:
        self.kind = kind
        self.ledger = folder / kind
        self.ledger.mkdir(parents=True)
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.stops: list[tuple[int, float, float]] = []
        """Which process was stopped, from when until when."""
        self._plan = plan
        self._random = random.Random(f"{plan.seed} {kind}")
        self._luck = random.Random(f"{plan.seed} {kind} messages")
        """Of messages, in the order in which they come, which nothing else must depend on."""
        self._chance = self._chance_of_commits = 0.002
        self._silent_until = 0.0
        """Until when the network is down after an answer was lost, so that nobody can find out at once what became of it."""
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._next = time.monotonic() + 2.0
        self._restart: threading.Thread | None = None
        self._server: PostgresServer | None = None
        self._proxy: Proxy | None = None
        self.url = through_proxy = f"sqlite:///{folder / 'studies.db'}"
        if kind == "postgresql":
            self._server = PostgresServer(tcp=True)
            self._proxy = Proxy(self._server.port)
            self._proxy.loses = self._loses
            self.url = self._server.new_database()
            options = self.url.partition("&options=")[2]
            through_proxy = f"postgresql://postgres@127.0.0.1:{self._proxy.port}/postgres?options={options}"
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(READY)
        until = time.monotonic() + plan.seconds + 60  # if nobody is there to end them
        self.slots = [
            self._start(Life(through_proxy, self.ledger, plan.seed, slot, 0, f"w{slot}", plan.patience, until))
            for slot in range(plan.workers)
        ]

    def _start(self, life: Life) -> Slot:
        process = self._context.Process(target=live_once, args=(life,), daemon=True)
        process.start()
        return Slot(life, process)

    def tick(self) -> None:
        """Does what is due."""
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            heapq.heappop(self._later)[2]()
        for slot in self.slots:
            if not slot.process.is_alive():
                self.faults.append(self._last_words(slot))
                self._replace(slot)
        if now >= self._next:
            self._disturb()
            self._next = now + self._random.expovariate(1 / OFTEN)

    def _last_words(self, slot: Slot) -> str:
        said = slot.life.errors.read_text()[-2000:] if slot.life.errors.exists() else ""
        return f"worker {slot.life.name} ended by itself with code {slot.process.exitcode}: {said}"

    def _disturb(self) -> None:
        acts: dict[Callable[[], None], float] = {self._kill: 6, self._stop: 2}
        if self._proxy is not None:
            acts |= {self._cut: 3, self._many_cuts: 1.5, self._lose_commits: 3}
            acts |= {self._black_hole: 0.5, self._delay: 1, self._kill_server: 0.7}
        self._random.choices(list(acts), list(acts.values()))[0]()

    def _at(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._order), act))

    # Workers.

    def _kill(self) -> None:
        slot = self._random.choice(self.slots)
        slot.process.kill()
        slot.process.join()
        self.counts["workers killed"] += 1
        self._replace(slot)

    def _replace(self, slot: Slot) -> None:
        self._go_on(slot)
        life = replace(slot.life, number=slot.life.number + 1)
        if self._random.random() < 0.2:  # what the one before had is left to others
            life = replace(life, worker=f"{life.name}")
        new = self._start(life)
        slot.life, slot.process = new.life, new.process

    def _stop(self) -> None:
        slot = self._random.choice(self.slots)
        if slot.stopped is None and slot.process.is_alive():
            os.kill(slot.process.pid, signal.SIGSTOP)
            slot.stopped = time.monotonic()
            self.counts["workers stopped for a while"] += 1
            process = slot.process
            self._at(self._random.uniform(0.2, 1.3 * self._plan.patience), lambda: self._go_on(slot, process))

    def _go_on(self, slot: Slot, process: BaseProcess | None = None) -> None:
        """Lets a stopped worker go on, unless it is another one by now."""
        if slot.stopped is not None and process in (None, slot.process):
            self.stops.append((slot.process.pid, slot.stopped, time.monotonic()))
            slot.stopped = None
            if slot.process.is_alive():
                os.kill(slot.process.pid, signal.SIGCONT)

    # The server and the network.

    def _kill_server(self) -> None:
        if self._restart is None or not self._restart.is_alive():
            self.counts["servers killed"] += 1
            self._restart = threading.Thread(target=self._stop_and_start, args=(self._random.uniform(0, 3),))
            self._restart.start()

    def _stop_and_start(self, pause: float) -> None:
        self._server.stop()
        time.sleep(pause)
        self._server.start()

    def _cut(self) -> None:
        self.counts["connections cut at once"] += self._proxy.cut()

    def _many_cuts(self) -> None:
        """For a while, connections break off at any message."""
        self._chance = self._random.choice([0.05, 0.3])
        self._at(self._random.uniform(0.5, 3), self._few_cuts)

    def _lose_commits(self) -> None:
        """For a while, many commits are carried out and not answered, and then nothing comes through for a moment."""
        self._chance_of_commits = 0.3
        self._at(self._random.uniform(1, 4), self._few_cuts)

    def _few_cuts(self) -> None:
        self._chance = self._chance_of_commits = 0.002

    def _loses(self, said: bytes, by_server: bool) -> bool:
        """Whether a message is lost with its connection; called by threads of the proxy."""
        if time.monotonic() < self._silent_until:
            return True
        if by_server and b"COMMIT" in said and self._luck.random() < self._chance_of_commits:
            self._silent_until = time.monotonic() + self._luck.choice([0.0, 0.1, 0.7])
            self.counts["answers to commits lost"] += 1
            return True
        if self._luck.random() < self._chance:
            self.counts["connections cut in an answer" if by_server else "connections cut in a question"] += 1
            return True
        return False

    def _black_hole(self) -> None:
        if not self._proxy.swallowing:
            self.counts["black holes"] += 1
            self._proxy.swallow()
            self._at(self._random.choice([0.2, 0.5, 1.2, 2.5]) * self._plan.patience, self._end_black_hole)

    def _end_black_hole(self) -> None:
        if self._random.random() < 0.5:
            self._proxy.forward()
        else:
            self._proxy.swallowing = False  # whatever was on its way arrives late

    def _delay(self) -> None:
        self.counts["times of long delays"] += 1
        self._proxy.delay = self._random.uniform(0.01, 0.15)
        self._at(self._random.uniform(1, 4), self._end_delay)

    def _end_delay(self) -> None:
        self._proxy.delay = 0.0

    # The end.

    def calm(self) -> None:
        """Everything works again, and workers are asked to end."""
        if self._proxy is not None:
            self._chance = self._chance_of_commits = self._silent_until = 0.0
            self._proxy.delay = 0.0
            if self._proxy.swallowing:
                self._proxy.forward()
        if self._restart is not None:
            self._restart.join()
        (self.ledger / END).touch()
        for slot in self.slots:
            self._go_on(slot)

    def finish(self) -> set[str]:
        """Waits for the workers, and returns the names of those that had no time to give back what they had."""
        until = time.monotonic() + 120
        for slot in self.slots:
            slot.process.join(max(until - time.monotonic(), 0.1))
            if slot.process.is_alive():
                self.faults.append(f"worker {slot.life.name} did not end within 120 s.")
                slot.process.kill()
                slot.process.join()
            elif slot.process.exitcode != 0:
                self.faults.append(self._last_words(slot))
        names = {self._name_of(file) for file in self.ledger.glob("*.jsonl")}
        return names - {slot.life.worker for slot in self.slots}

    @staticmethod
    def _name_of(file: Path) -> str:
        first = file.read_text().partition("\n")[0]
        return json.loads(first)["worker"] if first.endswith("}") else ""

    def close(self) -> None:
        """Ends whatever is left."""
        for slot in self.slots:
            slot.process.kill()
        if self._restart is not None:
            self._restart.join()
        if self._proxy is not None:
            self._proxy.__exit__()
        if self._server is not None:
            self._server.remove()
