# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completion and introduction of partial results.

The axes along which the shards of a value are partial are its *unreduced* axes.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisRef,
    AxisRefList,
    AxisTuple,
    DimensionSharding,
    ListOfAxisRefLists,
    Mesh,
    TensorSharding,
    is_strict_prefix,
    set_difference,
    sort_and_merge,
)


def complete(
    value: ir.Value,
    sharding: TensorSharding,
    kept_axes: AxisTuple,
    mesh: Mesh,
    place: ir.InsertionPoint,
    cache: AttributeCache,
) -> tuple[ir.Value, TensorSharding]:
    """Reduce a value along its unreduced axes, except those to keep.

    Args:
        value: the value.
        sharding: its sharding.
        kept_axes: the axes along which it may stay unreduced.
        mesh: the mesh of the sharding.
        place: the insertion point for the `sdy.all_reduce`, if one is needed.
        cache: makes attributes.

    Returns:
        The replacement of the value, and its sharding.
    """
    axes = set_difference(sharding.unreduced_axes, kept_axes, mesh)
    if not axes:
        return value, sharding
    left = set_difference(sharding.unreduced_axes, axes, mesh)
    completed = replace(sharding, unreduced_axes=left)
    kind = sharding.reduction_kind
    reduced = sdy.all_reduce(
        value,
        cache[AxisRefList(axes)],
        cache[completed],
        reduction_op=None if kind == 0 else kind,
        loc=origin_of(value),
        ip=place,
    )
    return reduced, completed


def introduce(
    value: ir.Value,
    sharding: TensorSharding,
    wanted: TensorSharding,
    mesh: Mesh,
    place: ir.InsertionPoint,
    cache: AttributeCache,
) -> tuple[ir.Value, TensorSharding]:
    """Make a value unreduced along the axes that `wanted` has beyond those of its sharding.

    1. An axis that shards the end of a dimension in `sharding`, but not in `wanted`, becomes
       unreduced where it is (`sdy.sharded_to_unreduced`): each device keeps its part of the
       dimension and takes zeros for the rest.
    2. Any other new axis must not shard anything: each device along it but the first takes zeros
       (`sdy.replicated_to_unreduced`).
    3. A dimension that differs in another way is resharded first.

    Replicated axes come first, since this does not enlarge the shards.

    Args:
        value: the value.
        sharding: its sharding.
        wanted: the target sharding; dimensions may still need a reshard afterwards.
        mesh: the mesh of both.
        place: the insertion point.
        cache: makes attributes.

    Returns:
        The replacement of the value, and its sharding.

    Raises:
        PassError: the value has unreduced axes that `wanted` lacks.
    """
    new_axes = set_difference(wanted.unreduced_axes, sharding.unreduced_axes, mesh)
    if not new_axes:
        return value, sharding
    if set_difference(sharding.unreduced_axes, wanted.unreduced_axes, mesh):
        raise PassError(
            error(
                f"unreduced axes can't be both dropped and added, from {sharding} to {wanted}: "
                "reshard in two steps",
                location_of(origin_of(value)),
            )
        )
    dims: list[DimensionSharding] = []
    per_dim: list[AxisTuple] = []
    reshards_first = False
    for current, target in zip(sharding.dim_shardings, wanted.dim_shardings, strict=True):
        rest: AxisTuple = ()
        if is_strict_prefix(target.axes, current.axes):
            rest = _suffix(target.axes, current.axes, mesh)
            if set_difference(rest, new_axes, mesh):
                rest = ()
        per_dim.append(rest)
        dims.append(current if rest else target)
        reshards_first |= not rest and target.axes != current.axes
    location = origin_of(value)
    if reshards_first:
        sharding = sharding.with_dims(tuple(dims))
        value = sdy.reshard(value, cache[sharding], loc=location, ip=place)
    sharded_axes = [axis for rest in per_dim for axis in rest]
    replicated_axes = set_difference(new_axes, sharded_axes, mesh)
    if replicated_axes:
        sharding = TensorSharding(
            sharding.mesh_or_ref,
            tuple(dims),
            wanted.replicated_axes,
            sort_and_merge((*sharding.unreduced_axes, *replicated_axes), mesh),
            wanted.reduction_kind,
        )
        value = sdy.replicated_to_unreduced(
            value, cache[AxisRefList(replicated_axes)], cache[sharding], loc=location, ip=place
        )
    if sharded_axes:
        sharding = wanted
        lists = ListOfAxisRefLists(tuple(map(AxisRefList, per_dim)))
        value = sdy.sharded_to_unreduced(value, cache[lists], cache[wanted], loc=location, ip=place)
    return value, sharding


def _suffix(prefix: AxisTuple, axes: AxisTuple, mesh: Mesh) -> AxisTuple:
    """Return the axes after `prefix`, whose last axis may be a sub-axis of one of them."""
    if not prefix:
        return axes
    last, full = prefix[-1], axes[len(prefix) - 1]
    rest = axes[len(prefix) :]
    if last == full:
        return rest
    size = full.size(mesh) // last.size(mesh)
    return (AxisRef.sub(full.name, last.next_pre_size(mesh), size), *rest)


def origin_of(value: ir.Value) -> ir.Location:
    """Return the location of the operation that defines a value, or of the argument."""
    if isinstance(value, ir.BlockArgument):
        return value.location
    return value.owner.operation.location
