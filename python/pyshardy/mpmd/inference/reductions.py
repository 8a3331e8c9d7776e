# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions across meshes: sums and the like of values that are on different meshes."""

from __future__ import annotations

from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import attribute_of, value_of
from mlir_sdy.mpmd.building import create
from mlir_sdy.mpmd.reading import body_of, operations_of, producer
from mlir_sdy.mpmd.values import MeshReduction
from mlir_sdy.mpmd.verify import reduction_of
from pyshardy.irtools.stablehlo_views import ConcatenateView, ReduceView
from pyshardy.mpmd.inference.mesh_sets import SRC_SET, read_set, write_set_of

REDUCE = "mpmd.reduce"
"""The name of the operation, and of the attribute of an operation that is to become one."""

KINDS = {
    "stablehlo.add": MeshReduction.ADD,
    "stablehlo.and": MeshReduction.AND,
    "stablehlo.maximum": MeshReduction.MAX,
    "stablehlo.minimum": MeshReduction.MIN,
    "stablehlo.multiply": MeshReduction.MUL,
    "stablehlo.or": MeshReduction.OR,
}
"""The operations of two operands that are reductions."""

_CONCATENATE = "stablehlo.concatenate"

OPERATIONS = {kind: name for name, kind in KINDS.items()}
"""The operation of two operands of each kind."""


def annotation_of(operation: ir.Operation) -> MeshReduction | None:
    """Return the kind of an operation that is annotated as a reduction; None for another one."""
    attribute = get_discardable(operation, REDUCE)
    return None if attribute is None else value_of(attribute)


def annotate(operation: ir.Operation, kind: MeshReduction | None) -> None:
    """Annotate an operation as a reduction; None removes the annotation."""
    if kind is None:
        remove_discardable(operation, REDUCE)
    else:
        set_discardable(operation, REDUCE, attribute_of(kind, operation.context))


def convert(function: ir.Operation, *, all_of_them: bool) -> None:
    """Convert annotated operations to reductions, and merge chains of them.

    Args:
        function: the function.
        all_of_them: whether to convert also operations that no `mpmd.reduce<none>` uses.
    """
    # A list, as the hash of an operation changes with its operands.
    marked: list[ir.Operation] = []
    for operation in reversed(operations_of(body_of(function))):
        kind = annotation_of(operation)
        users = [use.owner.operation for result in operation.results for use in result.uses]
        if kind is None or operation.name == _CONCATENATE:
            continue
        by_user = any(
            (each in marked and annotation_of(each) == kind)
            or (each.name == REDUCE and reduction_of(each) == MeshReduction.NONE)
            for each in users
        )
        if all_of_them or by_user:
            marked.append(operation)
    for operation in reversed(marked):
        kind = annotation_of(operation)
        assert kind is not None, "it is annotated"
        operands = [
            flat for operand in _operands_of(operation) for flat in _flattened(operand, kind)
        ]
        attributes = {
            name: each
            for name, each in operation.attributes.items()
            if name.startswith("mpmd.") and name != REDUCE
        }
        with ir.InsertionPoint(operation), operation.location:
            attributes["reduction"] = attribute_of(kind)
            built = create(REDUCE, [operation.results[0].type], operands, attributes)
        operation.results[0].replace_all_uses_with(built.results[0])
        joined = producer(operation.operands[0], _CONCATENATE)
        operation.erase()
        if joined is not None and not list(joined.results[0].uses):
            joined.erase()
    for operation in reversed(operations_of(body_of(function))):
        if operation.name == REDUCE and not list(operation.results[0].uses):
            operation.erase()


def sum_of_slices(operation: ir.Operation) -> tuple[ir.Operation, MeshReduction] | None:
    """Return the concatenation that an operation reduces, and the kind of the reduction.

    The operands of the concatenation are of size 1 along the dimension, which is the only one that
    is reduced. None for another operation.
    """
    if operation.name != "stablehlo.reduce" or len(operation.operands) != 2:
        return None
    joined = producer(operation.operands[0], _CONCATENATE)
    body = operations_of(body_of(operation))
    if joined is None or len(list(joined.results[0].uses)) != 1 or len(body) != 2:
        return None
    kind = KINDS.get(body[0].name)
    dimension = ConcatenateView(joined).dimension
    types = {operand.type for operand in joined.operands}
    if kind is None or ReduceView(operation).dimensions != (dimension,) or len(types) != 1:
        return None
    return (joined, kind) if types.pop().shape[dimension] == 1 else None


def _operands_of(operation: ir.Operation) -> list[ir.Value]:
    """Return the values that an operation reduces, slices in the shape of the result."""
    found = sum_of_slices(operation)
    if found is None:
        return list(operation.operands)
    operands: list[ir.Value] = []
    for each in found[0].operands:
        with ir.InsertionPoint(operation), operation.location:
            reshaped = ir.Operation.create(
                "stablehlo.reshape", results=[operation.results[0].type], operands=[each]
            )
        write_set_of(reshaped, SRC_SET, read_set(each, SRC_SET))
        operands.append(reshaped.results[0])
    return operands


def _flattened(value: ir.Value, kind: MeshReduction) -> list[ir.Value]:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != REDUCE:
        return [value]
    inner = owner.operation
    if reduction_of(inner) != kind or len(list(value.uses)) != 1:
        return [value]
    return list(inner.operands)
