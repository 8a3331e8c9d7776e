# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the body of a reduction does with its two arguments."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.partition.neutral_elements import neutral_elements
from pyshardy.rules.families.definitions import defining_operation, is_one_value


def only_operation(region: ir.Region, *, in_any_order: bool = True) -> ir.Operation | None:
    """The operation on the two arguments of a body that is all there is in it; None if it isn't.

    Args:
        region: the region with the body.
        in_any_order: whether the arguments may come in the other order.
    """
    block = region.blocks[0]
    operations = [view.operation for view in block.operations]
    if len(operations) != 2:
        return None
    operation, terminator = operations
    arguments = list(block.arguments)
    orders = [arguments, arguments[::-1]] if in_any_order else [arguments]
    is_all = list(terminator.operands) == list(operation.results)
    return operation if is_all and list(operation.operands) in orders else None


def is_neutral(value: ir.Value, combine: str) -> bool:
    """Whether a scalar is a constant that changes nothing; to a sum, zeros of both signs do so."""
    producer = defining_operation(value)
    if producer is None or producer.name not in ("stablehlo.constant", "sdy.constant"):
        return False
    literal = producer.attributes["value"]
    if literal == neutral_elements(combine, ir.RankedTensorType(value.type)):
        return True
    if combine != "stablehlo.add" or not is_one_value(producer):
        return False
    number = literal.get_splat_value()
    return isinstance(number, ir.FloatAttr) and number.value == 0
