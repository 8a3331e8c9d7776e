# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules: how the dimensions of an operation's operands and results correspond.

Each module registers the rules of one family of operations; users register theirs likewise:

    from pyshardy.rules import rule, sharding_rule

    @sharding_rule("stablehlo.custom_call", target="my_attention")
    def attention_rule(op):
        return rule("b s h d, b t h d -> b s h d", reduction="t")

| module      | what it holds                                                   |
|-------------|-----------------------------------------------------------------|
| `signature` | what a rule sees of an operation                                |
| `notation`  | rules as text                                                   |
| `builder`   | rules factor by factor                                          |
| `registry`  | rules by operation                                              |
| `lookup`    | the rule of each operation of a program                         |
| the others  | the rules of the project, by family of operations               |
"""

from pyshardy.rules import dot as _dot  # noqa: F401 (registers rules)
from pyshardy.rules import layout as _layout  # noqa: F401
from pyshardy.rules import pointwise as _pointwise  # noqa: F401
from pyshardy.rules import reshape as _reshape  # noqa: F401
from pyshardy.rules import silent as _silent  # noqa: F401
from pyshardy.rules.builder import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    REDUCTION,
    RuleBuilder,
    identity_rule,
    pointwise,
)
from pyshardy.rules.lookup import SHARDING_RULE, ShardingRuleLookup, strict_rules
from pyshardy.rules.notation import RuleError, RuleNotation, rule
from pyshardy.rules.registry import no_sharding_rule, registered_rule, sharding_rule
from pyshardy.rules.signature import OperationSignature, TensorType

__all__ = [
    "NEED_REPLICATION",
    "PASS_THROUGH",
    "PERMUTATION",
    "REDUCTION",
    "SHARDING_RULE",
    "OperationSignature",
    "RuleBuilder",
    "RuleError",
    "RuleNotation",
    "ShardingRuleLookup",
    "TensorType",
    "identity_rule",
    "no_sharding_rule",
    "pointwise",
    "registered_rule",
    "rule",
    "sharding_rule",
    "strict_rules",
]
