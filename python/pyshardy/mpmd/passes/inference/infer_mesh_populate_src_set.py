# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-populate-src-set`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import src_sets
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-populate-src-set", release="0.10.2")
def infer_mesh_populate_src_set(module: ir.Module) -> None:
    """Find the meshes that values can be on without a new transfer.

    The attribute `mpmd.src_set` of arguments, and of operations without a mesh, has these meshes:
    the common ones of the operands. Without the attribute, a value can be on any mesh. A sum and
    the like of values on different meshes is annotated as a reduction, by the attribute
    `mpmd.reduce`.
    """
    src_sets.populate(module)
