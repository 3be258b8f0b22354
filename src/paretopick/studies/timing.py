"""How long measurements take, found out where they are made: what waits in a queue has not begun."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

TOOK = "_seconds_it_took"
"""Under which errors say after how long they were raised."""


class Took(NamedTuple):
    """What came out of a measurement, and how long it took."""

    values: Any
    seconds: float


class Timed:
    """A function that measures, timed; it can be sent to other processes if the function can.

    Args:
        measure: the function.
    """

    def __init__(self, measure: Callable[..., Any]) -> None:
        self._measure = measure

    def __call__(self, argument: Any, **more: Any) -> Took:
        """Returns what came out, and the seconds; what is raised has them, too."""
        start = time.perf_counter()
        try:
            values = self._measure(argument, **more)
        except Exception as problem:
            with suppress(Exception):  # some cannot be written to
                setattr(problem, TOOK, time.perf_counter() - start)
            raise
        return Took(values, time.perf_counter() - start)
