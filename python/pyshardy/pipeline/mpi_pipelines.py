# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipelines from a partitioned program to MPI, and on to machine code."""

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


@register_pipeline("mpi-to-llvm-pipeline")
def mpi_to_llvm_pipeline() -> str:
    """Turns a program on linalg that calls MPI into LLVM's dialect, results into out parameters."""
    return ",".join(
        [
            "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
            "function-boundary-type-conversion=identity-layout-map}",
            "buffer-results-to-out-params{modify-public-functions=true}",
            "buffer-deallocation-pipeline",
            "canonicalize",
            "func.func(llvm-request-c-wrappers)",
            "func.func(convert-linalg-to-loops)",
            "lower-affine",
            "convert-scf-to-cf",
            "expand-strided-metadata",
            "lower-affine",
            "canonicalize",
            "convert-math-to-llvm",
            "convert-to-llvm",
            "reconcile-unrealized-casts",
        ]
    )
