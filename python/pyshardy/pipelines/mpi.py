# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that lowers a local program to MPI."""

from __future__ import annotations

from pyshardy.pipeline import PassPipeline, pipeline_of, register_pipeline, use


@register_pipeline("stablehlo-to-mpi-pipeline")
def stablehlo_to_mpi_pipeline(*, devices: int = 0) -> PassPipeline:
    """Lower a local program to linalg and MPI.

    Options:
        devices: number of processes; 0 to count the devices in the replica groups
    """
    return pipeline_of(
        use("stablehlo-to-shard", devices=devices),
        "shard-prepare-for-mpi",
        "stablehlo-legalize-to-linalg",
        "convert-shard-to-mpi",
        "canonicalize",
        "cse",
    )
