"""``simulate``: many runs of policies on a bandit, counted."""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from typing import Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import IntArray, check_choice, check_integer, check_workers
from paretopick._progress import check_progress, progress_line
from paretopick._texts import number_of
from paretopick._words import short
from paretopick.bandits import Bandit, Seed
from paretopick.errors import InvalidInput, SimulationInterrupted
from paretopick.policies import OwnPolicyGiven, PolicyGiven
from paretopick.simulation.common_draws import seed_of
from paretopick.simulation.compiled import CompiledRunner, grain, why_no_kernel
from paretopick.simulation.executors import Carried, Cluster, carried, check_sendable, losses_explained, opened
from paretopick.simulation.known import check_known
from paretopick.simulation.reference import ReferenceRunner
from paretopick.simulation.results import ErrorCurve, Span
from paretopick.simulation.tasks import Task, check_budgets, make_task, n_tallies
from paretopick.simulation.truths import check_truths
from paretopick.theory.margins import Limits, Margins

log = logging.getLogger("paretopick")

Engine: TypeAlias = Literal["auto", "compiled", "reference"]
Progress: TypeAlias = Callable[[int, int], None]

PIECE_SECONDS = 0.25
"""About how long a piece of work takes: the delay of progress, and what Ctrl-C can lose per worker."""

LARGEST_PIECE = 1 << 16
"""Runs in a piece at most, whose answers are held in memory together."""

MAX_RUNS = 1_000_000
"""Where ``runs="until:..."`` ends if the target is not met, unless told otherwise."""


class _Options(TypedDict, total=False):
    """The keywords of ``simulate``."""

    budgets: int | Iterable[int] | None
    runs: int | str
    max_runs: int | None
    rng: Seed
    workers: int | None
    executor: Executor | str | None
    start: int
    scale: ArrayLike | None
    truths: ArrayLike | None
    known: Sequence[ArrayLike | None] | None
    hypervolume: bool
    by_arm: bool
    margins: Margins
    limits: Limits
    ladder: Sequence[Margins]
    engine: Engine
    progress: Callable[[int, int], None] | bool | None


MOST_RUNS = 1 << 32
"""More could not be counted: hypervolumes are summed in billionths."""


@overload
def simulate(bandit: Bandit, policy: PolicyGiven, /, **options: Unpack[_Options]) -> ErrorCurve: ...


@overload  # one by one, since mypy reads ("apt", {"batch": 8}) well only if a single kind of pair is expected
def simulate(bandit: Bandit, policy: OwnPolicyGiven, /, **options: Unpack[_Options]) -> ErrorCurve: ...


@overload
def simulate(bandit: Bandit, policy: list[PolicyGiven], /, **options: Unpack[_Options]) -> list[ErrorCurve]: ...


@overload
def simulate(bandit: Bandit, policy: list[PolicyGiven | OwnPolicyGiven], /, **options: Unpack[_Options]) -> list[ErrorCurve]: ...


