# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replication of dimensions around operations that can't be padded.

The dimensions are gathered before the operation, and its results are sliced after it:

    %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<6xf32>
    %2 = stablehlo.reshape %1 : (tensor<6xf32>) -> tensor<2x3xf32>
    %3 = sdy.all_slice [{}, {"x"}] %2 out_sharding=<@mesh, [{}, {"x"}]> : tensor<2x3xf32>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, are_remarks_wanted, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AxisRef,
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    Mesh,
    OpShardingRule,
    ReductionOp,
    TensorSharding,
    mesh_of,
    set_difference,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.tensor_types import padded_shape_of, shape_of
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.trailing_resize import factors_in_place
from pyshardy.partition.padding.neutral import neutral_values
from pyshardy.partition.partial.completion import COMPLETING, reduced_axes, reduction_kind
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.resharding.remarks import remark_on_gathering

DimsPerTensor = list[set[int]]
"""Some dimensions of each operand, then of each result."""


def unpaddable_dims(
    operation: ir.Operation, rule: OpShardingRule | None, meshes: Mapping[str, Mesh]
) -> DimsPerTensor:
    """Return the sharded dimensions that an operation needs unsharded, as it can't be padded.

    1. Without a rule, all of them. Operations that are valid on padded tensors are excepted (see
       `PartitionRecord.keeps_padding`).
    2. A dimension that would be padded and has no factor, or several: padding would not be at the
       end of each. In `reshape: (6) -> (2, 3)` they are all dimensions.
    3. A dimension that would be padded and whose factor is blocked (see `blocked_factors`), unless
       elements keep their positions (see `trailing_resize`), or whose factor is only a part of
       another tensor's dimension, or is reduced without a neutral value, or is unpaddable for such
       operations (see `PartitionRecord`).
    4. A dimension of size 1 whose factor not all tensors have (if it is reduced, all operands):
       other dimensions need not have the size of the factor, as for the groups of a convolution.
    5. All other dimensions that share a factor with one of these.

    Raises:
        PassError: the padding of a factor differs between tensors, or a dimension that is gathered
            is reduced, and the results are used as unreduced.
    """
    values = [*operation.operands, *operation.results]
    sharded = [_sharded_dims(value) for value in values]
    uneven = [
        {dim for dim in dims if shape_of(value.type)[dim] != padded_shape_of(value, meshes)[dim]}
        for value, dims in zip(values, sharded, strict=True)
    ]
    record = record_of(operation.name)
    if record.keeps_padding is not None and record.keeps_padding(operation, meshes):
        return [set() for _ in values]
    if rule is None:
        return sharded if any(uneven) else uneven
    factors_of = [[dim.factor_indices for dim in tensor.dim_mappings] for tensor in rule.mappings]
    blocked = blocked_factors(operation, rule) - factors_in_place(operation, rule, meshes)
    unpaddable = blocked | unpaddable_factors(operation, rule)
    unsharded: DimsPerTensor = [
        {
            dim
            for dim in dims
            if not factors_of[tensor][dim] or unpaddable & {*factors_of[tensor][dim]}
        }
        for tensor, dims in enumerate(uneven)
    ]
    factors: set[int] = set()
    while (grown := _factors_in(unsharded, factors_of)) != factors:
        factors = grown
        for tensor, dims in enumerate(sharded):
            unsharded[tensor] |= {dim for dim in dims if factors & {*factors_of[tensor][dim]}}
    _check_reductions(operation, factors & {*rule.reduction_factors})
    _check_padding(operation, values, factors_of, factors, meshes)
    return unsharded


