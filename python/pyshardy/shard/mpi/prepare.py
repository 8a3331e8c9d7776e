# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `shard-prepare-for-mpi`: only collectives that upstream lowers to MPI soundly.

What is left for upstream's `convert-shard-to-mpi`:

1. all-reduces of MPI's own types, along some axes;
2. all-gathers of vectors of at least two elements, along some axes;
3. reduce-scatters of the first dimension;
4. halo exchanges along one axis for each dimension;
5. the indices of the process.

All else is made of these, and of StableHLO. A device takes its piece by a table of its index.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard import building
from mlir_sdy.shard.reading import (
    axis_lists,
    grid_axes,
    grids_of,
    reduction_kind,
    shard_operations,
)
from mlir_sdy.shard.values import DYNAMIC, Axes, Grid, ReductionKind
from mlir_sdy.traversal import operations_in
from pyshardy.partition.local_checks import check_no_inner_modules
from pyshardy.passes.symbols import FreshNames
from pyshardy.shard.errors import refusal
from pyshardy.shard.lowering.builder import GridBuilder, check_static
from pyshardy.shard.lowering.device_values import DeviceValues
from pyshardy.shard.lowering.reductions import reducing_operation
from pyshardy.shard.lowering.rooted import root_index
from pyshardy.shard.mpi.elements import MPI, in_elements, moved_type, reduced_type

_Preparation = Callable[[ir.Operation, "_MpiBuilder"], ir.Value]

_PREPARATIONS: dict[str, _Preparation] = {}

_WITHOUT_MPI = frozenset({"shard.recv", "shard.send"})
_ABOUT_GLOBAL_TENSORS = frozenset({"shard.get_sharding", "shard.shard", "shard.sharding"})


def shard_prepare_for_mpi(module: ir.Module) -> None:
    """Rewrite the collectives of a module to those that upstream lowers soundly.

    Raises:
        PassError: something can't be expressed by these.
    """
    found = shard_operations(module)
    if not found:
        return
    check_no_inner_modules([view.operation for view in operations_in(module.operation)][1:])
    for operation in found:
        _check(operation)
    builder = _MpiBuilder(module)
    for view in operations_in(module.operation):
        builder.device_values.learn(view.operation)
    for operation in found:
        if operation.name in _PREPARATIONS:
            check_static(operation)
            with ir.InsertionPoint(operation), operation.location:
                value = _PREPARATIONS[operation.name](operation, builder)
            operation.results[0].replace_all_uses_with(value)
            operation.erase()


def _check(operation: ir.Operation) -> None:
    name = operation.name
    if name == "shard.grid":
        if DYNAMIC in tuple(operation.attributes["shape"]):
            raise refusal(MPI, "a grid of unknown size has no known communicators", operation)
    elif name in _WITHOUT_MPI:
        reason = f"upstream does not lower '{name}'; say what moves by 'shard.shift'"
        raise refusal(MPI, reason, operation)
    elif name in _ABOUT_GLOBAL_TENSORS:
        mend = "partition the program first: 'convert-shard-to-sdy', then 'sdy-partition-pipeline'"
        raise refusal(MPI, f"'{name}' is about global tensors; {mend}", operation)
    elif name == "shard.update_halo":
        if any(len(axes) > 1 for axes in axis_lists(operation.attributes["split_axes"])):
            reason = "upstream exchanges halos along a single axis for each dimension"
            raise refusal(MPI, reason, operation)
        if DYNAMIC in tuple(operation.attributes["static_halo_sizes"]):
            raise refusal(MPI, "halo sizes must be constants", operation)
        moved_type(operation, operation.operands[0].type)


def _prepares(*names: str) -> Callable[[_Preparation], _Preparation]:
    def register(preparation: _Preparation) -> _Preparation:
        for name in names:
            _PREPARATIONS[name] = preparation
        return preparation

    return register


