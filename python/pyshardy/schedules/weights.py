# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dimensions of weights in the operations that use them, and partial results."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding
from pyshardy.irtools.stablehlo_views import GatherView
from pyshardy.irtools.walks import Place, operations_named, textual_order
from pyshardy.propagation.program import DATA_FLOW_EDGE
from pyshardy.rules.lookup import ShardingRuleLookup

_PRODUCT = "stablehlo.dot_general"
_LOOKUP = "stablehlo.gather"
_USES = frozenset({_PRODUCT, _LOOKUP})
_CALLED = "sdy.named_computation"
_MOVING = frozenset(
    {
        DATA_FLOW_EDGE,
        "sdy.func_data_flow_edge",
        "sdy.reshard",
        "sdy.sharding_constraint",
        "stablehlo.convert",
        "stablehlo.reshape",
        "stablehlo.transpose",
    }
)
"""Operations between a weight and its use."""


@dataclass(frozen=True, slots=True)
class WeightDims:
    """The dimensions of a weight by their roles; a role without dimensions has no use.

    Attributes:
        free: those that its first matrix product keeps: the columns of `w` in `x @ w`.
        batch: the batching dimensions of this product: the experts of `[expert, in, out]`.
        indexed: those that its first lookup indexes: the rows of an embedding table.
    """

    free: tuple[int, ...] = ()
    batch: tuple[int, ...] = ()
    indexed: tuple[int, ...] = ()


def weight_dims(argument: ir.Value) -> WeightDims:
    """Return the roles of the dimensions of an argument.

    Conversions, transposes and reshapes may come before the use, which may be in a function that is
    called. The first use in the text is that of the forward pass.

    Args:
        argument: the argument of a function.
    """
    if not isinstance(argument.type, ir.RankedTensorType):
        return WeightDims()
    function = argument.owner.owner.operation
    first: dict[str, tuple[Place, WeightDims]] = {}
    for operation, dims in _uses_of(argument):
        place = Place.of(operation, function)
        known = first.get(operation.name)
        if known is None or textual_order(place) < textual_order(known[0]):
            first[operation.name] = place, dims
    product, lookup = (first[name][1] if name in first else WeightDims() for name in sorted(_USES))
    return WeightDims(product.free, product.batch, lookup.indexed)


def _uses_of(argument: ir.Value) -> Iterator[tuple[ir.Operation, WeightDims]]:
    """Yield the products and lookups that use an argument, with its dimensions in them."""
    lookup = ShardingRuleLookup.shared(argument.context)
    rank = len(ir.RankedTensorType(argument.type).shape)
    pending = deque([(argument, {dim: dim for dim in range(rank)})])
    while pending:
        value, dims = pending.popleft()
        for use in value.uses:
            user, at = use.owner.operation, use.operand_number
            if user.name == _CALLED:
                pending.append((user.regions[0].blocks[0].arguments[at], dims))
            elif user.name == _LOOKUP and at == 0:
                indexed = GatherView(user).dimension_numbers.start_index_map
                yield user, WeightDims(indexed=_sorted(dims[dim] for dim in indexed if dim in dims))
            elif user.name == _PRODUCT or user.name in _MOVING:
                rule = lookup.rule(user)
                if rule is None:  # the same value
                    pending.append((user.results[0], dims))
                    continue
                own = [{*dim.factor_indices} for dim in rule.operand_mappings[at].dim_mappings]
                result = rule.result_mappings[0].dim_mappings
                if user.name == _PRODUCT:
                    other = rule.operand_mappings[1 - at].dim_mappings
                    shared = {factor for dim in other for factor in dim.factor_indices}
                    kept = {factor for dim in result for factor in dim.factor_indices}
                    free = (dims[dim] for dim in dims if own[dim] and not own[dim] & shared)
                    batch = (dims[dim] for dim in dims if own[dim] & shared & kept)
                    yield user, WeightDims(_sorted(free), _sorted(batch))
                    continue
                moved = {
                    new: dims[old]
                    for new, mapping in enumerate(result)
                    for old in dims
                    if own[old] & {*mapping.factor_indices}
                }
                pending.append((user.results[0], moved))


def _sorted(dims: Iterator[int]) -> tuple[int, ...]:
    return tuple(sorted(set(dims)))


def partial_results(module: ir.Module) -> Iterator[tuple[ir.Value, frozenset[str]]]:
    """Yield the results of products and lookups that are partial, with the axes of the sum.

    A result is partial along the axes that shard a contracting dimension of a product, or an
    indexed dimension of a lookup.

    Args:
        module: the program with its shardings.
    """
    lookup = ShardingRuleLookup.shared(module.context)
    for operation in operations_named(_USES, module):
        rule = lookup.rule(operation)
        if rule is None:
            continue
        reduced = {*rule.reduction_factors}
        axes: set[str] = set()
        for operand, mapping in zip(operation.operands, rule.operand_mappings, strict=True):
            sharding = get_sharding(operand)
            for dim, dim_mapping in enumerate(mapping.dim_mappings):
                if sharding is not None and reduced & {*dim_mapping.factor_indices}:
                    axes.update(axis.name for axis in sharding.dim_axes[dim])
        if axes:
            yield operation.results[0], frozenset(axes)
