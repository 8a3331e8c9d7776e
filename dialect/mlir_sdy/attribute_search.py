# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Search for operations by their attributes.

C++ matches a pattern, and calls back for the operations that are found only. To ask each operation
for an attribute takes five times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from mlir_sdy.host import identity, ir, rewrite


def operations_with(
    attribute: str, root: ir.Module | ir.Operation | ir.OpView
) -> list[ir.Operation]:
    """Return the operations in `root`, without itself, that have an attribute, inner ones first."""
    return operations_with_any((attribute,), root)


def operations_with_any(
    attributes: Iterable[str], root: ir.Module | ir.Operation | ir.OpView
) -> list[ir.Operation]:
    """Return the operations in `root`, without itself, that have any of the attributes.

    Inner operations come first, and an operation with several of the attributes once.
    """
    found: list[ir.Operation] = []
    _note(attributes, "%operation : !pdl.operation", found.append, root)
    return found


def values_of_attribute(
    attribute: str, root: ir.Module | ir.Operation | ir.OpView
) -> list[ir.Attribute]:
    """Return the different values of an attribute of operations in `root`, without itself."""
    found: dict[int, ir.Attribute] = {}

    def note(value: ir.Attribute) -> None:
        found[identity(value)] = value

    _note((attribute,), "%value : !pdl.attribute", note, root)
    return list(found.values())


_PATTERN = """
pdl.pattern : benefit(1) {{
  %operands = pdl.operands
  %types = pdl.types
  %value = pdl.attribute
  %operation = pdl.operation(%operands : !pdl.range<value>) {{{attribute} = %value}}
      -> (%types : !pdl.range<type>)
  pdl.rewrite %operation {{ pdl.apply_native_rewrite "note"({noted}) }}
}}
"""


def _note(
    attributes: Iterable[str],
    noted: str,
    note: Callable[[Any], None],
    root: ir.Module | ir.Operation | ir.OpView,
) -> None:
    """Call `note` with the value named `noted` in `_PATTERN`, for each operation with an attribute.

    The rewrite changes nothing, so that no other pattern is tried for the operation.
    """

    def rewritten(_: rewrite.PatternRewriter, __: rewrite.PDLResultList, match: list[Any]) -> None:
        note(match[0])

    text = "".join(_PATTERN.format(attribute=json.dumps(each), noted=noted) for each in attributes)
    module = ir.Module.parse(text, root.context)  # must live as long as the patterns are in use
    patterns = rewrite.PDLModule(module)
    patterns.register_rewrite_function("note", rewritten)
    rewrite.walk_and_apply_patterns(root.operation, patterns.freeze())
