"""Memory that vectors are read from and written to, all of it flat arrays of float64 or uint64."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from paretopick.simulation.kernels.vectors import LANES, OF_SCALAR, WIDTH, WORDS


def float_memory(n: int) -> NDArray[np.float64]:
    """A flat array of n float64, all 0, that begins where a vector may: other vectors would straddle two lines of the cache."""
    memory = np.zeros(n + WIDTH)
    skip = -memory.ctypes.data // memory.itemsize % WIDTH
    return memory[skip : skip + n]


def word_memory(n: int) -> NDArray[np.uint64]:
    """The same of uint64."""
    return float_memory(n).view(np.uint64)


def _pointer(context: Any, builder: ir.IRBuilder, array_type: Any, array: ir.Value, index: ir.Value) -> ir.Value:
    data = make_array(array_type)(context, builder, array).data
    vector = OF_SCALAR[array_type.dtype].vector
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """``array[index : index + 8]`` of a flat array of float64 or uint64."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return builder.load(_pointer(context, builder, sig.args[0], *args), align=8)  # of any array, not only of float_memory

    return OF_SCALAR[array.dtype](array, types.intp), codegen


@intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + 8] = value``."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        builder.store(args[2], _pointer(context, builder, sig.args[0], *args[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def gather(typingctx: Any, array: Any, places: Any) -> Any:
    """The elements of a flat array of float64 or uint64 at the places that Words hold."""
    kind = OF_SCALAR[array.dtype]

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        result = ir.Constant(kind.vector, ir.Undefined)
        for lane in range(WIDTH):
            at = ir.Constant(ir.IntType(32), lane)
            place = builder.extract_element(args[1], at)
            result = builder.insert_element(result, builder.load(builder.gep(data, [place])), at)
        return result

    return kind(array, WORDS), codegen


@intrinsic
def scatter(typingctx: Any, array: Any, places: Any, value: Any) -> Any:
    """Writes each lane to its place in a flat array of float64 or uint64; the places differ."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        for lane in range(WIDTH):
            at = ir.Constant(ir.IntType(32), lane)
            place = builder.extract_element(args[1], at)
            builder.store(builder.extract_element(args[2], at), builder.gep(data, [place]))
        return context.get_dummy_value()

    return types.void(array, WORDS, value), codegen


@intrinsic
def gather_listed(typingctx: Any, array: Any, places: Any, start: Any, offset: Any) -> Any:
    """``array[places[start + lane] + offset]`` of flat arrays of float64 and uint64.

    Places that have just been written one by one are read one by one: a vector of them would wait for all.
    """

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        data, result = make_array(sig.args[0])(context, builder, args[0]).data, ir.Constant(LANES.vector, ir.Undefined)
        for lane, place in enumerate(_listed(context, builder, sig.args[1], *args[1:3])):
            value = builder.load(builder.gep(data, [builder.add(place, args[3])]))
            result = builder.insert_element(result, value, ir.Constant(ir.IntType(32), lane))
        return result

    return LANES(array, places, types.intp, types.intp), codegen


@intrinsic
def scatter_listed(typingctx: Any, array: Any, places: Any, start: Any, value: Any) -> Any:
    """``array[places[start + lane]] = value`` of each lane, likewise; places that are equal get equal values."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        for lane, place in enumerate(_listed(context, builder, sig.args[1], *args[1:3])):
            builder.store(builder.extract_element(args[3], ir.Constant(ir.IntType(32), lane)), builder.gep(data, [place]))
        return context.get_dummy_value()

    return types.void(array, places, types.intp, LANES), codegen


def _listed(context: Any, builder: ir.IRBuilder, kind: Any, places: ir.Value, start: ir.Value) -> list[ir.Value]:
    data = make_array(kind)(context, builder, places).data
    numbers = (builder.add(start, ir.Constant(ir.IntType(64), lane)) for lane in range(WIDTH))
    return [builder.load(builder.gep(data, [number])) for number in numbers]
