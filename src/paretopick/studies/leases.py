"""What a study hands out to be measured, to whom and for how long, and what they bring back."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from paretopick._arrays import LARGEST_BUDGET, check_flag, check_integer, check_name, check_real, check_sequence
from paretopick.errors import InvalidInput, NotDue
from paretopick.studies.definition import Definition
from paretopick.studies.given import is_list, kept_text, number_of, worker_of
from paretopick.studies.live import LiveState
from paretopick.studies.measurement import Measurement
from paretopick.studies.rules import Rules
from paretopick.studies.told import Told, Values
from paretopick.studies.workers import is_gone, name_here

LEASE = 3600.0
"""Seconds that a worker has for a measurement before others may have it too."""


class Leases(ABC):
    """The part of a study that hands out measurements, and takes in what came out of them."""

    name: str
    _live: LiveState
    _handed_out: dict[int, set[str]]
    """What was handed out here and not brought back here: by number, to whom."""

    @property
    @abstractmethod
    def definition(self) -> Definition:
        """What the study is about."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether nothing is left to be measured."""

    @abstractmethod
    def _is_sure(self) -> bool:
        """Whether the aim is reached."""

    def ask(
        self, n: int = 1, *, worker: str | None = None, lease: float | None = LEASE, wait: float = 0.0, shuffle: bool = False
    ) -> list[Measurement]:
        """Returns up to ``n`` measurements to make now.

        First those that the worker has asked for before and not told, so that it finds its work again after a crash; then those
        whose worker let the lease run out; then new ones, chosen from all data so far, with what is being measured in view, so
        that workers are sent to different places. Fewer than ``n``, or none, if what is left of the budget, or with policies that
        plan rounds of the round, is out with other workers: come back when they have told. Options take turns, so that a drift
        over time does not favour one.

        Each is the lowest ``repeat`` of its option that nobody has made or is making, where measurements without one count as the
        first ones; with ``pairing="repeat"`` new ones of the same repeat follow each other.

        Args:
            n: the most that are wanted.
            worker: who asks. By default a name of its own for each thread of each process, under which nobody else asks; what
                such a worker had out when its process ended is free as soon as nothing else is left to do on that machine, and
                elsewhere when its lease has run out. With a name that you give, a worker finds its work again in another process;
                those that run side by side need different ones.
            lease: seconds until others may have the measurement too; None for never.
            wait: seconds to wait for others, if there is nothing to do before they have told and the study is not done.
            shuffle: put options that are equally due, and what is handed out together, in a random order: the same for the same
                name of the study and number of the measurement.
        """
        n = check_integer(n, "n", minimum=0, maximum=LARGEST_BUDGET)
        worker = name_here() if worker is None else check_name(worker, "worker")
        seed = self.name if check_flag(shuffle, "shuffle") else None
        until = time.monotonic() + check_real(wait, "wait", minimum=0.0, infinite=True)
        pause = 0.02
        while True:
            if n and self._live.state.aim.is_set and self._is_sure():
                return []
            leases = self._live.change(lambda rules: rules.hand_out(n, worker, lease, seed=seed))
            if leases or n == 0 or self.done:
                break
            if self._free_what_the_gone_had():
                continue
            if time.monotonic() >= until:
                break
            time.sleep(min(pause, max(until - time.monotonic(), 0.0)))
            pause = min(2 * pause, 1.0)
        for out in leases:
            self._handed_out.setdefault(out.number, set()).add(worker)
        names, settings = self.definition.options, self.definition.settings
        return [
            Measurement(out.number, names[out.arm], out.round, settings[out.arm], out.expires, out.repeat or 0) for out in leases
        ]

    def _free_what_the_gone_had(self) -> bool:
        """Gives back what is out with workers whose processes have ended on this machine; returns whether there was some."""
        with self._live.reading() as (_, transaction):
            gone = {lease.worker for lease in transaction.leases() if not lease.withdrawn and is_gone(lease.worker)}
        return any(self._live.change(partial(Rules.release, numbers=(), worker=name)) for name in gone)

    def tell(
        self,
        number: int | Sequence[int],
        values: Values | Told | Sequence[Values],
        *,
        worker: str | None = None,
        request: str | None = None,
    ) -> bool:
        """Keeps what came out of a measurement. Told twice the same, nothing happens; told otherwise, it is refused.

        But for namesakes: what was handed out here, and another process that asks under the same name has told or failed
        meanwhile, stays as they said. What is told now is then not used, and a warning says so, so that both go on.

        Args:
            number: of the measurement, from ``ask``; or a list of numbers, with as many rows of values: all are kept, or none.
            values: by name of the metric, or in the order of the metrics; None for a metric that could not be measured. What
                a mapping has beside the metrics (the plate, the day, what it cost) is kept and exported; ``repeat`` must be
                that of the measurement.
            worker: who tells; by default who got the measurement here, or whoever has it.
            request: an id of this call, for whoever has to make it again; see ``add``.

        Returns:
            Whether it is kept, all of it: False only if a namesake was first.
        """
        told, worker = self._several(number, values), worker_of(worker)

        def tell(rules: Rules) -> list[NotDue]:
            late = []
            for each, row in told:
                try:
                    rules.tell(each, row, worker or self._only_one_with(each))
                except NotDue as problem:  # nothing was written of this one
                    if not self._has_a_namesake(rules, each):
                        raise
                    late.append(problem)
            return late

        late = self._live.change(tell, request)
        for problem in late:
            advice = "Workers that run side by side need different names, and have them if none is given."
            warnings.warn(f"somebody of the same name was first: {problem} What was told now is not used. {advice}", stacklevel=2)
        self._brought_back(each for each, _ in told)
        return not late

    def _only_one_with(self, number: int) -> str | None:
        """Who has a measurement here, if that is one: he may be the one who tells, though the lease ran out."""
        having = self._handed_out.get(number, ())
        return next(iter(having)) if len(having) == 1 else None

    def _brought_back(self, numbers: Iterable[int]) -> None:
        """Notes that measurements which were handed out were told, failed or given back."""
        for number in numbers:
            self._handed_out.pop(number, None)

    def _has_a_namesake(self, rules: Rules, number: int) -> bool:
        """Whether what was handed out here was brought back elsewhere, under the name of one who has it here."""
        past = rules.transaction.history(number)
        return bool(past) and past[-1].worker in self._handed_out.get(number, ())

    def _several(self, number: Any, values: Any) -> list[tuple[int, Told]]:
        """Numbers and what came out, from one of each or from as many."""
        if not is_list(number):
            return [(number_of(number), self.definition.told(values))]
        numbers = [number_of(each) for each in number]
        rows = check_sequence(values, "values", "is not a list of measurements; give one for each number")
        if len(rows) != len(numbers) or len(set(numbers)) != len(numbers):
            raise InvalidInput(
                f"there are {len(set(numbers))} different numbers among {len(numbers)}, and {len(rows)} rows of values; give a "
                "row for each number, and every number once."
            )
        return [(each, self.definition.told(row)) for each, row in zip(numbers, rows, strict=True)]

    def tell_repeats(
        self,
        number: int,
        values: Sequence[Values | Told],
        *,
        worker: str | None = None,
        request: str | None = None,
    ) -> int:
        """Keeps several measurements of an option that were made at once, where one was asked for; all or none of them.

        The others count as if they had been asked for, too, each as one, as far as the budget, or the round, has room for them
        beside what others are measuring; the last ones are left out.

        Args:
            number: of the measurement, from ``ask``.
            values: a measurement each, as ``tell`` takes it.
            worker: who tells; by default whoever has the measurement.
            request: an id of this call; see ``add``.

        Returns:
            How many were kept.

        >>> import paretopick as pp
        >>> study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=10, storage="sqlite://")
        >>> study.tell_repeats(study.ask()[0].number, [[1.0], [2.0], [3.0]]), study.used
        (3, 3)
        """
        rows = check_sequence(values, "values", "is not a list of measurements")
        if not rows:
            raise InvalidInput("there are no measurements to tell; report one that could not be made with fail().")
        number, told, worker = number_of(number), [self.definition.told(row) for row in rows], worker_of(worker)
        kept = self._live.change(lambda rules: rules.tell_repeats(number, told, worker), request)
        self._brought_back([number])
        return kept

    def fail(
        self,
        number: int,
        why: str,
        *,
        output: str | None = None,
        cost: float | None = None,
        worker: str | None = None,
        request: str | None = None,
    ) -> None:
        """Keeps that a measurement could not be made; its option stays due, under a new number.

        Args:
            number: of the measurement, from ``ask``.
            why: in a sentence.
            output: what else may help to find the cause.
            cost: what it has cost all the same, where the budget is in a unit and that is told with each measurement.
            worker: who says so; if others have the measurement by now, nothing happens, nor if a namesake was first.
            request: an id of this call; see ``add``.
        """
        number = number_of(number)
        details: dict[str, Any] = {"why": kept_text(why)} | ({} if output is None else {"output": kept_text(output)})
        details |= {} if cost is None else {"cost": check_real(cost, "cost", minimum=0.0)}
        worker = worker_of(worker)

        def fail(rules: Rules) -> None:
            try:
                rules.fail(number, details, worker)
            except NotDue:
                if not self._has_a_namesake(rules, number):
                    raise

        self._live.change(fail, request)
        self._brought_back([number])

    def renew(self, *numbers: int, worker: str | None = None, lease: float | None = LEASE) -> list[int]:
        """Gives a worker more time for measurements that take long; call it before the lease runs out.

        Args:
            numbers: of the measurements.
            worker: who has them; by default as for ``ask``.
            lease: seconds from now until others may have them too; None for never.

        Returns:
            Those of the numbers that are still with the worker. The others were told, or others have them now.
        """
        wanted, name = [number_of(number) for number in numbers], worker_of(worker) or name_here()
        return self._live.change(lambda rules: rules.renew(wanted, name, lease))

    def release(self, *numbers: int, worker: str | None = None, request: str | None = None) -> list[int]:
        """Gives measurements back that a worker will not make; whoever asks next gets their options under new numbers.

        Args:
            numbers: of the measurements; without any, all that the worker has.
            worker: who has them; by default as for ``ask``.
            request: an id of this call; see ``add``.

        Returns:
            The numbers that were given back.
        """
        wanted, name = [number_of(number) for number in numbers], worker_of(worker) or name_here()
        freed = self._live.change(lambda rules: rules.release(wanted, name), request)
        self._brought_back(freed)
        return freed
