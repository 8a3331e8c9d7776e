# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-prepare-for-mpi`: rewrite collectives that upstream lowers incorrectly.

    %0 = shard.shift %a on @grid grid_axes = [0] shift_axis = 0 offset = 1 : ...

becomes a `shard.all_gather` of a vector along that axis, of which each process takes a slice.

It is `shard-to-stablehlo` with another builder: see `builder`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, Mesh
from mlir_sdy.shard import building
from mlir_sdy.shard.values import Axes, Grid, ReductionKind
from pyshardy.irtools.functions import FreshNames
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.passes.shard.shard_to_stablehlo import lower_collectives
from pyshardy.pipeline import register_pass
from pyshardy.shard.lowering.builder import KINDS, GridBuilder, Pairs
from pyshardy.shard.lowering.device_values import DeviceValues
from pyshardy.shard.refinement import axes_apart

_KNOWN = frozenset({"f32", "f64", "i8", "i16", "i32", "i64"})
_SHORT_FLOATS = frozenset({"f16", "bf16"})


@register_pass("shard-prepare-for-mpi")
def shard_prepare_for_mpi(module: ir.Module) -> None:
    """Rewrite collectives into those that convert-shard-to-mpi lowers correctly.

    Upstream's `convert-shard-to-mpi` lowers a part of the dialect, and some of it incorrectly. This
    pass runs before it:

    - Collectives over no axes, or over a single device, are replaced by their operands.
    - If a collective uses all axes, the grid gets an additional axis of size 1, since upstream
      ignores the order of the axes otherwise.
    - `all_to_all`, `broadcast`, `gather`, `reduce`, `scatter` and `shift` become all-gathers and
      all-reduces, with a slice for each process.
    - An average becomes a sum and a division.
    - All other unsupported operations are errors: generic reductions, sends and receives, halos
      along several axes, grids of dynamic size, annotations.

    Raises:
        PassError: an operation can't be expressed by these.
    """
    lower_collectives(module, _MpiBuilder)


