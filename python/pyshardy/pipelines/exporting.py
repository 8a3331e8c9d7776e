# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that cleans up after propagation and inserts reshards."""

# pyright: reportTypedDictNotRequiredAccess=false
# `with_defaults` adds the keys that the caller omits.

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, register_pipeline, use
from pyshardy.pipeline.options import Help, Positive, with_defaults
from pyshardy.pipeline.registry import Element
from pyshardy.pipelines.dumps import DumpDirectory, Dumps
from pyshardy.propagation.options import KeepShardingRules

PartitionerStage = Literal[
    "none",
    "resolve-permutation-factors",
    "reshard-to-collectives",
    "optimize-collectives",
    "pad-for-divisibility",
    "resolve-single-device-sharding",
    "convert-global-to-local",
]


InlineMeshes = Annotated[bool, Help("whether to replace mesh symbols by the meshes")]
RemoveForCollectiveMatmuls = Annotated[
    bool,
    Help(
        "whether to remove all-gathers and reduce-scatters around matrix products, for a compiler "
        "that inserts them as collective matmuls; only with explicit collectives",
        default=False,
    ),
]
UpdateInputOutputShardings = Annotated[
    bool,
    Help(
        "whether to shorten shardings of inputs and outputs that do not divide their dimensions",
        default=True,
    ),
]


class ExportOptions(TypedDict, total=False):
    """The options of the stage after propagation."""

    replica_count: Annotated[
        Positive, Help("number of replicas of the partitioned program", "0.12", default=1)
    ]
    partition_count: Annotated[
        Positive, Help("number of partitions of the partitioned program", "0.12", default=1)
    ]
    dump_directory: DumpDirectory
    avoid_export_for_partitioning: Annotated[
        bool,
        Help(
            "whether to keep constraints, groups and mesh symbols, and to insert no reshards",
            default=False,
        ),
    ]
    enable_insert_explicit_collectives: Annotated[
        bool,
        Help(
            "whether to make the shardings of all operations compatible, by collectives instead of "
            "reshards",
            default=False,
        ),
    ]
    remove_all_gather_reduce_scatter_for_cmv1: RemoveForCollectiveMatmuls
    enable_per_instruction_partitioning: Annotated[
        bool,
        Help(
            "whether to partition single operations instead of inserting collectives",
            "0.12",
            default=False,
        ),
    ]
    per_instruction_partitioning_filter: Annotated[
        str, Help("conditions that select the operations to partition", "0.12", default="")
    ]
    keep_sharding_rules: Annotated[KeepShardingRules, Help(default=False)]
    dump_sharding_origins: Annotated[
        bool, Help("whether saved modules contain the origins of shardings", default=False)
    ]
    dump_propagation_edges: Annotated[
        bool, Help("whether saved modules contain the steps of propagation", default=False)
    ]
    avoid_reshards_on_calls: Annotated[
        bool, Help("has no effect; accepted for compatibility", default=False)
    ]
    update_non_divisible_input_output_shardings: UpdateInputOutputShardings
    inline_meshes: Annotated[InlineMeshes, Help(release="0.12", default=True)]
    mark_partial_result_with_unreduced_axes: Annotated[
        bool,
        Help(
            "whether to mark partial results: the axes of the all-reduce that follows become "
            "unreduced axes of the sharding",
            "0.12",
            default=False,
        ),
    ]
    partitioner_stage: Annotated[
        PartitionerStage, Help("last stage of the partitioner to run", "0.12", default="none")
    ]
    keep_uneven_calls: Annotated[
        bool,
        Help(
            "whether private functions and their calls keep shardings that do not divide their "
            "dimensions",
            "pyshardy",
            default=False,
        ),
    ]


