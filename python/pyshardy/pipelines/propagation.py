# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipelines that propagate the shardings of a program."""

# pyright: reportTypedDictNotRequiredAccess=false
# `with_defaults` adds the keys that the caller omits.

from __future__ import annotations

from typing import Annotated

from pyshardy.pipeline import (
    PassPipeline,
    PassUse,
    on_functions,
    pipeline_of,
    register_pipeline,
    use,
)
from pyshardy.pipeline.options import Help, with_defaults
from pyshardy.pipeline.registry import Element
from pyshardy.pipelines.exporting import (
    ExportOptions,
    InlineMeshes,
    RemoveForCollectiveMatmuls,
    UpdateInputOutputShardings,
    export_pipeline,
)
from pyshardy.pipelines.importing import (
    ImportOptions,
    apply_sharding_constraints,
    import_pipeline,
)
from pyshardy.propagation.options import (
    Compatible,
    ConservativePropagation,
    KeepShardingRules,
    PropagationStrategy,
    RunOpPriorityPropagation,
)

FIRST_DUMP = 1
"""Number of the first saved module."""


class PropagationOptions(ImportOptions, total=False):
    """The options of propagation and of the stages before and after it."""

    keep_sharding_rules: Annotated[KeepShardingRules, Help(release="pyshardy", default=False)]
    conservative_propagation: Annotated[
        ConservativePropagation, Help(release="pyshardy", default=False)
    ]
    propagation_strategy: Annotated[
        PropagationStrategy, Help(release="pyshardy", default="aggressive")
    ]
    run_op_priority_propagation: Annotated[
        RunOpPriorityPropagation, Help(release="pyshardy", default=True)
    ]
    avoid_export_for_partitioning: Annotated[
        bool,
        Help(
            "whether to keep constraints and groups, and to insert no reshards",
            "pyshardy",
            default=False,
        ),
    ]
    enable_insert_explicit_collectives: Annotated[
        bool,
        Help(
            "whether to make the shardings of all operations compatible, by collectives",
            "pyshardy",
            default=False,
        ),
    ]
    remove_all_gather_reduce_scatter_for_cmv1: Annotated[
        RemoveForCollectiveMatmuls, Help(release="pyshardy")
    ]
    update_non_divisible_input_output_shardings: Annotated[
        UpdateInputOutputShardings, Help(release="pyshardy")
    ]
    inline_meshes: Annotated[InlineMeshes, Help(release="pyshardy", default=False)]
    compatible: Annotated[Compatible, Help(default=False)]


class PropagationPipelineOptions(PropagationOptions, total=False):
    """The options of the whole pipeline, which takes programs with dynamic sizes."""

    dynamic: Annotated[
        bool,
        Help(
            "whether programs with dynamic sizes get the shardings found at hints of these",
            "pyshardy",
            default=True,
        ),
    ]
    hints: Annotated[
        str, Help("the hints of dynamic sizes, such as b:128,s:512", "pyshardy", default="")
    ]


@register_pipeline("sdy-propagation-pipeline", release="0.10.2")
def propagation_pipeline(
    options: PropagationPipelineOptions = PropagationPipelineOptions(),  # noqa: B008
) -> PassPipeline:
    """Import a program, propagate its shardings, and export it."""
    options = with_defaults(PropagationPipelineOptions, options)
    passes = before_propagation(options), propagation_itself(options), after_propagation(options)
    if options["compatible"] or not options["dynamic"]:
        return pipeline_of(*passes)
    return pipeline_of(use("sdy-plan-at-hints", hints=options["hints"]), *passes, "sdy-take-plan")


def before_propagation(options: PropagationOptions) -> PassPipeline:
    """Return the passes that import a program."""
    if options["dedup_functions_fully"]:
        calls: list[Element] = ["sdy-add-func-data-flow-edges"]
    else:
        # Each call is propagated separately, as if its function were inlined.
        calls = [
            "sdy-flatten-call-graph",
            "symbol-dce",
            "sdy-add-func-data-flow-edges",
            apply_sharding_constraints(options),
            on_functions("sdy-sink-func-data-flow-edges"),
            "sdy-sharding-group-import",
            use("sdy-import-func-calls", keep_no_inline=not options["compatible"]),
            "symbol-dce",
        ]
    imported = import_pipeline(options, first_dump=FIRST_DUMP)
    return pipeline_of(imported, *calls, "sdy-pre-order-funcs")


def after_propagation(options: PropagationOptions) -> PassPipeline:
    """Return the passes that export a program."""
    if options["dedup_functions_fully"]:
        calls = ["sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges"]
    else:
        calls = ["sdy-export-named-computations", "sdy-propagate-to-func-results"]
    return pipeline_of(
        *calls,
        "sdy-unflatten-call-graph",
        "symbol-dce",
        "sdy-insert-func-call-reshards",
        export_pipeline(_export_options(options), first_dump=FIRST_DUMP + 2),
    )


def propagation_itself(options: PropagationOptions) -> PassUse:
    """Return the pass that propagates; it may run again on a program that has more shardings."""
    saves = bool(options["dump_directory"])
    # Later passes recreate the rules that they need, but not conservative ones.
    keep_rules = options["keep_sharding_rules"] or options["conservative_propagation"] or saves
    return use(
        "sdy-user-priority-propagate",
        keep_sharding_rules=keep_rules,
        module_dump_directory=options["dump_directory"],
        module_dump_index=FIRST_DUMP + 1 if saves else 0,
        conservative_propagation=options["conservative_propagation"],
        propagation_strategy=options["propagation_strategy"],
        run_op_priority_propagation=options["run_op_priority_propagation"],
        debug_sharding_origins=options["debug_sharding_origins"],
        debug_propagation_edge_sharding=options["debug_propagation_edge_sharding"],
        compatible=options["compatible"],
    )


def _export_options(options: PropagationOptions) -> ExportOptions:
    """Return the options of the stage after propagation."""
    return ExportOptions(
        dump_directory=options["dump_directory"],
        avoid_export_for_partitioning=options["avoid_export_for_partitioning"],
        enable_insert_explicit_collectives=options["enable_insert_explicit_collectives"],
        remove_all_gather_reduce_scatter_for_cmv1=(
            options["remove_all_gather_reduce_scatter_for_cmv1"]
        ),
        keep_sharding_rules=options["keep_sharding_rules"],
        dump_sharding_origins=options["debug_sharding_origins"],
        dump_propagation_edges=options["debug_propagation_edge_sharding"],
        update_non_divisible_input_output_shardings=(
            options["update_non_divisible_input_output_shardings"]
        ),
        inline_meshes=options["inline_meshes"],
        # Shortening these shardings would gather the values for the call.
        keep_uneven_calls=not options["compatible"],
    )


@register_pipeline("sdy-basic-propagation-pipeline", release="pyshardy")
def basic_propagation_pipeline() -> PassPipeline:
    """Propagate shardings with the basic strategy and convert constraints to reshards."""
    return pipeline_of(
        "sdy-lift-inlined-meshes",
        "sdy-add-func-data-flow-edges",
        "sdy-basic-propagate",
        "sdy-propagate-to-func-results",
        "sdy-sink-func-data-flow-edges",
        "sdy-sharding-constraint-to-reshard",
        "sdy-close-shardings",
    )
