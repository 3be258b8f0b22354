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

    def only(self, metrics: Sequence[int]) -> OptionSums:
        """Returns the sums of some of the metrics, in this order, on their own."""
        chosen = OptionSums(len(metrics))
        chosen.count = self.count
        chosen.units = [self.units[metric] for metric in metrics]
        chosen.totals = [self.totals[metric] for metric in metrics]
        chosen.fractions = [self.fractions[metric] for metric in metrics]
        chosen.products = [self.products[_place(metrics[i], metrics[j])] for i, j in chosen._pairs()]
        return chosen

    def merge(self, other: OptionSums) -> None:
        """Adds the sums of other measurements of the same metrics."""
        for metric, unit in enumerate(other.units):
            if unit < self.units[metric]:
                self._refine(metric, self.units[metric] - unit)
        shifts = [theirs - mine for theirs, mine in zip(other.units, self.units, strict=True)]
        for metric, shift in enumerate(shifts):
            self.totals[metric] += other.totals[metric] << shift
            self.fractions[metric] += other.fractions[metric]
        for place, (i, j) in enumerate(self._pairs()):
            self.products[place] += other.products[place] << (shifts[i] + shifts[j])
        self.count += other.count

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
    """The sums of all options, and what follows from them, found anew where measurements came or went.

    A measurement may lack metrics (None). Those that lack the same ones have sums of their own; a mean is that of all values
    there are, and a product that of all measurements which have both metrics.
    """

    def __init__(self, n_options: int, n_metrics: int) -> None:
        self.counts: IntArray = np.zeros(n_options, dtype=np.int64)
        """Of measurements."""
        self.known: IntArray = np.zeros((n_options, n_metrics), dtype=np.int64)
        """Of values."""
        self._options = [OptionSums(n_metrics) for _ in range(n_options)]
        """Of the measurements that lack nothing."""
        self._partial: dict[int, dict[tuple[int, ...], OptionSums]] = {}
        """By option, and by the metrics that the others have."""
        self._means: FloatArray = np.full((n_options, n_metrics), np.nan)
        self._squares: FloatArray = np.zeros((n_options, n_metrics))
        self._old_means: set[int] = set()
        self._old_squares: set[int] = set()
        """Options whose means or squares are no longer those of their sums."""

    @property
    def complete(self) -> bool:
        """Whether no measurement lacks anything."""
        return not self._partial

    def add_option(self) -> None:
        """Makes room for one more option, without measurements."""
        n_metrics = self.known.shape[1]
        self._options.append(OptionSums(n_metrics))
        self.counts = np.append(self.counts, 0)
        self.known = np.vstack((self.known, np.zeros(n_metrics, dtype=np.int64)))
        self._means = np.vstack((self._means, np.full(n_metrics, np.nan)))
        self._squares = np.vstack((self._squares, np.zeros(n_metrics)))

    def add(self, arm: int, row: Sequence[float | None]) -> None:
        """Adds a measurement of an option."""
        self._change(arm, row, 1)

    def remove(self, arm: int, row: Sequence[float | None]) -> None:
        """Takes out a measurement that was added."""
        self._change(arm, row, -1)

    def _change(self, arm: int, row: Sequence[float | None], times: int) -> None:
        has = tuple(metric for metric, value in enumerate(row) if value is not None)
        values = [value for value in row if value is not None]
        if len(values) == len(row):
            self._options[arm].change(values, times)
        else:
            same = self._partial.setdefault(arm, {})
            same.setdefault(has, OptionSums(len(has))).change(values, times)
            if not same[has].count:
                del same[has]
                if not same:
                    del self._partial[arm]
        self._changed(arm)

    def _changed(self, arm: int) -> None:
        parts = self._partial.get(arm, {})
        complete = self._options[arm].count
        self.counts[arm] = complete + sum(part.count for part in parts.values())
        self.known[arm] = complete
        for has, part in parts.items():
            self.known[arm, list(has)] += part.count
        self._old_means.add(arm)
        self._old_squares.add(arm)

    def add_many(self, arms: IntArray, rows: FloatArray) -> None:
        """Adds measurements that lack nothing, one row for each of the options named."""
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
        return np.array([[sums.total(at) for sums, (at,) in self._of_each(arm)] for arm in arms])

    def mean(self, arm: int, metric: int) -> float:
        """Returns the mean of an option that was measured, in one metric; where all values are equal it is exactly that value."""
        sums, (at,) = self._of(arm, metric)
        return sums.mean(at)

    def means(self) -> FloatArray:
        """Returns the mean of every option and metric, NaN without measurements."""
        for arm in self._old_means:
            self._means[arm] = [sums.mean(at) if sums.count else np.nan for sums, (at,) in self._of_each(arm)]
        self._old_means.clear()
        return self._means.copy()

    def squares(self) -> FloatArray:
        """Returns the sum of squared deviations from the mean, of every option and metric."""
        for arm in self._old_squares:
            self._squares[arm] = [sums.deviations(at, at) if sums.count else 0.0 for sums, (at,) in self._of_each(arm)]
        self._old_squares.clear()
        return self._squares.copy()

    def products(self, arms: Sequence[int]) -> FloatArray:
        """Returns sums of products of deviations from the means, ``(len(arms), n_metrics, n_metrics)``.

        Of two metrics they are about the measurements that have both.
        """
        n_metrics = self.known.shape[1]
        found = np.zeros((len(arms), n_metrics, n_metrics))
        for place, arm in enumerate(arms):
            for i in range(n_metrics if self.counts[arm] else 0):
                for j in range(i + 1):
                    sums, at = self._of(arm, i, j)
                    found[place, i, j] = found[place, j, i] = sums.deviations(*at) if sums.count else 0.0
        return found

    def binary(self, arms: Sequence[int]) -> BoolArray:
        """Returns for each metric whether all values of some options were 0 or 1."""
        fractions = [[sums.fractions[at] for sums, (at,) in self._of_each(arm)] for arm in arms]
        return np.asarray((np.array(fractions, dtype=np.int64).reshape(-1, self.known.shape[1]) == 0).all(axis=0))

    def _of_each(self, arm: int) -> Iterator[tuple[OptionSums, tuple[int, ...]]]:
        """For each metric of an option, sums that have it, and its place in them."""
        return (self._of(arm, metric) for metric in range(self.known.shape[1]))

    def _of(self, arm: int, *metrics: int) -> tuple[OptionSums, tuple[int, ...]]:
        """The sums over all measurements of an option that have some metrics, and the places of these in them."""
        if arm not in self._partial:
            return self._options[arm], metrics
        wanted = sorted(set(metrics))
        merged = self._options[arm].only(wanted)
        for has, part in self._partial[arm].items():
            if set(wanted) <= set(has):
                merged.merge(part.only([has.index(metric) for metric in wanted]))
        return merged, tuple(map(wanted.index, metrics))

    def to_list(self) -> list[Any]:
        """Returns the sums as JSON values."""
        return [
            [option.to_list(), *([list(has), part.to_list()] for has, part in sorted(self._partial.get(arm, {}).items()))]
            for arm, option in enumerate(self._options)
        ]

    @classmethod
    def from_list(cls, saved: Sequence[Any], n_options: int, n_metrics: int) -> Sums:
        """Returns the sums that ``to_list`` described; refuses what no measurements can have as their sums."""
        if len(saved) != n_options:
            raise InvalidInput(f"there are sums of {len(saved)} options; expected {n_options}.")
        sums = cls(n_options, n_metrics)
        for arm, (complete, *parts) in enumerate(saved):
            sums._options[arm] = OptionSums.from_list(complete, n_metrics)
            for has, part in parts:
                metrics = tuple(check_integer(metric, "metric", minimum=0, maximum=n_metrics - 1) for metric in has)
                read = OptionSums.from_list(part, len(metrics))
                if list(metrics) != sorted(set(metrics)) or len(metrics) in (0, n_metrics) or not read.count:
                    raise InvalidInput(f"there are sums of {read.count} measurements with the metrics {has} alone.")
                sums._partial.setdefault(arm, {})[metrics] = read
            sums._changed(arm)
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
