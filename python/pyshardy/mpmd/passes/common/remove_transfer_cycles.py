# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-remove-transfer-cycles`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import TRANSFER, body_of, mesh_type, operations_of, producer
from mlir_sdy.uses import replace_by
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.pipeline import register_pass


@register_pass("mpmd-remove-transfer-cycles", release="0.10.2")
def remove_transfer_cycles(module: ir.Module) -> None:
    """Replace transfers to a mesh where the value has been by the value there.

    Only chains of transfers between the memories of devices are considered. Transfers in between
    that are unused then are left to canonicalization.
    """
    for function in mpmd_functions(module):
        block = body_of(function)
        for operation in operations_of(block):
            if operation.name == TRANSFER and (earlier := _earlier(operation)) is not None:
                replace_by(operation, earlier)


def _earlier(operation: ir.Operation) -> ir.Value | None:
    """Return the value that a chain of transfers to the same type begins with."""
    target = operation.results[0].type
    value = operation.operands[0]
    while not _is_on_host(value):
        if value.type == target:
            return value
        before = producer(value, TRANSFER)
        if before is None:
            return None
        value = before.operands[0]
    return None


def _is_on_host(value: ir.Value) -> bool:
    found = mesh_type(value)
    return found is not None and found.is_on_host
