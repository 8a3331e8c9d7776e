# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that cleans up after propagation and inserts reshards."""

from __future__ import annotations

from typing import Literal

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline
from pyshardy.pipelines.dumps import Dumps

PartitionerStage = Literal[
    "none",
    "resolve-permutation-factors",
    "reshard-to-collectives",
    "optimize-collectives",
    "pad-for-divisibility",
    "resolve-single-device-sharding",
    "convert-global-to-local",
]


@register_pipeline(
    "sdy-export-pipeline",
    release="0.10.2",
    option_releases={"keep_uneven_calls": "pyshardy"}
    | dict.fromkeys(
        (
            "replica_count",
            "partition_count",
            "enable_per_instruction_partitioning",
            "per_instruction_partitioning_filter",
            "inline_meshes",
            "mark_partial_result_with_unreduced_axes",
            "partitioner_stage",
        ),
        "0.12",
    ),
)
def export_pipeline(
    first_dump: int = 0,
    *,
    replica_count: int = 1,
    partition_count: int = 1,
    dump_directory: str = "",
    avoid_export_for_partitioning: bool = False,
    enable_insert_explicit_collectives: bool = False,
    remove_all_gather_reduce_scatter_for_cmv1: bool = False,
    enable_per_instruction_partitioning: bool = False,
    per_instruction_partitioning_filter: str = "",
    keep_sharding_rules: bool = False,
    dump_sharding_origins: bool = False,
    dump_propagation_edges: bool = False,
    avoid_reshards_on_calls: bool = False,
    update_non_divisible_input_output_shardings: bool = True,
    inline_meshes: bool = True,
    mark_partial_result_with_unreduced_axes: bool = False,
    partitioner_stage: PartitionerStage = "none",
    keep_uneven_calls: bool = False,
) -> str:
    """Cleans up after propagation and inserts the reshards that operations require.

    Args:
        first_dump: number of the first saved module.
        replica_count: number of replicas of the partitioned program
        partition_count: number of partitions of the partitioned program
        dump_directory: directory to which the module is saved at some stages; empty to save nothing
        avoid_export_for_partitioning: whether to keep constraints, groups and mesh symbols, and to
            insert no reshards
        enable_insert_explicit_collectives: whether to make the shardings of all operations
            compatible, by collectives instead of reshards
        remove_all_gather_reduce_scatter_for_cmv1: whether to remove all-gathers and
            reduce-scatters around matrix products, for a compiler that inserts them as collective
            matmuls; only with explicit collectives
        enable_per_instruction_partitioning: whether to partition single operations instead of
            inserting collectives
        per_instruction_partitioning_filter: conditions that select the operations to partition
        keep_sharding_rules: whether to keep the sharding rules on the operations
        dump_sharding_origins: whether saved modules contain the origins of shardings
        dump_propagation_edges: whether saved modules contain the steps of propagation
        avoid_reshards_on_calls: has no effect; accepted for compatibility
        update_non_divisible_input_output_shardings: whether to shorten shardings of inputs and
            outputs that do not divide their dimensions
        inline_meshes: whether to replace mesh symbols by the meshes
        mark_partial_result_with_unreduced_axes: whether to mark partial results: the axes of the
            all-reduce that follows become unreduced axes of the sharding
        partitioner_stage: last stage of the partitioner to run
        keep_uneven_calls: whether private functions and their calls keep shardings that do not
            divide their dimensions

    Raises:
        ValueError: a stage is given together with another way to partition, or without export.
    """
    if partitioner_stage != "none":
        for name, is_set in (
            ("avoid-export-for-partitioning", avoid_export_for_partitioning),
            ("enable-insert-explicit-collectives", enable_insert_explicit_collectives),
            ("enable-per-instruction-partitioning", enable_per_instruction_partitioning),
        ):
            if is_set:
                raise ValueError(
                    f"partitioner-stage={partitioner_stage} cannot be combined with {name}=true"
                )
    # Accepted for callers of C++ Shardy.
    del avoid_reshards_on_calls
    dumps = Dumps(dump_directory, first_dump)
    is_export = not avoid_export_for_partitioning
    steps = [
        "sdy-constant-or-scalar-merger",
        pass_text(
            "sdy-sink-data-flow-edges",
            sink_debug_sharding_origins=dump_sharding_origins,
            sink_debug_propagation_edge_sharding=dump_propagation_edges,
        ),
    ]
    if is_export:
        steps += ["sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard"]
    if update_non_divisible_input_output_shardings:
        steps += [
            pass_text(
                "sdy-update-non-divisible-input-output-shardings",
                public_functions_only=keep_uneven_calls,
            ),
            "sdy-remove-sub-axes-in-input-output-shardings",
        ]
    steps += ["sdy-close-shardings", *dumps.save("after_propagation")]
    if partitioner_stage != "none":
        steps += _stages(dumps, partitioner_stage, replica_count, partition_count)
    elif is_export:
        per_instruction = pass_text(
            "sdy-per-instruction-partitioning",
            filter=per_instruction_partitioning_filter,
            replica_count="" if replica_count == 1 else replica_count,
            partition_count="" if partition_count == 1 else partition_count,
        )
        steps += _partitioner(
            dumps,
            per_instruction=per_instruction if enable_per_instruction_partitioning else "",
            explicit_collectives=enable_insert_explicit_collectives,
            for_cmv1=remove_all_gather_reduce_scatter_for_cmv1,
            marks_partial=mark_partial_result_with_unreduced_axes,
        )
    if dump_sharding_origins or dump_propagation_edges:
        steps.append("sdy-remove-propagation-debug-info")
    if not keep_sharding_rules:
        steps.append("sdy-drop-sharding-rules")
    if is_export and inline_meshes:
        steps.append("sdy-inline-meshes")
    return ",".join(steps)


