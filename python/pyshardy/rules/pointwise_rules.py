# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose rule is that of an elementwise operation."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.rules.lookup import ShardingRuleLookup


def is_elementwise(operation: ir.Operation) -> bool:
    """Whether elements of the results depend only on the same elements of operands, by its rule."""
    rule = ShardingRuleLookup.shared(operation.context).rule(operation)
    if rule is None:
        return False
    mappings = [each.dim_mappings for each in (*rule.operand_mappings, *rule.result_mappings)]
    return all(each == mappings[0] for each in mappings)
