# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-assign-mesh-func-leaves`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import leaves
from pyshardy.mpmd.options import ErrorLimit, InferTransfers
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-assign-mesh-func-leaves", release="0.10.2")
def infer_mesh_assign_mesh_func_leaves(
    module: ir.Module, *, infer_transfers: InferTransfers = False, error_limit: ErrorLimit = 5
) -> None:
    """Assign results of functions, and what is unused, to meshes.

    Operands of reductions and broadcasts are assigned, too. The mesh is the first one that a value
    can be on and is used on, else the first one that it can be on, else the first one of its uses,
    else of the topology. The use-sets have to be found again afterwards.

    Raises:
        PassError: a value can be on no mesh.
    """
    leaves.assign_leaves(module, infer_transfers=infer_transfers, error_limit=error_limit)
