# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with regions, calls, and operations of the dialect that only affect shardings."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.cost.op_work import no_work
from pyshardy.partition.local.conversions import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.types.local_builder import LocalBuilder


def convert_identity(operation: ir.Operation, _: LocalBuilder) -> None:
    """Replace an operation that only affects shardings by its operand."""
    operation.results[0].replace_all_uses_with(operation.operands[0])
    operation.erase()


def convert_sharding_group(operation: ir.Operation, _: LocalBuilder) -> None:
    """Erase the membership in a sharding group."""
    operation.erase()


def convert_computation(operation: ir.Operation, _: LocalBuilder) -> None:
    """Inline the body of a manual computation, which is a local program already."""
    block = operation.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, operation.operands, strict=True):
        argument.replace_all_uses_with(operand)
    body = [view.operation for view in block.operations]
    for inner in body[:-1]:
        inner.move_before(operation)
    for result, returned in zip(operation.results, body[-1].operands, strict=True):
        result.replace_all_uses_with(returned)
    operation.erase()


_RETYPED = PartitionRecord(local_form=retype_only, work=no_work)
_IDENTITY = PartitionRecord(local_form=convert_identity, work=no_work)

RECORDS = {
    "func.call": _RETYPED,
    "func.return": _RETYPED,
    "sdy.manual_computation": PartitionRecord(local_form=convert_computation),
    "sdy.named_computation": _RETYPED,
    "sdy.propagation_barrier": _IDENTITY,
    "sdy.sharding_constraint": _IDENTITY,
    "sdy.sharding_group": PartitionRecord(local_form=convert_sharding_group),
    "stablehlo.case": _RETYPED,
    "stablehlo.if": _RETYPED,
    "stablehlo.optimization_barrier": _RETYPED,
    "stablehlo.return": _RETYPED,
    "stablehlo.while": _RETYPED,
}