def simulate(
    bandit: Bandit,
    policy: PolicyGiven | OwnPolicyGiven | list[PolicyGiven] | list[PolicyGiven | OwnPolicyGiven],
    /,
    *,
    budgets: int | Iterable[int] | None = None,
    runs: int | str = 1000,
    max_runs: int | None = None,
    rng: Seed = None,
    workers: int | None = None,
    executor: Executor | str | None = None,
    start: int = 0,
    scale: ArrayLike | None = None,
    truths: ArrayLike | None = None,
    known: Sequence[ArrayLike | None] | None = None,
    hypervolume: bool = True,
    by_arm: bool = False,
    margins: Margins = None,
    limits: Limits = None,
    ladder: Sequence[Margins] = (),
    engine: Engine = "auto",
    progress: Callable[[int, int], None] | bool | None = None,
) -> ErrorCurve | list[ErrorCurve]:
    """Returns how often a policy errs on a bandit, at one budget or several; of a list of policies, a list.

    Runs are numbered, and run r of a seed is the same whatever the budgets, the number of runs, and how the work is shared out:
    the first 1,000 of 4,000 runs are those of a call with 1,000. Policies see common random numbers where ``draws`` of their
    curves agree: pull n of each arm in run r is the same for all that choose pull by pull and for all that run in the reference
    engine; compiled EGE and ``uniform`` draw the pulls of an arm in a round as one sum.

    Args:
        bandit: what is pulled.
        policy: a name, or (name, options), or a list of such. A policy that needs the ``complexity`` is given
            the bandit's, unless the options say otherwise. Or one of your own: a subclass of ``Policy``, or a function that
            returns a policy, of the keywords n_arms, n_objectives and budget, and of rng if it throws dice (a Generator for every
            run); or (class or function, options). Such policies run in the reference engine.
        budgets: one or several; by default the bandit's own.
        runs: at each budget. Or ``"until:0.1"`` (or ``"until:10%"``): as many as it takes for the half-width of the 95%
            interval of every error rate to be no more than that part of the rate.
        max_runs: where ``"until:..."`` gives up, by default 1,000,000; a rate without any error never gets there.
        rng: an int, SeedSequence or Generator, as NumPy's functions take it; None draws a fresh seed, which the result keeps.
        workers: threads, by default one for each core. Without a kernel (see ``engine``) processes, by default one, this one;
            where processes are not forked, everywhere from Python 3.14 on, a script that asks for several needs
            ``if __name__ == "__main__":``.
        executor: instead of workers, any ``concurrent.futures.Executor``: a pool of processes, or that of a cluster. Or the
            address of a cluster: "dask://HOST:PORT", "ray" or "ray://HOST:PORT". It gets ``workers`` pieces of work at a time, by
            default twice the number of cores, of the cluster or here. What is said of processes under ``workers``
            holds for it too.
        start: the number of the first run; ``simulate(..., start=1000)`` continues a curve of 1,000 runs, and ``+`` joins them.
        scale: what each objective is divided by before the policy sees it: one number, or one per objective. Answers are
            judged by the true means all the same. 0 says that an objective is without noise: the policy is told the means of
            it, and that a difference in it is beyond doubt (``Policy.rescale``).
        truths: means of their own for every run, ``(n_truths, n_arms, n_objectives)``, for problems whose means are uncertain:
            run number r, counted from ``start`` on, pulls arms with the means ``truths[r]`` and the bandit's noise, and its
            answer is judged by their Pareto set. The hypervolume fraction is then undefined, and a policy that takes
            ``complexity`` is given that of the bandit's own means. Curves add up if their truths are the same array: for more
            runs, say ``start``.
        known: data that exist already, from which all runs start: ``(counts, sums)`` or ``(counts, sums, squares)``, the pulls of
            each arm, the sums of what they gave, and for policies that keep them the sums of squared deviations from the means,
            both ``(n_arms, n_objectives)`` and in the units of the bandit. Budgets count all pulls, these included. For policies
            that can ``begin`` with data. Curves add up if what was known is the same.
        hypervolume: whether to compute the hypervolume fraction, which takes long for large fronts in many objectives.
        by_arm: whether to count the pulls of every arm, and how often it was wrongly in the answer or out of it
            (``pulls_by_arm`` and ``wrong_by_arm`` of the curve); compiled for policies that need no rounds.
        margins: the smallest difference that matters in each objective, in the units of the bandit: one number, or one per
            objective, 0 or more, and None for an objective in which arms are not compared. If margins or limits are given,
            answers that are not right within them (``right_within_margins``) are counted beside the errors, as ``errors_within``,
            and policies that regard margins (``knows_margins``) are told both. Without, ``errors_within`` are the ``errors``.
        limits: the least that an arm must have, one per objective, and None where there is no limit; larger is better, so negate
            what must be at most so much. ``errors`` are then about the Pareto set of the arms that keep all limits, in the
            objectives in which arms are compared, and the hypervolume fraction is undefined. Policies that know no limits are
            run as they are, and judged by the same measure.
        ladder: other margins, each as ``margins``, under which the same answers are counted (``errors_on_ladder`` of the curve);
            policies are not told them. For whoever wants to know which margins a budget resolves.
        engine: "compiled", or "reference", which goes through ask and tell pull by pull; "auto" is compiled where policy and
            noise have a kernel, which policies and noise of your own and ``Resampled`` have not.
        progress: by default a line on a terminal or in a notebook, if it takes longer than two seconds; False for none, True for
            one from the start; or a function, called with (runs done, runs in all) as they are finished.

    Raises:
        ExecutorFailed: if processes or a cluster cannot be reached or were lost.
        SimulationInterrupted: on Ctrl-C; its ``partial`` is the curve of what was finished, or for a list those of all begun.

    >>> from paretopick.instances import instance
    >>> curve = simulate(instance("unique-dominator"), "ege-sr", budgets=[100, 2000], runs=1000, rng=0)
    >>> curve.runs, curve.errors.tolist()
    (1000, [795, 251])
    """
    specs = policy if isinstance(policy, list) else [policy]
    if not specs:
        raise InvalidInput("policy=[] names no policy; write for instance ['ege-sr', 'uniform'].")
    T = check_budgets(budgets, bandit)
    drawn = check_truths(truths, bandit)
    data = check_known(known, bandit)
    tasks = [
        make_task(
            bandit,
            spec,
            budgets=T,
            scale=scale,
            hypervolume=hypervolume,
            truths=drawn,
            known=data,
            by_arm=by_arm,
            margins=margins,
            limits=limits,
            ladder=ladder,
        )
        for spec in specs
    ]
    goal = _Goal(runs, max_runs)
    first = check_integer(start, "start", minimum=0, maximum=2**62)
    if drawn is not None:
        drawn.check_enough(runs, first)
    if max(T) * goal.most >= 2**63:
        raise InvalidInput(f"{goal.most} runs of {max(T)} pulls are more pulls than can be counted; make fewer.")
    if workers is not None:
        check_workers(workers)
    check_choice(engine, ("auto", "compiled", "reference"), "engine")
    engines = [_engine(task, engine) for task in tasks]
    _say_if_mixed(tasks, engines)
    seed = seed_of(rng)
    curves: list[ErrorCurve] = []
    with opened(executor) as pool, _telling(progress) as tell:
        for task, name in zip(tasks, engines, strict=True):
            total = task.curve(name, np.zeros((len(task.budgets), n_tallies(task)), dtype=np.int64), ())
            try:
                while (aim := goal.expected(total)) > total.runs:
                    pieces = _Pieces(seed, first + total.runs, first + aim, grain=grain(task) if name == "compiled" else 1)
                    with contextlib.closing(_shared_out(task, name, pieces, workers, pool)) as finished:
                        for span, tallies in finished:
                            total += task.curve(name, tallies, (span,))
                            tell(*goal.progress([*curves, total], aim, len(tasks)))
            except KeyboardInterrupt:
                begun = [*curves, total] if total.runs else curves
                partial = (begun or None) if isinstance(policy, list) else (total if total.runs else None)
                raise SimulationInterrupted(partial) from None
            curves.append(total)
            goal.say_if_missed(total)
    return curves if isinstance(policy, list) else curves[0]


