"""Texts that people type, taken apart: parts at commas, numbers, and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from paretopick._words import short

WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""A number as everybody writes it; not 1_000 or the digits of other scripts, which Python takes for numbers as well."""

NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)
"""What programs write where there is no finite number."""


def split_at_commas(texts: Iterable[str]) -> list[str]:
    """Returns the parts of all texts; commas inside brackets belong to a part, empty parts are left out.

    >>> split_at_commas(["a,b", "c=[1,2],"])
    ['a', 'b', 'c=[1,2]']
    """
    parts = [""]
    for text in texts:
        depth = 0
        for character in text:
            depth = max(0, depth + (character in "[{") - (character in "]}"))
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        parts.append("")
    return [part for part in parts if part]


def number_of(text: str) -> float:
    """Returns the number that a text is, or raises ``ValueError``; blanks around it do not matter.

    >>> number_of(" -1.5e3 "), number_of("inf")
    (-1500.0, inf)
    >>> number_of("1_000")
    Traceback (most recent call last):
        ...
    ValueError: '1_000' is not a number
    """
    plain = text.strip()
    if NUMBER.fullmatch(plain) or NO_NUMBER.fullmatch(plain):
        return float(plain)
    raise ValueError(f"{short(text)} is not a number")


def whole_number_of(text: str) -> int:
    """Returns the whole number that a text is, or raises ``ValueError``; blanks around it do not matter."""
    plain = text.strip()
    if re.fullmatch(r"[+-]?\d{1,1000}", plain, re.ASCII):
        return int(plain)
    raise ValueError(f"{short(text)} is not a whole number")


def value_of(text: str) -> Any:
    """Returns a number, a truth value, a list or a mapping where the text is one, else the text.

    >>> value_of("1e3"), value_of("[1, 2]"), value_of("yes"), value_of(" all ")
    (1000.0, [1, 2], True, 'all')
    """
    try:
        return json.loads(text, object_pairs_hook=_mapping)
    except (ValueError, RecursionError):  # no JSON, brackets beyond number, or a number of more digits than Python reads
        return WORDS.get(text.strip().lower(), text.strip())


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, unless it has a name twice: which one is meant?"""
    if len(mapping := dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return mapping
