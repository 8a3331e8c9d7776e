# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the shard dialect that upstream's verifier lacks.

Upstream checks that grids exist, the axes of collectives, and the shapes of results. It reads out
of bounds if a dimension to slice, split or scatter does not exist, so these checks run before its
own. They are, operation by operation:

1. `grid`: no axis has size 0.
2. `sharding`: its axes are those of the grid; offsets begin at 0, and there is one for each shard
   and one for the end; there are none for dimensions split along several axes, whose shards
   upstream miscounts.
3. `shard`: the sharding has no more dimensions than the tensor, and its offsets end at its size.
4. `shard_shape`, `neighbors_linear_indices`: they have as many operands and results as there are
   dimensions and axes, within their ranges.
5. Collectives: their axes are those of the grid, each at most once; the dimensions that they name
   are those of the tensor; devices have no negative coordinates; an all-to-all splits evenly.
6. `update_halo`: as many sizes as there are split dimensions, and cores that are no smaller.

Conditions that the host checks, and missing attributes, are ignored here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mlir_sdy.diagnostics import VerificationError
from mlir_sdy.host import diagnostics_of, ir
from mlir_sdy.ods.shard_tables import OPERATIONS
from mlir_sdy.shard.reading import (
    axis_lists,
    find_grid,
    grid_axes,
    has_grids,
    read_grid,
    read_sharding,
    shard_operations,
)
from mlir_sdy.shard.values import DYNAMIC, Grid
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.verify.violation import ConstraintViolation

_Check = Callable[[ir.Operation, "_Grids"], None]

_CHECKS: dict[str, list[_Check]] = {}

GROUPING = tuple(
    name for name, declaration in OPERATIONS.items() if "grid_axes" in declaration.attribute_names
)
"""The operations that communicate in groups of devices."""

IN_GROUP_DEVICES = {
    "shard.broadcast": "root",
    "shard.gather": "root",
    "shard.recv": "source",
    "shard.reduce": "root",
    "shard.scatter": "root",
    "shard.send": "destination",
}
"""The attribute of an operation with the distinguished member of each group."""

TENSOR_DIMS = {
    "shard.all_gather": ("gather_axis",),
    "shard.all_slice": ("slice_axis",),
    "shard.all_to_all": ("split_axis", "concat_axis"),
    "shard.gather": ("gather_axis",),
    "shard.reduce_scatter": ("scatter_dim",),
    "shard.scatter": ("scatter_dim",),
}
"""The attributes of an operation with dimensions of the tensor."""


def verify_shard(root: ir.Module | ir.Operation | ir.OpView) -> None:
    """Check the operations of the dialect in a module that may not be verified yet.

    Modules without a grid are skipped, since all checks involve one.

    Raises:
        VerificationError: the first rule that is broken, with its place.
    """
    if not has_grids(root):
        return
    grids = _Grids()
    for operation in shard_operations(root):
        _check(operation, grids)


def check_operation(operation: ir.Operation) -> None:
    """Check an operation, then let upstream verify it.

    Raises:
        VerificationError: a rule is broken.
    """
    _check(operation, _Grids())
    try:
        operation.verify()
    except ir.MLIRError as failure:
        raise VerificationError(*diagnostics_of(failure)) from None


def _check(operation: ir.Operation, grids: _Grids) -> None:
    try:
        for check in _CHECKS.get(operation.name, ()):
            check(operation, grids)
    except ConstraintViolation as violation:
        raise VerificationError(violation.diagnostic(operation)) from None
    except (AttributeError, LookupError, TypeError, ValueError):
        return  # invalid: the host reports the error


def _checks(*names: str) -> Callable[[_Check], _Check]:
    def register(check: _Check) -> _Check:
        for name in names:
            _CHECKS.setdefault(name, []).append(check)
        return check

    return register


class _Grids:
    """The grids around operations, each looked up once."""

    def __init__(self) -> None:
        self._found: dict[tuple[ir.Operation, str], Grid | None] = {}

    def named(self, operation: ir.Operation) -> Grid:
        """The grid that an operation names, in the nearest module around it.

        Raises:
            LookupError: there is none.
        """
        module = enclosing_module(operation)
        name: str = operation.attributes["grid"].value
        if module is None:
            raise LookupError(name)
        key = (module, name)
        if key not in self._found:
            self._found[key] = find_grid(module, name)
        grid = self._found[key]
        if grid is None:
            raise LookupError(name)
        return grid


