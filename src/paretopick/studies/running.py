"""Measuring what a study asks for, with several workers, until it is done: ``run_study``, and ``identify`` in one call."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any, Literal

from paretopick._arrays import check_integer, check_workers
from paretopick._progress import check_progress
from paretopick._words import counted, short
from paretopick.errors import InvalidInput
from paretopick.metrics import MetricsGiven, check_metrics, goals_of
from paretopick.policies import DEFAULT_POLICY, PolicyGiven
from paretopick.storage import StorageChoice
from paretopick.studies.budgets import BudgetGiven, CostGiven, seconds_of
from paretopick.studies.crew import RETRIES, Crew, say_what_matters
from paretopick.studies.definition import RESERVED, define
from paretopick.studies.executors import Here, check_sendable, executor_of, takes_repeat
from paretopick.studies.fingerprints import fingerprint, made_by_others
from paretopick.studies.measurement import Measurement
from paretopick.studies.named_options import named_options
from paretopick.studies.opening import IfExists, newer_aim, study_named
from paretopick.studies.result import ParetoResult
from paretopick.studies.standing import study_line
from paretopick.studies.study import Study
from paretopick.studies.timing import Timed
from paretopick.studies.workers import own_name


def identify(
    measure: Callable[[Any], Mapping[str, Any] | Iterable[Any]],
    options: Iterable[Any] | Mapping[Any, Any],
    metrics: MetricsGiven,
    budget: BudgetGiven,
    *,
    workers: int | Executor = 1,
    processes: bool = False,
    retries: int = RETRIES,
    timeout: float | None = None,
    storage: StorageChoice = None,
    name: str | None = None,
    if_exists: IfExists = "open",
    policy: PolicyGiven = DEFAULT_POLICY,
    scale: Literal["noise", "raw"] | Mapping[str, float] = "noise",
    exact: Iterable[str] = (),
    cost: CostGiven | None = None,
    confidence: float | None = None,
    resolution: float | Mapping[str, float | str] | None = None,
    pairing: str | None = None,
    baseline: Any = None,
    seconds: float | None = None,
    watch: Callable[[Study, str], None] | None = None,
    progress: bool | None = None,
) -> ParetoResult:
    """Returns which options are Pareto-optimal, measuring them as often as the budget allows.

    Args:
        measure: called with an option as it was given; returns a mapping from metrics to values, or values in their order. What
            else a mapping has, numbers and texts, is kept with the measurement. Arrays of n values, or an array ``(n, metrics)``,
            are n measurements at once, each of which counts. What it raises is a failed measurement, which is made again. A
            parameter ``repeat`` is told which measurement of the option it is, from 0: to use question, split or seed n.
        options: a list of anything, texts, numbers, functions or other objects; a mapping from names to what ``measure`` is
            called with; or a list of dicts, named by their settings, or by their ``option`` or ``name``.
        metrics: name to "min" or "max", with what matters about it: ``{"seconds": "min~2%<=50", "errors": "<=0.01"}``; or a
            list of ``pp.Metric``, whose fields are described there.
        budget: the most measurements that count; or so much of a unit, ``("seconds", 1200)`` or ``("dollars", 5)``, as for
            ``Study.create``. Seconds are those that calls of ``measure`` take, all together.
        workers: how many measure at the same time, in threads; or an executor. Metrics that are times suffer from company.
        processes: use processes instead of threads.
        retries: how often an option may fail again in a row before ``MeasuringFailed`` is raised, with the study as ``.study``.
        timeout: seconds after which a call of ``measure`` has failed; see ``run_study``.
        storage: a database, as for ``Study.create``, in which the study is kept, so that the same call goes on after a crash; by
            default it is kept in memory.
        name: of the study in the database; "study" by default.
        if_exists: where the database has a study of this name: "open" goes on with it, "replace" deletes it and begins anew,
            "error" refuses; as for ``Study.create``.
        policy: as for ``Study.create``, as are ``scale``, ``exact``, ``cost``, ``confidence``, ``resolution``, ``pairing``
            and ``baseline``.
        seconds: a limit of time for this call alone; see ``run_study``.
        watch: called with the study and a text after every measurement; the text says if something went wrong.
        progress: by default a line on a terminal or in a notebook, if it takes longer than two seconds and nobody watches; False
            for none, True for one from the start.

    Ctrl-C finishes what is being measured, so that nothing is lost, and the same call goes on if there is a storage; a second one
    gives up at once. In memory with one worker and without a timeout the function is called right here, and the first one ends
    it.

    >>> prices = {"a": 3.0, "b": 2.0, "c": 2.5}
    >>> quality = {"a": 9.0, "b": 5.0, "c": 4.0}
    >>> identify(lambda option: (quality[option], prices[option]), ["a", "b", "c"], {"quality": "max", "price": "min"}, 30).pareto
    ('a', 'b')
    >>> result = identify(lambda level: {"size": 10 - level, "time": level**2}, [1, 3, 9], {"size": "min", "time": "min"}, 30)
    >>> result.pareto, result.study.measurements()[0]["status"]
    ((1, 3, 9), 'told')
    """
    exact = tuple(exact) if isinstance(exact, Iterator) else exact  # which can be gone through once
    columns = {*RESERVED, *goals_of(check_metrics(metrics, exact=exact))}
    named = named_options(options, stored=storage is not None, taken=columns)
    definition = define(
        options=named.table,
        metrics=metrics,
        budget=budget,
        policy=policy,
        scale=scale,
        exact=exact,
        cost=cost,
        confidence=confidence,
        resolution=resolution,
        pairing=pairing,
        baseline=named.name(baseline),
    )
    workers = workers if isinstance(workers, Executor) else check_workers(workers)
    _check_run(measure, processes=processes, retries=retries, timeout=timeout, seconds=seconds, progress=progress)
    if processes:
        for option in named.measured.values():
            check_sendable(option)
    study = study_named(name or "study", definition, "sqlite://" if storage is None else storage, if_exists)
    if (newer := newer_aim(study, definition.aim)) is not None:
        given = definition.aim.until
        (watch or say_what_matters)(study, f"measuring {newer.until}, as was said since, and not {given}, as was said before")
    before = study.used
    alone = storage is None and workers == 1 and not processes and timeout is None
    try:
        result = run_study(
            study,
            measure,
            workers=Here() if alone else workers,
            processes=processes,
            retries=retries,
            timeout=timeout,
            watch=watch,
            argument=lambda todo: named.measured.get(todo.option, todo.option),
            abandon=lambda: None,
            seconds=seconds,
            progress=progress,
        )
    finally:
        study.close()  # it is opened again when somebody uses it
    notes = result.notes
    if before and result.done and result.used == before:
        made = f"all {counted(before, 'measurement')} were made before this call"
        notes = (f'{made}; if_exists="replace" measures again, and a larger budget goes on.', *notes)
    return replace(result, notes=notes, given=named.given)


def run_study(
    study: Study,
    measure: Callable[[Any], Mapping[str, Any] | Iterable[Any]],
    *,
    workers: int | Executor = 1,
    processes: bool = False,
    retries: int = RETRIES,
    worker: str | None = None,
    watch: Callable[[Study, str], None] | None = None,
    argument: Callable[[Measurement], Any] = lambda todo: todo,
    abandon: Callable[[], None] | None = None,
    signals: Iterable[int] = (),
    seconds: float | None = None,
    timeout: float | None = None,
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
        timeout: seconds after which a call of ``measure`` has failed, like one that raises. With ``processes=True`` its process
            is ended, with all that it has started. A thread cannot be: it goes on beside the others until ``measure`` comes back,
            and what it brings then is not used. In an executor of the user it keeps its place, too, until it ends.
        progress: whether a line shows how far it is, as for ``identify``.

    >>> values = {"a": (9.0, 3.0), "b": (5.0, 2.0), "c": (4.0, 2.5)}
    >>> metrics = {"quality": "max", "price": "min"}
    >>> study = Study.create("a", options=list(values), metrics=metrics, budget=30, storage="sqlite://")
    >>> run_study(study, lambda todo: values[todo.option]).pareto
    ('a', 'b')
    """
    _check_run(measure, processes=processes, retries=retries, timeout=timeout, seconds=seconds, progress=progress)
    timeout = None if timeout is None else seconds_of(timeout, "timeout")
    until = None if seconds is None else time.monotonic() + seconds_of(seconds, "seconds")
    costs = study.definition.costs
    timed: Callable[..., Any] = Timed(measure) if costs is not None and costs.by_the_clock else measure
    wants_repeat = takes_repeat(measure)
    shown = study_line(study, False if progress is None and watch is not None else progress)
    with executor_of(workers, processes, apart=timeout is not None) as (executor, size), shown as show:

        def tell(study: Study, sentence: str) -> None:
            (watch or say_what_matters)(study, sentence)
            if not sentence:  # which may be that the database does not answer: it is not asked now
                show()

        crew = Crew(
            study,
            executor,
            worker or own_name(),
            retries=retries,
            watch=tell,
            until=until,
            timeout=timeout,
            by=fingerprint(measure),
        )

        def start(todo: Measurement) -> Future[Any]:
            more: dict[str, Any] = {"repeat": todo.repeat} if wants_repeat else {}
            return executor.submit(timed, argument(todo), **more)

        here = isinstance(executor, Here)  # then Ctrl-C must reach what measures
        with crew.inbox.open([*([] if here else [signal.SIGINT]), *signals]):
            crew.work(start, size, abandon)
        study.reread()
        result = study.result()
        by_others = made_by_others(study, crew.by) if result.used > crew.kept else 0
        return replace(result, notes=(*result.notes, *_notes(result, crew.beyond, by_others)))


def _check_run(
    measure: Any, *, processes: bool, retries: int, timeout: float | None, seconds: float | None, progress: bool | None
) -> None:
    """Refuses what nothing can be measured with: before a study is made, or one is replaced."""
    if not callable(measure):
        raise InvalidInput(f"measure={short(measure)} cannot be called; give a function of an option that returns its values.")
    check_integer(retries, "retries", minimum=0)
    for name, given in (("timeout", timeout), ("seconds", seconds)):
        if given is not None:
            seconds_of(given, name)
    if processes:
        check_sendable(measure)
    check_progress(progress)


def _notes(result: ParetoResult, beyond: int, by_others: int) -> Iterator[str]:
    if beyond:
        yield f"{counted(beyond, 'measurement')} that came out at once with others had no room in the budget and were not used."
    if by_others:
        yield f"{by_others:,} of {counted(result.used, 'measurement')} were made by another version of measure."
