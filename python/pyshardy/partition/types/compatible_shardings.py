# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compatible shardings of the operands and results of an operation.

Some axes of a reshape fit no factor: on a mesh `<["x"=4, "y"=2]>`, 12 elements reshaped to 6 x 2
have factors of 6 and 2. Of the axes `{"x", "y"}` of the operand, the first factor takes
`"x":(1)2`, and the rest overflows.

The algorithm for these is that of Shardy's `sdy-insert-explicit-reshards`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    OpShardingRule,
    Shape,
    TensorMapping,
    TensorSharding,
    add_or_merge,
    common_mesh,
    lists_overlap,
    mesh_of,
    set_difference,
)
from pyshardy.partition.types.dot_result import better_result_axes
from pyshardy.partition.types.factor_axes import FactorAxes, choose_factor_axes, contracted_axes
from pyshardy.propagation.projection import (
    FactorSharding,
    ShardingProjection,
    TensorProjection,
    split_axis,
)


def reshape_axes(
    rule: OpShardingRule, projection: ShardingProjection, mesh: Mesh
) -> tuple[AxisTuple, ...]:
    """Return the axes for each factor that operand and result have in common.

    1. The side with more shards is preferred, the operand if there are as many.
    2. All its axes, including those that overflow, are assigned again to the factors of the
       operand, and to those of the result, in order of their dimensions (`deal_to_all`).
    3. A factor gets the common prefix of both sides, once each is written as a sharding.

    Example: the factors of the reshape above, with a replicated result, get `"x":(1)2` and no axes.

    Args:
        rule: the rule of the reshape.
        projection: its operand and its result by factors.
        mesh: the mesh of both.
    """
    operand, result = projection.tensors
    is_operand = operand.sharding_size(mesh) >= result.sharding_size(mesh)
    preferred = operand if is_operand else result
    axes = [
        axis
        for _, held in sorted(preferred.factors.items())
        for axis in (*held.axes, *held.overflow_axes)
    ]
    dealt = [
        _dealt_anew(tensor, mapping, axes, rule.factor_sizes, mesh)
        for tensor, mapping in zip(projection.tensors, rule.mappings, strict=True)
    ]
    anew = ShardingProjection(dealt, projection.num_operands)
    return tuple(anew.greatest_common_prefix(factor) for factor in range(rule.num_factors))


def deal_to_all(
    axes: Sequence[AxisRef], sizes: Sequence[int], mesh: Mesh
) -> tuple[list[AxisTuple], AxisTuple]:
    """Assign axes to factors of given sizes, in the order of the axes.

    1. An axis is offered to each factor in turn. A factor takes the largest leading sub-axis whose
       size divides both the axis and the unsharded part of the factor.
    2. The rest of the axis is offered to the following factors, and then to all of them again.
    3. An axis of which no factor takes anything ends the assignment.

    Example: `{"x", "y"}` of 4 and 2 to factors of 6 and 2 gives `"x":(1)2` and `"x":(2)2`; `"y"` is
    left.

    Returns:
        The axes of each factor, and the remaining axes.
    """
    dealt: list[AxisTuple] = [()] * len(sizes)
    left = list(sizes)
    for index, full in enumerate(axes):
        rest: AxisRef | None = full
        while rest is not None:
            offered = rest
            for factor, size in enumerate(left):
                shared = math.gcd(size, rest.size(mesh))
                if size == 1 or (shared == 1 and rest.size(mesh) != 1):
                    continue
                taken, rest = _leading_part(rest, shared, mesh)
                left[factor] //= shared
                dealt[factor] = add_or_merge(dealt[factor], taken, mesh)
                if rest is None:
                    break
            if rest == offered:
                return dealt, (offered, *axes[index + 1 :])
    return dealt, ()


def _leading_part(axis: AxisRef, size: int, mesh: Mesh) -> tuple[AxisRef, AxisRef | None]:
    return (axis, None) if size == axis.size(mesh) else split_axis(axis, size, mesh)


def _dealt_anew(
    tensor: TensorProjection,
    mapping: TensorMapping,
    axes: Sequence[AxisRef],
    factor_sizes: Sequence[int],
    mesh: Mesh,
) -> TensorProjection:
    """Return a tensor with axes assigned again to its factors, as in the resulting sharding."""
    factors = [
        factor
        for dim in mapping.dim_mappings
        for factor in dim.factor_indices
        if factor in tensor.factors
    ]
    dealt, left = deal_to_all(axes, [factor_sizes[factor] for factor in factors], mesh)
    anew = TensorProjection(
        {
            factor: FactorSharding(held, True, tensor.factors[factor].is_minor_most)
            for factor, held in zip(factors, dealt, strict=True)
        }
    )
    if left and factors:
        anew.update(factors[-1], dealt[-1], left)
    sharding = anew.sharding(mapping, factor_sizes, "", mesh)
    return TensorProjection.of(mapping, factor_sizes, sharding, mesh)


