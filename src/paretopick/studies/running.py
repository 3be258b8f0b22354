"""Measuring what a study asks for, with several workers, until it is done: ``run_study``, and ``identify`` in one call."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import replace
from typing import Any

from paretopick._arrays import check_integer, check_name, check_workers
from paretopick._words import counted
from paretopick.errors import AlreadyTold, InvalidInput, LogDamaged, MeasuringFailed, NotDue, StorageFailed, StudyGone
from paretopick.metrics import MetricsGiven
from paretopick.policies import DEFAULT_POLICY, PolicyGiven, policies_with
from paretopick.storage import StorageChoice, open_storage
from paretopick.studies.aims import Aim, Finest
from paretopick.studies.budgets import BudgetGiven, CostGiven, amount_of, seconds_of, unit_of
from paretopick.studies.definition import Definition, Scale, Told, define
from paretopick.studies.executors import Here, Processes, check_sendable, executor_of, takes_repeat
from paretopick.studies.interrupts import Inbox, Stopped
from paretopick.studies.measurement import Measurement
from paretopick.studies.result import ParetoResult
from paretopick.studies.standing import study_line
from paretopick.studies.study import Study
from paretopick.studies.timing import TOOK, Timed, Took

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


def identify(
    measure: Callable[[Any], Mapping[str, Any] | Iterable[Any]],
    options: Iterable[Any] | Mapping[str, Mapping[str, Any]],
    metrics: MetricsGiven,
    budget: BudgetGiven,
    *,
    workers: int | Executor = 1,
    processes: bool = False,
    retries: int = RETRIES,
    storage: StorageChoice = None,
    name: str | None = None,
    policy: PolicyGiven = DEFAULT_POLICY,
    scale: Scale = "noise",
    exact: Iterable[str] = (),
    cost: CostGiven | None = None,
    confidence: float | None = None,
    resolution: Finest | None = None,
    pairing: str | None = None,
    seconds: float | None = None,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> ParetoResult:
    """Returns which options are Pareto-optimal, measuring them as often as the budget allows.

    Args:
        measure: called with an option as it was given, of a mapping with its name; returns a mapping from metrics to values, or
            values in their order. What it raises is a failed measurement, which is made again. If it has a parameter
            ``repeat``, it is told which measurement of the option it is, from 0: to use question, split or seed n.
        options: names or numbers, a mapping from names to settings, or rows with an ``option``.
        metrics: name to "min" or "max", with what matters about it: ``{"seconds": "min~2%<=50", "errors": "<=0.01"}``; or a
            list of ``pp.Metric``, whose fields are described there.
        budget: the most measurements that count; or so much of a unit, ``("seconds", 1200)`` or ``("dollars", 5)``, as for
            ``Study.create``. Seconds are those that calls of ``measure`` take, all together.
        workers: how many measure at the same time, in threads; or an executor. Metrics that are times suffer from company.
        processes: use processes instead of threads.
        retries: how often an option may fail again in a row before ``MeasuringFailed`` is raised, with the study as ``.study``.
        storage: a database, as for ``Study.create``, in which the study is kept, so that the same call goes on after a crash; by
            default it is kept in memory.
        name: of the study in the database; "study" by default.
        policy: as for ``Study.create``, as are ``scale``, ``exact``, ``cost``, ``confidence``, ``resolution`` and ``pairing``.
        seconds: a limit of time for this call alone; see ``run_study``.
        watch: called with the study and a text after every measurement; the text says if something went wrong.
        progress: by default a line on a terminal or in a notebook, if it takes longer than two seconds and nobody watches; False
            for none, True for one from the start.

    Ctrl-C finishes what is being measured, so that nothing is lost, and the same call goes on if there is a storage; a second one
    gives up at once. In memory with one worker the function is called right here, and the first one ends it.

    >>> prices = {"a": 3.0, "b": 2.0, "c": 2.5}
    >>> quality = {"a": 9.0, "b": 5.0, "c": 4.0}
    >>> identify(lambda option: (quality[option], prices[option]), ["a", "b", "c"], {"quality": "max", "price": "min"}, 30).pareto
    ('a', 'b')
    """
    table = list(options) if isinstance(options, Iterator) else options  # which can be gone through once
    definition = define(
        options=table,
        metrics=metrics,
        budget=budget,
        policy=policy,
        scale=scale,
        exact=exact,
        cost=cost,
        confidence=confidence,
        resolution=resolution,
        pairing=pairing,
    )
    workers = workers if isinstance(workers, Executor) else check_workers(workers)
    study = create_or_open(name or "study", definition, "sqlite://" if storage is None else storage)
    originals: Iterable[Any] = definition.options if isinstance(options, Mapping) else table
    as_given = dict(zip(definition.options, originals, strict=True))
    if (newer := newer_aim(study, definition.aim)) is not None:
        given = definition.aim.until
        (watch or _say_what_matters)(study, f"measuring {newer.until}, as was said since, and not {given}, as was said before")
    alone = storage is None and workers == 1 and not processes
    return run_study(
        study,
        measure,
        workers=Here() if alone else workers,
        processes=processes,
        retries=retries,
        watch=watch,
        argument=lambda todo: as_given.get(todo.option, todo.option),
        abandon=lambda: None,
        seconds=seconds,
        progress=progress,
    )


def create_or_open(name: str, definition: Definition, storage: StorageChoice) -> Study:
    """Returns the study with this name: a new one, or the one that is there if it is about the same.

    Args:
        name: of the study.
        definition: what it is about. A study without rounds goes on with a budget that is larger than before, with options
            that it did not have, and until it is as sure as is said now; as was said since, if that was said before.
        storage: as for ``Study.create``.
    """
    database = open_storage(storage)
    check_name(name, "study")
    try:
        definition.check_columns()
    except InvalidInput:
        if name not in database.names():  # one that is older than these columns goes on
            raise
    stored = database.create(name, definition.to_dict())
    if stored is not None:
        return Study(database, stored)
    study = Study(database, database.find(name))
    if differences := differences_from(study, definition):
        planned = definition.budget != study.definition.budget and not _can_grow(study, definition)
        hint = (
            f" Rounds are planned for their budget, which only {' or '.join(policies_with('roundless'))} can extend; an export "
            "of the old study can be imported."
        )
        raise InvalidInput(
            f"there is another study named {name!r} in {database.shown}: {'; '.join(differences)}. "
            f"Choose another name, or delete the other one.{hint if planned else ''}"
        )
    for option, settings in zip(definition.options, definition.settings, strict=True):
        if option not in study.options:
            cost = definition.cost[option] if isinstance(definition.cost, Mapping) else None
            study.add_option(option, settings, cost=cost)
    if amount_of(definition.budget) > amount_of(study.budget):
        study.extend(budget=definition.budget)
    if definition.aim.to_dict() and newer_aim(study, definition.aim) is None:
        study.aim(**definition.aim.to_dict())
    return study


def newer_aim(study: Study, given: Aim) -> Aim | None:
    """Returns the aim of a study if another one that is given now was its aim before: what was said since stands."""
    *before, now = study.aims
    return now if not now.says(given) and any(aim.says(given) for aim in before) else None


def differences_from(study: Study, definition: Definition) -> list[str]:
    """Returns in words why a definition is not that of a study, and cannot become it: no words if it is."""
    wanted = definition
    if _can_grow(study, definition):
        wanted = _as_stored(definition, study.definition, study.options_at_first)
    return study.definition.differences(wanted)


def _can_grow(study: Study, definition: Definition) -> bool:
    return definition.choice.roundless and study.definition.choice.roundless


def _as_stored(given: Definition, stored: Definition, needed: Sequence[str]) -> Definition:
    """A definition with what a study without rounds can be given later as it is stored: budget, new options, and the batch."""
    batch = {key: value for key, value in stored.policy_options.items() if key == "batch"}
    choice = given.choice.with_default(**batch) if given.policy == stored.policy else given.choice
    wanted = replace(given, choice=choice)
    if unit_of(given.budget) == unit_of(stored.budget):
        wanted = replace(wanted, budget=stored.budget)
    rows = dict(zip(given.options, given.settings, strict=True))
    before = dict(zip(stored.options, stored.settings, strict=True))
    if set(needed) <= set(rows) and all(rows.get(option, settings) == settings for option, settings in before.items()):
        return replace(wanted, options=stored.options, settings=stored.settings, cost=_cost_as_stored(given, stored))
    return wanted


def _cost_as_stored(given: Definition, stored: Definition) -> CostGiven | None:
    """What is given as costs, of the options that are stored: by option, those that are not given are as they are stored."""
    if isinstance(given.cost, Mapping) and isinstance(stored.cost, Mapping):
        return {option: given.cost.get(option, cost) for option, cost in stored.cost.items()}
    return given.cost


def run_study(
    study: Study,
    measure: Callable[[Any], Mapping[str, Any] | Iterable[Any]],
    *,
    workers: int | Executor = 1,
    processes: bool = False,
    retries: int = RETRIES,
    worker: str | None = None,
    watch: Watch | None = None,
    argument: Callable[[Measurement], Any] = lambda todo: todo,
    abandon: Callable[[], None] | None = None,
    signals: Iterable[int] = (),
    seconds: float | None = None,
    progress: bool | None = None,
) -> ParetoResult:
    """Measures until a study is done, together with whoever else does, and returns its result.

    Args:
        study: to work on.
        measure: called with a ``Measurement``; returns values for ``Study.tell``. What it raises is kept with ``Study.fail``. If
            it has a parameter ``repeat``, it gets that of the measurement.
        workers: how many measure at the same time, in threads; or an executor.
        processes: use processes instead of threads.
        retries: how often an option may fail again in a row before ``MeasuringFailed`` is raised.
        worker: the name under which measurements are asked for; by default one that nobody else has.
        watch: called after every measurement.
        argument: makes what ``measure`` is called with.
        abandon: called on a second Ctrl-C, to stop what is being measured. With it, the first Ctrl-C lets that finish; without,
            it gives back what is not finished.
        signals: others that are like a second Ctrl-C, such as SIGTERM; ``KeyboardInterrupt`` then says which as ``.number``.
        seconds: a limit of time for this call alone: after it nothing new is measured, what is being measured is finished, and
            the result is that so far. The study stays open, and the next call goes on.
        progress: whether a line shows how far it is, as for ``identify``.
    """
    check_integer(retries, "retries", minimum=0)
    until = None if seconds is None else time.monotonic() + seconds_of(seconds, "seconds")
    if processes:
        check_sendable(measure)
    costs = study.definition.costs
    timed: Callable[..., Any] = Timed(measure) if costs is not None and costs.by_the_clock else measure
    wants_repeat = takes_repeat(measure)
    shown = study_line(study, False if progress is None and watch is not None else progress)
    with executor_of(workers, processes) as (executor, size), shown as show:

        def tell(study: Study, sentence: str) -> None:
            (watch or _say_what_matters)(study, sentence)
            if not sentence:  # which may be that the database does not answer: it is not asked now
                show()

        crew = _Crew(study, executor, worker or _own_name(), retries, tell, until)

        def start(todo: Measurement) -> Future[Any]:
            more: dict[str, Any] = {"repeat": todo.repeat} if wants_repeat else {}
            return executor.submit(timed, argument(todo), **more)

        here = isinstance(executor, Here)  # then Ctrl-C must reach what measures
        with crew.inbox.open([*([] if here else [signal.SIGINT]), *signals]):
            crew.work(start, size, abandon)
        study.reread()
        return study.result()


class _Crew:
    """What is being measured right now, and what went wrong lately."""

    def __init__(
        self, study: Study, executor: Executor, name: str, retries: int, watch: Watch, until: float | None = None
    ) -> None:
        self.study, self.executor, self.name, self.retries, self.watch = study, executor, name, retries, watch
        self.until = until
        """When nothing new is begun any more, by the clock that only goes forward; None for never."""
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
        self.rows: dict[Future[Any], Told] = {}
        """What came out and is to be told; what was returned may not be there a second time."""
        self.kept = 0
        """How many were told."""
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
        if self.careful:
            size = 1
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
        self.inbox.wait(SHORT_LEASE / 6, until=lambda: any(future.done() for future in self.running))
        for future in [future for future in self.running if future.done()]:
            try:
                self._keep(future, self.running[future], together)
            except StorageFailed:  # which says what was not kept
                del self.running[future]
                raise
            del self.running[future]
        if self.running and time.monotonic() - self.renewed > SHORT_LEASE / 3:
            numbers = [todo.number for todo in self.running.values()]
            self._patiently(lambda: self.study.renew(*numbers, worker=self.name, lease=SHORT_LEASE))
            self.renewed = time.monotonic()

    def _keep(self, future: Future[Any], todo: Measurement, together: int) -> None:
        """Tells what came out of a measurement, or that it failed; ``together`` were running at the same time."""
        problem = future.exception()
        if isinstance(problem, KeyboardInterrupt):
            raise problem
        together = max(together, self.beside.pop(future, 1))
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
            row = self.rows[future]
            request = f"{self.token}:{todo.number}:told"
            self._patiently(lambda: self.study.tell(todo.number, row, worker=self.name, request=request), f"{what}, {row.row}")
        except AlreadyTold:
            self._say(f"{what} took so long that somebody else made it, too")
        except NotDue as late:
            self._say(str(late))
        except InvalidInput as refusal:
            self._failed(todo, refusal, again=False)
        else:
            self.failures[todo.option] = 0
            self.rows.pop(future, None)
            self.kept += 1
            self._say(self._without_end() if self.kept == FREE else "")

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

    def _told(self, came_out: Any) -> Told:
        """What came out of a measurement, with the time that it took where that is its cost and it does not say otherwise."""
        definition = self.study.definition
        if not isinstance(came_out, Took):
            return definition.told(came_out)
        told = definition.told(came_out.values)
        if definition.costs is None or not definition.costs.is_elapsed:
            return told
        return told._replace(extra={definition.costs.name: came_out.seconds, **told.extra})

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
        if isinstance(self.executor, Processes):
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
                    what = self.rows[future].row if future in self.rows else "which failed"
                    lost.append(f"measurement {todo.number} of {todo.option!r}, {what}")
        try:
            self.study.release(worker=self.name)
        except (StudyGone, LogDamaged):
            pass  # whoever hears of it has been told
        except StorageFailed as problem:
            self._say(f"{problem} What was reserved is free again in {SHORT_LEASE:.0f} s.")
        return f"Not kept: {'; '.join(lost)}." if lost else ""

    def _whom_we_wait_for(self) -> str:
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


def _say_what_matters(_: Study, sentence: str) -> None:
    """For those who do not watch: how long is measured, whom we wait for, and what is lost; failures are in the study."""
    if sentence.startswith(("measuring", "stopping", "waiting", "Not kept")):
        print(sentence, file=sys.stderr, flush=True)


def _own_name() -> str:
    """The machine and the process, and something by which even their namesakes differ."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
