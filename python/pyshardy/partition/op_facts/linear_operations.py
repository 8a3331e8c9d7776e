# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with partial results for partial operands.

Where devices hold addends of a value, `negate` of each is an addend of its negation, but `abs` of
each is no addend of its absolute value.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.partition.op_facts.reduction_bodies import combining_operations, is_boolean

_MOVING = {
    "stablehlo.broadcast": (0,),
    "stablehlo.broadcast_in_dim": (0,),
    "stablehlo.concatenate": None,
    "stablehlo.dynamic_slice": (0,),
    "stablehlo.dynamic_update_slice": (0, 1),
    "stablehlo.gather": (0,),
    "stablehlo.pad": (0, 1),
    "stablehlo.reshape": (0,),
    "stablehlo.reverse": (0,),
    "stablehlo.select": (1, 2),
    "stablehlo.slice": (0,),
    "stablehlo.transpose": (0,),
}
"""Operations that move elements, and the operands whose elements move; None for all."""

_ADDITIVE = {
    "stablehlo.add": (0, 1),
    "stablehlo.complex": (0, 1),
    "stablehlo.imag": (0,),
    "stablehlo.negate": (0,),
    "stablehlo.real": (0,),
    "stablehlo.subtract": (0, 1),
}
"""Operations that map sums of all operands to sums of results."""

_MULTIPLYING = {
    "stablehlo.convolution": (0, 1),
    "stablehlo.dot": (0, 1),
    "stablehlo.dot_general": (0, 1),
    "stablehlo.multiply": (0, 1),
}
"""Operations that are linear in each of these operands, if the others are constant."""

_COMBINING = {
    ReductionOp.SUM: "stablehlo.add",
    ReductionOp.MAX: "stablehlo.maximum",
    ReductionOp.MIN: "stablehlo.minimum",
}


@dataclass(frozen=True, slots=True)
class Linearity:
    """The operands of an operation that may be partial, so that its results are partial.

    Attributes:
        operands: their positions.
        together: whether all of them have to be partial; otherwise exactly one of them.
    """

    operands: tuple[int, ...]
    together: bool


def linearity_of(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
    """Return the operands that may be partial with the reduction `kind`; None if none may.

    Examples: both operands of an `add` together, and one of those of a `multiply`, for sums; both
    operands of a `maximum` together for maxima.
    """
    name = operation.name
    count = len(operation.operands)
    if name in _MOVING:
        return Linearity(_MOVING[name] or tuple(range(count)), together=True)
    if name == "stablehlo.reduce":
        names = combining_operations(operation.regions[0].blocks[0])
        is_alike = names is not None and all(each == _COMBINING.get(kind) for each in names)
        return Linearity(tuple(range(count)), together=True) if is_alike else None
    if name == _COMBINING.get(kind) and kind is not ReductionOp.SUM:
        return Linearity((0, 1), together=True)
    if kind is not ReductionOp.SUM or any(map(_is_boolean, operation.operands)):
        return None
    if name in _ADDITIVE:
        return Linearity(_ADDITIVE[name], together=True)
    if name in _MULTIPLYING:
        return Linearity(_MULTIPLYING[name], together=False)
    return None


_FOLLOWED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "broadcast_in_dim",
        "multiply",
        "negate",
        "reshape",
        "reverse",
        "slice",
        "transpose",
    )
)


def linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the operands that an operation is linear in, each by itself, for sums.

    The operation can be moved before the all-reduce if these hold:

    1. It needs no other partial operand: see `_FOLLOWED`.
    2. A `stablehlo.pad` pads with zeros.
    3. A `stablehlo.convert` rounds no value: the type is unchanged, wider (integers), or a wider
       floating-point type of at least 32 bits (floats).
    4. A `stablehlo.divide` is of floating-point numbers, and linear in the dividend.
    5. An `sdy.all_gather` moves elements only.
    6. A `stablehlo.reduce` of one operand adds up elements, beginning with zero.
    """
    name = operation.name
    if name in _FOLLOWED:
        linearity = linearity_of(operation, ReductionOp.SUM)
        return () if linearity is None else linearity.operands
    is_linear = (
        name == "sdy.all_gather"
        or (name == "stablehlo.pad" and is_zero(operation.operands[1]))
        or (name == "stablehlo.convert" and _is_exact_conversion(operation))
        or (name == "stablehlo.reduce" and _is_sum(operation))
        or (name == "stablehlo.divide" and isinstance(_element(operation.results[0]), ir.FloatType))
    )
    return (0,) if is_linear else ()


def _is_sum(reduction: ir.Operation) -> bool:
    linearity = linearity_of(reduction, ReductionOp.SUM)
    is_single = linearity is not None and len(reduction.operands) == 2  # a tensor and a start
    is_number = not _is_boolean(reduction.operands[0])
    return is_single and is_number and is_zero(reduction.operands[1])


def is_zero(value: ir.Value) -> bool:
    """Whether all elements of a value are zero: a constant, or a broadcast of one."""
    if isinstance(value, ir.BlockArgument):
        return False
    operation = value.owner.operation
    if operation.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
        return is_zero(operation.operands[0])
    if operation.name not in ("sdy.constant", "stablehlo.constant"):
        return False
    elements = operation.attributes["value"]
    if not isinstance(elements, ir.DenseElementsAttr) or not elements.is_splat:
        return False
    element = elements.get_splat_value()
    return isinstance(element, ir.FloatAttr | ir.IntegerAttr) and element.value == 0


def _is_exact_conversion(operation: ir.Operation) -> bool:
    old, new = _element(operation.operands[0]), _element(operation.results[0])
    if old == new:
        return True
    if isinstance(old, ir.FloatType) and isinstance(new, ir.FloatType):
        return old.width < new.width and new.width >= 32
    if isinstance(old, ir.IntegerType) and isinstance(new, ir.IntegerType):
        return 1 < old.width < new.width and old.is_unsigned == new.is_unsigned
    return False


def _element(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


def _is_boolean(value: ir.Value) -> bool:
    """Whether the elements of a value are truth values, whose sum isn't that of numbers."""
    tensor = value.type
    return isinstance(tensor, ir.ShapedType) and is_boolean(tensor.element_type)
