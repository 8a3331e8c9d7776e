# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline from a program with some shardings to one where every value has its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline
from pyshardy.pipelines.exporting import export_pipeline
from pyshardy.pipelines.importing import import_pipeline

FIRST_DUMP = 1
"""The number of the first saved module."""


_OWN_OPTIONS = (
    "keep_sharding_rules",
    "dump_directory",
    "conservative_propagation",
    "propagation_strategy",
    "run_op_priority_propagation",
    "debug_sharding_origins",
    "debug_propagation_edge_sharding",
    "avoid_export_for_partitioning",
    "enable_insert_explicit_collectives",
    "remove_all_gather_reduce_scatter_for_cmv1",
    "enable_explicit_gather_scatter_batching",
    "update_non_divisible_input_output_shardings",
    "inline_meshes",
    "compatible",
)
"""The options that Shardy's pipeline takes in C++ only, or not at all."""


@register_pipeline(
    "sdy-propagation-pipeline",
    release="0.10.2",
    option_releases=dict.fromkeys(_OWN_OPTIONS, "pyshardy"),
)
def propagation_pipeline(
    *,
    dedup_functions_fully: bool = False,
    keep_sharding_rules: bool = False,
    dump_directory: str = "",
    conservative_propagation: bool = False,
    propagation_strategy: Literal["aggressive", "basic", "basic-then-aggressive"] = "aggressive",
    run_op_priority_propagation: bool = True,
    debug_sharding_origins: bool = False,
    debug_propagation_edge_sharding: bool = False,
    avoid_export_for_partitioning: bool = False,
    enable_insert_explicit_collectives: bool = False,
    remove_all_gather_reduce_scatter_for_cmv1: bool = False,
    enable_explicit_gather_scatter_batching: bool = False,
    update_non_divisible_input_output_shardings: bool = True,
    inline_meshes: bool = False,
    compatible: bool = False,
) -> str:
    """Propagates shardings, with all that has to be done before and after.

    Args:
        dedup_functions_fully: whether a function has one sharding for all its calls
        keep_sharding_rules: whether to leave the sharding rules on the operations
        dump_directory: where to save the module at some stages; nowhere if empty
        conservative_propagation: whether to propagate full axes only, and not along the dimensions
            of windows and padding
        propagation_strategy: how conflicts within an operation are handled
        run_op_priority_propagation: whether operations through which shardings pass unchanged
            come first
        debug_sharding_origins: whether saved modules say where shardings come from
        debug_propagation_edge_sharding: whether saved modules say by which steps shardings came
            about
        avoid_export_for_partitioning: whether to leave constraints and groups as they are, and to
            insert no reshards
        enable_insert_explicit_collectives: whether to make every operation compatible with its
            shardings, by collectives
        remove_all_gather_reduce_scatter_for_cmv1: whether to leave gathers and scatters around
            matrix products to a later compiler, if there are explicit collectives
        enable_explicit_gather_scatter_batching: whether to make the batch dimensions of gathers
            and scatters explicit
        update_non_divisible_input_output_shardings: whether to shorten shardings of inputs and
            outputs that don't divide their dimensions evenly
        inline_meshes: whether to hold each mesh where it is used
        compatible: whether to do as C++ Shardy does also where that is wrong or has no rule
    """
    stages = propagation_stages(
        dedup_functions_fully=dedup_functions_fully,
        keep_sharding_rules=keep_sharding_rules,
        dump_directory=dump_directory,
        debug_sharding_origins=debug_sharding_origins,
        debug_propagation_edge_sharding=debug_propagation_edge_sharding,
        avoid_export_for_partitioning=avoid_export_for_partitioning,
        enable_insert_explicit_collectives=enable_insert_explicit_collectives,
        remove_all_gather_reduce_scatter_for_cmv1=remove_all_gather_reduce_scatter_for_cmv1,
        enable_explicit_gather_scatter_batching=enable_explicit_gather_scatter_batching,
        update_non_divisible_input_output_shardings=update_non_divisible_input_output_shardings,
        inline_meshes=inline_meshes,
        compatible=compatible,
    )
    # What comes after makes rules anew where it needs them, but it makes no conservative ones.
    propagate = pass_text(
        "sdy-user-priority-propagate",
        keep_sharding_rules=keep_sharding_rules or conservative_propagation or bool(dump_directory),
        module_dump_directory=dump_directory,
        module_dump_index=FIRST_DUMP + 1 if dump_directory else "",
        conservative_propagation=conservative_propagation,
        propagation_strategy="" if propagation_strategy == "aggressive" else propagation_strategy,
        run_op_priority_propagation="" if run_op_priority_propagation else "false",
        debug_sharding_origins=debug_sharding_origins,
        debug_propagation_edge_sharding=debug_propagation_edge_sharding,
        compatible=compatible,
    )
    return ",".join((stages.before, propagate, stages.after))


