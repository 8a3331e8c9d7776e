# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading discardable attributes by their names; their values may be of any kind."""

from __future__ import annotations

from mlir_sdy.host import ir


def text_of(attributes: ir.OpAttributeMap | ir.DictAttr, name: str) -> str | None:
    """Return the string of a named attribute; None if it is missing or not a string."""
    return as_text(attributes[name]) if name in attributes else None


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