def unpaddable_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the factors whose dimensions an operation can't have padded, without blocked ones.

    See conditions 3 and 4 of `unpaddable_dims`.

    Args:
        operation: the operation.
        rule: the rule by which it is partitioned.
    """
    record = record_of(operation.name)
    mappings = [dim.factor_indices for tensor in rule.mappings for dim in tensor.dim_mappings]
    found = {factor for factors in mappings if len(factors) > 1 for factor in factors}
    if neutral_values(operation) is None:
        found |= {*rule.reduction_factors}
    if record.unpaddable_factors is not None:
        found |= {*record.unpaddable_factors(operation, rule)}
    found |= {
        factor
        for factor, size in enumerate(rule.factor_sizes)
        if size == 1 and not is_everywhere(factor, rule)
    }
    return frozenset(found)


def replicate_dims_around(
    operation: ir.Operation,
    dims: DimsPerTensor,
    cache: AttributeCache,
    meshes: Mapping[str, Mesh],
) -> None:
    """Gather dimensions of operands before an operation, and slice those of results after it.

    Results are complete along the axes that are gathered: all-reduces must not add them up again.
    """
    count = len(operation.operands)
    complete: list[AxisRef] = []
    for index, gathered in enumerate(dims[:count]):
        if gathered:
            sharding, axes = _without(operation.operands[index], gathered)
            complete += [axis for held in axes for axis in held]
            old = get_sharding(operation.operands[index])
            if old is not None and are_remarks_wanted():
                remark_on_gathering(operation, index, old, sharding, gathered, meshes)
            operation.operands[index] = sdy.all_gather(
                operation.operands[index],
                cache[lists_of(axes)],
                cache[sharding],
                loc=operation.location,
                ip=ir.InsertionPoint(operation),
            )
    for user in _users(operation):
        if user.name in COMPLETING:
            _reduce_less(user, complete, cache, meshes)
    sharded = [get_sharding(result) for result in operation.results]
    for index, sliced in enumerate(dims[count:]):
        old = sharded[index]
        if sliced and old is not None:
            result = operation.results[index]
            sharding, axes = _without(result, sliced)
            set_result_shardings_of(operation, {index: sharding}, cache)
            part = sdy.all_slice(
                result,
                cache[lists_of(axes)],
                cache[old],
                loc=operation.location,
                ip=ir.InsertionPoint.after(operation),
            )
            result.replace_all_uses_except(part, part.owner.operation)


def lists_of(axes: Sequence[AxisTuple]) -> ListOfAxisRefLists:
    """Return the axes of each dimension as an attribute of collectives."""
    return ListOfAxisRefLists(tuple(map(AxisRefList, axes)))


def without_dims(
    sharding: TensorSharding, dims: set[int]
) -> tuple[TensorSharding, list[AxisTuple]]:
    """Return a sharding with some dimensions unsharded, and the axes these had."""
    unsharded = {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    axes = [held if dim in dims else () for dim, held in enumerate(sharding.dim_axes)]
    return sharding.with_dims_replaced(unsharded), axes


def _without(value: ir.Value, dims: set[int]) -> tuple[TensorSharding, list[AxisTuple]]:
    sharding = get_sharding(value)
    assert sharding is not None, "only sharded dimensions are gathered"
    return without_dims(sharding, dims)


def _sharded_dims(value: ir.Value) -> set[int]:
    sharding = get_sharding(value)
    if sharding is None:
        return set()
    return {dim for dim, held in enumerate(sharding.dim_axes) if held}


def is_everywhere(factor: int, rule: OpShardingRule) -> bool:
    """Whether all tensors have a factor, except for scalars; if it is reduced, all operands."""
    is_reduced = factor in rule.reduction_factors
    tensors = rule.operand_mappings if is_reduced else rule.mappings
    return all(tensor.contains_factor(factor) for tensor in tensors if tensor.rank)


def _factors_in(dims: DimsPerTensor, factors_of: list[list[tuple[int, ...]]]) -> set[int]:
    return {
        factor
        for tensor, some in enumerate(dims)
        for dim in some
        for factor in factors_of[tensor][dim]
    }


def _users(operation: ir.Operation) -> list[ir.Operation]:
    return [use.owner.operation for result in operation.results for use in result.uses]


def _reduce_less(
    reduction: ir.Operation,
    complete: Sequence[AxisRef],
    cache: AttributeCache,
    meshes: Mapping[str, Mesh],
) -> None:
    """Remove axes from an all-reduce or a reduce-scatter, which still slices."""
    with reduction.location, ir.InsertionPoint(reduction):
        value = reduced_operand(reduction, complete, cache, meshes)
        if reduction.name == "sdy.reduce_scatter":
            scatter = view_as(sdy.ReduceScatterOp, reduction)
            value = sdy.all_slice(value, scatter.reduce_scatter_axes, scatter.out_sharding)
    replace_by(reduction, value)


def reduced_operand(
    reduction: ir.Operation,
    complete: Sequence[AxisRef],
    cache: AttributeCache,
    meshes: Mapping[str, Mesh],
) -> ir.Value:
    """Return the operand of an all-reduce or a reduce-scatter, reduced over incomplete axes."""
    value, target = reduction.operands[0], get_sharding(reduction.results[0])
    mesh = None if target is None else mesh_of(target, meshes)
    assert target is not None, "a collective has a sharding"
    assert mesh is not None, "the verifier refuses shardings without a mesh"
    rest = set_difference(reduced_axes(reduction, meshes), complete, mesh)
    if not rest:
        return value
    sharding = get_sharding(value) or TensorSharding.fully_closed(target.rank, target.mesh_or_ref)
    sharding = replace(sharding, unreduced_axes=set_difference(sharding.unreduced_axes, rest, mesh))
    kind = reduction_kind(reduction)
    stated = None if kind is ReductionOp.SUM else kind
    return sdy.all_reduce(value, cache[AxisRefList(rest)], cache[sharding], reduction_op=stated)


def _check_reductions(operation: ir.Operation, reduced: set[int]) -> None:
    if not reduced or all(user.name in COMPLETING for user in _users(operation)):
        return
    shardings = map(get_sharding, operation.results)
    if any(sharding is not None and sharding.unreduced_axes for sharding in shardings):
        raise PassError(
            error(
                f"'{operation.name}' op reduces a dimension that its axes don't divide, has no "
                "neutral element for the padding, and its unreduced results are used before an "
                "all-reduce or a reduce-scatter completes them: constrain its operands to "
                "shardings that divide their dimensions",
                location_of(operation.location),
            )
        )


def _check_padding(
    operation: ir.Operation,
    values: Sequence[ir.Value],
    factors_of: list[list[tuple[int, ...]]],
    unsharded: set[int],
    meshes: Mapping[str, Mesh],
) -> None:
    """Check that a padded factor has the same size in all tensors."""
    sizes: dict[int, set[int]] = {}
    padded: set[int] = set()
    for value, dims in zip(values, factors_of, strict=True):
        shape, wanted = shape_of(value.type), padded_shape_of(value, meshes)
        for dim, factors in enumerate(dims):
            if len(factors) == 1 and factors[0] not in unsharded:
                sizes.setdefault(factors[0], set()).add(wanted[dim])
                if shape[dim] != wanted[dim]:
                    padded.add(factors[0])
    for factor in padded:
        if len(sizes[factor]) > 1:
            listed = " and ".join(map(str, sorted(sizes[factor])))
            raise PassError(
                error(
                    f"'{operation.name}' op has incompatible shardings: dimensions of one factor "
                    f"would be padded to {listed}: run "
                    "'sdy-insert-explicit-reshards{enable-full-version=true}' and "
                    "'sdy-reshard-to-collectives' first",
                    location_of(operation.location),
                )
            )
