# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile-time values of integers that depend on the device only.

The value of such an integer is a table with an entry for each device of the grid. In a grid of 2x2:

    %column = shard.process_multi_index on @grid axes = [1] : index      // [0, 1, 0, 1]
    %next = arith.addi %column, %one : index                             // [1, 2, 1, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grid_axes, grid_name, index_list, integers, read_sharding
from mlir_sdy.shard.values import DYNAMIC, Grid, GridSharding
from pyshardy.irtools.stablehlo_views import CmpiView, ConstantView

Table = np.ndarray
"""An integer for each device, by its linear index. Booleans are 0 and 1."""

Known = Table | ir.Value
"""A table; or a tensor of rank 0 with the number at run time."""

_Arithmetic = Callable[[Table, Table], Table | None]


def _quotient(left: Table, right: Table) -> Table | None:
    """Division that rounds towards zero."""
    if (right == 0).any():
        return None
    return np.sign(left) * np.sign(right) * (np.abs(left) // np.abs(right))


def _remainder(left: Table, right: Table) -> Table | None:
    quotient = _quotient(left, right)
    return None if quotient is None else left - quotient * right


def _floor(left: Table, right: Table) -> Table | None:
    return None if (right == 0).any() else left // right


def _ceiling(left: Table, right: Table) -> Table | None:
    return None if (right == 0).any() else -(-left // right)


def _of_unsigned(operation: _Arithmetic) -> _Arithmetic:
    """Return an operation for non-negative numbers only, for which signedness doesn't matter."""

    def checked(left: Table, right: Table) -> Table | None:
        return None if (left < 0).any() or (right < 0).any() else operation(left, right)

    return checked


_ARITHMETIC: dict[str, _Arithmetic] = {
    "arith.addi": np.add,
    "arith.andi": np.bitwise_and,
    "arith.ceildivsi": _ceiling,
    "arith.ceildivui": _of_unsigned(_ceiling),
    "arith.divsi": _quotient,
    "arith.divui": _of_unsigned(_quotient),
    "arith.floordivsi": _floor,
    "arith.maxsi": np.maximum,
    "arith.maxui": _of_unsigned(np.maximum),
    "arith.minsi": np.minimum,
    "arith.minui": _of_unsigned(np.minimum),
    "arith.muli": np.multiply,
    "arith.ori": np.bitwise_or,
    "arith.remsi": _remainder,
    "arith.remui": _of_unsigned(_remainder),
    "arith.subi": np.subtract,
    "arith.xori": np.bitwise_xor,
}

# The predicates of `arith.cmpi`, by their numbers.
_COMPARISONS: tuple[_Arithmetic, ...] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    _of_unsigned(np.less),
    _of_unsigned(np.less_equal),
    _of_unsigned(np.greater),
    _of_unsigned(np.greater_equal),
)

_CASTS = frozenset({"arith.extsi", "arith.index_cast", "arith.extui", "arith.index_castui"})


class DeviceValues:
    """The known integers of a program, collected operation by operation.

    Args:
        grids: the grids, by name, which all have as many devices.
    """

    def __init__(self, grids: Mapping[str, Grid]):
        self._grids = grids
        self._size = next(iter(grids.values())).size
        self._known: dict[ir.Value, Known] = {}
        self._shardings: dict[ir.Value, GridSharding] = {}
        self.operations: list[ir.Operation] = []
        """The operations that are computed at compile time, in order; they may be erased."""

    def known(self, number: int | ir.Value) -> Known | None:
        """Return the known value of a number, or None."""
        if isinstance(number, int):
            return np.full(self._size, number, np.int64)
        return self._known.get(number)

    def table(self, number: int | ir.Value) -> Table | None:
        """Return the value of a number on each device, or None if unknown."""
        known = self.known(number)
        return known if isinstance(known, np.ndarray) else None

    def learn(self, operation: ir.Operation) -> None:
        """Record the results of an operation; its operands must be recorded before."""
        self._note_sharding(operation)
        if (tensor := self._scalar_tensor(operation)) is not None:
            self.operations.append(operation)
            self._known[operation.results[0]] = tensor
        elif (tables := self._evaluated(operation)) is not None:
            self.operations.append(operation)
            for result, table in zip(operation.results, tables, strict=True):
                self._known[result] = _wrapped(np.asarray(table, np.int64), result.type)

    def _scalar_tensor(self, operation: ir.Operation) -> ir.Value | None:
        """Return the tensor of rank 0 whose element an operation extracts, or None."""
        if operation.name == "tensor.extract" and len(operation.operands) == 1:
            element = operation.results[0].type
            is_integer = isinstance(element, (ir.IntegerType, ir.IndexType))
            return operation.operands[0] if is_integer else None
        if operation.name in _CASTS:
            source = self.known(operation.operands[0])
            return source if isinstance(source, ir.Value) else None
        return None

    def _note_sharding(self, operation: ir.Operation) -> None:
        if operation.name == "shard.sharding":
            self._shardings[operation.results[0]] = read_sharding(operation)
        elif operation.name == "shard.get_sharding":
            source = operation.operands[0]
            if not isinstance(source, ir.BlockArgument):
                annotation = source.owner.operation
                if annotation.name == "shard.shard":
                    known = self._shardings.get(annotation.operands[1])
                    if known is not None:
                        self._shardings[operation.results[0]] = known

    def _evaluated(self, operation: ir.Operation) -> Sequence[Table] | None:
        name = operation.name
        if name == "arith.constant":
            value = ConstantView(operation).value
            if isinstance(value, ir.IntegerAttr):
                return [np.full(self._size, int(value.value), np.int64)]
            return None
        if name in _ARITHMETIC or name in {"arith.cmpi", "arith.select", "arith.trunci", *_CASTS}:
            return self._calculated(operation)
        if name.startswith("shard."):
            return self._queried(operation)
        return None

    def _calculated(self, operation: ir.Operation) -> Sequence[Table] | None:
        operands = [self.table(operand) for operand in operation.operands]
        tables = [table for table in operands if table is not None]
        if len(tables) < len(operands):
            return None
        name = operation.name
        if name == "arith.select":
            return [np.where(tables[0] != 0, tables[1], tables[2])]
        if name == "arith.extsi" and _width(operation.operands[0].type) == 1:
            return [-tables[0]]  # "true" is -1
        if len(tables) == 1:
            return tables
        left, right = tables
        if name == "arith.cmpi":
            predicate = CmpiView(operation).predicate
            return _listed(_COMPARISONS[predicate](left, right))
        return _listed(_ARITHMETIC[name](left, right))

    # --- Queries ------------------------------------------------------------------------------

    def _queried(self, operation: ir.Operation) -> Sequence[Table] | None:
        if operation.name == "shard.shard_shape":
            return self._shard_shape(operation)
        name = grid_name(operation)
        grid = None if name is None else self._grids.get(name)
        if grid is None:
            return None
        match operation.name:
            case "shard.process_linear_index":
                return [np.arange(grid.size)]
            case "shard.process_multi_index":
                axes = grid_axes(operation, "axes") or grid.all_axes
                coordinates = np.array([grid.coordinates(device) for device in range(grid.size)])
                return [coordinates[:, axis] for axis in axes]
            case "shard.grid_shape":
                axes = grid_axes(operation, "axes") or grid.all_axes
                return [np.full(grid.size, grid.shape[axis]) for axis in axes]
            case "shard.neighbors_linear_indices":
                return self._neighbors(operation, grid)
            case _:
                return None

    def _neighbors(self, operation: ir.Operation, grid: Grid) -> Sequence[Table] | None:
        coordinates = self._tables(list(operation.operands))
        if coordinates is None:
            return None
        axes = grid_axes(operation, "split_axes")
        found = [
            grid.neighbors([int(at) for at in place], axes)
            for place in zip(*coordinates, strict=True)
        ]
        return [np.array(indices) for indices in zip(*found, strict=True)]

    def _shard_shape(self, operation: ir.Operation) -> Sequence[Table] | None:
        position = integers(operation, "dims").count(DYNAMIC)
        sharding = self._shardings.get(operation.operands[position])
        if sharding is None or not sharding.is_static:
            return None
        grid = self._grids[sharding.grid]
        dims = self._tables(index_list(operation, "dims", 0))
        device = self._tables(index_list(operation, "device", position + 1))
        if dims is None or device is None:
            return None
        shapes = [
            sharding.local_shape(
                [int(size[at]) for size in dims], grid, [int(each[at]) for each in device]
            )
            for at in range(grid.size)
        ]
        return [np.array(sizes) for sizes in zip(*shapes, strict=True)]

    def _tables(self, numbers: Sequence[int | ir.Value]) -> list[Table] | None:
        tables = [self.table(number) for number in numbers]
        found = [table for table in tables if table is not None]
        return found if len(found) == len(tables) else None


def _listed(table: Table | None) -> list[Table] | None:
    return None if table is None else [table]


def _width(scalar: ir.Type) -> int:
    return scalar.width if isinstance(scalar, ir.IntegerType) else 64


def _wrapped(table: Table, scalar: ir.Type) -> Table:
    """Return numbers wrapped to the range of a type; booleans are 0 and 1."""
    width = _width(scalar)
    if width == 1:
        return table & 1
    if width >= 64:
        return table
    half = 1 << (width - 1)
    return ((table + half) & ((1 << width) - 1)) - half
