"""Wording that many messages share: names in a sentence, counted nouns, shares in percent, values too long to be shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any


def joined(parts: Sequence[str]) -> str:
    """Returns parts of a sentence with commas, and "and" before the last.

    >>> joined(["a", "b", "c"]), joined(["a"]), joined([])
    ('a, b and c', 'a', '')
    """
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def listed(names: Iterable[str]) -> str:
    """Returns names in a sentence, those in quotes that would be taken for several.

    >>> listed(["a", "b, c", "d"])
    'a, "b, c" and d'
    """
    return joined(unmistakable(names))


def unmistakable(names: Iterable[str]) -> list[str]:
    """Returns names, those in quotes that would be taken for several."""
    return [f'"{name}"' if any(word in name for word in (",", " and ", " or ")) else name for name in names]


def quoted(names: Iterable[Any]) -> str:
    """Returns names as Python writes them.

    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    return ", ".join(map(repr, names))


def some(names: Iterable[Any], most: int = 3) -> str:
    """Returns the first names, and how many more there are.

    >>> some("abcd"), some("abc")
    ('a, b and 2 more', 'a, b, c')
    """
    shown = list(map(str, names))
    return ", ".join(shown) if len(shown) <= most else f"{', '.join(shown[: most - 1])} and {len(shown) - most + 1} more"


def counted(n: int, noun: str) -> str:
    """Returns a number with its noun, which takes an s where there is not one of it.

    >>> counted(1, "measurement"), counted(2000, "measurement")
    ('1 measurement', '2,000 measurements')
    """
    return f"{n:,} {noun if n == 1 else f'{noun}s'}"


def with_article(noun: str) -> str:
    """Returns a noun after "a" or "an".

    >>> with_article("option"), with_article("study"), with_article("unit")
    ('an option', 'a study', 'a unit')
    """
    return f"{'an' if noun[0] in 'aeiou' and not noun.startswith('uni') else 'a'} {noun}"


def capital(text: str) -> str:
    """Returns a text with a capital letter at its start, and the rest as it is."""
    return text[:1].upper() + text[1:]


def short(value: Any, most: int = 60) -> str:
    """Returns a value as Python writes it, its end left out where it is long; of any value, however odd.

    >>> short([1, 2]), short("x" * 99, most=10), short(10**5000)
    ('[1, 2]', "'xxxxxx...", 'an int of 16610 bits')
    """
    try:
        return cut(repr(value[: most + 1] if isinstance(value, str | bytes) else value), most)
    except Exception:  # a number of more digits than Python writes, or an object of somebody else
        if isinstance(value, int):
            return f"an int of {value.bit_length()} bits"
        return f"{with_article(type(value).__name__)} that cannot be shown"


def text_of(value: Any) -> str:
    """Returns a value as a text; of any value, however odd."""
    try:
        return str(value)
    except Exception:
        return short(value)


def visible(text: str) -> str:
    r"""Returns a text in which characters that a terminal would obey, and halves of characters, are written out.

    >>> print(visible("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs") else repr(character)[1:-1]
        for character in text
    )


def cut(text: str, most: int) -> str:
    """Returns a text of at most so many characters, its end left out if need be."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def number_text(number: float) -> str:
    """Returns a number as one types it: as short as it can be without becoming another one.

    >>> number_text(50.0), number_text(0.01), number_text(1e-9)
    ('50', '0.01', '1e-09')
    """
    return f"{number:.0f}" if number == round(number) and abs(number) < 1e15 else repr(float(number))


def percent(share: float) -> str:
    """Returns a share with two digits, three from 99.5% on.

    >>> percent(0.05), percent(0.123), percent(0.0034)
    ('5.0%', '12%', '0.34%')
    """
    return f"{share:.0%}" if 0.0995 <= share < 0.995 else f"{share:.1%}" if share >= 0.00995 else f"{share:.2%}"


def probability(share: float | None) -> str:
    """Returns a probability as people read it: never 0% or 100%, which draws cannot show.

    >>> probability(0.5), probability(0.994), probability(1.0), probability(None)
    ('50%', '99.4%', '> 99.9%', '')
    """
    if share is None:
        return ""
    if share > 0.999 or share < 0.001:
        return "> 99.9%" if share > 0.5 else "< 0.1%"
    return f"{share:.1%}" if not 0.01 <= share <= 0.99 else f"{share:.0%}"
