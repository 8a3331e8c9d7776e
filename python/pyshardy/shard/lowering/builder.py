# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builder of StableHLO on a grid, the registry of its lowerings, and kinds of reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, AxisTuple, Mesh
from mlir_sdy.shard.reading import grid_axes, grid_of, reduction_kind
from mlir_sdy.shard.values import Axes, Grid, ReductionKind
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.device_values import DeviceValues, Known

Pairs = Sequence[tuple[int, int]]
"""Pairs of source and target devices."""

_Lowering = Callable[[ir.Operation, "GridBuilder"], ir.Value]
"""Builds the replacement of an operation's result, before the operation."""

LOWERINGS: dict[str, _Lowering] = {}


class GridBuilder(LocalBuilder):
    """Builds StableHLO operations before the operation that is being lowered.

    Args:
        grids: the grids of the module, by name; all have as many devices.
        device_values: the known integers of the program.
        replicas: whether devices are the replicas of one program rather than its partitions.
        first_channel: the first channel id that collectives of the module may use.
    """

    def __init__(
        self,
        grids: Mapping[str, Grid],
        device_values: DeviceValues,
        *,
        replicas: bool,
        first_channel: int,
    ):
        meshes = {name: mesh_of_grid(grid) for name, grid in grids.items()}
        super().__init__(meshes, replicas=replicas, first_channel=first_channel)
        self.grids = grids
        self.device_values = device_values

    def place(self, operation: ir.Operation) -> tuple[Grid, Axes, Mesh, AxisTuple]:
        """Return the grid and the axes of a collective, also as a mesh and its axes."""
        name = grid_of(operation)
        axes = grid_axes(operation)
        return self.grids[name], axes, self.meshes[name], mesh_axes(axes)

    # --- Tensors ----------------------------------------------------------------------------

    def piece(self, value: ir.Value, dim: int, index: Known, size: int) -> ir.Value:
        """Slice the shard of an index out of a dimension that is split into shards of a size."""
        if isinstance(index, np.ndarray) and (index == index[0]).all():
            return self.slice_dim(value, dim, int(index[0]) * size, size)
        start = self.scalar(index)
        if size != 1:
            start = self.binary("multiply", start, self.index(size))
        return self.slice_dim_at(value, dim, start, size)

    def slice_dim_at(self, value: ir.Value, dim: int, start: ir.Value, size: int) -> ir.Value:
        """Slice a dimension at a dynamic start, an i64 scalar."""
        sizes = list(shape_of(value.type))
        sizes[dim] = size
        starts = [start if at == dim else self.index(0) for at in range(len(sizes))]
        return self.dynamic_slice(value, starts, sizes)

    def scalar(self, value: Known) -> ir.Value:
        """Build an integer as an i64 scalar, by a table if it differs between devices."""
        if not isinstance(value, np.ndarray):
            return self.convert(value, ir.IntegerType.get_signless(64))
        if (value == value[0]).all():
            return self.index(int(value[0]))
        if (value == np.arange(len(value))).all():
            return self.device_id()
        return self.per_device(value)

    def select_on_devices(self, holds: np.ndarray, value: ir.Value, other: ir.Value) -> ir.Value:
        """Select a tensor on the devices where a condition holds, and another one elsewhere."""
        if holds.all():
            return value
        if not holds.any():
            return other
        predicate = self.compare("EQ", self.scalar(holds.astype(np.int64)), self.index(1))
        return self.select(predicate, value, other)

    # --- Collectives ------------------------------------------------------------------------

    def permute(self, value: ir.Value, pairs: Pairs) -> ir.Value:
        """Build a collective permute; devices without a source receive zeros."""
        if not pairs:
            return self.splat(value.type, 0)
        return self.collective_permute(value, pairs)

    def average(self, value: ir.Value, count: int) -> ir.Value:
        """Divide a tensor by a number."""
        return self.binary("divide", value, self.splat(value.type, count))


