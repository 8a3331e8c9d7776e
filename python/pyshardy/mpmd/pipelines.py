# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named pipelines of MPMD passes, registered when this module is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.mpmd.options import (
    Constraints,
    ErrorLimit,
    FailOnBackwardDeps,
    FailOnInferredFragments,
    FailOnParamTransfers,
    FailOnReshards,
    IndexAssignment,
    InferReductions,
    InferTransfers,
    MaxClones,
    NameAssignment,
    ParamTransferPattern,
    Transfers,
)
from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, register_pipeline, use
from pyshardy.pipeline.options import Help
from pyshardy.pipelines.propagation import PropagationPipelineOptions, propagation_pipeline

MergeAfterScheduling = Annotated[
    bool, Help("whether to merge inferred fragments after scheduling instead of before")
]


@register_pipeline("mpmd-infer-mesh-pipeline", release="0.10.2")
def infer_mesh_pipeline(
    *,
    infer_transfers: InferTransfers = False,
    infer_cross_mesh_reductions: InferReductions = False,
    max_clones: MaxClones = 1,
    error_limit: ErrorLimit = 5,
    input_output_constraints: Constraints = (),
) -> PassPipeline:
    """Infer the meshes of operations outside of named computations."""
    transfers, limit = infer_transfers, error_limit

    def checks(name: str) -> list[PassUse]:
        return [] if transfers else [use(name, error_limit=limit)]

    return pipeline_of(
        "mpmd-infer-mesh-populate-use-set",
        "mpmd-infer-mesh-populate-src-set",
        *(
            [
                use(
                    "mpmd-infer-mesh-assign-using-input-output-constraints",
                    constraints=input_output_constraints,
                )
            ]
            if input_output_constraints
            else []
        ),
        use(
            "mpmd-infer-mesh-convert-reduce-ops",
            infer_cross_mesh_reductions=infer_cross_mesh_reductions or transfers,
        ),
        *checks("mpmd-infer-mesh-validate-src-set-not-empty"),
        use(
            "mpmd-infer-mesh-assign-mesh-func-leaves",
            infer_transfers=transfers,
            error_limit=limit,
        ),
        "mpmd-infer-mesh-populate-use-set",
        *checks("mpmd-infer-mesh-validate-no-additional-transfers-needed"),
        use("mpmd-infer-mesh-rewrite-using-analysis", max_clones=max_clones),
        "mpmd-infer-mesh-finalize",
    )


@register_pipeline("mpmd-import-pipeline", release="0.10.2")
def import_pipeline(
    *,
    name_to_mesh_assignment: NameAssignment = (),
    input_assignment: Annotated[IndexAssignment, Help("meshes of arguments")] = (),
    output_assignment: Annotated[IndexAssignment, Help("meshes of results")] = (),
    infer_transfers: InferTransfers = False,
    infer_cross_mesh_reductions: InferReductions = False,
    max_clones: MaxClones = 1,
    error_limit: ErrorLimit = 5,
    input_output_constraints: Constraints = (),
    merge_after_scheduling: MergeAfterScheduling = False,
    enable_heterogeneous_meshes: Annotated[
        bool, Help("whether to declare a mesh for each mesh of the topology")
    ] = False,
    absorb_inferred_fragments_on_entry_point_function: Annotated[
        bool, Help("whether to absorb inferred fragments in the entry point, too")
    ] = False,
    split_bwd_fragments: Annotated[
        bool, Help("whether to split backward fragments, for schedules without a bubble")
    ] = False,
    verify_schedule_units: Annotated[
        bool, Help("whether to check the number of scheduling units of each mesh")
    ] = False,
) -> PassPipeline:
    """Convert named computations to fragments on meshes, and infer the meshes of the rest."""
    names = name_to_mesh_assignment
    absorbing = absorb(absorb_inferred_fragments_on_entry_point_function)
    return pipeline_of(
        "mpmd-unroll-scan",
        "mpmd-import-names",
        "chlo-legalize-to-stablehlo",
        "inline",
        "mpmd-inline-func-calls",
        "cse",
        "canonicalize",
        "mpmd-copy-topology-from-main",
        *(["mpmd-generate-sdy-meshes-from-topology"] if enable_heterogeneous_meshes else []),
        "mpmd-unroll-for-loops",
        "canonicalize",
        "mpmd-from-unroll-to-call-counter",
        "mpmd-sink-negligible-ops-into-call-op",
        "mpmd-insert-nameless-clone-of-negligible-ops",
        "mpmd-simplify-named-computations",
        use(
            "mpmd-map-input-output-to-mesh",
            input_assignment=input_assignment,
            output_assignment=output_assignment,
        ),
        use("mpmd-inline-nested-user-exposed-ops", assignment=names),
        "mpmd-validate-named-ops-in-mpmd-func",
        use("mpmd-map-named-ops-to-mpmd-ops", assignment=names),
        "mpmd-introduce-transfers",
        "mpmd-erase-unused-callee-block-arguments",
        infer_mesh_pipeline(
            infer_transfers=infer_transfers,
            infer_cross_mesh_reductions=infer_cross_mesh_reductions,
            max_clones=max_clones,
            error_limit=error_limit,
            input_output_constraints=input_output_constraints,
        ),
        *([] if merge_after_scheduling else absorbing),
        *(
            [use("mpmd-enforce-input-output-equisharding", constraints=input_output_constraints)]
            if input_output_constraints
            else []
        ),
        "mpmd-fragment-dedup",
        "mpmd-fragment-dce",
        "mpmd-remove-transfer-cycles",
        "mpmd-call-inline",
        *([] if merge_after_scheduling else ["mpmd-merge-inferred-fragments"]),
        "mpmd-move-transfers-to-producer",
        "mpmd-merge-user-fragments-into-scheduling-units",
        *(["mpmd-scheduling-units-verifier"] if verify_schedule_units else []),
        *(split_backward() if split_bwd_fragments else []),
    )


