# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that complete partial results, in programs with explicit reshards.

In such a program the devices along the axes of a contracted dimension hold partial results, and
a collective after the operation adds them up:

    // %a is sharded by [{"x"}, {"y"}], %b by [{"y"}, {}], and %0 by [{"x"}, {}]
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]>

A pass that processes the operation alone must take the collective into account, or the results
would be added up twice. Without such a collective, the results have to be completed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    Mesh,
    OpShardingRule,
    ReductionOp,
    TensorSharding,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, look_through_barriers, rank_of
from pyshardy.irtools.walks import operations_named, tell_inserted
from pyshardy.partition.op_facts.record import rule_on_shards
from pyshardy.partition.partial.linear_operations import linearity_of
from pyshardy.partition.partial.reductions import completion_of
from pyshardy.partition.types.compatible_shardings import majority_mesh
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules import ShardingRuleLookup

COMPLETING = frozenset({"sdy.all_reduce", "sdy.reduce_scatter"})
"""The collectives that complete partial results."""


def drop_completing_collectives(
    function: ir.OpView | ir.Operation, meshes: Mapping[str, Mesh]
) -> bool:
    """Drop the collectives that complete partial results, as if all results were complete.

    An all-reduce that completes its operand is erased, and a reduce-scatter becomes a reshard.

    Returns:
        Whether there was one.
    """
    is_changed = False
    rules = ShardingRuleLookup.shared(function.context)
    for collective in operations_named(COMPLETING, function):
        value = collective.operands[0]
        if isinstance(value, ir.BlockArgument):
            continue
        if not completed_axes(value.owner.operation, rules, meshes):
            continue
        is_changed = True
        if collective.name == "sdy.reduce_scatter":
            target = view_as(sdy.ReduceScatterOp, collective).out_sharding
            place = ir.InsertionPoint(collective)
            value = sdy.reshard(value, target, loc=collective.location, ip=place)
            tell_inserted(function, "sdy.reshard")
        replace_by(collective, value)
    return is_changed


