"""Measurements that wait until their option is due, and sets of numbers: many fit into little memory."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray, check_integer
from paretopick.errors import InvalidInput


class Kept:
    """Numbers and values of measurements that do not count yet, by option, in the order in which they were told.

    Args:
        n_options: how many there are.
        n_metrics: how many values a measurement has.
    """

    def __init__(self, n_options: int, n_metrics: int) -> None:
        self.counts: IntArray = np.zeros(n_options, dtype=np.int64)
        self._n_metrics = n_metrics
        self._numbers: dict[int, array[int]] = {}
        self._values: dict[int, array[float]] = {}
        self._used: dict[int, int] = {}
        """How many of the first ones of an option are no longer waiting, and are dropped together once they are many."""

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def keep(self, arm: int, number: int, values: Sequence[float]) -> None:
        """Lets a measurement of an option wait."""
        if arm not in self._numbers:
            self._numbers[arm], self._values[arm], self._used[arm] = array("q"), array("d"), 0
        self._numbers[arm].append(number)
        self._values[arm].extend(values)
        self.counts[arm] += 1

    def first(self, arm: int) -> list[float] | None:
        """Returns the values of the measurement of an option that waits longest; None if none does."""
        if not self.counts[arm]:
            return None
        start = self._used[arm] * self._n_metrics
        return self._values[arm][start : start + self._n_metrics].tolist()

    def take(self, arm: int, n: int) -> tuple[list[int], FloatArray]:
        """Returns numbers and values of the measurements of an option that waited longest; they wait no more."""
        start, width = self._used[arm], self._n_metrics
        end = start + n
        numbers = self._numbers[arm][start:end].tolist()
        rows = np.array(self._values[arm][start * width : end * width]).reshape(n, width)
        self._used[arm] = end
        if 2 * end >= len(self._numbers[arm]):  # what stays is moved at most once for each that went
            del self._numbers[arm][:end], self._values[arm][: end * width]
            self._used[arm] = 0
        self._took(arm, n)
        return numbers, rows

    def drop(self, arm: int, number: int) -> bool:
        """Forgets a measurement of an option, and returns whether it was waiting."""
        if not self.counts[arm]:
            return False
        place, width = _place(self._numbers[arm], number, self._used[arm]), self._n_metrics
        if place is None:
            return False
        del self._numbers[arm][place], self._values[arm][place * width : (place + 1) * width]
        self._took(arm, 1)
        return True

    def replace(self, arm: int, number: int, values: Sequence[float]) -> bool:
        """Gives a measurement of an option other values, and returns whether it was waiting."""
        if not self.counts[arm]:
            return False
        place, width = _place(self._numbers[arm], number, self._used[arm]), self._n_metrics
        if place is not None:
            self._values[arm][place * width : (place + 1) * width] = array("d", values)
        return place is not None

    def _took(self, arm: int, n: int) -> None:
        self.counts[arm] -= n
        if not self.counts[arm]:
            del self._numbers[arm], self._values[arm], self._used[arm]

    def to_list(self) -> list[Any]:
        """Returns JSON values: option, numbers and values, these as texts in which every 8 bytes are one number."""
        described = []
        for arm in sorted(self._numbers):
            start = self._used[arm]
            numbers, values = self._numbers[arm][start:], self._values[arm][start * self._n_metrics :]
            described.append([arm, _text(np.array(numbers, dtype="<i8")), _text(np.array(values, dtype="<f8"))])
        return described

    @classmethod
    def from_list(cls, saved: Sequence[Any], n_options: int, n_metrics: int) -> Kept:
        """Returns what ``to_list`` described; refuses what cannot be waiting."""
        kept = cls(n_options, n_metrics)
        for option, numbers_text, values_text in saved:
            arm = check_integer(option, "option", minimum=0, maximum=n_options - 1)
            numbers, values = _read(numbers_text, "<i8"), _read(values_text, "<f8")
            if arm in kept._numbers or len(numbers) == 0 or len(values) != len(numbers) * n_metrics:
                raise InvalidInput(
                    f"{len(numbers)} measurements of option {arm} wait with {len(values)} values of {n_metrics} metrics."
                )
            if (numbers < 1).any() or not np.isfinite(values).all():
                raise InvalidInput(f"a measurement of option {arm} waits with a number below 1 or a value that is not finite.")
            kept._numbers[arm] = array("q", numbers.astype(np.int64).tobytes())
            kept._values[arm] = array("d", values.astype(np.float64).tobytes())
            kept._used[arm] = 0
            kept.counts[arm] = len(numbers)
        return kept


class Numbers:
    """Numbers of measurements, in no order."""

    def __init__(self) -> None:
        self._numbers: array[int] = array("q")

    def add(self, numbers: Iterable[int]) -> None:
        """Adds numbers that are not there."""
        self._numbers.extend(numbers)

    def discard(self, number: int) -> bool:
        """Takes a number out, and returns whether it was there."""
        place = _place(self._numbers, number)
        if place is not None:
            del self._numbers[place]
        return place is not None

    def to_list(self) -> list[list[int]]:
        """Returns the first and the last of every run of consecutive numbers."""
        ordered = np.sort(np.array(self._numbers), kind="stable")
        firsts = np.flatnonzero(np.diff(ordered, prepend=-1) != 1)
        lasts = np.append(firsts[1:], len(ordered))[: len(firsts)] - 1
        return [list(run) for run in zip(ordered[firsts].tolist(), ordered[lasts].tolist(), strict=True)]

    @classmethod
    def from_list(cls, runs: Iterable[Any], *, at_most: int) -> Numbers:
        """Returns the numbers that ``to_list`` described; refuses more than there can be, before they fill the memory."""
        numbers, before = cls(), 0
        for first, last in runs:
            before = check_integer(first, "number", minimum=before + 1)
            at_most -= check_integer(last, "number", minimum=before) - before + 1
            if at_most < 0:
                raise InvalidInput(f"numbers {first} to {last} are more than there can be.")
            numbers.add(range(before, last + 1))
            before = last
        return numbers


def _place(numbers: array[int], number: int, start: int = 0) -> int | None:
    """Where a number is, from a place on."""
    places = np.flatnonzero(np.array(numbers)[start:] == number)
    return start + int(places[0]) if len(places) else None


def _text(numbers: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _read(text: Any, kind: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind)
