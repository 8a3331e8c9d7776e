# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that partitions a propagated program."""

# pyright: reportTypedDictNotRequiredAccess=false
# `with_defaults` adds the keys that the caller omits.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias, TypedDict

from mlir_sdy.diagnostics import emit, warning
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption, PreferredKind
from pyshardy.display import bytes_of_text
from pyshardy.pipeline import PassPipeline, on_functions, pipeline_of, register_pipeline, use
from pyshardy.pipeline.options import Help, Natural, Positive, with_defaults

Overlap: TypeAlias = Literal["none", "schedule", "all"]
"""The ways to hide communication behind computation."""


class PartitionOptions(TypedDict, total=False):
    """The options of the partitioner, without its hardware."""

    inline_functions: Annotated[
        bool,
        Help(
            "whether to inline small functions, whose signatures would cost communication",
            default=True,
        ),
    ]
    propagate_past_calls: Annotated[
        bool,
        Help(
            "whether to propagate shardings into inlined functions where propagation stopped at "
            "the call, if that sends fewer bytes",
            default=True,
        ),
    ]
    enable_halo_exchange: Annotated[
        bool,
        Help(
            "whether to exchange elements between shards instead of unsharding dimensions",
            default=True,
        ),
    ]
    replica_count: Annotated[
        Positive, Help("number of replicas, if devices are replicas of the program", default=1)
    ]
    partition_count: Annotated[
        Positive, Help("number of partitions, if devices are partitions of the program", default=1)
    ]
    per_dim_all_gather: Annotated[
        bool, Help("whether to emit one all-gather per dimension", default=False)
    ]
    combine_multi_dimension_reduce_scatter: Annotated[
        bool,
        Help(
            "whether to emit a single reduce-scatter for several dimensions instead of an "
            "all-reduce and a slice",
            default=True,
        ),
    ]
    hoist_reshards: Annotated[
        bool, Help("whether to reshard loop invariants before the loop", default=True)
    ]
    reassociate_reductions: Annotated[
        bool,
        Help("whether to complete partial results after linear operations on them", default=True),
    ]
    combine_collectives: Annotated[
        bool, Help("whether to combine independent collectives", default=False)
    ]
    prefer: Annotated[
        PreferredKind,
        Help(
            "kind of collective that an operation takes where it can do with this kind alone, "
            "whatever takes the least time",
            default="none",
        ),
    ]
    enable_rgv3: Annotated[
        bool,
        Help("whether to express replica groups along full axes by mesh axes", default=False),
    ]
    overlap: Annotated[
        Overlap,
        Help(
            "what hides communication behind computation: nothing, the order of the program, or "
            "also collectives of loops that run beside another iteration",
            default="none",
        ),
    ]
    overlap_memory: Annotated[
        str,
        Help(
            "limit of the peak memory of a device for overlap, such as 60GiB; if empty, the larger "
            "one of the peak without overlap and nine tenths of the device",
            default="",
        ),
    ]


class PartitionPipelineOptions(PartitionOptions, total=False):
    """The options of the partitioner, with its hardware, which the API takes in other forms."""

    hardware: Annotated[HardwareOption, Help(default=DEFAULT_HARDWARE)]


@register_pipeline("sdy-partition-pipeline", release="pyshardy")
def partition_pipeline(
    options: PartitionPipelineOptions = PartitionPipelineOptions(),
) -> PassPipeline:
    """Partition a propagated program: convert it to a local program with collectives."""
    options = with_defaults(PartitionPipelineOptions, options)
    counts = {
        "replica_count": options["replica_count"],
        "partition_count": options["partition_count"],
    }
    cost = {"hardware": options["hardware"]}
    combining = options["combine_multi_dimension_reduce_scatter"]
    memory = _overlap_memory(options)
    return pipeline_of(
        "sdy-lift-inlined-meshes",
        "sdy-mark-contracts",
        "sdy-call-sharded-composites",
        use("sdy-export-named-computations", keep_calls=True),
        *(["sdy-inline-small-functions", "symbol-dce"] if options["inline_functions"] else []),
        on_functions("sdy-collectives-to-reshards"),
        on_functions("sdy-remove-propagation-barriers"),
        "sdy-sharding-constraint-to-reshard",
        *([use("sdy-propagate-past-calls", **cost)] if options["propagate_past_calls"] else []),
        "sdy-close-shardings",
        "sdy-update-non-divisible-input-output-shardings",
        "sdy-insert-func-call-reshards",
        on_functions(
            "sdy-sort-within-shards",
            "sdy-unshard-size-one-dims",
            "sdy-static-updates-to-pads",
            "sdy-merge-pads",
            use("sdy-unshard-uneven-regions", **cost),
        ),
        use(
            "sdy-insert-explicit-reshards",
            enable_full_version=True,
            compatibility="cheapest",
            prefer=options["prefer"],
            **cost,
        ),
        *([on_functions(use("sdy-hoist-reshards", **cost))] if options["hoist_reshards"] else []),
        on_functions(use("sdy-move-reshards", **cost)),
        use(
            "sdy-resolve-permutation-factors",
            enable_halo_exchange=options["enable_halo_exchange"],
            **counts,
            **cost,
        ),
        on_functions(use("sdy-optimize-reshards", **cost)),
        "sdy-reshard-to-collectives",
        use("canonicalize", enable_patterns="sdy-collective"),
        *(
            [on_functions("sdy-reassociate-reductions")]
            if options["reassociate_reductions"]
            else []
        ),
        "sdy-pad-for-divisibility",
        use("sdy-resolve-single-device-sharding", **counts),
        use(
            "sdy-convert-global-to-local",
            per_dim_all_gather=options["per_dim_all_gather"],
            combine_multi_dimension_reduce_scatter=combining,
            enable_rgv3=options["enable_rgv3"],
            static_only=True,
            **counts,
            **cost,
        ),
        *([on_functions("sdy-combine-collectives")] if options["combine_collectives"] else []),
        "sdy-check-contracts",
        *[use(each, memory=memory, **cost) for each in _OVERLAPPING[options["overlap"]]],
        "sdy-drop-sharding-and-mesh",
    )


_OVERLAPPING: Mapping[str, Sequence[str]] = {
    "none": (),
    "schedule": ("sdy-schedule-collectives",),
    "all": ("sdy-pipeline-collectives", "sdy-schedule-collectives"),
}
"""The passes for each kind of overlap."""


def _overlap_memory(options: PartitionPipelineOptions) -> str:
    """Return the limit of the memory for overlap; warn if there is none to limit.

    Raises:
        UsageError: it is no size.
    """
    memory = options["overlap_memory"]
    if memory:
        bytes_of_text(memory, "overlap-memory")
        if options["overlap"] == "none":
            emit(warning("'overlap-memory' has no effect: 'overlap' is 'none'"))
    return memory


# --- MPI ------------------------------------------------------------------------------------------


@register_pipeline("stablehlo-to-mpi-pipeline")
def stablehlo_to_mpi_pipeline(*, devices: Natural = 0) -> PassPipeline:
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