def completed_axes(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> AxisTuple:
    """Return the axes along which collectives complete an operation's results, or none.

    1. All users of its results are such collectives.
    2. Each reduces over exactly the axes along which the operation contracts, except those along
       which its result is declared unreduced.
    3. The kind of reduction is that of the operation's partial results.

    Example: `{"y"}` for the product above; none if the all-reduce is over `{"x", "y"}`, or a
      maximum.
    """
    users = [
        (index, use.owner.operation)
        for index, result in enumerate(operation.results)
        for use in result.uses
    ]
    if not users or any(user.name not in COMPLETING for _, user in users):
        return ()
    completion = completion_of(operation)
    if completion is None or completion.is_local:
        return ()
    axes = _axes_at(operation, rules, meshes)
    for index, user in users:
        is_of_kind = reduction_kind(user) is completion.kinds[index]
        if not is_of_kind or {*reduced_axes(user, meshes)} != {*axes}:
            return ()
    return axes


def reduction_kind(collective: ir.Operation) -> ReductionOp:
    """Return the kind of reduction of a collective of the dialect."""
    view = collective.opview
    if not isinstance(view, sdy.AllReduceOp | sdy.ReduceScatterOp):
        return ReductionOp.SUM
    kind: Any = view.reduction_op
    return ReductionOp(kind.value)


class PartialResults(NamedTuple):
    """Partial results along some axes.

    Attributes:
        axes: the axes, without those along which the results are declared unreduced.
        mesh_or_ref: the mesh of the axes, as the shardings of the operation name it.
        mesh: that mesh.
    """

    axes: AxisTuple
    mesh_or_ref: str | Mesh
    mesh: Mesh


def partial_axes(
    rule: OpShardingRule, projection: ShardingProjection, mesh: Mesh, unreduced: AxisTuple
) -> AxisTuple:
    """Return the axes along which the results of an operation are partial.

    Args:
        rule: the rule of its form on shards.
        projection: the shardings of its operands and results by factors.
        mesh: their mesh.
        unreduced: the axes along which its results are declared unreduced, which are left out.

    Returns:
        The axes of its reduced factors; none if operands differ in these.
    """
    if not rule.reduction_factors:
        return ()
    partial: list[AxisTuple] = []
    for factor in rule.reduction_factors:
        lists = {tensor.axes(factor) for tensor in projection.having(factor)}
        if len(lists) != 1:
            return ()
        partial += lists
    axes = sort_and_merge([axis for axes in partial for axis in axes], mesh)
    return set_difference(axes, unreduced, mesh) if unreduced else axes


class MissingCompletion(NamedTuple):
    """Uses of a partial result without a completion.

    Attributes:
        result: the result.
        axes: the axes along which it is partial, and no collective after the uses completes it.
        kind: the reduction that completes it.
        uses: the uses, as operations and positions of operands.
    """

    result: ir.Value
    axes: AxisTuple
    kind: ReductionOp
    uses: tuple[tuple[ir.Operation, int], ...]


def missing_completions(
    operation: ir.Operation, partial: PartialResults, meshes: Mapping[str, Mesh]
) -> tuple[MissingCompletion, ...]:
    """Find the uses of an operation's partial results that no collective completes.

    A use is complete if it is an all-reduce or a reduce-scatter over the partial axes with the
    reduction of the operation. If it reduces over some of these axes, only the others are missing.

    Args:
        operation: the operation.
        partial: its partial results.
        meshes: the meshes of the module by name.
    """
    completion = completion_of(operation)
    if completion is None or completion.is_local:
        return ()
    missing: list[MissingCompletion] = []
    for result, kind in zip(operation.results, completion.kinds, strict=True):
        uses_by_axes: dict[AxisTuple, list[tuple[ir.Operation, int]]] = {}
        for use in result.uses:
            user = use.owner.operation
            if axes := _axes_left(user, partial.axes, kind, partial.mesh, meshes):
                uses_by_axes.setdefault(axes, []).append((user, use.operand_number))
        for axes, uses in uses_by_axes.items():
            missing.append(MissingCompletion(result, axes, kind, tuple(uses)))
    return tuple(missing)


def _axes_left(
    user: ir.Operation, axes: AxisTuple, kind: ReductionOp, mesh: Mesh, meshes: Mapping[str, Mesh]
) -> AxisTuple:
    """Return the axes along which the result of a user stays partial.

    Linear operations, such as a pad, may precede the collectives.
    """
    if user.name in COMPLETING and reduction_kind(user) is kind:
        left = set_difference(axes, reduced_axes(user, meshes), mesh)
        if not left or left == axes:
            return left
    elif user.name not in COMPLETING and _hands_on(user, kind):
        left = axes
    else:
        return axes
    behind: AxisTuple = ()
    for use in user.results[0].uses:
        axes = _axes_left(use.owner.operation, left, kind, mesh, meshes)
        behind = sort_and_merge((*behind, *set_difference(axes, behind, mesh)), mesh)
    return behind


def _hands_on(user: ir.Operation, kind: ReductionOp) -> bool:
    """Whether the result of an operation on a partial value is partial, too, and is used."""
    return linearity_of(user, kind) is not None and any(user.results[0].uses)


def complete(
    missing: MissingCompletion, partial: PartialResults, cache: AttributeCache
) -> ir.Operation:
    """Insert the `sdy.all_reduce` that uses of a partial result lack.

    Args:
        missing: the uses.
        partial: the partial results.
        cache: makes attributes.

    Returns:
        The all-reduce, directly after the operation.
    """
    result = missing.result
    sharding = get_sharding(result)
    if sharding is None:
        sharding = TensorSharding.fully_closed(rank_of(result.type), partial.mesh_or_ref)
    owner = result.owner.operation
    reduced = sdy.all_reduce(
        result,
        cache[AxisRefList(missing.axes)],
        cache[sharding],
        reduction_op=None if missing.kind is ReductionOp.SUM else missing.kind,
        loc=owner.location,
        ip=ir.InsertionPoint.after(owner),
    )
    for user, index in missing.uses:
        user.operands[index] = reduced
    return reduced.owner.operation


def partial_axes_of(
    value: ir.Value, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> tuple[AxisTuple, ReductionOp | None]:
    """Return the axes along which an operation leaves a result partial, and the reduction.

    If operands differ in the axes of a contracted dimension, the result may be partial along any of
    them.
    """
    result = ir.OpResult(value)
    operation = result.owner.operation
    completion = completion_of(operation)
    if completion is None or completion.is_local:
        return (), None
    projected = _projected(operation, rules, meshes)
    partial: AxisTuple = ()
    if projected is not None:
        rule, projection, mesh = projected
        for factor in rule.reduction_factors:
            for tensor in projection.having(factor):
                added = set_difference(tensor.axes(factor), partial, mesh)
                partial = sort_and_merge((*partial, *added), mesh)
    return partial, completion.kinds[result.result_number]


def _axes_at(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> AxisTuple:
    """Return the axes along which the results of an operation are partial."""
    projected = _projected(operation, rules, meshes)
    if projected is None:
        return ()
    result = get_sharding(operation.results[0])
    return partial_axes(*projected, () if result is None else result.unreduced_axes)


def _projected(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> tuple[OpShardingRule, ShardingProjection, Mesh] | None:
    """Return the shardings of an operation by the factors of its rule on shards.

    Also return that rule and the mesh. None if the operation contracts nothing, or is on one
    device.
    """
    rule = rules.rule(operation)
    rule = None if rule is None else rule_on_shards(operation, rule)
    if rule is None or not rule.reduction_factors:
        return None
    operands = [get_sharding(look_through_barriers(operand)) for operand in operation.operands]
    results = [get_sharding(result) for result in operation.results]
    shardings = (*operands, *results)
    mesh = majority_mesh(shardings, meshes)
    mesh = meshes.get(mesh) if isinstance(mesh, str) else mesh
    if mesh is None or mesh.is_maximal:
        return None
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    return rule, projection, mesh


def reduced_axes(collective: ir.Operation, meshes: Mapping[str, Mesh]) -> AxisTuple:
    """Return the axes along which an `sdy.all_reduce` or `sdy.reduce_scatter` reduces."""
    if collective.name == "sdy.all_reduce":
        return value_of(view_as(sdy.AllReduceOp, collective).reduction_axes).value
    scatter = view_as(sdy.ReduceScatterOp, collective)
    lists = value_of(scatter.reduce_scatter_axes).value
    reference = value_of(scatter.out_sharding).mesh_or_ref
    mesh = meshes[reference] if isinstance(reference, str) else reference
    return sort_and_merge([axis for axes in lists for axis in axes.value], mesh)
