"""Vectors of eight numbers as values inside compiled functions, for loops that the compiler would not vectorise well itself.

Three types: ``Lanes`` of float64, ``Words`` of uint64, ``Mask`` of truth values. They live in registers, in compiled code
alone: read and written by ``vector_memory``, combined with the usual operators lane by lane. Nothing here rounds differently
from the same operation on one number, so a result does not depend on how wide the processor's registers are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from paretopick.simulation.kernels.compiling import inlined

WIDTH = 8
"""Lanes of a vector; arrays that are read as vectors are padded to a multiple of it."""


class _VectorType(types.Type):
    """A vector whose lanes are of an LLVM type."""

    def __init__(self, name: str, lane: ir.Type) -> None:
        self.vector = ir.VectorType(lane, WIDTH)
        super().__init__(name=name)


class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _VectorType) -> None:
        super().__init__(manager, kind, kind.vector)


register_model(_VectorType)(_VectorModel)

LANES = _VectorType("Lanes", ir.DoubleType())
WORDS = _VectorType("Words", ir.IntType(64))
MASK = _VectorType("Mask", ir.IntType(1))
OF_SCALAR = {types.float64: LANES, types.uint64: WORDS}
"""Which vector holds eight of a kind of number."""


# Operators: for each, the types of both operands, the type of the result, and the instruction.


def _compare(sign: str) -> Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]:
    return lambda builder, a, b: builder.fcmp_ordered(sign, a, b)


_OPERATORS = [
    (operator.add, LANES, LANES, ir.IRBuilder.fadd),
    (operator.sub, LANES, LANES, ir.IRBuilder.fsub),
    (operator.mul, LANES, LANES, ir.IRBuilder.fmul),
    (operator.truediv, LANES, LANES, ir.IRBuilder.fdiv),
    (operator.lt, LANES, MASK, _compare("<")),
    (operator.le, LANES, MASK, _compare("<=")),
    (operator.gt, LANES, MASK, _compare(">")),
    (operator.ge, LANES, MASK, _compare(">=")),
    (operator.eq, LANES, MASK, _compare("==")),
    (operator.add, WORDS, WORDS, ir.IRBuilder.add),
    (operator.mul, WORDS, WORDS, ir.IRBuilder.mul),
    (operator.xor, WORDS, WORDS, ir.IRBuilder.xor),
    (operator.and_, WORDS, WORDS, ir.IRBuilder.and_),
    (operator.or_, WORDS, WORDS, ir.IRBuilder.or_),
    (operator.lshift, WORDS, WORDS, ir.IRBuilder.shl),
    (operator.rshift, WORDS, WORDS, ir.IRBuilder.lshr),
    (operator.eq, WORDS, MASK, lambda builder, a, b: builder.icmp_unsigned("==", a, b)),
    (operator.and_, MASK, MASK, ir.IRBuilder.and_),
    (operator.or_, MASK, MASK, ir.IRBuilder.or_),
]


def _register_operator(
    symbol: Callable[..., Any], operands: _VectorType, result: _VectorType, instruction: Callable[..., ir.Value]
) -> None:
    @infer_global(symbol)
    class Typing(AbstractTemplate):
        def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
            return signature(result, operands, operands) if args == (operands, operands) else None

    @lower_builtin(symbol, operands, operands)
    def lower(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[ir.Value, ir.Value]) -> ir.Value:
        return instruction(builder, *args)


for _row in _OPERATORS:
    _register_operator(*_row)


def _register_with_number(
    symbol: Callable[..., Any], result: _VectorType, instruction: Callable[..., ir.Value], *, number_first: bool
) -> None:
    """The same for one vector and one number, which stands for itself in every lane."""
    operands = (types.float64, LANES) if number_first else (LANES, types.float64)

    @infer_global(symbol)
    class Typing(AbstractTemplate):
        def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
            return signature(result, *operands) if args == operands else None

    @lower_builtin(symbol, *operands)
    def lower(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[ir.Value, ir.Value]) -> ir.Value:
        place = 0 if number_first else 1
        both = list(args)
        both[place] = splat(builder, args[place], LANES.vector)
        return instruction(builder, *both)


for _symbol, _operand, _result, _instruction in _OPERATORS:
    if _operand is LANES:
        _register_with_number(_symbol, _result, _instruction, number_first=False)
        _register_with_number(_symbol, _result, _instruction, number_first=True)


@infer_global(operator.invert)
class _Invert(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        return signature(MASK, MASK) if args == (MASK,) else None


@lower_builtin(operator.invert, MASK)
def _lower_invert(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[ir.Value]) -> ir.Value:
    return builder.not_(args[0])


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        return signature(LANES, LANES) if args == (LANES,) else None


@lower_builtin(operator.neg, LANES)
def _lower_negative(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[ir.Value]) -> ir.Value:
    return builder.fneg(args[0])


# Functions of vectors.


def splat(builder: ir.IRBuilder, value: ir.Value, vector: ir.VectorType) -> ir.Value:
    """The instructions that put a number into every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


@intrinsic
def spread(typingctx: Any, value: Any) -> Any:
    """The number in every lane: a float64 as Lanes, a uint64 as Words."""
    result = OF_SCALAR[value]

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return splat(builder, args[0], result.vector)

    return result(value), codegen


