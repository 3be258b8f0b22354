"""Array aliases, and the validators ``check_*(value, name)``: each returns the clean value or says what is wrong with it."""

from __future__ import annotations

import difflib
import math
import numbers
import operator
import unicodedata
from collections.abc import ItemsView, Iterable, KeysView, Mapping, Set
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretopick._texts import number_of
from paretopick._words import quoted, short, with_article
from paretopick.errors import InvalidInput, UnknownName

LARGEST_BUDGET = 2**53
"""Beyond this, counts of pulls would no longer be exact as floats."""

LARGEST_PROBLEM = 10**7
"""Arms times objectives; beyond this, a number is a slip, and what is kept of each would not fit into the memory of a machine."""

MOST_WORKERS = 10_000
"""Threads, processes or pieces of work at the same time; no machine has more."""

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Name = TypeVar("Name", bound=str)


def check_integer(value: Any, name: str, *, minimum: int | None = None, maximum: int | None = None) -> int:
    """Returns ``value`` as a plain int between ``minimum`` and ``maximum``, both included.

    >>> check_integer(np.int64(7), "budget", minimum=1)
    7
    >>> check_integer(12588.56, "budget")
    Traceback (most recent call last):
        ...
    paretopick.errors.InvalidInput: budget=12588.56 is not an int; pass a whole number, such as 12588.
    """
    try:
        number = operator.index(value)
    except TypeError:
        example = f", such as {math.floor(value)}" if isinstance(value, float) and abs(value) < LARGEST_BUDGET else ""
        raise InvalidInput(f"{name}={short(value)} is not an int; pass a whole number{example}.") from None
    if isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{name}={value!r} is a truth value; pass an int.")
    if minimum is not None and number < minimum:
        raise InvalidInput(f"{name}={short(number)} is too small; it must be at least {minimum}.")
    if maximum is not None and number > maximum:
        raise InvalidInput(f"{name}={short(number)} is too large; it must be at most {maximum}.")
    return number