@contextlib.contextmanager
def _telling(progress: Progress | bool | None) -> Generator[Progress]:
    """What is told of the runs that are done: a function of the caller, or a line."""
    if callable(progress):
        yield progress
        return
    with progress_line(check_progress(progress)) as line:
        yield lambda done, of: line.show(done, of, f"{done:,} of {of:,} runs")


def _engine(task: Task, wanted: Engine) -> str:
    if wanted == "reference":
        return wanted
    lack = why_no_kernel(task)
    if lack is None:
        return "compiled"
    if wanted == "compiled":
        raise InvalidInput(f'{lack}; say engine="reference", or leave engine= out.')
    if task.choice.own is None:  # whose policy it is knows that
        log.warning("%s: it runs in the reference engine, pull by pull", lack)
    return "reference"


def _say_if_mixed(tasks: Sequence[Task], engines: Sequence[str]) -> None:
    """Says so if policies that were asked for together see different random numbers where they could see the same."""
    by_round, by_pull = (
        [task.choice.label for task, engine in zip(tasks, engines, strict=True) if task.draws(engine) == draws]
        for draws in ("rounds", "pulls")
    )
    if by_round and by_pull and "reference" in engines:
        log.warning(
            "%s: pulls of a round are drawn as one sum, and for %s pull by pull, so these see different random numbers; to "
            'compare them on the same ones, say engine="reference"',
            ", ".join(by_round),
            ", ".join(by_pull),
        )


