"""Texts that people type, taken apart: parts at commas, and values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


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


def value_of(text: str) -> Any:
    """Returns a number, a truth value, a list or a mapping where the text is one, else the text.

    >>> value_of("1e3"), value_of("[1, 2]"), value_of("yes"), value_of(" all ")
    (1000.0, [1, 2], True, 'all')
    """
    try:
        return json.loads(text)
    except ValueError:  # no JSON, or a number of more digits than Python reads
        return WORDS.get(text.strip().lower(), text.strip())