@register_pipeline("sdy-export-pipeline", release="0.10.2")
def export_pipeline(
    options: ExportOptions = ExportOptions(),
    *,
    first_dump: int = 0,
) -> PassPipeline:
    """Clean up after propagation and insert the reshards that operations require.

    Args:
        options: the options.
        first_dump: number of the first saved module.

    Raises:
        ValueError: a stage is given together with another way to partition, or without export.
    """
    options = with_defaults(ExportOptions, options)
    _check(options)
    dumps = Dumps(options["dump_directory"], first_dump)
    is_export = not options["avoid_export_for_partitioning"]
    steps: list[Element] = [
        "sdy-constant-or-scalar-merger",
        use(
            "sdy-sink-data-flow-edges",
            sink_debug_sharding_origins=options["dump_sharding_origins"],
            sink_debug_propagation_edge_sharding=options["dump_propagation_edges"],
        ),
    ]
    if is_export:
        steps += ["sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard"]
    if options["update_non_divisible_input_output_shardings"]:
        steps += [
            use(
                "sdy-update-non-divisible-input-output-shardings",
                public_functions_only=options["keep_uneven_calls"],
            ),
            "sdy-remove-sub-axes-in-input-output-shardings",
        ]
    steps += ["sdy-close-shardings", *dumps.save("after_propagation")]
    if options["partitioner_stage"] != "none":
        steps += _stages(dumps, options)
    elif is_export:
        steps += _partitioner(dumps, options)
    if options["dump_sharding_origins"] or options["dump_propagation_edges"]:
        steps.append("sdy-remove-propagation-debug-info")
    if not options["keep_sharding_rules"]:
        steps.append("sdy-drop-sharding-rules")
    if is_export and options["inline_meshes"]:
        steps.append("sdy-inline-meshes")
    return pipeline_of(*steps)


def _check(options: ExportOptions) -> None:
    stage = options["partitioner_stage"]
    if stage == "none":
        return
    for name, is_set in (
        ("avoid-export-for-partitioning", options["avoid_export_for_partitioning"]),
        ("enable-insert-explicit-collectives", options["enable_insert_explicit_collectives"]),
        ("enable-per-instruction-partitioning", options["enable_per_instruction_partitioning"]),
    ):
        if is_set:
            raise ValueError(f"partitioner-stage={stage} cannot be combined with {name}=true")


_FOLD_RESHARDS = use("canonicalize", enable_patterns="sdy-reshard")
_FOLD_COLLECTIVES = use("canonicalize", enable_patterns="sdy-collective")


def _counting(argument: str, options: ExportOptions, **others: str) -> PassUse:
    """Return a pass that numbers the devices, with the numbers of replicas and partitions."""
    return use(
        argument,
        **others,
        replica_count=options["replica_count"],
        partition_count=options["partition_count"],
    )


def _partitioner(dumps: Dumps, options: ExportOptions) -> list[Element]:
    """Return the steps that insert communication."""
    per_instruction = options["enable_per_instruction_partitioning"]
    explicit_collectives = options["enable_insert_explicit_collectives"]
    is_full = explicit_collectives or per_instruction
    steps: list[Element] = [
        "sdy-verify-unreduced-axes",
        use(
            "sdy-insert-explicit-reshards",
            enable_full_version=is_full,
            mark_partial_result_with_unreduced_axes=options[
                "mark_partial_result_with_unreduced_axes"
            ],
        ),
    ]
    if is_full:
        steps += dumps.save("after_explicit_reshards")
    if per_instruction:
        instructions = options["per_instruction_partitioning_filter"]
        steps.append(_counting("sdy-per-instruction-partitioning", options, filter=instructions))
    elif explicit_collectives:
        steps += [_FOLD_RESHARDS, "sdy-reshard-to-collectives", "sdy-optimize-collectives"]
    steps.append(_FOLD_COLLECTIVES)
    if explicit_collectives and options["remove_all_gather_reduce_scatter_for_cmv1"]:
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
    wanted = list(stages)[: list(stages).index(options["partitioner_stage"]) + 1]
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
