# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Select-and-scatter, reductions along no dimension or of no elements, and sorting.

Select-and-scatter is the gradient of pooling. Sorting is a network of compare-and-exchange rounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.element_types import is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, array, iota, loop, mapped, where
from pyshardy.irtools.stablehlo_views import BatchNormView, ReduceView, SortView, WindowsView
from pyshardy.local_program.tensor_spec import Array


@decomposition("select_and_scatter")
def decompose_select_and_scatter(operation: ir.Operation) -> list[Tensor]:
    """Find the element that each window selects, and scatter to these.

    1. All windows visit the same one of their positions at a time: the first one, the second one,
       and so on.
    2. A window keeps its candidate if `select(candidate, visited)`. Otherwise, or if it has no
       candidate, the visited element becomes the candidate. Padding is not visited.
    """
    operand, source, initial = map(Tensor, operation.operands)
    rank = operand.rank
    view = WindowsView(operation)
    window = view.window_dimensions or (1,) * rank
    strides = view.window_strides or (1,) * rank
    padding = view.padding or [(0, 0)] * rank
    size = math.prod(operand.shape)
    places = array(_padded(np.arange(size).reshape(operand.shape), padding))
    low, high = [list(side) for side in zip(*padding, strict=True)]
    padded = operand.pad(low, high)
    chosen = chosen_at = None
    for offset in itertools.product(*map(range, window)):
        ends = [
            first + step * (count - 1) + 1
            for first, step, count in zip(offset, strides, source.shape, strict=True)
        ]
        seen, seen_at = padded.slice(offset, ends, strides), places.slice(offset, ends, strides)
        if chosen is None or chosen_at is None:
            chosen, chosen_at = seen, seen_at
            continue
        keeps = mapped(operation.regions[0], [chosen, seen]) & (chosen_at >= 0)
        keeps = keeps | (seen_at < 0)
        chosen, chosen_at = where(keeps, chosen, seen), where(keeps, chosen_at, seen_at)
    assert chosen_at is not None
    count = math.prod(source.shape)
    numbers = ir.Attribute.parse(
        "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
        "index_vector_dim = 1>"
    )
    # A window that consists of padding selects -1, which is out of bounds.
    flat = initial.broadcast(size)
    scatter = ir.Operation.create(
        "stablehlo.scatter",
        results=[flat.type],
        operands=[
            flat.value,
            chosen_at.reshape(count, 1).value,
            source.reshape(count).value,
        ],
        attributes={"scatter_dimension_numbers": numbers},
        regions=1,
    )
    copy = operation.clone(ip=False).operation
    copy.regions[1].blocks[0].append_to(scatter.regions[0])
    return [Tensor(scatter.result).reshape(*operand.shape)]


def _padded(places: Array, padding: Sequence[tuple[int, int]]) -> Array:
    """Return positions padded with -1; negative padding removes positions."""
    kept = tuple(
        slice(max(0, -low), size - max(0, -high))
        for size, (low, high) in zip(places.shape, padding, strict=True)
    )
    around = [(max(0, low), max(0, high)) for low, high in padding]
    return np.pad(places[kept], around, constant_values=-1)


# --- Reductions -----------------------------------------------------------------------------------


