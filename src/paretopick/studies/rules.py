"""Who gets which measurement, and what may be told: the rules of a study, at a moment when nobody else can write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from paretopick._arrays import check_budget, check_real
from paretopick.errors import AlreadyTold, InvalidInput, LogDamaged, NotDue
from paretopick.events import Event, Lease, Outstanding, row_digest, table_digests
from paretopick.policies import policies_with
from paretopick.storage import Transaction
from paretopick.studies.state import State

Rows = Sequence[tuple[int, Sequence[float]]]
"""Options and values of measurements that nobody asked for."""


class Rules:
    """What can be done with a study in one transaction; everything is checked before anything is written.

    Args:
        state: what follows from the events so far.
        transaction: that has the study to itself.
        request: an id of the call, kept with its events.
        again: whether the call may have been made before, under the same id; it then has no further effect.
    """

    def __init__(self, state: State, transaction: Transaction, request: str | None = None, *, again: bool = False) -> None:
        self.state = state
        self.transaction = transaction
        self._request, self._again = request, again
        self._exact_values: dict[tuple[int, int], float] = {}
        """Of exact metrics, by option and metric, as they came up in this transaction."""

    def hand_out(self, n: int, worker: str, seconds: float | None) -> list[Lease]:
        """Returns up to ``n`` leases: those that the worker has, then those that ran out, then new ones."""
        expires = self._end(seconds)
        out = self._waited_for(worker, n)
        again = [lease._replace(worker=worker, expires=expires) for lease in (*out.mine, *out.over)[:n]]
        changed = [lease.number for lease in again]
        self.transaction.change_leases(changed[len(out.mine) :], worker=worker)
        self.transaction.change_leases(changed, expires=expires)
        arms = self._next_arms(n - len(again), out.by_arm)
        numbers = self.transaction.new_numbers(len(arms))
        asked_in = self.state.policy.round
        new = [Lease(number, arm, asked_in, worker, expires, False) for number, arm in zip(numbers, arms, strict=True)]
        self.transaction.hand_out(new)
        return again + new

    def tell(self, number: int, row: Sequence[float], worker: str | None = None, *, even_if_voided: bool = False) -> None:
        """Takes in what came out of a measurement; the same as before is harmless, and anything else is refused.

        Args:
            number: of the measurement.
            row: the values.
            worker: who tells.
            even_if_voided: whether the same as before is harmless after a void, too: in a sheet that is read again.
        """
        lease = self.transaction.lease(number)
        if lease is None:
            again = bool(self._made_before("told", number)) or even_if_voided
            if not (again and self._knows(number, row)):
                self._refuse_unless_told(number, row)
            return
        self._check_exact(lease.arm, row)
        self.transaction.drop_leases([number])
        digest = row_digest(lease.arm, row)
        self._append(Event(0, "told", number, lease.arm, lease.round, row, worker=worker or lease.worker, digest=digest))

    def fail(self, number: int, details: Mapping[str, Any], worker: str | None = None) -> None:
        """Takes in that a measurement could not be made; not from a worker who no longer has it."""
        lease = self.transaction.lease(number)
        if lease is None:
            kind = self._past(number)[-1].kind
            if kind != "failed":
                remedy = "; void it if it was wrong" if kind == "told" else ""
                raise NotDue(f"measurement {number} was {kind} already{remedy}.")
            return
        if worker in (None, lease.worker):
            self.transaction.drop_leases([number])
            self._append(Event(0, "failed", number, lease.arm, lease.round, details=details, worker=lease.worker))

    def void(self, number: int, why: str) -> None:
        """Takes a measurement back."""
        if self.transaction.lease(number) is not None:
            raise NotDue(f"measurement {number} was not told yet; report it as failed if it cannot be made.")
        if self._made_before("voided", number):
            return
        told, *rest = self._past(number)
        if rest or told.kind != "told":
            raise NotDue(f"measurement {number} was {(rest or [told])[-1].kind} already.")
        if told.digest != row_digest(told.arm or 0, told.measured or ()):
            raise LogDamaged(
                f"the values of measurement {number} are not those that were told (event {told.position}): they were changed in "
                "the database. Nothing was written; see what paretopick check says, and restore a backup."
            )
        self._append(told._replace(kind="voided", details={"why": why}, digest=None))

    def retire(self, arm: int, why: str) -> None:
        """Takes an option out."""
        for event in self._made_before("retired"):
            if event.arm != arm:
                raise self._used_for("another option")
            return
        if arm in self.state.retired:
            name = self.state.definition.options[arm]
            raise InvalidInput(f"option {name!r} was retired already: {self.state.retired[arm]}")
        self._append(Event(0, "retired", arm=arm, details={"why": why}))

    def extend(self, budget: int) -> None:
        """Allows more measurements; as many as there are already is harmless."""
        for event in self._made_before("extended"):
            if (event.details or {})["budget"] != budget:
                raise self._used_for("another budget")
            return
        choice = self.state.definition.choice
        if not choice.extendable:
            raise InvalidInput(
                f"the rounds of {choice.name} are planned for the budget of {self.state.budget}; only a study with "
                f"{' or '.join(policies_with('extendable'))} can be given more later. Create a new study with the larger budget "
                "and import the export of this one: its measurements then count."
            )
        if check_budget(budget) < self.state.budget:
            raise InvalidInput(f"budget={budget} is less than the {self.state.budget} that the study has already.")
        if budget > self.state.budget:
            self._append(Event(0, "extended", details={"budget": int(budget)}))

    def add(self, rows: Rows, *, of: Rows | None = None) -> list[int]:
        """Takes in measurements that nobody asked for, and returns their numbers.

        Args:
            rows: options and values.
            of: the whole table that they come from, to know it again when it has grown.
        """
        if not rows:
            return []
        for arm, row in rows:
            self._check_exact(arm, row)
        table = rows if of is None else of
        numbers = self.transaction.new_numbers(len(rows))
        *_, digest = table_digests(table)
        details = {"rows": len(table), "digest": digest, "first": numbers[0], "new": len(rows)}
        new = [
            Event(0, "told", number, arm, measured=row, digest=row_digest(arm, row))
            for number, (arm, row) in zip(numbers, rows, strict=True)
        ]
        self._append(Event(0, "imported", details=details, digest=digest[:16]), *new)
        return list(numbers)

    def added_before(self, rows: Rows) -> list[int] | None:
        """Returns the numbers that the same call got when it was made before, None if it was not."""
        for event in self._made_before("imported"):
            first, n, known = ((event.details or {})[key] for key in ("first", "new", "digest"))
            if list(table_digests(rows))[-1:] != [known]:
                raise self._used_for("other measurements")
            return list(range(first, first + n))
        return None

    def unknown(self, rows: Rows) -> Rows:
        """Returns those of a table that were not added before: what follows the longest part of it that was.

        Refuses rows further down that are equal to some that were added: most probably they are the same measurements.
        """
        known = 0
        lengths = {digest: n for n, digest in enumerate(table_digests(rows), start=1)}
        for event in self._alike("imported", {digest[:16] for digest in lengths}):
            known = max(known, lengths.get((event.details or {})["digest"], 0))
        new = rows[known:]
        digests = [row_digest(arm, row) for arm, row in new]
        before = {(event.arm, *(event.measured or ())) for event in self._alike("told", digests)}
        for place, (arm, row) in enumerate(new, start=known + 1):
            if (arm, *row) in before:
                shown = ", ".join(f"{name}={value:.15g}" for name, value in self._named(row))
                raise InvalidInput(
                    f"measurement {place} of {len(rows)}, {self.state.definition.options[arm]!r} with {shown}, was added "
                    "before, and would count twice; if it is another one that happens to be equal, say so with again."
                )
        return new

    def _alike(self, kind: str, digests: Collection[str]) -> Iterable[Event]:
        """Events of a kind that have one of some digests, a part of them at a time."""
        rest = list(dict.fromkeys(digests))
        for start in range(0, len(rest), 500):
            yield from (event for event in self.transaction.alike(rest[start : start + 500]) if event.kind == kind)

    def _knows(self, number: int, row: Sequence[float]) -> bool:
        """Returns whether a measurement was told just this before, whatever happened to it since."""
        past = self.transaction.history(number)
        return any(event.kind == "told" and list(event.measured or ()) == list(row) for event in past)

    def renew(self, numbers: Collection[int], worker: str, seconds: float | None) -> list[int]:
        """Gives a worker more time for what it still has, and returns that."""
        expires = self._end(seconds)
        found = [self.transaction.lease(number) for number in numbers]
        mine = [lease.number for lease in found if lease is not None and lease.worker == worker]
        self.transaction.change_leases(mine, expires=expires)
        return mine

    def release(self, numbers: Collection[int], worker: str) -> list[int]:
        """Takes measurements, or all, from a worker who will not make them, and returns which."""
        for event in self._made_before("released"):
            return list((event.details or {})["numbers"])
        held = [lease.number for lease in self.transaction.leases(worker)]
        mine = [number for number in held if number in numbers] if numbers else held
        if mine or self._again:  # that there was nothing is kept, too, for whoever makes the call again
            self.transaction.drop_leases(mine)
            self._append(Event(0, "released", details={"numbers": mine}, worker=worker))
        return mine

    def check_option(self, number: int, option: str) -> None:
        """Refuses a number that stands beside another option than it was handed out for."""
        lease = self.transaction.lease(number)
        arm = self._past(number)[0].arm if lease is None else lease.arm
        name = None if arm is None else self.state.definition.options[arm]
        if name != option:
            raise InvalidInput(f"measurement {number} is of {name!r}, and not of {option!r}; have rows been mixed up?")

    def _end(self, seconds: float | None) -> float | None:
        return None if seconds is None else self.transaction.now + check_real(seconds, "lease", above=0.0)

    def _waited_for(self, worker: str, n: int) -> Outstanding:
        """What is out and waited for. If options are no longer due so often, waiting for the newest ends here."""
        out, due = self.transaction.outstanding(worker, n), self.state.policy.due
        excess = {arm: count - int(due[arm]) for arm, count in out.by_arm.items() if count > due[arm]}
        if not excess:
            return out
        for arm, count in excess.items():
            self.transaction.change_leases(self.transaction.newest(arm, count), withdrawn=True)
        return self.transaction.outstanding(worker, n)

    def _next_arms(self, n: int, out: Mapping[int, int]) -> list[int]:
        """The options that are due and not out, those first of which the most is missing."""
        missing = self.state.policy.due
        for arm, count in out.items():
            missing[arm] -= count
        arms: list[int] = []
        while len(arms) < n and missing[arm := int(missing.argmax())] > 0:
            arms.append(arm)
            missing[arm] -= 1
        return arms

    def _append(self, *new: Event) -> None:
        self.transaction.append([event._replace(request=self._request) for event in new])

    def _made_before(self, kind: str, number: int | None = None) -> list[Event]:
        """What this call did when it was made before, under the same id; refuses an id that was used for something else."""
        if not self._again or self._request is None:
            return []
        found = self.transaction.requested(self._request) if number is None else self.transaction.history(number)
        mine = [event for event in found if event.request == self._request]
        if mine and kind not in {event.kind for event in mine}:
            raise self._used_for(f"something {mine[0].kind}")
        return mine

    def _used_for(self, what: str) -> InvalidInput:
        return InvalidInput(f"request={self._request!r} was used before, for {what}; give every call an id of its own.")

    def _check_exact(self, arm: int, row: Sequence[float]) -> None:
        """Refuses another value of an exact metric than before."""
        definition = self.state.definition
        for i, metric in enumerate(definition.metrics):
            if metric.exact:
                before = self.state.exact_value(arm, i)
                before = self._exact_values.setdefault((arm, i), row[i] if before is None else before)
                if row[i] != before:
                    raise InvalidInput(
                        f"metric {metric.name!r} of {definition.options[arm]!r} is {row[i]:.15g} and was {before:.15g} before; "
                        "an exact metric never changes, so one of them is wrong, or the metric is not exact."
                    )

    def _named(self, row: Sequence[float]) -> Iterable[tuple[str, float]]:
        return zip(self.state.definition.goals, row, strict=True)

    def _past(self, number: int) -> list[Event]:
        """What happened to a measurement that is not out; refuses numbers that never were."""
        past = self.transaction.history(number)
        if not past:
            known = self.transaction.next_number - 1
            given = "was given back" if 1 <= number <= known else "was never handed out"
            raise NotDue(f"measurement {number} {given}; numbers are handed out to whoever asks, and the last one was {known}.")
        return past

    def _refuse_unless_told(self, number: int, row: Sequence[float]) -> None:
        past = self._past(number)
        if [event.kind for event in past] != ["told"]:
            why = (past[-1].details or {}).get("why", "")
            raise NotDue(f"measurement {number} was {past[-1].kind} ({why}); ask for a new one.")
        before = list(past[0].measured or ())
        if before != list(row):
            shown = ", ".join(f"{name}={value:.15g}" for name, value in self._named(before))
            raise AlreadyTold(
                f"measurement {number} was already told {shown}; telling it other values would lose data. "
                "Void it first if it was wrong."
            )
