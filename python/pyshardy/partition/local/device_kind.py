# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the devices of a mesh are the replicas of one program, or its partitions."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of


def are_replicas(replica_count: int, partition_count: int, place: ir.Operation) -> bool:
    """Whether devices are replicas, by the options of a pass.

    They differ in how a device learns its id, and in the channels of groups: see
    `LocalBuilder.channel_attributes`.

    Args:
        replica_count: the number of replicas.
        partition_count: the number of partitions.
        place: the operation at which an error is reported.

    Raises:
        PassError: both are above one, so that a device would have two ids.
    """
    if replica_count > 1 and partition_count > 1:
        raise PassError(
            error(
                "replicas and partitions at the same time are not supported: set only one of "
                "'replica-count' and 'partition-count'",
                location_of(place.location),
            )
        )
    return replica_count > 1
