# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-sink-negligible-ops-into-call-op`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import body_of
from pyshardy.mpmd.rewriting.functions import (
    called_functions,
    calls_by_callee,
    erase_arguments,
)
from pyshardy.mpmd.rewriting.regions import negligible_producer, with_call_values
from pyshardy.pipeline import register_pass


@register_pass("mpmd-sink-negligible-ops-into-call-op", release="0.10.2")
def sink_negligible_ops_into_call_op(module: ir.Module) -> None:
    """Copy constants and the like into the functions that use them.

    An operation without operands and with a single result whose result is the same operand of all
    calls of a function is copied into the function, and the operand is dropped.
    """
    calls = calls_by_callee(module)
    for name, function in called_functions(module).items():
        sunk: set[int] = set()
        body = body_of(function)
        for index in reversed(range(len(body.arguments))):
            producers = {negligible_producer(call.operands[index]) for call in calls[name]}
            producer = producers.pop()
            if producer is None or producers:
                continue
            copy = producer.clone(ip=ir.InsertionPoint.at_block_begin(body)).operation
            body.arguments[index].replace_all_uses_with(copy.results[0])
            sunk.add(index)
        if sunk:
            erase_arguments(function, sunk)
            for call in calls[name]:
                kept = [each for at, each in enumerate(call.operands) if at not in sunk]
                with_call_values(call, kept, range(len(call.results)))
