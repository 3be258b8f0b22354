"""Measuring what a study asks for, with several workers, until it is done: ``run_study``, and ``identify`` in one call."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from typing import Any

from paretopick._arrays import check_integer, check_workers
from paretopick.metrics import MetricsGiven
from paretopick.policies import DEFAULT_POLICY, PolicyGiven
from paretopick.storage import StorageChoice
from paretopick.studies.aims import Finest
from paretopick.studies.budgets import BudgetGiven, CostGiven, seconds_of
from paretopick.studies.crew import RETRIES, Crew, Watch, say_what_matters
from paretopick.studies.definition import Scale, define
from paretopick.studies.executors import Here, check_sendable, executor_of, takes_repeat
from paretopick.studies.measurement import Measurement
from paretopick.studies.opening import create_or_open, newer_aim
from paretopick.studies.result import ParetoResult
from paretopick.studies.study import Study
from paretopick.studies.timing import Timed
from paretopick.studies.workers import own_name


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
        (watch or say_what_matters)(study, f"measuring {newer.until}, as was said since, and not {given}, as was said before")
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
    )


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
    """
    check_integer(retries, "retries", minimum=0)
    until = None if seconds is None else time.monotonic() + seconds_of(seconds, "seconds")
    if processes:
        check_sendable(measure)
    costs = study.definition.costs
    timed: Callable[..., Any] = Timed(measure) if costs is not None and costs.by_the_clock else measure
    wants_repeat = takes_repeat(measure)
    with executor_of(workers, processes) as (executor, size):
        crew = Crew(study, executor, worker or own_name(), retries, watch or say_what_matters, until)

        def start(todo: Measurement) -> Future[Any]:
            more: dict[str, Any] = {"repeat": todo.repeat} if wants_repeat else {}
            return executor.submit(timed, argument(todo), **more)

        here = isinstance(executor, Here)  # then Ctrl-C must reach what measures
        with crew.inbox.open([*([] if here else [signal.SIGINT]), *signals]):
            crew.work(start, size, abandon)
        study.reread()
        return study.result()
