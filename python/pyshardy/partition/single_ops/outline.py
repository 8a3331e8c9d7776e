# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outlining of single operations into programs, and their local forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mlir_sdy.diagnostics import PassError, SdyError, error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, ReductionOp, TensorSharding, common_mesh
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import (
    argument_shardings,
    get_sharding,
    rank_of,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.partition.op_facts.completion import completed_axes
from pyshardy.partition.op_facts.reductions import completion_of
from pyshardy.pipeline.runner import run_pipeline
from pyshardy.pipeline.syntax import PassPipeline
from pyshardy.rules import ShardingRuleLookup

_ENTRY = "main"
_EDGES = (
    "sdy-lift-inlined-meshes,sdy-update-non-divisible-input-output-shardings,sdy-close-shardings"
)


@dataclass(frozen=True, slots=True)
class LocalInstruction:
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


class Outliner:
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

    def outline(self, operation: ir.Operation, number: int) -> LocalInstruction:
        """Return the local form of an operation, which is not changed.

        Args:
            operation: the operation, whose operands and results are tensors.
            number: its number in error messages.

        Raises:
            PassError: its shardings have no common mesh, or it can't be partitioned.
        """
        inputs = tuple(_values_used(operation))
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
        return LocalInstruction(
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


def _values_used(operation: ir.Operation) -> Iterator[ir.Value]:
    """Yield the operands of an operation, and outer values used in its regions."""
    inside: set[ir.Value] = set()
    seen: set[ir.Value] = set()
    for view in operations_in(operation):
        for operand in view.operation.operands:
            if operand not in inside and operand not in seen:
                seen.add(operand)
                yield operand
        inside.update(view.operation.results)
        for region in view.operation.regions:
            for block in region.blocks:
                inside.update(block.arguments)


def _function_in(local: ir.Module) -> ir.Operation:
    return ir.SymbolTable(local.operation)[_ENTRY].operation