def check_goal(runs: int | str, max_runs: int | None) -> None:
    """Refuses what ``simulate`` does not take as ``runs`` and ``max_runs``."""
    _Goal(runs, max_runs)


class _Goal:
    """How many runs are wanted, as a function of what has been counted: the same for any number of workers."""

    def __init__(self, runs: int | str, max_runs: int | None) -> None:
        self._precision: float | None = None
        if isinstance(runs, str):
            kind, _, text = runs.partition(":")
            number = text.removesuffix("%")
            try:
                self._precision = number_of(number) / (100 if text.endswith("%") else 1)
            except ValueError:
                self._precision = math.nan
            if kind != "until" or not 0 < self._precision < math.inf:
                raise InvalidInput(
                    f'runs={short(runs)} is neither a number of runs nor a precision, such as "until:0.1" or "until:10%".'
                )
            self.most = MAX_RUNS if max_runs is None else check_integer(max_runs, "max_runs", minimum=1, maximum=MOST_RUNS)
        else:
            if max_runs is not None:
                raise InvalidInput(f'max_runs={short(max_runs)} goes with runs="until:...", and runs={short(runs)} is a number.')
            self.most = check_integer(runs, "runs", minimum=1, maximum=MOST_RUNS)

    def expected(self, curve: ErrorCurve) -> int:
        """How many runs to make in all before looking again; as many as there are when it is enough."""
        if self._precision is None:
            return self.most
        if curve.runs == 0:
            return min(1000, self.most)
        worst = float(curve.precision().max())
        if worst <= self._precision or curve.runs >= self.most:
            return curve.runs
        # The width of an interval falls like one over the square root; a rate that has not shown yet asks for four times as many.
        factor = min(4.0, 1.05 * (worst / self._precision) ** 2)
        return min(math.ceil(curve.runs * max(factor, 1.05)), self.most)

    def progress(self, curves: list[ErrorCurve], aim: int, n_curves: int) -> tuple[int, int]:
        """How many runs are done, and how many it looks like in all for so many curves, of which the last has an aim for now."""
        runs = [curve.runs for curve in curves]
        to_come = max([aim, *runs[:-1]]) * (n_curves - len(curves))
        return sum(runs), sum(runs[:-1]) + aim + to_come

    def say_if_missed(self, curve: ErrorCurve) -> None:
        """Says that the target was not met, if it was not."""
        if self._precision is None:
            return
        reached = curve.precision()
        if (worst := float(reached.max())) > self._precision:
            budget = curve.budgets[int(reached.argmax())]
            how = f"has a half-width of {worst:.2%} of the rate" if math.isfinite(worst) else "has seen no error"
            log.warning(
                "%s on %s stopped after %s runs: the interval at budget %s %s, and %s was asked for; raise max_runs",
                curve.policy,
                curve.instance,
                curve.runs,
                budget,
                how,
                f"{self._precision:.2%}",
            )


