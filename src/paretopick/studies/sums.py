"""Exact sums of measurements: whatever was added can be taken out again, in any order, and leaves no trace.

A float is a whole number times a power of two, and so is a product of two. Sums of them are kept as whole numbers in a unit that
is a power of two, which no value needs to be rounded to; only what is read from them is rounded, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import frexp
from operator import mul
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_integer
from paretopick.errors import InvalidInput

DIGITS = 53
"""Bits of the mantissa of a float."""

LARGEST_UNIT = 1024 - DIGITS
"""Exponent of the last bit of the largest floats."""

FEW = 8
"""Up to so many measurements of an option are added one by one."""

TEXT = re.compile(r"(-?[0-9a-f]{1,2000})p(-?[0-9]{1,4})")
"""How a sum is written: a whole number in hexadecimal digits, and the exponent of its unit; no float needs more of either."""


class OptionSums:
    """The sums of one option: of each metric, and of the products of any two metrics.

    Args:
        n_metrics: how many values a measurement has.
    """

    __slots__ = ("count", "fractions", "products", "totals", "units")

    def __init__(self, n_metrics: int) -> None:
        self.count = 0
        self.units = [LARGEST_UNIT] * n_metrics
        """Exponents: ``totals`` count by 2 to the unit of their metric, ``products`` by the product of two such units."""
        self.totals = [0] * n_metrics
        self.products = [0] * (n_metrics * (n_metrics + 1) // 2)
        """Of metrics 0 and 0, 1 and 0, 1 and 1, 2 and 0, and so on."""
        self.fractions = [0] * n_metrics
        """How many values were neither 0 nor 1."""

    def change(self, row: Sequence[float], times: int) -> None:
        """Adds a measurement (1), or takes one out (-1)."""
        units, totals, products = self.units, self.totals, self.products
        wholes, place = [], 0
        for metric, value in enumerate(row):
            mantissa, exponent = frexp(value)
            shift = exponent - DIGITS - units[metric]
            if shift < 0:
                if value:
                    self._refine(metric, -shift)
                shift = 0
            whole = int(mantissa * 9007199254740992.0) << shift  # 2**53
            wholes.append(whole)
            if value != 0.0 and value != 1.0:
                self.fractions[metric] += times
            whole *= times
            totals[metric] += whole
            for other in wholes:
                products[place] += whole * other
                place += 1
        self.count += times

    def add_rows(self, rows: FloatArray) -> None:
        """Adds measurements, ``(n, n_metrics)``: what ``change`` does with each."""
        mantissas, exponents = np.frexp(rows)
        exponents = np.where(rows == 0.0, LARGEST_UNIT, exponents - DIGITS)
        wholes = (mantissas * 2.0**DIGITS).astype(np.int64)
        columns: list[list[int]] = []
        place = 0
        for metric, lowest in enumerate(exponents.min(axis=0).tolist()):
            if lowest < self.units[metric]:
                self._refine(metric, self.units[metric] - lowest)
            shifts = np.where(wholes[:, metric] == 0, 0, exponents[:, metric] - self.units[metric])
            if shifts.max() < 63 - DIGITS:
                columns.append((wholes[:, metric] << shifts).tolist())
            else:
                columns.append([whole << shift for whole, shift in zip(wholes[:, metric].tolist(), shifts.tolist(), strict=True)])
            self.totals[metric] += sum(columns[metric])
            for column in columns:
                self.products[place] += sum(map(mul, columns[metric], column))
                place += 1
        for metric, fractions in enumerate(((rows != 0.0) & (rows != 1.0)).sum(axis=0).tolist()):
            self.fractions[metric] += fractions
        self.count += len(rows)

    def _refine(self, metric: int, bits: int) -> None:
        """Makes the unit of a metric so many bits smaller."""
        self.units[metric] -= bits
        self.totals[metric] <<= bits
        for other in range(len(self.units)):
            self.products[_place(metric, other)] <<= 2 * bits if other == metric else bits

    def total(self, metric: int) -> float:
        """Returns the sum of a metric."""
        return _quotient(self.totals[metric], 1, self.units[metric])

    def mean(self, metric: int) -> float:
        """Returns the mean of a metric; where all values are equal it is exactly that value."""
        return _quotient(self.totals[metric], self.count, self.units[metric])

    def deviations(self, metric: int, other: int) -> float:
        """Returns the sum of the products of the deviations of two metrics from their means."""
        return _quotient(self._whole_deviations(metric, other), self.count, self.units[metric] + self.units[other])

    def to_list(self) -> list[Any]:
        """Returns the sums as JSON values: the same for the same measurements, however they came and whatever was taken out."""
        return [
            self.count,
            [_text(total, unit) for total, unit in zip(self.totals, self.units, strict=True)],
            [_text(self.products[_place(i, j)], self.units[i] + self.units[j]) for i, j in self._pairs()],
            list(self.fractions),
        ]

    @classmethod
    def from_list(cls, saved: Any, n_metrics: int) -> OptionSums:
        """Returns the sums that ``to_list`` described; refuses what no measurements can have as their sums."""
        sums = cls(n_metrics)
        count, totals, products, fractions = saved
        sums.count = check_integer(count, "count", minimum=0)
        sums.fractions = [check_integer(n, "fractions", minimum=0, maximum=sums.count) for n in fractions]
        read, pairs = [_read(text) for text in totals], [_read(text) for text in products]
        if (len(read), len(pairs), len(sums.fractions)) != (n_metrics, len(sums.products), n_metrics):
            raise InvalidInput(f"there are {len(read)} sums and {len(pairs)} of products; expected those of {n_metrics} metrics.")
        for i, (_, unit) in enumerate(read):
            sums.units[i] = min(unit, pairs[_place(i, i)][1] // 2)
            for j in range(i):
                sums.units[i] = min(sums.units[i], pairs[_place(i, j)][1] - sums.units[j])
        sums.totals = [total << (unit - sums.units[i]) for i, (total, unit) in enumerate(read)]
        for i, j in sums._pairs():
            product, unit = pairs[_place(i, j)]
            sums.products[_place(i, j)] = product << (unit - sums.units[i] - sums.units[j])
        if not sums._is_possible():
            raise InvalidInput(f"{count} measurements cannot have the sums {totals} and {products}.")
        return sums

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Any two metrics, in the order of their products."""
        return ((metric, other) for metric in range(len(self.units)) for other in range(metric + 1))

    def _whole_deviations(self, metric: int, other: int) -> int:
        """The sum of the products of two deviations, times the count, in the unit of the products."""
        return self.count * self.products[_place(metric, other)] - self.totals[metric] * self.totals[other]

    def _is_possible(self) -> bool:
        """Whether so many measurements can have such sums: what is there without any, or does not vary, or varies together."""
        if self.count == 0:
            return not any(self.totals) and not any(self.products)
        squares = [self._whole_deviations(metric, metric) for metric in range(len(self.units))]
        if min(squares) < 0 or (self.count == 1 and any(squares)):
            return False
        return all(self._whole_deviations(i, j) ** 2 <= squares[i] * squares[j] for i, j in self._pairs())


