# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations f with f(a + b) = f(a) + f(b): they may run before partial results are added up.

| operation                                              | linear in                              |
|--------------------------------------------------------|----------------------------------------|
| negate, transpose, reshape, slice, reverse, broadcast  | the operand                            |
| convert                                                | the operand, if no value is rounded    |
| pad                                                    | the operand, if it pads with zeros     |
| `sdy.all_gather`                                       | the operand                            |
| multiply                                               | one operand, if the other is complete  |
| divide                                                 | the dividend, for floating-point types |
| add, subtract, concatenate                             | all operands together                  |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mlir_sdy.host import ir

Test = Callable[[ir.Operation], bool]


def _always(_: ir.Operation) -> bool:
    return True


def _is_exact_conversion(operation: ir.Operation) -> bool:
    """Whether a `stablehlo.convert` keeps every value.

    1. The types are the same.
    2. Floating-point types: the new one is wider, and has the exponents of the old one.
    3. Integers: the new one is wider, of the same signedness.
    """
    old, new = (
        ir.RankedTensorType(value.type).element_type
        for value in (operation.operands[0], operation.results[0])
    )
    if old == new:
        return True
    if isinstance(old, ir.FloatType) and isinstance(new, ir.FloatType):
        return old.width < new.width and new.width >= 32
    if isinstance(old, ir.IntegerType) and isinstance(new, ir.IntegerType):
        return 1 < old.width < new.width and old.is_unsigned == new.is_unsigned
    return False


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


def _pads_with_zeros(operation: ir.Operation) -> bool:
    return is_zero(operation.operands[1])


def _is_on_floats(operation: ir.Operation) -> bool:
    return isinstance(ir.RankedTensorType(operation.results[0].type).element_type, ir.FloatType)


UNARY: Mapping[str, tuple[tuple[int, ...], Test]] = {
    "sdy.all_gather": ((0,), _always),
    "stablehlo.broadcast_in_dim": ((0,), _always),
    "stablehlo.convert": ((0,), _is_exact_conversion),
    "stablehlo.divide": ((0,), _is_on_floats),
    "stablehlo.multiply": ((0, 1), _always),
    "stablehlo.negate": ((0,), _always),
    "stablehlo.pad": ((0,), _pads_with_zeros),
    "stablehlo.reshape": ((0,), _always),
    "stablehlo.reverse": ((0,), _always),
    "stablehlo.slice": ((0,), _always),
    "stablehlo.transpose": ((0,), _always),
}
"""The operations that are linear in one operand: the operands to choose from, and a condition."""

JOINT = frozenset({"stablehlo.add", "stablehlo.concatenate", "stablehlo.subtract"})
"""The operations that are linear in all operands together."""

ELEMENTWISE = frozenset(
    {"stablehlo.add", "stablehlo.convert", "stablehlo.negate", "stablehlo.subtract"}
)
"""Those among them that have no other operands, and work on each element by itself."""


def linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the indices of the operands that an operation is linear in, each taken by itself."""
    entry = UNARY.get(operation.name)
    if entry is None or not entry[1](operation):
        return ()
    return entry[0]
