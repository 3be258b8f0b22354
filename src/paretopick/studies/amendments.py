"""What can be done to the data, the options and the budget of a study after the fact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from paretopick._arrays import check_name, check_real
from paretopick._frames import TableGiven, is_table, read_frame
from paretopick._words import text_of
from paretopick.errors import InvalidInput, StorageFailed
from paretopick.studies.aims import check_aim
from paretopick.studies.budgets import Amount, Budget, BudgetGiven, budget_of
from paretopick.studies.definition import Definition
from paretopick.studies.given import each_of, kept_text, mapping_of, number_of
from paretopick.studies.live import LiveState
from paretopick.studies.options import option_with_settings
from paretopick.studies.rules import Rules
from paretopick.studies.told import Values
from paretopick.studies.told_rows import told_rows
from paretopick.studies.views import columns_of, matching


class Amendments(ABC):
    """The part of a study that corrects, takes back, brings along, and lets it grow."""

    name: str
    _live: LiveState

    @property
    @abstractmethod
    def definition(self) -> Definition:
        """What the study is about."""

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """The most measurements that may count; or the unit and the amount."""

    @abstractmethod
    def _brought_back(self, numbers: Iterable[int]) -> None:
        """Notes that measurements which were handed out were told or failed."""

    @abstractmethod
    def look_up(self, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Returns the rows of ``measurements()`` for some numbers."""

    @abstractmethod
    def measurements(self) -> list[dict[str, Any]]:
        """Returns a row for every measurement that was told or failed."""

    def void(
        self,
        number: int | Sequence[int] | None = None,
        why: str = "",
        *,
        where: Mapping[str, Any] | None = None,
        request: str | None = None,
    ) -> list[int]:
        """Takes measurements back that turned out to be wrong, and returns which: all of them, or none if that is not possible.

        They leave the data. With a policy that plans rounds, the option is due again if the round is open; else what was decided
        with them stands.

        Args:
            number: of a measurement that was told, or a list of numbers.
            why: in a sentence.
            where: instead of numbers, what they have in common: ``{"plate": 3}``, ``{"worker": "w2", "option": "zlib 9"}``; any
                column of ``measurements()``.
            request: an id of this call; see ``add``.
        """
        if (number is None) == (where is None):
            raise InvalidInput("void() needs numbers of measurements, or where=, what those to be taken back have in common.")
        chosen = self.find(where) if where is not None else [number_of(each) for each in each_of(number)]
        if not str(why).strip():
            raise InvalidInput("void() needs a reason: why=, in a sentence.")

        def void(rules: Rules) -> None:
            for each in dict.fromkeys(chosen):
                rules.void(each, kept_text(why))

        self._live.change(void, request)
        return chosen

    def find(self, where: Mapping[str, Any]) -> list[int]:
        """Returns the numbers of the valid measurements that have some values in some columns of ``measurements()``.

        Args:
            where: name to value, such as ``{"plate": 3}``; numbers are equal to their texts.
        """
        rows = matching(self.measurements(), mapping_of(where, "where"), columns_of(self.definition, ()))
        found = [row["number"] for row in rows if row["status"] == "told"]
        if not found:
            shown = ", ".join(f"{name}={text_of(value)}" for name, value in where.items())
            raise InvalidInput(f"no valid measurement has {shown}; see paretopick measurements {self.name}, or measurements().")
        return found

    def correct(self, number: int, values: Values, why: str = "", *, request: str | None = None) -> bool:
        """Puts other values in the place of those of a measurement; the log keeps both.

        Args:
            number: of a measurement that was told.
            values: as they should have been told; a mapping may have some metrics alone, and the others stay.
            why: in a sentence.
            request: an id of this call; see ``add``.

        Returns:
            Whether the values are others than before.
        """
        number = number_of(number)
        if not str(why).strip():
            raise InvalidInput("correct() needs a reason: why=, in a sentence.")
        if isinstance(values, Mapping) and any(name in values for name in self.definition.goals):
            now = self.look_up([number]).get(number, {})
            values = {name: now.get(name) for name in self.definition.goals} | dict(values)
        told = self.definition.told(values)
        return self._live.change(lambda rules: rules.correct(number, told.row, kept_text(why)), request)

    def retire(self, option: str, why: str, *, request: str | None = None) -> None:
        """Takes an option out: it is never asked for again and is not in the answer. What was decided stands.

        Args:
            option: its name.
            why: in a sentence.
            request: an id of this call; see ``add``.
        """
        arm = self.definition.arm(option)
        self._live.change(lambda rules: rules.retire(arm, kept_text(why)), request)

    def reinstate(self, option: str, why: str = "", *, request: str | None = None) -> None:
        """Takes an option in again that was retired, with all its measurements; not where rounds are planned ahead.

        Args:
            option: its name.
            why: in a sentence.
            request: an id of this call; see ``add``.
        """
        arm = self.definition.arm(option)
        self._live.change(lambda rules: rules.reinstate(arm, kept_text(why)), request)

    def add_option(
        self,
        option: Any,
        settings: Mapping[str, Any] | None = None,
        *,
        cost: float | None = None,
        request: str | None = None,
    ) -> None:
        """Adds an option that turned up later; not where rounds are planned ahead.

        It is measured a few times first, within the budget as it is: ``extend`` it if need be.

        Args:
            option: its name.
            settings: the further columns of the table of options, if the others have some.
            cost: of a measurement, if the others have one each.
            request: an id of this call; see ``add``.
        """
        name, own = option_with_settings(option, settings)
        price = None if cost is None else check_real(cost, "cost", above=0.0)
        self._live.change(lambda rules: rules.join(name, own, price), request)

    def aim(
        self,
        *,
        confidence: float | None = None,
        resolution: float | Mapping[str, float | str] | None = None,
        request: str | None = None,
    ) -> None:
        """Says anew when the study stops before its budget is spent; what is not said stays.

        Args:
            confidence: the probability of being right that is enough, as for ``Study.create``; 1 spends the whole budget.
            resolution: likewise.
            request: an id of this call; see ``add``.
        """
        if confidence is None and resolution is None:
            raise InvalidInput("say when it is sure enough, for instance aim(confidence=0.95).")
        aim = check_aim(confidence, resolution, self.definition.metrics)
        self._live.change(lambda rules: rules.extend(None, aim), request)

    def choose_baseline(self, option: str | None, *, request: str | None = None) -> None:
        """Says with which option results compare the others from now on: what is used today, for instance.

        Args:
            option: its name; None to compare with none.
            request: an id of this call; see ``add``.

        >>> from paretopick import Study
        >>> study = Study.create("s", options=["today", "new"], metrics={"seconds": "min"}, budget=20, storage="sqlite://")
        >>> study.choose_baseline("today")
        >>> numbers = study.add([("today", [2.0]), ("today", [2.1]), ("new", [1.0]), ("new", [0.9])])
        >>> study.result().compared_with_baseline.beaten_by
        ('new',)
        """
        name = self.definition.with_baseline(option).baseline
        self._live.change(lambda rules: rules.describe({"baseline": name}), request)

    def choose_command(self, definition: Definition, *, request: str | None = None) -> None:
        """Says that it is measured with the command of a definition from now on; what was measured before counts as before.

        Args:
            definition: with the command, and all that goes with it.
            request: an id of this call; see ``add``.
        """
        told = {name: value for name, value in definition.description.items() if name != "baseline"}
        self._live.change(lambda rules: rules.describe(told), request)

    def extend(
        self,
        *numbers: int,
        budget: BudgetGiven | None = None,
        confidence: float | None = None,
        resolution: float | Mapping[str, float | str] | None = None,
        request: str | None = None,
        **more: Any,
    ) -> None:
        """Allows more, up to a new budget: for policies whose rounds are not planned ahead.

        Args:
            budget: the new one, all measurements so far included; in the same unit as before.
            confidence: when it stops before that, too, as for ``aim``: both are changed, or none.
            resolution: likewise.
            request: an id of this call; see ``add``.
            numbers: not taken, nor is anything else; more time for measurements is ``renew``.
        """
        if numbers or more or budget is None:
            given = ", ".join([*map(repr, numbers), *(f"{name}={value!r}" for name, value in more.items())])
            now = self.budget
            example = (now.unit, 2 * now.amount) if isinstance(now, Amount) else now + 100
            raise InvalidInput(
                f"extend({given}) is not about a budget; write extend(budget={example!r}) to allow more measurements, "
                f"or renew({given or 'number'}) to give a worker more time for some."
            )
        wanted, aim = budget_of(budget), check_aim(confidence, resolution, self.definition.metrics)
        self._live.change(lambda rules: rules.extend(wanted, aim if aim.to_dict() else None), request)

    def add(
        self,
        measurements: Iterable[tuple[str, Values]] | TableGiven,
        *,
        option: str = "option",
        again: bool = False,
        request: str | None = None,
    ) -> list[int]:
        """Adds measurements that were made before the study, or beside it. All of them, or none if anything is wrong with one.

        They are data like all others, and count against the budget. With policies that plan rounds they count as soon as their
        options are due, now or in a later round, instead of new ones.

        Args:
            measurements: pairs of an option and its values; a mapping may have a ``repeat``, which one of its option it was,
                from 0. Or a table with a row for each, as ``pp.judge`` takes it: a data frame, a list of mappings, a mapping from
                columns to lists, or the path of a CSV file. What it has beside options and metrics is kept.
            option: the column of a table with the names of the options.
            again: whether a table that equals one which was added before, row by row, has other measurements. Otherwise it is
                refused, since a cell of a notebook that is run again would double the data.
            request: an id of this call, any text, kept with what it did. The same id again does nothing more and returns the
                same: for calls whose answer was lost. ``OutcomeUnknown`` says under which id a call without one was made.

        Returns:
            The numbers that they got.
        """
        tabular = is_table(measurements)
        if tabular:
            frame = read_frame(measurements, numbers=list(self.definition.goals), texts=[check_name(option, "column")])
            measurements = told_rows(self.definition, frame, option)
        rows = self.definition.rows(measurements)

        def add(rules: Rules) -> list[int]:
            before = rules.added_before(rows)
            if before is not None:
                return before
            if tabular and not again:
                rules.refuse_known(rows)
            return rules.add(rows)

        return self._add(add, request)

    def record(
        self,
        told: Mapping[int, Values],
        failed: Mapping[int, str],
        added: Iterable[tuple[str, Values]] = (),
        *,
        options: Mapping[int, str] | None = None,
        again: bool = False,
        corrected: Mapping[int, Values] | None = None,
        why: str = "",
        costs: Mapping[int, float] | None = None,
        request: str | None = None,
    ) -> list[int]:
        """``tell``, ``fail`` and ``add`` for many measurements at once: all of them, or none if anything is wrong with one.

        It can be repeated: what was told or failed before is skipped, also if it was voided since.

        Args:
            told: number to values.
            failed: number to the reason.
            added: as for ``add``, except that rows which were recorded before are skipped if they come first, as in a file that
                has grown, and refused if they come later.
            options: number to the name of the option, refused where it is another one.
            again: whether equal rows are other measurements, and to be added, too.
            corrected: number to the values that replace those that were told.
            why: they are corrected.
            costs: number to what a measurement that failed has cost; see ``fail``.
            request: an id of this call; see ``add``.

        Returns:
            The numbers of what was added.
        """
        rows = {number_of(number): self.definition.told(values) for number, values in mapping_of(told, "told").items()}
        reasons = {number_of(number): kept_text(why) for number, why in mapping_of(failed, "failed").items()}
        beside = {number_of(number): option for number, option in mapping_of(options or {}, "options").items()}
        paid = {
            number_of(number): {"cost": check_real(cost, "cost", minimum=0.0)}
            for number, cost in mapping_of(costs or {}, "costs").items()
        }
        new = self.definition.rows(added)
        other = {
            number_of(number): self.definition.told(row).row for number, row in mapping_of(corrected or {}, "corrected").items()
        }

        def record(rules: Rules) -> list[int]:
            before = rules.added_before(new)
            for number, option in beside.items():
                rules.check_option(number, option)
            for number, row in rows.items():
                rules.tell(number, row, even_if_voided=True)
            for number, values in other.items():
                rules.correct(number, values, kept_text(why))
            for number, reason in reasons.items():
                rules.fail(number, {"why": reason, **paid.get(number, {})})
            if before is not None:
                return before
            return rules.add(new if again else rules.unknown(new), of=new)

        numbers = self._add(record, request)
        self._brought_back([*rows, *reasons])
        return numbers

    def _add(self, act: Callable[[Rules], list[int]], request: str | None) -> list[int]:
        """Many measurements at once, after which the state is kept."""
        numbers = self._live.change(act, request)
        with suppress(StorageFailed):  # the measurements are stored, and the next one to write keeps it
            self._live.keep_checkpoint()
        return numbers
