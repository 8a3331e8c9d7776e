# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline from a partitioned program to MPI."""

from __future__ import annotations

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline


@register_pipeline("stablehlo-to-mpi-pipeline")
def stablehlo_to_mpi_pipeline(*, devices: int = 0) -> str:
    """Turns a partitioned program into one on linalg that calls MPI.

    Args:
        devices: how many processes run it; 0 for as many as the groups of collectives name
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
