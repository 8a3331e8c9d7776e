# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipelines for partitioning and for basic propagation."""

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
    """Partitions a propagated program: converts it to a local program with collectives.

    Args:
        inline_functions: whether to inline small functions, whose signatures would cost
            communication
        propagate_past_calls: whether to propagate shardings into inlined functions where
            propagation stopped at the call, if that sends fewer bytes
        enable_halo_exchange: whether to exchange elements between shards instead of unsharding
            dimensions
        replica_count: number of replicas, if devices are replicas of the program
        partition_count: number of partitions, if devices are partitions of the program
        per_dim_all_gather: whether to emit one all-gather per dimension
        combine_multi_dimension_reduce_scatter: whether to emit a single reduce-scatter for several
            dimensions instead of an all-reduce and a slice
        hoist_reshards: whether to reshard loop invariants before the loop
        reassociate_reductions: whether to complete partial results after linear operations on them
        combine_collectives: whether to combine independent collectives
        enable_rgv3: whether to express replica groups along full axes by mesh axes
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
            "func.func(sdy-unshard-size-one-dims,sdy-static-updates-to-pads,"
            "sdy-unshard-uneven-regions)",
            "sdy-insert-explicit-reshards{enable-full-version=true compatibility=cheapest}",
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
    """Propagates shardings with the basic strategy and converts constraints to reshards."""
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
