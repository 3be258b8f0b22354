"""Functions of NumPy for vectors, so that what is written for arrays can be compiled for eight numbers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from paretopick.simulation.kernels.compiling import PLAIN, inlined
from paretopick.simulation.kernels.vectors import LANES, MASK, as_lanes, as_words, choose, splat, spread, square_root


@intrinsic
def _broad(typingctx: Any, value: Any) -> Any:
    """A vector as it is, a number in every lane."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return args[0] if sig.args[0] is LANES else splat(builder, args[0], LANES.vector)

    return LANES(LANES if value is LANES else types.float64), codegen


@overload(np.where)
def _where(mask, a, b):
    if mask is MASK:
        return lambda mask, a, b: choose(mask, _broad(a), _broad(b))
    return None


@overload(np.sqrt)
def _sqrt(a):
    return (lambda a: square_root(a)) if a is LANES else None


@overload(np.frexp)
def _frexp(x):
    return (lambda x: _halves(x)) if x is LANES else None


@inlined
def _halves(x):
    """Mantissas from 1/2 to 1, and exponents, of positive numbers that are not the very smallest."""
    exponent = as_lanes((as_words(x) >> spread(_52)) | spread(_TWO_52)) - spread(4503599627370496.0 + 1022.0)
    return as_lanes((as_words(x) & spread(_MANTISSA)) | spread(_HALF)), exponent


_52, _TWO_52 = np.uint64(52), np.uint64(0x4330000000000000)
_MANTISSA, _HALF = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(0x3FE0000000000000)


def compiled_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets compiled functions call a plain one, which is compiled for the types that they call it with."""
    register_jitable(forceinline=True, **PLAIN)(function)
    return function
