# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The unpartitioned program, as a reference: without names and meshes."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import CALL, NAMED_COMPUTATION, NAMED_TENSOR, TOPOLOGY, body_of
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import functions_of, replace_by_body
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import CallView
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import run_pipeline


def without_names(module: ir.Module) -> ir.Module:
    """Return a copy of a program with names in which nothing is named or on a mesh.

    Raises:
        PipelineError: a loop over microbatches can't be unrolled.
    """
    plain = copy_of(module)
    run_pipeline(plain, "mpmd-unroll-for-loops")
    for each in operations_named({NAMED_COMPUTATION}, plain, ir.WalkOrder.POST_ORDER):
        replace_by_body(each, body_of(each))
    for each in operations_named({NAMED_TENSOR, "mpmd.broadcast", "mpmd.reduce"}, plain):
        if len(each.operands) == 1:
            replace_by(each, each.operands[0])
    for call in operations_named({CALL}, plain):
        with ir.InsertionPoint(call), call.location:
            types = [result.type for result in call.results]
            callee = ir.FlatSymbolRefAttr.get(CallView(call).callee)
            built = ir.Operation.create(
                "func.call", types, list(call.operands), attributes={"callee": callee}
            )
        replace_by(call, *built.results)
    for function in functions_of(plain):
        remove_discardable(function, TOPOLOGY)
    return plain
