"""Names and numbers in pictures: names are any text, shown as it is, shortened where it is long."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that it is there on every machine."""

NO_FONT = "□"
"""Stands for a character that no font on this machine has."""

LONGEST = 24
"""Characters of a name beside its point; longer names are shortened in the middle."""

LONGEST_PLAIN = 9
"""Characters of a number, beyond which it is written with a power of ten if that is shorter."""


def plain(*texts: str) -> dict[str, Any]:
    """Returns properties with which matplotlib shows texts as they are: dollars are dollars, and fonts have all characters."""
    fonts = (_font_with(character) for text in texts for character in sorted(set(text)))
    return {"parse_math": False, "fontfamily": list(dict.fromkeys([FONT, *filter(None, fonts)]))}


def legible(text: str) -> str:
    """Returns a text on one line, with a box for every character that no font on this machine has."""
    return "".join(character if _font_with(character) else _stand_in(character) for character in " ".join(text.split()))


def shortened(text: str, most: int = LONGEST) -> str:
    """Returns a text of at most so many characters, its middle left out if need be.

    >>> shortened("a name that goes on and on", 15)
    'a name … and on'
    >>> shortened("Pipeline(steps=[scaler... c3c41cec", 24)  # which was shortened before
    'Pipeline(st… c3c41cec'
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head].rstrip('.…')}…{text[len(text) - (most - 1 - head) :].lstrip('.…')}"


def fitted(text: str, points: float, size: float) -> str:
    """Returns a text shortened in the middle until it is at most so many points wide in letters of a size."""
    families = plain(text)["fontfamily"]
    for most in range(len(text), 3, -1):
        shown = shortened(text, most)
        if text_width(shown, size, families) <= points:
            return shown
    return shortened(text, 3)


def wrapped(text: str, points: float, size: float) -> list[str]:
    """Returns a text on as many lines as it takes, none of them wider than so many points in letters of a size."""
    families = plain(text)["fontfamily"]
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, families) <= points:
            lines[-1] = longer
        else:
            lines.append(fitted(word, points, size))
    return lines


def text_width(text: str, size: float, families: Sequence[str] = (FONT,)) -> float:
    """Returns how many points wide a text is in letters of a size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    letters = FontProperties(family=list(families), size=size)
    return float(text_to_path.get_text_width_height_descent(text, letters, ismath=False)[0])


def short_names(names: Sequence[str], most: int = LONGEST) -> tuple[str, ...]:
    """Returns legible names of at most about so many characters, different where the names are.

    Of long names, what they have in common is left out first. Those that still look alike get a number.

    >>> short_names(["model=large,lr=0.1,seed=1", "model=large,lr=0.2,seed=1", "short"], 16)
    ('…lr=0.1,…', '…lr=0.2,…', 'short')
    """
    shown = [legible(name) for name in names]
    long = [i for i, name in enumerate(shown) if len(name) > most]
    for i, name in zip(long, _what_differs([shown[i] for i in long]), strict=True):
        shown[i] = shortened(name, most)
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


def numbers(values: Sequence[float]) -> list[str]:
    """Returns numbers with as many digits as it takes to tell them apart, the same for all; with powers of ten if they are long.

    >>> numbers([0.0, 0.25, 0.5]), numbers([1000000.5, 1000000.25]), numbers([2e12, 0.0])
    (['0.00', '0.25', '0.50'], ['1,000,000.50', '1,000,000.25'], ['2e12', '0'])
    """
    levels = np.unique(values)
    if not len(levels):
        return []
    apart = np.diff(levels).min() if len(levels) > 1 else abs(levels[0])
    tolerance = max(apart / 100, 1e-14 * np.abs(levels).max())
    ways = []
    for style, most in ((",.{}f", 20), (".{}e", 16)):
        for digits in range(most + 1):
            texts = [format(value + 0.0, style.format(digits)) for value in values]
            if all(abs(float(text.replace(",", "")) - value) <= tolerance for text, value in zip(texts, values, strict=True)):
                break
        ways.append([_typeset(text) for text in texts])
    plainly, powers = ways
    widths = [max(map(len, way)) for way in ways]
    return powers if widths[0] > LONGEST_PLAIN and widths[1] < widths[0] else plainly


def _typeset(number: str) -> str:
    """A number with a real minus, and its power of ten without zeros: 2e12 for 2e+12, and 0 for 0e+00."""
    mantissa, _, power = number.partition("e")
    if float(mantissa.replace(",", "")) == 0:
        mantissa = mantissa.removeprefix("-") if not power else "0"
    shown = f"{mantissa}e{int(power)}" if power and mantissa != "0" else mantissa
    return shown.replace("-", "\N{MINUS SIGN}")


def _what_differs(names: Sequence[str]) -> list[str]:
    """Names without the parts that all of them have at the same place, if they are made of the same number of parts."""
    parts = [re.findall(r"[^,;|/ ]*[,;|/ ]|[^,;|/ ]+$", name) for name in names]
    if len(names) < 2 or len({len(of_one) for of_one in parts}) > 1:
        return list(names)
    same = [len(set(at_one)) == 1 for at_one in zip(*parts, strict=True)]
    marked = [["" if is_same else part for part, is_same in zip(of_one, same, strict=True)] for of_one in parts]
    return [re.sub("\0+", "…", "".join(part or "\0" for part in of_one)) for of_one in marked]


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
