# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that complete partial results, in programs where reshards are explicit already.

In such a program the devices along the axes of a contracted dimension hold partial results, and
what follows the operation adds them up:

    // %a is sharded by [{"x"}, {"y"}], %b by [{"y"}, {}], and %0 by [{"x"}, {}]
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]>

Whoever looks at the operation by itself must know, or its results would be added up twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, ReductionOp, set_difference, sort_and_merge
from mlir_sdy.values import behind_barriers, get_sharding
from pyshardy.partition.agreement import majority_mesh
from pyshardy.partition.reductions import completion_of
from pyshardy.partition.rules_on_shards import rule_on_shards
from pyshardy.passes.walks import operations_named
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules import ShardingRuleLookup, quiet_rules

COMPLETING = frozenset({"sdy.all_reduce", "sdy.reduce_scatter"})
"""The collectives that complete partial results."""


def drop_completing_collectives(
    function: ir.OpView | ir.Operation, meshes: Mapping[str, Mesh]
) -> None:
    """Let the operations of a function have complete results, as if nothing completed them.

    An all-reduce that completes its operand goes, and a reduce-scatter becomes a reshard.
    """
    rules = quiet_rules(function.context)
    for collective in operations_named(COMPLETING, function):
        value = collective.operands[0]
        if isinstance(value, ir.BlockArgument):
            continue
        if not completed_axes(value.owner.operation, rules, meshes):
            continue
        if collective.name == "sdy.reduce_scatter":
            target = collective.attributes["out_sharding"]
            place = ir.InsertionPoint(collective)
            value = sdy.reshard(value, target, loc=collective.location, ip=place)
        collective.results[0].replace_all_uses_with(value)
        collective.erase()


def completed_axes(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> AxisTuple:
    """The axes along which collectives complete the partial results of an operation, else none.

    1. All users of its results are such collectives.
    2. Each reduces over just the axes along which the operation contracts, but for those along
       which its result is declared unreduced.
    3. Each does so in the way in which partial results of the operation combine.

    Example: `{"y"}` for the product above; none if the all-reduce were over `{"x", "y"}`, or a
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
    axes = _partial_axes(operation, rules, meshes)
    for index, user in users:
        is_of_kind = reduction_kind(user) is completion.kinds[index]
        if not is_of_kind or {*reduced_axes(user, meshes)} != {*axes}:
            return ()
    return axes


def reduction_kind(collective: ir.Operation) -> ReductionOp:
    """How a collective of the dialect reduces."""
    attributes = collective.attributes
    if "reduction_op" in attributes:
        return ReductionOp(attributes["reduction_op"].value)
    return ReductionOp.SUM


def partial_axes_of(
    value: ir.Value, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> tuple[AxisTuple, ReductionOp | None]:
    """The axes along which an operation leaves a result partial, and how that combines.

    Operands may disagree on the axes of a contracted dimension: then it may be along any of them.
    """
    result = ir.OpResult(value)
    operation = result.owner.operation
    completion = completion_of(operation)
    if completion is None or completion.is_local:
        return (), None
    per_factor, mesh = _contracted_axes(operation, rules, meshes)
    partial: AxisTuple = ()
    for axes in (axes for lists in per_factor for axes in lists):
        partial = sort_and_merge((*partial, *set_difference(axes, partial, mesh)), mesh)
    return partial, completion.kinds[result.result_number]


def _partial_axes(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> AxisTuple:
    """The axes along which devices hold partial results; none if operands disagree on them."""
    per_factor, mesh = _contracted_axes(operation, rules, meshes)
    if any(len(lists) != 1 for lists in per_factor):
        return ()
    axes = sort_and_merge([axis for (axes,) in per_factor for axis in axes], mesh)
    result = get_sharding(operation.results[0])
    return axes if result is None else set_difference(axes, result.unreduced_axes, mesh)


def _contracted_axes(
    operation: ir.Operation, rules: ShardingRuleLookup, meshes: Mapping[str, Mesh]
) -> tuple[list[tuple[AxisTuple, ...]], Mesh]:
    """The different axes of each contracted dimension in the operands, and the mesh of all."""
    rule = rules.rule(operation)
    rule = None if rule is None else rule_on_shards(operation, rule)
    if rule is None or not rule.reduction_factors:
        return [], Mesh()
    operands = [get_sharding(behind_barriers(operand)) for operand in operation.operands]
    results = [get_sharding(result) for result in operation.results]
    shardings = (*operands, *results)
    mesh = majority_mesh(shardings, meshes)
    mesh = meshes.get(mesh) if isinstance(mesh, str) else mesh
    if mesh is None or mesh.is_maximal:
        return [], Mesh()
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    return [
        tuple(dict.fromkeys(tensor.axes(factor) for tensor in projection.having(factor)))
        for factor in rule.reduction_factors
    ], mesh


def reduced_axes(collective: ir.Operation, meshes: Mapping[str, Mesh]) -> AxisTuple:
    """The axes that an `sdy.all_reduce` or `sdy.reduce_scatter` reduces over."""
    if collective.name == "sdy.all_reduce":
        return value_of(collective.attributes["reduction_axes"]).value
    lists = value_of(collective.attributes["reduce_scatter_axes"]).value
    reference = value_of(collective.attributes["out_sharding"]).mesh_or_ref
    mesh = meshes[reference] if isinstance(reference, str) else reference
    return sort_and_merge([axis for axes in lists for axis in axes.value], mesh)
