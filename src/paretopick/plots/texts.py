"""Names of options and metrics in pictures: any text, shown as it is, shortened where it is long."""

from __future__ import annotations

import functools
import os.path
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that it is there on every machine."""

NO_FONT = "□"
"""Stands for a character that no font on this machine has."""

LONGEST = 24
"""Characters of a name beside its point; longer names are shortened in the middle."""


def plain(*texts: str) -> dict[str, Any]:
    """Returns the properties with which matplotlib shows texts as they are: no mathematics between dollars, fonts that have them."""
    fonts = (_font_with(character) for text in texts for character in sorted(set(text)))
    return {"parse_math": False, "fontfamily": list(dict.fromkeys([FONT, *filter(None, fonts)]))}


def legible(text: str) -> str:
    """Returns a text on one line, with a box for every character that no font on this machine has."""
    return "".join(character if _font_with(character) else _stand_in(character) for character in " ".join(text.split()))


def shortened(text: str, most: int = LONGEST) -> str:
    """Returns a text of at most so many characters, its middle left out if need be.

    >>> shortened("a name that goes on and on", 15)
    'a name …n and on'
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def short_names(names: Sequence[str], most: int = LONGEST) -> tuple[str, ...]:
    """Returns legible names of at most about so many characters, different where the names are.

    Names that differ only in the middle are cut where they begin to differ, and get a number if even that is not enough.

    >>> short_names(["alpha=1, beta=1, gamma=1", "alpha=1, beta=2, gamma=1", "short"], 16)
    ('alpha=…1, gamma=1', 'alpha=…2, gamma=1', 'short')
    """
    shown = [shortened(legible(name), most) for name in names]
    for alike in _alike(shown):
        start = len(os.path.commonprefix([legible(names[i]) for i in alike]))
        for i in alike:
            name = legible(names[i])
            rest = shortened(name[start:], most - most // 3)
            shown[i] = f"{name[: min(start, most // 3 - 1)]}…{rest}" if len(name) > most else name
    for alike in _alike(shown):
        for number, i in enumerate(alike, start=1):
            shown[i] += f" ({number})"
    return tuple(shown)


def several(names: Iterable[str], most: int = 3) -> str:
    """Returns a few names and how many more.

    >>> several(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    shown = [shortened(legible(name)) for name in names]
    return ", ".join(shown) if len(shown) <= most else f"{', '.join(shown[:most])} and {len(shown) - most} more"


def _alike(shown: Sequence[str]) -> list[list[int]]:
    """Places of texts that are there more than once."""
    places: dict[str, list[int]] = {}
    for i, text in enumerate(shown):
        places.setdefault(text, []).append(i)
    return [alike for alike in places.values() if len(alike) > 1]


def _stand_in(character: str) -> str:
    """Marks that join or vary other characters are left out, blanks are blanks, and all else is a box."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return ""
    return " " if character.isspace() else NO_FONT


@functools.cache
def _font_with(character: str) -> str | None:
    """The name of a font that has a character, ours if possible."""
    if ord(character) in _characters(_path_of_ours()):
        return FONT
    return next((name for name, path in _other_fonts() if ord(character) in _characters(path)), None)


@functools.cache
def _characters(path: str) -> frozenset[int]:
    """All that a font has; nothing if it cannot be scaled, as fonts of coloured pictures, or cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError):
        return frozenset()


@functools.cache
def _path_of_ours() -> str:
    from matplotlib.font_manager import findfont

    return findfont(FONT)


@functools.cache
def _other_fonts() -> list[tuple[str, str]]:
    """Upright fonts on this machine, in an order that does not change; not the one that has a box for everything."""
    from matplotlib.font_manager import fontManager

    found = {(font.name, font.fname) for font in fontManager.ttflist if font.style == "normal" and font.weight in (400, "normal")}
    return sorted((name, path) for name, path in found if "Last Resort" not in name and "Emoji" not in name)
