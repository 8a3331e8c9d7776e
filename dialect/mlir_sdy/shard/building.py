# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function for each operation of the shard dialect, which builds it at the current place.

    with ir.InsertionPoint(block), ir.Location.unknown():
        whole = all_gather(piece, "grid", 0, grid_axes=[1])

Types of results follow from the operands and the grid, which is looked up in the module around.
Each operation is checked before it is handed out: what breaks a rule is erased again.

Axes, roots and the like are plain numbers. Where the dialect allows it, a number may also be a
value of type `index` (`i64` for halos and offsets).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.shard.reading import grids_of
from mlir_sdy.shard.values import DYNAMIC, Grid, GridSharding, ReductionKind
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.verify.shard import check_operation

Number = int | ir.Value
"""A number known now, or a value that gives it when the program runs."""

# --- Grids and shardings ------------------------------------------------------------------------


def grid(name: str, shape: Sequence[int | None]) -> ir.Operation:
    """Declare a grid of devices; None stands for a size that isn't known."""
    sizes = [DYNAMIC if size is None else size for size in shape]
    attributes = {"sym_name": ir.StringAttr.get(name), "shape": ir.DenseI64ArrayAttr.get(sizes)}
    return _create("grid", (), (), attributes)


def sharding(
    grid: str,
    split_axes: Sequence[Sequence[int]],
    *,
    halo_sizes: Sequence[Number] = (),
    sharded_dims_offsets: Sequence[Number] = (),
) -> ir.Value:
    """Define how a tensor is laid out; see `GridSharding`."""
    halos, halo_values = _numbers(halo_sizes)
    offsets, offset_values = _numbers(sharded_dims_offsets)
    attributes = {
        "grid": ir.FlatSymbolRefAttr.get(grid),
        "split_axes": _axis_lists(split_axes),
        "static_halo_sizes": halos,
        "static_sharded_dims_offsets": offsets,
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(offset_values), len(halo_values)]),
    }
    operands = [*offset_values, *halo_values]
    return _create("sharding", operands, [_sharding_type()], attributes).result


def sharding_of(value: GridSharding) -> ir.Value:
    """Define the sharding that a plain value says."""
    return sharding(
        value.grid,
        value.split_axes,
        halo_sizes=value.halo_sizes,
        sharded_dims_offsets=value.sharded_dims_offsets,
    )


def shard(tensor: ir.Value, sharding: ir.Value, *, annotate_for_users: bool = False) -> ir.Value:
    """Annotate what makes a tensor with a sharding, or what uses the result."""
    attributes = {"annotate_for_users": ir.UnitAttr.get()} if annotate_for_users else {}
    return _create("shard", (tensor, sharding), (tensor.type,), attributes).result


def get_sharding(tensor: ir.Value) -> ir.Value:
    """The sharding of a tensor."""
    return _create("get_sharding", (tensor,), (_sharding_type(),), {}).result


def shard_shape(
    dims: Sequence[Number], sharding: ir.Value, device: Sequence[Number]
) -> tuple[ir.Value, ...]:
    """The shape of the piece of a tensor of size `dims` on a device."""
    sizes, size_values = _numbers(dims)
    coordinates, coordinate_values = _numbers(device)
    segments = [len(size_values), 1, len(coordinate_values)]
    attributes = {
        "dims": sizes,
        "device": coordinates,
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }
    operands = [*size_values, sharding, *coordinate_values]
    return _indices("shard_shape", operands, len(dims), attributes)


# --- Queries ------------------------------------------------------------------------------------


def grid_shape(grid: str, axes: Sequence[int] = ()) -> tuple[ir.Value, ...]:
    """The number of devices along some axes, or along all."""
    count = len(axes) or _grid(grid).rank
    return _indices("grid_shape", (), count, _on(grid, axes=axes))


def process_multi_index(grid: str, axes: Sequence[int] = ()) -> tuple[ir.Value, ...]:
    """The coordinates of the device that runs the program along some axes, or along all."""
    count = len(axes) or _grid(grid).rank
    return _indices("process_multi_index", (), count, _on(grid, axes=axes))


def process_linear_index(grid: str) -> ir.Value:
    """The linear index of the device that runs the program."""
    return _indices("process_linear_index", (), 1, _on(grid))[0]


def neighbors_linear_indices(
    grid: str, device: Sequence[ir.Value], split_axes: Sequence[int]
) -> tuple[ir.Value, ...]:
    """The linear indices of the devices before and after one; -1 where there is none."""
    attributes = _on(grid, split_axes=split_axes)
    return _indices("neighbors_linear_indices", device, 2, attributes)


# --- Collectives --------------------------------------------------------------------------------


