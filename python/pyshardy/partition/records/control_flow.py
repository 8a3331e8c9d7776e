# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with regions, calls, and operations of the dialect that only affect shardings."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import identity, ir
from mlir_sdy.symbols import enclosing_module
from mlir_sdy.uses import replace_by
from pyshardy.cost.op_work import no_work
from pyshardy.irtools.constants import filled
from pyshardy.irtools.stablehlo_views import CompositeView, ConstantView
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.types.local_builder import LocalBuilder


def convert_identity(operation: ir.Operation, _: LocalBuilder) -> None:
    """Replace an operation that only affects shardings by its operand."""
    replace_by(operation, operation.operands[0])


def convert_sharding_group(operation: ir.Operation, _: LocalBuilder) -> None:
    """Erase the membership in a sharding group."""
    operation.erase()


def convert_computation(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Inline the body of a manual computation, which is a local program already.

    What depends on the device alone is shared with the computations behind this one.
    """
    block = operation.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, operation.operands, strict=True):
        argument.replace_all_uses_with(operand)
    body = [view.operation for view in block.operations]
    shared = set[ir.Value]()
    for inner in body[:-1]:
        if _is_of_device(inner) and shared.issuperset(inner.operands):
            attributes = [(name, identity(each)) for name, each in inner.attributes.items()]
            value = builder.once_in_block(
                (inner.name, *inner.operands, inner.results[0].type, *attributes),
                lambda inner=inner: inner.clone(ip=ir.InsertionPoint.current).operation.results[0],
            )
            shared.add(value)
            replace_by(inner, value)
        else:
            inner.move_before(operation)
    builder.forget(block)
    replace_by(operation, *body[-1].operands)


_OF_DEVICE = frozenset(
    f"stablehlo.{name}"
    for name in ("constant", "convert", "dynamic_slice", "partition_id", "replica_id", "reshape")
)
"""The operations that compute the start of a shard, from nothing or from values of this kind."""


def _is_of_device(operation: ir.Operation) -> bool:
    """Whether an operation may compute a start; constant matrices stay where they are used."""
    return operation.name in _OF_DEVICE and len(shape_of(operation.results[0].type)) <= 1


_RETYPED = PartitionRecord(local_form=retype_only, work=no_work)
_IDENTITY = PartitionRecord(local_form=convert_identity, work=no_work)


# --- Composites -----------------------------------------------------------------------------------


def convert_composite(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Replace a composite by the operations of its decomposition.

    The decomposition is a function of global tensors. Composites with a rule are point-wise, so its
    operations, whose tensors all have one shape, are valid on shards.
    """
    module = enclosing_module(operation)
    assert module is not None, "a rule has looked into the function"
    name = CompositeView(operation).decomposition
    body = ir.SymbolTable(module)[name].operation.regions[0].blocks[0]
    shape = next(shape for result in operation.results if (shape := shape_of(result.type)))
    values: dict[ir.Value, ir.Value] = {
        argument: operation.operands[index] for index, argument in enumerate(body.arguments)
    }
    *inner, terminator = (view.operation for view in body.operations)
    for original in inner:
        copy = _local_copy(original, values, shape, builder)
        values |= {result: copy.results[index] for index, result in enumerate(original.results)}
    for result, returned in zip(operation.results, terminator.operands, strict=True):
        result.replace_all_uses_with(values[returned])
    operation.erase()


def _local_copy(
    original: ir.Operation,
    values: Mapping[ir.Value, ir.Value],
    shape: tuple[int, ...],
    builder: LocalBuilder,
) -> ir.Operation:
    """Build a copy of an operation whose results have a given shape unless they are scalars."""
    types = [
        ir.RankedTensorType.get(
            list(shape) if shape_of(result.type) else [], element_type_of(result.type)
        )
        for result in original.results
    ]
    if ConstantView.value.is_in(original):
        number = ConstantView(original).value.get_splat_value()
        return builder.literal(filled(types[0], number)).owner.operation
    copy = original.clone().operation
    for index, operand in enumerate(original.operands):
        copy.operands[index] = values[operand]
    for result, local in zip(copy.results, types, strict=True):
        result.set_type(local)
    return copy


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
    "stablehlo.composite": PartitionRecord(local_form=convert_composite, work=no_work),
}
