"""A row of `H` lanes as one value inside numba kernels.

LLVM does not vectorise loops of six steps over arrays that might overlap, so the kernels name their vectors: `load` makes
a row of a `[N, H]` array an LLVM `<H x double>`, arithmetic works on it lane by lane, and `store` writes it back. `H` need
not be a power of two; LLVM splits the vector over the registers of the machine at hand.

`H` must be known when a kernel is compiled, so it travels as the length of a tuple, `width(H)`: the length is part of the
tuple's type, and numba compiles and caches a kernel once for each type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

_FAST = ("contract",)
"""Allows fused multiply-add, nothing that would change which lane is larger."""


def width(num_lanes: int) -> tuple[None, ...]:
    """Returns the tuple that tells a kernel how many lanes its rows have."""
    return (None,) * num_lanes


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of a row of lanes."""

    def __init__(self, count: int, dtype: Any) -> None:
        self.count = count
        self.dtype = dtype
        super().__init__(name=f"Lanes({count}, {dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        element = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(element, lanes.count))


@intrinsic  # type: ignore[untyped-decorator]
def load(_context: Any, array: Any, row: Any, lanes: Any) -> Any:
    """`load(array, row, width(H))` is row `row` of a C-contiguous `[N, H]` array."""
    count = len(lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], arguments[0], arguments[1], count)
        value = builder.load(pointer)
        value.align = 8
        return value

    return Lanes(count, array.dtype)(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_context: Any, array: Any, row: Any, lanes: Any) -> Any:
    """`store(array, row, lanes)` writes row `row` of a C-contiguous `[N, H]` array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _row_pointer(context, builder, signature.args[0], arguments[0], arguments[1], signature.args[2].count)
        builder.store(arguments[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def splat(_context: Any, scalar: Any, lanes: Any) -> Any:
    """`splat(x, width(H))` has `x` in every lane."""
    scalar = types.unliteral(scalar)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = context.get_data_type(signature.return_type)
        undefined = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
        return builder.shuffle_vector(first, undefined, zeros)

    return Lanes(len(lanes), scalar)(scalar, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_greater(_context: Any, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    """`where_greater(a, b, x, y)` is x in the lanes where a > b, else y."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", arguments[0], arguments[1]), arguments[2], arguments[3])

    return then(left, right, then, otherwise), generate


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any, count: int) -> Any:
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), count)
    start = builder.gep(data, [builder.mul(row, ir.Constant(row.type, count))], inbounds=True)
    return builder.bitcast(start, vector.as_pointer())


def _bind(symbols: tuple[Callable[[Any, Any], Any], ...], instruction: str) -> None:
    """Makes a Python operator work on two rows of lanes."""

    @intrinsic  # type: ignore[untyped-decorator]
    def operation(_context: Any, left: Any, right: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(arguments[0], arguments[1], flags=_FAST)

        return left(left, right), generate

    for symbol in symbols:

        @overload(symbol)
        def _overloaded(left, right):  # type: ignore[no-untyped-def] # numba compares the signatures
            if isinstance(left, Lanes) and isinstance(right, Lanes):
                return lambda left, right: operation(left, right)  # noqa: PLW0108 (numba wants a function of its own)
            return None


_bind((operator.add, operator.iadd), "fadd")
_bind((operator.sub, operator.isub), "fsub")
_bind((operator.mul, operator.imul), "fmul")
_bind((operator.truediv, operator.itruediv), "fdiv")
