# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules: the correspondence between dimensions of an operation's operands and results.

Each family of operations has a module that registers its rules; users register theirs likewise:

    from pyshardy.rules import rule, sharding_rule

    @sharding_rule("stablehlo.custom_call", target="my_attention")
    def attention_rule(op):
        return rule("b s h d, b t h d -> b s h d", reduction="t")

| module      | contents                                                   |
|-------------|------------------------------------------------------------|
| `signature` | input of rules: name, types and attributes of an operation |
| `notation`  | rules written as text                                      |
| `builder`   | rules built factor by factor                               |
| `registry`  | registration of rules, also of those in files of users     |
| `lookup`    | the rule of each operation of a program                    |
| `families`  | the rules of the project, by family of operations          |
| `own_rules` | rules that operations carry as attributes                  |
"""

from pyshardy.rules import families as _families  # noqa: F401 (registers rules)
from pyshardy.rules.builder import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    REDUCTION,
    RuleBuilder,
    identity_rule,
    pointwise,
)
from pyshardy.rules.lookup import ShardingRuleLookup, compatible_rules, strict_rules
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.own_rules import SHARDING_RULE
from pyshardy.rules.registry import (
    load_rules,
    no_sharding_rule,
    registered_names,
    registered_rule,
    registered_targets,
    sharding_rule,
    temporary_rules,
)
from pyshardy.rules.signature import OperationSignature, RuleError, TensorType

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
    "compatible_rules",
    "identity_rule",
    "load_rules",
    "no_sharding_rule",
    "pointwise",
    "registered_names",
    "registered_rule",
    "registered_targets",
    "rule",
    "sharding_rule",
    "strict_rules",
    "temporary_rules",
]
