# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named pipelines that come with the project."""

from __future__ import annotations

from pyshardy.pipeline.registry import register_pipeline


@register_pipeline("sdy-partition-pipeline")
def partition_pipeline() -> str:
    """Turns a propagated program into one local program with collectives."""
    return ",".join(
        [
            "sdy-sharding-constraint-to-reshard",
            "sdy-close-shardings",
            "sdy-update-non-divisible-input-output-shardings",
            "sdy-insert-func-call-reshards",
            "sdy-insert-explicit-reshards{enable-full-version=true "
            "replicate-without-local-form=true}",
            "sdy-resolve-permutation-factors",
            "canonicalize{enable-patterns=sdy-reshard}",
            "sdy-reshard-to-collectives",
            "canonicalize{enable-patterns=sdy-collective}",
            "func.func(sdy-pad-for-divisibility)",
            "sdy-convert-global-to-local",
            "sdy-drop-sharding-and-mesh",
        ]
    )


@register_pipeline("sdy-basic-propagation-pipeline")
def basic_propagation_pipeline() -> str:
    """Propagates with the basic strategy over functions and calls, and cleans up."""
    return ",".join(
        [
            "sdy-lift-inlined-meshes",
            "sdy-add-func-data-flow-edges",
            "sdy-basic-propagate",
            "sdy-propagate-to-func-results",
            "sdy-sink-func-data-flow-edges",
            "sdy-sharding-constraint-to-reshard",
            "sdy-close-shardings",
        ]
    )