@register_pipeline("mpmd-optimize-pipeline", release="0.10.2")
def optimize_pipeline(
    *,
    pipeline_schedule: Annotated[str, Help("the schedule; see `mpmd-pipeline-scheduler`")] = "1F1B",
    merge_after_scheduling: MergeAfterScheduling = False,
    absorb_inferred_fragments_on_entry_point_function: Annotated[
        bool, Help("whether to absorb inferred fragments in the entry point, too")
    ] = False,
    fragment_schedule_rules: Annotated[
        str, Help("rules instead of the schedule; see `mpmd-rule-based-schedule`")
    ] = "",
    fragment_merge_rules: Annotated[str, Help("see `mpmd-rule-based-merge`")] = "",
    fragment_remat: Annotated[bool, Help("whether to compute forward fragments again")] = False,
    merge_remat_fragments: Annotated[bool, Help("see `mpmd-remat-fragment`")] = False,
    merge_forward_with_backward: Annotated[
        bool, Help("whether to merge forward fragments with backward ones right after them")
    ] = False,
) -> PassPipeline:
    """Order fragments by a schedule or by rules."""
    on_entry_point = absorb_inferred_fragments_on_entry_point_function
    scheduled = use("mpmd-pipeline-scheduler", must_happen_before=pipeline_schedule)
    if fragment_schedule_rules:
        scheduled = use("mpmd-rule-based-schedule", rules=fragment_schedule_rules)
    remat = use("mpmd-remat-fragment", merge_remat_fragments=merge_remat_fragments)
    return pipeline_of(
        scheduled,
        *(
            [use("mpmd-rule-based-merge", rules=fragment_merge_rules)]
            if fragment_merge_rules
            else []
        ),
        *([remat] if fragment_remat else []),
        "mpmd-verify-stage-merging",
        *(absorb(on_entry_point) if merge_after_scheduling else []),
        *(["mpmd-merge-forward-with-backward"] if merge_forward_with_backward else []),
    )


@register_pipeline("mpmd-sharding-propagation-pipeline", release="0.10.2")
def sharding_propagation_pipeline(
    *, transfers: Transfers = "same-sharding", hardware: HardwareOption = DEFAULT_HARDWARE
) -> PassPipeline:
    """Propagate shardings through all fragments, and put them into the types of values."""
    return pipeline_of(*propagate(transfers, hardware), *convert_shardings())


