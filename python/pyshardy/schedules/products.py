# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dimensions of weights in the matrix products that use them."""

from __future__ import annotations

from collections import deque

from mlir_sdy.host import ir
from pyshardy.propagation.program import DATA_FLOW_EDGE
from pyshardy.rules.lookup import ShardingRuleLookup

_PRODUCT = "stablehlo.dot_general"
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
"""Operations between a weight and its product."""


def free_dims(argument: ir.Value) -> tuple[int, ...]:
    """Return the dimensions of a weight that its first matrix product keeps.

    A product `x @ w` of `[batch, in]` and `[in, out]` keeps dimension 1 of `w`. The product may
    use the weight after conversions, transposes and reshapes, also in a function that is called.

    Args:
        argument: the weight.

    Returns:
        None for a value that no product uses.
    """
    lookup = ShardingRuleLookup.shared(argument.context)
    rank = len(ir.RankedTensorType(argument.type).shape)
    pending = deque([(argument, {dim: dim for dim in range(rank)})])
    while pending:
        value, dims = pending.popleft()
        for use in value.uses:
            user, at = use.owner.operation, use.operand_number
            if user.name == _CALLED:
                pending.append((user.regions[0].blocks[0].arguments[at], dims))
                continue
            rule = lookup.rule(user) if user.name in _MOVING or user.name == _PRODUCT else None
            if rule is None:
                if user.name in _MOVING:  # the same value
                    pending.append((user.results[0], dims))
                continue
            factors = [set(dim.factor_indices) for dim in rule.operand_mappings[at].dim_mappings]
            if user.name == _PRODUCT:
                other = rule.operand_mappings[1 - at].dim_mappings
                shared = {factor for dim in other for factor in dim.factor_indices}
                kept = (dims[dim] for dim in dims if factors[dim] and not factors[dim] & shared)
                return tuple(sorted(set(kept)))
            moved = {
                new: dims[old]
                for new, mapping in enumerate(rule.result_mappings[0].dim_mappings)
                for old in dims
                if factors[old] & set(mapping.factor_indices)
            }
            pending.append((user.results[0], moved))
    return ()
