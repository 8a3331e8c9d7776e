# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows with different matrices, on shards.

A *row* is an element of the ragged dimension. A device has a shard of the rows, and the matrices of
some groups. The rows of these groups in the shard are consecutive, since devices have consecutive
groups. The device moves them to the beginning, multiplies them, and moves their results back;
results of other rows are zero, so that the sum over the devices of all groups is the product.

Example: 8 rows in groups of 3, 1, 2 and 2 rows, on 2 devices with 2 groups each. The second device
has the rows from 4 on: it multiplies rows 4, 5, 6, 7 and four others by groups of 2 and 2, and puts
the first four results at 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mlir_sdy.host import ir, stablehlo
from mlir_sdy.model import AxisTuple, Mesh
from pyshardy.cost.op_work import ProductWork, SizedOperation
from pyshardy.irtools.ragged_dots import cumulative_sums
from pyshardy.irtools.stablehlo_views import RaggedDotView
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.partial.reductions import completion_by_sum
from pyshardy.partition.records.dot import zeros_for_all_operands
from pyshardy.partition.types.local_builder import LocalBuilder, axes_of

# --- Local form ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a tensor, and the range of them that are of the groups of a device.

    Attributes:
        dim: the dimension of rows.
        apart: the dimensions along which groups have sizes of their own.
        start: the first row of the groups: a scalar, or a tensor along `apart`.
        end: the end of the rows.
    """

    dim: int
    apart: tuple[int, ...]
    start: ir.Value
    end: ir.Value

    def of(self, dim_of: Callable[[int], int | None]) -> _Rows:
        """Return the same rows of another tensor, given its dimension for each of these."""
        dim, *apart = (dim for each in (self.dim, *self.apart) if (dim := dim_of(each)) is not None)
        return _Rows(dim, tuple(apart), self.start, self.end)

    def moved(self, builder: LocalBuilder, value: ir.Value, *, back: bool = False) -> ir.Value:
        """Move the row at `start` to the beginning, or the first one back to `start`.

        Rows that would come from outside of the tensor are some other rows.
        """
        direction = "subtract" if back else "add"
        indices = builder.binary(direction, *self._with_positions(builder, value, self.start))
        index_dims = self._index_dims
        batches = [dim for dim in index_dims if dim != self.dim]
        shape = shape_of(value.type)
        numbers = stablehlo.GatherDimensionNumbers.get(
            offset_dims=[dim for dim in range(len(shape)) if dim not in index_dims],
            collapsed_slice_dims=[self.dim],
            operand_batching_dims=batches,
            start_indices_batching_dims=[index_dims.index(dim) for dim in batches],
            start_index_map=[self.dim],
            index_vector_dim=len(index_dims),
        )
        sizes = [1 if dim in index_dims else size for dim, size in enumerate(shape)]
        return builder.gather(value, indices, numbers, sizes, shape)

    def only(self, builder: LocalBuilder, value: ir.Value) -> ir.Value:
        """Replace other rows by zeros."""
        position, start = self._with_positions(builder, value, self.start)
        _, end = self._with_positions(builder, value, self.end)
        is_in = builder.binary(
            "and", builder.compare("GE", position, start), builder.compare("LT", position, end)
        )
        flags = builder.broadcast_in_dim(is_in, shape_of(value.type), self._index_dims)
        return builder.select(flags, value, builder.splat(value.type, 0))

    @property
    def _index_dims(self) -> list[int]:
        return sorted((*self.apart, self.dim))

    def _with_positions(
        self, builder: LocalBuilder, value: ir.Value, bound: ir.Value
    ) -> tuple[ir.Value, ir.Value]:
        """Build the positions of rows and a bound, along the dimensions of indices."""
        shape = shape_of(value.type)
        index_dims = self._index_dims
        index_shape = [shape[dim] for dim in index_dims]
        position = builder.iota(with_shape(bound.type, index_shape), index_dims.index(self.dim))
        dims = [index_dims.index(dim) for dim in self.apart]
        if dims == sorted(dims):
            return position, builder.broadcast_in_dim(bound, index_shape, dims)
        order = sorted(range(len(dims)), key=dims.__getitem__)
        bound = builder.transpose(bound, order)
        return position, builder.broadcast_in_dim(bound, index_shape, sorted(dims))


def convert_ragged_dot(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a product: a device multiplies its rows of the groups whose matrices it has."""
    numbers = RaggedDotView(operation).ragged_dot_dimension_numbers
    if numbers.is_batching:
        return  # the result doesn't depend on the sizes
    lhs, rhs, sizes = operation.operands
    result = operation.results[0]
    with_groups, group_dim = (result, 0) if numbers.is_contracting else (rhs, *numbers.rhs_group)
    (ragged,) = numbers.lhs_ragged
    row_sharding, group_sharding = sharding_of(lhs), sharding_of(with_groups)
    row_axes, group_axes = axes_of(row_sharding, ragged), axes_of(group_sharding, group_dim)
    given = row_sharding if row_axes else group_sharding
    if given is None or not (row_axes or group_axes):
        return
    mesh = builder.mesh_of(given)
    num_rows, num_groups = shape_of(lhs.type)[ragged], shape_of(with_groups.type)[group_dim]
    starts, ends = _bounds(builder, sizes, (num_rows, row_axes), (num_groups, group_axes), mesh)
    own = builder.binary("subtract", ends, starts)
    operation.operands[2] = builder.convert(own, element_type_of(sizes.type))
    if not group_axes:
        return  # the rows of a shard belong to its groups from the first one on
    rank = len(shape_of(lhs.type))
    apart = numbers.sized_apart(rank) if len(shape_of(sizes.type)) > 1 else ()
    start, end = _at(builder, starts, 0), _at(builder, ends, num_groups - 1)
    rows = _Rows(ragged, apart, start, end)
    operation.operands[0] = rows.moved(builder, lhs)
    if numbers.is_contracting:
        operation.operands[1] = rows.of(numbers.rhs_dim).moved(builder, rhs)
        return
    rows = rows.of(lambda dim: numbers.result_dim(dim, rank))
    with ir.InsertionPoint.after(operation):
        moved = rows.moved(builder, result, back=True)
        only = rows.only(builder, moved)
    result.replace_all_uses_except(only, moved.owner.operation)


