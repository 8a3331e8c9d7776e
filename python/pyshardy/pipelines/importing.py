# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that prepares a program for propagation."""

from __future__ import annotations

from pyshardy.pipeline.options import pass_text
from pyshardy.pipeline.registry import register_pipeline


@register_pipeline(
    "sdy-import-pipeline",
    release="0.10.2",
    option_releases=dict.fromkeys(
        (
            "enable_explicit_gather_scatter_batching",
            "dump_directory",
            "debug_sharding_origins",
            "debug_propagation_edge_sharding",
        ),
        "pyshardy",
    ),
)
def import_pipeline(
    first_dump: int = 0,
    *,
    dedup_functions_fully: bool = False,
    enable_explicit_gather_scatter_batching: bool = False,
    dump_directory: str = "",
    debug_sharding_origins: bool = False,
    debug_propagation_edge_sharding: bool = False,
) -> str:
    """Prepares a program for propagation.

    Args:
        first_dump: number of the saved module.
        dedup_functions_fully: whether a function has the same shardings in all its calls;
            constraints and sharding groups are then imported before calls instead of after them
        enable_explicit_gather_scatter_batching: whether to make the batch dimensions of gathers
            and scatters explicit
        dump_directory: directory to which the module is saved before propagation; empty to save
            nothing
        debug_sharding_origins: whether to record for each axis the constraint that it comes from
        debug_propagation_edge_sharding: whether to record the steps that applied constraints
    """
    steps = [
        "sdy-flatten-tuples",
        "symbol-dce",
        "sdy-lift-inlined-meshes",
        "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call",
        "sdy-constant-or-scalar-splitter",
    ]
    if enable_explicit_gather_scatter_batching:
        steps.append("sdy-explicit-gather-scatter-batching")
    steps += ["symbol-dce", "sdy-manual-axes-cleanup"]
    if dump_directory:
        name = "before_propagation"
        steps.append(
            pass_text("sdy-save-module", directory=dump_directory, name=name, index=first_dump)
        )
    steps.append("sdy-add-data-flow-edges")
    if dedup_functions_fully:
        # Groups come second, since they read the shardings that constraints set.
        steps += [
            pass_text(
                "sdy-apply-sharding-constraints",
                debug_sharding_origins=debug_sharding_origins,
                debug_propagation_edge_sharding=debug_propagation_edge_sharding,
            ),
            "sdy-sharding-group-import",
        ]
    return ",".join(steps)
