# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA's names for the sdy dialect in strings, and access to these attributes."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.discardable import (
    as_text,
    get_discardable,
    remove_discardable,
    set_discardable,
)
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


def spelled(operation: ir.Operation) -> dict[str, str]:
    """Return the strings of an operation or of a module."""
    return _texts(get_discardable(operation, FRONTEND_ATTRIBUTES))


def spelled_in(attributes: ir.DictAttr) -> dict[str, str]:
    """Return the strings of a function argument."""
    is_there = FRONTEND_ATTRIBUTES in attributes
    return _texts(attributes[FRONTEND_ATTRIBUTES] if is_there else None)


def _texts(dictionary: ir.Attribute | None) -> dict[str, str]:
    if not isinstance(dictionary, ir.DictAttr):
        return {}
    texts = {named.name: as_text(named.attr) for named in dictionary}
    return {name: text for name, text in texts.items() if text is not None}


def spelling(strings: Mapping[str, str], context: ir.Context) -> ir.DictAttr:
    """Return the attribute that contains strings."""
    return ir.DictAttr.get(
        {name: ir.StringAttr.get(text, context) for name, text in strings.items()}, context
    )


def spell(operation: ir.Operation, strings: Mapping[str, str]) -> None:
    """Add strings to an operation."""
    both = {**spelled(operation), **strings}
    set_discardable(operation, FRONTEND_ATTRIBUTES, spelling(both, operation.context))


def unspell(operation: ir.Operation, *names: str) -> None:
    """Remove strings from an operation."""
    kept = {name: text for name, text in spelled(operation).items() if name not in names}
    if kept:
        set_discardable(operation, FRONTEND_ATTRIBUTES, spelling(kept, operation.context))
    else:
        remove_discardable(operation, FRONTEND_ATTRIBUTES)