# --- Grids and shardings ------------------------------------------------------------------------


@_checks("shard.grid")
def _check_grid(operation: ir.Operation, _: _Grids) -> None:
    for axis, size in enumerate(read_grid(operation).shape):
        if size == 0:
            raise ConstraintViolation(f"axis {axis} has size 0: sizes of a grid must be positive")


@_checks("shard.sharding")
def _check_sharding(operation: ir.Operation, grids: _Grids) -> None:
    grid = grids.named(operation)
    sharding = read_sharding(operation)
    _check_axes(sharding.split_axes, grid, "split_axes")
    if not sharding.sharded_dims_offsets or not grid.is_static:
        return
    expected = 0
    for dim in sharding.split_dims:
        axes = sharding.split_axes[dim]
        if len(axes) > 1:
            raise ConstraintViolation(
                f"has offsets for dimension {dim}, which is split along {len(axes)} axes: offsets "
                "are only allowed for dimensions split along one axis"
            )
        expected += grid.axes_size(axes) + 1
    found = len(sharding.sharded_dims_offsets)
    if found != expected:
        raise ConstraintViolation(
            f"has {found} sharded_dims_offsets, expected {expected}: one for each shard and one "
            "for the end of each split dimension"
        )
    for dim, offsets in sharding.offsets(grid).items():
        if offsets[0] not in {0, DYNAMIC}:
            raise ConstraintViolation(
                f"the first shard of dimension {dim} begins at {offsets[0]}: it must begin at 0"
            )


@_checks("shard.shard")
def _check_annotation(operation: ir.Operation, grids: _Grids) -> None:
    definition = operation.operands[1].owner
    if isinstance(definition, ir.Block) or definition.operation.name != "shard.sharding":
        return
    sharding = read_sharding(definition.operation)
    shape = _shape(operation.operands[0])
    if len(sharding.split_axes) > max(len(shape), 1) or (not shape and sharding.split_dims):
        raise ConstraintViolation(
            f"the sharding has {len(sharding.split_axes)} dimensions, but "
            f"{operation.operands[0].type} has {len(shape)}"
        )
    grid = grids.named(definition.operation)
    if not grid.is_static:
        return
    for dim, offsets in sharding.offsets(grid).items():
        if shape[dim] >= 0 and offsets[-1] not in {shape[dim], DYNAMIC}:
            raise ConstraintViolation(
                f"the last shard of dimension {dim} ends at {offsets[-1]}, but the dimension has "
                f"{shape[dim]} elements"
            )


# --- Queries ------------------------------------------------------------------------------------


@_checks("shard.shard_shape")
def _check_shard_shape(operation: ir.Operation, grids: _Grids) -> None:
    attributes = operation.attributes
    dims, device = tuple(attributes["dims"]), tuple(attributes["device"])
    if len(operation.results) != len(dims):
        raise ConstraintViolation(f"has {len(operation.results)} results for {len(dims)} dims")
    position = dims.count(DYNAMIC)
    definition = operation.operands[position].owner
    if isinstance(definition, ir.Block) or definition.operation.name != "shard.sharding":
        return
    grid = grids.named(definition.operation)
    _check_coordinates(device, grid, grid.all_axes, "device")


@_checks("shard.neighbors_linear_indices")
def _check_neighbors(operation: ir.Operation, grids: _Grids) -> None:
    grid = grids.named(operation)
    if len(operation.operands) != grid.rank:
        raise ConstraintViolation(
            f"has {len(operation.operands)} device indices, but the grid has {grid.rank} axes"
        )
    axes = grid_axes(operation, "split_axes")
    _check_axes((axes,), grid, "split_axes")


# --- Collectives --------------------------------------------------------------------------------


@_checks(*GROUPING)
def _check_grid_axes(operation: ir.Operation, grids: _Grids) -> None:
    _check_axes((grid_axes(operation),), grids.named(operation), "grid_axes")


