# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of operations of the shard dialect to plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator

from mlir_sdy.host import ir
from mlir_sdy.shard.values import DYNAMIC, Axes, Grid, GridSharding, ReductionKind
from mlir_sdy.traversal import operations_in

_MARK = "shard."


def is_shard_operation(operation: ir.Operation | ir.OpView) -> bool:
    """Whether an operation is of the shard dialect."""
    return operation.operation.name.startswith(_MARK)


def shard_operations(root: ir.Module | ir.Operation | ir.OpView) -> list[ir.Operation]:
    """Return the operations of the dialect in `root`, in the order of the text."""
    views = operations_in(root.operation)
    return [view.operation for view in views if is_shard_operation(view)]


def has_grids(root: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Whether a module, or one directly in it, has a grid; functions are not visited."""
    return any(True for _ in _grid_operations(root.operation))


def _grid_operations(root: ir.Operation) -> Iterator[ir.Operation]:
    if root.name != "builtin.module":
        return
    for view in root.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "shard.grid":
            yield operation
        yield from _grid_operations(operation)


def grids_of(module: ir.Module | ir.Operation | ir.OpView) -> dict[str, Grid]:
    """The grids declared directly in a module, by name."""
    return {
        view.operation.attributes["sym_name"].value: read_grid(view.operation)
        for view in module.operation.regions[0].blocks[0].operations
        if view.operation.name == "shard.grid"
    }


def find_grid(module: ir.Operation, name: str) -> Grid | None:
    """Return the first grid of a name in a module, or None."""
    for view in module.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "shard.grid" and operation.attributes["sym_name"].value == name:
            return read_grid(operation)
    return None


def read_grid(operation: ir.Operation) -> Grid:
    """Return the grid that a `shard.grid` declares."""
    return Grid(tuple(operation.attributes["shape"]))


def read_sharding(operation: ir.Operation) -> GridSharding:
    """Return the sharding that a `shard.sharding` defines."""
    attributes = operation.attributes
    return GridSharding(
        attributes["grid"].value,
        split_axes(operation),
        tuple(attributes["static_halo_sizes"]),
        tuple(attributes["static_sharded_dims_offsets"]),
    )


def axis_lists(attribute: ir.Attribute) -> tuple[Axes, ...]:
    """The lists of axes in an attribute such as `#shard<axisarray[[0], []]>`."""
    text = str(attribute)
    lists: list[list[int]] = json.loads(text[text.index("[") : text.rindex("]") + 1])
    return tuple(map(tuple, lists))


def grid_name(operation: ir.Operation) -> str | None:
    """Return the name of the grid that an operation refers to; None if it refers to none."""
    attribute = operation.attributes.get("grid")
    return None if attribute is None else attribute.value


def grid_of(operation: ir.Operation) -> str:
    """Return the name of the grid of a collective or another operation that requires one."""
    return operation.attributes["grid"].value


def split_axes(operation: ir.Operation) -> tuple[Axes, ...]:
    """Return the axes of each dimension of a `shard.sharding` or a `shard.update_halo`."""
    return axis_lists(operation.attributes["split_axes"])


def integer(operation: ir.Operation, name: str) -> int:
    """Return an integer attribute of an operation, such as the dimension of a collective."""
    return int(operation.attributes[name].value)


def integers(operation: ir.Operation, name: str) -> tuple[int, ...]:
    """Return an array attribute of an operation, with `DYNAMIC` for values of operands."""
    return tuple(operation.attributes[name])


def has_flag(operation: ir.Operation, name: str) -> bool:
    """Whether an operation has a unit attribute, such as `rotate`."""
    return name in operation.attributes


def grid_axes(operation: ir.Operation, name: str = "grid_axes") -> Axes:
    """Return the grid axes of an operation; none if it has none."""
    attribute = operation.attributes.get(name)
    return () if attribute is None else tuple(attribute)


def reduction_kind(operation: ir.Operation) -> ReductionKind:
    """Return the kind of reduction of an operation."""
    attribute = operation.attributes.get("reduction")
    if attribute is None:
        return ReductionKind.SUM
    word = str(attribute).removeprefix("#shard<partial ").removesuffix(">")
    return ReductionKind[word.upper()]


def index_list(
    operation: ir.Operation, name: str, first_operand: int
) -> tuple[int | ir.Value, ...]:
    """Return a list of numbers, each in an attribute or an operand: `root = [0, %i]`.

    Args:
        operation: the operation.
        name: the attribute.
        first_operand: the index of the first operand of the list.
    """
    attribute = operation.attributes.get(name)
    operands = iter(list(operation.operands)[first_operand:])
    numbers = () if attribute is None else tuple(attribute)
    return tuple(next(operands) if number == DYNAMIC else number for number in numbers)
