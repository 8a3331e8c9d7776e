# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-delay-transfers-from-cpu`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import TRANSFER
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.mpmd.rewriting.transfers import move_to_user
from pyshardy.pipeline import register_pass


@register_pass("mpmd-delay-transfers-from-cpu", release="0.10.2")
def delay_transfers_from_cpu(module: ir.Module) -> None:
    """Move transfers from memory or meshes of hosts right before the first use of the value."""
    for function in mpmd_functions(module):
        hosts = {each.name for each in topology(function).meshes if each.is_host}
        for operation in reversed(top_level_operations(function)):
            if operation.name == TRANSFER:
                source = MeshTensorType(operation.operands[0].type)
                if source.is_on_host or source.mesh_name in hosts:
                    move_to_user(operation)
