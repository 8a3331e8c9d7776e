# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looking at every operation once."""

from __future__ import annotations

from collections.abc import Iterator

from mlir_sdy.host import ir


def operations_in(root: ir.Operation | ir.OpView) -> Iterator[ir.Operation | ir.OpView]:
    """`root` and all operations in its regions, in the order of the text.

    Attributes may be changed meanwhile, but no operation may be erased. Unlike a walk of the
    bindings, which calls back, a loop over these can be left, and errors in it stay what they are.
    """
    yield root
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                if len(view.regions):
                    yield from operations_in(view)
                else:
                    yield view
