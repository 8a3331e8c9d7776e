# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-populate-use-set`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import use_sets
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-populate-use-set", release="0.10.2")
def infer_mesh_populate_use_set(module: ir.Module) -> None:
    """Find the meshes that values are used on.

    The attribute `mpmd.use_set` of arguments, and of operations without a mesh, has the meshes that
    a value is used on, transitively, with the origins of these uses. Calls count as if they were
    inlined.
    """
    use_sets.populate(module)
