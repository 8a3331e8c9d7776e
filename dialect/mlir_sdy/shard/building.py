# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builder functions of the shard dialect, by operation.

    with ir.InsertionPoint(block), ir.Location.unknown():
        gathered = all_gather(local, "grid", 0, grid_axes=[1])

Operations are built at the current insertion point. Types of results follow from the operands and
the grid, which is looked up in the enclosing module. Each operation is verified; an invalid one is
erased.

Axes, roots and the like are plain numbers. Where the dialect allows it, a number may also be a
value of type `index` (`i64` for halos and offsets).
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.shard.operation_parts import (
    Number,
    axis_lists_attribute,
    converted,
    create,
    create_indices,
    create_with_device,
    grid_named,
    group_size,
    index_attribute,
    numbers_attribute,
    on_grid,
    reduction_attribute,
    resized,
    resized_type,
    sharding_type,
)
from mlir_sdy.shard.values import DYNAMIC, GridSharding, ReductionKind

# --- Grids and shardings ------------------------------------------------------------------------


def grid(name: str, shape: Sequence[int | None]) -> ir.Operation:
    """Declare a grid of devices; None means an unknown size."""
    sizes = [DYNAMIC if size is None else size for size in shape]
    attributes = {"sym_name": ir.StringAttr.get(name), "shape": ir.DenseI64ArrayAttr.get(sizes)}
    return create("grid", (), (), attributes)


def sharding(
    grid: str,
    split_axes: Sequence[Sequence[int]],
    *,
    halo_sizes: Sequence[Number] = (),
    sharded_dims_offsets: Sequence[Number] = (),
) -> ir.Value:
    """Define the sharding of a tensor; see `GridSharding`."""
    halos, halo_values = numbers_attribute(halo_sizes)
    offsets, offset_values = numbers_attribute(sharded_dims_offsets)
    attributes = {
        "grid": ir.FlatSymbolRefAttr.get(grid),
        "split_axes": axis_lists_attribute(split_axes),
        "static_halo_sizes": halos,
        "static_sharded_dims_offsets": offsets,
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(offset_values), len(halo_values)]),
    }
    operands = [*offset_values, *halo_values]
    return create("sharding", operands, [sharding_type()], attributes).result


def sharding_of(value: GridSharding) -> ir.Value:
    """Define a sharding by its plain value."""
    return sharding(
        value.grid,
        value.split_axes,
        halo_sizes=value.halo_sizes,
        sharded_dims_offsets=value.sharded_dims_offsets,
    )


def shard(tensor: ir.Value, sharding: ir.Value, *, annotate_for_users: bool = False) -> ir.Value:
    """Annotate the definition of a tensor, or the users of the result, with a sharding."""
    attributes = {"annotate_for_users": ir.UnitAttr.get()} if annotate_for_users else {}
    return create("shard", (tensor, sharding), (tensor.type,), attributes).result


def get_sharding(tensor: ir.Value) -> ir.Value:
    """The sharding of a tensor."""
    return create("get_sharding", (tensor,), (sharding_type(),), {}).result


def shard_shape(
    dims: Sequence[Number], sharding: ir.Value, device: Sequence[Number]
) -> tuple[ir.Value, ...]:
    """Return the shape of a device's shard of a tensor of size `dims`."""
    sizes, size_values = numbers_attribute(dims)
    coordinates, coordinate_values = numbers_attribute(device)
    segments = [len(size_values), 1, len(coordinate_values)]
    attributes = {
        "dims": sizes,
        "device": coordinates,
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }
    operands = [*size_values, sharding, *coordinate_values]
    return create_indices("shard_shape", operands, len(dims), attributes)


# --- Queries ------------------------------------------------------------------------------------


def grid_shape(grid: str, axes: Sequence[int] = ()) -> tuple[ir.Value, ...]:
    """Return the number of devices along some axes, or along all."""
    count = len(axes) or grid_named(grid).rank
    return create_indices("grid_shape", (), count, on_grid(grid, axes=axes))


def process_multi_index(grid: str, axes: Sequence[int] = ()) -> tuple[ir.Value, ...]:
    """Return the coordinates of the executing device along some axes, or along all."""
    count = len(axes) or grid_named(grid).rank
    return create_indices("process_multi_index", (), count, on_grid(grid, axes=axes))


def process_linear_index(grid: str) -> ir.Value:
    """Return the linear index of the executing device."""
    return create_indices("process_linear_index", (), 1, on_grid(grid))[0]


def neighbors_linear_indices(
    grid: str, device: Sequence[ir.Value], split_axes: Sequence[int]
) -> tuple[ir.Value, ...]:
    """Return the linear indices of the devices before and after one; -1 for none."""
    attributes = on_grid(grid, split_axes=split_axes)
    return create_indices("neighbors_linear_indices", device, 2, attributes)


# --- Collectives --------------------------------------------------------------------------------


