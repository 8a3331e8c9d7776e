# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect's collectives as those of StableHLO."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, AxisTuple, Mesh, ReductionOp, ordered_refs, shard_index
from mlir_sdy.values import get_sharding
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import converts


@converts("sdy.all_gather")
def convert_all_gather(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Gather all dimensions at once, or one after the other from last to first if asked to.

    1. The shards are gathered along a new dimension in front, over all axes together.
    2. That dimension is split into one for the axes of each gathered dimension, and these are
       moved in front of the dimensions they belong to.
    3. Both are merged.

    With a single dimension, it is gathered directly.
    """
    axes_per_dim = _axis_lists(operation.attributes["gathering_axes"])
    mesh = _result_mesh(operation, builder)
    value = operation.operands[0]
    gathered = [dim for dim, axes in enumerate(axes_per_dim) if axes]
    if len(gathered) == 1 or builder.per_dim_all_gather:
        for dim in reversed(gathered):
            value = _gather(builder, value, dim, axes_per_dim[dim], mesh)
        _replace(operation, value)
        return
    shape = list(ir.RankedTensorType(value.type).shape)
    sizes = {dim: mesh.axes_size(axes_per_dim[dim]) for dim in gathered}
    value = builder.with_shape(value, [1, *shape])
    all_axes = [axis for axes in axes_per_dim for axis in axes]
    value = _gather(builder, value, 0, all_axes, mesh)
    value = builder.with_shape(value, [*sizes.values(), *shape])
    permutation: list[int] = []
    for dim in range(len(shape)):
        if dim in sizes:
            permutation.append(gathered.index(dim))
        permutation.append(len(gathered) + dim)
    value = builder.transpose(value, permutation)
    merged = [size * sizes.get(dim, 1) for dim, size in enumerate(shape)]
    _replace(operation, builder.with_shape(value, merged))


def _gather(
    builder: LocalBuilder, value: ir.Value, dim: int, axes: Sequence[AxisRef], mesh: Mesh
) -> ir.Value:
    tensor = ir.RankedTensorType(value.type)
    shape = list(tensor.shape)
    shape[dim] *= mesh.axes_size(axes)
    return builder.create(
        "stablehlo.all_gather",
        (value,),
        (ir.RankedTensorType.get(shape, tensor.element_type),),
        {
            "all_gather_dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim),
            **builder.group_attributes(mesh, axes, flattened_ids=True),
        },
    ).result


@converts("sdy.all_slice")
def convert_all_slice(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Slice the local operand at the device's position along the slicing axes; no communication."""
    axes_per_dim = _axis_lists(operation.attributes["slicing_axes"])
    mesh = _result_mesh(operation, builder)
    _replace(operation, builder.slice_shard(operation.operands[0], mesh, axes_per_dim))


@converts("sdy.all_reduce")
def convert_all_reduce(operation: ir.Operation, builder: LocalBuilder) -> None:
    """All-reduce the local operand over the reduction axes."""
    axes = value_of(operation.attributes["reduction_axes"]).value
    mesh = _result_mesh(operation, builder)
    kind = _reduction_kind(operation)
    _replace(operation, _all_reduce(builder, operation.operands[0], axes, mesh, kind))


def _all_reduce(
    builder: LocalBuilder, value: ir.Value, axes: AxisTuple, mesh: Mesh, kind: ReductionOp
) -> ir.Value:
    if not axes:
        return value
    attributes = builder.group_attributes(mesh, axes, flattened_ids=True)
    reduced = builder.create("stablehlo.all_reduce", (value,), (value.type,), attributes, regions=1)
    element_type = ir.RankedTensorType(value.type).element_type
    builder.fill_reduction(reduced.regions[0], element_type, kind)
    return reduced.result


@converts("sdy.reduce_scatter")
def convert_reduce_scatter(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Reduce and scatter one dimension; several are reduced together and then sliced."""
    axes_per_dim = _axis_lists(operation.attributes["reduce_scatter_axes"])
    mesh = _result_mesh(operation, builder)
    kind = _reduction_kind(operation)
    value = operation.operands[0]
    scattered = [dim for dim, axes in enumerate(axes_per_dim) if axes]
    if len(scattered) != 1:
        axes = tuple(axis for axes in axes_per_dim for axis in axes)
        reduced = _all_reduce(builder, value, axes, mesh, kind)
        _replace(operation, builder.slice_shard(reduced, mesh, axes_per_dim))
        return
    tensor = ir.RankedTensorType(value.type)
    dim = scattered[0]
    shape = list(tensor.shape)
    shape[dim] //= mesh.axes_size(axes_per_dim[dim])
    scatter = builder.create(
        "stablehlo.reduce_scatter",
        (value,),
        (ir.RankedTensorType.get(shape, tensor.element_type),),
        {
            "scatter_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dim),
            **builder.group_attributes(mesh, axes_per_dim[dim], flattened_ids=True),
        },
        regions=1,
    )
    builder.fill_reduction(scatter.regions[0], tensor.element_type, kind)
    _replace(operation, scatter.result)


@converts("sdy.all_to_all")
def convert_all_to_all(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Move the axes of one pair of dimensions after the other; the pairs are independent."""
    mesh = _result_mesh(operation, builder)
    value = operation.operands[0]
    integer = ir.IntegerType.get_signless(64)
    for param in value_of(operation.attributes["params"]).value:
        count = mesh.axes_size(param.axes)
        tensor = ir.RankedTensorType(value.type)
        shape = list(tensor.shape)
        shape[param.src_dim] *= count
        shape[param.tgt_dim] //= count
        value = builder.create(
            "stablehlo.all_to_all",
            (value,),
            (ir.RankedTensorType.get(shape, tensor.element_type),),
            {
                "split_dimension": ir.IntegerAttr.get(integer, param.tgt_dim),
                "concat_dimension": ir.IntegerAttr.get(integer, param.src_dim),
                "split_count": ir.IntegerAttr.get(integer, count),
                **builder.group_attributes(mesh, param.axes, flattened_ids=False),
            },
        ).result
    _replace(operation, value)


@converts("sdy.collective_permute")
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
    permute = builder.create(
        "stablehlo.collective_permute",
        (value,),
        (value.type,),
        {
            "source_target_pairs": ir.DenseElementsAttr.get(np.array(pairs, np.int64)),
            **builder.channel_attributes(),
        },
    )
    _replace(operation, permute.result)


def permute_pairs(
    source: Sequence[AxisRef],
    target: Sequence[AxisRef],
    source_mesh: Mesh,
    target_mesh: Mesh,
) -> list[tuple[int, int]]:
    """Who sends to whom when shards laid out by `source` are to be laid out by `target`.

    1. Both meshes are cut into the finest parts that the axes mention.
    2. A device's shard is numbered along the parts of its axes in order, then along the parts
       that only the other side uses, then along those that neither uses.
    3. A device sends to the one that has its number on the other side. Along unused parts it
       keeps its position, so that nothing crosses manual axes.

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


def _axis_lists(attribute: ir.Attribute) -> list[AxisTuple]:
    return [axes.value for axes in value_of(attribute).value]


def _reduction_kind(operation: ir.Operation) -> ReductionOp:
    attributes = operation.attributes
    if "reduction_op" in attributes:
        return ReductionOp(attributes["reduction_op"].value)
    return ReductionOp.SUM


def _result_mesh(operation: ir.Operation, builder: LocalBuilder) -> Mesh:
    return builder.mesh_of(value_of(operation.attributes["out_sharding"]))


def _replace(operation: ir.Operation, value: ir.Value) -> None:
    operation.results[0].replace_all_uses_with(value)
    operation.erase()
