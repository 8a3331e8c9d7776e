# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that engines lack, or compute wrongly, for some element types; and barriers.

Operations on narrow floating-point numbers, among them products, are computed in f32. Their
formulas have steps that would be rounded, or constants that the type lacks: f8E4M3FN has no
infinity, f8E8M0FNU no zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, boolean, create, where
from pyshardy.irtools.constants import uniform_element


@decomposition("logistic")
def decompose_logistic(operation: ir.Operation) -> list[Tensor] | None:
    """The logistic function of f32, rounded at the end."""
    return _in_f32(operation)


@decomposition("sign")
def decompose_sign(operation: ir.Operation) -> list[Tensor] | None:
    """The sign, computed in f32."""
    return _in_f32(operation)


@decomposition("is_finite")
def decompose_is_finite(operation: ir.Operation) -> list[Tensor] | None:
    """Whether a number is neither an infinity nor a NaN, computed in f32."""
    return _in_f32(operation)


@decomposition("convert")
def decompose_convert(operation: ir.Operation) -> list[Tensor] | None:
    """A conversion to booleans, a comparison of f32 with zero, or to f8E8M0FNU.

    Numbers that aren't positive become NaN in f8E8M0FNU. Folders of constants take a power of two
    instead.
    """
    operand, result = map(Tensor, (operation.operands[0], operation.result))
    if result.element == boolean():
        return _in_f32(operation)
    if not isinstance(result.element, ir.Float8E8M0FNUType) or operand.element == result.element:
        return None
    if operand.is_complex:
        operand = operand.real
    return [where(operand > 0, operand.to(result.element), math.nan)]


@decomposition("compare")
def decompose_compare(operation: ir.Operation) -> list[Tensor] | None:
    """Compare f8E8M0FNU as f32, since the total order takes its highest bit for a sign."""
    left, right = map(Tensor, operation.operands)
    if not isinstance(left.element, ir.Float8E8M0FNUType):
        return None
    wide = ir.F32Type.get()
    attributes = dict(operation.attributes.items())
    operands = [left.to(wide), right.to(wide)]
    return [create("compare", operands, Tensor(operation.result).type, attributes)]


def _in_f32(operation: ir.Operation) -> list[Tensor] | None:
    (operand,) = map(Tensor, operation.operands)
    if not is_narrow(operand.element):
        return None
    result = Tensor(operation.result)
    wide = ir.F32Type.get()
    wide_result = result.with_element(wide if is_narrow(result.element) else result.element)
    name = operation.name.removeprefix("stablehlo.")
    return [create(name, [operand.to(wide)], wide_result).to(result.element)]


# --- Booleans -------------------------------------------------------------------------------------


@decomposition("add")
def decompose_add(operation: ir.Operation) -> list[Tensor] | None:
    """Replace a sum of booleans by a disjunction, since compilers add i1 modulo 2."""
    left, right = map(Tensor, operation.operands)
    return [left | right] if left.element == boolean() else None


# --- Integers -------------------------------------------------------------------------------------


@decomposition("divide")
@decomposition("remainder")
def decompose_division(operation: ir.Operation) -> list[Tensor] | None:
    """Divide integers by zero as XLA does: all bits of the quotient are set, nothing is taken off.

    Some engines end their process at it.
    """
    dividend, divisor = map(Tensor, operation.operands)
    known = uniform_element(divisor.value, {"stablehlo.broadcast_in_dim"})
    is_never_zero = isinstance(known, ir.IntegerAttr) and known.value != 0
    if is_never_zero or not isinstance(divisor.element, ir.IntegerType):
        return None
    name, is_zero = operation.name.removeprefix("stablehlo."), divisor.equals(0)
    by_zero = ~(dividend & 0) if name == "divide" else dividend
    result = create(name, [dividend, where(is_zero, 1, divisor)], dividend.type)
    return [where(is_zero, by_zero, result)]


# --- Barriers -------------------------------------------------------------------------------------


@decomposition("optimization_barrier")
def drop_barrier(operation: ir.Operation) -> list[Tensor]:
    """The operands as they are."""
    return [Tensor(operand) for operand in operation.operands]


# --- Products -------------------------------------------------------------------------------------


@decomposition("dot_general")
def decompose_dot(operation: ir.Operation) -> list[Tensor] | None:
    """Compute a narrow product in f32 and round it at the end; wider products are unchanged."""
    operands = [Tensor(operand) for operand in operation.operands]
    result = Tensor(operation.result)
    if not any(is_narrow(each.element) for each in (result, *operands)):
        return None
    attributes = dict(operation.attributes.items())
    return [added_up_wide("dot_general", operands, result.type, attributes)]


def is_narrow(element: ir.Type) -> bool:
    """Whether a type is that of floating-point numbers of fewer than 32 bits."""
    return isinstance(element, ir.FloatType) and element.width < 32


def added_up_wide(
    name: str,
    operands: Sequence[Tensor],
    result: ir.RankedTensorType,
    attributes: Mapping[str, ir.Attribute],
) -> Tensor:
    """Build an operation that accumulates products, in f32 if its operands are narrower."""
    wide = ir.F32Type.get()
    widened = [each.to(wide) if is_narrow(each.element) else each for each in operands]
    element = widened[0].element if is_narrow(result.element_type) else result.element_type
    summed = ir.RankedTensorType.get(result.shape, element)
    return create(name, widened, summed, attributes).to(result.element_type)
