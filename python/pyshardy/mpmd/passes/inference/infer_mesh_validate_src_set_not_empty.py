# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-validate-src-set-not-empty`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import conflicts
from pyshardy.mpmd.options import ErrorLimit
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-validate-src-set-not-empty", release="0.10.2")
def infer_mesh_validate_src_set_not_empty(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on a mesh.

    Raises:
        PassError: the operands of an operation are on conflicting meshes.
    """
    conflicts.check_src_sets(module, error_limit)