@intrinsic
def lane_numbers(typingctx: Any) -> Any:
    """0 to 7 as Words."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return ir.Constant(WORDS.vector, list(range(WIDTH)))

    return WORDS(), codegen


@intrinsic
def larger(typingctx: Any, a: Any, b: Any) -> Any:
    """The larger of two in each lane; b where they are equal."""
    return LANES(LANES, LANES), lambda context, builder, sig, args: _extreme(builder, ">", *args)


@intrinsic
def smaller(typingctx: Any, a: Any, b: Any) -> Any:
    """The smaller of two in each lane; b where they are equal."""
    return LANES(LANES, LANES), lambda context, builder, sig, args: _extreme(builder, "<", *args)


def _extreme(builder: ir.IRBuilder, sign: str, a: ir.Value, b: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered(sign, a, b), a, b)


@intrinsic
def largest(typingctx: Any, a: Any) -> Any:
    """The largest lane as one float64."""
    return types.float64(LANES), lambda context, builder, sig, args: _reduced(builder, partial(_extreme, builder, ">"), args[0])


@intrinsic
def smallest(typingctx: Any, a: Any) -> Any:
    """The smallest lane as one float64."""
    return types.float64(LANES), lambda context, builder, sig, args: _reduced(builder, partial(_extreme, builder, "<"), args[0])


@intrinsic
def total(typingctx: Any, a: Any) -> Any:
    """The sum of all lanes as one float64; not rounded as if they were added up in order."""
    return types.float64(LANES), lambda context, builder, sig, args: _reduced(builder, builder.fadd, args[0])


def _reduced(builder: ir.IRBuilder, join: Callable[[ir.Value, ir.Value], ir.Value], a: ir.Value) -> ir.Value:
    places = ir.VectorType(ir.IntType(32), WIDTH)
    for step in (4, 2, 1):
        folded = builder.shuffle_vector(a, a, ir.Constant(places, [(lane + step) % WIDTH for lane in range(WIDTH)]))
        a = join(a, folded)
    return builder.extract_element(a, ir.Constant(ir.IntType(32), 0))


@intrinsic
def choose(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    """A where the mask holds, else b."""
    return a(MASK, a, a), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def fused(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """``a b + c``, rounded once, on every machine."""
    return LANES(LANES, LANES, LANES), lambda context, builder, sig, args: _call(builder, "llvm.fma.v8f64", args)


@intrinsic
def square_root(typingctx: Any, a: Any) -> Any:
    """The square root of each lane."""
    return LANES(LANES), lambda context, builder, sig, args: _call(builder, "llvm.sqrt.v8f64", args)


def _call(builder: ir.IRBuilder, name: str, args: Any) -> ir.Value:
    kind = ir.FunctionType(LANES.vector, [LANES.vector] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@intrinsic
def rounded_down(typingctx: Any, a: Any) -> Any:
    """The largest whole number that is not above, of each lane."""
    return LANES(LANES), lambda context, builder, sig, args: _call(builder, "llvm.floor.v8f64", args)


@intrinsic
def as_numbers(typingctx: Any, words: Any) -> Any:
    """The same whole numbers as float64."""
    return LANES(WORDS), lambda context, builder, sig, args: builder.uitofp(args[0], LANES.vector)


@intrinsic
def as_whole(typingctx: Any, lanes: Any) -> Any:
    """The same numbers, which are whole and not negative, as uint64."""
    return WORDS(LANES), lambda context, builder, sig, args: builder.fptoui(args[0], WORDS.vector)


@intrinsic
def as_lanes(typingctx: Any, words: Any) -> Any:
    """The same bits read as float64."""
    return LANES(WORDS), lambda context, builder, sig, args: builder.bitcast(args[0], LANES.vector)


@intrinsic
def as_words(typingctx: Any, lanes: Any) -> Any:
    """The same bits read as uint64."""
    return WORDS(LANES), lambda context, builder, sig, args: builder.bitcast(args[0], WORDS.vector)


@intrinsic
def bits(typingctx: Any, mask: Any) -> Any:
    """The mask as a whole number, lane 0 in the lowest bit."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return builder.zext(builder.bitcast(args[0], ir.IntType(WIDTH)), ir.IntType(64))

    return types.int64(MASK), codegen


@intrinsic
def as_mask(typingctx: Any, word: Any) -> Any:
    """The mask that ``bits`` made a whole number of."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return builder.bitcast(builder.trunc(args[0], ir.IntType(WIDTH)), MASK.vector)

    return MASK(types.int64), codegen


@inlined
def first_lanes(n):
    """The mask of the first n lanes; of none if n is negative, of all if it is more than there are."""
    return as_mask((1 << min(max(n, 0), WIDTH)) - 1)


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a whole number that is not 0."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@intrinsic
def split_word(typingctx: Any, word: Any, n: Any) -> Any:
    """``word * n`` in 128 bits: the high half, which is uniform below n for a random word, and the low half."""
    wide, narrow = ir.IntType(128), ir.IntType(64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow)
        return context.make_tuple(builder, sig.return_type, [high, builder.trunc(product, narrow)])

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), codegen


@intrinsic
def count_bits(typingctx: Any, word: Any) -> Any:
    """How many bits are set."""
    return types.int64(types.int64), lambda context, builder, sig, args: builder.ctpop(args[0])
