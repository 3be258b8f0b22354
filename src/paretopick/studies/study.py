"""Study: options measured over days by many workers, in a database that no crash can confuse."""

from __future__ import annotations

import builtins
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paretopick._arrays import FloatArray, check_integer, check_name, check_real
from paretopick.errors import InvalidInput, MissingFile, NotReady
from paretopick.events import Event
from paretopick.metrics import MetricsGiven
from paretopick.policies import DEFAULT_POLICY, PolicyGiven
from paretopick.studies.answer import result_of
from paretopick.studies.definition import Definition, Scale, Values, define
from paretopick.studies.result import ParetoResult
from paretopick.studies.rules import Rules
from paretopick.studies.state import ReplayNeeded, State
from paretopick.studies.views import measurements, status

if TYPE_CHECKING:
    from paretopick.estimates import Estimates
    from paretopick.storage import Storage, StoredStudy, Transaction

LEASE = 3600.0
"""Seconds that a worker has for a measurement before others may have it too."""

CHECKPOINT_EVERY = 1000
"""Events after which the state is kept anew, so that opening a study need not replay more."""


@dataclass(frozen=True)
class Measurement:
    """Something to measure: tell its ``number`` what came out."""

    number: int
    option: str
    round: int
    settings: Mapping[str, Any]
    """The further columns of the table of options."""
    expires: float | None
    """When others may have it too, in seconds since 1970; None for never."""


