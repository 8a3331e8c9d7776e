# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-finalize`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference.finalizing import finalize
from pyshardy.mpmd.options import NoEffect
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-finalize", release="0.10.2")
def infer_mesh_finalize(
    module: ir.Module,
    *,
    infer_transfers: NoEffect = False,  # noqa: ARG001 (an option of C++ Shardy)
) -> None:
    """Put arguments on meshes, and convert assignments to transfers.

    An argument is on the first mesh, by name, that uses it. A value that several meshes use is
    passed from mesh to mesh. The operands of a reduction on one mesh are reduced there, and the
    partial results on each mesh that uses the reduction.

    Raises:
        PassError: an assignment is left.
    """
    for function in mpmd_functions(module):
        finalize(function)
