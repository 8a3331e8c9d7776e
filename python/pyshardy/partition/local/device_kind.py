# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the devices of a mesh are the replicas of one program, or its partitions."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh
from mlir_sdy.op_classes import view_as


def are_replicas(replica_count: int, partition_count: int, place: ir.Operation) -> bool:
    """Whether devices are replicas, by the options of a pass.

    They differ in how a device learns its id, and in the channels of groups: see
    `LocalBuilder.channel_attributes`.

    Args:
        replica_count: the number of replicas.
        partition_count: the number of partitions.
        place: the operation at which an error is reported.

    Raises:
        PassError: both are above one, so that a device would have two ids, or one is below.
    """
    if min(replica_count, partition_count) != 1:
        message = (
            "Shardy partitioner convert_global_to_local does not support both replica_count > 1 "
            f"and partition_count > 1 yet. Of {replica_count} replicas and {partition_count} "
            "partitions, set only one, to 1 or more"
        )
        raise PassError(error(message, location_of(place.location)))
    return replica_count > 1


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
