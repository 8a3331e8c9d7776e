# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that lowers a local program to MPI."""

from __future__ import annotations

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline


@register_pipeline("stablehlo-to-mpi-pipeline")
def stablehlo_to_mpi_pipeline(*, devices: int = 0) -> str:
    """Lowers a local program to linalg and MPI.

    Args:
        devices: number of processes; 0 to count the devices in the replica groups
    """
    return ",".join(
        [
            pass_text("stablehlo-to-shard", devices=devices or ""),
            "shard-prepare-for-mpi",
            "stablehlo-legalize-to-linalg",
            "convert-shard-to-mpi",
            "canonicalize",
            "cse",
        ]
    )