def all_gather(
    tensor: ir.Value, grid: str, gather_axis: int, *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """The pieces of all members of a group, behind each other in a dimension."""
    attributes = {**_on(grid, grid_axes=grid_axes), "gather_axis": _index(gather_axis)}
    result = _resized(tensor, gather_axis, _group_size(grid, grid_axes), 1)
    return _create("all_gather", (tensor,), (result,), attributes).result


def all_reduce(
    tensor: ir.Value,
    grid: str,
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """The tensors of all members of a group, combined."""
    attributes = {**_on(grid, grid_axes=grid_axes), "reduction": _reduction(reduction)}
    result = _converted(tensor, element_type)
    return _create("all_reduce", (tensor,), (result,), attributes).result


def all_slice(
    tensor: ir.Value, grid: str, slice_axis: int, *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """The piece of its own tensor that a member's place in its group stands for."""
    attributes = {**_on(grid, grid_axes=grid_axes), "slice_axis": _index(slice_axis)}
    result = _resized(tensor, slice_axis, 1, _group_size(grid, grid_axes))
    return _create("all_slice", (tensor,), (result,), attributes).result


def all_to_all(
    tensor: ir.Value,
    grid: str,
    split_axis: int,
    concat_axis: int,
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """One piece of each member's tensor, behind each other in a dimension."""
    attributes = {
        **_on(grid, grid_axes=grid_axes),
        "split_axis": _index(split_axis),
        "concat_axis": _index(concat_axis),
    }
    devices = _group_size(grid, grid_axes)
    result = tensor.type
    if split_axis != concat_axis:
        result = _resized(tensor, split_axis, 1, devices)
        result = _resized_type(result, concat_axis, devices, 1)
    return _create("all_to_all", (tensor,), (result,), attributes).result


def broadcast(
    tensor: ir.Value, grid: str, root: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """The tensor of one member, for the whole group."""
    return _with_device("broadcast", tensor, tensor.type, grid, grid_axes, {}, root)


def gather(
    tensor: ir.Value,
    grid: str,
    gather_axis: int,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """The pieces of all members behind each other, for one of them."""
    result = _resized(tensor, gather_axis, _group_size(grid, grid_axes), 1)
    attributes = {"gather_axis": _index(gather_axis)}
    return _with_device("gather", tensor, result, grid, grid_axes, attributes, root)


def reduce(
    tensor: ir.Value,
    grid: str,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """The tensors of all members combined, for one of them."""
    result = _converted(tensor, element_type)
    attributes = {"reduction": _reduction(reduction)}
    return _with_device("reduce", tensor, result, grid, grid_axes, attributes, root)


def reduce_scatter(
    tensor: ir.Value,
    grid: str,
    scatter_dim: int,
    *,
    grid_axes: Sequence[int] = (),
    reduction: ReductionKind = ReductionKind.SUM,
    element_type: ir.Type | None = None,
) -> ir.Value:
    """Each member's piece of the tensors of all, combined."""
    attributes = {
        **_on(grid, grid_axes=grid_axes),
        "reduction": _reduction(reduction),
        "scatter_dim": _index(scatter_dim),
    }
    result = _resized(tensor, scatter_dim, 1, _group_size(grid, grid_axes), element_type)
    return _create("reduce_scatter", (tensor,), (result,), attributes).result


def scatter(
    tensor: ir.Value,
    grid: str,
    scatter_dim: int,
    root: Sequence[Number],
    *,
    grid_axes: Sequence[int] = (),
) -> ir.Value:
    """Each member's piece of the tensor of one of them."""
    result = _resized(tensor, scatter_dim, 1, _group_size(grid, grid_axes))
    attributes = {"scatter_dim": _index(scatter_dim)}
    return _with_device("scatter", tensor, result, grid, grid_axes, attributes, root)


def send(
    tensor: ir.Value, grid: str, destination: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """Send a tensor to one member of the group."""
    name = "destination"
    return _with_device("send", tensor, tensor.type, grid, grid_axes, {}, destination, name)


def recv(
    tensor: ir.Value, grid: str, source: Sequence[Number], *, grid_axes: Sequence[int] = ()
) -> ir.Value:
    """What one member of the group sends; `tensor` says of what type it is."""
    return _with_device("recv", tensor, tensor.type, grid, grid_axes, {}, source, "source")


def shift(
    tensor: ir.Value,
    grid: str,
    shift_axis: int,
    offset: int,
    *,
    grid_axes: Sequence[int] = (),
    rotate: bool = False,
) -> ir.Value:
    """The tensor of the device `offset` further back along an axis of the grid."""
    attributes = {
        **_on(grid, grid_axes=grid_axes),
        "shift_axis": _index(shift_axis),
        "offset": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), offset),
        **({"rotate": ir.UnitAttr.get()} if rotate else {}),
    }
    return _create("shift", (tensor,), (tensor.type,), attributes).result


def update_halo(
    destination: ir.Value,
    grid: str,
    split_axes: Sequence[Sequence[int]],
    halo_sizes: Sequence[Number],
) -> ir.Value:
    """A tensor whose halos are filled with what the neighbours have there."""
    sizes, values = _numbers(halo_sizes)
    attributes = {
        "grid": ir.FlatSymbolRefAttr.get(grid),
        "split_axes": _axis_lists(split_axes),
        "static_halo_sizes": sizes,
    }
    operands = [destination, *values]
    return _create("update_halo", operands, (destination.type,), attributes).result


# --- Parts of operations ------------------------------------------------------------------------


def _create(
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute],
) -> ir.Operation:
    operation = ir.Operation.create(
        f"shard.{name}",
        results=list(results),
        operands=list(operands),
        attributes=dict(attributes),
    )
    try:
        check_operation(operation)
    except Exception:
        operation.erase()
        raise
    return operation


def _indices(
    name: str, operands: Sequence[ir.Value], count: int, attributes: Mapping[str, ir.Attribute]
) -> tuple[ir.Value, ...]:
    results = [ir.IndexType.get()] * count
    return tuple(_create(name, operands, results, attributes).results)


def _with_device(
    name: str,
    tensor: ir.Value,
    result: ir.Type,
    grid: str,
    grid_axes: Sequence[int],
    attributes: Mapping[str, ir.Attribute],
    device: Sequence[Number],
    device_name: str = "root",
) -> ir.Value:
    coordinates, values = _numbers(device)
    attributes = {**_on(grid, grid_axes=grid_axes), **attributes, device_name: coordinates}
    return _create(name, [tensor, *values], (result,), attributes).result


def _grid(name: str) -> Grid:
    """The grid of a name in the module around the current place."""
    block = ir.InsertionPoint.current.block
    owner = block.owner.operation
    module = owner if owner.name == "builtin.module" else enclosing_module(owner)
    grids = {} if module is None else grids_of(module)
    if name not in grids:
        known = ", ".join(f"'@{known}'" for known in grids) or "none"
        place = location_of(ir.Location.current)
        raise UsageError(error(f"there is no grid '@{name}' in the module; it has: {known}", place))
    return grids[name]


def _group_size(grid: str, axes: Sequence[int]) -> int:
    """The number of devices along axes; `DYNAMIC` if that isn't known."""
    found = _grid(grid)
    for axis in axes:
        if not 0 <= axis < found.rank:
            message = f"axis {axis} is out of range: grid '@{grid}' has {found.rank} axes"
            raise UsageError(error(message, location_of(ir.Location.current)))
    sizes = [found.shape[axis] for axis in axes]
    return DYNAMIC if DYNAMIC in sizes else found.axes_size(axes)


def _resized(
    tensor: ir.Value, dim: int, factor: int, divisor: int, element_type: ir.Type | None = None
) -> ir.Type:
    return _resized_type(_converted(tensor, element_type), dim, factor, divisor)


def _resized_type(tensor: ir.Type, dim: int, factor: int, divisor: int) -> ir.Type:
    """A tensor type with the size of one dimension changed; a bad dimension is checked later."""
    ranked = ir.RankedTensorType(tensor)
    shape = list(ranked.shape)
    if not 0 <= dim < len(shape):
        return tensor
    dynamic = ir.ShapedType.get_dynamic_size()
    is_known = shape[dim] != dynamic and DYNAMIC not in (factor, divisor)
    if is_known and shape[dim] % divisor:
        message = f"dimension {dim} of size {shape[dim]} is not divisible by {divisor} devices"
        raise UsageError(error(message, location_of(ir.Location.current)))
    shape[dim] = shape[dim] * factor // divisor if is_known else dynamic
    return ir.RankedTensorType.get(shape, ranked.element_type)


def _converted(tensor: ir.Value, element_type: ir.Type | None) -> ir.Type:
    if element_type is None:
        return tensor.type
    return ir.RankedTensorType.get(ir.RankedTensorType(tensor.type).shape, element_type)


def _on(grid: str, **axes: Sequence[int]) -> dict[str, ir.Attribute]:
    lists = {name: ir.DenseI16ArrayAttr.get(list(numbers)) for name, numbers in axes.items()}
    return {"grid": ir.FlatSymbolRefAttr.get(grid), **lists}


def _numbers(numbers: Sequence[Number]) -> tuple[ir.Attribute, list[ir.Value]]:
    static = [DYNAMIC if isinstance(number, ir.Value) else number for number in numbers]
    values = [number for number in numbers if isinstance(number, ir.Value)]
    return ir.DenseI64ArrayAttr.get(static), values


def _axis_lists(lists: Sequence[Sequence[int]]) -> ir.Attribute:
    """The attribute of lists of axes; upstream reads no empty one, so one list is always there."""
    text = ", ".join(str(list(axes)) for axes in lists or [()])
    return ir.Attribute.parse(f"#shard<axisarray[{text}]>")


def _reduction(kind: ReductionKind) -> ir.Attribute:
    return ir.Attribute.parse(f"#shard<partial {kind.keyword}>")


def _index(number: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IndexType.get(), number)


def _sharding_type() -> ir.Type:
    return ir.Type.parse("!shard.sharding")