Shardings = tuple[TensorSharding | None, ...]
ChooseAxes = Callable[[ShardingProjection, Mesh], FactorAxes]
"""Chooses the axes of each factor of an operation, whose tensors are on one mesh."""


@dataclass(frozen=True, slots=True)
class CompatibleShardings:
    """Compatible shardings of the tensors of an operation.

    Attributes:
        shardings: the new sharding of each operand, then result; None if unchanged.
        reduced_axes: the axes along which partial results have to be reduced.
        contracted_axes: the axes along which results are partial, reduced or not.
        mesh_or_ref: the mesh of all of them.
    """

    shardings: Shardings
    reduced_axes: AxisTuple
    mesh_or_ref: str | Mesh
    contracted_axes: AxisTuple = ()

    @property
    def is_kept(self) -> bool:
        """Whether the tensors are compatible as they are, and no result is partial."""
        return not self.reduced_axes and not any(self.shardings)


def fully_compatible(
    rule: OpShardingRule,
    shardings: Shardings,
    shapes: tuple[Shape, ...],
    blocked: frozenset[int],
    meshes: Mapping[str, Mesh],
    *,
    is_reshape: bool = False,
) -> CompatibleShardings | None:
    """Return compatible shardings by Shardy's choice of axes; None without a common mesh.

    Args:
        rule: the rule of the operation.
        shardings: those of its operands, then results.
        shapes: their global shapes.
        blocked: the factors that must not be sharded.
        meshes: the meshes of the module by name.
        is_reshape: whether the operation is a `stablehlo.reshape`.
    """

    def choose(projection: ShardingProjection, mesh: Mesh) -> FactorAxes:
        return shardy_axes(rule, projection, shapes, blocked, mesh, is_reshape=is_reshape)

    return compatible_by(rule, shardings, meshes, choose)


def shardy_axes(
    rule: OpShardingRule,
    projection: ShardingProjection,
    shapes: tuple[Shape, ...],
    blocked: frozenset[int],
    mesh: Mesh,
    *,
    is_reshape: bool,
) -> FactorAxes:
    """Return Shardy's choice of the axes of each factor, without axes for blocked factors."""
    if is_reshape and any(tensor.has_overflow for tensor in projection.tensors):
        axes = reshape_axes(rule, projection, mesh)
    else:
        axes = choose_factor_axes(rule, projection, shapes, mesh)
    return tuple(() if factor in blocked else each for factor, each in enumerate(axes))


def compatible_by(
    rule: OpShardingRule, shardings: Shardings, meshes: Mapping[str, Mesh], choose: ChooseAxes
) -> CompatibleShardings | None:
    """Return shardings with the same axes along each factor; None without a common mesh.

    Args:
        rule: the rule of the operation.
        shardings: those of its operands, then results.
        meshes: the meshes of the module by name.
        choose: returns the axes of each factor.
    """
    mesh_or_ref = majority_mesh(shardings, meshes)
    mesh = _mesh(mesh_or_ref, meshes)
    if mesh_or_ref is None or mesh is None or mesh.is_maximal:
        return None
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    axes = choose(projection, mesh)
    contracted = contracted_axes(rule, axes, mesh)
    reduced = _but_unreduced(contracted, rule, shardings, mesh)
    new: list[TensorSharding | None] = []
    for index, tensor in enumerate(projection.tensors):
        changes = [tensor.update(factor, axes[factor]) for factor in tuple(tensor.factors)]
        old = shardings[index]
        reordered = old is not None and not old.is_fully_replicated and mesh_of(old, meshes) != mesh
        is_partial = index >= len(rule.operand_mappings) and _has_replicated(old, reduced)
        changed = any(changes) or reordered or is_partial
        sharding = projection.sharding(rule, index, mesh_or_ref, mesh) if changed else None
        if sharding is not None:
            sharding = _without_used_axes(sharding, reduced if is_partial else (), mesh)
        new.append(sharding)
    return CompatibleShardings(tuple(new), reduced, mesh_or_ref, contracted)


