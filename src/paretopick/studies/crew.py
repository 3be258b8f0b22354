"""Those who measure for a study at the same time: they keep its leases, and tell what came out, or what went wrong."""

from __future__ import annotations

import secrets
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from typing import Any

from paretopick._words import counted
from paretopick.errors import AlreadyTold, InvalidInput, LogDamaged, MeasuringFailed, NotDue, StorageFailed, StudyGone
from paretopick.studies.executors import ProcessEach, Processes, ThreadEach
from paretopick.studies.interrupts import Inbox, Stopped
from paretopick.studies.measurement import Measurement
from paretopick.studies.study import Study
from paretopick.studies.timing import TOOK, Took
from paretopick.studies.told import Told, repeats_in

SHORT_LEASE = 30.0
"""Seconds that a measurement is promised to us; renewed while it runs, so that others wait no longer after a crash."""

RETRIES = 2
"""How often an option may fail again before we stop."""

FREE = 300
"""After so many measurements that have all cost nothing we say that they would never end."""

LONGEST_OUTAGE = 60.0
"""Seconds to go on trying when the database does not answer: what was measured may have been dear."""

Watch = Callable[[Study, str], None]
"""Called after every measurement, and while we wait; with a sentence if there is something to say, else an empty text."""


class Crew:
    """What is being measured right now, and what went wrong lately."""

    def __init__(
        self,
        study: Study,
        executor: Executor,
        name: str,
        *,
        retries: int,
        watch: Watch,
        until: float | None = None,
        timeout: float | None = None,
        by: str | None = None,
    ) -> None:
        self.study, self.executor, self.name, self.retries, self.watch = study, executor, name, retries, watch
        self.until = until
        """When nothing new is begun any more, by the clock that only goes forward; None for never."""
        self.timeout = timeout
        """Seconds after which a measurement has failed; None for never."""
        self.late: set[Future[Any]] = set()
        """What has failed so and cannot be stopped: it keeps its place in an executor of the user until it ends."""
        self.begun: dict[int, float] = {}
        """When measurements were begun, by their numbers, by that clock."""
        self.token = secrets.token_hex(8)
        """The start of the ids of what we tell, so that it counts once, however often it is repeated."""
        self.running: dict[Future[Any], Measurement] = {}
        self.failures: Counter[str] = Counter()
        self.careful = 0
        """So many measurements are made alone, to see which of those that ran together has killed the process."""
        self.beside: dict[Future[Any], int] = {}
        """What ran beside a measurement whose process was killed, and how many did: they break one after the other."""
        self.abandoned: set[Future[Any]] = set()
        """What was stopped before its end, and so has not failed."""
        self.rows: dict[Future[Any], list[Told]] = {}
        """What came out and is to be told; what was returned may not be there a second time."""
        self.by = by
        """The fingerprint of the function that measures."""
        self.kept = 0
        """How many were told."""
        self.beyond = 0
        """How many came out beside those that were asked for, and had no room in the budget."""
        self.outage = LONGEST_OUTAGE
        """Seconds to wait for the database."""
        self.trouble: MeasuringFailed | None = None
        self.said_so = False
        """Whether it was said that the time is over."""
        self.renewed = time.monotonic()
        self.inbox = Inbox()

    def work(self, start: Callable[[Measurement], Future[Any]], size: int, abandon: Callable[[], None] | None) -> None:
        """Keeps ``size`` measurements running until the study is done, or something is wrong with it."""
        try:
            self._work(start, size, abandon)
            self.inbox.check()
        except BaseException as problem:
            lost = self._give_back()
            if lost and isinstance(problem, StorageFailed):
                raise type(problem)(f"{problem} {lost}") from problem
            if lost:
                self._say(lost)
            raise

    def _work(self, start: Callable[[Measurement], Future[Any]], size: int, abandon: Callable[[], None] | None) -> None:
        pause = 0.02
        finishing: KeyboardInterrupt | None = None
        while True:
            try:
                self.inbox.check()
                is_over = self._is_over()
                if not (self.trouble or finishing or is_over):
                    self._start_more(start, size)
                if self.running:
                    pause = 0.02
                    self._collect()
                elif self.trouble or finishing or is_over or self._patiently(lambda: self.study.done):
                    break
                else:  # others are measuring what is left of this round, or of the budget
                    self._say(self._whom_we_wait_for() if pause == 0.64 else "")
                    self.inbox.wait(pause)
                    pause = min(2 * pause, 1.0)
            except (StudyGone, LogDamaged):
                self._abandon(abandon)
                raise
            except KeyboardInterrupt as interrupt:
                if abandon is None or finishing or isinstance(interrupt, Stopped):
                    self._abandon(abandon)
                    raise
                finishing = interrupt
                if self.running:
                    self._say(f"stopping: {len(self.running)} being measured, finished first; Ctrl-C again gives them back")
        if self.trouble or finishing:
            raise self.trouble or finishing  # type: ignore[misc]  # one of them is there

    def _is_over(self) -> bool:
        """Whether the time of this call is over; says so once if something is being measured."""
        if self.until is None or time.monotonic() < self.until:
            return False
        if self.running and not self.said_so:
            self._say(f"stopping: the time of this run is over; {len(self.running)} being measured, finished first")
        self.said_so = True
        return True

    def _start_more(self, start: Callable[[Measurement], Future[Any]], size: int) -> None:
        self.late = {future for future in self.late if not future.done()}
        size -= len(self.late)
        if self.careful:
            size = min(size, 1)
        if len(self.running) < size:
            numbers = {todo.number for todo in self.running.values()}
            todos = self._patiently(lambda: self.study.ask(size, worker=self.name, lease=SHORT_LEASE, shuffle=True))
            self.renewed = time.monotonic()
            for todo in todos:
                if todo.number not in numbers:
                    self.begun[todo.number] = time.monotonic()
                    future = start(todo)
                    self.running[future] = todo
                    future.add_done_callback(self.inbox.wake)

    def _collect(self) -> None:
        """Waits for the next measurement to end, and keeps what it brought; leases are renewed in the meantime."""
        together = len(self.running)
        self.inbox.wait(self._patience(), until=lambda: any(future.done() for future in self.running))
        for future in [future for future in self.running if future.done()]:
            try:
                self._keep(future, self.running[future], together)
            except StorageFailed:  # which says what was not kept
                del self.running[future]
                raise
            del self.running[future]
        self._stop_what_is_late()
        if self.running and time.monotonic() - self.renewed > SHORT_LEASE / 3:
            numbers = [todo.number for todo in self.running.values()]
            self._patiently(lambda: self.study.renew(*numbers, worker=self.name, lease=SHORT_LEASE))
            self.renewed = time.monotonic()

    def _patience(self) -> float:
        """Seconds until we look again at what is being measured: soon, or when the time of one of them is over."""
        if self.timeout is None:
            return SHORT_LEASE / 6
        ends = min(self.begun[todo.number] for todo in self.running.values()) + self.timeout
        return min(SHORT_LEASE / 6, max(ends - time.monotonic(), 0.0))

    def _stop_what_is_late(self) -> None:
        """Measurements that take too long have failed: processes are ended, threads go on, and what they bring is not used."""
        if self.timeout is None:
            return
        for future, todo in list(self.running.items()):
            if future.done() or time.monotonic() - self.begun[todo.number] < self.timeout:
                continue
            del self.running[future]
            if isinstance(self.executor, ProcessEach):
                self.executor.stop(future)
            elif not isinstance(self.executor, ThreadEach) and not future.cancel():
                self.late.add(future)
            self._failed(todo, MeasuringFailed(f"it took longer than timeout={self.timeout:g} s"))

    def _keep(self, future: Future[Any], todo: Measurement, together: int) -> None:
        """Tells what came out of a measurement, or that it failed; ``together`` were running at the same time."""
        problem = future.exception()
        if isinstance(problem, KeyboardInterrupt):
            raise problem
        together = 1 if isinstance(self.executor, ProcessEach) else max(together, self.beside.pop(future, 1))
        if isinstance(problem, BrokenExecutor) and together > 1:
            self.careful = together
            self.beside |= {other: together for other in self.running if other is not future}
            killed = f"its process was killed, by it or by one of {together - 1} others that were measured there"
            self._fail(todo, killed, "", problem)
            return
        self.careful = max(0, self.careful - 1)
        if problem is not None:
            self._failed(todo, problem)
            return
        what = f"measurement {todo.number} of {todo.option!r}"
        try:
            if future not in self.rows:
                self.rows[future] = self._told(future.result())
            rows = self.rows[future]
            request = f"{self.token}:{todo.number}:told"
            shown = ", ".join(str(told.row) for told in rows)
            kept = self._patiently(
                lambda: self.study.tell_repeats(todo.number, rows, worker=self.name, request=request), f"{what}, {shown}"
            )
        except AlreadyTold:
            self._say(f"{what} took so long that somebody else made it, too")
        except NotDue as late:
            self._say(str(late))
        except InvalidInput as refusal:
            self._failed(todo, refusal, again=False)
        else:
            self.failures[todo.option] = 0
            self.rows.pop(future, None)
            before, self.kept = self.kept, self.kept + kept
            self.beyond += len(rows) - kept
            self._say(self._without_end() if before < FREE <= self.kept else "")

    def _without_end(self) -> str:
        """What to say if all that was measured so far has cost nothing, where the budget is in a unit."""
        with suppress(StorageFailed):
            spent = self.study.spent
            if spent is not None and not spent.spent:
                return (
                    f"measuring without an end: {FREE} measurements have cost 0 {spent.unit}, and the budget is "
                    f"{self.study.budget}; say what they cost, stop with Ctrl-C, or limit the time"
                )
        return ""

    def _told(self, came_out: Any) -> list[Told]:
        """What came out of a call, a measurement or several.

        With the time that it took, shared by them, where that is its cost and it does not say otherwise.
        """
        definition = self.study.definition
        values, seconds = came_out if isinstance(came_out, Took) else (came_out, None)
        rows = [definition.told(each)._replace(by=self.by) for each in repeats_in(values, definition.goals)]
        if seconds is None or definition.costs is None or not definition.costs.is_elapsed:
            return rows
        return [told._replace(extra={definition.costs.name: seconds / len(rows), **told.extra}) for told in rows]

    def _cost(self, todo: Measurement, problem: BaseException | None) -> float | None:
        """What a measurement has cost that failed, where that is a time."""
        costs, elapsed = self.study.definition.costs, time.monotonic() - self.begun.get(todo.number, time.monotonic())
        return getattr(problem, TOOK, elapsed) if costs is not None and costs.by_the_clock else None

    def _failed(self, todo: Measurement, problem: BaseException, *, again: bool = True) -> None:
        """Notes a failure, and ends the run if it is one too many.

        What was measured and is refused is not measured again: the values that are left would be those that happen to be fine.
        """
        said = " ".join(str(problem).split())
        ours = isinstance(problem, MeasuringFailed | InvalidInput)
        why = said if ours else f"{type(problem).__name__}: {said}"
        output = getattr(problem, "output", None) or ("" if ours else "".join(traceback.format_exception(problem)))
        self.failures[todo.option] += 1
        self._fail(todo, why, output, problem)
        if (self.failures[todo.option] > self.retries or not again) and self.trouble is None:
            times, rest = self.failures[todo.option], "repair the cause and go on, allow more retries, or retire the option."
            happened = f"failed {times} times in a row, the last time"
            if not again:
                happened, rest = "gave what is refused", "repair the cause and go on, or retire the option."
            self.trouble = MeasuringFailed(
                f"option {todo.option!r} {happened}: {why.rstrip('.')}. The study {self.study.name!r} is intact: {rest}"
            )
            self.trouble.study, self.trouble.option, self.trouble.output = self.study, todo.option, output
            self.trouble.__cause__ = problem

    def _fail(self, todo: Measurement, why: str, output: str, problem: BaseException) -> None:
        request, cost = f"{self.token}:{todo.number}:failed", self._cost(todo, problem)
        try:
            self._patiently(
                lambda: self.study.fail(todo.number, why, output=output or None, cost=cost, worker=self.name, request=request),
                f"that {todo.option!r} failed",
            )
        except NotDue as late:
            self._say(str(late))
        self._say(f"measurement {todo.number} of {todo.option!r} failed: {why}")

    def _abandon(self, abandon: Callable[[], None] | None) -> None:
        """Stops what is being measured."""
        self.abandoned = {future for future in self.running if not future.done()}
        if abandon is not None:
            abandon()
        if isinstance(self.executor, Processes | ProcessEach):
            self.executor.kill()

    def _give_back(self) -> str:
        """Keeps what is finished and gives all the rest back, so that others need not wait for it; returns what was not kept."""
        self.outage, lost = 0.0, []
        for future, todo in self.running.items():
            if future.cancel() or future in self.abandoned or not future.done():
                continue
            if not isinstance(future.exception(), KeyboardInterrupt):
                try:
                    self._keep(future, todo, together=1)
                except StorageFailed:
                    what = ", ".join(str(told.row) for told in self.rows[future]) if future in self.rows else "which failed"
                    lost.append(f"measurement {todo.number} of {todo.option!r}, {what}")
        try:
            self.study.release(worker=self.name)
        except (StudyGone, LogDamaged):
            pass  # whoever hears of it has been told
        except StorageFailed as problem:
            self._say(f"{problem} What was reserved is free again in {SHORT_LEASE:.0f} s.")
        return f"Not kept: {'; '.join(lost)}." if lost else ""

    def _whom_we_wait_for(self) -> str:
        if self.late:
            return (
                f"waiting for {counted(len(self.late), 'call')} of measure that took longer than timeout={self.timeout:g} s: "
                "nobody can stop them in an executor that is not ours, and they keep their places"
            )
        with suppress(StorageFailed):
            out = self.study.status()["out"]
            workers = ", ".join(sorted({repr(lease["worker"]) for lease in out}))
            ends = [lease["seconds_left"] for lease in out]
            until = "without a limit" if None in ends else f"{max(ends, default=0):.0f} s at most"
            return (
                f"waiting for {counted(len(out), 'measurement')} with {workers}, {until}; who will not make them can release them"
            )
        return ""

    def _say(self, sentence: str) -> None:
        """Tells whoever watches; a database that does not answer them is no reason to stop, nor is a terminal that is gone."""
        with suppress(OSError):  # StorageFailed is one, too
            self.watch(self.study, sentence)

    def _patiently(self, act: Callable[[], Any], kept: str = "") -> Any:
        """Does something with the database, and goes on trying for a while if it does not answer; ``kept`` is what it keeps."""
        lost = f" Not kept: {kept}." if kept else ""
        until = time.monotonic() + self.outage
        pause = 0.1
        while True:
            try:
                return act()
            except (StudyGone, LogDamaged) as problem:  # waiting will not mend them
                raise type(problem)(f"{problem}{lost}") from problem
            except StorageFailed as problem:
                if time.monotonic() >= until:
                    raise StorageFailed(f"{problem}{lost}") from problem
                if pause == 0.1:
                    self._say(f"{problem} Trying again for {self.outage:.0f} s.")
                self.inbox.wait(pause)
                pause = min(2 * pause, 5.0)


def say_what_matters(_: Study, sentence: str) -> None:
    """For those who do not watch: how long is measured, whom we wait for, and what is lost; failures are in the study."""
    if sentence.startswith(("measuring", "stopping", "waiting", "Not kept")):
        print(sentence, file=sys.stderr, flush=True)