@decomposition("reduce")
def decompose_reduce(operation: ir.Operation) -> list[Tensor] | None:
    """Replace the trivial reductions that some compilers lack.

    1. Along no dimension, each element is combined with the initial value.
    2. The result of a reduction of no elements is the initial value.
    3. All other reductions are unchanged.
    """
    values = [Tensor(operand) for operand in operation.operands]
    data, initial = values[: len(values) // 2], values[len(values) // 2 :]
    result = Tensor(operation.results[0])
    is_along_nothing = not ReduceView(operation).dimensions
    if not is_along_nothing and 0 not in data[0].shape:
        return None
    initial = [each.broadcast(*result.shape) for each in initial]
    if not is_along_nothing:
        return initial
    body = operation.regions[0]
    return [mapped(body, [*initial, *data], index) for index in range(len(data))]


# --- Sorting --------------------------------------------------------------------------------------


@decomposition("sort")
def decompose_sort(operation: ir.Operation) -> list[Tensor]:
    """Sort by rounds in which elements are exchanged with partners (`exchange_partners`).

    1. Of a pair, the element that is ordered first goes to the lower position.
    2. Element a is ordered before b if the comparator returns true for (a, b), or if it returns
       false for (b, a) and a was before b in the operand. Equal elements keep their order.
    """
    operands = [Tensor(operand) for operand in operation.operands]
    axis = SortView(operation).dimension % operands[0].rank
    size = operands[0].shape[axis]
    if size < 2:
        return operands
    comparator = operation.regions[0]
    rounds = array(exchange_partners(size))
    column = [1] * operands[0].rank
    column[axis] = size
    places = iota(size)
    origins = places.reshape(*column).broadcast(*operands[0].shape)

    def exchange(trip: Tensor, origin: Tensor, *state: Tensor) -> list[Tensor]:
        partner = rounds.at(0, trip).reshape(size)
        columns = [origin, *state]
        others = [each.take(axis, partner) for each in columns]
        other_first = _comes_first(comparator, others, columns)
        is_lower = (places < partner).reshape(*column)
        is_paired = (~places.equals(partner)).reshape(*column)
        moves = is_paired & _same(other_first, is_lower)
        return [where(moves, new, old) for new, old in zip(others, columns, strict=True)]

    return loop(rounds.shape[0], [origins, *operands], exchange)[1:]


def exchange_partners(size: int) -> np.ndarray:
    """Return Batcher's network, which merges sorted sequences of increasing length.

    Row r has the partner of each position in round r; a position without one is its own partner.

    Example: 4 positions take the rounds `[1, 0, 3, 2]`, `[2, 3, 0, 1]` and `[0, 2, 1, 3]`.
    """
    greatest = 1 << (size - 1).bit_length() - 1
    rounds: list[np.ndarray] = []
    length = greatest
    while length:
        distance, phase, step = length, 0, greatest
        while True:
            partner = np.arange(size)
            low = np.arange(size - distance)
            low = low[(low & length) == phase]
            partner[low], partner[low + distance] = low + distance, low
            rounds.append(partner)
            if step == length:
                break
            distance, phase, step = step - length, length, step // 2
        length //= 2
    return np.array(rounds, np.int64)


def _comes_first(comparator: ir.Region, left: list[Tensor], right: list[Tensor]) -> Tensor:
    """Return the mask of positions at which `left` is ordered before `right`.

    The first tensor of both holds the original positions.
    """
    pairs = list(zip(left[1:], right[1:], strict=True))
    before = mapped(comparator, [each for pair in pairs for each in pair])
    behind = mapped(comparator, [each for pair in pairs for each in reversed(pair)])
    return before | (~behind & (left[0] < right[0]))


def _same(first: Tensor, second: Tensor) -> Tensor:
    """Return the mask of positions at which two booleans are equal."""
    shape = first.shape
    return (first & second.broadcast(*shape)) | ~(first | second.broadcast(*shape))


# --- Batch normalization --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Batch:
    """Data with a feature dimension, in an element type that is precise enough for sums."""

    data: Tensor
    feature: int
    epsilon: float

    @property
    def count(self) -> int:
        """The number of elements of each feature."""
        return math.prod(self.data.shape) // self.data.shape[self.feature]

    def sum(self, data: Tensor) -> Tensor:
        """The sum of each feature."""
        return data.sum([dim for dim in range(data.rank) if dim != self.feature])

    def mean(self, data: Tensor) -> Tensor:
        """The mean of each feature."""
        return self.sum(data) / self.count

    def spread(self, vector: Tensor) -> Tensor:
        """A vector with an element for each feature, broadcast to the shape of the data."""
        return vector.broadcast_in_dim(self.data.shape, [self.feature])

    def normalised(self, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """`scale (data - mean) / sqrt(variance + epsilon) + offset`."""
        centred = self.data - self.spread(mean)
        factor = scale / (variance + self.epsilon).sqrt()
        return centred * self.spread(factor) + self.spread(offset)


@decomposition("batch_norm_inference")
def decompose_inference(operation: ir.Operation) -> list[Tensor]:
    """Normalise by the mean and the variance in the operands."""
    batch, vectors = _batch(operation)
    return _rounded(operation, [batch.normalised(*vectors)])


@decomposition("batch_norm_training")
def decompose_training(operation: ir.Operation) -> list[Tensor]:
    """Normalise by the mean and the variance of the batch, which are results as well."""
    batch, (scale, offset) = _batch(operation)
    mean = batch.mean(batch.data)
    centred = batch.data - batch.spread(mean)
    variance = batch.mean(centred * centred)
    result = batch.normalised(scale, offset, mean, variance)
    return _rounded(operation, [result, mean, variance])


@decomposition("batch_norm_grad")
def decompose_grad(operation: ir.Operation) -> list[Tensor]:
    """The gradients of the data, the scale and the offset.

    With d the gradient of the output, c the data minus its mean, n the count of a feature, and

        s = sum(d)    t = sum(d c)    v = variance + epsilon

    they are `scale / sqrt(v) / n * (n d - s - c t / v)`, `t / sqrt(v)` and `s`.
    """
    batch, (scale, mean, variance, gradient) = _batch(operation)
    centred = batch.data - batch.spread(mean)
    total, weighted = batch.sum(gradient), batch.sum(gradient * centred)
    variance = variance + batch.epsilon
    deviation = variance.sqrt()
    inner = gradient * batch.count - batch.spread(total)
    inner = inner - centred * batch.spread(weighted / variance)
    of_data = inner * batch.spread(scale / deviation / batch.count)
    return _rounded(operation, [of_data, weighted / deviation, total])


def _batch(operation: ir.Operation) -> tuple[_Batch, list[Tensor]]:
    """The batch, and the other operands."""
    data, *others = (_wide(Tensor(operand)) for operand in operation.operands)
    view = BatchNormView(operation)
    return _Batch(data, view.feature_index, view.epsilon), others


def _wide(tensor: Tensor) -> Tensor:
    return tensor.to(ir.F32Type.get()) if is_narrow(tensor.element) else tensor


def _rounded(operation: ir.Operation, tensors: list[Tensor]) -> list[Tensor]:
    """Tensors of the types of the results."""
    return [
        tensor.to(Tensor(result).element)
        for tensor, result in zip(tensors, operation.results, strict=True)
    ]
