"""Measurements by what they share: the question, the split, the plate. Whatever was added can be taken out, and leaves no trace.

Values are kept one by one, in little memory. What is read follows from the measurements alone, bit for bit, and not from the
order in which they came: blocks are in an order of their own, and sums are rounded once.
"""

from __future__ import annotations

import base64
import math
import re
from array import array
from collections.abc import Sequence
from math import fsum, isfinite
from typing import Any, NamedTuple

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._blocks import Blocked, Cells
from paretopick._texts import NUMBER
from paretopick.errors import InvalidInput

Block = int | float | str
"""By what a block is known: a number, whole where it can be, or a text."""

ALONE = -1
"""Stands for the block of a measurement that is in none."""

PADDED = re.compile(r"[+-]?0\d")
"""How a text begins that is a label and no number: 007."""


def as_block(value: Any) -> Block | None:
    """Returns by what a block is known, whoever has written it and how; None for no block.

    Numbers are equal to their texts, as in tables; a text with leading zeros is a label.

    >>> [as_block(value) for value in (3, 3.0, "3", " 3.0 ", "3.5", "007", "plate 3", "", None)]
    [3, 3, 3, 3, 3.5, '007', 'plate 3', None, None]
    """
    if isinstance(value, str):
        text = value.strip()
        if not NUMBER.fullmatch(text) or PADDED.match(text):
            return text or None
        if re.fullmatch(r"[+-]?\d+", text, re.ASCII):
            return int(text) if len(text) < 400 else text
        if not isfinite(float(text)):
            return text
        value = float(text)
    if value is None:
        return None
    if isinstance(value, int):
        return int(value)
    if not isinstance(value, float) or not isfinite(value):
        raise InvalidInput(f"a block is {value!r}; expected a finite number or a text.")
    return int(value) if value.is_integer() else value


class _Column(NamedTuple):
    """The values of some options in one metric."""

    blocks: IntArray
    options: IntArray
    values: FloatArray


