# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.partition`: partitioning, with advice if the program violates its own contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from pyshardy.any_program import Program, check_keywords, module_of
from pyshardy.caching.store import CacheFolder
from pyshardy.contracts.attributes import annotated_of
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.pipeline import Instrumentation, PipelineError
from pyshardy.program import PartitionedProgram
from pyshardy.program import partition as partition_without_advice
from pyshardy.sizes.signature import takes_sizes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mlir_sdy.host import ir
    from pyshardy.dynamic.buckets import Bucket, Buckets
    from pyshardy.dynamic.choices import Freeze
    from pyshardy.dynamic.guards import Uneven
    from pyshardy.dynamic.program import DynamicProgram
    from pyshardy.pipelines.partition import PartitionOptions

    class _Keywords(PartitionOptions, total=False):
        hardware: Hardware | str
        instrumentation: Sequence[Instrumentation]
        cache: CacheFolder

    class _DynamicKeywords(_Keywords, total=False):
        uneven: Uneven | None
        max_programs: int | None
        buckets: Buckets | Bucket | None
        freeze: Freeze | None


# The type of a program doesn't tell whether its sizes are dynamic: it is taken for a static one,
# unless a keyword is given that only dynamic ones take.
@overload
def partition(  # pyright: ignore[reportOverlappingOverload]
    module: Program, **options: Unpack[_Keywords]
) -> PartitionedProgram: ...
@overload
def partition(module: Program, **options: Unpack[_DynamicKeywords]) -> DynamicProgram: ...
def partition(
    module: Program,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    instrumentation: Sequence[Instrumentation] = (),
    cache: CacheFolder = None,
    uneven: Uneven | None = None,
    max_programs: int | None = None,
    buckets: Buckets | Bucket | None = None,
    freeze: Freeze | None = None,
    **options: Unpack[PartitionOptions],
) -> PartitionedProgram | DynamicProgram:
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
        uneven: for a program with dynamic sizes, what is done at sizes that shards don't divide:
            `pad` pads arguments and results, `unshard` leaves a dimension unsharded, `guard`
            raises an error. By default, dimensions that the user sharded are padded.
        max_programs: for such a program, the number of partitioned programs that are kept.
        buckets: for such a program, the sizes for which it is partitioned, and which run smaller
            ones: `{"b": [1, 4, 16]}`, `{"b": "pow2"}` or `{"b": 8}` for multiples of 8; all symbols
            have those that are given without names. See docs/guide/dynamic_shapes.md.
        freeze: for such a program, what is the same at all sizes: `shardings`, so that the cheapest
            collectives are taken at each size; or `all`, with those of the hints at all sizes.
        options: the options of `sdy-partition-pipeline` (`sdy-opt --help` lists them), with
            underscores for dashes.

    Returns:
        The partitioned program. For a program with dynamic sizes, a `DynamicProgram`, which is
        partitioned for each size; see docs/guide/dynamic_shapes.md. Type checkers know it by an
        argument that only such a program takes, such as `freeze="shardings"`, the default.

    Raises:
        UsageError: the program has no mesh or no entry; there is no such option or hardware; it has
            static sizes, and arguments for dynamic ones are given; buckets are wrong, or an
            operation can't be computed on padding, as they demand.
        WrongTypeError: it is no program.
        PipelineError: the program can't be partitioned; if it violates its own contracts and was
            propagated by `propagate`, with constraints that were tried and send less.
    """
    dynamic = {"uneven": uneven, "max_programs": max_programs, "buckets": buckets, "freeze": freeze}
    own = ("hardware", "instrumentation", "cache", *dynamic)
    check_keywords("partition", options, own, "sdy-partition-pipeline")
    module = module_of("partition", module)
    if takes_sizes(module, dynamic):
        return partition_dynamic(
            module,
            uneven=uneven,
            max_programs=max_programs,
            buckets=buckets,
            freeze=freeze,
            hardware=hardware,
            instrumentation=instrumentation,
            cache=cache,
            **options,
        )
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


def partition_dynamic(
    module: ir.Module,
    *,
    uneven: Uneven | None = None,
    max_programs: int | None = None,
    buckets: Buckets | Bucket | None = None,
    freeze: Freeze | None = None,
    instrumentation: Sequence[Instrumentation] = (),
    **keywords: Any,
) -> DynamicProgram:
    """Return a program with dynamic sizes, which is partitioned for each size.

    Args:
        module: the program, whose shardings have been propagated. It isn't changed.
        uneven: as in `partition`.
        max_programs: as in `partition`.
        buckets: as in `partition`.
        freeze: as in `partition`.
        instrumentation: as in `partition`.
        keywords: the other arguments of `partition`.

    Raises:
        UsageError: as for `partition`.
        PipelineError: the program can't be partitioned at the hints.
    """
    from pyshardy.dynamic.program import (  # noqa: PLC0415 (few programs are)
        MOST_PROGRAMS,
        DynamicProgram,
    )

    def one_size(
        static: ir.Module, observers: Sequence[Instrumentation] = ()
    ) -> PartitionedProgram:
        together = (*instrumentation, *observers)
        return partition_without_advice(static, instrumentation=together, **keywords)

    most = MOST_PROGRAMS if max_programs is None else max_programs
    return DynamicProgram(module, one_size, uneven, most, buckets, freeze or "shardings")
