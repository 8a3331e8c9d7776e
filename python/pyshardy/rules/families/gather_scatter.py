# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that read or write slices of a tensor at the indices in another tensor.

Gather and scatter are mirror images. Both have *inputs* that hold the data, *indices*, and
*slices*: the result of a gather, the updates of a scatter. A dimension of the slices is either a
*window* dimension, which runs within one slice, or a batch dimension, which runs over indices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import FactorType, OpShardingRule
from mlir_sdy.uses import defining_operation
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature

_REDUCTIONS = frozenset(
    {"stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum"}
)
_LOGICAL_REDUCTIONS = frozenset({"stablehlo.and", "stablehlo.or"})


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The dimension numbers of either operation, under common names."""

    window_dims: Sequence[int]
    collapsed_dims: Sequence[int]
    input_batching_dims: Sequence[int]
    indices_batching_dims: Sequence[int]
    index_vector_dim: int


class _Dims(NamedTuple):
    """The dimensions of a factor in the inputs, the indices and the slices, if it has any there."""

    input: int | None = None
    indices: int | None = None
    slices: int | None = None


class _SliceFactors(ABC):
    """The factors of a gather or scatter.

    1. A window dimension as large as that of the inputs passes through; other ones depend on
       the operation.
    2. A batch dimension relates indices and slices, and the inputs if it is batching explicitly.
    3. A dimension of the inputs that slices lack depends on the operation.
    4. Index vectors need replication.
    """

    def __init__(
        self,
        op: OperationSignature,
        numbers: _Numbers,
        shapes: tuple[Sequence[int], Sequence[int], Sequence[int]],
    ):
        self.builder = RuleBuilder(op)
        self._numbers = numbers
        self._inputs, self._indices, self._slices = shapes

    def add_all(self) -> RuleBuilder:
        """Add the factors in the order of the slices' dimensions."""
        numbers = self._numbers
        absent = {*numbers.collapsed_dims, *numbers.input_batching_dims}
        input_dims = iter(dim for dim in range(len(self._inputs)) if dim not in absent)
        indices_dims = iter(
            dim for dim in range(len(self._indices)) if dim != numbers.index_vector_dim
        )
        batching = dict(
            zip(numbers.indices_batching_dims, numbers.input_batching_dims, strict=True)
        )
        for dim, size in enumerate(self._slices):
            if dim in numbers.window_dims:
                self._window_dim(next(input_dims), dim)
            else:
                indices_dim = next(indices_dims)
                input_dim = batching.get(indices_dim)
                kind = self.batch_kind(is_explicit=input_dim is not None)
                self.add(size, _Dims(input_dim, indices_dim, dim), kind)
        for dim in numbers.collapsed_dims:
            size = self._inputs[dim]
            self.add(size, _Dims(dim), self.collapsed_kind(size))
        vector_dim = numbers.index_vector_dim
        if vector_dim < len(self._indices):
            dims = _Dims(indices=vector_dim)
            self.add(self._indices[vector_dim], dims, NEED_REPLICATION)
        return self.builder

    def _window_dim(self, input_dim: int, slices_dim: int) -> None:
        size, slice_size = self._inputs[input_dim], self._slices[slices_dim]
        if size == slice_size:
            self.add(size, _Dims(input_dim, slices=slices_dim))
        else:
            self.partial_window(input_dim, size, slices_dim, slice_size)

    @abstractmethod
    def add(
        self, size: int, dims: _Dims, kind: FactorType = PASS_THROUGH, *, blocked: bool = False
    ) -> None:
        """Add a factor."""

    @abstractmethod
    def partial_window(self, input_dim: int, size: int, slices_dim: int, slice_size: int) -> None:
        """Add the factors of a window dimension that is smaller than that of the inputs."""

    @abstractmethod
    def batch_kind(self, *, is_explicit: bool) -> FactorType:
        """Return the kind of factors of batch dimensions."""

    @abstractmethod
    def collapsed_kind(self, size: int) -> FactorType:
        """Return the kind of factors of input dimensions that slices lack."""


