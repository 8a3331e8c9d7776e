# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pipeline that prepares a program for propagation."""

# pyright: reportTypedDictNotRequiredAccess=false
# `with_defaults` adds the keys that the caller omits.

from __future__ import annotations

from typing import Annotated, TypedDict

from pyshardy.pipeline import PassPipeline, PassUse, pipeline_of, register_pipeline, use
from pyshardy.pipeline.options import Help, with_defaults
from pyshardy.pipelines.dumps import DumpDirectory, Dumps


class ImportOptions(TypedDict, total=False):
    """The options of the stage before propagation."""

    dedup_functions_fully: Annotated[
        bool,
        Help(
            "whether a function has the same shardings in all its calls; constraints and sharding "
            "groups are then imported before calls instead of after them",
            default=False,
        ),
    ]
    enable_explicit_gather_scatter_batching: Annotated[
        bool,
        Help(
            "whether to make the batch dimensions of gathers and scatters explicit",
            "pyshardy",
            default=False,
        ),
    ]
    unmerge_batch_dimensions: Annotated[
        bool,
        Help(
            "whether to restore dimensions that reshapes merge around matrix products, as PyTorch "
            "does",
            "pyshardy",
            default=False,
        ),
    ]
    dump_directory: Annotated[DumpDirectory, Help(release="pyshardy")]
    debug_sharding_origins: Annotated[
        bool,
        Help(
            "whether to record for each axis the sharding that it comes from",
            "pyshardy",
            default=False,
        ),
    ]
    debug_propagation_edge_sharding: Annotated[
        bool, Help("whether to record the steps of propagation", "pyshardy", default=False)
    ]


@register_pipeline("sdy-import-pipeline", release="0.10.2")
def import_pipeline(
    options: ImportOptions = ImportOptions(),
    *,
    first_dump: int = 0,
) -> PassPipeline:
    """Prepare a program for propagation.

    Args:
        options: the options.
        first_dump: number of the saved module.
    """
    options = with_defaults(ImportOptions, options)
    batching = options["enable_explicit_gather_scatter_batching"]
    return pipeline_of(
        "sdy-flatten-tuples",
        "symbol-dce",
        "sdy-lift-inlined-meshes",
        "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call",
        "sdy-constant-or-scalar-splitter",
        *(["sdy-explicit-gather-scatter-batching"] if batching else []),
        *(["sdy-unmerge-batch-dimensions"] if options["unmerge_batch_dimensions"] else []),
        "symbol-dce",
        "sdy-manual-axes-cleanup",
        *Dumps(options["dump_directory"], first_dump).save("before_propagation"),
        "sdy-add-data-flow-edges",
        # Groups come second, since they read the shardings that constraints set.
        *(
            [apply_sharding_constraints(options), "sdy-sharding-group-import"]
            if options["dedup_functions_fully"]
            else []
        ),
    )


def apply_sharding_constraints(options: ImportOptions) -> PassUse:
    """Return the pass that applies constraints, with debug information if it is wanted."""
    return use(
        "sdy-apply-sharding-constraints",
        debug_sharding_origins=options["debug_sharding_origins"],
        debug_propagation_edge_sharding=options["debug_propagation_edge_sharding"],
    )
