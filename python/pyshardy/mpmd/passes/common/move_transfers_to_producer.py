# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-move-transfers-to-producer`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import TRANSFER, body_of, operations_of
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.transfers import move_to_producer
from pyshardy.pipeline import register_pass


@register_pass("mpmd-move-transfers-to-producer", release="0.10.2")
def move_transfers_to_producer(module: ir.Module) -> None:
    """Move transfers right after the operations that define their operands.

    Transfers of arguments move to the beginning of the function.
    """
    for function in mpmd_functions(module):
        for operation in operations_of(body_of(function)):
            if operation.name == TRANSFER:
                move_to_producer(operation)
