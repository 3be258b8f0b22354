"""How functions of this package are compiled, and that kernels are kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

log = logging.getLogger("paretopick")

PLAIN: dict[str, Any] = {"_nrt": False}
"""Functions that own no memory count no references, which in the innermost loops would take longer than the work."""

_ONLY_COMPILED: dict[str, Any] = {**PLAIN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = njit(**_ONLY_COMPILED)
"""For functions that only compiled functions call."""

inlined = njit(forceinline=True, **_ONLY_COMPILED)
"""The same, copied into whoever calls them."""

apart = njit(forceinline=False, **_ONLY_COMPILED)
"""The same, not copied even if an inlined function calls them: what is long and seldom needed slows down what is around it."""


@cache
def _say_that_nothing_is_kept() -> None:
    log.warning("compiled kernels cannot be kept: no folder for them may be written to; set NUMBA_CACHE_DIR to one that may")


def kernel(function: Callable[..., Any]) -> Any:
    """For the functions that Python calls: kept on disk if there is a place for it, and other threads run meanwhile."""
    try:
        compiled = njit(cache=True, nogil=True, **PLAIN)(function)
    except RuntimeError:  # neither beside the sources nor in the user's folder may be written to
        _say_that_nothing_is_kept()
        return njit(nogil=True, **PLAIN)(function)
    _pass_over_what_cannot_be_read(compiled)
    return compiled


def _pass_over_what_cannot_be_read(compiled: Any) -> None:
    """What an older version of the package left on disk may name records that are gone: then it is as if nothing were there."""
    file = compiled._cache._cache_file
    load = file._load_index

    def load_or_nothing() -> Any:
        try:
            return load()
        except Exception:  # whatever unpickling comes upon
            return {}

    file._load_index = load_or_nothing


pasted = njit(inline="always")
"""For functions that are called in one place: never compiled by themselves."""
