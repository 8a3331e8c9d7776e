# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of the operations that define operands, which rules observe."""

from __future__ import annotations

from typing import Any

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import ConstantView


def defining_operation(value: ir.Value) -> ir.Operation | None:
    """Return the operation that a value is a result of; None for arguments of regions."""
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def is_one_value(constant: ir.Operation) -> bool:
    """Whether a constant is a splat."""
    literal = ConstantView(constant).value
    return isinstance(literal, ir.DenseElementsAttr) and literal.is_splat


def constant_integers(value: ir.Value) -> tuple[int, ...] | None:
    """Return the numbers in an integer constant; None for other values."""
    operation = defining_operation(value)
    if operation is None or not ConstantView.value.is_in(operation):
        return None
    literal = ConstantView(operation).value
    if not isinstance(literal, ir.DenseIntElementsAttr):
        return None
    numbers: Any = literal
    return tuple(numbers)


def behind_slice(value: ir.Value) -> tuple[ir.Value, bool]:
    """Return the operand of a slice, or the value itself, and whether it is a slice."""
    operation = defining_operation(value)
    if operation is not None and operation.name == "stablehlo.slice":
        return operation.operands[0], True
    return value, False
