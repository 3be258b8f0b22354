"""Measurement: what a study hands out to be measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """Something to measure: tell its ``number`` what came out.

    >>> from paretopick import Study
    >>> options = {"zlib 1": {"level": 1}, "zlib 9": {"level": 9}}
    >>> study = Study.create("a", options=options, metrics={"seconds": "min"}, budget=20, storage="sqlite://")
    >>> (todo,) = study.ask()
    >>> todo.number, todo.option, todo.settings
    (1, 'zlib 1', {'level': 1})
    """

    number: int
    option: str
    round: int
    settings: Mapping[str, Any]
    """The further columns of the table of options."""
    expires: float | None
    """When others may have it too, in seconds since 1970; None for never."""
    repeat: int = 0
    """Which one of its option it is, from 0: the n-th of every option is meant to use question, split or seed n."""
