"""By what a function that measures is known again in another process: its code, which is looked at and never run."""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from paretopick.studies.named_options import name_of
from paretopick.studies.study import Study

MANY = 10_000
"""Beyond so many measurements nobody looks by whom they were made."""

OURS = "paretopick."
"""Commands are known by their words, and our own code is not what users change."""


def fingerprint(measure: Callable[..., Any]) -> str | None:
    """Returns by what a function is known again, None if that cannot be said.

    It follows from the compiled code of the function, from its defaults, and from the code of the functions of the same module
    that it names; comments, line numbers and the values of other variables do not matter. Python's minor version is part of it,
    since code is compiled otherwise by another one.

    >>> from statistics import mean, median
    >>> fingerprint(mean) == fingerprint(mean), fingerprint(mean) == fingerprint(median), fingerprint(len) is None
    (True, False, True)
    """
    found = _function(measure)
    if found is None or (found.__module__ or "").startswith(OURS):
        return None
    try:
        digest = hashlib.sha256("\n".join(_lines(measure, found, set())).encode("utf-8", "surrogatepass"))
    except Exception:  # a default may have a repr that raises, which is no reason not to measure
        return None
    return f"{sys.version_info.major}.{sys.version_info.minor}:{digest.hexdigest()[:12]}"


def is_another(one: str | None, other: str | None) -> bool:
    """Returns whether two fingerprints are surely of different functions.

    >>> is_another("3.11:a", "3.11:b"), is_another("3.11:a", "3.12:b"), is_another(None, "3.11:b")
    (True, False, False)
    """
    if one is None or other is None:
        return False
    return one != other and one.partition(":")[0] == other.partition(":")[0]


def _function(measure: Any) -> types.FunctionType | None:
    """The function that is called in the end."""
    if isinstance(measure, functools.partial):
        return _function(measure.func)
    if isinstance(measure, types.MethodType):
        return _function(measure.__func__)
    if isinstance(measure, types.FunctionType):
        wrapped = getattr(measure, "__wrapped__", None)
        return measure if wrapped is None else _function(wrapped)
    call = getattr(type(measure), "__call__", None)  # noqa: B004 -- its code is wanted
    return call if isinstance(call, types.FunctionType) else None


def _lines(measure: Any, function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    """What a function is made of, with those of its module that it names."""
    if isinstance(measure, functools.partial):
        yield name_of(functools.partial(print, *measure.args, **measure.keywords))
    seen.add(id(function))
    yield repr([name_of(value) for value in function.__defaults__ or ()])
    yield repr({name: name_of(value) for name, value in (function.__kwdefaults__ or {}).items()})
    yield from _code(function.__code__)
    for name in sorted(_names(function.__code__)):
        other = function.__globals__.get(name)
        if isinstance(other, types.FunctionType) and other.__module__ == function.__module__ and id(other) not in seen:
            yield name
            yield from _lines(other, other, seen)


def _code(code: types.CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount, code.co_flags))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):  # whose order is another one in the next process
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def made_by_others(study: Study, mine: str | None) -> int:
    """Returns how many measurements of a study were surely made by other functions than this one; 0 of a very long log.

    Args:
        study: with its measurements.
        mine: the fingerprint of the function.
    """
    if mine is None or not 0 < study.used <= MANY:
        return 0
    told: dict[int | None, str | None] = {}
    for event in study.events():
        if event.kind == "told":
            told[event.number] = (event.details or {}).get("by")
        elif event.kind == "voided":
            told.pop(event.number, None)
    return sum(is_another(by, mine) for by in told.values())
