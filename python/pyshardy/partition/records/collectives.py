# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local forms of the dialect's collectives."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, AxisTuple, Mesh, ReductionOp, ordered_refs, shard_index
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, result_shardings_of
from pyshardy.cost.op_work import no_work
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import Conversion, PartitionRecord
from pyshardy.partition.partial.completion import reduction_kind
from pyshardy.partition.partial.linear_operations import first_operand
from pyshardy.partition.types.local_builder import REDUCTION_OPERATIONS, LocalBuilder


def moves_elements(conversion: Conversion) -> Conversion:
    """Return a conversion that replaces collectives on empty tensors by constants.

    StableHLO has no collectives along dimensions of size 0.
    """

    @functools.wraps(conversion)
    def convert(operation: ir.Operation, builder: LocalBuilder) -> None:
        if 0 in list(shape_of(operation.results[0].type)):
            replace_by(operation, builder.empty(operation.results[0].type))
        else:
            conversion(operation, builder)

    return convert


def convert_reshard(operation: ir.Operation, _: LocalBuilder) -> None:
    """Replace a reshard by its operand.

    Such a reshard is between meshes, of a replicated tensor; others have been replaced by
    collectives.
    """
    replace_by(operation, operation.operands[0])


@moves_elements
def convert_all_gather(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Gather all dimensions at once, or in turn from last to first.

    1. The shards are gathered along a new dimension in front, over all axes together.
    2. That dimension is split into one for the axes of each gathered dimension, and these are
       moved in front of the dimensions they belong to.
    3. Both are merged.

    With a single dimension, it is gathered directly.
    """
    axes_per_dim = _axis_lists(view_as(sdy.AllGatherOp, operation).gathering_axes)
    mesh = _result_mesh(operation, builder)
    value = operation.operands[0]
    gathered = [dim for dim, axes in enumerate(axes_per_dim) if axes]
    if len(gathered) <= 1 or builder.per_dim_all_gather:
        for dim in reversed(gathered):
            value = builder.all_gather(value, dim, axes_per_dim[dim], mesh)
        replace_by(operation, value)
        return
    sizes = [mesh.axes_size(axes_per_dim[dim]) for dim in gathered]
    value = builder.reshape(value, [1, *shape_of(value.type)])
    value = builder.all_gather(value, 0, _all_axes(axes_per_dim), mesh)
    value = _split_leading_dim(builder, value, sizes)
    replace_by(operation, _merge_into(builder, value, gathered))


@moves_elements
def convert_all_slice(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Slice the local operand at the device's position along the slicing axes; no communication."""
    axes_per_dim = _axis_lists(view_as(sdy.AllSliceOp, operation).slicing_axes)
    mesh = _result_mesh(operation, builder)
    replace_by(operation, builder.slice_shard(operation.operands[0], mesh, axes_per_dim))


@moves_elements
def convert_all_reduce(operation: ir.Operation, builder: LocalBuilder) -> None:
    """All-reduce the local operand over the reduction axes."""
    axes = value_of(view_as(sdy.AllReduceOp, operation).reduction_axes).value
    mesh = _result_mesh(operation, builder)
    reduction = REDUCTION_OPERATIONS[reduction_kind(operation)]
    replace_by(operation, builder.all_reduce(operation.operands[0], reduction, axes, mesh))


@moves_elements
def convert_reduce_scatter(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Reduce and scatter one dimension; several are reduced together and then sliced.

    With `combined_reduce_scatter`, several are scattered at once: their parts are moved to the
    front (`_split_to_front`), where they are one dimension that is scattered over all axes.
    """
    axes_per_dim = _axis_lists(view_as(sdy.ReduceScatterOp, operation).reduce_scatter_axes)
    mesh = _result_mesh(operation, builder)
    reduction = REDUCTION_OPERATIONS[reduction_kind(operation)]
    value = operation.operands[0]
    axes = _all_axes(axes_per_dim)
    scattered = [dim for dim, axes in enumerate(axes_per_dim) if axes]
    if len(scattered) == 1:
        value = builder.reduce_scatter(value, scattered[0], reduction, axes, mesh)
    elif builder.combined_reduce_scatter and scattered:
        sizes = [mesh.axes_size(axes_per_dim[dim]) for dim in scattered]
        value = _split_to_front(builder, value, scattered, sizes)
        value = builder.reduce_scatter(value, 0, reduction, axes, mesh)
        value = builder.reshape(value, shape_of(value.type)[1:])
    else:
        reduced = builder.all_reduce(value, reduction, axes, mesh)
        value = builder.slice_shard(reduced, mesh, axes_per_dim)
    replace_by(operation, value)


@moves_elements
def convert_all_to_all(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Move the axes of one pair of dimensions directly, and the axes of several pairs at once.

    1. The parts of each target dimension are moved to the front (`_split_to_front`).
    2. There they are one dimension, along which one all-to-all splits and concatenates.
    3. That dimension is split again; each part is moved in front of its source dimension, and both
       are merged.
    """
    mesh = _result_mesh(operation, builder)
    value = operation.operands[0]
    moves = value_of(view_as(sdy.AllToAllOp, operation).params).value
    params = sorted(moves, key=lambda each: each.tgt_dim)
    if len(params) == 1:
        (param,) = params
        value = builder.all_to_all(value, param.tgt_dim, param.src_dim, param.axes, mesh)
    elif params:
        sizes = [mesh.axes_size(param.axes) for param in params]
        value = _split_to_front(builder, value, [param.tgt_dim for param in params], sizes)
        axes = _all_axes([param.axes for param in params])
        value = builder.all_to_all(value, 0, 0, axes, mesh)
        value = _split_leading_dim(builder, value, sizes)
        value = _merge_into(builder, value, [param.src_dim for param in params])
    replace_by(operation, value)


def _split_to_front(
    builder: LocalBuilder, value: ir.Value, dims: Sequence[int], sizes: Sequence[int]
) -> ir.Value:
    """Split dimensions into numbers of parts, which become one new dimension in front.

    Example: (6, 5, 8) with dimensions 0 and 2 split into 2 and 4 parts is reshaped to (2, 3, 5, 4,
      2), transposed to (2, 4, 3, 5, 2) and merged to (8, 3, 5, 2).
    """
    shape: list[int] = []
    parts: list[int] = []
    rests: list[int] = []
    for dim, size in enumerate(list(shape_of(value.type))):
        if dim in dims:
            count = sizes[dims.index(dim)]
            parts.append(len(shape))
            rests.append(len(shape) + 1)
            shape += [count, size // count]
        else:
            rests.append(len(shape))
            shape.append(size)
    value = builder.transpose(builder.reshape(value, shape), [*parts, *rests])
    return builder.reshape(value, [math.prod(sizes), *(shape[at] for at in rests)])


def _split_leading_dim(builder: LocalBuilder, value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    return builder.reshape(value, [*sizes, *shape_of(value.type)[1:]])


def _merge_into(builder: LocalBuilder, value: ir.Value, dims: Sequence[int]) -> ir.Value:
    """Merge the leading dimensions into the other dimensions that `dims` numbers.

    Example: (2, 4, 3, 5, 2) with `dims` (0, 2) becomes (2, 3, 5, 4, 2), and then (6, 5, 8).
    """
    sizes, shape = shape_of(value.type)[: len(dims)], shape_of(value.type)[len(dims) :]
    permutation: list[int] = []
    merged: list[int] = []
    for dim, size in enumerate(shape):
        if dim in dims:
            permutation.append(dims.index(dim))
            merged.append(sizes[dims.index(dim)] * size)
        else:
            merged.append(size)
        permutation.append(len(dims) + dim)
    return builder.reshape(builder.transpose(value, permutation), merged)


@moves_elements
def convert_collective_permute(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Send each shard to the device that holds it afterwards."""
    source = get_sharding(operation.operands[0])
    target = get_sharding(operation.results[0])
    assert source is not None
    assert target is not None
    pairs = permute_pairs(
        [axis for axes in source.dim_axes for axis in axes],
        [axis for axes in target.dim_axes for axis in axes],
        builder.mesh_of(source),
        builder.mesh_of(target),
    )
    value = operation.operands[0]
    moves = source != target
    replace_by(operation, builder.collective_permute(value, pairs) if moves else value)


def permute_pairs(
    source: Sequence[AxisRef],
    target: Sequence[AxisRef],
    source_mesh: Mesh,
    target_mesh: Mesh,
) -> list[tuple[int, int]]:
    """Return the senders and receivers of a permute from the layout `source` to `target`.

    1. Both meshes are cut into the finest parts that the axes mention.
    2. A device's shard is numbered along the parts of its axes in order, then along the parts
       that only the other side uses, then along those that neither uses.
    3. A device sends to the one that has its number on the other side. Along unused parts it keeps
       its position, so that there is no communication along manual axes.

    Example: on `<["x"=2, "y"=2]>` from `{"x"}` to `{"y"}`: device 1 at (0, 1) has shard 0 and, as
    its position along "y" is 1, number 1. That is the number of the device at (1, 0): `(1, 2)`.
    """
    atoms = ordered_refs(target_mesh, [*source, *target])

    def parts(axes: Sequence[AxisRef]) -> list[AxisRef]:
        return [atom for axis in axes for atom in atoms if axis.contains(atom)]

    before, after = parts(source), parts(target)
    unused = [atom for atom in atoms if atom not in before and atom not in after]
    source_order = [*before, *(atom for atom in after if atom not in before), *unused]
    target_order = [*after, *(atom for atom in before if atom not in after), *unused]
    count = math.prod(atom.size(target_mesh) for atom in atoms)
    receiver = {shard_index(target_mesh, device, target_order): device for device in range(count)}
    return [
        (device, receiver[shard_index(source_mesh, device, source_order)])
        for device in range(count)
    ]


@moves_elements
def convert_replicated_to_unreduced(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Keep the value on the first device along the axes only; others get the identity."""
    axes = value_of(view_as(sdy.ReplicatedToUnreducedOp, operation).axes).value
    value = operation.operands[0]
    if axes:
        tensor = ir.RankedTensorType(value.type)
        mesh = _result_mesh(operation, builder)
        is_first = builder.compare("EQ", builder.offset(mesh, axes, 1), builder.index(0))
        nothing = builder.identity(tensor, _reduction_kind(operation))
        value = builder.select(is_first, value, nothing)
    replace_by(operation, value)


@moves_elements
def convert_sharded_to_unreduced(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Write the shard at its position into a tensor of the identity of the reduction.

    That tensor includes the padding of the last shards, which is sliced off afterwards.
    """
    axes_per_dim = _axis_lists(view_as(sdy.ShardedToUnreducedOp, operation).axes)
    mesh = _result_mesh(operation, builder)
    value, result = operation.operands[0], ir.RankedTensorType(operation.results[0].type)
    starts = [
        builder.offset(mesh, axes, size)
        for axes, size in zip(axes_per_dim, shape_of(value.type), strict=True)
    ]
    shape = [
        size * mesh.axes_size(axes)
        for axes, size in zip(axes_per_dim, list(shape_of(value.type)), strict=True)
    ]
    padded = ir.RankedTensorType.get(shape, result.element_type)
    nothing = builder.identity(padded, _reduction_kind(operation))
    update = builder.dynamic_update_slice(nothing, value, starts)
    replace_by(operation, builder.slice_prefix(update, result.shape))


def _reduction_kind(operation: ir.Operation) -> ReductionOp:
    return result_shardings_of(operation)[0].reduction_kind


def _all_axes(axes_per_dim: Sequence[AxisTuple]) -> AxisTuple:
    return tuple(axis for axes in axes_per_dim for axis in axes)


def _axis_lists(attribute: ir.Attribute) -> list[AxisTuple]:
    return [axes.value for axes in value_of(attribute).value]


def _result_mesh(operation: ir.Operation, builder: LocalBuilder) -> Mesh:
    return builder.mesh_of(result_shardings_of(operation)[0])


RECORDS = {
    "sdy.all_gather": PartitionRecord(local_form=convert_all_gather, linear_operands=first_operand),
    "sdy.all_reduce": PartitionRecord(local_form=convert_all_reduce),
    "sdy.all_slice": PartitionRecord(local_form=convert_all_slice),
    "sdy.all_to_all": PartitionRecord(local_form=convert_all_to_all),
    "sdy.collective_permute": PartitionRecord(local_form=convert_collective_permute),
    "sdy.reduce_scatter": PartitionRecord(local_form=convert_reduce_scatter),
    "sdy.replicated_to_unreduced": PartitionRecord(local_form=convert_replicated_to_unreduced),
    "sdy.reshard": PartitionRecord(local_form=convert_reshard, work=no_work),
    "sdy.sharded_to_unreduced": PartitionRecord(local_form=convert_sharded_to_unreduced),
}
