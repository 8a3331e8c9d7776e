# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-populate-op-sharding-rules`: write sharding rules as attributes."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from pyshardy.pipeline import register_pass
from pyshardy.propagation.options import Compatible, ConservativePropagation
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup


@register_pass("sdy-populate-op-sharding-rules", anchor="func.func", release="0.10.2")
def populate_op_sharding_rules(
    function: ir.Operation | ir.OpView,
    *,
    conservative_propagation: ConservativePropagation = False,
    compatible: Compatible = False,
) -> None:
    """Attach sharding rules to operations.

    Attaches `sdy.sharding_rule` to each operation that has no rule and for which one is
    registered. Existing rules, from the user or from an earlier pass, are kept.

    ```mlir
    %0 = stablehlo.add %a, %b {sdy.sharding_rule =
        #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=16}>} : tensor<8x16xf32>
    ```

    Raises:
        PassError: a rule does not fit its operation.
    """
    lookup = ShardingRuleLookup(conservative=conservative_propagation, compatible=compatible)
    cache = AttributeCache(function.context)
    for operation in _operations_in(function):
        if not has_discardable(operation, SHARDING_RULE):
            rule = lookup.rule(operation)
            if rule is not None:
                set_discardable(operation, SHARDING_RULE, cache[rule])


def _operations_in(function: ir.Operation | ir.OpView) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