class _MpiBuilder(GridBuilder):
    """Builds what collectives are made of."""

    def __init__(self, module: ir.Module):
        grids = grids_of(module)
        super().__init__(grids, DeviceValues(grids), replicas=False, first_channel=1)
        self._module = module
        self._names = FreshNames(module)
        self._ordered: dict[str, str] = {}
        self._grid_name = next(iter(grids))

    def device_id(self) -> ir.Value:
        """The linear index of the process, as an i64 scalar."""
        index = building.process_linear_index(self._grid_name)
        integer = ir.IntegerType.get_signless(64)
        number = self.create("arith.index_cast", (index,), (integer,)).result
        scalar = ir.RankedTensorType.get([], integer)
        return self.create("tensor.from_elements", (number,), (scalar,)).result

    def along(self, grid: str, axes: Axes) -> tuple[str, Axes]:
        """A grid and axes for which upstream keeps to the order of a group.

        It joins all processes in their own order if the axes are all that there are. In a grid with
        one more axis, of one device, they never are.
        """
        if len(axes) < self.grids[grid].rank or list(axes) == sorted(axes):
            return grid, axes
        if grid not in self._ordered:
            name = self._names.name(f"{grid}_in_order")
            with ir.InsertionPoint.at_block_begin(self._module.body):
                building.grid(name, (1, *self.grids[grid].shape))
            self._ordered[grid] = name
        return self._ordered[grid], tuple(axis + 1 for axis in axes)

    def own_index(self, grid: Grid, axes: Axes) -> np.ndarray:
        """The place of each device in its group."""
        places = map(grid.coordinates, range(grid.size))
        return np.array([grid.index_in_group(place, axes) for place in places], np.int64)

    def gathered(self, operation: ir.Operation, value: ir.Value, axes: Axes) -> ir.Value:
        """The tensors of all members of a group, along a new first dimension.

        They are sent as vectors. Upstream can't gather vectors of one element: two are sent.
        """
        tensor = ir.RankedTensorType(value.type)
        count = math.prod(tensor.shape)
        grid = operation.attributes["grid"].value
        members = self.grids[grid].axes_size(axes)
        if not axes or not count:
            return self.with_shape(value, [1, *tensor.shape])
        flat = self.with_shape(in_elements(value, moved_type(operation, tensor), self), [count])
        if count == 1:
            pair = ir.RankedTensorType.get([2], ir.RankedTensorType(flat.type).element_type)
            dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([0])}
            flat = self.create("stablehlo.broadcast_in_dim", (flat,), (pair,), dims).result
        name, ordered = self.along(grid, axes)
        every = building.all_gather(flat, name, 0, grid_axes=ordered)
        if count == 1:
            every = self.slice_dim(self.with_shape(every, [members, 2]), 1, 0, 1)
        every = self.with_shape(every, [members, *tensor.shape])
        return in_elements(every, tensor.element_type, self)

    def merged(self, value: ir.Value, dim: int) -> ir.Value:
        """A tensor whose first dimension is put in front of another one, and merged with it."""
        shape = list(ir.RankedTensorType(value.type).shape)
        rank = len(shape) - 1
        order = [*range(1, dim + 1), 0, *range(dim + 1, rank + 1)]
        merged = shape[1:]
        merged[dim] *= shape[0]
        return self.with_shape(self.transpose(value, order), merged)


# --- Collectives --------------------------------------------------------------------------------


