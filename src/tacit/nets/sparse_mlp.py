"""Fully connected networks with rectified units inside numba kernels: outputs and gradients of one example at a time.

All weights of a network are one float32 array, so that an optimizer is a loop over numbers. Hidden layers have a multiple of
`LANES` units; the padding units have zero weights, which stay zero because rectified units at zero pass no gradient.

- A hidden layer's weights are `[inputs, units]`: the *active* inputs, those that are not zero, add their rows. Encodings of
  infostates have few active numbers, and about half of all rectified units are active, so one function serves all layers.
- The last layer's weights are `[outputs, units]`: a scalar product for each requested output. Q-learning has a gradient for one
  output only, and outputs of illegal actions are never computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiled import inner
from tacit.kernels.simd import larger, load, splat, store, where_greater
from tacit.kernels.tiles import LANES, VECTOR, lane_sum

Params = NDArray[np.float32]
_F = np.float32


class Shape(NamedTuple):
    """Where a network's weights are; all offsets count vectors of `LANES` numbers.

    Attributes:
      weights: `[L + 1]` the first vector of each layer's weights, the last layer's at the end.
      bias: `[L + 1]` the first vector of each layer's biases.
      vectors: `[L]` the number of vectors in each hidden layer.
    """

    weights: NDArray[np.int64]
    bias: NDArray[np.int64]
    vectors: NDArray[np.int64]


class Scratch(NamedTuple):
    """Buffers for one example.

    Attributes:
      units: `[L, widest]` the units of the hidden layers, after rectification.
      errors: `[L, widest]` gradients of the loss with respect to the units.
      active: `[L, inputs or widest]` the indices of each layer's active inputs.
      values: `[L, inputs or widest]` the values of each layer's active inputs.
      counts: `[L]` the number of each layer's active inputs.
      outputs: `[A]` outputs.
      output_errors: `[A]` gradients with respect to the outputs; the caller sets them.
    """

    units: Params
    errors: Params
    active: NDArray[np.int64]
    values: Params
    counts: NDArray[np.int64]
    outputs: Params
    output_errors: Params


class Encodings(NamedTuple):
    """The active numbers of all encodings `[S, F]`: those of infostate s are `start[s]:start[s + 1]`."""

    start: NDArray[np.int64]
    feature: NDArray[np.int64]
    value: Params


def encodings_of(matrix: NDArray[np.float32]) -> Encodings:
    """Returns the active numbers of a matrix `[S, F]`."""
    row, feature = np.nonzero(matrix)
    start = np.searchsorted(row, np.arange(len(matrix) + 1))
    return Encodings(start.astype(np.int64), feature.astype(np.int64), matrix[row, feature].astype(np.float32))


def make_shape(num_inputs: int, hidden: Sequence[int], num_outputs: int) -> tuple[Shape, int]:
    """Returns where the weights of a network are, and how many numbers they take."""
    vectors = [-(-width // LANES) for width in hidden]
    inputs = [num_inputs, *(LANES * count for count in vectors)]
    sizes = [count * width for count, width in zip(inputs[:-1], vectors, strict=True)] + [num_outputs * vectors[-1]]
    biases = [*vectors, -(-num_outputs // LANES)]
    ends = np.cumsum([0, *(size for layer in zip(sizes, biases, strict=True) for size in layer)])
    return Shape(ends[:-1:2].copy(), ends[1::2].copy(), np.array(vectors)), int(ends[-1]) * LANES


def make_scratch(num_inputs: int, hidden: Sequence[int], num_outputs: int) -> Scratch:
    """Returns buffers for one example."""
    widest = max(-(-width // LANES) * LANES for width in hidden)
    listed = (len(hidden), max(widest, num_inputs))
    units, errors = (np.zeros((len(hidden), widest), np.float32) for _ in range(2))
    outputs, output_errors = (np.zeros(num_outputs, np.float32) for _ in range(2))
    counts = np.zeros(len(hidden), np.int64)
    return Scratch(units, errors, np.zeros(listed, np.int64), np.zeros(listed, np.float32), counts, outputs, output_errors)


def initial_params(num_inputs: int, hidden: Sequence[int], num_outputs: int, generator: np.random.Generator) -> Params:
    """Returns random weights in the layout of `make_shape`.

    Uniform within 1 / sqrt(inputs), as is usual for fully connected layers (LeCun et al. 1998).
    """
    inputs, matrices = [num_inputs, *hidden], []
    for before, after in zip(inputs, [*hidden, num_outputs], strict=True):
        bound = 1.0 / np.sqrt(max(1, before))  # games of one move each have no inputs: only biases learn
        matrices.append(generator.uniform(-bound, bound, (after, before)).astype(np.float32))
        matrices.append(generator.uniform(-bound, bound, after).astype(np.float32))
    return pack_params(matrices)


def pack_params(matrices: Sequence[NDArray[np.float32]]) -> Params:
    """Returns weights, given as matrices `[outputs, inputs]` and biases in turn, in the layout of `make_shape`."""
    weights, biases = matrices[::2], matrices[1::2]
    parts = [np.pad(weights[0], ((0, -len(weights[0]) % LANES), (0, 0))).T]  # inputs are not padded
    for weight in weights[1:-1]:
        parts.append(np.pad(weight, [(0, -size % LANES) for size in weight.shape]).T)
    parts.append(np.pad(weights[-1], ((0, 0), (0, -weights[-1].shape[1] % LANES))))
    filled = [np.pad(bias, (0, -len(bias) % LANES)) for bias in biases]
    return np.concatenate([part.ravel() for layer in zip(parts, filled, strict=True) for part in layer])


@inner()
def forward(params, shape, encodings, infostate, scratch):  # type: ignore[no-untyped-def]
    """Computes all hidden layers for an infostate; `output` then returns outputs."""
    start = encodings.start[infostate]
    count = encodings.start[infostate + 1] - start
    for i in range(count):
        scratch.active[0, i] = encodings.feature[start + i]
        scratch.values[0, i] = encodings.value[start + i]
    scratch.counts[0] = count
    zero = splat(_F(0.0), VECTOR)
    row_vectors = scratch.units.shape[1] // LANES
    for layer in range(len(shape.vectors)):
        vectors, first = shape.vectors[layer], shape.weights[layer]
        for v in range(vectors):
            total = load(params, shape.bias[layer] + v, VECTOR)
            for i in range(scratch.counts[layer]):
                row = load(params, first + scratch.active[layer, i] * vectors + v, VECTOR)
                total += splat(scratch.values[layer, i], VECTOR) * row
            store(scratch.units, layer * row_vectors + v, larger(zero, total))  # in this order NaN stays NaN
        if layer + 1 < len(shape.vectors):
            count = 0
            for unit in range(vectors * LANES):
                if scratch.units[layer, unit] != 0.0:
                    scratch.active[layer + 1, count] = unit
                    scratch.values[layer + 1, count] = scratch.units[layer, unit]
                    count += 1
            scratch.counts[layer + 1] = count


@inner()
def output(params, shape, scratch, action):  # type: ignore[no-untyped-def]
    """Returns one output for the infostate of the latest `forward`."""
    last = len(shape.vectors) - 1
    vectors, row_vectors = shape.vectors[last], scratch.units.shape[1] // LANES
    total = splat(_F(0.0), VECTOR)
    for v in range(vectors):
        weights = load(params, shape.weights[last + 1] + action * vectors + v, VECTOR)
        total += weights * load(scratch.units, last * row_vectors + v, VECTOR)
    return lane_sum(total) + params[shape.bias[last + 1] * LANES + action]


@inner()
def backward(params, shape, scratch, actions, gradient):  # type: ignore[no-untyped-def]
    """Adds the example's gradient to `gradient`, given `scratch.output_errors` of `actions`; other outputs have no error."""
    last, row_vectors = len(shape.vectors) - 1, scratch.units.shape[1] // LANES
    zero = splat(_F(0.0), VECTOR)
    vectors, first = shape.vectors[last], shape.weights[last + 1]
    for v in range(vectors):
        unit, error = load(scratch.units, last * row_vectors + v, VECTOR), zero
        for action in actions:
            at = first + action * vectors + v
            output_error = splat(scratch.output_errors[action], VECTOR)
            error += output_error * load(params, at, VECTOR)
            store(gradient, at, load(gradient, at, VECTOR) + output_error * unit)
        store(scratch.errors, last * row_vectors + v, where_greater(unit, zero, error, zero))
    for action in actions:
        gradient[shape.bias[last + 1] * LANES + action] += scratch.output_errors[action]
    for layer in range(last, -1, -1):
        vectors, first = shape.vectors[layer], shape.weights[layer]
        for v in range(vectors):
            error = load(scratch.errors, layer * row_vectors + v, VECTOR)
            at = shape.bias[layer] + v
            store(gradient, at, load(gradient, at, VECTOR) + error)
            for i in range(scratch.counts[layer]):
                at = first + scratch.active[layer, i] * vectors + v
                store(gradient, at, load(gradient, at, VECTOR) + splat(scratch.values[layer, i], VECTOR) * error)
        if layer > 0:
            scratch.errors[layer - 1] = 0.0
            for i in range(scratch.counts[layer]):
                unit, total = scratch.active[layer, i], zero
                for v in range(vectors):
                    weights = load(params, first + unit * vectors + v, VECTOR)
                    total += weights * load(scratch.errors, layer * row_vectors + v, VECTOR)
                scratch.errors[layer - 1, unit] = lane_sum(total)
