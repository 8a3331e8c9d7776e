# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-optimize-collectives`: replace permutes before all-to-alls by all-to-alls.

A permute is rewritten if both hold:

1. It changes the order of the axes of one dimension, the split dimension, and its only
   use is an all-to-all that moves one axis out of it. More such all-to-alls may follow, each
   the only use of the one before.
2. The axes of the split dimension after the permute are sub-axes of those before, in another
   order; they divide it, and there is a plan for their moves (`plan_moves`).

Reshards are collectives already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AllToAllParam,
    AllToAllParamList,
    AxisRef,
    AxisTuple,
    Mesh,
    TensorSharding,
    TensorShardingPerValue,
    add_or_merge,
    mesh_of,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import has_one_use
from mlir_sdy.values import SHARDING, get_sharding
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.pipeline import register_pass

_PERMUTE, _ALL_TO_ALL = "sdy.collective_permute", "sdy.all_to_all"


@dataclass(frozen=True, slots=True)
class AxisMove:
    """An axis that leaves its position in the split dimension.

    Attributes:
        axis: the axis.
        source: its position, counted from the major axis.
        target: the free position to which it moves; None if it moves to another dimension.
    """

    axis: AxisRef
    source: int
    target: int | None = None


def plan_moves(
    held: Sequence[AxisRef], wanted: Sequence[AxisRef], leaving: Sequence[AxisRef], mesh: Mesh
) -> list[AxisMove] | None:
    """Plan the moves of the axes of a dimension that is split into a dimension for each axis.

    1. The axes that leave the dimension move first, in order.
    2. Each other axis moves to its target position as soon as that is free, the major ones first.
       If no position becomes free, there is no plan.
    3. Each target position but the last must have the size of the axis that it gets, and the last
       one a multiple of it: otherwise the dimensions can't be merged again.

    With `x` of size 2 and `y` of size 4, `plan_moves([y, x], [x], [y])` moves `y` out and then `x`
    to position 0, which has size 4; `plan_moves([x, y], [y], [x])` is None, as position 0 has size
    2.

    Args:
        held: the axes of the dimension, major to minor.
        wanted: the axes that it keeps, in their new order.
        leaving: its other axes, in the order in which they leave.
        mesh: the mesh.
    """
    sizes = [axis.size(mesh) for axis in held]
    for place, axis in enumerate(wanted):
        is_last = place == len(wanted) - 1
        if sizes[place] % axis.size(mesh) or not (is_last or sizes[place] == axis.size(mesh)):
            return None
    place_of = {axis: place for place, axis in enumerate(held)}
    moves = [AxisMove(axis, place_of.pop(axis)) for axis in leaving]
    waiting = [axis for axis in held if axis in place_of and wanted.index(axis) != place_of[axis]]
    while waiting:
        occupied = set(place_of.values())
        axis = next((axis for axis in waiting if wanted.index(axis) not in occupied), None)
        if axis is None:
            return None
        target = wanted.index(axis)
        moves.append(AxisMove(axis, place_of[axis], target))
        place_of[axis] = target
        waiting.remove(axis)
    return moves


@register_pass("sdy-optimize-collectives", anchor="func.func", release="0.12")
def optimize_collectives(function: ir.Operation | ir.OpView) -> None:
    """Replace permutes that precede all-to-alls by all-to-alls of single axes.

    An all-to-all moves the last axes of a dimension; moving another axis requires
    a collective-permute first, in which each device sends its entire shard. If the dimension can be
    reshaped so that each axis has its own dimension, the pass moves the axis from its own
    dimension, followed by the remaining axes. In each of these all-to-alls, a part of the shard
    stays on the device.

    ```mlir
    // on <["x"=2, "y"=4]>, %0 is sharded as [{}, {"y", "x"}]
    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<24x24xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<24x24xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.reshape %0 : (tensor<24x24xf32>) -> tensor<24x4x2x3xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {}, {"x"}, {}]> : ...
    %3 = sdy.all_to_all [{"x"}: 2->1] %2 out_sharding=<@mesh, [{"y"}, {"x"}, {}, {}]> : ...
    %4 = stablehlo.reshape %3 : (tensor<24x4x2x3xf32>) -> tensor<24x24xf32>
    ```
    """
    context = FunctionContext.of(function)
    for permute in operations_named({_PERMUTE}, function):
        chain = _find_chain(permute, context.meshes)
        if chain is not None:
            chain.rewrite(context.cache)