def check_size(n_arms: Any, n_objectives: Any = 1) -> tuple[int, int]:
    """Returns the numbers of arms and of objectives, if a machine can hold what belongs to so many."""
    arms = check_integer(n_arms, "n_arms", minimum=1, maximum=LARGEST_PROBLEM)
    return arms, check_integer(n_objectives, "n_objectives", minimum=1, maximum=LARGEST_PROBLEM // arms)


def check_workers(value: Any) -> int:
    """Returns ``value`` as a number of workers."""
    return check_integer(value, "workers", minimum=1, maximum=MOST_WORKERS)


def check_budget(value: Any, *, minimum: int = 0) -> int:
    """Returns ``value`` as a number of pulls that floats can count."""
    return check_integer(value, "budget", minimum=minimum, maximum=LARGEST_BUDGET)


def check_rng(value: Any, name: str = "rng") -> np.random.Generator:
    """Returns a generator made of an int, SeedSequence or Generator, as NumPy's own functions take it."""
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidInput(f"{name}={short(value)} is not a seed ({problem}); pass an int, SeedSequence or Generator.") from None


def check_real(
    value: Any,
    name: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    infinite: bool = False,
) -> float:
    """Returns ``value`` as a float from ``minimum`` to ``maximum``, both included, and strictly between ``above`` and ``below``.

    Args:
        value: a number of any kind, or a text that is one.
        name: of the argument, for the message.
        minimum: and the other limits; none by default.
        infinite: whether plus infinity is a sensible value; NaN never is.
    """
    try:
        number = number_of(value) if isinstance(value, str) else real(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name}={short(value)} is not a number; pass a float.") from None
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise InvalidInput(f"{name}={number} is not finite; pass an ordinary number.")
    if minimum is not None and number < minimum:
        raise InvalidInput(f"{name}={number:g} is too small; it must be at least {minimum:g}.")
    if maximum is not None and number > maximum:
        raise InvalidInput(f"{name}={number:g} is too large; it must be at most {maximum:g}.")
    if above is not None and number <= above:
        raise InvalidInput(f"{name}={number:g} is too small; it must be larger than {above:g}.")
    if below is not None and number >= below:
        raise InvalidInput(f"{name}={number:g} is too large; it must be smaller than {below:g}.")
    return number


def real(value: Any) -> float:
    """Returns a number as a float, or raises ``TypeError``, ``ValueError`` or ``OverflowError``.

    Texts, bytes and truth values are no numbers here, though ``float`` takes them: each may be a slip.
    """
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise TypeError(f"{short(value)} is not a number")
    return float(value)


def check_flag(value: Any, name: str) -> bool:
    """Returns ``value`` if it is True or False; a text such as "no" would otherwise count as true."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidInput(f"{name}={short(value)} is not a truth value; pass True or False.")


def check_choice(value: Any, choices: Iterable[Name], kind: str) -> Name:
    """Returns ``value`` if it is one of ``choices``, and otherwise suggests the nearest one.

    >>> check_choice("covboost", ["cov-boost", "snw"], "instance")
    Traceback (most recent call last):
        ...
    paretopick.errors.UnknownName: no instance named 'covboost'; did you mean 'cov-boost'?
    """
    known = list(choices)
    if isinstance(value, str):
        if value in known:
            return value
        near = difflib.get_close_matches(value.lower(), known, n=1)
        if near:
            raise UnknownName(f"no {kind} named {short(value)}; did you mean {near[0]!r}?")
    raise UnknownName(f"no {kind} named {short(value)}; there is {quoted(known) or 'none'}.")


def check_name(name: Any, kind: str) -> str:
    """Returns the name of a study, option, metric or worker: any text that databases can hold and terminals can show."""
    a_kind = with_article(kind)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"{short(name)} cannot be the name of {a_kind}; give it a text that is not empty.")
    if len(name) > 1000:
        raise InvalidInput(f"the name of {a_kind} has {len(name)} characters ({name[:20]!r}...); 1000 are the most.")
    if name != name.strip():
        raise InvalidInput(f"{short(name)} cannot be the name of {a_kind}: it has blanks at its ends.")
    if not name.isprintable():
        place, bad = next((place, character) for place, character in enumerate(name, start=1) if not character.isprintable())
        raise InvalidInput(
            f"{short(name)} cannot be the name of {a_kind}: its character {place} (U+{ord(bad):04X}) cannot be printed."
        )
    return name


def check_distinct(names: Iterable[str], kind: str) -> None:
    """Refuses names that are there twice, and different ones that look the same: accents can be written in two ways."""
    known: dict[str, str] = {}
    for name in names:
        shown = unicodedata.normalize("NFC", name)
        if shown in known:
            twice = "is there twice" if known[shown] == name else f"looks like another one, {known[shown]!a} beside {name!a}"
            raise InvalidInput(f"{kind} {name!r} {twice}; every {kind} needs a name of its own.")
        known[shown] = name


def unboxed(value: Any) -> Any:
    """Returns what is in a scalar, or in an array of one entry, of whatever library; anything else as it is.

    >>> unboxed(np.float64(1.5)), unboxed(np.array([[2]])), unboxed("three"), unboxed(np.arange(2))
    (1.5, 2, 'three', array([0, 1]))
    """
    if hasattr(value, "item") and not isinstance(value, type):
        with suppress(Exception):  # several entries, or a method that is about something else
            return value.item()
    return value


def check_sequence(value: Any, name: str, trouble: str) -> list[Any]:
    """Returns what is in a list, or in anything else that has an order; refuses sets, and texts, which are no lists of letters.

    Args:
        value: the list.
        name: of the argument, for the message.
        trouble: the rest of the message, after the value.
    """
    unordered = isinstance(value, Set) and not isinstance(value, KeysView | ItemsView)
    if not unordered and not isinstance(value, str | bytes | bytearray | memoryview | Mapping):
        try:
            return list(value)
        except TypeError:  # no iterable, or an array without dimensions
            pass
    raise InvalidInput(f"{name}={short(value)}{' (a set, which has no order)' if unordered else ''} {trouble}.")


def check_numbers(value: ArrayLike, name: str) -> FloatArray:
    """Returns ``value`` as a new float array of any shape, from numbers alone: texts are not read."""
    return _numbers(value, name, "numbers")


def _numbers(value: ArrayLike, name: str, what: str) -> FloatArray:
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidInput(f"{name} is a masked array; fill or drop the masked entries first, every entry counts.")
    try:
        array = np.array(value, order="C")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its entries are {array.dtype}, not real numbers")
        if array.dtype.kind == "O":  # of which NumPy would read texts, too
            return np.array([real(entry) for entry in array.flat], dtype=np.float64).reshape(array.shape)
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        shown = name if what == "a table of numbers" else f"{name}={short(value)}"
        raise InvalidInput(f"{shown} cannot be read as {what}: {problem}.") from None


def check_table(
    value: ArrayLike, name: str, *, columns: int | None = None, remedy: str = "every entry must be finite"
) -> FloatArray:
    """Returns ``value`` as a new float array ``(rows, columns)`` without NaN or infinities."""
    table = _numbers(value, name, "a table of numbers")
    if table.ndim != 2:
        hint = "; for one objective give one row of one number each" if table.ndim == 1 and columns in (None, 1) else ""
        raise InvalidInput(f"{name} has shape {table.shape}; expected two dimensions (rows, objectives){hint}.")
    if columns is not None and table.shape[1] != columns:
        raise InvalidInput(f"{name} has {table.shape[1]} columns; expected {columns}, one per objective.")
    finite = np.isfinite(table)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InvalidInput(f"{name} has {table[row, column]} for objective {column} (row {row} of {len(table)}); {remedy}.")
    return table


def check_means(value: ArrayLike, name: str = "means") -> FloatArray:
    """Returns ``value`` as a new float array ``(n_arms, n_objectives)`` with at least one arm and one objective."""
    means = check_table(value, name)
    if 0 in means.shape:
        raise InvalidInput(f"{name} has shape {means.shape}; expected at least one arm and one objective.")
    return means


def check_arms(value: ArrayLike, name: str, n_arms: int) -> IntArray:
    """Returns ``value`` as a 1-D int array of arm numbers below ``n_arms``."""
    try:
        arms = np.atleast_1d(np.asarray(value))
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name}={short(value)} is not a plain list; expected whole arm numbers, such as [0, 2].") from None
    if arms.size == 0:
        return np.empty(0, dtype=np.int64)
    if arms.ndim != 1 or arms.dtype.kind not in "iu":
        raise InvalidInput(
            f"{name}={short(value)} ({arms.dtype} of shape {arms.shape}) is not a list of whole arm numbers, such as [0, 2]."
        )
    outside = (arms < 0) | (arms >= n_arms)
    if outside.any():
        raise InvalidInput(
            f"{name} has arm {arms[outside][0]} (position {np.argmax(outside)}); arms are numbered 0 to {n_arms - 1}."
        )
    return arms.astype(np.int64)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Returns ``array`` itself, made read-only: for arrays that a record or a bandit hands out."""
    array.flags.writeable = False
    return array
