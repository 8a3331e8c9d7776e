# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-convert-reduce-ops`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import reductions
from pyshardy.mpmd.options import InferReductions
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-convert-reduce-ops", release="0.10.2")
def infer_mesh_convert_reduce_ops(
    module: ir.Module, *, infer_cross_mesh_reductions: InferReductions = False
) -> None:
    """Convert annotated operations to reductions across meshes.

    Chains of a kind become a single reduction. Without the option, only operations that an
    `mpmd.reduce<none>` of the user marks are converted.
    """
    for function in mpmd_functions(module):
        reductions.convert(function, all_of_them=infer_cross_mesh_reductions)