def mesh_of_grid(grid: Grid) -> Mesh:
    """Return a grid as a mesh whose axes are named by their numbers."""
    return Mesh.of({str(axis): size for axis, size in enumerate(grid.shape)})


def mesh_axes(axes: Sequence[int]) -> AxisTuple:
    """Return the mesh axes of grid axes."""
    return tuple(AxisRef(str(axis)) for axis in axes)


def check_static(operation: ir.Operation) -> None:
    """Check that the types of a collective are tensors of static shape.

    Raises:
        PassError: one isn't.
    """
    for value in (operation.operands[0], operation.results[0]):
        if not isinstance(value.type, ir.RankedTensorType):
            raise cannot_lower(operation, f"{value.type} is not a tensor: StableHLO has no buffers")
        if not value.type.has_static_shape:
            raise cannot_lower(operation, f"{value.type} has dynamic dimensions")
        if isinstance(value.type.element_type, ir.IndexType):
            raise cannot_lower(operation, f"{value.type}: StableHLO has no 'index'; cast to i64")


def lowers(*names: str) -> Callable[[_Lowering], _Lowering]:
    """Register a function as the lowering of the named operations."""

    def register(lowering: _Lowering) -> _Lowering:
        for name in names:
            LOWERINGS[name] = lowering
        return lowering

    return register


# --- Kinds of reductions --------------------------------------------------------------------------


_OPERATIONS = {
    ReductionKind.SUM: "stablehlo.add",
    ReductionKind.AVERAGE: "stablehlo.add",  # and a division afterwards
    ReductionKind.PRODUCT: "stablehlo.multiply",
    ReductionKind.MAX: "stablehlo.maximum",
    ReductionKind.MIN: "stablehlo.minimum",
    ReductionKind.BITWISE_AND: "stablehlo.and",
    ReductionKind.BITWISE_OR: "stablehlo.or",
    ReductionKind.BITWISE_XOR: "stablehlo.xor",
}
KINDS = {name: kind for kind, name in _OPERATIONS.items() if kind is not ReductionKind.AVERAGE}
"""The reduction kind of each StableHLO operation."""

_BITWISE = frozenset(
    {ReductionKind.BITWISE_AND, ReductionKind.BITWISE_OR, ReductionKind.BITWISE_XOR}
)


def reducing_operation(operation: ir.Operation, element_type: ir.Type) -> str:
    """Return the StableHLO operation that combines two elements.

    1. `generic` has no defined operation.
    2. Bitwise kinds require integers, and an average requires floating-point or complex numbers.
    3. For booleans, StableHLO's sum and maximum are `or`, whereas MLIR's arithmetic is modulo 2
       with -1 as true. Only bitwise kinds agree.
    4. Complex numbers have no order.

    Raises:
        PassError: there is none.
    """
    kind = reduction_kind(operation)
    is_integer = isinstance(element_type, ir.IntegerType)
    if kind is ReductionKind.GENERIC:
        reason = "a 'generic' reduction does not define how it combines elements"
        raise cannot_lower(operation, reason)
    if kind in _BITWISE and not is_integer:
        raise cannot_lower(operation, f"'{kind.keyword}' needs integers, not {element_type}")
    if (
        isinstance(element_type, ir.IntegerType)
        and element_type.width == 1
        and kind not in _BITWISE
    ):
        hint = "use 'bitwise_and', 'bitwise_or' or 'bitwise_xor'"
        reason = f"'{kind.keyword}' of booleans differs between MLIR and StableHLO; {hint}"
        raise cannot_lower(operation, reason)
    if kind is ReductionKind.AVERAGE and is_integer:
        reason = f"an average of {element_type} would be rounded; convert it to floating point"
        raise cannot_lower(operation, reason)
    has_no_order = isinstance(element_type, ir.ComplexType)
    if kind in {ReductionKind.MAX, ReductionKind.MIN} and has_no_order:
        raise cannot_lower(
            operation, f"'{kind.keyword}' requires ordered elements, not {element_type}"
        )
    return _OPERATIONS[kind]
