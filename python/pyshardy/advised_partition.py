# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.partition`: partitioning, with advice if the program violates its own contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyshardy.any_program import Program, module_of
from pyshardy.caching.store import CacheFolder
from pyshardy.contracts.annotated import annotated_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.pipeline import Instrumentation, PipelineError
from pyshardy.program import PartitionedProgram
from pyshardy.program import partition as partition_without_advice

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyshardy.pipelines.partition import PartitionOptions


def partition(
    module: Program,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    instrumentation: Sequence[Instrumentation] = (),
    cache: CacheFolder = None,
    **options: Unpack[PartitionOptions],
) -> PartitionedProgram:
    """Partition a program into the local program that each device of its mesh runs.

        program = sdy.partition(module, combine_collectives=True)

    Args:
        module: a program in any form whose shardings have been propagated; a warning says if it
            looks as if they weren't. It isn't changed. Its entry is the function `@main`, or the
            only one.
        hardware: the devices and links that the program is for: the partitioner takes the plan with
            the shortest time on them. A preset, a TOML file, or a value; see docs/guide/cost.md.
        instrumentation: observers of the pipeline, which runs on a copy of the module.
        cache: a folder in which the result is kept, and looked up if the program and all that it is
            partitioned by are equal; True for the default one. See docs/guide/pipelines.md.
        options: the options of `sdy-partition-pipeline` (`sdy-opt --help` lists them), with
            underscores for dashes.

    Raises:
        UsageError: the program has no mesh, no entry, or arguments of dynamic shape; there is no
            such option or hardware.
        WrongTypeError: it is no program.
        PipelineError: the program can't be partitioned; if it violates its own contracts and was
            propagated by `propagate`, with constraints that were tried and send less.
    """
    module = module_of("partition", module)
    try:
        return partition_without_advice(
            module, hardware=hardware, instrumentation=instrumentation, cache=cache, **options
        )
    except PipelineError as failure:
        annotated = None if options else annotated_of(module)
        if annotated is not None:
            # Its import is slow, and few programs have contracts.
            from pyshardy.explain.contract_advice import add_advice  # noqa: PLC0415

            add_advice(failure, annotated, hardware=hardware)
        raise
