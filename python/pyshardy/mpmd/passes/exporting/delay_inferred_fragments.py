# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-delay-inferred-fragments`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT, is_user_fragment
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.transfers import move_to_user
from pyshardy.pipeline import register_pass


@register_pass("mpmd-delay-inferred-fragments", release="0.10.2")
def delay_inferred_fragments(module: ir.Module) -> None:
    """Move inferred fragments right before the first operation that uses them."""
    for function in mpmd_functions(module):
        for operation in reversed(top_level_operations(function)):
            if operation.name == FRAGMENT and not is_user_fragment(operation):
                move_to_user(operation)