class _GatherFactors(_SliceFactors):
    """The factors of a gather: each shard of the inputs has some of the slices."""

    def add(
        self, size: int, dims: _Dims, kind: FactorType = PASS_THROUGH, *, blocked: bool = False
    ) -> None:
        self.builder.factor(size, (dims.input, dims.indices), (dims.slices,), kind, blocked=blocked)

    def partial_window(self, input_dim: int, size: int, slices_dim: int, slice_size: int) -> None:
        if slice_size == 1:
            self.add(size, _Dims(input_dim), REDUCTION)
            self.add(1, _Dims(slices=slices_dim), NEED_REPLICATION)
        else:
            dims = _Dims(input_dim, slices=slices_dim)
            self.add(size, dims, NEED_REPLICATION, blocked=True)

    def batch_kind(self, *, is_explicit: bool) -> FactorType:  # noqa: ARG002
        return PASS_THROUGH

    def collapsed_kind(self, size: int) -> FactorType:
        return NEED_REPLICATION if size == 1 else REDUCTION


class _ScatterFactors(_SliceFactors):
    """The factors of a scatter: shards of the updates are reduced if the body is a reduction."""

    def __init__(
        self,
        op: OperationSignature,
        numbers: _Numbers,
        shapes: tuple[Sequence[int], Sequence[int], Sequence[int]],
        num_inputs: int,
    ):
        super().__init__(op, numbers, shapes)
        self._num_inputs = num_inputs
        self._kind = REDUCTION if op.observed else NEED_REPLICATION

    def add(
        self, size: int, dims: _Dims, kind: FactorType = PASS_THROUGH, *, blocked: bool = False
    ) -> None:
        inputs = (dims.input,) * self._num_inputs
        updates = (dims.slices,) * self._num_inputs
        self.builder.factor(size, (*inputs, dims.indices, *updates), inputs, kind, blocked=blocked)

    def partial_window(self, input_dim: int, size: int, slices_dim: int, slice_size: int) -> None:
        self.add(size, _Dims(input_dim), NEED_REPLICATION)
        self.add(slice_size, _Dims(slices=slices_dim), NEED_REPLICATION)

    def batch_kind(self, *, is_explicit: bool) -> FactorType:
        return PASS_THROUGH if is_explicit else self._kind

    def collapsed_kind(self, size: int) -> FactorType:  # noqa: ARG002
        return PASS_THROUGH


def _gather(op: OperationSignature) -> RuleBuilder:
    numbers = op.dimension_numbers(stablehlo.GatherDimensionNumbers)
    common = _Numbers(
        numbers.offset_dims,
        numbers.collapsed_slice_dims,
        numbers.operand_batching_dims,
        numbers.start_indices_batching_dims,
        numbers.index_vector_dim,
    )
    shapes = (op.operand_shape(0), op.operand_shape(1), op.result_shape())
    return _GatherFactors(op, common, shapes).add_all()


@sharding_rule("stablehlo.gather", reads=("dimension_numbers",))
def gather_rule(op: OperationSignature) -> OpShardingRule:
    """Slices of an operand.

    Example:
        "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2],
            collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, 4, 9>}>
            : (tensor<20x6x9xf32>, tensor<5x2xi32>) -> tensor<5x4x9xf32>
        // ([l, j, k], [i, m])->([i, j, k]) {i=5, j=6, k=9, l=20, m=2}
        //     reduction={l} need_replication={j, m} blocked_propagation={j}
    """
    return _gather(op).build()


@sharding_rule("stablehlo.dynamic_gather", reads=("dimension_numbers",), beyond_shardy=True)
def dynamic_gather_rule(op: OperationSignature) -> OpShardingRule:
    """Same rule as for the static operation; all devices need the sizes of slices.

    Example:
        "stablehlo.dynamic_gather"(%a, %b, %c) <{dimension_numbers = #stablehlo.gather<
            offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
            index_vector_dim = 1>}>
            : (tensor<20x6xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x6xf32>
        // ([k, j], [i, l], [m])->([i, j]) {i=5, j=6, k=20, l=1, m=2}
        //     reduction={k} need_replication={l, m}
    """
    return _gather(op).replicated_operands(2).build()


