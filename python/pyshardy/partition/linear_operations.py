# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of which partial operands make partial results.

Where devices hold addends of a value, `negate` of each is an addend of its negation, but `abs` of
each is no addend of its absolute value.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp
from pyshardy.partition.monoids import combining_operations, is_boolean

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
"""Operations that move elements, and the operands that these come from; None for all."""

_ADDITIVE = {
    "stablehlo.add": (0, 1),
    "stablehlo.complex": (0, 1),
    "stablehlo.imag": (0,),
    "stablehlo.negate": (0,),
    "stablehlo.real": (0,),
    "stablehlo.subtract": (0, 1),
}
"""Operations of which sums of operands make sums of results."""

_MULTIPLYING = {
    "stablehlo.convolution": (0, 1),
    "stablehlo.dot": (0, 1),
    "stablehlo.dot_general": (0, 1),
    "stablehlo.multiply": (0, 1),
}
"""Operations that are so in each of these operands, as long as the others stay the same."""

_COMBINING = {
    ReductionOp.SUM: "stablehlo.add",
    ReductionOp.MAX: "stablehlo.maximum",
    ReductionOp.MIN: "stablehlo.minimum",
}


@dataclass(frozen=True, slots=True)
class Linearity:
    """Which operands of an operation may be partial, so that its results are.

    Attributes:
        operands: their positions.
        together: whether all of them have to be partial; otherwise just one of them.
    """

    operands: tuple[int, ...]
    together: bool


def linearity_of(operation: ir.Operation, kind: ReductionOp) -> Linearity | None:
    """Which operands may be partial, if partial values combine by `kind`; None for none.

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


def _is_boolean(value: ir.Value) -> bool:
    """Whether a value is one of truth values, whose sum is none of numbers."""
    tensor = value.type
    return isinstance(tensor, ir.ShapedType) and is_boolean(tensor.element_type)