@dataclass(frozen=True, slots=True)
class _Chain:
    """A permute with the all-to-alls after it, and the moves of axes that replace them."""

    permute: ir.Operation
    all_to_alls: tuple[ir.Operation, ...]
    dim: int
    held: AxisTuple
    moves: tuple[AxisMove, ...]
    mesh: Mesh

    def rewrite(self, cache: AttributeCache) -> None:
        """Replace the chain."""
        value: ir.Value = self.permute.operands[0]
        last = self.all_to_alls[-1]
        sharding = get_sharding(value)
        assert sharding is not None, "the verifier of collectives refuses values without one"
        tensor = ir.RankedTensorType(value.type)
        shape = list(tensor.shape)
        sizes = [axis.size(self.mesh) for axis in self.held]
        rest = shape[self.dim] // math.prod(sizes)
        parts = sizes if rest == 1 else [*sizes, rest]
        split = [*shape[: self.dim], *parts, *shape[self.dim + 1 :]]
        dims: list[AxisTuple] = [*sharding.dim_axes]
        dims[self.dim : self.dim + 1] = [(axis,) for axis in self.held] + [()] * (rest > 1)
        leaving = [_move_of(each) for each in self.all_to_alls]
        with ir.InsertionPoint(last), last.location:
            value = _reshape(value, split, _with_axes(sharding, dims), cache)
            for index, move in enumerate(self.moves):
                source = self.dim + move.source
                if move.target is None:  # the all-to-alls move the first axes
                    target = leaving[index].tgt_dim
                    target += (len(parts) - 1) * (target > self.dim)
                else:
                    target = self.dim + move.target
                dims[source] = ()
                dims[target] = add_or_merge(dims[target], move.axis, self.mesh)
                params = AllToAllParamList((AllToAllParam((move.axis,), source, target),))
                value = sdy.all_to_all(value, cache[params], cache[_with_axes(sharding, dims)])
            result = last.results[0]
            wanted = get_sharding(result)
            assert wanted is not None
            value = _reshape(value, shape, wanted, cache)
        result.replace_all_uses_with(value)
        for operation in (*reversed(self.all_to_alls), self.permute):
            operation.erase()


def _find_chain(permute: ir.Operation, meshes: Mapping[str, Mesh]) -> _Chain | None:
    before, after = get_sharding(permute.operands[0]), get_sharding(permute.results[0])
    if before is None or after is None or before.mesh_or_ref != after.mesh_or_ref:
        return None
    mesh = mesh_of(before, meshes)
    changed = [
        dim
        for dim, axes in enumerate(zip(before.dim_axes, after.dim_axes, strict=True))
        if axes[0] != axes[1]
    ]
    if mesh is None or len(changed) != 1:
        return None
    dim = changed[0]
    all_to_alls = _all_to_alls_from(permute, dim)
    wanted = after.dim_axes[dim]
    held = _cut(before.dim_axes[dim], wanted, mesh)
    leaving = [_move_of(each).axes[0] for each in all_to_alls]
    size = ir.RankedTensorType(permute.operands[0].type).shape[dim]
    if (
        not all_to_alls
        or set(held) != set(wanted)
        or not set(leaving) <= set(held)
        or size < 0
        or size % mesh.axes_size(held)
    ):
        return None
    kept = [axis for axis in wanted if axis not in leaving]
    moves = plan_moves(held, kept, leaving, mesh)
    return None if moves is None else _Chain(permute, all_to_alls, dim, held, tuple(moves), mesh)


def _all_to_alls_from(permute: ir.Operation, dim: int) -> tuple[ir.Operation, ...]:
    """Return the all-to-alls after a permute, each of an axis out of the split dimension."""
    found: list[ir.Operation] = []
    value = permute.results[0]
    while has_one_use(value):
        user = next(iter(value.uses)).owner.operation
        if user.name != _ALL_TO_ALL:
            break
        moves = value_of(view_as(sdy.AllToAllOp, user).params).value
        if len(moves) != 1 or len(moves[0].axes) != 1 or moves[0].src_dim != dim:
            break
        found.append(user)
        value = user.results[0]
    return tuple(found)


def _move_of(all_to_all: ir.Operation) -> AllToAllParam:
    return value_of(view_as(sdy.AllToAllOp, all_to_all).params).value[0]


def _cut(axes: AxisTuple, others: AxisTuple, mesh: Mesh) -> AxisTuple:
    """Cut axes where others begin or end: `[y]` by `[y:(2)2, y:(1)2]` is `[y:(1)2, y:(2)2]`."""
    parts: list[AxisRef] = []
    for axis in axes:
        rest: AxisRef | None = axis
        while rest is not None:
            part = rest
            for other in others:
                if part.can_coexist(other) and part.overlaps(other):
                    part = part.prefix_without_overlap(other) or part.overlap(other) or part
            parts.append(part)
            rest = rest.suffix_without_overlap(part, mesh)
    return tuple(parts)


def _with_axes(sharding: TensorSharding, dims: Sequence[AxisTuple]) -> TensorSharding:
    closed = TensorSharding.from_axes(sharding.mesh_or_ref, dims, sharding.unreduced_axes)
    return replace(closed, reduction_kind=sharding.reduction_kind)


def _reshape(
    value: ir.Value, shape: Sequence[int], sharding: TensorSharding, cache: AttributeCache
) -> ir.Value:
    builder = StablehloBuilder({SHARDING: cache[TensorShardingPerValue((sharding,))]})
    return builder.reshape(value, shape)
