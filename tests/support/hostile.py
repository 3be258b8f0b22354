"""Values that nobody should pass, and how many of them a test tries: a few each time, many more with ``make fuzz``."""

import datetime
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import paretopick as pp

TIMES = int(os.environ.get("PARETOPICK_FUZZ", "1"))
"""How many times the usual number of examples to try; beyond one they are other ones each time."""


def examples(n: int) -> Callable[[Any], Any]:
    """So many examples, the same on every machine; or many more, and new ones."""
    checks, phases = list(HealthCheck), [Phase.generate]  # values are small as they are
    return settings(
        max_examples=n * TIMES, derandomize=TIMES == 1, deadline=None, suppress_health_check=checks, phases=phases, database=None
    )


class Rude:
    """An object that does not even let itself be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def nested(depth: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


SCALARS: list[Any] = [
    *(None, True, False, Ellipsis, NotImplemented, int, len, object(), Rude(), nested(20), nested(100)),
    *(0, 1, -1, 2, 3, 10**12, 2**31, 2**53 + 1, 2**63, -(2**63), 10**400, 10**5000, -(10**5000)),
    *(0.0, -0.0, 0.5, 1.5, -1.5, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"), 1j),
    *(Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), Fraction(10**5000), datetime.date(2020, 1, 1)),
    *("", " ", "a", "b", "1", "1_000", "\uff11\uff12", "nan", "inf", "-1.5", "a:min", "apt", "min", "=1+1", "ege-sr:n=1"),
    *("\0", "a\0b", "\ud800", "\x1b[2J", "a\nb", "a\u200bb", "x" * 2000, "é", "e\u0301", "{option}", "no/such/folder/x"),
    *(b"", b"ab", bytearray(b"ab"), memoryview(b"ab"), Path("no-such-file.csv"), Path(".")),
    *(set(), {1, 2}, {0.5, 3.0}, frozenset("ab"), {}, {"a": 1}, {1: 2}, {"a": "min"}, {}.keys(), {"a": 1}.values()),
    *((), [], [[]], ["a"], ["a", "b"], [b"a"], [1, "a"], [None], [[1], [1, 2]], [("a",)], [("a", 5)], ["ab"], range(2), range(0)),
    *(
        np.int64(3),
        np.float64(0.5),
        np.float64("nan"),
        np.bool_(True),
        np.str_("a"),
        np.bytes_(b"a"),
        np.datetime64("2020-01-01"),
    ),
    *(
        np.array(5),
        np.array(0.5),
        np.array("a"),
        np.array(None),
        np.array([]),
        np.zeros((0, 2)),
        np.zeros((2, 0)),
        np.zeros((1, 1, 1)),
    ),
    *(
        np.array([1, 2]),
        np.array([0.5, 1.5]),
        np.array([[1.0, 2.0], [3.0, 1.0]]),
        np.array([[1.0, np.nan]]),
        np.array([True, False]),
    ),
    *(np.array(["1_000", "2"], dtype=object), np.array([[1, "2"]], dtype=object), np.array([10**30], dtype=object)),
    *(np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]]), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])),
]
"""Of every kind that a program, a notebook or a file may come up with."""

VALUES = st.sampled_from(SCALARS) | st.lists(st.sampled_from(SCALARS), max_size=3) | st.integers() | st.floats() | st.text()


@contextmanager
def refused_politely() -> Iterator[None]:
    """Nothing may come out but errors of ours, which say something; and it may not take for ever."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(60)
    said = "something"
    try:
        yield
    except pp.ParetopickError as problem:
        said = str(problem)
    finally:
        signal.alarm(0)
    assert said.strip()
    assert len(said) < 10_000


def _too_long(*_: object) -> None:
    raise AssertionError("this takes more than a minute")
