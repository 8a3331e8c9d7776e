# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The limit on the number of devices."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.op_classes import view_as

MOST_DEVICES = 1 << 18
"""The limit. Collectives list the devices of their groups, so time and memory grow with it."""


def check_number_of_devices(module: ir.Module | ir.Operation) -> None:
    """Check that the devices of each mesh of a module can be listed.

    Raises:
        PassError: a mesh has more than `MOST_DEVICES`.
    """
    for view in module.operation.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "sdy.mesh":
            mesh: Mesh = value_of(view_as(sdy.MeshOp, operation).mesh)
            if mesh.total_size > MOST_DEVICES:
                message = (
                    f"'sdy.mesh' op has {mesh.total_size} devices, but programs can be made for at "
                    f"most {MOST_DEVICES}, since collectives list the devices of their groups"
                )
                raise PassError(error(message, location_of(operation.location)))
