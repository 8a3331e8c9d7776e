# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-validate-no-param-transfers`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import MeshTensorType
from mlir_sdy.mpmd.reading import TRANSFER
from pyshardy.irtools.locations import names_in
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import FailOnParamTransfers, ParamTransferPattern
from pyshardy.mpmd.rewriting.meshes import report
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-no-param-transfers", release="0.10.2")
def validate_no_param_transfers(
    module: ir.Module,
    *,
    fail_on_param_transfers: FailOnParamTransfers = False,
    param_pattern: ParamTransferPattern = "params['transformer",
) -> None:
    """Report transfers of parameters between meshes, by the names in locations.

    Raises:
        PassError: there is one, and it is an error.
    """
    for transfer in operations_named({TRANSFER}, module):
        (value,) = transfer.operands
        found = [name for name in names_in(value.location) if param_pattern in name]
        meshes = [MeshTensorType(each.type).mesh_name for each in (value, transfer.results[0])]
        if found and meshes[0] != meshes[1]:
            places = ", ".join(f'"{name}"' for name in found)
            message = (
                f'Detected cross-mesh transfer of a parameter matching "{param_pattern}" '
                f'from mesh "{meshes[0]}" to "{meshes[1]}". JAX locations: [{places}]'
            )
            report(transfer, message, fails=fail_on_param_transfers)