def _bounds(
    builder: LocalBuilder,
    sizes: ir.Value,
    rows: tuple[int, AxisTuple],
    groups: tuple[int, AxisTuple],
    mesh: Mesh,
) -> tuple[ir.Value, ir.Value]:
    """Build the starts and ends of the groups of a device in its shard of the rows (i64).

    Args:
        builder: builds the operations.
        sizes: the sizes of all groups.
        rows: the number of rows on a device, and the axes that shard them.
        groups: the number of groups on a device, and the axes that shard them.
        mesh: the mesh of the axes.
    """
    (num_rows, row_axes), (num_groups, group_axes) = rows, groups
    sizes = builder.convert(sizes, ir.IntegerType.get_signless(64))
    zero = builder.index(0)
    *outer, count = shape_of(sizes.type)
    missing = num_groups * mesh.axes_size(group_axes) - count
    if missing:  # the dimension of groups is padded
        unpadded = [0] * len(outer)
        sizes = builder.pad(sizes, zero, [*unpadded, 0], [*unpadded, missing])
    ends = cumulative_sums(builder, sizes)
    bounds = [builder.binary("subtract", ends, sizes), ends]
    if group_axes:
        first = builder.offset(mesh, group_axes, num_groups)
        starts = [*[zero] * len(outer), first]
        bounds = [builder.dynamic_slice(each, starts, [*outer, num_groups]) for each in bounds]
    if row_axes:
        offset = builder.offset(mesh, row_axes, num_rows)
        offsets = builder.broadcast_in_dim(offset, shape_of(bounds[0].type))
        bounds = [builder.binary("subtract", each, offsets) for each in bounds]
    start, end = (builder.clamp(zero, each, builder.index(num_rows)) for each in bounds)
    return start, end


def _at(builder: LocalBuilder, bounds: ir.Value, group: int) -> ir.Value:
    """Build the bounds of one group."""
    last = len(shape_of(bounds.type)) - 1
    one = builder.slice_dim(bounds, last, group, 1)
    return builder.reshape(one, shape_of(bounds.type)[:last])


# --- Work ---------------------------------------------------------------------------------------


def _num_operations(sized: SizedOperation) -> int:
    """Return the dimension numbers of a product of each row with the matrix of its group.

    If the ragged dimension is contracted, each of its elements counts for one of the groups only.
    """
    numbers = RaggedDotView(sized.operation).ragged_dot_dimension_numbers
    shape = sized.operands[0].shape
    num_groups = sized.results[0].shape[0] if numbers.is_contracting else 1
    contracted = math.prod(shape[dim] for dim in numbers.lhs_contracting)
    return 2 * contracted * sized.results[0].elements // max(num_groups, 1)


# --- Record -------------------------------------------------------------------------------------

RECORDS = {
    "chlo.ragged_dot": PartitionRecord(
        completion=completion_by_sum,
        local_form=convert_ragged_dot,
        neutral_values=zeros_for_all_operands,
        work=ProductWork(_num_operations),
    )
}
