# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on narrow floating-point numbers that can't be written in those numbers.

Their formulas have steps that would be rounded, or constants that the type lacks: f8E4M3FN has no
infinity, f8E8M0FNU no zero.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.products import is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, boolean, create


@decomposition("logistic")
def decompose_logistic(operation: ir.Operation) -> list[Tensor] | None:
    """The logistic function of f32, rounded at the end."""
    return _in_f32(operation)


@decomposition("sign")
def decompose_sign(operation: ir.Operation) -> list[Tensor] | None:
    """The sign of f32, which zero has none of."""
    return _in_f32(operation)


@decomposition("is_finite")
def decompose_is_finite(operation: ir.Operation) -> list[Tensor] | None:
    """Whether a number is neither an infinity nor a NaN, asked of f32."""
    return _in_f32(operation)


@decomposition("convert")
def decompose_convert(operation: ir.Operation) -> list[Tensor] | None:
    """A conversion to truth values, which compares with zero, from f32."""
    return _in_f32(operation) if Tensor(operation.result).element == boolean() else None


@decomposition("compare")
def decompose_compare(operation: ir.Operation) -> list[Tensor] | None:
    """Powers of two compared as f32: in the total order their highest bit is taken for a sign."""
    left, right = map(Tensor, operation.operands)
    if not isinstance(left.element, ir.Float8E8M0FNUType):
        return None
    wide = ir.F32Type.get()
    attributes = dict(operation.attributes.items())
    operands = [left.to(wide), right.to(wide)]
    return [create("compare", operands, Tensor(operation.result).type, attributes)]


def _in_f32(operation: ir.Operation) -> list[Tensor] | None:
    (operand,) = map(Tensor, operation.operands)
    if not is_narrow(operand):
        return None
    result = Tensor(operation.result)
    wide = ir.F32Type.get()
    wide_result = result.with_element(wide if is_narrow(result) else result.element)
    name = operation.name.removeprefix("stablehlo.")
    return [create(name, [operand.to(wide)], wide_result).to(result.element)]
