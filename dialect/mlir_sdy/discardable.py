# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discardable attributes by their names, as in MLIR; their values may be of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlir_sdy.host import ir

CONTRACT = "sdy.contract"
"""The attribute of functions and operations with regions that limits their communication."""

FUNCTION_CONTRACT = "sdy.func_contract"
"""The contract of a function, on the named computation that stands for a call of it."""


def get_discardable(operation: ir.Operation, name: str) -> Any:
    """Return a discardable attribute of an operation; None if it is missing."""
    return operation.attributes.get(name)


def has_discardable(operation: ir.Operation, name: str) -> bool:
    """Whether an operation has a discardable attribute."""
    return name in operation.attributes


def set_discardable(operation: ir.Operation, name: str, attribute: ir.Attribute) -> None:
    """Add a discardable attribute to an operation, or replace it."""
    operation.attributes[name] = attribute


def copy_discardable(source: ir.Operation, target: ir.Operation, names: Iterable[str]) -> None:
    """Give an operation the discardable attributes of these names that another one has."""
    given, attributes = source.attributes, target.attributes
    for name in names:
        attribute = given.get(name)
        if attribute is not None:
            attributes[name] = attribute


def number_by_discardable(
    operations: Iterable[ir.Operation], name: str, context: ir.Context
) -> None:
    """Give operations in turn the numbers 0, 1, ... as a discardable attribute."""
    make, integer = ir.IntegerAttr.get, ir.IntegerType.get_signless(64, context)
    for number, operation in enumerate(operations):
        operation.attributes[name] = make(integer, number)


def remove_discardable(operation: ir.Operation, *names: str) -> None:
    """Remove discardable attributes of an operation, if it has them."""
    attributes = operation.attributes
    for name in names:
        if name in attributes:
            del attributes[name]


def text_of(operation: ir.Operation, name: str) -> str | None:
    """Return the string of a discardable attribute; None if it is missing or not a string."""
    attribute = get_discardable(operation, name)
    return None if attribute is None else as_text(attribute)


def as_text(attribute: ir.Attribute) -> str | None:
    """Convert an attribute to a string; None if it is not a string."""
    try:
        return ir.StringAttr(attribute).value
    except (UnicodeDecodeError, ValueError):
        return None


def as_integer(attribute: ir.Attribute) -> int | None:
    """Convert an attribute to an integer; None if it is not an integer."""
    try:
        return ir.IntegerAttr(attribute).value
    except ValueError:
        return None
