# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules that operations carry: as an attribute, or in XLA's form as a string.

stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>}
stablehlo.custom_call @f(%x) {mhlo.frontend_attributes = {
xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i])->([i]) {i=8}>"}}
"""

from __future__ import annotations

from functools import lru_cache

from mlir_sdy.assembly.attribute_text import read_full_attribute
from mlir_sdy.assembly.source import Cursor, SourceText
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import Diagnostic, ParseError, PassError, error
from mlir_sdy.discardable import as_text, get_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import OpShardingRule
from mlir_sdy.verify.sharding_rule import verify_rule
from mlir_sdy.verify.violation import ConstraintViolation
from pyshardy.rules.registry import CUSTOM_CALL

SHARDING_RULE = "sdy.sharding_rule"
"""The attribute that holds the rule of an operation."""

_STRINGS, _NAME = "mhlo.frontend_attributes", "xla.sdy.sharding_rule"


def own_rule(operation: ir.Operation, name: str) -> OpShardingRule | None:
    """Return the rule that an operation carries; None if it has none.

    Args:
        operation: the operation.
        name: its name. Only custom calls have rules as strings.

    Raises:
        PassError: the string isn't a rule.
    """
    own = get_discardable(operation, SHARDING_RULE)
    if own is not None:
        return value_of(own)
    text = _text_of(operation) if name == CUSTOM_CALL else None
    if text is None:
        return None
    rule = _read(text)
    if not isinstance(rule, OpShardingRule):
        raise PassError(_fault(operation, f"{text!r} is not an #sdy.op_sharding_rule"))
    return rule


def has_own_rule(operation: ir.Operation, name: str) -> bool:
    """Whether an operation carries a rule; see `own_rule`."""
    if get_discardable(operation, SHARDING_RULE) is not None:
        return True
    return name == CUSTOM_CALL and _text_of(operation) is not None


def checked_own_rule(operation: ir.Operation, name: str) -> OpShardingRule | None:
    """Return the rule that an operation of global tensors carries; see `own_rule`.

    Raises:
        PassError: it isn't a rule, or doesn't fit the operation.
    """
    rule = own_rule(operation, name)
    if rule is not None:
        try:
            verify_rule(operation, rule)
        except ConstraintViolation as fault:
            raise PassError(_fault(operation, str(fault))) from None
    return rule


def _text_of(operation: ir.Operation) -> str | None:
    strings = get_discardable(operation, _STRINGS)
    if isinstance(strings, ir.DictAttr) and _NAME in strings:
        return as_text(strings[_NAME])
    alone = get_discardable(operation, _NAME)
    return None if alone is None else as_text(alone)


@lru_cache(maxsize=1024)
def _read(text: str) -> object:
    try:
        return read_full_attribute(Cursor(SourceText(text, "a string")))[1]
    except ParseError:
        return None


def _fault(operation: ir.Operation, reason: str) -> Diagnostic:
    return error(
        f"the attribute '{_NAME}' of this '{operation.name}' is wrong: {reason}",
        location_of(operation.location),
    )
