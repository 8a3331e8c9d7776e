# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-drop-sharding-rules`: remove the sharding rules that propagation attached.

Before:

    %0 = stablehlo.negate %a
        {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>

After:

    %0 = stablehlo.negate %a : tensor<8xf32>
"""

from __future__ import annotations

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.host import ir
from mlir_sdy.symbols import enclosing_module
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.pipeline import register_pass
from pyshardy.propagation.rule_attributes import drop_rules, may_have_rules
from pyshardy.rules import SHARDING_RULE


@register_pass("sdy-drop-sharding-rules", anchor="func.func", release="0.10.2")
def drop_sharding_rules(function: ir.Operation | ir.OpView) -> Changes:
    """Remove sharding rules.

    Removes `sdy.sharding_rule` from every operation, unless the rule is custom.
    """
    module = enclosing_module(function)
    if module is None or may_have_rules(module):
        drop_rules(operations_with(SHARDING_RULE, function))
    return UNCHANGED