@dataclass(frozen=True, slots=True)
class PropagationStages:
    """The pipelines to run before and after the pass that propagates."""

    before: str
    after: str


def propagation_stages(
    *,
    dedup_functions_fully: bool = False,
    keep_sharding_rules: bool = False,
    dump_directory: str = "",
    debug_sharding_origins: bool = False,
    debug_propagation_edge_sharding: bool = False,
    avoid_export_for_partitioning: bool = False,
    enable_insert_explicit_collectives: bool = False,
    remove_all_gather_reduce_scatter_for_cmv1: bool = False,
    enable_explicit_gather_scatter_batching: bool = False,
    update_non_divisible_input_output_shardings: bool = True,
    inline_meshes: bool = False,
    compatible: bool = False,
) -> PropagationStages:
    """What `sdy-propagation-pipeline` runs around propagation, with its options of these names."""
    debug = {
        "debug_sharding_origins": debug_sharding_origins,
        "debug_propagation_edge_sharding": debug_propagation_edge_sharding,
    }
    imported = import_pipeline(
        FIRST_DUMP,
        dedup_functions_fully=dedup_functions_fully,
        enable_explicit_gather_scatter_batching=enable_explicit_gather_scatter_batching,
        dump_directory=dump_directory,
        **debug,
    )
    if dedup_functions_fully:
        before = ["sdy-add-func-data-flow-edges"]
        after = ["sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges"]
    else:
        # Each call is propagated through by itself, as if its function stood in its place.
        before = [
            "sdy-flatten-call-graph",
            "symbol-dce",
            "sdy-add-func-data-flow-edges",
            pass_text("sdy-apply-sharding-constraints", **debug),
            "func.func(sdy-sink-func-data-flow-edges)",
            "sdy-sharding-group-import",
            "sdy-import-func-calls{add-data-flow-edges-on-named-computations=true}",
            "symbol-dce",
        ]
        after = ["sdy-export-named-computations", "sdy-propagate-to-func-results"]
    exported = export_pipeline(
        FIRST_DUMP + 2,
        dump_directory=dump_directory,
        avoid_export_for_partitioning=avoid_export_for_partitioning,
        enable_insert_explicit_collectives=enable_insert_explicit_collectives,
        remove_all_gather_reduce_scatter_for_cmv1=remove_all_gather_reduce_scatter_for_cmv1,
        keep_sharding_rules=keep_sharding_rules,
        dump_sharding_origins=debug_sharding_origins,
        dump_propagation_edges=debug_propagation_edge_sharding,
        update_non_divisible_input_output_shardings=update_non_divisible_input_output_shardings,
        inline_meshes=inline_meshes,
        # Trimmed, they would be gathered for the call.
        keep_uneven_calls=not compatible,
    )
    return PropagationStages(
        ",".join([imported, *before, "sdy-pre-order-funcs"]),
        ",".join(
            [
                *after,
                "sdy-unflatten-call-graph",
                "symbol-dce",
                "sdy-insert-func-call-reshards",
                exported,
            ]
        ),
    )
