"""Study: options measured over days by many workers, in a database that no crash can confuse."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from paretopick._arrays import FloatArray, check_integer, check_name, check_real
from paretopick._html import paragraphs
from paretopick.errors import LogDamaged, MissingFile, NotReady
from paretopick.events import Event
from paretopick.metrics import MetricsGiven
from paretopick.policies import DEFAULT_POLICY, PolicyGiven
from paretopick.storage import Storage, StorageChoice, StoredStudy, is_named, open_storage
from paretopick.storage.contract import pages as pages_of
from paretopick.studies import pages
from paretopick.studies.aims import Aim
from paretopick.studies.amendments import Amendments
from paretopick.studies.answer import LEVEL, result_of
from paretopick.studies.budgets import Amount, Budget, BudgetGiven, CostGiven, Spent
from paretopick.studies.data import StudyData, data_of
from paretopick.studies.definition import Definition, define
from paretopick.studies.given import each_of, number_of
from paretopick.studies.leases import Leases
from paretopick.studies.live import LiveState
from paretopick.studies.outliers import FarOff, far_off, notes_of
from paretopick.studies.result import ParetoResult, PictureKind
from paretopick.studies.skewness import skewed
from paretopick.studies.state import State
from paretopick.studies.stopping import Looks
from paretopick.studies.suggested_pairing import suggested
from paretopick.studies.views import (
    StudyProgress,
    columns_of,
    exact_values,
    known_row,
    measured_frame,
    measurements,
    progress,
    status,
)

if TYPE_CHECKING:
    import pandas as pd

    from paretopick.estimates import Estimates
    from paretopick.studies.opening import IfExists

MANY = 1000
"""So many measurements are looked up one by one, and more of them by reading the log; results look through so many events for
values that are far off."""

MANY_EVENTS = 10_000
"""Results look through so many for a column whose blocks have much of the noise."""

FEW = 5
"""Values that are far off are named in a result up to so many."""


class Study(Leases, Amendments):
    """Options, metrics, a budget, and all that was measured so far.

    A loop in any number of processes::

        study = pp.Study.create("boosters", options=["a", "b", "c"], metrics={"response": "max", "price": "min"}, budget=300)
        while not study.done:
            for todo in study.ask(wait=60):
                study.tell(todo.number, measure(todo.option))
        print(study.result())

    Nothing is lost when a process dies: ``Study.open`` goes on from the database. An object may be shared by threads, and with
    ``if_exists="open"`` every process can run the same lines.
    """

    def __init__(self, storage: Storage, stored: StoredStudy) -> None:
        """Use ``Study.create`` or ``Study.open``."""
        self.name = stored.name
        try:
            definition = Definition.from_dict(stored.definition)
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            raise LogDamaged(f"the definition of study {stored.name!r} cannot be read ({problem!r}); restore a backup.") from None
        self._live = LiveState(storage, stored, definition)
        self._looks = Looks()
        self._handed_out: dict[int, set[str]] = {}
        self._suggested: tuple[int, str | None] | None = None
        """Which pairing would help, as of the position in the log."""
        with self._live.reading():
            pass  # so that a study which cannot be read is noticed at once

    def __repr__(self) -> str:
        state = self._state
        used = f"{state.used} of {state.budget} used" if state.spent is None else f"{state.used} made, {state.spent} spent"
        return f"<study {self.name!r}: {len(self.options)} options, {used}>"

    def __str__(self) -> str:
        return f"{repr(self)[1:-1]}\n{pages.page(self.result(), ahead=False)}"

    def _repr_html_(self) -> str:
        return f"{paragraphs([repr(self)[1:-1]])}{self.result().to_html(ahead=False)}"

    @classmethod
    def create(
        cls,
        name: str,
        *,
        options: Iterable[Any] | Mapping[str, Mapping[str, Any]],
        metrics: MetricsGiven,
        budget: BudgetGiven,
        policy: PolicyGiven = DEFAULT_POLICY,
        scale: Literal["noise", "raw"] | Mapping[str, float] = "noise",
        exact: Iterable[str] = (),
        cost: CostGiven | None = None,
        confidence: float | None = None,
        resolution: float | Mapping[str, float | str] | None = None,
        pairing: str | None = None,
        baseline: Any = None,
        storage: StorageChoice = None,
        if_exists: IfExists = "error",
    ) -> Study:
        """Returns a new study, kept in a database from now on.

        Args:
            name: under which it is opened again.
            options: names, or a mapping from names to settings (``{"zlib 9": {"level": 9}}``), or rows with an ``option``.
            metrics: name to "min" or "max", with what matters about it: ``{"seconds": "min~2%<=50", "errors": "<=0.01"}``; or a
                list of ``pp.Metric``, whose fields are described there.
            budget: the most measurements that may count; it is never exceeded. Or so much of a unit: ``("seconds", 1200)``,
                ``"20m"``, ``("dollars", 5)``; then the study stops asking when what was told has cost that much, and what is
                being measured then may exceed it, by one measurement for each who measures.
            policy: "doubt", which measures where one more measurement removes most doubt; or another, for instance "ege-sr",
                whose rounds are planned ahead and spend all of the budget that they can divide; with options
                ``("ege-gg", {"n_rounds": 3})``.
            scale: metrics are compared in units of their "noise", estimated from repeats, or "raw", or divided by what you say.
            exact: metrics without noise, a price for instance.
            cost: where the budget is in a unit, what a measurement costs: a number for each option, or the name of a setting of
                the options, of a metric, or of a value that is told beside the metrics; by default what is called as the unit.
                Of a budget in seconds it is the time that a measurement took, for ``identify`` and ``run_study``.
            confidence: stop as soon as the answer is right with this probability, 0.95 for instance, within the margins if
                metrics have some; the budget stays the most that is measured.
            resolution: where no margins are declared, stop as soon as the answer is right up to such differences: a number, in
                units of the noise of each metric, or differences by metric in their units. ``confidence`` says with which
                probability, 0.95 by default.
            pairing: what measurements share that makes them vary, so that differences are known better than means: "repeat" if
                the n-th measurements of all options belong together (the same question, split or seed: ``Measurement.repeat``),
                or the name of a value that is told beside the metrics, such as "plate". For policies without rounds.
            baseline: the option that results compare the others with, what is used today for instance: "1.30 times faster (1.21
                to 1.39)". ``choose_baseline`` chooses another one later.
            storage: the URL of a database, or the path of an SQLite file; ``"sqlite://"`` is kept in memory, and gone with the
                process. By default what the environment variable PARETOPICK_STORAGE says, or ``paretopick.db`` in the working
                folder.
            if_exists: where a study has the name already: "error" refuses; "open" returns it if it is about the same, with more
                budget and options if these are given, and says else what is not; "replace" deletes it, with all its
                measurements, and begins anew.
        """
        definition = define(
            options=options,
            metrics=metrics,
            budget=budget,
            policy=policy,
            scale=scale,
            exact=exact,
            cost=cost,
            confidence=confidence,
            resolution=resolution,
            pairing=pairing,
            baseline=baseline,
        )
        from paretopick.studies.opening import study_named  # which needs this class

        return study_named(name, definition, storage, if_exists)

    @classmethod
    def open(cls, name: str, *, storage: StorageChoice = None) -> Study:
        """Returns a study that was created before, by whomever."""
        database = open_storage(storage, new=False)
        return cls(database, database.find(_sought(name)))

    @staticmethod
    def delete(name: str, *, storage: StorageChoice = None) -> None:
        """Removes a study and all its measurements, for ever."""
        open_storage(storage, new=False).delete(_sought(name))

    @staticmethod
    def list(*, storage: StorageChoice = None) -> builtins.list[str]:
        """Returns the names of all studies in a database, sorted; none if none was named and the usual file is not there."""
        try:
            return open_storage(storage, new=False).names()
        except MissingFile:
            if is_named(storage):  # most probably with a slip of the pen
                raise
            return []

    @property
    def definition(self) -> Definition:
        """What the study is about, with the options that were added since."""
        return self._state.definition

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options, as far as they are known here; whoever reads or writes anything learns of new ones."""
        return self.definition.options

    @property
    def options_at_first(self) -> tuple[str, ...]:
        """The names of the options that the study was created with."""
        return self._live.definition.options

    @property
    def metrics(self) -> Mapping[str, str | None]:
        """The metrics and their goals; None for a limit alone."""
        return self.definition.goals

    @property
    def budget(self) -> Budget:
        """The most measurements that may count; or the unit and the amount, where it is in a unit."""
        with self._live.reading() as (state, _):
            return state.budget if state.spent is None else Amount(state.spent.unit, state.spent.budget)

    @property
    def spent(self) -> Spent | None:
        """How much of the budget is spent, where that is in a unit; None where it counts measurements."""
        with self._live.reading() as (state, _):
            return state.spent

    @property
    def aims(self) -> tuple[Aim, ...]:
        """When the study stops before its budget is spent: as was said at first, since then, and last."""
        with self._live.reading() as (state, _):
            return tuple(state.aims)

    @property
    def used(self) -> int:
        """How many measurements count so far."""
        with self._live.reading() as (state, _):
            return state.used

    @property
    def done(self) -> bool:
        """Whether nothing is left to be measured: the budget is spent, or the study is as sure as it was to be."""
        with self._live.reading() as (state, _):
            if state.done:
                return True
        return self._is_sure()

    def _is_sure(self) -> bool:
        """Whether the aim is reached; looked at while others go on, if one has to look."""
        with self._live.reading() as (state, _):
            if (known := self._looks.known(state)) is not None:
                return known
            mine = state.copy()
        return self._looks.reached(mine)

    def result(self, *, level: float = LEVEL, rehearsals: int = 0, baseline: Any = None) -> ParetoResult:
        """Returns which options are Pareto-optimal, as far as can be said now, and how sure that is.

        Args:
            level: how probable it must be that an option is in, or out, to be called sure; above 0.5.
            rehearsals: how often to simulate the same study at the means as measured, to see how often it would be right.
            baseline: an option to compare the others with in this result, if it is another one than that of the study.
        """
        check_integer(rehearsals, "rehearsals", minimum=0)
        level = check_real(level, "level", above=0.5, maximum=1.0)
        with self._live.reading() as (state, transaction):
            chosen = None if baseline is None else state.definition.with_baseline(baseline).baseline
            mine, events = state.copy(), []
            suggests = state.definition.pairing is None and state.definition.choice.roundless and state.position <= MANY_EVENTS
            if suggests or state.position <= MANY:
                with suppress(LogDamaged):  # which changes no answer that comes from a checkpoint
                    events = [event for page in pages_of(transaction) for event in page]
        found = result_of(  # while others go on telling
            self.name, mine, looks=self._looks, rehearsals=rehearsals, level=level, baseline=chosen
        )
        last = {event.number: event for event in events}
        valid = [event for event in last.values() if event.kind in ("told", "corrected")]
        notes = [*skewed(mine.definition, valid)]
        if suggests:
            if self._suggested is None or self._suggested[0] != mine.position:
                beside = {event.number: event.details for event in events if event.kind == "told"}
                told = [event._replace(details=beside.get(event.number)) for event in valid]
                self._suggested = mine.position, suggested(mine, told, mine.present)
            notes += [self._suggested[1]] if self._suggested[1] is not None else []
        looked_at = far_off(mine, valid)[:FEW] if mine.position <= MANY else []  # which takes measurements out of its state
        notes += notes_of(looked_at)
        read = partial(self._rows_until, mine.position)
        return replace(found, notes=(*found.notes, *notes), study=self, read_rows=read)

    def plot(
        self,
        kind: PictureKind | Literal["course"] | None = None,
        ax: Any = None,
        *,
        x: str | None = None,
        y: str | None = None,
        title: str | None = None,
    ) -> Any:
        """Draws the study as it is now and returns the Axes, as ``ParetoResult.plot`` does.

        ::

            study.plot()
            study.plot("course")

        Args:
            kind: what ``ParetoResult.plot`` draws, or "course": how sure the answer was over the measurements, or up to which
                differences it was right.
            ax: the Axes to draw on; by default those of a new figure.
            x: the metric from left to right, of a front or a ranking.
            y: the metric upwards, of a front.
            title: above the picture.
        """
        from paretopick.plots.methods import plot_study

        return plot_study(self, kind, ax, x=x, y=y, title=title)

    def estimates(self) -> tuple[Estimates, tuple[str, ...], FloatArray]:
        """Returns what is known about the means, of which options, and what the study divides its metrics by.

        Retired options are left out. Raises ``NotReady`` if an option was not measured yet, or none was measured twice.
        """
        with self._live.reading() as (state, _):
            if not state.present:
                raise NotReady("all options are retired.")
            return state.estimates(state.present), tuple(self.options[arm] for arm in state.present), state.widths()

    def data(self) -> StudyData:
        """Returns what the study knows of the options that were not retired, in numbers; see ``StudyData``."""
        with self._live.reading() as (state, _):
            return data_of(state)

    def status(self) -> dict[str, Any]:
        """Returns where the study stands, as JSON values."""
        with self._live.reading() as (state, transaction):
            record = {"study": self.name, "storage": self._live.storage.shown}
            return record | status(self.name, state, transaction.leases(), transaction.now, self._looks)

    def progress(self, *, guess: bool = False) -> StudyProgress:
        """Returns how far the study is: much less than ``status``, and much sooner.

        Args:
            guess: whether to say which options look Pareto-optimal so far.
        """
        is_sure = self._is_sure()
        with self._live.reading() as (state, transaction):
            known = self._looks.known(state)
            return progress(state, transaction.leases(), guess=guess, is_sure=is_sure if known is None else known)

    def events(self) -> builtins.list[Event]:
        """Returns all that ever happened, in its order."""
        live = self._live
        with live.storage.reading(live.study) as transaction:
            return [event for page in pages_of(transaction) for event in page]

    def measurements(self) -> builtins.list[dict[str, Any]]:
        """Returns a row for every measurement that was told or failed, in the order in which that happened.

        Its ``status`` is told, failed or voided, and ``why`` says why; values are those that count, corrected ones if there are
        some. Columns beside the metrics are the last ones.
        """
        events = self.events()
        with self._live.reading() as (state, _):
            return measurements(state.definition, events)

    def _rows_until(self, position: int) -> builtins.list[dict[str, Any]]:
        """The same, as they were at some position of the log."""
        events = [event for event in self.events() if event.position <= position]
        return measurements(self._state.definition, events)

    def to_pandas(self) -> pd.DataFrame:
        """Returns ``measurements()`` as a data frame; needs pandas: ``pip install 'paretopick[pandas]'``.

        A row for each: its number and option, the settings of that, round and repeat, the metrics, what became of it (``status``
        and ``why``), who has measured (``worker``) and when (``at``), and what was told beside the metrics.

        >>> study = Study.create("s", options=["a", "b"], metrics={"seconds": "min"}, budget=10, storage="sqlite://")
        >>> _ = study.add([("a", {"seconds": 1.5, "day": 3}), ("b", {"seconds": 2.5, "day": 4})])
        >>> study.to_pandas()[["option", "seconds", "day"]]
          option  seconds  day
        0      a      1.5    3
        1      b      2.5    4
        """
        rows = [{**row, "at": datetime.fromtimestamp(row["at"], UTC)} for row in self.measurements()]
        return measured_frame(self.definition, columns_of(self.definition, rows), rows)

    def look_up(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Returns the rows of ``measurements()`` for some numbers, without reading all of the log.

        Their ``status`` may be "out", too, if they are with a worker; numbers that nobody has, or that were given back, are
        left out. ``before`` are the values that were corrected, and ``request`` is the id of the last call about it.

        Args:
            numbers: of measurements.
        """
        wanted = [number_of(number) for number in each_of(numbers)]
        with self._live.reading() as (state, transaction):
            found = ((number, transaction.history(number), transaction.lease(number)) for number in wanted)
            rows = {number: known_row(state.definition, events, lease) for number, events, lease in found}
        return {number: row for number, row in rows.items() if row is not None}

    def exact_values(self) -> dict[str, dict[str, float]]:
        """Returns the values of the exact metrics, by option, as far as they were told."""
        with self._live.reading() as (state, _):
            return exact_values(state)

    def far_off(self, numbers: Iterable[int]) -> builtins.list[FarOff]:
        """Returns which values of some measurements are far from all others of their options, as those of another unit are.

        More than 8 standard deviations, moderated by those of the other options. They count like all others; ``void`` or
        ``correct`` what is wrong.

        Args:
            numbers: of the measurements; together they are compared with what was there beside them, if there was enough.
        """
        wanted = {number_of(number) for number in each_of(numbers)}
        with self._live.reading() as (state, transaction):
            if len(wanted) > MANY:
                events = [event for page in pages_of(transaction) for event in page if event.number in wanted]
            else:
                events = [event for number in wanted for event in transaction.history(number)]
            mine = state.copy()
        last = {event.number: event for event in events}
        return far_off(mine, [event for event in last.values() if event.kind in ("told", "corrected")])

    def reread(self) -> None:
        """Looks at what is in the database, instead of what is open of it: raises ``StorageFailed`` if it is not all there.

        The state comes from there anew, and the log is read from its start, unless it is very long.
        """
        self.close()
        self._live.reread()

    def close(self) -> None:
        """Closes the connections to the database; whatever is used next opens them again."""
        self._live.storage.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _state(self) -> State:
        """What followed from the log when it was looked at last."""
        return self._live.state


def _sought(name: str) -> str:
    """The name of a study that may be there: one that databases can look for."""
    return name if isinstance(name, str) and name.isprintable() else check_name(name, "study")