class _Pieces:
    """The runs cut into pieces, each about as long as ``PIECE_SECONDS``; where the cuts are does not change the result.

    Pieces are multiples of ``grain``, the number of runs that are made at once.
    """

    def __init__(self, seed: tuple[int, ...], first: int, last: int, *, grain: int) -> None:
        self._seed, self._next, self._last, self._grain = seed, first, last, grain
        self._size = grain

    def take(self) -> Span | None:
        """The next piece, None when all are taken."""
        if self._next == self._last:
            return None
        span = Span(self._seed, self._next, min(self._next + self._size, self._last))
        self._next = span.last
        return span

    def learn(self, runs: int, seconds: float) -> None:
        """Sizes the pieces to come by how long one took."""
        wanted = min(16 * runs, int(runs * PIECE_SECONDS / max(seconds, 1e-9)), LARGEST_PIECE)
        self._size = max(1, wanted // self._grain) * self._grain


# How the pieces are shared out: each way yields spans with their totals, in any order.

Finished: TypeAlias = Generator[tuple[Span, IntArray]]


def _shared_out(task: Task, engine: str, pieces: _Pieces, workers: int | None, executor: Executor | None) -> Finished:
    if executor is not None:
        size = executor.size if isinstance(executor, Cluster) else cores()
        return _submitted(task, engine, pieces, executor, workers or 2 * size)
    n = (cores() if engine == "compiled" else 1) if workers is None else workers
    if n == 1:
        return _in_turn(task, engine, pieces)
    return _in_threads(task, engine, pieces, n) if engine == "compiled" else _in_processes(task, engine, pieces, n)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_turn(task: Task, engine: str, pieces: _Pieces) -> Finished:
    while (span := pieces.take()) is not None:
        tallies, seconds = run_piece(task, engine, span)
        pieces.learn(span.last - span.first, seconds)
        yield span, tallies


def _in_threads(task: Task, engine: str, pieces: _Pieces, workers: int) -> Finished:
    _runner(task, engine)  # compiled once, here
    with ThreadPoolExecutor(workers) as pool:
        yield from _submitted(task, engine, pieces, pool, workers + 1)


def _in_processes(task: Task, engine: str, pieces: _Pieces, workers: int) -> Finished:
    pool = ProcessPoolExecutor(workers, initializer=_start_worker)
    try:
        yield from _submitted(task, engine, pieces, pool, workers + 1)
    except BaseException:
        _kill_workers(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _submitted(task: Task, engine: str, pieces: _Pieces, executor: Executor, most: int) -> Finished:
    """Keeps so many pieces with an executor until all are finished; those not begun are called back if this is ended."""
    waiting: dict[Future[tuple[IntArray, float]], Span] = {}
    check_sendable(executor, task, task.policy)
    sent = carried(executor, task, (task.choice.own, type(task.bandit.noise)))
    try:
        while True:
            with losses_explained(task.policy):
                while len(waiting) < most and (span := pieces.take()) is not None:
                    waiting[executor.submit(run_piece, sent, engine, span)] = span
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                span = waiting.pop(future)
                with losses_explained(task.policy):
                    tallies, seconds = future.result()
                pieces.learn(span.last - span.first, seconds)
                yield span, tallies
    finally:
        for future in waiting:
            future.cancel()


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends the workers in the middle of what they do: a run of a slow policy may take minutes, and Ctrl-C should not."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):  # Python 3.14 has terminate_workers() for this
        process.terminate()


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends the workers
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """Ends a worker whose main process was killed; it would wait for work for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


# What a worker does, whatever it is.


def run_piece(task: Task | Carried, engine: str, span: Span) -> tuple[IntArray, float]:
    """Returns the totals of a span of runs, and the seconds it took."""
    runner = _runner(task.unpacked() if isinstance(task, Carried) else task, engine)
    began = time.perf_counter()
    tallies = runner.span(span)
    return tallies, time.perf_counter() - began


class _Runner(Protocol):
    def span(self, span: Span) -> IntArray: ...


_runners: OrderedDict[tuple[str, str], _Runner] = OrderedDict()
"""The latest runners of this process, which have prepared tables and remember hypervolumes."""


def _runner(task: Task, engine: str) -> _Runner:
    key = (task.identity, engine)
    runner = _runners.get(key)
    if runner is None:
        runner = CompiledRunner(task) if engine == "compiled" else ReferenceRunner(task)
        _runners[key] = runner
        while len(_runners) > 4:
            _runners.popitem(last=False)
    return runner
