# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with partial results for partial operands.

Where devices hold addends of a value, `negate` of each is an addend of its negation, but `abs` of
each is no addend of its absolute value.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.irtools.constants import is_zero_element
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.partition.op_facts.record import Linearity, record_of
from pyshardy.partition.op_facts.reduction_bodies import is_boolean

LinearityFunction = Callable[[ir.Operation, ReductionOp], Linearity | None]


def linearity_of(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
    """Return the operands that may be partial with the reduction `kind`; None if none may.

    Examples: both operands of an `add` together, and one of those of a `multiply`, for sums; both
    operands of a `maximum` together for maxima.
    """
    find = record_of(operation.name).linearity
    return None if find is None else find(operation, kind)


def linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operands that an operation is linear in, each by itself, for sums.

    The operation can be moved before the all-reduce of such an operand.
    """
    find = record_of(operation.name).linear_operands
    return () if find is None else find(operation)


# --- Linearity of many operations ---------------------------------------------------------------


def moving(*operands: int) -> LinearityFunction:
    """Return the linearity of an operation that moves elements of some operands."""
    linearity = Linearity(operands, together=True)
    return lambda _, __: linearity


def additive(*operands: int) -> LinearityFunction:
    """Return the linearity of an operation that maps sums of all operands to sums of results."""
    return _for_sums_of_numbers(Linearity(operands, together=True))


def multiplicative(*operands: int) -> LinearityFunction:
    """Return the linearity in each of the operands, if the rest are constant."""
    return _for_sums_of_numbers(Linearity(operands, together=False))


def selecting(kind: ReductionOp) -> LinearityFunction:
    """Return the linearity of a maximum or a minimum, for reductions of the same kind."""
    linearity = Linearity((0, 1), together=True)
    return lambda _, asked: linearity if asked is kind else None


def together(find: Callable[[ir.Operation], tuple[int, ...]]) -> LinearityFunction:
    """Return the linearity for sums in the operands that a function returns."""

    def linearity(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
        operands = find(operation) if kind is ReductionOp.SUM else ()
        return Linearity(operands, together=True) if operands else None

    return linearity


def _for_sums_of_numbers(linearity: Linearity) -> LinearityFunction:
    return lambda operation, kind: (
        linearity
        if kind is ReductionOp.SUM and not any(map(has_booleans, operation.operands))
        else None
    )


def first_operand(_: ir.Operation) -> tuple[int, ...]:
    """Return the first operand, in which the operation is linear."""
    return (0,)


def number_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return all operands, unless their elements are truth values."""
    has_numbers = not any(map(has_booleans, operation.operands))
    return tuple(range(len(operation.operands))) if has_numbers else ()


def has_booleans(value: ir.Value) -> bool:
    """Whether the elements of a value are truth values, whose sum isn't that of numbers."""
    tensor = value.type
    return isinstance(tensor, ir.ShapedType) and is_boolean(tensor.element_type)


def is_zero(value: ir.Value) -> bool:
    """Whether all elements of a value are zero: a constant, or a broadcast of one."""
    if isinstance(value, ir.BlockArgument):
        return False
    operation = value.owner.operation
    if operation.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return is_zero(operation.operands[0])
    if operation.name not in ("sdy.constant", "stablehlo.constant"):
        return False
    elements = ConstantView(operation).value
    if not isinstance(elements, ir.DenseElementsAttr) or not elements.is_splat:
        return False
    return is_zero_element(elements.get_splat_value())
