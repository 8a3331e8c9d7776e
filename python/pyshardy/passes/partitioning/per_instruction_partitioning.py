# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-per-instruction-partitioning`: partition single operations.

An operation is partitioned as a program of its own, by the pipeline for whole programs. To find one
that is partitioned incorrectly, bisect the range of numbers in the filter.

1. Candidates are the operations directly in functions that have a sharded operand or result,
   except those of the dialect that only annotate shardings or communicate already.
2. They are numbered from 0 through the module, and chosen by `filter` (`InstructionFilter`).
3. Inputs and outputs of a computation keep the axes that divide them. Outputs are resharded to
   the full shardings after it.
4. Results stay partial where collectives after an operation complete them, and are complete
   otherwise.
5. Calls, and operations with values other than tensors, are numbered, but not partitioned.

The tensors of each operation are compatible (see `insert_explicit_reshards`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    ManualAxes,
    TensorShardingPerValue,
)
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import (
    get_sharding,
)
from pyshardy.irtools.channels import first_free_channel, renumber_channels
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.partition.local.device_kind import are_replicas
from pyshardy.partition.records.random_numbers import allow_unsafe_rng
from pyshardy.partition.single_ops.filter import InstructionFilter
from pyshardy.partition.single_ops.outline import LocalInstruction, Outliner
from pyshardy.passes.options import (
    EnableHaloExchange,
    PartitionCount,
    ReplicaCount,
    RngBitGeneratorUnsafe,
)
from pyshardy.pipeline import pipeline_of, register_pass, use
from pyshardy.pipeline.options import Help

_STAY_GLOBAL = frozenset(
    {
        "func.return",
        "sdy.all_gather",
        "sdy.all_reduce",
        "sdy.all_slice",
        "sdy.all_to_all",
        "sdy.collective_permute",
        "sdy.data_flow_edge",
        "sdy.manual_computation",
        "sdy.propagation_barrier",
        "sdy.reduce_scatter",
        "sdy.replicated_to_unreduced",
        "sdy.sharded_to_unreduced",
        "sdy.sharding_constraint",
        "sdy.sharding_group",
    }
)
_SHARDING_CALLS = frozenset({"Sharding", "mhlo.sharding"})


@register_pass("sdy-per-instruction-partitioning", release="0.12")
def per_instruction_partitioning(
    module: ir.Module,
    *,
    filter: Annotated[str, Help(release="0.12")] = "",  # noqa: A002 - the name of the option
    enable_halo_exchange: EnableHaloExchange = True,
    replica_count: ReplicaCount = 1,
    partition_count: PartitionCount = 1,
    rng_bit_generator_unsafe: RngBitGeneratorUnsafe = False,
) -> None:
    """Partition single operations and keep the rest of the program global.

    Converts single operations to their local form within an `sdy.manual_computation` with the
    shardings of the operation. The surrounding program stays global, so that a partitioner bug can
    be bisected to an operation.

    Candidates are operations directly in functions that have a sharded operand or result. They are
    numbered from 0 throughout the module. `filter` is a list of conditions: `selectLow=N` and
    `selectHigh=N` are inclusive bounds of the number, and any other word selects operations whose
    name contains it. An empty filter selects all candidates.

    ```mlir
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
        : tensor<8xf32>
    ```

    becomes, on a mesh of size 2,

    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg0: tensor<4xf32>) {
      %2 = stablehlo.negate %arg0 : tensor<4xf32>
      sdy.return %2 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```

    Options:
        filter: conditions that select the operations to partition.

    Raises:
        PassError: the filter is malformed, the shardings of an operation have no common mesh, or it
            can't be partitioned. The module is not changed then.
    """
    are_replicas(replica_count, partition_count, module.operation)
    try:
        chosen = InstructionFilter.parse(filter)
    except ValueError as problem:
        message = f"option 'filter': {problem}"
        raise PassError(error(message, location_of(module.operation.location))) from None
    pipeline = pipeline_of(
        use(
            "sdy-partition-pipeline",
            enable_halo_exchange=enable_halo_exchange,
            replica_count=replica_count,
            partition_count=partition_count,
        )
    )
    with module.context:
        if rng_bit_generator_unsafe:
            allow_unsafe_rng(module)
        outliner = Outliner(module, pipeline)
        instructions = [
            outliner.outline(operation, number)
            for number, operation in enumerate(list(_candidates(module)))
            if chosen.chooses(number, operation.name) and _has_tensors_only(operation)
        ]
        channel = first_free_channel(module)
        cache = AttributeCache(module.context)
        for instruction in instructions:
            body = (top.operation for top in instruction.body.operations)
            collectives = (view.operation for top in body for view in operations_in(top))
            channel = renumber_channels(collectives, channel)
        for instruction in reversed(instructions):  # later ones use results of earlier ones
            _replace(instruction, cache)


def _candidates(module: ir.Module) -> Iterator[ir.Operation]:
    for function in functions_of(module):
        if has_body(function):
            for block in function.regions[0].blocks:
                for view in block.operations:
                    if _is_candidate(view.operation):
                        yield view.operation


def _is_candidate(operation: ir.Operation) -> bool:
    if operation.name in _STAY_GLOBAL:
        return False
    if operation.name == "stablehlo.custom_call" and target_of(operation) in _SHARDING_CALLS:
        return False
    shardings = map(get_sharding, (*operation.operands, *operation.results))
    return any(sharding is not None and not sharding.is_fully_replicated for sharding in shardings)


def _has_tensors_only(operation: ir.Operation) -> bool:
    values = (*operation.operands, *operation.results)
    return operation.name != "func.call" and all(
        isinstance(value.type, ir.RankedTensorType) for value in values
    )


def _replace(instruction: LocalInstruction, cache: AttributeCache) -> None:
    operation, body = instruction.operation, instruction.body
    computation = sdy.ManualComputationOp(
        [result.type for result in operation.results],
        list(instruction.inputs),
        cache[TensorShardingPerValue(instruction.in_shardings)],
        cache[TensorShardingPerValue(instruction.out_shardings)],
        cache[ManualAxes(instruction.manual_axes)],
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    ).operation
    body.append_to(computation.regions[0])
    last = body.operations[len(body.operations) - 1].operation
    sdy.ReturnOp(list(last.operands), loc=last.location, ip=ir.InsertionPoint(last))
    last.erase()
    for old, new, made in zip(
        operation.results, computation.results, instruction.out_shardings, strict=True
    ):
        wanted = get_sharding(old)
        value: ir.Value = new
        if wanted is not None and made.dim_axes != wanted.dim_axes:
            # Users, such as collectives, rely on the axes that don't divide the result.
            dims = made.with_dims(wanted.dim_shardings)
            place = ir.InsertionPoint(operation)
            value = sdy.reshard(new, cache[dims], loc=operation.location, ip=place)
        old.replace_all_uses_with(value)
    operation.erase()
