# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-validate-no-additional-transfers-needed`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.inference import conflicts
from pyshardy.mpmd.options import ErrorLimit
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-validate-no-additional-transfers-needed", release="0.10.2")
def infer_mesh_validate_no_additional_transfers_needed(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on the meshes that use it.

    Raises:
        PassError: an operation is used on a mesh where it cannot be.
    """
    conflicts.check_use_sets(module, error_limit)
