# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The unpartitioned program, as a reference: without names and meshes."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL, NAMED_COMPUTATION, NAMED_TENSOR, TOPOLOGY
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import CallView
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.regions import inline_body
from pyshardy.pipeline import run_pipeline


def without_names(module: ir.Module) -> ir.Module:
    """Return a copy of a program with names in which nothing is named or on a mesh.

    Raises:
        PipelineError: a loop over microbatches can't be unrolled.
    """
    plain = copy_of(module)
    run_pipeline(plain, "mpmd-unroll-for-loops")
    for each in operations_named({NAMED_COMPUTATION}, plain, ir.WalkOrder.POST_ORDER):
        inline_body(each)
    for each in operations_named({NAMED_TENSOR, "mpmd.broadcast", "mpmd.reduce"}, plain):
        if len(each.operands) == 1:
            each.results[0].replace_all_uses_with(each.operands[0])
            each.erase()
    for call in operations_named({CALL}, plain):
        with ir.InsertionPoint(call), call.location:
            types = [result.type for result in call.results]
            callee = ir.FlatSymbolRefAttr.get(CallView(call).callee)
            built = ir.Operation.create(
                "func.call", types, list(call.operands), attributes={"callee": callee}
            )
        for old, new in zip(call.results, built.results, strict=True):
            old.replace_all_uses_with(new)
        call.erase()
    for function in functions_of(plain):
        remove_discardable(function, TOPOLOGY)
    return plain