def _partitioner(
    dumps: Dumps,
    *,
    per_instruction: str,
    explicit_collectives: bool,
    for_cmv1: bool,
    marks_partial: bool,
) -> list[str]:
    """Return the steps that insert communication."""
    is_full = explicit_collectives or bool(per_instruction)
    steps = [
        "sdy-verify-unreduced-axes",
        pass_text(
            "sdy-insert-explicit-reshards",
            enable_full_version=is_full,
            mark_partial_result_with_unreduced_axes=marks_partial,
        ),
    ]
    if is_full:
        steps += dumps.save("after_explicit_reshards")
    if per_instruction:
        steps.append(per_instruction)
    elif explicit_collectives:
        steps += [
            "canonicalize{enable-patterns=sdy-reshard}",
            "sdy-reshard-to-collectives",
            "sdy-optimize-collectives",
        ]
    steps.append("canonicalize{enable-patterns=sdy-collective}")
    if explicit_collectives and for_cmv1:
        steps.append("sdy-remove-all-gather-reduce-scatter-for-cmv1")
    kind = "partitioner" if explicit_collectives else "minimal_partitioner"
    return [*steps, *dumps.save(f"after_{kind}_with_global_shapes")]


def _stages(
    dumps: Dumps, last: PartitionerStage, replica_count: int, partition_count: int
) -> list[str]:
    """Return the steps that partition the program up to a stage.

    The meshes of partial results and of replica groups are symbols until the end.
    """
    counts = {
        "replica_count": "" if replica_count == 1 else replica_count,
        "partition_count": "" if partition_count == 1 else partition_count,
    }
    fold = "canonicalize{enable-patterns=sdy-collective}"
    stages: dict[PartitionerStage, list[str]] = {
        "resolve-permutation-factors": [pass_text("sdy-resolve-permutation-factors", **counts)],
        "reshard-to-collectives": ["sdy-reshard-to-collectives"],
        "optimize-collectives": ["sdy-optimize-collectives", fold],
        "pad-for-divisibility": ["sdy-pad-for-divisibility"],
        "resolve-single-device-sharding": [
            pass_text("sdy-resolve-single-device-sharding", **counts)
        ],
        "convert-global-to-local": [
            pass_text("sdy-convert-global-to-local", **counts),
            "sdy-drop-sharding-and-mesh{keep-module-sharding-metadata=true}",
        ],
    }
    wanted = list(stages)[: list(stages).index(last) + 1]
    return [
        "sdy-verify-unreduced-axes",
        "sdy-insert-explicit-reshards{enable-full-version=true "
        "mark-partial-result-with-unreduced-axes=true}",
        *dumps.save("after_explicit_reshards"),
        "canonicalize{enable-patterns=sdy-reshard}",
        *(step for stage in wanted for step in stages[stage]),
        fold,
        *dumps.save("after_partitioner_with_global_shapes"),
    ]
