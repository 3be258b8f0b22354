"""The state of a study: what follows from its events, one after the other. No database, no clock, no chance."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick.errors import NotReady
from paretopick.estimates import Estimates, estimate
from paretopick.events import Event
from paretopick.policies import restore_policy
from paretopick.policies.base import STATE_FORMAT
from paretopick.studies.definition import Definition

FORMAT = [2, STATE_FORMAT]
"""Version of the dictionaries of ``to_dict``; raised whenever the same events lead to another state."""


FEW = 8
"""Up to so many measurements are applied one by one."""


class ReplayNeeded(Exception):
    """A measurement is taken back, and those that are left are not known, since the state was read from a checkpoint."""


class State:
    """What is known after some events: the policy, the noise of the metrics, and what is kept for later.

    A measurement that arrives when its option is not due is kept: it was made before the study, or by a worker whose place others
    have filled. As soon as the option is due it counts, without anybody measuring again.

    Applied one by one or many at once, the same events give the same state, bit for bit.
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
        self._counts: IntArray = np.zeros(shape[0], dtype=np.int64)
        """How many measurements of each option are in the sums: those that count, and those about to."""
        self._first: FloatArray = np.zeros(shape)
        """The first value of each option, from which the others are counted: variances then lose no digits."""
        self._sums: FloatArray = np.zeros(shape)
        self._products: FloatArray = np.zeros((*shape, shape[1]))
        """Sums of products of those differences, of every metric with every other."""
        self._binary: BoolArray = np.ones(shape, dtype=np.bool_)
        """Whether all values of an option in a metric were 0 or 1."""
        self._kept: dict[int, deque[tuple[int, list[float]]]] = {}
        """By option: numbers and values that wait until the option is due. Options that are due have nothing here."""
        self._late: set[int] = set()
        """Measurements that came to count in the open round and were not asked for in it."""
        self._late_in = 0
        """That round."""
        self._rows: list[dict[int, Sequence[float]]] | None = [{} for _ in definition.options]
        """By option: number and values of every measurement that counts; None after a checkpoint, which leaves them out."""
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
        return sum(map(len, self._kept.values()))

    def exact_value(self, arm: int, metric: int) -> float | None:
        """Returns what an exact metric of an option is, None before it was told."""
        if self._counts[arm]:
            return float(self._first[arm, metric])
        return self._kept[arm][0][1][metric] if self._kept.get(arm) else None

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
        counts = self._counts[:, None]
        return np.where(counts > 0, self._first + self._sums / np.maximum(counts, 1), np.nan)

    def variances(self) -> FloatArray:
        """Returns the sample variance of every option and metric, NaN with fewer than two measurements."""
        freedom = self._counts[:, None] - 1
        return np.where(freedom > 0, self._deviations() / np.maximum(freedom, 1), np.nan)

    def noise(self) -> FloatArray:
        """Returns the standard deviation of each metric, pooled over the options; NaN without repeats."""
        freedom = int(np.maximum(self._counts - 1, 0).sum())
        return np.sqrt(self._deviations().sum(axis=0) / freedom) if freedom else np.full(self._sums.shape[1], np.nan)

    def estimates(self, arms: Sequence[int]) -> Estimates:
        """Returns what is known about the means of some options; raises ``NotReady`` if that is too little."""
        chosen = np.array(arms, dtype=np.int64)
        counts, sums = self._counts[chosen], self._sums[chosen]
        products = self._products[chosen] - sums[:, :, None] * sums[:, None, :] / np.maximum(counts, 1)[:, None, None]
        return estimate(
            counts,
            self.means()[chosen],
            products,
            binary=np.asarray(self._binary[chosen].all(axis=0)),
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
        arms = np.array([event.arm for event in events], dtype=np.int64)
        fits = _fits(arms, due)
        for event, fit in zip(events, fits.tolist(), strict=True):
            self._note_or_keep(event, fits=fit)
        if fits.any():
            values = np.array([event.measured for event in events], dtype=np.float64)[fits]
            self._tally(arms[fits], values)
            if fits.sum() == due.sum():
                self._rescale()
            self.policy.tell(arms[fits], values * self.definition.signs)
        self._use_kept()

    def _told_one(self, event: Event) -> None:
        arm = _known(event.arm)
        if self._note_or_keep(event, fits=bool(self.policy.due[arm])):
            self._count(arm, event.measured or ())
        self._use_kept()

    def _note_or_keep(self, event: Event, *, fits: bool) -> bool:
        """A measurement is about to count, or waits until its option is due."""
        number, arm, values = _known(event.number), _known(event.arm), event.measured or ()
        if fits:
            self._note(number, arm, values, asked_in=event.round)
        else:
            self._kept.setdefault(arm, deque()).append((number, list(values)))
        return fits

    def _other(self, event: Event) -> None:
        """Whatever is not a measurement. Before anything that may close a round, the scale is brought up to date."""
        match event.kind:
            case "failed":
                self.failed += 1
            case "voided":
                self._void(_known(event.number), _known(event.arm), event.measured or (), event.round)
            case "retired":
                self.retired[_known(event.arm)] = str((event.details or {})["why"])
                self._rescale()
                self.policy.retire(_known(event.arm))
            case "extended":
                self._rescale()
                self.policy.extend((event.details or {})["budget"])
        self._use_kept()

    def _void(self, number: int, arm: int, values: Sequence[float], asked_in: int | None) -> None:
        for kept in self._kept.get(arm, ()):
            if kept[0] == number:
                self._kept[arm].remove(kept)
                self._kept = {arm: queue for arm, queue in self._kept.items() if queue}
                return
        if self._rows is None:
            raise ReplayNeeded
        open_round = self.policy.round
        counted_now = asked_in == open_round or (number in self._late and self._late_in == open_round)
        again = counted_now and not self.policy.done and arm not in self.retired
        del self._rows[arm][number]
        rest = np.array(list(self._rows[arm].values())).reshape(-1, len(values))
        self._counts[arm] = 0
        self._first[arm] = self._sums[arm] = 0.0
        self._products[arm], self._binary[arm] = 0.0, True
        self._tally(np.full(len(rest), arm), rest)
        self._rescale()
        signs = self.definition.signs
        sums = np.zeros((1, len(values)))
        np.add.at(sums, np.zeros(len(rest), dtype=np.int64), rest * signs)
        self.policy.take_back(arm, np.array(values) * signs, due=again, sums=sums[0])
        if not again:
            self.voided.append(number)

    def _note(self, number: int, arm: int, values: Sequence[float], *, asked_in: int | None) -> None:
        """A measurement is about to count: what a void will want to know."""
        if self._rows is not None:
            self._rows[arm][number] = values
        if asked_in != self.policy.round:
            if self._late_in != self.policy.round:
                self._late, self._late_in = set(), self.policy.round
            self._late.add(number)

    def _use_kept(self) -> None:
        """Lets measurements count that were kept and whose options have become due."""
        while self._kept and (arms := sorted(arm for arm in self._kept if self.policy.due[arm])):
            number, values = self._kept[arms[0]].popleft()
            if not self._kept[arms[0]]:
                del self._kept[arms[0]]
            self._note(number, arms[0], values, asked_in=None)
            self._count(arms[0], values)

    def _count(self, arm: int, values: Sequence[float]) -> None:
        """Tells the policy a measurement of an option that is due."""
        row = np.array(values)
        self._tally_one(arm, row)
        if self.policy.due.sum() == 1:
            self._rescale()
        self.policy.tell([arm], [row * self.definition.signs])

    def _tally_one(self, arm: int, row: FloatArray) -> None:
        """What ``_tally`` does, for one measurement: the same bits."""
        if self._counts[arm] == 0:
            self._first[arm] = row
            self._sums[arm] = self._products[arm] = 0.0
        difference = row - self._first[arm]
        self._sums[arm] += difference
        self._products[arm] += difference[:, None] * difference
        self._binary[arm] &= (row == 0.0) | (row == 1.0)
        self._counts[arm] += 1

    def _tally(self, arms: IntArray, values: FloatArray) -> None:
        """Adds measurements to the sums from which variances come."""
        found, places = np.unique(arms, return_index=True)
        new = self._counts[found] == 0
        self._first[found[new]] = values[places[new]]
        self._sums[found[new]] = self._products[found[new]] = 0.0
        differences = values - self._first[arms]
        np.add.at(self._sums, arms, differences)  # one by one in the order told, as when they come one by one
        np.add.at(self._products, arms, differences[:, :, None] * differences[:, None, :])
        np.logical_and.at(self._binary, arms, (values == 0.0) | (values == 1.0))
        np.add.at(self._counts, arms, 1)

    def _deviations(self) -> FloatArray:
        """Sums of squares about the mean of every option."""
        squares = np.diagonal(self._products, axis1=1, axis2=2)
        return np.maximum(squares - self._sums**2 / np.maximum(self._counts, 1)[:, None], 0.0)

    def widths(self) -> FloatArray:
        """Returns what metrics are divided by, 0 where they are exact."""
        metrics = self.definition.metrics
        units = self._noise_or_a_guess() if self.definition.scale == "noise" else np.ones(len(metrics))
        return np.array([metric.divisor(float(unit)) for metric, unit in zip(metrics, units, strict=True)])

    def copy(self) -> State:
        """Returns an equal state, which goes its own way; it cannot take back what was told before."""
        return State.from_dict(self.definition, self.to_dict())

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
        counts = self._counts
        told = (self._first + self._sums / np.maximum(counts, 1)[:, None])[counts > 0]
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
            "position": self.position,
            "policy": self.policy.to_dict(),
            "failed": self.failed,
            "voided": self.voided,
            "retired": [[arm, why] for arm, why in self.retired.items()],
            "counts": self._counts.tolist(),
            "first": self._first.tolist(),
            "sums": self._sums.tolist(),
            "products": self._products.tolist(),
            "binary": self._binary.tolist(),
            "kept": [[arm, list(kept)] for arm, kept in self._kept.items()],
            "late": [self._late_in, sorted(self._late)],
        }

    @classmethod
    def from_dict(cls, definition: Definition, saved: Mapping[str, Any]) -> State:
        """Returns the state that ``to_dict`` described; one at the start, if another version of the package described it.

        The measurements themselves are not in the description: a void needs them, and raises ``ReplayNeeded`` without.
        """
        state = cls(definition)
        if saved["format"] != FORMAT:
            return state
        state.position, state.failed, state.voided = saved["position"], saved["failed"], list(saved["voided"])
        state.policy = restore_policy(saved["policy"])
        state.retired = dict(saved["retired"])
        shape = state._sums.shape
        state._counts = np.array(saved["counts"], dtype=np.int64).reshape(shape[0])
        state._first, state._sums = (np.array(saved[key], dtype=np.float64).reshape(shape) for key in ("first", "sums"))
        state._products = np.array(saved["products"], dtype=np.float64).reshape(state._products.shape)
        state._binary = np.array(saved["binary"], dtype=np.bool_).reshape(shape)
        state._kept = {arm: deque((number, values) for number, values in kept) for arm, kept in saved["kept"]}
        state._late_in, state._late = saved["late"][0], set(saved["late"][1])
        state._rows = None
        return state


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


def _known(number: int | None) -> int:
    """A field that an event of its kind always has."""
    assert number is not None
    return number