@register_pipeline("mpmd-export-pipeline", release="0.10.2")
def export_pipeline(
    *,
    fail_on_reshard_only_fragments: FailOnReshards = False,
    fail_on_backward_deps: FailOnBackwardDeps = False,
    fail_on_inferred_fragments: FailOnInferredFragments = True,
    fail_on_param_transfers: FailOnParamTransfers = False,
    param_pattern: ParamTransferPattern = "params['transformer",
    copy_constants: Annotated[
        bool, Help("whether fragments have constants of their own instead of transferred ones")
    ] = False,
    merge_transfers: Annotated[
        bool, Help("whether to transfer values of one element together")
    ] = False,
) -> PassPipeline:
    """Make calls of functions of fragments, and decide what these may overwrite."""
    copying = ["mpmd-copy-constants"] if copy_constants else []
    merging = ["mpmd-merge-transfers", "mpmd-fragment-dedup", "cse"] if merge_transfers else []
    return pipeline_of(
        *simplify(copying=copying, merging=merging),
        "mpmd-uniquify-function-inputs-outputs",
        "mpmd-merge-inferred-fragments",
        "mpmd-mark-offloaded-input-output",
        "mpmd-mark-input-output-with-layouts",
        "mpmd-delay-inferred-fragments",
        "mpmd-delay-transfers-from-cpu",
        "mpmd-mark-aliasing-and-donation",
        "mpmd-mark-fragment-reserved-memory",
        use(
            "mpmd-validate-no-param-transfers",
            fail_on_param_transfers=fail_on_param_transfers,
            param_pattern=param_pattern,
        ),
        use(
            "mpmd-validate-no-inferred-fragments",
            fail_on_inferred_fragments=fail_on_inferred_fragments,
        ),
        "mpmd-lower-to-fragment-calls",
        use(
            "mpmd-validate-no-reshards",
            fail_on_reshard_only_fragments=fail_on_reshard_only_fragments,
        ),
        use("mpmd-validate-no-backward-deps", fail_on_backward_deps=fail_on_backward_deps),
    )


def absorb(on_entry_point: bool) -> list[PassUse]:
    """Return the passes that merge inferred fragments into those of the user."""
    return [
        use("mpmd-absorb-inferred-fragments", absorb_on_entry_point_function=on_entry_point),
        use("mpmd-merge-inferred-fragments", merge_any_consumer=True),
        use("mpmd-merge-inferred-fragments", merge_sideways=True),
    ]


def split_backward() -> list[str | PassUse]:
    """Return the passes that split backward fragments, the last ones of the import."""
    return ["mpmd-split-bwd-fragments", "canonicalize", "mpmd-fragment-dce"]


def simplify(copying: Sequence[str] = (), merging: Sequence[str] = ()) -> list[str | PassUse]:
    """Return the first passes of the export, and among them those that copy or merge values."""
    canonicalize = use("canonicalize", region_simplify="disabled")
    return ["cse", *copying, canonicalize, "mpmd-fragment-dedup", *merging, "mpmd-fragment-dce"]


def propagate(transfers: Transfers, hardware: str) -> list[str | PassUse | PassPipeline]:
    """Return the passes that propagate shardings, and decide where they change."""
    options = PropagationPipelineOptions(avoid_export_for_partitioning=True, dynamic=False)
    return [
        use("mpmd-uniquify-function-inputs-outputs", use_transfer_instead_of_fragment=True),
        propagation_pipeline(options),
        "mpmd-populate-unreduced-out-sharding",
        "mpmd-enforce-user-shardings",
        use(
            "mpmd-extract-reshards-from-inter-mesh-transfers",
            transfers=transfers,
            hardware=hardware,
        ),
    ]


def convert_shardings(*, splits_backward: bool = False) -> list[str | PassUse]:
    """Return the passes that put shardings into the types of values.

    Args:
        splits_backward: whether to split backward fragments before, for schedules without a bubble.
    """
    # Operands that only pass through the first half would be dependencies between halves.
    dropped = use("canonicalize", region_simplify="disabled")
    # What passes from half to half has the sharding in the fragment, which may be uneven.
    split = ["mpmd-split-bwd-fragments", "sdy-update-non-divisible-input-output-shardings"]
    return [
        *(split if splits_backward else []),
        "mpmd-convert-sdy-shardings-to-mpmd-types",
        "mpmd-convert-sdy-constants",
        *([dropped] if splits_backward else []),
        "mpmd-simplify-program",
    ]
