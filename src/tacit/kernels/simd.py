"""A row of `H` lanes as one value inside numba kernels.

LLVM does not vectorise loops of six steps over arrays that might overlap, so the kernels use explicit vectors: `load` makes
a row of a `[N, H]` array an LLVM `<H x double>`, arithmetic works on it lane by lane, and `store` writes it back. `H` need
not be a power of two; LLVM splits the vector over the machine's registers.

`H` must be known when a kernel is compiled, so it is passed as the length of a tuple, `width(H)`: the length is part of the
tuple's type, and numba compiles and caches a kernel once per type.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

_INT = ir.IntType(32)
_FAST = ("contract",)
"""Allows fused multiply-add, but nothing that could change which lane is larger."""


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

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, row, _ = arguments
        vector = context.get_data_type(signature.return_type)
        return builder.load(_row_pointer(context, builder, signature.args[0], array, row, vector), align=8)

    return Lanes(len(lanes), array.dtype)(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_context: Any, array: Any, row: Any, lanes: Any) -> Any:
    """`store(array, row, lanes)` writes row `row` of a C-contiguous `[N, H]` array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, row, value = arguments
        builder.store(value, _row_pointer(context, builder, signature.args[0], array, row, value.type), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def splat(_context: Any, scalar: Any, lanes: Any) -> Any:
    """`splat(x, width(H))` has `x` in every lane."""
    scalar = types.unliteral(scalar)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return everywhere(builder, arguments[0], context.get_data_type(signature.return_type))

    return Lanes(len(lanes), scalar)(scalar, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_greater(_context: Any, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    """`where_greater(a, b, x, y)` is x in the lanes where a > b, else y."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", arguments[0], arguments[1]), arguments[2], arguments[3])

    return then(left, right, then, otherwise), generate


@intrinsic  # type: ignore[untyped-decorator]
def gather(_context: Any, array: Any, index: Any, row: Any, lanes: Any) -> Any:
    """`gather(array, index, row, width(H))` has the numbers of a flat array at the places in row `row` of `[N, H]` indices."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, row, _ = arguments
        vector = context.get_data_type(signature.return_type)
        value = ir.Constant(vector, ir.Undefined)
        for lane, place in enumerate(_places(context, builder, signature, (array, index, row), vector.count)):
            value = builder.insert_element(value, builder.load(place), ir.Constant(_INT, lane))
        return value

    return Lanes(len(lanes), array.dtype)(array, index, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def scatter_add(_context: Any, array: Any, index: Any, row: Any, lanes: Any) -> Any:
    """`scatter_add(array, index, row, lanes)` adds each lane to the place that `gather` reads; a place may occur twice."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, row, value = arguments
        for lane, place in enumerate(_places(context, builder, signature, (array, index, row), value.type.count)):
            added = builder.extract_element(value, ir.Constant(_INT, lane))
            builder.store(builder.fadd(builder.load(place), added), place)
        return context.get_dummy_value()

    return types.void(array, index, types.intp, lanes), generate


def _places(context: Any, builder: Any, signature: Any, arguments: tuple[Any, Any, Any], count: int) -> list[Any]:
    """Returns pointers to the numbers of a flat array that row `row` of `[N, H]` indices refers to."""
    array_type, index_type = signature.args[:2]
    array, index, row = arguments
    numbers = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    named = cgutils.create_struct_proxy(index_type)(context, builder, index).data
    first = builder.mul(row, ir.Constant(row.type, count))
    places = []
    for lane in range(count):
        cell = builder.gep(named, [builder.add(first, ir.Constant(first.type, lane))], inbounds=True)
        places.append(builder.gep(numbers, [builder.sext(builder.load(cell), first.type)], inbounds=True))
    return places


@njit(inline="always")
def larger(x, y):  # type: ignore[no-untyped-def]
    """`larger(x, y)` is lane by lane the larger of two rows."""
    return where_greater(x, y, x, y)


@intrinsic  # type: ignore[untyped-decorator]
def load_some(_context: Any, array: Any, start: Any, count: Any, lanes: Any) -> Any:
    """`load_some(array, start, count, width(H))` is a flat array's next `count` numbers (at most H), then zeros."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, count, _ = arguments
        vector = context.get_data_type(signature.return_type)
        pointer = _flat_pointer(context, builder, signature.args[0], array, start, vector)
        name = f"llvm.masked.load.v{vector.count}f{signature.args[0].dtype.bitwidth}.p0"
        operands = [pointer, ir.Constant(_INT, 4), _first_lanes(builder, count, vector.count), ir.Constant(vector, None)]
        with builder.if_else(_are_all(builder, count, vector.count)) as (whole, part):
            with whole:
                every = builder.load(pointer, align=4)
                whole_end = builder.block
            with part:
                some = call(builder, name, vector, operands)
                part_end = builder.block
        value = builder.phi(vector)
        value.add_incoming(every, whole_end)
        value.add_incoming(some, part_end)
        return value

    return Lanes(len(lanes), array.dtype)(array, types.intp, types.intp, lanes), generate


def times(count: Any) -> Any:
    """Returns a loop count that may be known at compile time: n for `width(n)`, and a number itself for a number.

    Loops with a known count are unrolled.
    """
    return len(count) if isinstance(count, tuple) else count


@overload(times)
def _times(count):  # type: ignore[no-untyped-def]
    if isinstance(count, types.BaseTuple):
        return lambda count: len(count)  # noqa: PLW0108
    return lambda count: count


@intrinsic  # type: ignore[untyped-decorator]
def load_at(_context: Any, array: Any, start: Any, like: Any, lanes: Any) -> Any:
    """`load_at(array, start, x, width(H))` is a flat array's next `H` numbers, integers or floats, in the type of x."""
    like = types.unliteral(like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, *_ = arguments
        kind = signature.args[0]
        there = ir.VectorType(context.get_data_type(kind.dtype), len(lanes))
        row = builder.load(_flat_pointer(context, builder, kind, array, start, there), align=4)
        wanted = context.get_data_type(signature.return_type)
        if isinstance(kind.dtype, types.Integer):
            return builder.sitofp(row, wanted)
        if kind.dtype.bitwidth < like.bitwidth:
            return builder.fpext(row, wanted)
        return builder.fptrunc(row, wanted) if kind.dtype.bitwidth > like.bitwidth else row

    return Lanes(len(lanes), like)(array, types.intp, like, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def gather_at(_context: Any, array: Any, start: Any, index: Any, first: Any, lanes: Any) -> Any:
    """`gather_at(array, start, index, first, width(H))` has the numbers of a flat array at `start` plus the next H indices."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = context.get_data_type(signature.return_type)
        value = ir.Constant(vector, ir.Undefined)
        for lane, place in enumerate(_places_at(context, builder, signature, arguments, vector.count)):
            value = builder.insert_element(value, builder.load(place), ir.Constant(_INT, lane))
        return value

    return Lanes(len(lanes), array.dtype)(array, types.intp, index, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def scatter_add_at(_context: Any, array: Any, start: Any, index: Any, first: Any, lanes: Any) -> Any:
    """`scatter_add_at(array, start, index, first, lanes)` adds each lane to the place that `gather_at` reads."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = arguments[4]
        for lane, place in enumerate(_places_at(context, builder, signature, arguments, value.type.count)):
            added = builder.extract_element(value, ir.Constant(_INT, lane))
            builder.store(builder.fadd(builder.load(place), added), place)
        return context.get_dummy_value()

    return types.void(array, types.intp, index, types.intp, lanes), generate


def _places_at(context: Any, builder: Any, signature: Any, arguments: Any, count: int) -> list[Any]:
    """Returns pointers to the numbers of a flat array at `start` plus the indices from `first` on."""
    array, start, index, first = arguments[:4]
    numbers = cgutils.create_struct_proxy(signature.args[0])(context, builder, array).data
    named = cgutils.create_struct_proxy(signature.args[2])(context, builder, index).data
    numbers, named = builder.gep(numbers, [start], inbounds=True), builder.gep(named, [first], inbounds=True)
    cells = [builder.gep(named, [ir.Constant(first.type, lane)], inbounds=True) for lane in range(count)]
    return [builder.gep(numbers, [builder.sext(builder.load(cell), start.type)], inbounds=True) for cell in cells]


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: Any, array: Any, start: Any) -> Any:
    """`prefetch(array, start)` loads the memory around a place of a flat array into the cache, in the background."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        place = builder.bitcast(builder.gep(data, [arguments[1]], inbounds=True), byte)
        options = [ir.Constant(_INT, option) for option in (0, 2, 1)]  # to read, for the second-level cache, as data
        call(builder, "llvm.prefetch.p0", ir.VoidType(), [place, *options])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_at(_context: Any, array: Any, start: Any, lanes: Any) -> Any:
    """`store_at(array, start, lanes)` writes a row to a flat array from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, value = arguments
        builder.store(value, _flat_pointer(context, builder, signature.args[0], array, start, value.type), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_some(_context: Any, array: Any, start: Any, count: Any, lanes: Any) -> Any:
    """`store_some(array, start, count, lanes)` writes the first `count` lanes, or all, to a flat array from `start` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, count, value = arguments
        pointer = _flat_pointer(context, builder, signature.args[0], array, start, value.type)
        name = f"llvm.masked.store.v{value.type.count}f{signature.args[0].dtype.bitwidth}.p0"
        operands = [value, pointer, ir.Constant(_INT, 4), _first_lanes(builder, count, value.type.count)]
        with builder.if_else(_are_all(builder, count, value.type.count)) as (whole, part):
            with whole:
                builder.store(value, pointer, align=4)
            with part:
                call(builder, name, ir.VoidType(), operands)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_rounded(_context: Any, array: Any, start: Any, lanes: Any) -> Any:
    """`store_rounded(array, start, lanes)` writes a row to a flat array of integers, each lane as the nearest one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, value = arguments
        kind = signature.args[0]
        name = f"llvm.rint.v{value.type.count}f{signature.args[2].dtype.bitwidth}"
        rounded = call(builder, name, value.type, [value])
        whole = builder.fptosi(rounded, ir.VectorType(context.get_data_type(kind.dtype), value.type.count))
        builder.store(whole, _flat_pointer(context, builder, kind, array, start, whole.type), align=2)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def largest(_context: Any, lanes: Any) -> Any:
    """`largest(lanes)` is the largest number of a row."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        row = arguments[0]
        found = builder.extract_element(row, ir.Constant(_INT, 0))
        for lane in range(1, row.type.count):
            other = builder.extract_element(row, ir.Constant(_INT, lane))
            found = builder.select(builder.fcmp_ordered(">", other, found), other, found)
        return found

    return lanes.dtype(lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def running(_context: Any, lanes: Any) -> Any:
    """`running(lanes)` has in each lane the sum of a row up to and including it."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        total, count, step = arguments[0], arguments[0].type.count, 1
        nothing = ir.Constant(total.type, None)
        while step < count:
            shifted = _shuffle(builder, total, nothing, [count if lane < step else lane - step for lane in range(count)])
            total, step = builder.fadd(total, shifted), 2 * step
        return total

    return lanes(lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def last(_context: Any, lanes: Any) -> Any:
    """`last(lanes)` is the last number of a row."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], ir.Constant(_INT, arguments[0].type.count - 1))

    return lanes.dtype(lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_at_most(_context: Any, lanes: Any, bound: Any) -> Any:
    """`count_at_most(lanes, x)` is how many numbers of a row are at most x."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        row, count = arguments[0], arguments[0].type.count
        at_most = builder.fcmp_ordered("<=", row, everywhere(builder, arguments[1], row.type))
        bits = builder.zext(builder.bitcast(at_most, ir.IntType(count)), ir.IntType(64))
        return call(builder, "llvm.ctpop.i64", ir.IntType(64), [bits])

    return types.int64(lanes, lanes.dtype), generate


@intrinsic  # type: ignore[untyped-decorator]
def transpose(_context: Any, source: Any, starts: Any, shift: Any, target: Any, ends: Any, offset: Any, lanes: Any) -> Any:
    """`transpose(source, starts, shift, target, ends, offset, width(H))` transposes `H` rows of `H` numbers, H a power of 2.

    Row i of the square is at `starts[i] + shift` of a flat array, and column i goes to `ends[i] + offset` of another.
    """
    count = len(lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(context.get_data_type(signature.args[0].dtype), count)

        def place(array: int, offsets: int, added: Any, row: int) -> Any:
            data = cgutils.create_struct_proxy(signature.args[offsets])(context, builder, arguments[offsets]).data
            start = builder.load(builder.gep(data, [ir.Constant(ir.IntType(64), row)], inbounds=True))
            return _flat_pointer(context, builder, signature.args[array], arguments[array], builder.add(start, added), vector)

        rows = [builder.load(place(0, 1, arguments[2], row), align=4) for row in range(count)]
        step = count // 2
        while step:  # swap the off-diagonal blocks, then do the same with half the size within each block
            for row in (row for row in range(count) if not row & step):
                first, second = rows[row], rows[row + step]
                low = [lane if not lane & step else count + lane - step for lane in range(count)]
                high = [lane + step if not lane & step else count + lane for lane in range(count)]
                rows[row], rows[row + step] = (_shuffle(builder, first, second, order) for order in (low, high))
            step //= 2
        for row in range(count):
            builder.store(rows[row], place(3, 4, arguments[5], row), align=4)
        return context.get_dummy_value()

    return types.void(source, starts, types.intp, target, ends, types.intp, lanes), generate


def _shuffle(builder: Any, first: Any, second: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT, len(order)), order))


def _are_all(builder: Any, count: Any, lanes: int) -> Any:
    return builder.icmp_signed(">=", count, ir.Constant(count.type, lanes))


def _flat_pointer(context: Any, builder: Any, array_type: Any, array: Any, start: Any, vector: Any) -> Any:
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start], inbounds=True), vector.as_pointer())


def _first_lanes(builder: Any, count: Any, lanes: int) -> Any:
    """Returns a mask of the first `count` lanes."""
    kind = ir.VectorType(count.type, lanes)
    return builder.icmp_signed("<", ir.Constant(kind, list(range(lanes))), everywhere(builder, count, kind))


def _row_pointer(context: Any, builder: Any, array_type: Any, array: Any, row: Any, vector: Any) -> Any:
    start = builder.mul(row, ir.Constant(row.type, vector.count))
    return _flat_pointer(context, builder, array_type, array, start, vector)


def everywhere(builder: Any, value: Any, vector: Any) -> Any:
    """Returns a vector with a value in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_INT, 0))
    return _shuffle(builder, first, undefined, [0] * vector.count)


def call(builder: Any, name: str, result: Any, arguments: list[Any], **options: Any) -> Any:
    """Calls an LLVM intrinsic by its name."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments, **options)


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
                return lambda left, right: operation(left, right)  # noqa: PLW0108 (numba needs a separate function)
            return None


_bind((operator.add, operator.iadd), "fadd")
_bind((operator.sub, operator.isub), "fsub")
_bind((operator.mul, operator.imul), "fmul")
_bind((operator.truediv, operator.itruediv), "fdiv")
