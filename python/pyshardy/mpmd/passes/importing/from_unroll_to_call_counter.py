# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-from-unroll-to-call-counter`."""

from __future__ import annotations

from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL, CALL_COUNTER
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

UNROLL_COUNTER = "unroll_counter"
"""The attribute with the number of the iteration of a loop that an operation comes from."""


@register_pass("mpmd-from-unroll-to-call-counter", release="0.10.2")
def from_unroll_to_call_counter(module: ir.Module) -> None:
    """Number calls by the iterations of the loops that they come from.

    On `mpmd.call`s, the attribute `unroll_counter` becomes `call_counter`.
    """
    for call in operations_named({CALL}, module):
        counter = get_discardable(call, UNROLL_COUNTER)
        if counter is not None:
            set_discardable(call, CALL_COUNTER, counter)
            remove_discardable(call, UNROLL_COUNTER)
