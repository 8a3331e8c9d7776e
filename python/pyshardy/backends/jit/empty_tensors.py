# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removal of tensors without elements, which the host's compiler cannot slice from others.

1. A value without elements becomes a constant.
2. `concatenate` keeps the operands that have elements.
3. `dynamic_update_slice` with an empty update is replaced by its operand.
4. `pad` of an empty operand is replaced by its padding.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.walks import operations_named


def drop_empty_tensors(module: ir.Module) -> None:
    """Remove computations on tensors without elements, in place."""
    for name, replacement in _WITH_EMPTY_OPERANDS.items():
        for operation in operations_named({name}, module):
            if _is_empty(operation.results[0].type):
                continue
            with operation.context, operation.location, ir.InsertionPoint(operation):
                value = replacement(operation)
            if value is not None:
                operation.results[0].replace_all_uses_with(value)
                operation.erase()
    made: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        makes_any = any(_is_empty(result.type) for result in operation.results)
        if makes_any and operation.name != "stablehlo.constant":
            made.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in made:
        with operation.context, operation.location, ir.InsertionPoint(operation):
            for result in operation.results:
                if _is_empty(result.type):
                    result.replace_all_uses_with(_nothing(ir.RankedTensorType(result.type)))
        if all(_is_empty(result.type) for result in operation.results):
            operation.erase()


def _joined(concatenate: ir.Operation) -> ir.Value | None:
    kept = [value for value in concatenate.operands if not _is_empty(value.type)]
    if len(kept) == len(concatenate.operands):
        return None
    return _like(concatenate, concatenate.name, kept, dict(concatenate.attributes.items()))


def _updated(update: ir.Operation) -> ir.Value | None:
    operand, window, *_ = update.operands
    return operand if _is_empty(window.type) else None


def _padding(pad: ir.Operation) -> ir.Value | None:
    operand, filler = pad.operands
    if not _is_empty(operand.type):
        return None
    nowhere: dict[str, ir.Attribute] = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return _like(pad, "stablehlo.broadcast_in_dim", [filler], nowhere)


_WITH_EMPTY_OPERANDS: dict[str, Callable[[ir.Operation], ir.Value | None]] = {
    "stablehlo.concatenate": _joined,
    "stablehlo.dynamic_update_slice": _updated,
    "stablehlo.pad": _padding,
}


def _like(
    operation: ir.Operation,
    name: str,
    operands: list[ir.Value],
    attributes: dict[str, ir.Attribute],
) -> ir.Value:
    return ir.Operation.create(
        name,
        results=[operation.results[0].type],
        operands=operands,
        attributes=attributes,
    ).result


def _nothing(tensor: ir.RankedTensorType) -> ir.Value:
    return StablehloBuilder().empty(tensor)


def _is_empty(value_type: ir.Type) -> bool:
    return isinstance(value_type, ir.RankedTensorType) and 0 in value_type.shape
