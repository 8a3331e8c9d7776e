# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The unpartitioned program, as a reference: without names and meshes."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    CALL,
    FRAGMENT,
    NAMED_COMPUTATION,
    NAMED_TENSOR,
    TOPOLOGY,
    TRANSFER,
    UNASSIGN,
    body_of,
    mesh_type,
)
from mlir_sdy.uses import replace_by
from pyshardy.irtools.functions import functions_of, replace_by_body, update_type
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import CallView
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.pipeline import run_pipeline

_IDENTITIES = {NAMED_TENSOR, ASSIGN, UNASSIGN, TRANSFER, "mpmd.broadcast", "mpmd.reduce"}
"""Operations that return their operand; a reduction of several has no form without names."""


def without_names(module: ir.Module) -> ir.Module:
    """Return a copy of a program with names or fragments in which nothing is named or on a mesh.

    Raises:
        PipelineError: a loop over microbatches can't be unrolled.
    """
    plain = copy_of(module)
    run_pipeline(plain, "mpmd-unroll-for-loops")
    for function in mpmd_functions(plain):
        results = (result for each in top_level_operations(function) for result in each.results)
        for value in [*body_of(function).arguments, *results]:
            if (on_mesh := mesh_type(value)) is not None:
                value.set_type(on_mesh.global_type)
        update_type(function)
    for each in operations_named({NAMED_COMPUTATION, FRAGMENT}, plain, ir.WalkOrder.POST_ORDER):
        replace_by_body(each, body_of(each))
    for each in operations_named(_IDENTITIES, plain):
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
