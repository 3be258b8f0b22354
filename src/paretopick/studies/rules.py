"""Who gets which measurement, and what may be told: the rules of a study, at a moment when nobody else can write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from paretopick._arrays import check_real
from paretopick._words import short
from paretopick.errors import AlreadyTold, InvalidInput, LogDamaged, NotDue
from paretopick.events import Event, Lease, Outstanding, Row, row_digest, table_digests
from paretopick.policies import policies_with
from paretopick.storage import Transaction
from paretopick.studies.aims import Aim
from paretopick.studies.blocks import as_block
from paretopick.studies.budgets import Amount, Budget, amount_of, unit_of
from paretopick.studies.repeats import block_of, kept_with, repeat_of
from paretopick.studies.sharing import same
from paretopick.studies.state import State
from paretopick.studies.told import Told

Rows = Sequence[tuple[int, Told]]
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

    def hand_out(self, n: int, worker: str, seconds: float | None, *, seed: str | None = None) -> list[Lease]:
        """Returns up to ``n`` leases: those that the worker has, then those that ran out, then new ones.

        Args:
            n: how many.
            worker: who gets them.
            seconds: for how long; None without limit.
            seed: by which, and by the number of the first new one, options that are equally due are put in a random order; None
                for the order of the options.
        """
        expires = self._end(seconds)
        out = self._waited_for(worker, n)
        free: dict[int, Iterator[int]] = {}

        def next_repeat(arm: int) -> int:
            if arm not in free:
                free[arm] = self.state.repeats[arm].free(out.repeats.get(arm, ()))
            return next(free[arm])

        again = [lease._replace(worker=worker, expires=expires) for lease in (*out.mine, *out.over)[:n]]
        for place, lease in enumerate(again):
            if lease.repeat is None:  # from before repeats were counted
                again[place] = lease._replace(repeat=next_repeat(lease.arm))
                self.transaction.change_leases([lease.number], repeat=again[place].repeat)
        changed = [lease.number for lease in again]
        self.transaction.change_leases(changed[len(out.mine) :], worker=worker)
        self.transaction.change_leases(changed, expires=expires)
        arms = self.state.proposals(n - len(again), out.by_arm)
        if arms and seed is not None:
            arms = self._shuffled(arms, out.by_arm, Random(f"{seed} {self.transaction.next_number}"))
        asked = [(next_repeat(arm), arm) for arm in arms]
        if self.state.definition.pairing == "repeat":  # what belongs together is handed out together
            asked.sort(key=lambda each: each[0])
        numbers, asked_in = self.transaction.new_numbers(len(arms)), self.state.round
        new = [
            Lease(number, arm, asked_in, worker, expires, False, repeat)
            for number, (repeat, arm) in zip(numbers, asked, strict=True)
        ]
        self.transaction.hand_out(new)
        return again + new

    def _shuffled(self, arms: list[int], out: Mapping[int, int], random: Random) -> list[int]:
        """Options to be measured next, in a random order within what the policy leaves open."""
        alike = self.state.due_alike(out)
        first = random.sample(alike, min(len(alike), len(arms)))
        rest = arms[len(first) :]
        return first + random.sample(rest, len(rest))

    def tell(self, number: int, told: Told, worker: str | None = None, *, even_if_voided: bool = False) -> None:
        """Takes in what came out of a measurement; the same as before is harmless, and anything else is refused.

        Args:
            number: of the measurement.
            told: what came out.
            worker: who tells.
            even_if_voided: whether the same as before is harmless after a void, too: in a sheet that is read again.
        """
        lease = self.transaction.lease(number)
        if lease is None:
            again = bool(self._made_before("told", number=number)) or even_if_voided
            if not (again and self._knows(number, told.row)):
                self._refuse_unless_told(number, told.row)
            if told.repeat is not None:
                self._check_repeat(number, told.repeat, repeat_of(self._past(number)[-1]))
            self._check_block(number, told)
            return
        if told.repeat is not None:
            self._check_repeat(number, told.repeat, lease.repeat)
        self._check_row(lease.arm, told.row)
        self._check_cost(lease.arm, told, f"measurement {number} of {self.state.definition.options[lease.arm]!r}: ")
        self.transaction.drop_leases([number])
        self._append(_told_event(lease, told, worker))

    def tell_repeats(self, number: int, rows: Sequence[Told], worker: str | None = None) -> int:
        """Takes in several measurements of one option that were made at once, and returns how many of them.

        The first is the one that was asked for. The others get numbers of their own, as if they had been asked for, too: as many
        as what is left of the budget, or of the round, has room for beside what is being measured.

        Args:
            number: of the measurement that was asked for.
            rows: what came out, at least one.
            worker: who tells.
        """
        lease = self.transaction.lease(number)
        if len(rows) > 1 and self.state.definition.pairing == "repeat":
            raise InvalidInput(
                f"{len(rows)} values came out of measurement {number}, which is one repeat, and measurements of the same repeat "
                "are compared with each other; return one value of each metric."
            )
        self.tell(number, rows[0], worker)
        if lease is None:
            return self._kept_before(number, rows)
        out = self.transaction.outstanding("", 0)
        more = rows[1 : max(self.state.room_for(lease.arm, out.by_arm), 1)]
        for told in more:
            self._check_row(lease.arm, told.row)
            self._check_cost(lease.arm, told, f"measurement {number} of {self.state.definition.options[lease.arm]!r}: ")
        taken = {*out.repeats.get(lease.arm, ()), *(() if lease.repeat is None else (lease.repeat,))}
        numbers, free = self.transaction.new_numbers(len(more)), self.state.repeats[lease.arm].free(taken)
        for each, told in zip(numbers, more, strict=True):
            self._append(_told_event(lease._replace(number=each, repeat=next(free)), told, worker))
        return 1 + len(more)

    def _kept_before(self, number: int, rows: Sequence[Told]) -> int:
        """How many of several measurements were kept when this call was made before: some may have had no room."""
        arm = self._past(number)[-1].arm or 0
        alike = self.transaction.alike({row_digest(arm, told.row) for told in rows})
        return sum(event.request == self._request for event in alike) or len(rows)

    def fail(self, number: int, details: Mapping[str, Any], worker: str | None = None) -> None:
        """Takes in that a measurement could not be made; not from a worker who no longer has it."""
        costs, cost = self.state.definition.costs, details.get("cost")
        if cost is not None:
            if costs is None or costs.by_option is not None:
                why = "the budget counts measurements" if costs is None else "it is known by its option"
                raise InvalidInput(f"cost={short(cost)} of measurement {number} is not needed: {why}.")
            costs.checked(cost)
        lease = self.transaction.lease(number)
        if lease is None:
            kind = self._past(number)[-1].kind
            if kind != "failed":
                remedy = "; void it if it was wrong" if kind == "told" else ""
                raise NotDue(f"measurement {number} was {kind} already{remedy}.")
            return
        if worker in (None, lease.worker):
            self.transaction.drop_leases([number])
            said = {**details} if lease.repeat is None else {**details, "repeat": lease.repeat}
            self._append(Event(0, "failed", number, lease.arm, lease.round, details=said, worker=lease.worker))

    def void(self, number: int, why: str) -> None:
        """Takes a measurement back."""
        if self.transaction.lease(number) is not None:
            raise NotDue(f"measurement {number} was not told yet; report it as failed if it cannot be made.")
        if self._made_before("voided", number=number):
            return
        told = self._valid(number)
        details = {"why": why, **kept_with(told, self.state.definition.pairing)}
        self._append(told._replace(kind="voided", details=details, digest=None))

    def correct(self, number: int, row: Row, why: str) -> bool:
        """Puts other values in the place of those of a measurement; returns whether they are other ones."""
        if self.transaction.lease(number) is not None:
            raise NotDue(f"measurement {number} was not told yet; tell it.")
        made = self._made_before("corrected", number=number)
        if any(event.kind == "corrected" and list(event.measured or ()) == list(row) for event in made):
            return False
        told = self._valid(number)
        before = list(told.measured or ())
        if before == list(row):
            return False
        self._check_row(told.arm or 0, row, instead_of=before)
        costs = self.state.definition.costs
        if costs is not None and costs.metric is not None:  # what was told beside the metrics stays
            self._check_cost(told.arm or 0, Told(list(row), {}), "", brought=told.round is None)
        details = {"why": why, "before": before, **kept_with(told, self.state.definition.pairing)}
        self._append(told._replace(kind="corrected", measured=row, details=details, digest=row_digest(told.arm or 0, row)))
        return True

    def _valid(self, number: int) -> Event:
        """What a measurement is, as told or as corrected since; refuses one that is not valid."""
        past = self._past(number)
        last = past[-1]
        if last.kind not in ("told", "corrected"):
            raise NotDue(f"measurement {number} was {last.kind} already.")
        if last.digest != row_digest(last.arm or 0, last.measured or ()):
            raise LogDamaged(
                f"the values of measurement {number} are not those that were {last.kind} (event {last.position}): they were "
                "changed in the database. Nothing was written; see what paretopick check says, and restore a backup."
            )
        return last

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

    def reinstate(self, arm: int, why: str) -> None:
        """Takes an option in again that was retired."""
        for event in self._made_before("reinstated"):
            if event.arm != arm:
                raise self._used_for("another option")
            return
        self._check_roundless("take an option in again")
        if arm not in self.state.retired:
            raise InvalidInput(f"option {self.state.definition.options[arm]!r} is not retired.")
        self._append(Event(0, "reinstated", arm=arm, details={"why": why}))

    def join(self, option: str, settings: Mapping[str, Any], cost: float | None = None) -> None:
        """Adds an option; the same one with the same settings again is harmless."""
        definition = self.state.definition
        for event in self._made_before("joined"):
            if (event.details or {})["option"] != option:
                raise self._used_for("another option")
            return
        self._check_roundless("be given options")
        if option in definition.options and dict(settings) == definition.settings[definition.options.index(option)]:
            return
        definition.with_option(option, settings, cost)
        details = {"option": option, "settings": dict(settings)} | ({} if cost is None else {"cost": float(cost)})
        self._append(Event(0, "joined", arm=len(definition.options), details=details))

    def _check_roundless(self, what: str) -> None:
        """Refuses what is beyond a study whose rounds are planned."""
        choice = self.state.definition.choice
        if not choice.roundless:
            raise InvalidInput(
                f"the rounds of {choice.name} are planned for its options and for the budget of {self.state.budget}; only a "
                f"study with {' or '.join(_studies_with('roundless'))} can {what} later. Create a new study and import the "
                "export of this one: its measurements then count."
            )

    def extend(self, budget: Budget | None, aim: Aim | None = None) -> None:
        """Allows more, in the unit of the budget, says anew when the study stops, or both; what is so already is harmless."""
        wanted: dict[str, Any] = {}
        if budget is not None:
            wanted["extended"] = {"budget": list(budget) if isinstance(budget, Amount) else int(budget)}
        if aim is not None:
            wanted["aimed"] = aim.to_dict()
        made = self._made_before(*wanted)
        if any(event.details != wanted.get(event.kind) for event in made):
            raise self._used_for("another budget" if aim is None else "another aim" if budget is None else "another extension")
        if made:
            return
        self._check_roundless("be given more" if aim is None else "be told when to stop")
        if budget is not None and not self._is_more(budget):
            del wanted["extended"]
        if aim is not None and self.state.aim.says(aim):
            del wanted["aimed"]
        if wanted:
            self._append(*(Event(0, kind, details=details) for kind, details in wanted.items()))

    def describe(self, told: Mapping[str, Any]) -> None:
        """Changes parts of the description, the baseline for instance; what is so already is harmless."""
        for event in self._made_before("described"):
            if event.details != told:
                raise self._used_for("another description")
            return
        if self.state.definition.described(told).description != self.state.definition.description:
            self._append(Event(0, "described", details=dict(told)))

    def _is_more(self, budget: Budget) -> bool:
        """Whether a budget is more than there is; refuses one that is less, or in another unit."""
        spent = self.state.spent
        now = self.state.budget if spent is None else Amount(spent.unit, spent.budget)
        if unit_of(now) != unit_of(budget):
            raise InvalidInput(
                f"budget={budget} is in {unit_of(budget)}, and that of the study, {now}, in {unit_of(now)}; give it in the same "
                "unit."
            )
        if amount_of(budget) < amount_of(now):
            raise InvalidInput(f"budget={budget} is less than the {now} that the study has already.")
        return amount_of(budget) > amount_of(now)

    def add(self, rows: Rows, *, of: Rows | None = None) -> list[int]:
        """Takes in measurements that nobody asked for, and returns their numbers.

        Args:
            rows: options and values.
            of: the whole table that they come from, to know it again when it has grown.
        """
        if not rows:
            return []
        for arm, told in rows:
            self._check_row(arm, told.row)
            self._check_cost(arm, told, "", brought=True)
        table = rows if of is None else of
        numbers = self.transaction.new_numbers(len(rows))
        *_, digest = table_digests(_plain(table))
        details = {"rows": len(table), "digest": digest, "first": numbers[0], "new": len(rows)}
        new = [
            Event(*(0, "told", number, arm, None, told.row, told.details), worker=told.worker, digest=row_digest(arm, told.row))
            for number, (arm, told) in zip(numbers, rows, strict=True)
        ]
        self._append(Event(0, "imported", details=details, digest=digest[:16]), *new)
        return list(numbers)

    def added_before(self, rows: Rows) -> list[int] | None:
        """Returns the numbers that the same call got when it was made before, None if it was not."""
        for event in self._made_before("imported"):
            first, n, known = ((event.details or {})[key] for key in ("first", "new", "digest"))
            if list(table_digests(_plain(rows)))[-1:] != [known]:
                raise self._used_for("other measurements")
            return list(range(first, first + n))
        return None

    def unknown(self, rows: Rows) -> Rows:
        """Returns those of a table that were not added before: what follows the longest part of it that was.

        Refuses rows further down that are equal to some that were added: most probably they are the same measurements.
        """
        known = 0
        lengths = {digest: n for n, digest in enumerate(table_digests(_plain(rows)), start=1)}
        for event in self._alike("imported", {digest[:16] for digest in lengths}):
            known = max(known, lengths.get((event.details or {})["digest"], 0))
        new = rows[known:]
        digests = [row_digest(arm, told.row) for arm, told in new]
        before = {(event.arm, *(event.measured or ())) for event in self._alike("told", digests)}
        for place, (arm, told) in enumerate(new, start=known + 1):
            if (arm, *told.row) in before:
                shown = self._shown(told.row)
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

    def _knows(self, number: int, row: Row) -> bool:
        """Returns whether a measurement was told just this before, whatever happened to it since."""
        past = self.transaction.history(number)
        return any(event.kind in ("told", "corrected") and list(event.measured or ()) == list(row) for event in past)

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

    def _check_repeat(self, number: int, told: int, repeat: int | None) -> None:
        """Refuses a measurement that says it was another repeat than it was handed out as."""
        if told != repeat:
            was = "was handed out without a repeat" if repeat is None else f"is repeat {repeat} of its option"
            raise InvalidInput(
                f"measurement {number} {was}, and repeat={told} was told; leave it out if it is a slip, or have measurements "
                "been mixed up?"
            )

    def _end(self, seconds: float | None) -> float | None:
        return None if seconds is None else self.transaction.now + check_real(seconds, "lease", above=0.0)

    def _waited_for(self, worker: str, n: int) -> Outstanding:
        """What is out and waited for. If options are no longer due so often, waiting for the newest ends here."""
        out = self.transaction.outstanding(worker, n)
        excess = self.state.excess(out.by_arm)
        if not excess:
            return out
        for arm, count in excess.items():
            self.transaction.change_leases(self.transaction.newest(arm, count), withdrawn=True)
        return self.transaction.outstanding(worker, n)

    def _append(self, *new: Event) -> None:
        self.transaction.append([event._replace(request=self._request) for event in new])

    def _made_before(self, *kinds: str, number: int | None = None) -> list[Event]:
        """What this call did when it was made before, under the same id; refuses an id that was used for something else."""
        if not self._again or self._request is None:
            return []
        found = self.transaction.requested(self._request) if number is None else self.transaction.history(number)
        mine = [event for event in found if event.request == self._request]
        if mine and not any(event.kind in kinds for event in mine):
            raise self._used_for(f"something {mine[0].kind}")
        return mine

    def _used_for(self, what: str) -> InvalidInput:
        return InvalidInput(f"request={self._request!r} was used before, for {what}; give every call an id of its own.")

    def _check_row(self, arm: int, row: Row, *, instead_of: Row | None = None) -> None:
        """Refuses another value of an exact metric than before, and gaps where rounds compare options measured equally often.

        Args:
            arm: the option.
            row: its values.
            instead_of: those that they replace, if they are the only ones.
        """
        definition = self.state.definition
        if None in row and not definition.choice.roundless:
            raise InvalidInput(
                f"metric {definition.metrics[list(row).index(None)].name!r} is missing, and {definition.choice.name} compares "
                "options in rounds, all metrics measured equally often; report the measurement as failed. Studies with "
                f"{' or '.join(_studies_with('roundless'))} take what there is."
            )
        for i, (metric, value) in enumerate(zip(definition.metrics, row, strict=True)):
            if metric.exact and value is not None:
                before = self.state.exact_value(arm, i)
                if instead_of is not None and self.state.counts[arm] == 1:
                    before = None
                before = self._exact_values.setdefault((arm, i), value if before is None else before)
                if value != before:
                    raise InvalidInput(
                        f"metric {metric.name!r} of {definition.options[arm]!r} is {value:.15g} and was {before:.15g} before; "
                        "an exact metric never changes, so one of them is wrong, or the metric is not exact."
                    )

    def _check_cost(self, arm: int, told: Told, place: str, *, brought: bool = False) -> None:
        """Refuses a measurement that does not say what it cost, where the budget is in a unit.

        Args:
            arm: its option.
            told: what came out.
            place: which measurement it is, for the message.
            brought: whether nobody asked for it; then it may cost nothing.
        """
        costs = self.state.definition.costs
        if costs is not None and costs.of(arm, told.row, told.extra) is None and not brought:
            raise InvalidInput(f"{place}{costs.missing}")

    def _shown(self, row: Row) -> str:
        """Values as people read them."""
        named = zip(self.state.definition.goals, row, strict=True)
        return ", ".join(f"{name}={'missing' if value is None else format(value, '.15g')}" for name, value in named)

    def _past(self, number: int) -> list[Event]:
        """What happened to a measurement that is not out; refuses numbers that never were."""
        past = self.transaction.history(number)
        if not past:
            known = self.transaction.next_number - 1
            given = "was given back" if 1 <= number <= known else "was never handed out"
            raise NotDue(f"measurement {number} {given}; numbers are handed out to whoever asks, and the last one was {known}.")
        return past

    def _check_block(self, number: int, told: Told) -> None:
        """Refuses that a measurement which was told before is in another block, which would change the answer."""
        pairing = self.state.definition.pairing
        if pairing in (None, "repeat") or pairing not in told.extra:
            return
        before = block_of(self._past(number)[-1], pairing)
        if as_block(before) != as_block(told.extra[pairing]):
            was = "without one" if before is None else f"with {pairing}={short(before)}"
            raise AlreadyTold(
                f"measurement {number} has {pairing}={short(told.extra[pairing])} here and was told {was}, and measurements "
                f"{same(pairing)} are compared with each other. Void it if that was wrong, and add it anew."
            )

    def _refuse_unless_told(self, number: int, row: Row) -> None:
        past = self._past(number)
        if past[-1].kind not in ("told", "corrected"):
            why = (past[-1].details or {}).get("why", "")
            raise NotDue(f"measurement {number} was {past[-1].kind} ({why}); ask for a new one.")
        if list(past[-1].measured or ()) != list(row):
            raise AlreadyTold(
                f"measurement {number} was already told {self._shown(past[-1].measured or ())}; telling it other values would "
                "lose data. Correct it if it was wrong."
            )


def _told_event(lease: Lease, told: Told, worker: str | None) -> Event:
    """That a measurement was told which was handed out so."""
    who, digest = worker or told.worker or lease.worker, row_digest(lease.arm, told.row)
    details = told._replace(repeat=lease.repeat).details
    return Event(0, "told", lease.number, lease.arm, lease.round, told.row, details, worker=who, digest=digest)


def _plain(rows: Rows) -> list[tuple[int, Row]]:
    """Options and values alone, by which tables are known again."""
    return [(arm, told.row) for arm, told in rows]


def _studies_with(trait: str) -> list[str]:
    """The policies of studies that can do something."""
    return [name for name in policies_with("amendable") if name in policies_with(trait)]
