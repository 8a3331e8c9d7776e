# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Detection of programs whose shardings were never propagated.

    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
      %0 = stablehlo.negate %a : tensor<8xf32>

Propagation would shard `%0`. Partitioned as it is, the program gathers `%a`.
"""

from __future__ import annotations

from mlir_sdy.attribute_search import values_of_attribute
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorSharding
from mlir_sdy.values import SHARDING, argument_shardings
from pyshardy.irtools.walks import operations_named
from pyshardy.rules import ShardingRuleLookup


def looks_unpropagated(function: ir.Operation) -> bool:
    """Whether nothing in a function is sharded, although propagation would shard something.

    1. No operation of the function has an `sdy.sharding`.
    2. It has no `sdy.constant`, which propagation makes of each constant.
    3. An argument is sharded along a factor that a result of one of its users has, too, and that
       propagation isn't blocked along.

    Args:
        function: a `func.func` with a body.
    """
    if values_of_attribute(SHARDING, function) or operations_named({"sdy.constant"}, function):
        return False
    rules = ShardingRuleLookup.shared(function.context)
    arguments = function.regions[0].blocks[0].arguments
    for argument, sharding in zip(arguments, argument_shardings(function), strict=True):
        if sharding is None or not any(sharding.dim_axes):
            continue
        for use in argument.uses:
            owner = use.owner.operation
            rule = rules.rule(owner) if owner.name.startswith("stablehlo.") else None
            if rule is not None and _propagates(rule, use.operand_number, sharding):
                return True
    return False


def _propagates(rule: OpShardingRule, operand: int, sharding: TensorSharding) -> bool:
    """Whether axes of an operand can propagate to a result."""
    blocked = {*rule.blocked_propagation_factors, *rule.need_replication_factors}
    sharded = {
        factor
        for dim, axes in zip(
            rule.operand_mappings[operand].dim_mappings, sharding.dim_axes, strict=True
        )
        for factor in dim.factor_indices[:1]
        if axes
    }
    in_results = {
        factor
        for mapping in rule.result_mappings
        for dim in mapping.dim_mappings
        for factor in dim.factor_indices
    }
    return bool(sharded & in_results - blocked)
