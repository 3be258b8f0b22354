"""Options of any kind: what they are called in a study, what ``measure`` is called with, and what results speak of.

A study knows options by their names, in tables and databases, and finds them again by these in the next process. So a name is
made of what stays the same there: never of an address in memory, nor of a place in the list.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from paretopick._arrays import check_distinct, check_sequence
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.metrics import ERROR_SUFFIX
from paretopick.studies.options import is_setting

LONGEST = 100
"""Characters of a name that is made here."""

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]{6,}")
NOTHING_BUT_ITS_CLASS = re.compile(r"<(?:[\w.<>]+\.)?(\w+) object>")
"""How Python shows an object whose class does not say how, without its address."""


class NamedOptions(NamedTuple):
    """Options by their names."""

    table: Mapping[str, Mapping[str, Any]]
    """The settings of each, as studies keep them."""
    measured: Mapping[str, Any]
    """What ``measure`` is called with."""
    given: Mapping[str, Any]
    """What results speak of."""

    def name(self, option: Any) -> Any:
        """Returns the name of an option that was given, or of one that is called the same; whatever else as it is."""
        same = (name for name, given in self.given.items() if given is option or (isinstance(option, dict) and given == option))
        if (name := next(same, None)) is not None:
            return name
        return called if not isinstance(option, str) and (called := name_of(option)) in self.given else option


def named_options(options: Any, *, stored: bool, taken: Collection[str] = ()) -> NamedOptions:
    """Returns options by their names.

    Args:
        options: a list of anything; a mapping from names to what ``measure`` is called with; or rows with an ``option`` or a
            ``name`` of their own, or named by their settings.
        stored: whether another process has to find them again; then those are refused that have no name of their own, and which
            are numbered else.
        taken: names that settings cannot have, of metrics for instance; such settings are for ``measure`` alone.
    """
    if isinstance(options, Mapping):
        keys, values = list(options), list(options.values())
        names = [name_of(key) for key in keys]
        check_distinct(names, "option")
        return _named(names, values, keys, [value if isinstance(value, Mapping) else {} for value in values], taken)
    listed = check_sequence(
        options, "options", 'is not a list of names, or of other objects; write for instance ["zlib 1", "zlib 9"]'
    )
    rows = [dict(entry) if isinstance(entry, Mapping) else {} for entry in listed]
    own = _own_names(rows) if all(isinstance(entry, Mapping) for entry in listed) else None
    names = _distinct(listed, stored) if own is None else own
    return _named(names, listed, listed, rows, taken)


def _named(
    names: Sequence[str],
    measured: Sequence[Any],
    given: Sequence[Any],
    rows: Sequence[Mapping[Any, Any]],
    taken: Collection[str],
) -> NamedOptions:
    kept = [column for column in _kept_settings(rows) if column not in taken and not column.endswith(ERROR_SUFFIX)]
    table = {name: {column: _plain(row[column]) for column in kept} for name, row in zip(names, rows, strict=True)}
    return NamedOptions(table, dict(zip(names, measured, strict=True)), dict(zip(names, given, strict=True)))


def _own_names(rows: Sequence[dict[Any, Any]]) -> list[str] | None:
    """The names that rows have among their settings, taken out of these; None if they have none, or not one each."""
    for column in ("option", "name"):
        if all(column in row for row in rows):
            names = [name_of(row[column]) for row in rows]
            if column == "option":
                check_distinct(names, "option")
            if len(set(names)) == len(names):
                for row in rows:
                    del row[column]
                return names
    return None


def _kept_settings(rows: Sequence[Mapping[Any, Any]]) -> list[str]:
    """The settings that a study can keep: those that every option has, as a number or a text."""
    first = rows[0] if rows else {}
    return [
        column
        for column in first
        if isinstance(column, str) and all(column in row and is_setting(_plain(row[column])) for row in rows)
    ]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _distinct(options: Sequence[Any], stored: bool) -> list[str]:
    """A name for each: the shortest kind in which all those differ that share a shorter one."""
    for kind in (str, int | float | np.number):
        check_distinct([name_of(option) for option in options if isinstance(option, kind)], "option")
    names = [name_of(option) for option in options]
    for longer in (_qualified_name, _full_name):
        twice = Counter(names)
        names = [longer(option) if twice[name] > 1 else name for name, option in zip(names, options, strict=True)]
    twice = Counter(names)
    clashing = [place for place, name in enumerate(names) if twice[name] > 1]
    if not clashing:
        return names
    if stored:
        first, second = clashing[0], names.index(names[clashing[0]], clashing[0] + 1)
        raise InvalidInput(
            f"options {first + 1} and {second + 1} are both called {names[first]!r}, and in a storage options are found again by "
            "their names; give names to them, as in options={'first': ..., 'second': ...}, or a __repr__ that tells them apart."
        )
    numbers: Counter[str] = Counter()
    for place in clashing:
        numbers[names[place]] += 1
        names[place] = f"{names[place]} {numbers[names[place]]}"
    check_distinct(names, "option")
    return names


def name_of(option: Any) -> str:
    """Returns what an option is called: the same in every process, as far as that can be.

    >>> name_of(0.1), name_of(len), name_of({"level": 9, "fast": True}), name_of(("zlib", 9)), name_of(frozenset("ba"))
    ('0.1', 'len', 'level=9, fast=True', "('zlib', 9)", '{a, b}')
    >>> name_of(functools.partial(round, ndigits=2)), name_of(object())
    ('round(ndigits=2)', 'object')
    """
    return option if isinstance(option, str) else _shortened(_text(option, lambda named: str(named.__name__)))


def _qualified_name(option: Any) -> str:
    """A longer name, of functions and classes in which others are called the same."""
    if isinstance(option, str):
        return option
    return _shortened(_text(option, lambda named: f"{named.__module__}.{named.__qualname__}"))


def _full_name(option: Any) -> str:
    """As others are written by Python, what is a text with its quotes: 1 and "1" are two options."""
    return _shortened(repr(option)) if isinstance(option, str) else _qualified_name(option)


def _text(option: Any, named: Callable[[Any], str]) -> str:
    if isinstance(option, str):
        return option
    if isinstance(option, np.generic):
        return str(option)
    if isinstance(option, Mapping):
        return ", ".join(f"{_text(key, named)}={_inner(value, named)}" for key, value in option.items()) or "{}"
    if isinstance(option, functools.partial):
        words = [*(_inner(value, named) for value in option.args)]
        words += [f"{key}={_inner(value, named)}" for key, value in option.keywords.items()]
        return f"{_text(option.func, named)}({', '.join(words)})"
    if callable(option) and hasattr(option, "__qualname__") and isinstance(getattr(option, "__name__", None), str):
        return named(option)
    if isinstance(option, set | frozenset):  # whose order is another one in the next process
        return f"{{{', '.join(sorted(_inner(value, named) for value in option))}}}"
    try:
        text = repr(option)
    except Exception as problem:
        raise InvalidInput(
            f"{short(option)} cannot be named, since its repr raises {type(problem).__name__}; give names, as in "
            "options={'first': ..., 'second': ...}."
        ) from None
    return NOTHING_BUT_ITS_CLASS.sub(r"\1", ADDRESS.sub("", text))


def _inner(value: Any, named: Callable[[Any], str]) -> str:
    """What a setting or an argument is in the name of an option: texts as they are, if nobody could misread them."""
    if isinstance(value, str) and not re.fullmatch(r"[\w.+/-]*[^\W\d][\w.+/-]*", value):
        return repr(value)
    return repr(value) if isinstance(value, Mapping) else _text(value, named)


def _shortened(text: str) -> str:
    """A text that can be a name: on one line, printable, and if it is long, known by a digest of what was left out."""
    line = " ".join(text.split())
    if not line.isprintable():
        line = line.encode("unicode_escape").decode("ascii")
    if len(line) <= LONGEST:
        return line
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{line[: LONGEST - 12].rstrip()}... {digest}"