class Blocks:
    """The measurements of a study, by option and block.

    Args:
        n_options: how many there are.
        n_metrics: how many values a measurement has.
    """

    def __init__(self, n_options: int, n_metrics: int) -> None:
        self._n_metrics = n_metrics
        self._names: list[Block] = []
        """Of the blocks, as they came up; some may have no measurements any more."""
        self._places: dict[Block, int] = {}
        """Where they are in that list."""
        self._blocks: list[array[int]] = [array("q") for _ in range(n_options)]
        """For each option, the places of the blocks of its measurements, in no order."""
        self._values: list[array[float]] = [array("d") for _ in range(n_options)]
        """Their values, NaN where one is missing."""
        self._ranks: IntArray = np.zeros(0, dtype=np.int64)
        """The place of each block in the order of all, as far as that is known."""

    def __len__(self) -> int:
        """Of measurements."""
        return sum(map(len, self._blocks))

    def __deepcopy__(self, _: dict[int, Any]) -> Blocks:
        copied = Blocks(0, self._n_metrics)
        copied._names, copied._places = list(self._names), dict(self._places)
        copied._blocks = [blocks[:] for blocks in self._blocks]
        copied._values = [values[:] for values in self._values]
        copied._ranks = self._ranks  # which is never changed, only replaced
        return copied

    @property
    def counts(self) -> IntArray:
        """``(n_options,)`` measurements of each option."""
        return np.array(list(map(len, self._blocks)), dtype=np.int64)

    @property
    def alone(self) -> IntArray:
        """``(n_options,)`` measurements of each option that are in no block."""
        return np.array([blocks.count(ALONE) for blocks in self._blocks], dtype=np.int64)

    def add_option(self) -> None:
        """Makes room for one more option, without measurements."""
        self._blocks.append(array("q"))
        self._values.append(array("d"))

    def add(self, arm: int, block: Any, row: Sequence[float | None]) -> None:
        """Adds a measurement of an option; its block is None if it shares none."""
        self._blocks[arm].append(self._place(as_block(block)))
        self._values[arm].extend(_floats(row))

    def remove(self, arm: int, block: Any, row: Sequence[float | None]) -> bool:
        """Takes out a measurement that was added, and returns whether it was there."""
        name = as_block(block)
        place = ALONE if name is None else self._places.get(name)
        if place is None:
            return False
        blocks, values, width = self._blocks[arm], self._values[arm], self._n_metrics
        wanted = np.array(_floats(row))
        near = np.flatnonzero(np.array(blocks) == place)
        rows = np.array(values).reshape(-1, width)[near]
        found = near[((rows == wanted) | (np.isnan(rows) & np.isnan(wanted))).all(axis=1)]
        if not len(found):
            return False
        at, last = int(found[-1]), len(blocks) - 1  # whose place the last one takes
        blocks[at] = blocks[last]
        values[at * width : (at + 1) * width] = values[last * width :]
        del blocks[last:], values[last * width :]
        return True

    def _place(self, name: Block | None) -> int:
        if name is None:
            return ALONE
        place = self._places.setdefault(name, len(self._names))
        if place == len(self._names):
            self._names.append(name)
        return place

    def cells(self, arms: Sequence[int], metric: int) -> Cells:
        """Returns the measurements of some options in a metric; of blocks those in which one of the options has a value.

        Args:
            arms: the options.
            metric: which one.
        """
        column = self._column(arms, metric)
        shared = column.blocks != ALONE
        rows = _Column(*(part[shared] for part in column))
        used, blocks = self._used(rows)
        shape = len(used), len(arms)
        keys = blocks * len(arms) + rows.options
        counts = np.bincount(keys, minlength=shape[0] * shape[1])
        means = np.zeros(len(counts))
        single = counts[keys] == 1
        means[keys[single]] = rows.values[single]
        squares: list[list[float]] = [[] for _ in arms]
        for key, values in _groups(keys[~single], rows.values[~single]):
            means[key], deviations = _mean_and_squares(values)
            squares[key % len(arms)] += deviations
        alone = np.bincount(column.options[~shared], minlength=len(arms))
        alone_means, alone_squares = np.zeros(len(arms)), np.zeros(len(arms))
        for option, values in _groups(column.options[~shared], column.values[~shared]):
            alone_means[option], deviations = _mean_and_squares(values)
            alone_squares[option] = fsum(deviations)
        return Cells(
            counts=counts.reshape(shape),
            means=means.reshape(shape),
            squares=np.array([fsum(deviations) for deviations in squares]),
            alone=alone,
            alone_means=alone_means,
            alone_squares=alone_squares,
        )

    def blocked(self, arms: Sequence[int]) -> Blocked:
        """Returns the measurements of some options in all metrics, by the blocks that ``names`` has."""
        every, order = range(self._n_metrics), self._order()
        cells = [self.cells(arms, metric) for metric in every]
        ranks = [order[self._blocks_of(arms, [metric])] for metric in every]
        rows = order[self._blocks_of(arms, every)]
        counts = np.zeros((len(rows), len(arms), self._n_metrics), dtype=np.int64)
        means = np.zeros(counts.shape)
        for metric in every:
            places = np.searchsorted(rows, ranks[metric])
            counts[places, :, metric], means[places, :, metric] = cells[metric].counts, cells[metric].means
        return Blocked(
            counts,
            means,
            np.column_stack([each.squares for each in cells]),
            np.column_stack([each.alone for each in cells]),
            np.column_stack([each.alone_means for each in cells]),
            np.column_stack([each.alone_squares for each in cells]),
        )

    def names(self, arms: Sequence[int], metric: int | None = None) -> list[Block]:
        """Returns the blocks in the order of the rows of ``cells``, or ``blocked``: numbers before texts, ascending."""
        metrics = range(self._n_metrics) if metric is None else [metric]
        return [self._names[place] for place in self._blocks_of(arms, metrics).tolist()]

    def _blocks_of(self, arms: Sequence[int], metrics: Sequence[int]) -> IntArray:
        """The places of the blocks in which some options have a value of some metrics, in their order."""
        columns = [self._column(arms, metric) for metric in metrics]
        together = _Column(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))
        return self._used(_Column(*(part[together.blocks != ALONE] for part in together)))[0]

    def _column(self, arms: Sequence[int], metric: int) -> _Column:
        """All values that some options have in a metric."""
        sizes = [len(self._blocks[arm]) for arm in arms]
        blocks = np.concatenate([np.array(self._blocks[arm], dtype=np.int64) for arm in arms] or [np.zeros(0, np.int64)])
        values = np.concatenate([np.array(self._values[arm])[metric :: self._n_metrics] for arm in arms] or [np.zeros(0)])
        known = ~np.isnan(values)
        return _Column(blocks[known], np.repeat(np.arange(len(sizes)), sizes)[known], values[known])

    def _used(self, rows: _Column) -> tuple[IntArray, IntArray]:
        """The blocks that some values are in, in their order, and for each value which of these it is."""
        has: BoolArray = np.zeros(len(self._names), dtype=np.bool_)
        has[rows.blocks] = True
        used = np.flatnonzero(has)
        used = used[np.argsort(self._order()[used], kind="stable")]
        which = np.zeros(len(self._names), dtype=np.int64)
        which[used] = np.arange(len(used))
        return used, which[rows.blocks]

    def _order(self) -> IntArray:
        """The place of each block in the order of all."""
        if len(self._ranks) != len(self._names):
            ordered = sorted(range(len(self._names)), key=lambda place: _sorting(self._names[place]))
            ranks = np.zeros(len(ordered), dtype=np.int64)
            ranks[ordered] = np.arange(len(ordered))
            self._ranks = ranks
        return self._ranks

    def to_list(self) -> list[Any]:
        """Returns JSON values: the blocks, and of each option blocks and values as texts in which every 8 bytes are a number."""
        order = self._order()
        has: BoolArray = np.zeros(len(self._names), dtype=np.bool_)
        for blocks in self._blocks:
            places = np.array(blocks, dtype=np.int64)
            has[places[places != ALONE]] = True
        used = np.flatnonzero(has)
        used = used[np.argsort(order[used], kind="stable")]
        which = np.full(len(self._names) + 1, ALONE)  # the last of which ALONE points to
        which[used] = np.arange(len(used))
        described = []
        for blocks, values in zip(self._blocks, self._values, strict=True):
            mine = which[np.array(blocks, dtype=np.int64)]
            rows = np.array(values).reshape(-1, self._n_metrics)
            turn = np.lexsort((*rows.T[::-1], mine))
            described.append([_text(mine[turn].astype("<i8")), _text(rows[turn].astype("<f8"))])
        return [[self._names[place] for place in used.tolist()], described]

    @classmethod
    def from_list(cls, saved: Any, n_options: int, n_metrics: int) -> Blocks:
        """Returns what ``to_list`` described; refuses what no measurements can be."""
        names, described = saved
        read = cls(n_options, n_metrics)
        if len(described) != n_options:
            raise InvalidInput(f"there are blocks of {len(described)} options; expected {n_options}.")
        for name in names:
            known = as_block(name)
            if known is None or known != name or type(known) is not type(name) or name in read._places:
                raise InvalidInput(f"block {name!r} is there twice, or is none.")
            read._place(name)
        used = np.zeros(len(names), dtype=np.bool_)
        for arm, (blocks_text, values_text) in enumerate(described):
            blocks, values = _read(blocks_text, "<i8"), _read(values_text, "<f8")
            if len(values) != len(blocks) * n_metrics or ((blocks < ALONE) | (blocks >= len(names))).any():
                raise InvalidInput(f"{len(blocks)} measurements of option {arm} have {len(values)} values, or blocks of nobody.")
            if np.isinf(values).any() or np.isnan(values.reshape(-1, n_metrics)).all(axis=1).any():
                raise InvalidInput(f"a measurement of option {arm} has no value, or one that is not finite.")
            used[blocks[blocks != ALONE]] = True
            read._blocks[arm] = array("q", blocks.astype(np.int64).tobytes())
            read._values[arm] = array("d", (values + 0.0).astype(np.float64).tobytes())
        if not used.all():
            raise InvalidInput(f"block {names[int(np.argmin(used))]!r} has no measurements.")
        return read


def _floats(row: Sequence[float | None]) -> list[float]:
    """Values with NaN where one is missing, and one kind of 0."""
    return [math.nan if value is None else value + 0.0 for value in row]


def _sorting(name: Block) -> tuple[bool, Any]:
    return isinstance(name, str), name


def _groups(keys: IntArray, values: FloatArray) -> list[tuple[int, list[float]]]:
    """The values that belong together, by their key."""
    if not len(keys):
        return []
    order = np.argsort(keys, kind="stable")
    ordered, listed = keys[order], values[order].tolist()
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    parts = zip(starts, [*starts[1:], len(listed)], strict=True)
    return [(int(ordered[start]), listed[start:stop]) for start, stop in parts]


def _mean_and_squares(values: list[float]) -> tuple[float, list[float]]:
    """The mean of some values, and the squared deviations from it; where all are equal, exactly that and nothing."""
    if min(values) == max(values):
        return values[0], []
    mean = fsum(values) / len(values)
    return mean, [(value - mean) * (value - mean) for value in values]


def _text(numbers: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _read(text: Any, kind: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind)
