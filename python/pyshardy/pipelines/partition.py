# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named pipelines that come with the project."""

from __future__ import annotations

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline


@register_pipeline("sdy-partition-pipeline", release="pyshardy")
def partition_pipeline(
    *,
    inline_functions: bool = True,
    propagate_past_calls: bool = True,
    enable_halo_exchange: bool = True,
    replica_count: int = 1,
    partition_count: int = 1,
    per_dim_all_gather: bool = False,
    combine_multi_dimension_reduce_scatter: bool = True,
    hoist_reshards: bool = True,
    reassociate_reductions: bool = True,
    combine_collectives: bool = False,
    enable_rgv3: bool = False,
) -> str:
    """Turns a propagated program into one local program with collectives.

    Args:
        inline_functions: whether small functions are inlined, whose signatures would cost
            communication
        propagate_past_calls: whether shardings propagate into inlined functions where they stopped
            at the call, if devices send fewer bytes then
        enable_halo_exchange: whether shards exchange what they need of their neighbours
        replica_count: number of replicas, if devices are the replicas of one program
        partition_count: number of partitions, if devices are the partitions of one program
        per_dim_all_gather: whether an all-gather of several dimensions becomes one for each
        combine_multi_dimension_reduce_scatter: whether a reduce-scatter of several dimensions
            becomes one of all of them, instead of an all-reduce and a slice
        hoist_reshards: whether values that a loop doesn't change are resharded before it
        reassociate_reductions: whether partial results are added to each other before they are
            completed, and completed after a loop that adds them up
        combine_collectives: whether collectives that don't need each other's results become one
        enable_rgv3: whether replica groups along whole axes are given by the axes of the mesh
    """
    counts = {
        name: "" if count == 1 else count
        for name, count in (("replica_count", replica_count), ("partition_count", partition_count))
    }
    return ",".join(
        [
            "sdy-lift-inlined-meshes",
            "sdy-call-sharded-composites",
            "sdy-export-named-computations{keep-calls=true}",
            *(["sdy-inline-small-functions", "symbol-dce"] if inline_functions else []),
            "func.func(sdy-collectives-to-reshards)",
            "func.func(sdy-remove-propagation-barriers)",
            "sdy-sharding-constraint-to-reshard",
            *(["sdy-propagate-past-calls"] if propagate_past_calls else []),
            "sdy-close-shardings",
            "sdy-update-non-divisible-input-output-shardings",
            "sdy-insert-func-call-reshards",
            "func.func(sdy-unshard-short-dimensions,sdy-static-updates-to-pads,"
            "sdy-unshard-uneven-regions)",
            "sdy-insert-explicit-reshards{enable-full-version=true "
            "replicate-without-local-form=true}",
            *(["func.func(sdy-hoist-reshards)"] if hoist_reshards else []),
            pass_text(
                "sdy-resolve-permutation-factors",
                enable_halo_exchange="" if enable_halo_exchange else "false",
                **counts,
            ),
            "func.func(sdy-optimize-reshards)",
            "sdy-reshard-to-collectives",
            "canonicalize{enable-patterns=sdy-collective}",
            *(["func.func(sdy-reassociate-reductions)"] if reassociate_reductions else []),
            "sdy-pad-for-divisibility",
            pass_text("sdy-resolve-single-device-sharding", **counts),
            pass_text(
                "sdy-convert-global-to-local",
                per_dim_all_gather=per_dim_all_gather,
                combine_multi_dimension_reduce_scatter=combine_multi_dimension_reduce_scatter,
                enable_rgv3="" if enable_rgv3 else "false",
                **counts,
            ),
            *(["func.func(sdy-combine-collectives)"] if combine_collectives else []),
            "sdy-drop-sharding-and-mesh",
        ]
    )


@register_pipeline("sdy-basic-propagation-pipeline", release="pyshardy")
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
