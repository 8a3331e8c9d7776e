# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing without verification, which the host's bindings do not offer.

The host's parser verifies its result, and returns nothing if that fails. The verifier of a witness,
the first operation of the module, copies the module before any other operation is verified.
"""

from __future__ import annotations

import contextlib

from mlir_sdy.ambient import Ambient
from mlir_sdy.host import ir, irdl, parse_operation

WITNESS = '"sdy_unverified.witness"() : () -> () '
"""Text of the witness, to be put at the front of the module to parse."""

_DECLARATION = "irdl.dialect @sdy_unverified { irdl.operation @witness {} }"

_seen = Ambient[list[ir.Operation]]("mlir_sdy_unverified_modules", [])


class _Witness(ir.DynamicOpTrait):
    """Copies the module around an operation when the operation is verified."""

    @staticmethod
    def verify_invariants(witness: ir.OpView) -> bool:
        parent = witness.operation.parent
        if parent is not None and _uses_only_enclosing_values(parent.operation):
            _seen.get().append(parent.operation.clone(ip=False).operation)
        return False  # Stop here, since verifying the clone of an invalid operation can crash.


def _uses_only_enclosing_values(
    operation: ir.Operation, enclosing: frozenset[ir.Block] = frozenset()
) -> bool:
    """Whether every operand inside of `operation` is defined in a region around its use.

    MLIR's parser resolves a use to a definition in another function, which the verifier refuses.
    A clone of such a use refers to the original value, and so crashes the process when the
    original is erased.
    """
    for region in operation.regions:
        blocks = enclosing.union(region.blocks)
        for block in region.blocks:
            for inner in block.operations:
                for operand in inner.operands:
                    owner = operand.owner
                    block_of_owner = owner if isinstance(owner, ir.Block) else owner.operation.block
                    if block_of_owner not in blocks:
                        return False
                if not _uses_only_enclosing_values(inner.operation, blocks):
                    return False
    return True


def parse_unverified(text: str, filename: str, context: ir.Context) -> ir.Operation | None:
    """Parse `text`, which starts with `WITNESS`; return the module without it, or None."""
    if not context.is_dialect_loaded("sdy_unverified"):
        with context, ir.Location.unknown():
            irdl.load_dialects(ir.Module.parse(_DECLARATION))
            _Witness.attach("sdy_unverified.witness")
    seen: list[ir.Operation] = []
    with _seen.bound(seen), contextlib.suppress(ir.MLIRError):
        parse_operation(text, filename, context)
    if not seen:
        return None
    root = seen[0]
    root.regions[0].blocks[0].operations[0].operation.erase()
    return root
