# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that prepares a program for propagation."""

from __future__ import annotations

from dataclasses import dataclass

from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, register_pipeline, use
from pyshardy.pipeline.options import option
from pyshardy.pipelines.dumps import Dumps


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """The options of the stage before propagation.

    Attributes:
        dedup_functions_fully: whether a function has the same shardings in all its calls;
            constraints and sharding groups are then imported before calls instead of after them
        enable_explicit_gather_scatter_batching: whether to make the batch dimensions of gathers
            and scatters explicit
        unmerge_batch_dimensions: whether to restore dimensions that reshapes merge around matrix
            products, as PyTorch does
        dump_directory: directory to which the module is saved at some stages; empty to save nothing
        debug_sharding_origins: whether to record for each axis the sharding that it comes from
        debug_propagation_edge_sharding: whether to record the steps of propagation
    """

    dedup_functions_fully: bool = False
    enable_explicit_gather_scatter_batching: bool = option(False, release="pyshardy")
    unmerge_batch_dimensions: bool = option(False, release="pyshardy")
    dump_directory: str = option("", release="pyshardy")
    debug_sharding_origins: bool = option(False, release="pyshardy")
    debug_propagation_edge_sharding: bool = option(False, release="pyshardy")


@register_pipeline("sdy-import-pipeline", release="0.10.2")
def import_pipeline(
    options: ImportOptions = ImportOptions(),
    *,
    first_dump: int = 0,
) -> PassPipeline:
    """Prepares a program for propagation.

    Args:
        options: the options.
        first_dump: number of the saved module.
    """
    batching = options.enable_explicit_gather_scatter_batching
    return pipeline_of(
        "sdy-flatten-tuples",
        "symbol-dce",
        "sdy-lift-inlined-meshes",
        "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call",
        "sdy-constant-or-scalar-splitter",
        *(["sdy-explicit-gather-scatter-batching"] if batching else []),
        *(["sdy-unmerge-batch-dimensions"] if options.unmerge_batch_dimensions else []),
        "symbol-dce",
        "sdy-manual-axes-cleanup",
        *Dumps(options.dump_directory, first_dump).save("before_propagation"),
        "sdy-add-data-flow-edges",
        # Groups come second, since they read the shardings that constraints set.
        *(
            [apply_sharding_constraints(options), "sdy-sharding-group-import"]
            if options.dedup_functions_fully
            else []
        ),
    )


def apply_sharding_constraints(options: ImportOptions) -> PassUse:
    """Return the pass that applies constraints, with debug information if it is wanted."""
    return use(
        "sdy-apply-sharding-constraints",
        debug_sharding_origins=options.debug_sharding_origins,
        debug_propagation_edge_sharding=options.debug_propagation_edge_sharding,
    )