class _MpiBuilder(GridBuilder):
    """Builds the replacements of StableHLO's collectives.

    1. All-reduces, and reduce-scatters of the first dimension, of element types of MPI.
    2. All-gathers of vectors of at least two elements: upstream can't gather fewer.
    3. The linear index of the process.

    Other collectives become all-gathers, from which each process slices its part by a table.

    Args:
        module: the module, for further grids.
        grids: its grids, by name.
        device_values: the known integers of the program.
    """

    def __init__(self, module: ir.Module, grids: Mapping[str, Grid], device_values: DeviceValues):
        super().__init__(grids, device_values, replicas=False, first_channel=1)
        self._module = module
        self._fresh_names = FreshNames(module)
        self._name_of = {mesh: name for name, mesh in self.meshes.items()}
        self._ordered: dict[str, str] = {}

    def _device_id(self) -> ir.Value:
        """Build the linear index of the process, as an i64 scalar."""
        index = building.process_linear_index(next(iter(self.grids)))
        integer = ir.IntegerType.get_signless(64)
        number = self.create("arith.index_cast", (index,), (integer,)).result
        scalar = ir.RankedTensorType.get([], integer)
        return self.create("tensor.from_elements", (number,), (scalar,)).result

    def all_gather(
        self, value: ir.Value, dim: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Gather along a new dimension, and merge it with the requested one."""
        return self._merged(self._gathered(value, self._name_of[mesh], _numbers(axes)), dim)

    def all_reduce(
        self, value: ir.Value, operation: str, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Reduce in an element type of MPI."""
        if not axes:
            return value
        grid, ordered = self._along(self._name_of[mesh], _numbers(axes))
        element_type = ir.RankedTensorType(value.type).element_type
        kind = KINDS[operation]
        value = _in_elements(value, _reduced_type(element_type, kind), self)
        value = building.all_reduce(value, grid, grid_axes=ordered, reduction=kind)
        return _in_elements(value, element_type, self)

    def reduce_scatter(
        self, value: ir.Value, dim: int, operation: str, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Reduce-scatter the first dimension, after transposing the requested one to it."""
        grid, ordered = self._along(self._name_of[mesh], _numbers(axes))
        tensor = ir.RankedTensorType(value.type)
        kind: ReductionKind = KINDS[operation]
        order = [dim, *(other for other in range(tensor.rank) if other != dim)]
        value = _in_elements(value, _reduced_type(tensor.element_type, kind), self)
        value = self.transpose(value, order)
        value = building.reduce_scatter(value, grid, 0, grid_axes=ordered, reduction=kind)
        value = self.transpose(value, [order.index(other) for other in range(tensor.rank)])
        return _in_elements(value, tensor.element_type, self)

    def all_to_all(
        self, value: ir.Value, split: int, concat: int, axes: Sequence[AxisRef], mesh: Mesh
    ) -> ir.Value:
        """Gather, and slice this process's part of each member's tensor."""
        name = self._name_of[mesh]
        grid, numbers = self.grids[name], _numbers(axes)
        every = self._gathered(value, name, numbers)
        size = ir.RankedTensorType(value.type).shape[split] // mesh.axes_size(axes)
        places = [grid.coordinates(device) for device in range(grid.size)]
        own = np.array([grid.index_in_group(place, numbers) for place in places], np.int64)
        return self._merged(self.piece(every, split + 1, own, size), concat)

    def permute(self, value: ir.Value, pairs: Pairs) -> ir.Value:
        """Gather along the axes between senders and receivers, and select the sender's tensor."""
        if not pairs:
            return self.splat(value.type, 0)
        name, grid = next(iter(self.grids.items()))
        axes = axes_apart(pairs, grid)
        source = np.zeros(grid.size, np.int64)
        gets = np.zeros(grid.size, np.bool_)
        for sender, receiver in pairs:
            source[receiver] = grid.index_in_group(grid.coordinates(sender), axes)
            gets[receiver] = True
        shape = list(shape_of(value.type))
        taken = self.piece(self._gathered(value, name, axes), 0, source, 1)
        return self.select_on_devices(gets, self.reshape(taken, shape), self.splat(value.type, 0))

    # --- Parts --------------------------------------------------------------------------------

    def _along(self, name: str, axes: Axes) -> tuple[str, Axes]:
        """Return a grid and axes for which upstream preserves the order of a group.

        If the axes are all axes of the grid, upstream uses all processes in linear order. A grid
        with an additional axis of size 1 avoids this.
        """
        if len(axes) < self.grids[name].rank or list(axes) == sorted(axes):
            return name, axes
        if name not in self._ordered:
            ordered = self._fresh_names.name(f"{name}_in_order")
            with ir.InsertionPoint.at_block_begin(self._module.body):
                building.grid(ordered, (1, *self.grids[name].shape))
            self._ordered[name] = ordered
        return self._ordered[name], tuple(axis + 1 for axis in axes)

    def _gathered(self, value: ir.Value, name: str, axes: Axes) -> ir.Value:
        """Gather the tensors of all members of a group along a new first dimension."""
        tensor = ir.RankedTensorType(value.type)
        members = self.grids[name].axes_size(axes)
        count = math.prod(tensor.shape)
        if not axes:
            return self.reshape(value, [1, *tensor.shape])
        if not count:
            return self.splat(with_shape(tensor, [members, *tensor.shape]), 0)
        flat = self.reshape(_in_elements(value, _moved_type(tensor.element_type), self), [count])
        if count == 1:
            flat = self._doubled(flat)
        grid, ordered = self._along(name, axes)
        every = building.all_gather(flat, grid, 0, grid_axes=ordered)
        if count == 1:
            every = self.slice_dim(self.reshape(every, [members, 2]), 1, 0, 1)
        every = self.reshape(every, [members, *tensor.shape])
        return _in_elements(every, tensor.element_type, self)

    def _doubled(self, vector: ir.Value) -> ir.Value:
        """Return a vector of two copies of the element of a vector."""
        return self.broadcast_in_dim(vector, [2], [0])

    def _merged(self, value: ir.Value, dim: int) -> ir.Value:
        """Move the first dimension before another one, and merge the two."""
        count, *shape = ir.RankedTensorType(value.type).shape
        rank = len(shape)
        order = [*range(1, dim + 1), 0, *range(dim + 1, rank + 1)]
        shape[dim] *= count
        return self.reshape(self.transpose(value, order), shape)


def _numbers(axes: Sequence[AxisRef]) -> Axes:
    """Return the grid axes of mesh axes."""
    return tuple(int(axis.name) for axis in axes)


# --- Element types of MPI ------------------------------------------------------------------------


def _moved_type(element_type: ir.Type) -> ir.Type:
    """Return the element type for communication.

    Raises:
        PassError: there is none.
    """
    if str(element_type) in _KNOWN:
        return element_type
    if str(element_type) in _SHORT_FLOATS:
        return ir.IntegerType.get_signless(16)
    if isinstance(element_type, ir.IntegerType) and element_type.width in {1, 8, 16, 32, 64}:
        return ir.IntegerType.get_signless(max(element_type.width, 8))
    raise _refusal(f"MPI has no elements of type {element_type}")


def _reduced_type(element_type: ir.Type, kind: ReductionKind) -> ir.Type:
    """Return the element type for reductions.

    Raises:
        PassError: there is none.
    """
    if str(element_type) in _SHORT_FLOATS:
        return ir.F32Type.get()
    is_ordering = kind in {ReductionKind.MAX, ReductionKind.MIN}
    if is_ordering and isinstance(element_type, ir.IntegerType) and element_type.is_unsigned:
        raise _refusal(f"MPI would compare elements of type {element_type} as signed numbers")
    return _moved_type(element_type)


def _in_elements(value: ir.Value, element_type: ir.Type, builder: GridBuilder) -> ir.Value:
    """Convert a tensor to another element type: by a bitcast for equal widths, else by value.

    | elements           | to move           | to reduce                                   |
    |--------------------|-------------------|---------------------------------------------|
    | f32, f64, i8 - i64 | unchanged         | unchanged                                   |
    | ui8 - ui64         | the same bits     | the same bits; an error for max and min     |
    | f16, bf16          | the same bits     | f32, rounded afterwards                     |
    | i1                 | i8                | i8                                          |
    | others             | an error          | an error                                    |
    """
    held = element_type_of(value.type)
    if held == element_type or _bits(held) != _bits(element_type):
        return builder.convert(value, element_type)
    return builder.bitcast_convert(value, element_type)


def _bits(element_type: ir.Type) -> int:
    return int(str(element_type).lstrip("bfui"))


def _refusal(reason: str) -> PassError:
    place = location_of(ir.Location.current)
    return PassError(error(f"cannot run on MPI: {reason}", place))