def all_gather(
    tensor: ir.Value, grid: str, gather_axis: int, *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Concatenate the tensors of all members of a group along a dimension."""
    attributes = {**on_grid(grid, grid_axes=grid_axes), "gather_axis": index_attribute(gather_axis)}
    result = resized(tensor, gather_axis, group_size(grid, grid_axes), 1)
    return create("all_gather", (tensor,), (result,), attributes).result


def all_reduce(
    tensor: ir.Value,
    grid: str,
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """Reduce the tensors of all members of a group."""
    attributes = {**on_grid(grid, grid_axes=grid_axes), "reduction": reduction_attribute(reduction)}
    result = converted(tensor, element_type)
    return create("all_reduce", (tensor,), (result,), attributes).result


def all_slice(
    tensor: ir.Value, grid: str, slice_axis: int, *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Slice a member's own tensor by its index in the group."""
    attributes = {**on_grid(grid, grid_axes=grid_axes), "slice_axis": index_attribute(slice_axis)}
    result = resized(tensor, slice_axis, 1, group_size(grid, grid_axes))
    return create("all_slice", (tensor,), (result,), attributes).result


def all_to_all(
    tensor: ir.Value,
    grid: str,
    split_axis: int,
    concat_axis: int,
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """Split the tensor of each member, exchange the parts, and concatenate them."""
    attributes = {
        **on_grid(grid, grid_axes=grid_axes),
        "split_axis": index_attribute(split_axis),
        "concat_axis": index_attribute(concat_axis),
    }
    devices = group_size(grid, grid_axes)
    result = tensor.type
    if split_axis != concat_axis:
        result = resized(tensor, split_axis, 1, devices)
        result = resized_type(result, concat_axis, devices, 1)
    return create("all_to_all", (tensor,), (result,), attributes).result


def broadcast(
    tensor: ir.Value, grid: str, root: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Send the tensor of one member to all members of the group."""
    return create_with_device("broadcast", tensor, tensor.type, grid, grid_axes, {}, root)


def gather(
    tensor: ir.Value,
    grid: str,
    gather_axis: int,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """Concatenate the tensors of all members on one of them."""
    result = resized(tensor, gather_axis, group_size(grid, grid_axes), 1)
    attributes = {"gather_axis": index_attribute(gather_axis)}
    return create_with_device("gather", tensor, result, grid, grid_axes, attributes, root)


def reduce(
    tensor: ir.Value,
    grid: str,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """Reduce the tensors of all members on one of them."""
    result = converted(tensor, element_type)
    attributes = {"reduction": reduction_attribute(reduction)}
    return create_with_device("reduce", tensor, result, grid, grid_axes, attributes, root)


def reduce_scatter(
    tensor: ir.Value,
    grid: str,
    scatter_dim: int,
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """Reduce the tensors of all members and split the result among them."""
    attributes = {
        **on_grid(grid, grid_axes=grid_axes),
        "reduction": reduction_attribute(reduction),
        "scatter_dim": index_attribute(scatter_dim),
    }
    result = resized(tensor, scatter_dim, 1, group_size(grid, grid_axes), element_type)
    return create("reduce_scatter", (tensor,), (result,), attributes).result


def scatter(
    tensor: ir.Value,
    grid: str,
    scatter_dim: int,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """Split the tensor of one member among all members."""
    result = resized(tensor, scatter_dim, 1, group_size(grid, grid_axes))
    attributes = {"scatter_dim": index_attribute(scatter_dim)}
    return create_with_device("scatter", tensor, result, grid, grid_axes, attributes, root)


def send(
    tensor: ir.Value, grid: str, destination: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Send a tensor to one member of the group."""
    name = "destination"
    return create_with_device("send", tensor, tensor.type, grid, grid_axes, {}, destination, name)


def recv(
    tensor: ir.Value, grid: str, source: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Receive a tensor of the type of `tensor` from one member of the group."""
    return create_with_device("recv", tensor, tensor.type, grid, grid_axes, {}, source, "source")


def shift(
    tensor: ir.Value,
    grid: str,
    shift_axis: int,
    offset: int,
    *,
    grid_axes: Sequence[int] = (),
    rotate: bool = False,
) -> ir.Value:
    """Receive the tensor of the device `offset` positions before along an axis of the grid."""
    attributes = {
        **on_grid(grid, grid_axes=grid_axes),
        "shift_axis": index_attribute(shift_axis),
        "offset": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), offset),
        **({"rotate": ir.UnitAttr.get()} if rotate else {}),
    }
    return create("shift", (tensor,), (tensor.type,), attributes).result


def update_halo(
    destination: ir.Value,
    grid: str,
    split_axes: Sequence[Sequence[int]],
    halo_sizes: Sequence[Number],
) -> ir.Value:
    """Fill the halos of a tensor with the elements of its neighbors."""
    sizes, values = numbers_attribute(halo_sizes)
    attributes = {
        "grid": ir.FlatSymbolRefAttr.get(grid),
        "split_axes": axis_lists_attribute(split_axes),
        "static_halo_sizes": sizes,
    }
    operands = [destination, *values]
    return create("update_halo", operands, (destination.type,), attributes).result
