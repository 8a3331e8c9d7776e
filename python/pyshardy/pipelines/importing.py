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
        first_dump: the number of the saved module, where others were saved before.
        dedup_functions_fully: whether propagation is to go through calls; constraints are applied
            and sharding groups united at once, then, and otherwise after calls are imported
        enable_explicit_gather_scatter_batching: whether to make the batch dimensions of gathers
            and scatters explicit
        dump_directory: where to save the module before propagation; nowhere if empty
        debug_sharding_origins: whether to record which sharding each axis comes from, when
            constraints are applied
        debug_propagation_edge_sharding: whether to record the steps by which axes came to values,
            when constraints are applied
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
        # Groups come second, so that they see the shardings that constraints have given.
        steps += [
            pass_text(
                "sdy-apply-sharding-constraints",
                debug_sharding_origins=debug_sharding_origins,
                debug_propagation_edge_sharding=debug_propagation_edge_sharding,
            ),
            "sdy-sharding-group-import",
        ]
    return ",".join(steps)
