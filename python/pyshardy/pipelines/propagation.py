# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that propagates the shardings of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline
from pyshardy.pipelines.exporting import export_pipeline
from pyshardy.pipelines.importing import import_pipeline

FIRST_DUMP = 1
"""Number of the first saved module."""


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
"""Options that `sdy_opt` of Shardy does not take for this pipeline."""


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
    """Imports a program, propagates its shardings, and exports it.

    Args:
        dedup_functions_fully: whether a function has the same shardings in all its calls
        keep_sharding_rules: whether to keep the sharding rules on the operations
        dump_directory: directory to which the module is saved at some stages; empty to save nothing
        conservative_propagation: whether to propagate full axes only, and not along dimensions of
            windows and padding
        propagation_strategy: resolution of conflicts between the factors of an operation
        run_op_priority_propagation: whether to propagate through pass-through operations first
        debug_sharding_origins: whether saved modules contain the origins of shardings
        debug_propagation_edge_sharding: whether saved modules contain the steps of propagation
        avoid_export_for_partitioning: whether to keep constraints and groups, and to insert no
            reshards
        enable_insert_explicit_collectives: whether to make the shardings of all operations
            compatible, by collectives
        remove_all_gather_reduce_scatter_for_cmv1: whether to remove all-gathers and
            reduce-scatters around matrix products, for a compiler that inserts them as collective
            matmuls; only with explicit collectives
        enable_explicit_gather_scatter_batching: whether to make the batch dimensions of gathers
            and scatters explicit
        update_non_divisible_input_output_shardings: whether to shorten shardings of inputs and
            outputs that do not divide their dimensions
        inline_meshes: whether to replace mesh symbols by the meshes
        compatible: whether to reproduce C++ Shardy where it is wrong or lacks a sharding rule
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
    # Later passes recreate the rules that they need, but not conservative ones.
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
    """Return the stages of `sdy-propagation-pipeline` before and after propagation.

    The options are those of the pipeline.
    """
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
        # Each call is propagated separately, as if its function were inlined.
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
        # Shortening these shardings would gather the values for the call.
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
