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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, SdyError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    ManualAxes,
    Mesh,
    ReductionOp,
    TensorSharding,
    TensorShardingPerValue,
    common_mesh,
)
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import values_used
from mlir_sdy.values import (
    argument_shardings,
    get_sharding,
    rank_of,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.irtools.collectives import first_free_channel, renumber_channels
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.partition.local.device_kind import are_replicas
from pyshardy.partition.partial.completion import completed_axes
from pyshardy.partition.partial.reductions import completion_of
from pyshardy.partition.records.random_numbers import allow_unsafe_rng
from pyshardy.passes.options import (
    EnableHaloExchange,
    PartitionCount,
    ReplicaCount,
    RngBitGeneratorUnsafe,
)
from pyshardy.pipeline import pipeline_of, register_pass, use
from pyshardy.pipeline.options import Help
from pyshardy.pipeline.runner import run_pipeline
from pyshardy.pipeline.syntax import PassPipeline
from pyshardy.rules import ShardingRuleLookup

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
_ENTRY = "main"
_EDGES = (
    "sdy-lift-inlined-meshes,sdy-update-non-divisible-input-output-shardings,sdy-close-shardings"
)


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
        outliner = _Outliner(module, pipeline)
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


def _replace(instruction: _LocalInstruction, cache: AttributeCache) -> None:
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


@dataclass(frozen=True, slots=True)
class InstructionFilter:
    """A choice of operations by their number and their name.

    An operation is chosen if all of these hold:

    1. Its number is not below `low`.
    2. Its number is not above `high`.
    3. Its name contains one of `names`, or there are none.

    Attributes:
        low: the least number; None for no bound.
        high: the greatest number; None for no bound.
        names: substrings of names.
    """

    low: int | None = None
    high: int | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> InstructionFilter:
        """Parse the filter option.

        Conditions are separated by commas: `selectLow=N` and `selectHigh=N` for the bounds, and
        anything else for a part of a name. Enclosing quotes are ignored.

        Example: `selectLow=2,selectHigh=5,dot` chooses `stablehlo.dot_general` if its number is
        from 2 to 5.

        Raises:
            ValueError: a bound is not a number.
        """
        bounds: dict[str, int | None] = {"selectLow": None, "selectHigh": None}
        names: list[str] = []
        for token in filter(None, map(str.strip, text.strip().strip("\"'").split(","))):
            name, has_value, value = token.partition("=")
            if not has_value or name not in bounds:
                names.append(token)
            elif not value.isdecimal():
                raise ValueError(f"'{name}' must be a number, got: '{value}'")
            else:
                bounds[name] = int(value)
        return cls(bounds["selectLow"], bounds["selectHigh"], tuple(names))

    def chooses(self, number: int, name: str) -> bool:
        """Whether an operation of this number and name is chosen."""
        is_within = (self.low is None or self.low <= number) and (
            self.high is None or number <= self.high
        )
        return is_within and (not self.names or any(part in name for part in self.names))


@dataclass(frozen=True, slots=True)
class _LocalInstruction:
    """An operation and its local form.

    Attributes:
        operation: the operation in the module.
        inputs: the values it uses, in its regions too.
        in_shardings: the shardings of the inputs of the local form.
        out_shardings: the shardings of its results.
        manual_axes: all axes of its shardings.
        local: the program of one device; it owns `body`.
        body: the body of its only function.
    """

    operation: ir.Operation
    inputs: tuple[ir.Value, ...]
    in_shardings: tuple[TensorSharding, ...]
    out_shardings: tuple[TensorSharding, ...]
    manual_axes: tuple[str, ...]
    local: ir.Module
    body: ir.Block


class _Outliner:
    """Builds programs of single operations, and partitions them.

    Args:
        module: the module of the operations.
        pipeline: the partitioning pipeline.
    """

    def __init__(self, module: ir.Module, pipeline: PassPipeline):
        self._meshes = meshes_of(module)
        self._mesh_operations = [
            view.operation for view in module.body.operations if view.operation.name == "sdy.mesh"
        ]
        self._pipeline = pipeline
        self._rules = ShardingRuleLookup.shared(module.context)

    def outline(self, operation: ir.Operation, number: int) -> _LocalInstruction:
        """Return the local form of an operation, which is not changed.

        Args:
            operation: the operation, whose operands and results are tensors.
            number: its number in error messages.

        Raises:
            PassError: its shardings have no common mesh, or it can't be partitioned.
        """
        inputs = tuple(values_used(operation))
        given = [get_sharding(value) for value in (*inputs, *operation.results)]
        reference = self._common_mesh(operation, given)
        local = ir.Module.create(operation.location)
        for mesh in self._mesh_operations:
            local.body.append(mesh.clone(ip=False))
        function = self._function(local, operation, inputs, given, reference)
        try:
            run_pipeline(local, _EDGES, restore_on_failure=False)
            in_shardings, out_shardings = argument_shardings(function), result_shardings(function)
            run_pipeline(local, self._pipeline, restore_on_failure=False)
        except SdyError as failure:
            what = f"'{operation.name}' op, number {number}, is partitioned by itself here"
            where = note(what, location_of(operation.location))
            raise PassError(*failure.diagnostics, where) from None
        body = _function_in(local).regions[0].blocks[0]
        return _LocalInstruction(
            operation,
            inputs,
            tuple(s.with_mesh(reference) for s in in_shardings if s is not None),
            tuple(s.with_mesh(reference) for s in out_shardings if s is not None),
            tuple(
                dict.fromkeys(axis.name for s in given if s is not None for axis in s.all_axes())
            ),
            local,
            body,
        )

    def _common_mesh(
        self, operation: ir.Operation, given: Sequence[TensorSharding | None]
    ) -> str | Mesh:
        shardings = [sharding for sharding in given if sharding is not None]
        if common_mesh(shardings, self._meshes) is None:
            names = " and ".join(sorted({str(sharding.mesh_or_ref) for sharding in shardings}))
            raise PassError(
                error(
                    f"'{operation.name}' op has operands and results on different meshes: {names}: "
                    "run 'sdy-insert-explicit-reshards{enable-full-version=true}' first",
                    location_of(operation.location),
                )
            )
        return next(s.mesh_or_ref for s in shardings if not s.is_fully_replicated)

    def _function(
        self,
        local: ir.Module,
        operation: ir.Operation,
        inputs: Sequence[ir.Value],
        given: Sequence[TensorSharding | None],
        reference: str | Mesh,
    ) -> ir.Operation:
        """Build a function in `local` with a copy of the operation."""
        values = (*inputs, *operation.results)
        shardings = [
            TensorSharding.fully_closed(rank_of(value.type), reference) if s is None else s
            for value, s in zip(values, given, strict=True)
        ]
        types = [value.type for value in values]
        with operation.location, ir.InsertionPoint(local.body):
            function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(_ENTRY),
                    "function_type": ir.TypeAttr.get(
                        ir.FunctionType.get(types[: len(inputs)], types[len(inputs) :])
                    ),
                },
                regions=1,
            )
            locations = [operation.location] * len(inputs)
            block = function.regions[0].blocks.append(*types[: len(inputs)], arg_locs=locations)
        set_argument_shardings(function, dict(enumerate(shardings[: len(inputs)])))
        partial = completed_axes(operation, self._rules, self._meshes)
        completion = completion_of(operation) if partial else None
        kinds = completion.kinds if completion else (ReductionOp.SUM,) * len(operation.results)
        results = [
            replace(sharding, unreduced_axes=partial, reduction_kind=kind)
            for sharding, kind in zip(shardings[len(inputs) :], kinds, strict=True)
        ]
        set_result_shardings(function, dict(enumerate(results)))
        with operation.location, ir.InsertionPoint(block):
            copy = operation.clone().operation
            if partial:
                set_result_shardings_of(copy, dict(enumerate(results)))
            stands_for = dict(zip(inputs, block.arguments, strict=True))
            for inner in operations_in(copy):
                for index, operand in enumerate(inner.operation.operands):
                    if operand in stands_for:
                        inner.operation.operands[index] = stands_for[operand]
            ir.Operation.create("func.return", operands=list(copy.results))
        return function


def _function_in(local: ir.Module) -> ir.Operation:
    return ir.SymbolTable(local.operation)[_ENTRY].operation
