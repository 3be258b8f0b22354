"""Which repeats of an option are taken: the n-th measurement of every option is meant to use question, split or seed n."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from paretopick._arrays import check_integer
from paretopick.events import Event

LARGEST_REPEAT = 2**31 - 1
"""That databases can hold."""


class Repeats:
    """The repeats of the valid measurements of one option, as runs of consecutive numbers: many fit into little memory.

    Measurements without a repeat count as having the lowest numbers. In whatever order things came and went, the same
    measurements leave the same.
    """

    __slots__ = ("_again", "_firsts", "_lasts", "unnumbered")

    def __init__(self) -> None:
        self.unnumbered = 0
        """Measurements without a repeat."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        """The first and the last number of each run, ascending."""
        self._again: dict[int, int] = {}
        """How many more measurements have a repeat, where it is more than one."""

    def __deepcopy__(self, _: dict[int, Any]) -> Repeats:
        copied = Repeats()
        copied.unnumbered, copied._again = self.unnumbered, dict(self._again)
        copied._firsts, copied._lasts = list(self._firsts), list(self._lasts)
        return copied

    def __len__(self) -> int:
        """Of measurements, those without a repeat included."""
        return self.unnumbered + self._n_taken + sum(self._again.values())

    def __contains__(self, repeat: int) -> bool:
        place = bisect_right(self._firsts, repeat) - 1
        return place >= 0 and repeat <= self._lasts[place]

    @property
    def _n_taken(self) -> int:
        return sum(self._lasts) - sum(self._firsts) + len(self._firsts)

    def add(self, repeat: int | None) -> None:
        """Takes in one more measurement; None if it has no repeat."""
        if repeat is None:
            self.unnumbered += 1
            return
        firsts, lasts = self._firsts, self._lasts
        place = bisect_right(firsts, repeat) - 1
        if place >= 0 and repeat <= lasts[place]:
            self._again[repeat] = self._again.get(repeat, 0) + 1
            return
        follows = place >= 0 and lasts[place] == repeat - 1
        leads = place + 1 < len(firsts) and firsts[place + 1] == repeat + 1
        if follows and leads:
            lasts[place] = lasts.pop(place + 1)
            del firsts[place + 1]
        elif follows:
            lasts[place] = repeat
        elif leads:
            firsts[place + 1] = repeat
        else:
            firsts.insert(place + 1, repeat)
            lasts.insert(place + 1, repeat)

    def remove(self, repeat: int | None) -> bool:
        """Takes a measurement out, and returns whether there was one with this repeat."""
        if repeat is None:
            self.unnumbered -= 1
            return self.unnumbered >= 0
        if repeat not in self:
            return False
        if repeat in self._again:
            self._again[repeat] -= 1
            if not self._again[repeat]:
                del self._again[repeat]
            return True
        firsts, lasts = self._firsts, self._lasts
        place = bisect_right(firsts, repeat) - 1
        first, last = firsts[place], lasts[place]
        if first == last:
            del firsts[place], lasts[place]
        elif repeat == first:
            firsts[place] = repeat + 1
        elif repeat == last:
            lasts[place] = repeat - 1
        else:
            lasts[place] = repeat - 1
            firsts.insert(place + 1, repeat + 1)
            lasts.insert(place + 1, last)
        return True

    def free(self, out: Collection[int] = ()) -> Iterator[int]:
        """Yields the numbers that are free, from the lowest on.

        Args:
            out: repeats that are being measured, and are not free either.
        """
        taken, repeat = set(out), self.unnumbered
        while True:
            place = bisect_right(self._firsts, repeat) - 1
            if place >= 0 and repeat <= self._lasts[place]:
                repeat = self._lasts[place] + 1
            elif repeat in taken:
                repeat += 1
            else:
                yield repeat
                repeat += 1

    def to_list(self) -> list[Any]:
        """Returns JSON values: how many have no repeat, the runs, and what is there more than once."""
        runs = [[first, last] for first, last in zip(self._firsts, self._lasts, strict=True)]
        return [self.unnumbered, runs, [[repeat, more] for repeat, more in sorted(self._again.items())]]

    @classmethod
    def from_list(cls, saved: Any) -> Repeats:
        """Returns what ``to_list`` described; refuses what no measurements can have."""
        repeats, before = cls(), -2
        unnumbered, runs, again = saved
        repeats.unnumbered = check_integer(unnumbered, "unnumbered", minimum=0)
        for first, last in runs:
            repeats._firsts.append(check_integer(first, "repeat", minimum=before + 2, maximum=LARGEST_REPEAT))
            before = check_integer(last, "repeat", minimum=repeats._firsts[-1], maximum=LARGEST_REPEAT)
            repeats._lasts.append(before)
        before = -1
        for repeat, more in again:
            before = check_integer(repeat, "repeat", minimum=before + 1)
            if before not in repeats:
                raise ValueError(f"repeat {repeat} is there more than once, and not at all")
            repeats._again[before] = check_integer(more, "measurements", minimum=1)
        return repeats


def check_repeat(value: Any) -> int:
    """Returns which repeat a measurement was, from what a user gave.

    >>> check_repeat(3.0)
    3
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return check_integer(value, "repeat", minimum=0, maximum=LARGEST_REPEAT)


def repeat_of(event: Event) -> int | None:
    """Returns the repeat of a measurement that was told, corrected or voided; None if it has none."""
    repeat: int | None = None if event.details is None else event.details.get("repeat")
    return repeat


def block_of(event: Event, pairing: str | None) -> Any:
    """Returns the block of a measurement that was told, corrected or voided, as it was told; None if it shares none."""
    if pairing is None or pairing == "repeat":
        return None if pairing is None else repeat_of(event)
    details: Mapping[str, Any] = event.details or {}
    return details["block"] if "block" in details else details.get("extra", {}).get(pairing)


def kept_with(event: Event, pairing: str | None) -> dict[str, Any]:
    """Returns what an event that amends a measurement says, so that it can be taken out of its block: repeat and block."""
    repeat, block = repeat_of(event), None if pairing == "repeat" else block_of(event, pairing)
    return ({} if repeat is None else {"repeat": repeat}) | ({} if block is None else {"block": block})
