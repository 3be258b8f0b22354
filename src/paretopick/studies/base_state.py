"""What states of studies have in common: the data, who is out, and what follows from both. No database, no clock, no chance."""

from __future__ import annotations

import copy
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, log, nan
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray, check_integer
from paretopick._blocks import Blocked
from paretopick.errors import InvalidInput, LogDamaged, NotReady
from paretopick.estimates import Estimates, estimate
from paretopick.events import Event, Row
from paretopick.policies.base import STATE_FORMAT, Policy
from paretopick.studies.aims import Aim
from paretopick.studies.blocks import Block, Blocks
from paretopick.studies.budgets import Spent
from paretopick.studies.definition import Definition
from paretopick.studies.repeats import LARGEST_REPEAT, Repeats, repeat_of
from paretopick.studies.sums import Sums

FORMAT = [5, STATE_FORMAT]
"""Version of the dictionaries of ``to_dict``; raised whenever the same events lead to another state."""


class State(ABC):
    """What is known after some events: the data, the budget, and who is out.

    Applied one by one or many at once, from the first one on or from a checkpoint, the same events give the same state, bit for
    bit. Measurements themselves are not kept, only their exact sums: one that is taken back leaves what would be without it.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        """With the options that were added since."""
        self.position = 0
        """Of the last event applied."""
        self.failed = 0
        self.retired: dict[int, str] = {}
        """Options that were taken out, and why."""
        self.aims = [definition.aim]
        """When it stops before the budget is spent: as it was said at first, then, and last."""
        self.at_last_look: tuple[int, Sums, Blocks | None] | None = None
        """Position, sums and blocks when it was last time to look whether the aim is reached; None if that is now."""
        self._base = definition
        self.repeats = [Repeats() for _ in definition.options]
        """Which repeats the valid measurements of each option have, those that do not count yet included."""
        self.blocks: Blocks | None = None
        """The measurements by what they share, where the definition has a pairing."""
        self.sums = Sums(len(definition.options), len(definition.metrics))
        """Of the measurements that count."""

    # What every state says, whatever the policy.

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy, with the data as they are."""

    @property
    @abstractmethod
    def budget(self) -> int:
        """The most measurements that are asked for."""

    @property
    def spent(self) -> Spent | None:
        """How much of the budget is spent, where that is in a unit; None where it counts measurements."""
        return None

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether nothing is left to be measured."""

    @property
    @abstractmethod
    def round(self) -> int:
        """The round in which a measurement is asked for now."""

    @property
    @abstractmethod
    def wanted(self) -> int:
        """How many measurements are asked for before anything else can be decided, those that are being made included."""

    @property
    @abstractmethod
    def planned(self) -> int:
        """How many measurements will count in the end, as far as is known now."""

    @abstractmethod
    def proposals(self, n: int, out: Mapping[int, int]) -> list[int]:
        """Returns the options to measure next, in this order, at most so many.

        Args:
            n: how many.
            out: how many measurements of each option are being made.
        """

    @abstractmethod
    def due_alike(self, out: Mapping[int, int]) -> list[int]:
        """Returns the options that ``proposals`` begins with, if several are equally due and any of them may be first."""

    @abstractmethod
    def room_for(self, arm: int, out: Mapping[int, int]) -> int:
        """Returns how many more measurements of an option can count now, beside those that are being made."""

    @abstractmethod
    def excess(self, out: Mapping[int, int]) -> dict[int, int]:
        """Returns how many measurements of each option are being made that nobody waits for any more."""

    @property
    def aim(self) -> Aim:
        """When it stops before the budget is spent."""
        return self.aims[-1]

    @property
    def counts(self) -> IntArray:
        """How many measurements of each option count."""
        return self.sums.counts.copy()

    @property
    def used(self) -> int:
        """Measurements that count."""
        return int(self.sums.counts.sum())

    @property
    def kept(self) -> int:
        """Measurements that do not count, because nobody asked for them yet."""
        return 0

    @property
    def listed(self) -> int:
        """Measurements that checkpoints hold one by one."""
        return self.kept + (0 if self.blocks is None else len(self.blocks))

    def next_repeats(self, out: Mapping[int, Sequence[int]]) -> IntArray:
        """Returns for each option the repeat that its next measurement is: the lowest that is free.

        Args:
            out: the repeats of each option that are being measured.
        """
        free = [next(repeats.free(out.get(arm, ()))) for arm, repeats in enumerate(self.repeats)]
        return np.array(free, dtype=np.int64)

    def exact_value(self, arm: int, metric: int) -> float | None:
        """Returns what an exact metric of an option is, None before it was told."""
        return self.sums.mean(arm, metric) if self.sums.known[arm, metric] else None

    @property
    def present(self) -> list[int]:
        """The options that were not retired."""
        return [arm for arm in range(len(self.definition.options)) if arm not in self.retired]

    def front(self) -> list[int]:
        """Returns the answer of the policy, sorted; before every option was measured, those accepted already."""
        try:
            arms: list[int] = self.policy.recommend().tolist()
        except NotReady:
            return list(self.policy.snapshot().accepted)
        return arms

    # What the data are.

    def means(self) -> FloatArray:
        """Returns the mean of every option and metric, in the units of the user, NaN without measurements.

        Where all values are equal it is exactly that value; of metrics that are compared as logarithms it is the geometric mean.
        """
        means = self.sums.means()
        for at in self.definition.logged:
            means[:, at] = np.exp(means[:, at])
        return means

    def compared_means(self) -> FloatArray:
        """Returns the mean of every option and metric as it is compared, NaN without measurements; not yet with its sign."""
        means = self.sums.means()
        for at, metric in enumerate(self.definition.metrics):
            if metric.log and metric.exact:
                means[:, at] = np.log(means[:, at])
        return means

    def variances(self) -> FloatArray:
        """Returns the sample variance of every option and metric as it is compared, NaN with fewer than two measurements."""
        freedom = self.sums.known - 1
        return np.where(freedom > 0, self.sums.squares() / np.maximum(freedom, 1), np.nan)

    def noise(self) -> FloatArray:
        """Returns the standard deviation of each metric as it is compared, pooled over the options; NaN without repeats."""
        freedom = np.maximum(self.sums.known - 1, 0).sum(axis=0)
        squares = self.sums.squares().sum(axis=0)
        return np.where(freedom > 0, np.sqrt(squares / np.maximum(freedom, 1)), np.nan)

    def blocked(self, arms: Sequence[int]) -> Blocked | None:
        """Returns the measurements of some options by block, as they are compared; None where none is declared to share any."""
        return None if self.blocks is None else self.blocks.blocked(arms)

    def block_names(self, arms: Sequence[int]) -> list[Block]:
        """Returns the blocks of some options, in the order of the rows of ``blocked``."""
        return [] if self.blocks is None else self.blocks.names(arms)

    def estimates(self, arms: Sequence[int], *, blocked: Blocked | None = None) -> Estimates:
        """Returns what is known about the means of some options, as they are compared; raises ``NotReady`` if too little is.

        Args:
            arms: the options.
            blocked: their measurements by block, if others than those declared share what makes them vary.
        """
        chosen = np.array(arms, dtype=np.int64)
        return estimate(
            self.sums.counts[chosen] if self.sums.complete else self.sums.known[chosen],
            self.compared_means()[chosen],
            self.sums.products(arms),
            binary=self.sums.binary(arms) & [not metric.log for metric in self.definition.metrics],
            exact=np.array(self.definition.is_exact),
            signs=self.definition.signs,
            measurements=self.sums.counts[chosen],
            names=([self.definition.options[arm] for arm in arms], list(self.definition.goals)),
            blocked=self.blocked(arms) if blocked is None else blocked,
        )

    def compared_row(self, event: Event) -> list[float]:
        """Returns the values of an event about a measurement as they are compared, NaN where one is missing."""
        return [nan if value is None else value for value in self._row(event, event.measured)]

    def widths(self) -> FloatArray:
        """Returns what metrics are divided by, 0 where they are exact."""
        metrics = self.definition.metrics
        units = self._noise_or_a_guess() if self.definition.scale == "noise" else np.ones(len(metrics))
        return np.array([metric.divisor(float(unit)) for metric, unit in zip(metrics, units, strict=True)])

    def _noise_or_a_guess(self) -> FloatArray:
        """The noise of each metric; before there are repeats, the spread of the options, which knows the unit at least.

        A metric that never varied between repeats may still do so, a success rate of 100% for instance: as if one more repeat
        had differed by the smallest difference between options. It counts for less and less as repeats agree.
        """
        widths = self.noise()
        if (widths > 0).all():
            return widths
        known, means = self.sums.known, self.sums.means()
        for metric in np.flatnonzero(~(widths > 0)):
            told = means[known[:, metric] > 0, metric]
            levels = np.unique(told)
            if len(levels) < 2:
                widths[metric] = 1.0
            elif np.isnan(widths[metric]):
                widths[metric] = np.std(told)
            else:
                widths[metric] = np.diff(levels).min() / np.sqrt(2.0 * (1 + np.maximum(known[:, metric] - 1, 0).sum()))
        return np.where(widths > 0, widths, 1.0)

    def signed_totals(self, arms: Sequence[int]) -> FloatArray:
        """Returns the sums of some options as policies have them: larger is better."""
        totals = self.sums.totals(arms)
        for at, metric in enumerate(self.definition.metrics):
            if metric.log and metric.exact:
                totals[:, at] = self.sums.known[list(arms), at] * np.nan_to_num(self.compared_means()[list(arms), at])
        return totals * self.definition.signs + 0.0  # not -0.0

    # What happens.

    @abstractmethod
    def apply(self, events: Sequence[Event]) -> None:
        """Takes the next events of the log into account."""

    def copy(self) -> State:
        """Returns an equal state, which goes its own way."""
        return copy.deepcopy(self, {id(self.definition): self.definition, id(self._base): self._base})

    def when_last_looked_at(self) -> State:
        """Returns a copy with the data as they were when it was last time to look at the aim; itself if that is now.

        For estimates alone: what is to be measured next is not known of it.
        """
        if self.at_last_look is None:
            return self
        before = self.copy()
        assert before.at_last_look is not None
        (before.position, before.sums, before.blocks), before.at_last_look = before.at_last_look, None
        return before

    # Checkpoints.

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Returns the state as JSON values, from which ``restore_state`` goes on."""

    @abstractmethod
    def _load(self, saved: Mapping[str, Any]) -> None:
        """Takes over what ``to_dict`` described; sizes are checked before anything of that size is made."""

    def _common(self) -> dict[str, Any]:
        """What all states keep."""
        return {
            "format": FORMAT,
            "study": fingerprint(self._base),
            "position": self.position,
            "failed": self.failed,
            "retired": [[arm, why] for arm, why in sorted(self.retired.items())],
            "sums": self.sums.to_list(),
            "repeats": [repeats.to_list() for repeats in self.repeats],
        } | {
            **({"tells_repeat": True} if self.definition.tells_repeat else {}),
            **({"described": other} if (other := self._described_since()) else {}),
        }

    def _load_common(self, saved: Mapping[str, Any]) -> None:
        n_options = len(self.definition.options)
        self.sums = Sums.from_list(saved["sums"], n_options, len(self.definition.metrics))
        self.retired = {check_integer(arm, "option", minimum=0, maximum=n_options - 1): str(why) for arm, why in saved["retired"]}
        self.position, self.failed = (check_integer(saved[key], key, minimum=0) for key in ("position", "failed"))
        if len(saved["repeats"]) != n_options:
            raise ValueError(f"there are repeats of {len(saved['repeats'])} options; expected {n_options}")
        self.repeats = [Repeats.from_list(repeats) for repeats in saved["repeats"]]
        if saved.get("tells_repeat", False):
            self._has_its_own_repeat()
        self.definition = self.definition.described(saved.get("described", {}))

    def _described_since(self) -> dict[str, Any]:
        """What of the description of the study is otherwise than it was at first."""
        before = self._base.description
        return {name: value for name, value in self.definition.description.items() if value != before[name]}

    # Reading events.

    def _arm(self, event: Event) -> int:
        """The option of an event, which has one."""
        if event.arm is None or not 0 <= event.arm < len(self.definition.options):
            raise LogDamaged(
                f"event {event.position} of the log ({event.kind}) is about option {event.arm}; "
                f"expected a number below {len(self.definition.options)}."
            )
        return event.arm

    def _describe(self, event: Event) -> None:
        """The study has another baseline from now on, or is measured otherwise."""
        try:
            self.definition = self.definition.described(event.details or {})
        except InvalidInput as problem:
            raise LogDamaged(f"event {event.position} of the log ({event.kind}) cannot be read: {problem}") from None

    def _take_repeat(self, event: Event, arm: int) -> None:
        """A measurement of an option was told."""
        details = event.details
        repeat = None if details is None else details.get("repeat")
        if repeat is not None and not (isinstance(repeat, int) and 0 <= repeat <= LARGEST_REPEAT):
            raise LogDamaged(f"event {event.position} of the log ({event.kind}) has the repeat {repeat!r}; expected a number.")
        self.repeats[arm].add(repeat)
        if details is not None and not self.definition.tells_repeat and "repeat" in details.get("extra", ()):
            self._has_its_own_repeat()

    def _free_repeat(self, event: Event, arm: int) -> None:
        """A measurement of an option was taken back."""
        if not self.repeats[arm].remove(repeat_of(event)):
            raise LogDamaged(
                f"event {event.position} of the log takes back a measurement with repeat {repeat_of(event)}, and there is none."
            )

    def _has_its_own_repeat(self) -> None:
        """Measurements tell something else under the name of repeats."""
        self.definition = replace(self.definition, tells_repeat=True)

    def _measured(self, event: Event) -> tuple[int, int, Row]:
        """Number, option and values of an event about a measurement."""
        if event.number is None:
            raise LogDamaged(f"event {event.position} of the log ({event.kind}) is a measurement without a number.")
        return event.number, self._arm(event), self._row(event, event.measured)

    def _row(self, event: Event, values: Any) -> Row:
        """Values of an event as sums take them: as many as there are metrics, of which some may be missing."""
        logged = self.definition.logged
        if (
            not isinstance(values, Sequence)
            or len(values) != len(self.definition.metrics)
            or not all(value is None or isfinite(value) for value in values)
            or all(value is None for value in values)
            or any(value is not None and value <= 0 for value in map(values.__getitem__, logged))
        ):
            raise LogDamaged(
                f"event {event.position} of the log ({event.kind}) is measurement {event.number} with the values {values}; "
                f"expected {len(self.definition.metrics)} finite values{', of metrics with log above 0' if logged else ''}."
            )
        if not logged:
            return values
        return [log(value) if at in logged and value is not None else value for at, value in enumerate(values)]


def unknown_kind(event: Event) -> LogDamaged:
    """Returns the error that an event is of a kind that is not known."""
    return LogDamaged(
        f"event {event.position} of the log is of the kind {event.kind!r}, which is not known here; a later version "
        "of paretopick may have written it, otherwise the log is damaged."
    )


def detail(event: Event, name: str) -> Any:
    """Returns what an event of its kind always says."""
    if not event.details or name not in event.details:
        raise LogDamaged(f"event {event.position} of the log ({event.kind}) does not say {name!r}.")
    return event.details[name]


def fingerprint(definition: Definition) -> str:
    """Returns by what a study is known again: whatever decides what follows from its events."""
    about = definition.to_dict()
    parts = [about[key] for key in ("options", "metrics", "exact", "budget", "policy", "policy_options", "scale")]
    parts += [about[key] for key in ("details", "cost") if key in about]
    parts += [["pairing", definition.pairing]] if definition.pairing is not None else []
    parts += [list(definition.costs.by_option)] if definition.costs is not None and definition.costs.by_option else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
