# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations: each element of a shard is computed from those at the same position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import ContentShape, PaddingMask, PartitionRecord
from pyshardy.partition.partial.linear_operations import (
    additive,
    moving,
    multiplicative,
    number_operands,
    selecting,
    together,
)
from pyshardy.rules.families.pointwise import POINTWISE_BEYOND_SHARDY, POINTWISE_OPERATIONS
from pyshardy.rules.families.reshape import BROADCASTING_OPERATIONS


def _converted_operand(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operand if the conversion rounds no value.

    The type is unchanged, wider (integers), or a wider type of at least 32 bits (floats).
    """
    return (0,) if _is_exact_conversion(operation) else ()


def _is_exact_conversion(operation: ir.Operation) -> bool:
    old, new = _element(operation.operands[0]), _element(operation.results[0])
    if old == new:
        return True
    if isinstance(old, ir.FloatType) and isinstance(new, ir.FloatType):
        return old.width < new.width and new.width >= 32
    if isinstance(old, ir.IntegerType) and isinstance(new, ir.IntegerType):
        return 1 < old.width < new.width and old.is_unsigned == new.is_unsigned
    return False


def _dividend_of_floats(operation: ir.Operation) -> tuple[int, ...]:
    """Return the dividend of a division of floating-point numbers."""
    return (0,) if isinstance(_element(operation.results[0]), ir.FloatType) else ()


def _integer_divisors(
    operation: ir.Operation, content_shape: ContentShape
) -> Iterator[PaddingMask]:
    """Yield all dimensions of an integer divisor, with 1: division by zero ends some programs."""
    divisor = operation.operands[1]
    if isinstance(_element(divisor), ir.IntegerType):
        yield PaddingMask(1, range(len(content_shape(divisor))), 1)


def _element(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


_ELEMENTWISE = PartitionRecord(local_form=retype_only)
_OPERATIONS = {*POINTWISE_OPERATIONS, *POINTWISE_BEYOND_SHARDY, *BROADCASTING_OPERATIONS} - {
    "sdy.sharding_constraint"
}

RECORDS = dict.fromkeys(sorted(_OPERATIONS), _ELEMENTWISE) | {
    "stablehlo.add": replace(_ELEMENTWISE, linearity=additive(0, 1)),
    "stablehlo.clamp": _ELEMENTWISE,
    "stablehlo.complex": replace(_ELEMENTWISE, linearity=additive(0, 1)),
    "stablehlo.convert": replace(
        _ELEMENTWISE, linearity=together(_converted_operand), linear_operands=_converted_operand
    ),
    "stablehlo.divide": replace(
        _ELEMENTWISE,
        linearity=together(_dividend_of_floats),
        linear_operands=_dividend_of_floats,
        padding_masks=_integer_divisors,
    ),
    "stablehlo.imag": replace(_ELEMENTWISE, linearity=additive(0)),
    "stablehlo.maximum": replace(_ELEMENTWISE, linearity=selecting(ReductionOp.MAX)),
    "stablehlo.minimum": replace(_ELEMENTWISE, linearity=selecting(ReductionOp.MIN)),
    "stablehlo.multiply": replace(
        _ELEMENTWISE, linearity=multiplicative(0, 1), linear_operands=number_operands
    ),
    "stablehlo.negate": replace(
        _ELEMENTWISE, linearity=additive(0), linear_operands=number_operands
    ),
    "stablehlo.real": replace(_ELEMENTWISE, linearity=additive(0)),
    "stablehlo.remainder": replace(_ELEMENTWISE, padding_masks=_integer_divisors),
    "stablehlo.select": replace(_ELEMENTWISE, linearity=moving(1, 2)),
    "stablehlo.subtract": replace(_ELEMENTWISE, linearity=additive(0, 1)),
    "stablehlo.uniform_dequantize": _ELEMENTWISE,
    "stablehlo.uniform_quantize": _ELEMENTWISE,
}
