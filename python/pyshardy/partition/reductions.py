# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which reduction completes the partial results of an operation on different devices.

A contraction adds up. `stablehlo.reduce` and its like reduce by a body of their own; what the
dialect's all-reduce can't express, and an initial value that would count once per device, are the
reasons to compute such an operation on whole data instead.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import ReductionOp

_CONTRACTIONS = frozenset({"stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution"})
_KINDS = {
    "stablehlo.add": ReductionOp.SUM,
    "stablehlo.maximum": ReductionOp.MAX,
    "stablehlo.minimum": ReductionOp.MIN,
}


def completing_reduction(operation: ir.Operation) -> ReductionOp | None:
    """The reduction over devices that completes the operation, if its sharded factors need one.

    1. A contraction is completed by a sum.
    2. A `stablehlo.reduce` of one operand, whose body is a single sum, maximum or minimum of its
       two arguments, is completed by the same. Each device reduces the initial value, too, which
       does no harm to a maximum or a minimum; of a sum it must be zero.
    3. Nothing else can be completed: None.
    """
    if operation.name in _CONTRACTIONS:
        return ReductionOp.SUM
    if operation.name != "stablehlo.reduce" or len(operation.operands) != 2:
        return None
    kind = _body_reduction(operation.regions[0].blocks[0])
    if kind is ReductionOp.SUM and not _is_zero(operation.operands[1]):
        return None
    return kind


def _body_reduction(block: ir.Block) -> ReductionOp | None:
    operations = [view.operation for view in block.operations]
    if len(operations) != 2:
        return None
    body, terminator = operations
    arguments = list(block.arguments)
    inputs = list(body.operands)
    if list(terminator.operands) != list(body.results) or inputs not in (
        arguments,
        arguments[::-1],
    ):
        return None
    return _KINDS.get(body.name)


def _is_zero(value: ir.Value) -> bool:
    """Whether a scalar is the constant zero."""
    if isinstance(value, ir.BlockArgument):
        return False
    producer = value.owner.operation
    if producer.name not in ("stablehlo.constant", "sdy.constant"):
        return False
    literal = producer.attributes["value"]
    if not isinstance(literal, ir.DenseElementsAttr) or not literal.is_splat:
        return False
    number = literal.get_splat_value()
    return isinstance(number, ir.FloatAttr | ir.IntegerAttr) and number.value == 0