class Sums:
    """The sums of all options, and what follows from them, found anew where measurements came or went."""

    def __init__(self, n_options: int, n_metrics: int) -> None:
        self.counts: IntArray = np.zeros(n_options, dtype=np.int64)
        self._options = [OptionSums(n_metrics) for _ in range(n_options)]
        self._means: FloatArray = np.full((n_options, n_metrics), np.nan)
        self._squares: FloatArray = np.zeros((n_options, n_metrics))
        self._old_means: set[int] = set()
        self._old_squares: set[int] = set()
        """Options whose means or squares are no longer those of their sums."""

    def add(self, arm: int, row: Sequence[float]) -> None:
        """Adds a measurement of an option."""
        self._change(arm, row, 1)

    def remove(self, arm: int, row: Sequence[float]) -> None:
        """Takes out a measurement that was added."""
        self._change(arm, row, -1)

    def _change(self, arm: int, row: Sequence[float], times: int) -> None:
        self._options[arm].change(row, times)
        self._changed(arm)

    def _changed(self, arm: int) -> None:
        self.counts[arm] = self._options[arm].count
        self._old_means.add(arm)
        self._old_squares.add(arm)

    def add_many(self, arms: IntArray, rows: FloatArray) -> None:
        """Adds measurements, one row for each of the options named."""
        order = np.argsort(arms, kind="stable")
        ends = np.flatnonzero(np.diff(arms[order], append=-1)) + 1
        for part in np.split(order, ends[:-1]):
            arm = int(arms[part[0]])
            if len(part) > FEW:
                self._options[arm].add_rows(rows[part])
            else:
                for row in rows[part].tolist():
                    self._options[arm].change(row, 1)
            self._changed(arm)

    def totals(self, arms: Sequence[int]) -> FloatArray:
        """Returns the sums of some options, ``(len(arms), n_metrics)``."""
        metrics = range(self._means.shape[1])
        return np.array([[self._options[arm].total(metric) for metric in metrics] for arm in arms])

    def mean(self, arm: int, metric: int) -> float:
        """Returns the mean of an option that was measured, in one metric."""
        return self._options[arm].mean(metric)

    def means(self) -> FloatArray:
        """Returns the mean of every option and metric, NaN without measurements."""
        metrics = range(self._means.shape[1])
        for arm in self._old_means:
            option = self._options[arm]
            self._means[arm] = [option.mean(metric) for metric in metrics] if option.count else np.nan
        self._old_means.clear()
        return self._means.copy()

    def squares(self) -> FloatArray:
        """Returns the sum of squared deviations from the mean, of every option and metric."""
        metrics = range(self._squares.shape[1])
        for arm in self._old_squares:
            option = self._options[arm]
            self._squares[arm] = [option.deviations(metric, metric) for metric in metrics] if option.count else 0.0
        self._old_squares.clear()
        return self._squares.copy()

    def products(self, arms: Sequence[int]) -> FloatArray:
        """Returns sums of products of deviations from the means, ``(len(arms), n_metrics, n_metrics)``."""
        metrics = range(self._means.shape[1])
        found = np.zeros((len(arms), len(metrics), len(metrics)))
        for place, arm in enumerate(arms):
            option = self._options[arm]
            for i in metrics if option.count else ():
                for j in range(i + 1):
                    found[place, i, j] = found[place, j, i] = option.deviations(i, j)
        return found

    def binary(self, arms: Sequence[int]) -> BoolArray:
        """Returns for each metric whether all values of some options were 0 or 1."""
        fractions = [self._options[arm].fractions for arm in arms]
        return np.asarray((np.array(fractions, dtype=np.int64).reshape(-1, self._means.shape[1]) == 0).all(axis=0))

    def to_list(self) -> list[Any]:
        """Returns the sums as JSON values."""
        return [option.to_list() for option in self._options]

    @classmethod
    def from_list(cls, saved: Sequence[Any], n_options: int, n_metrics: int) -> Sums:
        """Returns the sums that ``to_list`` described; refuses what no measurements can have as their sums."""
        if len(saved) != n_options:
            raise InvalidInput(f"there are sums of {len(saved)} options; expected {n_options}.")
        sums = cls(n_options, n_metrics)
        sums._options = [OptionSums.from_list(entry, n_metrics) for entry in saved]
        sums.counts = np.array([option.count for option in sums._options], dtype=np.int64)
        sums._old_means, sums._old_squares = set(range(n_options)), set(range(n_options))
        return sums


def _place(metric: int, other: int) -> int:
    """Of the product of two metrics."""
    return metric * (metric + 1) // 2 + other if metric >= other else other * (other + 1) // 2 + metric


def _quotient(whole: int, divisor: int, exponent: int) -> float:
    """The float nearest to ``whole * 2**exponent / divisor``; infinite if it is beyond all floats."""
    try:
        return (whole << exponent) / divisor if exponent >= 0 else whole / (divisor << -exponent)
    except OverflowError:
        return float("-inf" if whole < 0 else "inf")


def _text(whole: int, unit: int) -> str:
    """A sum as short as it can be written."""
    if not whole:
        return "0p0"
    zeros = (whole & -whole).bit_length() - 1
    return f"{whole >> zeros:x}p{unit + zeros}"


def _read(text: str) -> tuple[int, int]:
    """A whole number and its unit, from ``_text``."""
    match = TEXT.fullmatch(text)
    if not match:
        raise InvalidInput(f"a sum is {text!r}; expected hexadecimal digits and an exponent, such as '1ap-4'.")
    whole, unit = int(match[1], 16), int(match[2])
    return (whole, unit) if whole else (0, 2 * LARGEST_UNIT)  # nothing is a multiple of every unit