def _body_reduces(operation: ir.Operation) -> bool:
    return _is_supported_reduction(operation.regions[0].blocks[0])


@sharding_rule("stablehlo.scatter", reads=("scatter_dimension_numbers",), observes=_body_reduces)
def scatter_rule(op: OperationSignature) -> OpShardingRule:
    """Updates of slices of inputs; they are a reduction if the body is one.

    Example:
        "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1, 2], inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<20x6x9xf32>, tensor<5x2xi32>, tensor<5x4x9xf32>) -> tensor<20x6x9xf32>
        // ([m, j, l], [i, n], [i, k, l])->([m, j, l]) {i=5, j=6, k=4, l=9, m=20, n=2}
        //     reduction={i} need_replication={j, k, n}
    """
    numbers = op.dimension_numbers(stablehlo.ScatterDimensionNumbers, "scatter_dimension_numbers")
    common = _Numbers(
        numbers.update_window_dims,
        numbers.inserted_window_dims,
        numbers.input_batching_dims,
        numbers.scatter_indices_batching_dims,
        numbers.index_vector_dim,
    )
    num_inputs = len(op.results)
    shapes = (
        op.operand_shape(0),
        op.operand_shape(num_inputs),
        op.operand_shape(num_inputs + 1),
    )
    return _ScatterFactors(op, common, shapes, num_inputs).add_all().build()


def _is_supported_reduction(body: ir.Block) -> bool:
    """Whether a body combines all values with their updates by one reduction.

    1. For n values there are 2n arguments, and n results are returned.
    2. Result i is computed from the arguments i and i + n, in either order.
    3. All results are computed by add, multiply, maximum or minimum; or by `and` or `or` of i1.

    Example: with one value, `return add(%old, %new)` is a reduction, `return %new` is not.
    """
    arguments = list(body.arguments)
    operations = [view.operation for view in body.operations]
    returned = list(operations[-1].operands)
    if len(arguments) != 2 * len(returned):
        return False
    kinds: set[str] = set()
    for index, value in enumerate(returned):
        operation = defining_operation(value)
        if operation is None:
            return False
        pair = [arguments[index], arguments[index + len(returned)]]
        if list(operation.operands) not in (pair, pair[::-1]):
            return False
        kinds.add(operation.name)
        is_logical = operation.name in _LOGICAL_REDUCTIONS and _is_truth_value(value.type)
        if operation.name not in _REDUCTIONS and not is_logical:
            return False
    return len(kinds) == 1


def _is_truth_value(value_type: ir.Type) -> bool:
    element = ir.RankedTensorType(value_type).element_type
    return isinstance(element, ir.IntegerType) and element.width == 1


# --- Selection along one dimension ----------------------------------------------------------------


@sharding_rule("stablehlo.torch_index_select", reads=("dim", "batch_dims"), beyond_shardy=True)
def torch_index_select_rule(op: OperationSignature) -> OpShardingRule:
    """Elements of one dimension, which needs replication, at the positions in an index.

    The first `batch_dims` dimensions are those of all tensors. In the result, the other
    dimensions of the index take the place of the one selected from.

    Example:
        "stablehlo.torch_index_select"(%a, %b) <{dim = 1 : i64, batch_dims = 1 : i64}>
            : (tensor<4x6x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>
        // ([i, l, k], [i, j])->([i, j, k]) {i=4, j=3, k=8, l=6} need_replication={l}
    """
    dim, num_batch = op.integer("dim"), op.integer("batch_dims")
    operand, index = op.operand_shape(0), op.operand_shape(1)
    num_selected = len(index) - num_batch
    builder = RuleBuilder(op)
    for at, size in enumerate(op.result_shape()):
        if at < num_batch:
            builder.factor(size, (at, at), (at,))
        elif at < dim:
            builder.factor(size, (at,), (at,))
        elif at < dim + num_selected:
            builder.factor(size, (None, at - dim + num_batch), (at,))
        else:
            builder.factor(size, (at - num_selected + 1,), (at,))
    return builder.factor(operand[dim], (dim,), kind=NEED_REPLICATION).build()
