# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simplification of manual computations: unused arguments, and computations without values."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.discardable import set_discardable
from mlir_sdy.fold.pattern import Pattern
from mlir_sdy.host import rewrite
from mlir_sdy.model import TensorShardingPerValue
from mlir_sdy.ods.irdl_groups import OPERAND_SIZES, RESULT_SIZES
from mlir_sdy.uses import is_used

_OWN = frozenset({"in_shardings", "out_shardings", "manual_axes", OPERAND_SIZES, RESULT_SIZES})


def drop_unused_inputs(
    computation: sdy.ManualComputationOp, rewriter: rewrite.PatternRewriter
) -> bool:
    """Unused arguments of the body are erased, with their operands and shardings."""
    body = computation.regions[0].blocks[0]
    used = [is_used(argument) for argument in body.arguments]
    if all(used):
        return False
    in_shardings = value_of(computation.in_shardings).shardings
    with rewriter.ip, computation.location:
        smaller = sdy.ManualComputationOp(
            [result.type for result in computation.results],
            [value for value, kept in zip(computation.operands, used, strict=True) if kept],
            attribute_of(
                TensorShardingPerValue(
                    tuple(each for each, kept in zip(in_shardings, used, strict=True) if kept)
                )
            ),
            computation.out_shardings,
            computation.manual_axes,
        ).operation
    for name, attribute in computation.attributes.items():
        if name not in _OWN:
            set_discardable(smaller, name, attribute)
    body.append_to(smaller.regions[0])
    for index in reversed(range(len(used))):
        if not used[index]:
            body.erase_argument(index)
    rewriter.replace_op(computation.operation, smaller)
    return True


def inline_without_values(
    computation: sdy.ManualComputationOp, rewriter: rewrite.PatternRewriter
) -> bool:
    """A computation without operands and results is inlined; an empty one is erased.

    One with values is kept even if its manual axes have one device, as by C++ Shardy: its shardings
    may have free axes, which constrain the values.
    """
    if len(computation.operands) or len(computation.results):
        return False
    *inner, _ = [view.operation for view in computation.regions[0].blocks[0].operations]
    for operation in inner:
        operation.move_before(computation.operation)
    rewriter.erase_op(computation.operation)
    return True


PATTERNS = (
    Pattern(sdy.ManualComputationOp, drop_unused_inputs),
    Pattern(sdy.ManualComputationOp, inline_without_values),
)
