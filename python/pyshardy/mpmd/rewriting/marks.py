# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks of fragments that passes have made."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir

INFERRED_BY = "mpmd.inferred_by"
"""The attribute with the passes that have made an inferred fragment."""


def mark_inferred(fragment: ir.Operation, *passes: str) -> None:
    """Mark a fragment with the passes that have made it."""
    strings = [ir.StringAttr.get(each, fragment.context) for each in passes]
    set_discardable(fragment, INFERRED_BY, ir.ArrayAttr.get(strings, fragment.context))


def inferred_by(fragments: Iterable[ir.Operation]) -> list[str]:
    """Return the passes that have made any of the fragments, each once."""
    found: dict[str, None] = {}
    for each in fragments:
        for name in get_discardable(each, INFERRED_BY) or ():
            found[ir.StringAttr(name).value] = None
    return list(found)
