# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of the builders of the shard dialect: attributes, types of results, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.shard.reading import find_grid, grids_of
from mlir_sdy.shard.values import DYNAMIC, Grid, ReductionKind
from mlir_sdy.shard.verify import check_operation
from mlir_sdy.symbols import enclosing_module

Number = int | ir.Value
"""A static number, or a value that is computed when the program runs."""


def create(
    name: str,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute],
) -> ir.Operation:
    """Build and verify an operation of the dialect; an invalid one is erased."""
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


def create_indices(
    name: str, operands: Sequence[ir.Value], count: int, attributes: Mapping[str, ir.Attribute]
) -> tuple[ir.Value, ...]:
    """Build an operation with results of type `index`."""
    results = [ir.IndexType.get()] * count
    return tuple(create(name, operands, results, attributes).results)


def create_with_device(
    name: str,
    tensor: ir.Value,
    result: ir.Type,
    grid: str,
    grid_axes: Sequence[int],
    attributes: Mapping[str, ir.Attribute],
    device: Sequence[Number],
    device_name: str = "root",
) -> ir.Value:
    """Build a collective with a distinguished member of each group."""
    coordinates, values = numbers_attribute(device)
    attributes = {**on_grid(grid, grid_axes=grid_axes), **attributes, device_name: coordinates}
    return create(name, [tensor, *values], (result,), attributes).result


def grid_named(name: str) -> Grid:
    """Return the grid of a name in the module around the insertion point."""
    block = ir.InsertionPoint.current.block
    owner = block.owner.operation
    module = owner if owner.name == "builtin.module" else enclosing_module(owner)
    grid = None if module is None else find_grid(module, name)
    if grid is None:
        grids = {} if module is None else grids_of(module)
        known = ", ".join(f"'@{known}'" for known in grids) or "none"
        place = location_of(ir.Location.current)
        raise UsageError(error(f"there is no grid '@{name}' in the module; it has: {known}", place))
    return grid


def group_size(grid: str, axes: Sequence[int]) -> int:
    """Return the number of devices along axes; `DYNAMIC` if it is unknown."""
    found = grid_named(grid)
    for axis in axes:
        if not 0 <= axis < found.rank:
            message = f"axis {axis} is out of range: grid '@{grid}' has {found.rank} axes"
            raise UsageError(error(message, location_of(ir.Location.current)))
    sizes = [found.shape[axis] for axis in axes]
    return DYNAMIC if DYNAMIC in sizes else found.axes_size(axes)


def resized(
    tensor: ir.Value, dim: int, factor: int, divisor: int, element_type: ir.Type | None = None
) -> ir.Type:
    """Return a tensor's type with the size of one dimension and the element type replaced."""
    return resized_type(converted(tensor, element_type), dim, factor, divisor)


def resized_type(tensor: ir.Type, dim: int, factor: int, divisor: int) -> ir.Type:
    """Return a tensor type with the size of one dimension replaced, if it has that dimension."""
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


def converted(tensor: ir.Value, element_type: ir.Type | None) -> ir.Type:
    """Return the type of a tensor with another element type, if one is given."""
    if element_type is None:
        return tensor.type
    return ir.RankedTensorType.get(ir.RankedTensorType(tensor.type).shape, element_type)


def on_grid(grid: str, **axes: Sequence[int]) -> dict[str, ir.Attribute]:
    """Return the attributes for a grid and its axes."""
    lists = {name: ir.DenseI16ArrayAttr.get(list(numbers)) for name, numbers in axes.items()}
    return {"grid": ir.FlatSymbolRefAttr.get(grid), **lists}


def numbers_attribute(numbers: Sequence[Number]) -> tuple[ir.Attribute, list[ir.Value]]:
    """Return the attribute of numbers, and the values of dynamic ones."""
    static = [DYNAMIC if isinstance(number, ir.Value) else number for number in numbers]
    values = [number for number in numbers if isinstance(number, ir.Value)]
    return ir.DenseI64ArrayAttr.get(static), values


def axis_lists_attribute(lists: Sequence[Sequence[int]]) -> ir.Attribute:
    """Return the attribute of lists of axes: at least one, since upstream can't parse none."""
    text = ", ".join(str(list(axes)) for axes in lists or [()])
    return ir.Attribute.parse(f"#shard<axisarray[{text}]>")


def reduction_attribute(kind: ReductionKind) -> ir.Attribute:
    """The attribute of a kind of reduction."""
    return ir.Attribute.parse(f"#shard<partial {kind.keyword}>")


def index_attribute(number: int) -> ir.IntegerAttr:
    """An attribute of type `index`."""
    return ir.IntegerAttr.get(ir.IndexType.get(), number)


def sharding_type() -> ir.Type:
    """The type of shardings."""
    return ir.Type.parse("!shard.sharding")
