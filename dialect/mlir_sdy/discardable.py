# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading discardable attributes by their names: users may give them values of any kind."""

from __future__ import annotations

from mlir_sdy.host import ir


def text_of(attributes: ir.OpAttributeMap | ir.DictAttr, name: str) -> str | None:
    """The string that an attribute holds; None if there is none, or no string."""
    return as_text(attributes[name]) if name in attributes else None


def as_text(attribute: ir.Attribute) -> str | None:
    """The string that an attribute is; None if it is no string."""
    try:
        return ir.StringAttr(attribute).value
    except (UnicodeDecodeError, ValueError):
        return None


def as_integer(attribute: ir.Attribute) -> int | None:
    """The integer that an attribute is; None if it is no integer."""
    try:
        return ir.IntegerAttr(attribute).value
    except ValueError:
        return None
