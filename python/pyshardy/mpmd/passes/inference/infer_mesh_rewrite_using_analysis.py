# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-rewrite-using-analysis`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import is_entry_point
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.rewriting import rewrite
from pyshardy.mpmd.inference.signatures import assign_results, place_callee
from pyshardy.mpmd.options import MaxClones
from pyshardy.mpmd.rewriting.functions import calls_by_callee, mpmd_functions
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-rewrite-using-analysis", release="0.10.2")
def infer_mesh_rewrite_using_analysis(module: ir.Module, *, max_clones: MaxClones = 1) -> None:
    """Move operations without a mesh into fragments.

    An operation goes into the fragment that uses it, or is copied into each one if it is cheap, or
    gets a fragment of its own on each mesh that uses it. Calls get operands and results on meshes.
    """
    functions = {symbol_name(each): each for each in mpmd_functions(module)}
    for function in functions.values():
        if not is_entry_point(function):
            assign_results(function, functions)
        rewrite(function, max_clones)
        calls = calls_by_callee(module).get(symbol_name(function))
        if calls:
            place_callee(function, calls)