@_checks(*TENSOR_DIMS)
def _check_dims(operation: ir.Operation, _: _Grids) -> None:
    tensor = ir.RankedTensorType(operation.operands[0].type)
    for name in TENSOR_DIMS[operation.name]:
        dim = operation.attributes[name].value
        if not 0 <= dim < tensor.rank:
            raise ConstraintViolation(
                f"{name} {dim} is out of range: {tensor} is of rank {tensor.rank}"
            )


@_checks("shard.all_to_all")
def _check_all_to_all(operation: ir.Operation, grids: _Grids) -> None:
    grid = grids.named(operation)
    dim = int(operation.attributes["split_axis"].value)
    if _shape(operation.results[0])[dim] < 0:
        return  # upstream accepts any split if the size of the result is dynamic
    size = _shape(operation.operands[0])[dim]
    devices = grid.axes_size(grid_axes(operation)) if grid.is_static else 1
    if size >= 0 and size % devices:
        raise ConstraintViolation(
            f"cannot split dimension {dim} of size {size} evenly over {devices} devices: pad it to "
            f"{-(-size // devices) * devices}"
        )


@_checks(*IN_GROUP_DEVICES)
def _check_in_group_device(operation: ir.Operation, grids: _Grids) -> None:
    name = IN_GROUP_DEVICES[operation.name]
    coordinates = operation.attributes.get(name)
    if coordinates is not None and len(coordinates):
        _check_coordinates(tuple(coordinates), grids.named(operation), grid_axes(operation), name)


@_checks("shard.update_halo")
def _check_update_halo(operation: ir.Operation, grids: _Grids) -> None:
    grid = grids.named(operation)
    split_axes = axis_lists(operation.attributes["split_axes"])
    _check_axes(split_axes, grid, "split_axes")
    target = ir.ShapedType(operation.operands[0].type)
    if len(split_axes) > target.rank:
        raise ConstraintViolation(
            f"split_axes has {len(split_axes)} dimensions, but {target} {target.rank}"
        )
    sizes = tuple(operation.attributes["static_halo_sizes"])
    dims = [dim for dim, axes in enumerate(split_axes) if axes]
    if len(sizes) != 2 * len(dims):
        raise ConstraintViolation(
            f"has {len(sizes)} halo_sizes, expected {2 * len(dims)}: two for each of {len(dims)} "
            "split dimensions"
        )
    for dim, low, high in zip(dims, sizes[::2], sizes[1::2], strict=True):
        if DYNAMIC in (low, high):
            continue
        if low < 0 or high < 0:
            raise ConstraintViolation(f"the halo of dimension {dim} has a negative size")
        size = target.shape[dim]
        core = size - low - high
        if not target.is_dynamic_size(size) and max(low, high) > core:
            raise ConstraintViolation(
                f"dimension {dim} of size {size} has a core of {core} elements between halos of "
                f"{low} and {high}: a halo is copied from the core of a single neighbor, which "
                "must be at least as large"
            )


# --- Parts of checks ----------------------------------------------------------------------------


def _shape(value: ir.Value) -> Sequence[int]:
    return ir.RankedTensorType(value.type).shape


def _check_axes(lists: Iterable[Sequence[int]], grid: Grid, name: str) -> None:
    seen: set[int] = set()
    for axes in lists:
        for axis in axes:
            if not 0 <= axis < grid.rank:
                raise ConstraintViolation(
                    f"{name} contains axis {axis}, but the grid {grid} has the axes 0 to "
                    f"{grid.rank - 1}"
                )
            if axis in seen:
                raise ConstraintViolation(f"{name} contains axis {axis} twice")
            seen.add(axis)


def _check_coordinates(
    coordinates: Sequence[int], grid: Grid, axes: Sequence[int], name: str
) -> None:
    if len(coordinates) != len(axes):
        raise ConstraintViolation(
            f"{name} has {len(coordinates)} coordinates, but there are {len(axes)} axes"
        )
    for coordinate, axis in zip(coordinates, axes, strict=True):
        size = grid.shape[axis]
        if DYNAMIC in (coordinate, size):
            continue
        if not 0 <= coordinate < size:
            raise ConstraintViolation(
                f"coordinate {coordinate} of {name} is out of range: axis {axis} has {size} devices"
            )
