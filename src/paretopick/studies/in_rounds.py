"""The state of a study whose policy plans rounds: measurements count when their option is due, and what was decided stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_integer
from paretopick.errors import InvalidInput, LogDamaged
from paretopick.events import Event, Row
from paretopick.policies import restore_policy
from paretopick.policies.base import Policy
from paretopick.studies.base_state import State, detail, unknown_kind
from paretopick.studies.definition import Definition
from paretopick.studies.kept import Kept, Numbers

FEW = 8
"""Up to so many measurements are applied one by one."""


class InRounds(State):
    """What is known after some events, in rounds.

    A measurement that arrives when its option is not due is kept: it was made before the study, or by a worker whose place others
    have filled. As soon as the option is due it counts, without anybody measuring again.
    """

    def __init__(self, definition: Definition) -> None:
        super().__init__(definition)
        self._policy = definition.new_policy()
        self.voided: list[int] = []
        """Numbers of measurements that were taken back after their round, so that decisions made with them stand."""
        self._kept = Kept(len(definition.options), len(definition.metrics))
        """Measurements whose options are not due."""
        self._late = Numbers()
        """Measurements that came to count in the open round and were not asked for in it."""
        self._late_in = 0
        """That round."""
        self._rescale()

    @property
    def policy(self) -> Policy:
        """The policy, with the data as they are."""
        return self._policy

    @property
    def budget(self) -> int:
        """The most measurements that count."""
        assert self._policy.budget is not None
        return self._policy.budget

    @property
    def done(self) -> bool:
        """Whether nothing is left to be measured."""
        return self._policy.done

    @property
    def round(self) -> int:
        """The open round."""
        return self._policy.round

    @property
    def wanted(self) -> int:
        """How many measurements the open round lacks."""
        return int(self._policy.due.sum())

    @property
    def planned(self) -> int:
        """How many measurements will count in the end."""
        moment = self._policy.snapshot()
        return moment.pulls_used + (moment.pulls_left or 0)

    @property
    def kept(self) -> int:
        """Measurements that do not count, because nobody asked for them yet."""
        return len(self._kept)

    def proposals(self, n: int, out: Mapping[int, int]) -> list[int]:
        """Returns the options that are due and are not being measured, those first of which the most is missing."""
        missing = self._missing(out)
        arms: list[int] = []
        while len(arms) < n and missing[arm := int(missing.argmax())] > 0:
            arms.append(arm)
            missing[arm] -= 1
        return arms

    def due_alike(self, out: Mapping[int, int]) -> list[int]:
        """Returns the options of which the most is missing."""
        missing = self._missing(out)
        return np.flatnonzero((missing > 0) & (missing == missing.max())).tolist()

    def _missing(self, out: Mapping[int, int]) -> IntArray:
        """How many measurements of each option are due and not being made."""
        missing = self._policy.due
        for arm, count in out.items():
            missing[arm] -= count
        return missing

    def room_for(self, arm: int, out: Mapping[int, int]) -> int:
        """Returns how many measurements of an option are due and not being made."""
        return int(self._missing(out)[arm])

    def excess(self, out: Mapping[int, int]) -> dict[int, int]:
        """Returns how many measurements of each option are being made beyond those that are due."""
        due = self._policy.due
        return {arm: count - int(due[arm]) for arm, count in out.items() if count > due[arm]}

    def exact_value(self, arm: int, metric: int) -> float | None:
        """Returns what an exact metric of an option is, None before it was told."""
        if self.sums.counts[arm]:
            return super().exact_value(arm, metric)
        first = self._kept.first(arm)
        return None if first is None else first[metric]

    def apply(self, events: Sequence[Event]) -> None:
        """Takes the next events of the log into account."""
        for is_told, group in groupby(events, key=lambda event: event.kind == "told"):
            if is_told:
                self._told(list(group))
            else:
                for event in group:
                    self._other(event)
        if events:
            self.position = events[-1].position

    def _complete(self, event: Event) -> tuple[int, int, list[float]]:
        """Number, option and values of an event about a measurement, of which none is missing."""
        number, arm, row = self._measured(event)
        return number, arm, self._without_gaps(event, row)

    def _without_gaps(self, event: Event, row: Row) -> list[float]:
        values = [value for value in row if value is not None]
        if len(values) < len(row):
            raise LogDamaged(f"event {event.position} of the log ({event.kind}) lacks values, which {self._policy.name} needs.")
        return values

    def _told(self, events: Sequence[Event]) -> None:
        """Measurements, as many at a time as the open round can take; few are quicker one by one."""
        start = 0
        while start < len(events):
            due = self._policy.due
            part = events[start : start + (int(due.sum()) or len(events))]
            if len(part) > FEW:
                self._told_at_once(part, due)
            else:
                for event in part:
                    self._told_one(event)
            start += len(part)

    def _told_at_once(self, events: Sequence[Event], due: IntArray) -> None:
        """Measurements after which the open round may be full, and not before."""
        told = [self._complete(event) for event in events]
        for event, (_, arm, _) in zip(events, told, strict=True):
            self._take_repeat(event, arm)
        arms = np.array([arm for _, arm, _ in told], dtype=np.int64)
        fits = _fits(arms, due)
        for event, (number, arm, values), fit in zip(events, told, fits.tolist(), strict=True):
            if not fit:
                self._kept.keep(arm, number, values)
            elif event.round != self._policy.round:
                self._mark_late([number])
        if fits.any():
            self._count_many(arms[fits], np.array([values for *_, values in told], dtype=np.float64)[fits], due)
        self._use_kept()

    def _told_one(self, event: Event) -> None:
        number, arm, values = self._complete(event)
        self._take_repeat(event, arm)
        if self._policy.due[arm]:
            if event.round != self._policy.round:
                self._mark_late([number])
            self._count(arm, values)
        else:
            self._kept.keep(arm, number, values)
        self._use_kept()

    def _other(self, event: Event) -> None:
        """Whatever is not a measurement. Before anything that may close a round, the scale is brought up to date."""
        match event.kind:
            case "failed":
                self.failed += 1
            case "voided":
                self._void(event)
            case "retired":
                arm = self._arm(event)
                self.retired[arm] = str(detail(event, "why"))
                self._rescale()
                self._policy.retire(arm)
            case "corrected":
                self._correct(event)
            case "described":
                self._describe(event)
            case "imported" | "released":
                pass
            case _:
                raise unknown_kind(event)
        self._use_kept()

    def _void(self, event: Event) -> None:
        """Takes a measurement out of the sums, which then are what they would be without it."""
        number, arm, values = self._complete(event)
        if not self._kept.drop(arm, number):
            self._take_back(event, number, arm, values)
        self._free_repeat(event, arm)

    def _take_back(self, event: Event, number: int, arm: int, values: Sequence[float]) -> None:
        """Takes a measurement out that counts."""
        if not self.sums.counts[arm]:
            raise LogDamaged(f"event {event.position} of the log takes back a measurement of an option that has none.")
        this_round = event.round == self._policy.round
        if self._late.discard(number):
            this_round |= self._late_in == self._policy.round
        again = this_round and not self._policy.done and arm not in self.retired
        self.sums.remove(arm, values)
        self._rescale()
        row = np.array(values) * self.definition.signs
        self._policy.take_back(arm, row, due=again, sums=self.signed_totals([arm])[0])
        if not again:
            self.voided.append(number)

    def _correct(self, event: Event) -> None:
        """Puts other values in the place of those of a measurement; what was decided with them stands."""
        number, arm, values = self._complete(event)
        before = self._without_gaps(event, self._row(event, detail(event, "before")))
        if self._kept.replace(arm, number, values):
            return
        if not self.sums.counts[arm]:
            raise LogDamaged(f"event {event.position} of the log corrects a measurement of an option that has none.")
        self.sums.remove(arm, before)
        self.sums.add(arm, values)
        self._rescale()
        signs = self.definition.signs
        self._policy.correct(arm, np.array(before) * signs, np.array(values) * signs, sums=self.signed_totals([arm])[0])

    def _mark_late(self, numbers: Sequence[int]) -> None:
        """Measurements are about to count in a round that did not ask for them; taken back in it, they are due again."""
        if self._late_in != self._policy.round:
            self._late, self._late_in = Numbers(), self._policy.round
        self._late.add(numbers)

    def _use_kept(self) -> None:
        """Lets measurements count that waited and whose options have become due."""
        while self._kept and (free := np.minimum(due := self._policy.due, self._kept.counts)).any():
            taken = [self._kept.take(arm, int(free[arm])) for arm in np.flatnonzero(free).tolist()]
            self._mark_late([number for numbers, _ in taken for number in numbers])
            self._count_many(np.repeat(np.arange(len(free)), free), np.concatenate([rows for _, rows in taken]), due)

    def _count(self, arm: int, values: Sequence[float]) -> None:
        """Tells the policy a measurement of an option that is due: what ``_count_many`` does, for one."""
        self.sums.add(arm, values)
        if self._policy.due.sum() == 1:
            self._rescale()
        row = np.array(values) * self.definition.signs
        self._policy.tell([arm], [row], sums=self.signed_totals([arm]))

    def _count_many(self, arms: IntArray, values: FloatArray, due: IntArray) -> None:
        """Tells the policy measurements of options that are due."""
        self.sums.add_many(arms, values)
        if len(arms) == due.sum():
            self._rescale()
        found, places = np.unique(arms, return_inverse=True)
        sums = self.signed_totals(found.tolist())[places]
        self._policy.tell(arms, values * self.definition.signs, sums=sums)

    def _rescale(self) -> None:
        """Tells the policy what to divide metrics by."""
        if self.definition.scale != "raw" or self.definition.exact:
            self._policy.rescale(self.widths())

    def to_dict(self) -> dict[str, Any]:
        """Returns the state as JSON values, from which ``restore_state`` goes on."""
        return self._common() | {
            "policy": self._policy.to_dict(),
            "voided": list(self.voided),
            "kept": self._kept.to_list(),
            "late": [self._late_in, self._late.to_list()],
        }

    def _load(self, saved: Mapping[str, Any]) -> None:
        """Takes over what ``to_dict`` described; sizes are checked before anything of that size is made."""
        definition, policy = self.definition, self._policy
        start = policy.to_dict()
        if any(saved["policy"][key] != start[key] for key in ("policy", "n_arms", "n_objectives", "options")):
            raise InvalidInput("its policy is not that of the study")
        if saved["policy"]["budget"] != self.budget:
            raise InvalidInput(f"its budget is {saved['policy']['budget']}, and the study has {self.budget}")
        self._policy = restore_policy(saved["policy"])
        self._load_common(saved)
        self._kept = Kept.from_list(saved["kept"], len(definition.options), len(definition.metrics))
        self.voided = [check_integer(number, "number", minimum=1) for number in saved["voided"]]
        self._late_in = check_integer(saved["late"][0], "round", minimum=0, maximum=self._policy.round)
        self._late = Numbers.from_list(saved["late"][1], at_most=self.used)
        self._check_whole(saved["policy"])

    def _check_whole(self, policy: Mapping[str, Any]) -> None:
        """Its parts fit each other."""
        every = range(len(self.definition.options))
        if not np.array_equal(self.sums.counts, self._policy.counts):
            raise InvalidInput("the policy counts other measurements than there are sums of")
        if not np.array_equal(self.signed_totals(every), policy["sums"]):
            raise InvalidInput("the policy has other sums than those that are kept")
        if sorted(self.retired) != list(self._policy.snapshot().retired):
            raise InvalidInput("the policy has other retired options")
        if np.minimum(self._policy.due, self._kept.counts).any():
            raise InvalidInput("measurements wait whose options are due")
        if [len(repeats) for repeats in self.repeats] != (self.sums.counts + self._kept.counts).tolist():
            raise InvalidInput("there are repeats of other measurements than there are")
        if self.used + self.kept + self.failed + len(self.voided) > self.position:
            raise InvalidInput(f"there are more measurements than its {self.position} events")


def _fits(arms: IntArray, due: IntArray) -> BoolArray:
    """Which of the arms, one after the other, are due."""
    if (np.bincount(arms, minlength=len(due)) <= due).all():
        return np.ones(len(arms), dtype=np.bool_)
    left = due.tolist()
    fits = []
    for arm in arms.tolist():
        fits.append(left[arm] > 0)
        left[arm] -= 1
    return np.array(fits, dtype=np.bool_)
