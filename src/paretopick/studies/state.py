"""The state of a study: what follows from its events, one after the other. No database, no clock, no chance."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isfinite
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_integer
from paretopick.errors import InvalidInput, LogDamaged, NotReady
from paretopick.estimates import Estimates, estimate
from paretopick.events import Event
from paretopick.policies import restore_policy
from paretopick.policies.base import STATE_FORMAT
from paretopick.studies.definition import Definition
from paretopick.studies.kept import Kept, Numbers
from paretopick.studies.sums import Sums

FORMAT = [3, STATE_FORMAT]
"""Version of the dictionaries of ``to_dict``; raised whenever the same events lead to another state."""


FEW = 8
"""Up to so many measurements are applied one by one."""


class State:
    """What is known after some events: the policy, the noise of the metrics, and what is kept for later.

    A measurement that arrives when its option is not due is kept: it was made before the study, or by a worker whose place others
    have filled. As soon as the option is due it counts, without anybody measuring again.

    Applied one by one or many at once, from the first one on or from a checkpoint, the same events give the same state, bit for
    bit. Measurements themselves are not kept, only their exact sums: one that is taken back leaves what would be without it.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.policy = definition.new_policy()
        self.position = 0
        """Of the last event applied."""
        self.failed = 0
        self.voided: list[int] = []
        """Numbers of measurements that were taken back after their round, so that decisions made with them stand."""
        self.retired: dict[int, str] = {}
        """Options that were taken out, and why."""
        shape = len(definition.options), len(definition.metrics)
        self._sums = Sums(*shape)
        """Of the measurements that count, and of those about to."""
        self._kept = Kept(*shape)
        """Measurements whose options are not due."""
        self._late = Numbers()
        """Measurements that came to count in the open round and were not asked for in it."""
        self._late_in = 0
        """That round."""
        self._rescale()

    @property
    def budget(self) -> int:
        """The most measurements that count."""
        assert self.policy.budget is not None
        return self.policy.budget

    @property
    def used(self) -> int:
        """Measurements that count."""
        return int(self.policy.counts.sum())

    @property
    def kept(self) -> int:
        """Measurements that do not count, because nobody asked for them yet."""
        return len(self._kept)

    def exact_value(self, arm: int, metric: int) -> float | None:
        """Returns what an exact metric of an option is, None before it was told."""
        if self._sums.counts[arm]:
            return self._sums.mean(arm, metric)
        first = self._kept.first(arm)
        return None if first is None else first[metric]

    @property
    def present(self) -> list[int]:
        """The options that were not retired."""
        return [arm for arm in range(len(self.definition.options)) if arm not in self.retired]

    def front(self) -> list[int]:
        """Returns the answer, or the best guess, sorted; before every option was measured, those accepted already."""
        try:
            arms: list[int] = self.policy.recommend().tolist()
        except NotReady:
            return list(self.policy.snapshot().accepted)
        return arms

    def means(self) -> FloatArray:
        """Returns the mean of every option and metric, in the units of the user, NaN without measurements.

        Where all values are equal it is exactly that value.
        """
        return self._sums.means()

    def variances(self) -> FloatArray:
        """Returns the sample variance of every option and metric, NaN with fewer than two measurements."""
        freedom = self._sums.counts[:, None] - 1
        return np.where(freedom > 0, self._sums.squares() / np.maximum(freedom, 1), np.nan)

    def noise(self) -> FloatArray:
        """Returns the standard deviation of each metric, pooled over the options; NaN without repeats."""
        freedom = int(np.maximum(self._sums.counts - 1, 0).sum())
        return np.sqrt(self._sums.squares().sum(axis=0) / freedom) if freedom else np.full(len(self.definition.metrics), np.nan)

    def estimates(self, arms: Sequence[int]) -> Estimates:
        """Returns what is known about the means of some options; raises ``NotReady`` if that is too little."""
        chosen = np.array(arms, dtype=np.int64)
        return estimate(
            self._sums.counts[chosen],
            self._sums.means()[chosen],
            self._sums.products(arms),
            binary=self._sums.binary(arms),
            exact=np.array(self.definition.is_exact),
            signs=self.definition.signs,
        )

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

    def _told(self, events: Sequence[Event]) -> None:
        """Measurements, as many at a time as the open round can take; few are quicker one by one."""
        start = 0
        while start < len(events):
            due = self.policy.due
            part = events[start : start + (int(due.sum()) or len(events))]
            if len(part) > FEW:
                self._told_at_once(part, due)
            else:
                for event in part:
                    self._told_one(event)
            start += len(part)

    def _told_at_once(self, events: Sequence[Event], due: IntArray) -> None:
        """Measurements after which the open round may be full, and not before."""
        told = [self._measured(event) for event in events]
        arms = np.array([arm for _, arm, _ in told], dtype=np.int64)
        fits = _fits(arms, due)
        for event, (number, arm, values), fit in zip(events, told, fits.tolist(), strict=True):
            if not fit:
                self._kept.keep(arm, number, values)
            elif event.round != self.policy.round:
                self._mark_late([number])
        if fits.any():
            self._count_many(arms[fits], np.array([values for *_, values in told], dtype=np.float64)[fits], due)
        self._use_kept()

    def _told_one(self, event: Event) -> None:
        number, arm, values = self._measured(event)
        if self.policy.due[arm]:
            if event.round != self.policy.round:
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
                self.retired[arm] = str(_detail(event, "why"))
                self._rescale()
                self.policy.retire(arm)
            case "extended":
                self._rescale()
                self.policy.extend(_detail(event, "budget"))
            case "imported" | "released":
                pass
            case _:
                raise LogDamaged(
                    f"event {event.position} of the log is of the kind {event.kind!r}, which is not known here; a later version "
                    "of paretopick may have written it, otherwise the log is damaged."
                )
        self._use_kept()

    def _void(self, event: Event) -> None:
        """Takes a measurement out of the sums, which then are what they would be without it."""
        number, arm, values = self._measured(event)
        if self._kept.drop(arm, number):
            return
        if not self._sums.counts[arm]:
            raise LogDamaged(f"event {event.position} of the log takes back a measurement of an option that has none.")
        this_round = event.round == self.policy.round
        if self._late.discard(number):
            this_round |= self._late_in == self.policy.round
        again = this_round and not self.policy.done and arm not in self.retired
        self._sums.remove(arm, values)
        self._rescale()
        signs = self.definition.signs
        sums, squares = self._signed_totals([arm])[0], self._squares([arm])
        self.policy.take_back(
            arm, np.array(values) * signs, due=again, sums=sums, squares=None if squares is None else squares[0]
        )
        if not again:
            self.voided.append(number)

    def _mark_late(self, numbers: Sequence[int]) -> None:
        """Measurements are about to count in a round that did not ask for them; taken back in it, they are due again."""
        if self._late_in != self.policy.round:
            self._late, self._late_in = Numbers(), self.policy.round
        self._late.add(numbers)

    def _use_kept(self) -> None:
        """Lets measurements count that waited and whose options have become due."""
        while self._kept and (free := np.minimum(due := self.policy.due, self._kept.counts)).any():
            taken = [self._kept.take(arm, int(free[arm])) for arm in np.flatnonzero(free).tolist()]
            self._mark_late([number for numbers, _ in taken for number in numbers])
            self._count_many(np.repeat(np.arange(len(free)), free), np.concatenate([rows for _, rows in taken]), due)

    def _count(self, arm: int, values: Sequence[float]) -> None:
        """Tells the policy a measurement of an option that is due: what ``_count_many`` does, for one."""
        self._sums.add(arm, values)
        if self.policy.due.sum() == 1:
            self._rescale()
        row = np.array(values) * self.definition.signs
        self.policy.tell([arm], [row], sums=self._signed_totals([arm]), squares=self._squares([arm]))

    def _count_many(self, arms: IntArray, values: FloatArray, due: IntArray) -> None:
        """Tells the policy measurements of options that are due."""
        self._sums.add_many(arms, values)
        if len(arms) == due.sum():
            self._rescale()
        found, places = np.unique(arms, return_inverse=True)
        sums = self._signed_totals(found.tolist())[places]
        self.policy.tell(arms, values * self.definition.signs, sums=sums, squares=self._squares(arms))

    def _signed_totals(self, arms: Sequence[int]) -> FloatArray:
        """The sums of some options as the policy has them: larger is better."""
        return self._sums.totals(arms) * self.definition.signs + 0.0  # not -0.0

    def _squares(self, arms: Sequence[int] | IntArray) -> FloatArray | None:
        """The squared deviations of some options from their means, for policies that keep them."""
        return self._sums.squares()[arms] if self.policy.keeps_squares else None

    def _arm(self, event: Event) -> int:
        """The option of an event, which has one."""
        if event.arm is None or not 0 <= event.arm < len(self.definition.options):
            raise LogDamaged(
                f"event {event.position} of the log ({event.kind}) is about option {event.arm}; "
                f"expected a number below {len(self.definition.options)}."
            )
        return event.arm

    def _measured(self, event: Event) -> tuple[int, int, Sequence[float]]:
        """Number, option and values of an event about a measurement."""
        arm, values = self._arm(event), event.measured
        if (
            event.number is None
            or values is None
            or len(values) != len(self.definition.metrics)
            or not all(map(isfinite, values))
        ):
            raise LogDamaged(
                f"event {event.position} of the log ({event.kind}) is measurement {event.number} with the values {values}; "
                f"expected a number and {len(self.definition.metrics)} finite values."
            )
        return event.number, arm, values

    def widths(self) -> FloatArray:
        """Returns what metrics are divided by, 0 where they are exact."""
        metrics = self.definition.metrics
        units = self._noise_or_a_guess() if self.definition.scale == "noise" else np.ones(len(metrics))
        return np.array([metric.divisor(float(unit)) for metric, unit in zip(metrics, units, strict=True)])

    def copy(self) -> State:
        """Returns an equal state, which goes its own way."""
        return copy.deepcopy(self, {id(self.definition): self.definition})

    def _rescale(self) -> None:
        """Tells the policy what to divide metrics by."""
        if self.definition.scale != "raw" or self.definition.exact:
            self.policy.rescale(self.widths())

    def _noise_or_a_guess(self) -> FloatArray:
        """The noise of each metric; before there are repeats, the spread of the options, which knows the unit at least.

        A metric that never varied between repeats may still do so, a success rate of 100% for instance: as if one more repeat
        had differed by the smallest difference between options. It counts for less and less as repeats agree.
        """
        widths = self.noise()
        if (widths > 0).all():
            return widths
        counts = self._sums.counts
        told = self._sums.means()[counts > 0]
        for metric in np.flatnonzero(~(widths > 0)):
            levels = np.unique(told[:, metric])
            if len(levels) < 2:
                widths[metric] = 1.0
            elif np.isnan(widths[metric]):
                widths[metric] = np.std(told[:, metric])
            else:
                widths[metric] = np.diff(levels).min() / np.sqrt(2.0 * (1 + np.maximum(counts - 1, 0).sum()))
        return np.where(widths > 0, widths, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Returns the state as JSON values, from which ``State.from_dict`` goes on."""
        return {
            "format": FORMAT,
            "study": _fingerprint(self.definition),
            "position": self.position,
            "policy": self.policy.to_dict(),
            "failed": self.failed,
            "voided": list(self.voided),
            "retired": [[arm, why] for arm, why in self.retired.items()],
            "sums": self._sums.to_list(),
            "kept": self._kept.to_list(),
            "late": [self._late_in, self._late.to_list()],
        }

    @classmethod
    def from_dict(cls, definition: Definition, saved: Mapping[str, Any]) -> State:
        """Returns the state that ``to_dict`` described; one at the start, if another version of the package described it.

        Refuses with ``InvalidInput`` what is damaged, or cannot be the state of such a study.
        """
        state = cls(definition)
        try:
            if saved["format"] == FORMAT:
                state._load(saved)
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as problem:
            raise InvalidInput(f"the saved state of the study cannot be read ({problem}); apply its events instead.") from None
        return state

    def _load(self, saved: Mapping[str, Any]) -> None:
        """Takes over what ``to_dict`` described; sizes are checked before anything of that size is made."""
        definition, policy = self.definition, self.policy
        if saved["study"] != _fingerprint(definition):
            raise InvalidInput("it is that of another study")
        start = policy.to_dict()
        if any(saved["policy"][key] != start[key] for key in ("policy", "n_arms", "n_objectives", "options")):
            raise InvalidInput("its policy is not that of the study")
        budget = check_integer(saved["policy"]["budget"], "budget", minimum=self.budget)
        if budget != self.budget and not definition.choice.extendable:
            raise InvalidInput(f"its budget is {budget}, and the study has {self.budget}")
        self.policy = restore_policy(saved["policy"])
        shape = len(definition.options), len(definition.metrics)
        self._sums = Sums.from_list(saved["sums"], *shape)
        self._kept = Kept.from_list(saved["kept"], *shape)
        self.retired = {check_integer(arm, "option"): str(why) for arm, why in saved["retired"]}
        self.position, self.failed = (check_integer(saved[key], key, minimum=0) for key in ("position", "failed"))
        self.voided = [check_integer(number, "number", minimum=1) for number in saved["voided"]]
        self._late_in = check_integer(saved["late"][0], "round", minimum=0, maximum=self.policy.round)
        self._late = Numbers.from_list(saved["late"][1], at_most=self.used)
        self._check_whole(saved["policy"])

    def _check_whole(self, policy: Mapping[str, Any]) -> None:
        """Its parts fit each other."""
        every = range(len(self.definition.options))
        if not np.array_equal(self._sums.counts, self.policy.counts):
            raise InvalidInput("the policy counts other measurements than there are sums of")
        if not np.array_equal(self._signed_totals(every), policy["sums"]):
            raise InvalidInput("the policy has other sums than those that are kept")
        squares = self._squares(every)
        if squares is not None and not np.array_equal(np.where(self.definition.is_exact, 0.0, squares), policy["squares"]):
            raise InvalidInput("the policy has other squared deviations than those that are kept")
        if sorted(self.retired) != list(self.policy.snapshot().retired):
            raise InvalidInput("the policy has other retired options")
        if np.minimum(self.policy.due, self._kept.counts).any():
            raise InvalidInput("measurements wait whose options are due")
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


def _detail(event: Event, name: str) -> Any:
    """What an event of its kind always says."""
    if not event.details or name not in event.details:
        raise LogDamaged(f"event {event.position} of the log ({event.kind}) does not say {name!r}.")
    return event.details[name]


def _fingerprint(definition: Definition) -> str:
    """By which a study is known again: of whatever decides what follows from its events."""
    about = definition.to_dict()
    parts = [about[key] for key in ("options", "metrics", "exact", "budget", "policy", "policy_options", "scale")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
