# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How XLA spells what is sdy's, and reading and writing such attributes."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.discardable import as_text
from mlir_sdy.host import ir

FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"

MESHES = "xla.sdy.meshes"
SHARDING = "xla.sdy.sharding"
SHARDING_RULE = "xla.sdy.sharding_rule"
IN_SHARDINGS = "xla.sdy.in_shardings"
OUT_SHARDINGS = "xla.sdy.out_shardings"
MANUAL_AXES = "xla.sdy.manual_axes"
GROUP_ID = "xla.sdy.sharding_group_id"
DIRECTION = "xla.sdy.allowed_direction"

CONSTRAINT = "Sharding"
RESULT_SHARDING = "xla.sdy.FuncResultSharding"
GROUP = "xla.sdy.ShardingGroup"
BARRIER = "xla.sdy.PropagationBarrier"
TO_LOCAL = "xla.sdy.GlobalToLocalShape"
TO_GLOBAL = "xla.sdy.LocalToGlobalShape"
MANUAL_BODY = "xla.sdy.manual_computation_body"

Attributes = Mapping[str, ir.Attribute]


def spelled(attributes: ir.OpAttributeMap | ir.DictAttr) -> dict[str, str]:
    """The strings that an operation, a function's argument or a module has."""
    if FRONTEND_ATTRIBUTES not in attributes:
        return {}
    dictionary = attributes[FRONTEND_ATTRIBUTES]
    if not isinstance(dictionary, ir.DictAttr):
        return {}
    texts = {named.name: as_text(named.attr) for named in dictionary}
    return {name: text for name, text in texts.items() if text is not None}


def spelling(strings: Mapping[str, str], context: ir.Context) -> ir.DictAttr:
    """The attribute that holds strings."""
    return ir.DictAttr.get(
        {name: ir.StringAttr.get(text, context) for name, text in strings.items()}, context
    )


def spell(operation: ir.Operation, strings: Mapping[str, str]) -> None:
    """Add strings to those that an operation has."""
    both = {**spelled(operation.attributes), **strings}
    operation.attributes[FRONTEND_ATTRIBUTES] = spelling(both, operation.context)


def unspell(operation: ir.Operation, *names: str) -> None:
    """Remove strings from those that an operation has."""
    kept = {name: text for name, text in spelled(operation.attributes).items() if name not in names}
    if kept:
        operation.attributes[FRONTEND_ATTRIBUTES] = spelling(kept, operation.context)
    elif FRONTEND_ATTRIBUTES in operation.attributes:
        del operation.attributes[FRONTEND_ATTRIBUTES]
