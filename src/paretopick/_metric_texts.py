"""Short texts of metrics, ``seconds:min~2%<=50``, taken apart; and what was meant where one is misspelt."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias, get_args

from paretopick._texts import number_of
from paretopick._words import short
from paretopick.errors import InvalidInput

Goal: TypeAlias = Literal["min", "minimum", "minimize", "minimise", "max", "maximum", "maximize", "maximise"]
"""What a goal may be written as."""

GOALS: dict[str, str] = {spelling: spelling[:3] for spelling in get_args(Goal)}
"""What a goal may be written as, and what it means."""

TAIL = re.compile(r"\s*(<=|>=|~)\s*([^<>=~]+?)\s*$")
"""The last margin or limit of a short text."""

PERCENT = re.compile(r"([^%]+?)\s*%")

SIGNS = {"<=": "<=", "=<": "<=", "<": "<=", "≤": "<=", ">=": ">=", "=>": ">=", ">": ">=", "≥": ">=", "~": "~", "≈": "~"}
"""What people write before limits and margins, and how it is written here."""

MISSPELT = re.compile(rf"(.*?)\s*({'|'.join(SIGNS)})\s*([^<>=~≤≥≈]*)")
"""What stands before a sign, the sign, and what stands behind it."""


def taken_apart(text: str, name: str) -> tuple[str, dict[str, Any]]:
    """What stands before the margin and the limits in a short text, and these by name."""
    keys = {"~": "margin", "<=": "at_most", ">=": "at_least"}
    rest: dict[str, Any] = {}
    while found := TAIL.search(text):
        key, value = keys[found[1]], found[2]
        if ":" in value and value.rpartition(":")[2].strip().lower() in ("", *GOALS):  # it is part of a name, before the goal
            break
        if key in rest:
            raise InvalidInput(f"metric {short(name)} has {found[1]} twice; say it once.")
        try:
            rest[key] = value if key == "margin" and value.endswith("%") else number_of(value)
        except ValueError:
            raise InvalidInput(
                f"{found[1]}{value} of metric {short(name)} is no number; write for instance seconds:min~2%<=50."
            ) from None
        text = text[: found.start()]
    return text, rest


def meant(text: str, *heads: str) -> str | None:
    """What was meant by a text with a sign that is misspelt, or with nothing behind it: ``min<50`` is ``min<=50``.

    None if it is no such text; ``heads`` are what may stand before the sign, by default anything.
    """
    found = MISSPELT.fullmatch(text.strip())
    if not found or not found[1] or (heads and found[1].lower() not in heads):
        return None
    sign, amount = SIGNS[found[2]], found[3].strip() or ("2%" if SIGNS[found[2]] == "~" else "50")
    return f"{found[1]}{sign}{amount}" if is_amount(sign, amount) else None


def is_amount(sign: str, text: str) -> bool:
    """Whether a text is what may stand behind a sign: a number, and behind ``~`` also a share."""
    found = PERCENT.fullmatch(text.strip()) if SIGNS[sign] == "~" else None
    try:
        number_of(found[1] if found else text)
    except ValueError:
        return False
    return True
