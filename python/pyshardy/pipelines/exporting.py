# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that cleans up after propagation and inserts reshards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, register_pipeline, use
from pyshardy.pipeline.building import Element
from pyshardy.pipeline.options import option
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


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of the stage after propagation.

    Attributes:
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
    """

    replica_count: int = option(1, release="0.12")
    partition_count: int = option(1, release="0.12")
    dump_directory: str = ""
    avoid_export_for_partitioning: bool = False
    enable_insert_explicit_collectives: bool = False
    remove_all_gather_reduce_scatter_for_cmv1: bool = False
    enable_per_instruction_partitioning: bool = option(False, release="0.12")
    per_instruction_partitioning_filter: str = option("", release="0.12")
    keep_sharding_rules: bool = False
    dump_sharding_origins: bool = False
    dump_propagation_edges: bool = False
    avoid_reshards_on_calls: bool = False
    update_non_divisible_input_output_shardings: bool = True
    inline_meshes: bool = option(True, release="0.12")
    mark_partial_result_with_unreduced_axes: bool = option(False, release="0.12")
    partitioner_stage: PartitionerStage = option("none", release="0.12")
    keep_uneven_calls: bool = option(False, release="pyshardy")


@register_pipeline("sdy-export-pipeline", release="0.10.2")
def export_pipeline(
    options: ExportOptions = ExportOptions(),
    *,
    first_dump: int = 0,
) -> PassPipeline:
    """Cleans up after propagation and inserts the reshards that operations require.

    Args:
        options: the options.
        first_dump: number of the first saved module.

    Raises:
        ValueError: a stage is given together with another way to partition, or without export.
    """
    _check(options)
    dumps = Dumps(options.dump_directory, first_dump)
    is_export = not options.avoid_export_for_partitioning
    steps: list[Element] = [
        "sdy-constant-or-scalar-merger",
        use(
            "sdy-sink-data-flow-edges",
            sink_debug_sharding_origins=options.dump_sharding_origins,
            sink_debug_propagation_edge_sharding=options.dump_propagation_edges,
        ),
    ]
    if is_export:
        steps += ["sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard"]
    if options.update_non_divisible_input_output_shardings:
        steps += [
            use(
                "sdy-update-non-divisible-input-output-shardings",
                public_functions_only=options.keep_uneven_calls,
            ),
            "sdy-remove-sub-axes-in-input-output-shardings",
        ]
    steps += ["sdy-close-shardings", *dumps.save("after_propagation")]
    if options.partitioner_stage != "none":
        steps += _stages(dumps, options)
    elif is_export:
        steps += _partitioner(dumps, options)
    if options.dump_sharding_origins or options.dump_propagation_edges:
        steps.append("sdy-remove-propagation-debug-info")
    if not options.keep_sharding_rules:
        steps.append("sdy-drop-sharding-rules")
    if is_export and options.inline_meshes:
        steps.append("sdy-inline-meshes")
    return pipeline_of(*steps)


def _check(options: ExportOptions) -> None:
    if options.partitioner_stage == "none":
        return
    for name, is_set in (
        ("avoid-export-for-partitioning", options.avoid_export_for_partitioning),
        ("enable-insert-explicit-collectives", options.enable_insert_explicit_collectives),
        ("enable-per-instruction-partitioning", options.enable_per_instruction_partitioning),
    ):
        if is_set:
            raise ValueError(
                f"partitioner-stage={options.partitioner_stage} cannot be combined with {name}=true"
            )


_FOLD_RESHARDS = use("canonicalize", enable_patterns="sdy-reshard")
_FOLD_COLLECTIVES = use("canonicalize", enable_patterns="sdy-collective")


def _counting(argument: str, options: ExportOptions, **others: str) -> PassUse:
    """Return a pass that numbers the devices, with the numbers of replicas and partitions."""
    return use(
        argument,
        **others,
        replica_count=options.replica_count,
        partition_count=options.partition_count,
    )


def _partitioner(dumps: Dumps, options: ExportOptions) -> list[Element]:
    """Return the steps that insert communication."""
    per_instruction = options.enable_per_instruction_partitioning
    explicit_collectives = options.enable_insert_explicit_collectives
    is_full = explicit_collectives or per_instruction
    steps: list[Element] = [
        "sdy-verify-unreduced-axes",
        use(
            "sdy-insert-explicit-reshards",
            enable_full_version=is_full,
            mark_partial_result_with_unreduced_axes=options.mark_partial_result_with_unreduced_axes,
        ),
    ]
    if is_full:
        steps += dumps.save("after_explicit_reshards")
    if per_instruction:
        instructions = options.per_instruction_partitioning_filter
        steps.append(_counting("sdy-per-instruction-partitioning", options, filter=instructions))
    elif explicit_collectives:
        steps += [_FOLD_RESHARDS, "sdy-reshard-to-collectives", "sdy-optimize-collectives"]
    steps.append(_FOLD_COLLECTIVES)
    if explicit_collectives and options.remove_all_gather_reduce_scatter_for_cmv1:
        steps.append("sdy-remove-all-gather-reduce-scatter-for-cmv1")
    kind = "partitioner" if explicit_collectives else "minimal_partitioner"
    return [*steps, *dumps.save(f"after_{kind}_with_global_shapes")]


def _stages(dumps: Dumps, options: ExportOptions) -> list[Element]:
    """Return the steps that partition the program up to a stage.

    The meshes of partial results and of replica groups are symbols until the end.
    """
    stages: dict[PartitionerStage, list[Element]] = {
        "resolve-permutation-factors": [_counting("sdy-resolve-permutation-factors", options)],
        "reshard-to-collectives": ["sdy-reshard-to-collectives"],
        "optimize-collectives": ["sdy-optimize-collectives", _FOLD_COLLECTIVES],
        "pad-for-divisibility": ["sdy-pad-for-divisibility"],
        "resolve-single-device-sharding": [
            _counting("sdy-resolve-single-device-sharding", options)
        ],
        "convert-global-to-local": [
            _counting("sdy-convert-global-to-local", options),
            use("sdy-drop-sharding-and-mesh", keep_module_sharding_metadata=True),
        ],
    }
    wanted = list(stages)[: list(stages).index(options.partitioner_stage) + 1]
    return [
        "sdy-verify-unreduced-axes",
        use(
            "sdy-insert-explicit-reshards",
            enable_full_version=True,
            mark_partial_result_with_unreduced_axes=True,
        ),
        *dumps.save("after_explicit_reshards"),
        _FOLD_RESHARDS,
        *(step for stage in wanted for step in stages[stage]),
        _FOLD_COLLECTIVES,
        *dumps.save("after_partitioner_with_global_shapes"),
    ]
