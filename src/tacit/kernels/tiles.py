"""Matrix products inside numba kernels: a few rows times a panel of columns at a time, with all sums in registers.

Number types are float32 and, on processors that multiply them (AVX-512 BF16), *pairs*: two bfloat16 numbers of consecutive
inner indices in one uint32. Products of pairs are exact and summed in float32, at twice the speed of float32.

`product` does not check where a matrix ends: rows come in blocks of `ROWS`, columns in panels that `pack` pads with zeros.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numba
import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray
from torch import Tensor

from tacit.kernels.simd import call, everywhere, width

LANES = 16
"""Columns in a vector: a register of AVX-512, two of AVX2, four of NEON."""
VECTOR = width(LANES)
ROWS = 6
"""Rows in a block: few enough that every sum has a register on each of these."""

_HOST = llvmlite.binding.get_host_cpu_features() if not numba.config.CPU_NAME else {}
HAS_PAIRS = bool(_HOST.get("avx512bf16"))
"""Whether numba compiles for a processor that multiplies pairs."""
ONE_VECTOR = width(1)
PANEL = width(2) if _HOST.get("avx512f") else ONE_VECTOR
"""Vectors in a panel of a large matrix."""


class _BFloat(ir.Type):  # type: ignore[misc]
    """LLVM's bfloat16, which llvmlite lacks."""

    def _to_string(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat)

    def __hash__(self) -> int:
        return hash(_BFloat)


_INDEX, _INT, _FLOAT = ir.IntType(64), ir.IntType(32), ir.FloatType()
_SUMS = ir.VectorType(_FLOAT, LANES)
_HALVES, _PAIRS = (ir.VectorType(_BFloat(), count) for count in (LANES, 2 * LANES))


def pack(matrix: Tensor, pairs: bool, panel: tuple[None, ...]) -> NDArray[Any]:
    """Returns `[K, N]` as panels `[P, K, lanes]` of float32, or `[P, K / 2, lanes]` of pairs (K even), padded with zeros."""
    inner, columns = matrix.shape
    lanes = len(panel) * LANES
    panels = torch.nn.functional.pad(matrix, (0, -columns % lanes)).view(inner, -1, lanes).transpose(0, 1)
    if pairs:
        panels = panels.bfloat16().reshape(-1, inner // 2, 2, lanes).transpose(2, 3).contiguous().view(torch.int32).squeeze(3)
    packed: NDArray[Any] = panels.contiguous().numpy()
    return packed.view(np.uint32) if pairs else packed


@intrinsic  # type: ignore[untyped-decorator]
def product(_context: Any, rows: Any, weights: Any, number: Any, bias: Any, sums: Any, panel: Any) -> Any:
    """`product(rows, weights, p, bias, sums, PANEL)` sets the panel's columns of `sums` to those of `rows @ weights + bias`.

    `rows` is `[ROWS, K]` and `weights` is `[P, K, lanes]`, both float32 or both pairs; `sums` is float32 `[ROWS, P * lanes]`,
    and so is `bias`, or `[P * lanes]` if all rows have the same.
    """
    pairs, vectors = rows.dtype == types.uint32, len(panel)
    element = _INT if pairs else _FLOAT

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row_array, weight_array, bias_array, sum_array = (
            cgutils.create_struct_proxy(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 3, 4)
        )
        inner, columns = (builder.extract_value(array.shape, 1) for array in (row_array, sum_array))
        lanes = ir.Constant(_INDEX, vectors * LANES)

        def at(data: Any, start: Any, offset: int = 0) -> Any:
            return builder.gep(data, [builder.add(start, ir.Constant(_INDEX, offset))], inbounds=True)

        def vector(data: Any, start: Any, v: int, kind: Any) -> Any:
            return builder.bitcast(at(data, start, v * LANES), kind.as_pointer())

        first_weight = builder.mul(builder.mul(arguments[2], inner), lanes)
        starts = [builder.mul(ir.Constant(_INDEX, row), inner) for row in range(ROWS)]
        first_sum = builder.mul(arguments[2], lanes)
        sum_starts = [builder.add(first_sum, builder.mul(ir.Constant(_INDEX, row), columns)) for row in range(ROWS)]
        places = [vector(sum_array.data, start, v, _SUMS) for start in sum_starts for v in range(vectors)]
        bias_starts = [first_sum] * ROWS if bias.ndim == 1 else sum_starts
        before = [
            builder.load(vector(bias_array.data, start, v, _SUMS), align=4) for start in bias_starts for v in range(vectors)
        ]
        entry, loop, done = builder.block, builder.append_basic_block("inner"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(_INDEX)
        running = [builder.phi(_SUMS) for _ in places]
        kind = ir.VectorType(element, LANES)
        start = builder.add(first_weight, builder.mul(k, lanes))
        loaded = [builder.load(vector(weight_array.data, start, v, kind), align=4) for v in range(vectors)]
        after = []
        for row in range(ROWS):
            one = builder.load(at(row_array.data, builder.add(starts[row], k)))
            splat = everywhere(builder, one, kind)
            for v in range(vectors):
                after.append(_multiply_add(builder, splat, loaded[v], running[row * vectors + v], pairs))
        following = builder.add(k, ir.Constant(_INDEX, 1))
        for phi, first, last in zip([k, *running], [ir.Constant(_INDEX, 0), *before], [following, *after], strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(last, loop)
        builder.cbranch(builder.icmp_signed("<", following, inner), loop, done)
        builder.position_at_end(done)
        for place, value in zip(places, after, strict=True):
            builder.store(value, place, align=4)
        return context.get_dummy_value()

    return types.void(rows, weights, types.intp, bias, sums, panel), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_rounded(_context: Any, array: Any, row: Any, lanes: Any) -> Any:
    """`store_rounded(array, row, lanes)` writes a vector to an array of float32, or of uint16 that holds bfloat16."""
    halves = array.dtype == types.uint16

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
        place, value = builder.gep(data, [builder.mul(arguments[1], ir.Constant(_INDEX, LANES))], inbounds=True), arguments[2]
        if halves:
            value = call(builder, "llvm.x86.avx512bf16.cvtneps2bf16.512", _HALVES, [value])
        builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=2 if halves else 4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic  # type: ignore[untyped-decorator]
def lane_sum(_context: Any, lanes: Any) -> Any:
    """`lane_sum(lanes)` is the sum of a float32 vector's lanes."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(_FLOAT, 0.0)
        return call(builder, f"llvm.vector.reduce.fadd.v{LANES}f32", _FLOAT, [zero, arguments[0]], fastmath=("reassoc",))

    return types.float32(lanes), generate


def _multiply_add(builder: Any, left: Any, right: Any, sums: Any, pairs: bool) -> Any:
    if pairs:
        both = [builder.bitcast(side, _PAIRS) for side in (left, right)]
        return call(builder, "llvm.x86.avx512bf16.dpbf16ps.512", _SUMS, [sums, *both])
    return call(builder, f"llvm.fmuladd.v{LANES}f32", _SUMS, [left, right, sums])