def partially_compatible(
    rule: OpShardingRule,
    shardings: Shardings,
    shapes: Sequence[Shape],
    meshes: Mapping[str, Mesh],
    *,
    is_dot: bool,
) -> CompatibleShardings | None:
    """Return the changes that are needed even without full-version reshards; None if none are.

    1. The result of a matrix product is computed in another sharding if that is cheaper
       (`better_result_axes`).
    2. If the first result has unreduced axes, its partial results are reduced along the others.

    Args:
        rule: the rule of the operation.
        shardings: those of its operands, then results.
        shapes: their global shapes.
        meshes: the meshes of the module by name.
        is_dot: whether the operation is a matrix product.

    Raises:
        ValueError: the tensors have different axes along a factor that has to be reduced.
    """
    num_operands = len(rule.operand_mappings)
    result = next(iter(shardings[num_operands:]), None)
    keeps_partial_results = result is not None and bool(result.unreduced_axes)
    if keeps_partial_results and common_mesh(shardings, meshes) is None:
        keeps_partial_results = False  # a reduction can't skip axes of other meshes
    if not (is_dot or keeps_partial_results):
        return None
    mesh_or_ref = majority_mesh(shardings, meshes)
    mesh = _mesh(mesh_or_ref, meshes)
    if result is None or mesh_or_ref is None or mesh is None or mesh.is_maximal:
        return None
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    reduced: AxisTuple = ()
    if keeps_partial_results:
        axes: list[AxisTuple] = [()] * rule.num_factors
        for factor in rule.reduction_factors:
            lists = {tensor.axes(factor) for tensor in projection.having(factor)}
            if len(lists) > 1:
                given = " and ".join(
                    sorted("{" + ", ".join(map(str, axes)) + "}" for axes in lists)
                )
                raise ValueError(
                    f"its operands are sharded by {given} along a contracted dimension"
                )
            axes[factor] = lists.pop() if lists else ()
        contracted = contracted_axes(rule, axes, mesh)
        reduced = _but_unreduced(contracted, rule, shardings, mesh)
        used = [axis for axes in result.dim_axes for axis in axes]
        if set_difference(reduced, used, mesh) != reduced:
            reduced = ()  # operands differ: no partial results yet
    new: list[TensorSharding | None] = [None] * len(shardings)
    better = better_result_axes(rule, projection, shapes) if is_dot else None
    if better is not None:
        projection.tensors[-1].update(*better)
        sharding = projection.sharding(rule, len(shardings) - 1, mesh_or_ref, mesh)
        new[-1] = _without_used_axes(sharding, (), mesh)
    return CompatibleShardings(tuple(new), reduced, mesh_or_ref) if better or reduced else None


def replicated_shardings(shardings: Shardings) -> CompatibleShardings:
    """Return replicated shardings, for an operation without a local form."""
    mesh_or_ref = next(s.mesh_or_ref for s in shardings if s is not None and not is_plain(s))
    return CompatibleShardings(
        tuple(
            None
            if sharding is None or sharding.is_fully_replicated
            else TensorSharding.fully_closed(sharding.rank, sharding.mesh_or_ref)
            for sharding in shardings
        ),
        (),
        mesh_or_ref,
    )


def majority_mesh(shardings: Shardings, meshes: Mapping[str, Mesh]) -> str | Mesh | None:
    """Return the mesh of most sharded tensors of an operation: the first with that count.

    None without a common mesh, up to the order of devices. Replicated tensors fit any mesh.
    """
    sharded = [s for s in shardings if s is not None and not s.is_fully_replicated]
    candidates = sharded or [s for s in shardings if s is not None]
    if common_mesh(candidates, meshes, ignore_device_ids=True) is None:
        return None
    counts: Counter[str | Mesh] = Counter()
    majority, highest = None, 0
    for sharding in candidates:
        counts[sharding.mesh_or_ref] += 1
        if counts[sharding.mesh_or_ref] > highest:
            majority, highest = sharding.mesh_or_ref, counts[sharding.mesh_or_ref]
    return majority


def is_plain(sharding: TensorSharding | None) -> bool:
    """Whether a tensor is replicated on all devices."""
    return sharding is None or (sharding.is_fully_replicated and not sharding.unreduced_axes)


def _mesh(mesh_or_ref: str | Mesh | None, meshes: Mapping[str, Mesh]) -> Mesh | None:
    return meshes.get(mesh_or_ref) if isinstance(mesh_or_ref, str) else mesh_or_ref


def _has_replicated(sharding: TensorSharding | None, axes: AxisTuple) -> bool:
    """Whether a tensor is explicitly replicated along some of `axes`."""
    return sharding is not None and lists_overlap(sharding.replicated_axes, axes)


def _without_used_axes(
    sharding: TensorSharding, reduced_axes: AxisTuple, mesh: Mesh
) -> TensorSharding:
    """Return a sharding whose replicated and unreduced axes are not used otherwise.

    Args:
        sharding: the sharding, whose dimensions may have new axes.
        reduced_axes: the axes along which the tensor is partial for now.
        mesh: its mesh.
    """
    used = [axis for axes in sharding.dim_axes for axis in axes]
    unreduced = tuple(
        axis
        for axis in sharding.unreduced_axes
        if not any(axis.overlaps(other) or not axis.can_coexist(other) for other in used)
    )
    used += reduced_axes
    replicated = [
        axis for axis in sharding.replicated_axes if all(axis.can_coexist(other) for other in used)
    ]
    kept = set_difference(replicated, used, mesh)
    if kept == sharding.replicated_axes and unreduced == sharding.unreduced_axes:
        return sharding
    return replace(sharding, replicated_axes=kept, unreduced_axes=unreduced)


def _but_unreduced(
    axes: AxisTuple, rule: OpShardingRule, shardings: Shardings, mesh: Mesh
) -> AxisTuple:
    """Return the axes without those along which the result is unreduced."""
    result = next(iter(shardings[len(rule.operand_mappings) :]), None)
    return axes if result is None else set_difference(axes, result.unreduced_axes, mesh)