@_prepares("shard.all_gather", "shard.gather")
def _prepare_all_gather(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    every = builder.gathered(operation, operation.operands[0], grid_axes(operation))
    return builder.merged(every, _dim(operation, "gather_axis"))


@_prepares("shard.all_reduce", "shard.reduce")
def _prepare_all_reduce(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, axes, *_ = builder.place(operation)
    return _reduced(operation, builder, axes, grid.axes_size(axes), None)


@_prepares("shard.reduce_scatter")
def _prepare_reduce_scatter(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, axes, *_ = builder.place(operation)
    dim = _dim(operation, "scatter_dim")
    return _reduced(operation, builder, axes, grid.axes_size(axes), dim)


@_prepares("shard.all_slice")
def _prepare_all_slice(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, axes, *_ = builder.place(operation)
    return _own_piece(operation.operands[0], _dim(operation, "slice_axis"), grid, axes, builder)


@_prepares("shard.all_to_all")
def _prepare_all_to_all(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, axes, *_ = builder.place(operation)
    every = builder.gathered(operation, operation.operands[0], axes)
    split = _dim(operation, "split_axis")
    pieces = _own_piece(every, split + 1, grid, axes, builder)
    return builder.merged(pieces, _dim(operation, "concat_axis"))


@_prepares("shard.broadcast")
def _prepare_broadcast(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    return _of_root(operation, builder)


@_prepares("shard.scatter")
def _prepare_scatter(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, axes, *_ = builder.place(operation)
    dim = _dim(operation, "scatter_dim")
    return _own_piece(_of_root(operation, builder), dim, grid, axes, builder)


@_prepares("shard.shift")
def _prepare_shift(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    grid, *_ = builder.place(operation)
    axis = _dim(operation, "shift_axis")
    offset = operation.attributes["offset"].value
    source = np.zeros(grid.size, np.int64)
    gets = np.zeros(grid.size, np.bool_)
    for sender, receiver in grid.shift_pairs(axis, offset, rotate="rotate" in operation.attributes):
        source[receiver], gets[receiver] = grid.coordinates(sender)[axis], True
    value = operation.operands[0]
    every = builder.gathered(operation, value, (axis,))
    shape = list(ir.RankedTensorType(value.type).shape)
    moved = builder.with_shape(builder.piece(every, 0, source, 1), shape)
    return builder.select(gets, moved, builder.zeros(value.type))


def _reduced(
    operation: ir.Operation, builder: _MpiBuilder, axes: Axes, count: int, scatter_dim: int | None
) -> ir.Value:
    """The tensors of a group combined, whole or each member's piece of a dimension."""
    result = ir.RankedTensorType(operation.results[0].type)
    value = builder.converted(operation.operands[0], result)
    reducing_operation(operation, result.element_type)  # refuses what there is none for
    kind = reduction_kind(operation)
    is_average = kind is ReductionKind.AVERAGE
    if axes:
        value = in_elements(value, reduced_type(operation, result), builder)
        kind = ReductionKind.SUM if is_average else kind
        name, ordered = builder.along(operation.attributes["grid"].value, axes)
        if scatter_dim is None:
            value = building.all_reduce(value, name, grid_axes=ordered, reduction=kind)
        else:
            rank = ir.RankedTensorType(value.type).rank
            order = [scatter_dim, *(dim for dim in range(rank) if dim != scatter_dim)]
            value = building.reduce_scatter(
                builder.transpose(value, order), name, 0, grid_axes=ordered, reduction=kind
            )
            value = builder.transpose(value, [order.index(dim) for dim in range(rank)])
        value = in_elements(value, result.element_type, builder)
    return builder.average(value, count) if is_average and count > 1 else value


def _of_root(operation: ir.Operation, builder: _MpiBuilder) -> ir.Value:
    """The tensor of the root, on all members of a group."""
    value, axes = operation.operands[0], grid_axes(operation)
    if not axes:
        return value
    every = builder.gathered(operation, value, axes)
    chosen = builder.piece(every, 0, root_index(operation, builder), 1)
    return builder.with_shape(chosen, list(ir.RankedTensorType(value.type).shape))


def _own_piece(value: ir.Value, dim: int, grid: Grid, axes: Axes, builder: _MpiBuilder) -> ir.Value:
    size = ir.RankedTensorType(value.type).shape[dim] // grid.axes_size(axes)
    return builder.piece(value, dim, builder.own_index(grid, axes), size)


def _dim(operation: ir.Operation, name: str) -> int:
    return int(operation.attributes[name].value)