class Study:
    """Options, metrics, a budget, and all that was measured so far.

    A loop in any number of processes, each with a name of its own::

        study = pp.Study.create("boosters", options=["a", "b", "c"], metrics={"response": "max", "price": "min"}, budget=300)
        while not study.done:
            for todo in study.ask(worker="w1", wait=60):
                study.tell(todo.number, measure(todo.option))
        print(study.result())

    Nothing is lost when a process dies: ``Study.open`` goes on from the database. An object may be shared by threads.
    """

    def __init__(self, storage: Storage, stored: StoredStudy) -> None:
        """Use ``Study.create`` or ``Study.open``."""
        self._storage = storage
        self._id = stored.id
        self.name = stored.name
        self.definition = Definition.from_dict(stored.definition)
        self._turn = threading.RLock()
        self._state = State(self.definition)
        self._checkpoint = 0
        self._torn = True
        """Whether the state is unknown: at first, and when applying events was interrupted."""
        self._all_events = False
        """Whether it has to be found from the first event on, since a checkpoint does not say enough."""
        self._now()

    def __repr__(self) -> str:
        return f"<study {self.name!r}: {len(self.options)} options, {self._state.used} of {self._state.budget} used>"

    @classmethod
    def create(
        cls,
        name: str,
        *,
        options: Iterable[Any] | Mapping[str, Mapping[str, Any]],
        metrics: MetricsGiven,
        budget: int,
        policy: PolicyGiven = DEFAULT_POLICY,
        scale: Scale = "noise",
        exact: Iterable[str] = (),
        storage: str | os.PathLike[str] | Storage | None = None,
    ) -> Study:
        """Returns a new study, kept in a database from now on.

        Args:
            name: under which it is opened again.
            options: names, or a mapping from names to settings (``{"zlib 9": {"level": 9}}``), or rows with an ``option``.
            metrics: name to "min" or "max", or a list of ``pp.Metric``.
            budget: the most measurements that may count; it is never exceeded.
            policy: "ege-sr", "apt" or another, or with options ``("apt", {"batch": 8})``. Rounds spend all of the budget that
                they can divide, unless ``spend="printed"`` is among the options.
            scale: metrics are compared in units of their "noise", estimated from repeats, or "raw", or divided by what you say.
            exact: metrics without noise, a price for instance.
            storage: the URL of a database, the path of an SQLite file, or an open ``Storage``; by default what the environment
                variable PARETOPICK_STORAGE says, or ``paretopick.db`` in the working folder.
        """
        check_name(name, "study")
        definition = define(options=options, metrics=metrics, budget=budget, policy=policy, scale=scale, exact=exact)
        database = opened(storage)
        stored = database.create(name, definition.to_dict())
        if stored is None:
            raise InvalidInput(f"there is a study named {name!r} in {database.shown} already; open it, or choose another name.")
        return cls(database, stored)

    @classmethod
    def open(cls, name: str, *, storage: str | os.PathLike[str] | Storage | None = None) -> Study:
        """Returns a study that was created before, by whomever."""
        database = opened(storage, new=False)
        return cls(database, database.find(name))

    @staticmethod
    def delete(name: str, *, storage: str | os.PathLike[str] | Storage | None = None) -> None:
        """Removes a study and all its measurements, for ever."""
        opened(storage, new=False).delete(name)

    @staticmethod
    def list(*, storage: str | os.PathLike[str] | Storage | None = None) -> builtins.list[str]:
        """Returns the names of all studies in a database, sorted; none if there is no such file."""
        try:
            return opened(storage, new=False).names()
        except MissingFile:
            return []

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options."""
        return self.definition.options

    @property
    def metrics(self) -> Mapping[str, str]:
        """The metrics and their goals."""
        return self.definition.goals

    @property
    def budget(self) -> int:
        """The most measurements that may count."""
        with self._turn:
            return self._now().budget

    @property
    def used(self) -> int:
        """How many measurements count so far."""
        with self._turn:
            return self._now().used

    @property
    def done(self) -> bool:
        """Whether nothing is left to be measured."""
        with self._turn:
            return self._now().policy.done

    def ask(
        self, n: int = 1, *, worker: str = "main", lease: float | None = LEASE, wait: float = 0.0
    ) -> builtins.list[Measurement]:
        """Returns up to ``n`` measurements to make now.

        First those that the worker has asked for before and not told, so that it finds its work again after a crash; then those
        whose worker let the lease run out; then new ones. Fewer than ``n``, or none, if the rest is out with other workers: come
        back when they have told. Options take turns, so that a drift over time does not favour one.

        Args:
            n: the most that are wanted.
            worker: who asks. Workers that run side by side need different names.
            lease: seconds until others may have the measurement too; None for never.
            wait: seconds to wait for others, if there is nothing to do before they have told and the study is not done.
        """
        n = check_integer(n, "n", minimum=0)
        check_name(worker, "worker")
        until = time.monotonic() + check_real(wait, "wait", minimum=0.0, infinite=True)
        pause = 0.02
        while True:
            with self._writing() as rules:
                leases = rules.hand_out(n, worker, lease)
            if leases or n == 0 or self.done or time.monotonic() >= until:
                break
            time.sleep(min(pause, max(until - time.monotonic(), 0.0)))
            pause = min(2 * pause, 1.0)
        names, settings = self.options, self.definition.settings
        return [Measurement(out.number, names[out.arm], out.round, settings[out.arm], out.expires) for out in leases]

    def tell(self, number: int, values: Values, *, worker: str | None = None) -> None:
        """Keeps what came out of a measurement. Told twice the same, nothing happens; told otherwise, it is refused.

        Args:
            number: of the measurement, from ``ask``.
            values: by name of the metric, or in the order of the metrics.
            worker: who tells; by default whoever has the measurement.
        """
        row = self.definition.values(values)
        with self._writing() as rules:
            rules.tell(_number(number), row, worker)

    def fail(self, number: int, why: str, *, output: str | None = None, worker: str | None = None) -> None:
        """Keeps that a measurement could not be made; its option stays due, under a new number.

        Args:
            number: of the measurement, from ``ask``.
            why: in a sentence.
            output: what else may help to find the cause.
            worker: who says so; if others have the measurement by now, nothing happens.
        """
        details = {"why": _text(why)} | ({} if output is None else {"output": _text(output)})
        with self._writing() as rules:
            rules.fail(_number(number), details, worker)

    def void(self, number: int, why: str) -> None:
        """Takes a measurement back that turned out to be wrong.

        In the open round its option is due again. After that its values leave the means, but what was decided stands.

        Args:
            number: of a measurement that was told.
            why: in a sentence.
        """
        with self._writing() as rules:
            rules.void(_number(number), _text(why))

    def retire(self, option: str, why: str) -> None:
        """Takes an option out: it is never asked for again and is not in the answer. What was decided stands.

        Args:
            option: its name.
            why: in a sentence.
        """
        arm = self.definition.arm(option)
        with self._writing() as rules:
            rules.retire(arm, _text(why))

    def extend(self, *numbers: int, worker: str = "main", lease: float | None = LEASE) -> builtins.list[int]:
        """Gives a worker more time for measurements that take long; call it before the lease runs out.

        Returns:
            Those of the numbers that are still with the worker. The others were told, or others have them now.
        """
        with self._writing() as rules:
            return rules.renew(numbers, worker, lease)

    def release(self, *numbers: int, worker: str = "main") -> builtins.list[int]:
        """Gives measurements back that a worker will not make; whoever asks next gets their options under new numbers.

        Args:
            numbers: of the measurements; without any, all that the worker has.
            worker: who has them.

        Returns:
            The numbers that were given back.
        """
        with self._writing() as rules:
            return rules.take_back(numbers, worker)

    def extend_budget(self, budget: int) -> None:
        """Allows more measurements, up to a new budget: for ``apt``, whose rounds are not planned ahead.

        Args:
            budget: the new one, all measurements so far included.
        """
        with self._writing() as rules:
            rules.extend_budget(budget)

    def add(self, measurements: Iterable[tuple[str, Values]]) -> builtins.list[int]:
        """Adds measurements that were made before the study, or beside it. All of them, or none if anything is wrong with one.

        They count as soon as their options are due, now or in a later round, instead of new ones.

        Args:
            measurements: pairs of an option and its values.

        Returns:
            The numbers that they got.
        """
        rows = self._rows(measurements)
        with self._writing() as rules:
            numbers = rules.add(rows)
        self._keep_checkpoint()
        return numbers

    def record(
        self,
        told: Mapping[int, Values],
        failed: Mapping[int, str],
        added: Iterable[tuple[str, Values]] = (),
        *,
        options: Mapping[int, str] | None = None,
        again: bool = False,
    ) -> builtins.list[int]:
        """``tell``, ``fail`` and ``add`` for many measurements at once: all of them, or none if anything is wrong with one.

        It can be repeated: what was told or failed before is skipped, also if it was voided since.

        Args:
            told: number to values.
            failed: number to the reason.
            added: as for ``add``, except that rows which were recorded before are skipped if they come first, as in a file that
                has grown, and refused if they come later.
            options: number to the name of the option, refused where it is another one.
            again: whether equal rows are other measurements, and to be added, too.

        Returns:
            The numbers of what was added.
        """
        rows = {_number(number): self.definition.values(values) for number, values in told.items()}
        new = self._rows(added)
        with self._writing() as rules:
            for number, option in (options or {}).items():
                rules.check_option(_number(number), option)
            for number, row in rows.items():
                rules.tell(number, row, even_if_voided=True)
            for number, why in failed.items():
                rules.fail(_number(number), {"why": _text(why)})
            numbers = rules.add(new if again else rules.unknown(new), of=new)
        self._keep_checkpoint()
        return numbers

    def result(self, *, rehearsals: int = 0) -> ParetoResult:
        """Returns which options are Pareto-optimal, as far as can be said now, and how sure that is.

        Args:
            rehearsals: how often to simulate the same study at the means as measured, to see how often it would be right.
        """
        check_integer(rehearsals, "rehearsals", minimum=0)
        with self._turn:
            state = self._now().copy()
        return result_of(self.name, state, rehearsals=rehearsals)  # while others go on telling

    def estimates(self) -> tuple[Estimates, tuple[str, ...], FloatArray]:
        """Returns what is known about the means, of which options, and what the study divides its metrics by.

        Retired options are left out. Raises ``NotReady`` if an option was not measured yet, or none was measured twice.
        """
        with self._turn:
            state = self._now()
            if not state.present:
                raise NotReady("all options are retired.")
            return state.estimates(state.present), tuple(self.options[arm] for arm in state.present), state.widths()

    def status(self) -> dict[str, Any]:
        """Returns where the study stands, as JSON values."""
        with self._turn, self._storage.reading(self._id) as transaction:
            self._catch_up(transaction)
            record = {"study": self.name, "storage": self._storage.shown}
            return record | status(self.name, self._state, transaction.leases(), transaction.now)

    def events(self) -> builtins.list[Event]:
        """Returns all that ever happened, in its order."""
        with self._storage.reading(self._id) as transaction:
            return transaction.events()

    def measurements(self) -> builtins.list[dict[str, Any]]:
        """Returns a row for every measurement that was told or failed, in the order in which that happened.

        Its ``status`` is told, failed or voided, and ``why`` says why.
        """
        return measurements(self.definition, self.events())

    def close(self) -> None:
        """Closes the connections to the database; whatever is used next opens them again."""
        self._storage.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> State:
        """The state, with what others have done in the meantime."""
        with self._turn:
            with self._storage.reading(self._id) as transaction:
                self._catch_up(transaction)
            return self._state

    def _rows(self, measurements: Iterable[tuple[str, Values]]) -> builtins.list[tuple[int, builtins.list[float]]]:
        return [(self.definition.arm(option), self.definition.values(values)) for option, values in measurements]

    def _keep_checkpoint(self) -> None:
        """After many events at once: whoever opens the study next need not replay them."""
        if self._state.position - self._checkpoint >= CHECKPOINT_EVERY:
            with self._writing():
                pass

    @contextmanager
    def _writing(self) -> Iterator[Rules]:
        """A transaction that knows what everybody has done so far; what it appends is applied when it is stored.

        If the database fails at the very end, nobody knows whether it was stored: whoever reads next will see.
        """
        with self._turn:
            with self._storage.writing(self._id) as transaction:
                self._catch_up(transaction)
                if self._state.position - self._checkpoint >= CHECKPOINT_EVERY:
                    transaction.keep_checkpoint(self._state.to_dict())
                    self._checkpoint = self._state.position
                yield Rules(self._state, transaction)
            self._apply(transaction.appended)

    def _catch_up(self, transaction: Transaction) -> None:
        if self._torn:
            self._state = self._restored(transaction)
            self._checkpoint = self._state.position
            self._torn = False
        if transaction.n_events > self._state.position:
            self._apply(transaction.events(after=self._state.position))
            if self._torn:  # a checkpoint was not enough
                self._catch_up(transaction)

    def _restored(self, transaction: Transaction) -> State:
        """What a checkpoint says, if it can be read and is enough; else a state at the start."""
        saved = None if self._all_events else transaction.checkpoint()
        try:
            return State.from_dict(self.definition, saved) if saved else State(self.definition)
        except (InvalidInput, LookupError, TypeError, ValueError):
            return State(self.definition)

    def _apply(self, events: Sequence[Event]) -> None:
        """Applies events that are stored; afterwards the state may be torn, and is mended by whoever looks next."""
        self._torn = True
        try:
            self._state.apply(events)
        except ReplayNeeded:
            self._all_events = True
            return
        self._torn = False


def opened(storage: str | os.PathLike[str] | Storage | None, *, new: bool = True) -> Storage:
    """Returns a database, opened if it is not; None is that of the environment, or ``paretopick.db`` in the working folder.

    Args:
        storage: of any kind that ``Study.create`` takes.
        new: whether an SQLite file is made if it is not there.
    """
    from paretopick.storage import Storage  # SQLAlchemy is loaded for studies only

    if isinstance(storage, Storage):
        return storage
    if storage is not None and not os.fspath(storage).strip():
        raise InvalidInput(f"storage={storage!r} is empty; name a file, or give the address of a database.")
    return Storage(os.environ.get("PARETOPICK_STORAGE") or "paretopick.db" if storage is None else storage, new=new)


def _number(value: Any) -> int:
    """The number of a measurement, as databases can hold it."""
    if isinstance(value, Measurement):
        raise InvalidInput(f"{value!r} is a measurement; pass its number, which is .number of it: {value.number}.")
    return check_integer(value, "number", minimum=1, maximum=2**31 - 1)


def _text(why: str) -> str:
    """A text that every database can hold."""
    return str(why).replace("\0", "").encode("utf-8", "replace").decode()
