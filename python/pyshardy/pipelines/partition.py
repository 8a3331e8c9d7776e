# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that partitions a propagated program."""

from __future__ import annotations

from dataclasses import dataclass

from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.pipeline import PassPipeline, on_functions, pipeline_of, register_pipeline, use


@dataclass(frozen=True, kw_only=True)
class PartitionOptions:
    """The options of the partitioner.

    Attributes:
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
        hardware: devices and links whose cost counts: a preset, a TOML file, or an inline table of
            TOML
    """

    inline_functions: bool = True
    propagate_past_calls: bool = True
    enable_halo_exchange: bool = True
    replica_count: int = 1
    partition_count: int = 1
    per_dim_all_gather: bool = False
    combine_multi_dimension_reduce_scatter: bool = True
    hoist_reshards: bool = True
    reassociate_reductions: bool = True
    combine_collectives: bool = False
    enable_rgv3: bool = False
    hardware: str = DEFAULT_HARDWARE


@register_pipeline("sdy-partition-pipeline", release="pyshardy")
def partition_pipeline(
    options: PartitionOptions = PartitionOptions(),
) -> PassPipeline:
    """Partitions a propagated program: converts it to a local program with collectives."""
    counts = {
        "replica_count": options.replica_count,
        "partition_count": options.partition_count,
    }
    cost = {"hardware": options.hardware}
    combining = options.combine_multi_dimension_reduce_scatter
    return pipeline_of(
        "sdy-lift-inlined-meshes",
        "sdy-mark-contracts",
        "sdy-call-sharded-composites",
        use("sdy-export-named-computations", keep_calls=True),
        *(["sdy-inline-small-functions", "symbol-dce"] if options.inline_functions else []),
        on_functions("sdy-collectives-to-reshards"),
        on_functions("sdy-remove-propagation-barriers"),
        "sdy-sharding-constraint-to-reshard",
        *([use("sdy-propagate-past-calls", **cost)] if options.propagate_past_calls else []),
        "sdy-close-shardings",
        "sdy-update-non-divisible-input-output-shardings",
        "sdy-insert-func-call-reshards",
        on_functions(
            "sdy-unshard-size-one-dims",
            "sdy-static-updates-to-pads",
            use("sdy-unshard-uneven-regions", **cost),
        ),
        use(
            "sdy-insert-explicit-reshards",
            enable_full_version=True,
            compatibility="cheapest",
            **cost,
        ),
        *([on_functions(use("sdy-hoist-reshards", **cost))] if options.hoist_reshards else []),
        on_functions(use("sdy-move-reshards", **cost)),
        use(
            "sdy-resolve-permutation-factors",
            enable_halo_exchange=options.enable_halo_exchange,
            **counts,
            **cost,
        ),
        on_functions(use("sdy-optimize-reshards", **cost)),
        "sdy-reshard-to-collectives",
        use("canonicalize", enable_patterns="sdy-collective"),
        *([on_functions("sdy-reassociate-reductions")] if options.reassociate_reductions else []),
        "sdy-pad-for-divisibility",
        use("sdy-resolve-single-device-sharding", **counts),
        use(
            "sdy-convert-global-to-local",
            per_dim_all_gather=options.per_dim_all_gather,
            combine_multi_dimension_reduce_scatter=combining,
            enable_rgv3=options.enable_rgv3,
            **counts,
            **cost,
        ),
        *([on_functions("sdy-combine-collectives")] if options.combine_collectives else []),
        "sdy-check-contracts",
        "sdy-drop-sharding-and-mesh",
    )
