# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations at a nesting of anchors, such as the functions of a module."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.host import ir


def operations_at(module: ir.Module, nesting: tuple[str, ...]) -> Iterator[ir.OpView]:
    """Yield the operations that a step at `nesting` runs on, in the order of the text.

    "any" matches operations of every name.
    """
    operations: list[ir.OpView] = [module.operation.opview]
    for anchor in nesting:
        operations = [
            inner
            for outer in operations
            for region in outer.regions
            for block in region.blocks
            for inner in block.operations
            if anchor in ("any", inner.operation.name)
        ]
    yield from operations
