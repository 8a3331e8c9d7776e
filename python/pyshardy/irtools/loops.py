# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trip counts of loops."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.stablehlo_views import CompareView, ConstantView

_CONSTANTS = frozenset({"stablehlo.constant", "sdy.constant"})
_COUNTING = {"LT": 0, "LE": 1}


def trip_count(loop: ir.Operation) -> int | None:
    """Return the number of iterations of a `stablehlo.while`; None if it is not known.

    1. The condition compares a loop-carried value with a constant, by LT or LE.
    2. The value starts as a constant, and each iteration adds the same constant to it.

    `while(%i = 2) : %i < 9` with `%i + 3` runs its body for 2, 5 and 8: 3 times.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    compare = _producer(_returned(condition)[0])
    if compare is None or compare.name != "stablehlo.compare":
        return None
    direction = CompareView(compare).comparison_direction
    counter = compare.operands[0]
    if direction not in _COUNTING or counter not in list(condition.arguments):
        return None
    index = ir.BlockArgument(counter).arg_number
    add = _producer(_returned(body)[index])
    if add is None or add.name != "stablehlo.add" or add.operands[0] != body.arguments[index]:
        return None
    start = _number(loop.operands[index], loop)
    end = _number(compare.operands[1], loop)
    step = _number(add.operands[1], loop)
    if start is None or end is None or step is None or step <= 0:
        return None
    return max(0, -((start - end - _COUNTING[direction]) // step))


def _returned(block: ir.Block) -> list[ir.Value]:
    return list(terminator_of(block).operands)


def _producer(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def _number(value: ir.Value, loop: ir.Operation) -> int | None:
    """Return the constant integer of a scalar, also if a loop carries it unchanged, or None."""
    if isinstance(value, ir.BlockArgument):
        if value.owner.owner.operation != loop:
            return None
        index = value.arg_number
        if (
            _returned(loop.regions[1].blocks[0])[index]
            != loop.regions[1].blocks[0].arguments[index]
        ):
            return None
        value = loop.operands[index]
    producer = _producer(value)
    if producer is None or producer.name not in _CONSTANTS:
        return None
    literal = ConstantView(producer).value
    if not isinstance(literal, ir.DenseElementsAttr) or not literal.is_splat:
        return None
    number = literal.get_splat_value()
    return number.value if isinstance(number, ir.IntegerAttr) else None
