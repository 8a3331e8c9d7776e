# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that look at padding, and the values that do no harm to them.

What padding holds is not known: computing on it makes ones of zeros, and infinities of ones. It
does no harm as long as it stays where it is, so that only these operations need it overwritten:

| operation                                | in its reduced dimensions | neutral           |
|------------------------------------------|---------------------------|-------------------|
| contraction                              | of both operands          | 0                 |
| `stablehlo.reduce`                       | of the operand            | the initial value |
| integer `divide` and `remainder`         | all those of the divisor  | 1                 |
| `stablehlo.pad`                          | those that become larger  | its padding value |

The initial value is neutral in a `stablehlo.reduce` because only such are computed on shards that
may begin with it any number of times (see `completing_reduction`). Dividing integers by zero ends
some programs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.padding.builder import PaddingBuilder
from pyshardy.partition.padding.shapes import Shape, shape_of

_INTEGER_DIVISIONS = frozenset({"stablehlo.divide", "stablehlo.remainder"})


def mask_operands(
    operation: ir.Operation,
    rule: OpShardingRule,
    contents: Mapping[ir.Value, Shape],
    zeros: Collection[ir.Value],
    builder: PaddingBuilder,
) -> None:
    """Overwrite the padding that an operation looks at.

    Args:
        operation: the operation, whose operands are padded.
        rule: its rule.
        contents: the shape without padding of each value that is padded.
        zeros: values whose padding is known to be zero.
        builder: builds the masks.
    """
    if operation.name in _INTEGER_DIVISIONS:
        divisor = operation.operands[1]
        if isinstance(ir.RankedTensorType(divisor.type).element_type, ir.IntegerType):
            _mask(operation, 1, [*range(len(shape_of(divisor.type)))], 1, contents, builder)
        return
    if operation.name == "stablehlo.pad":
        operand, result = operation.operands[0], operation.results[0]
        shapes = (contents.get(value, shape_of(value.type)) for value in (operand, result))
        grown = [dim for dim, (old, new) in enumerate(zip(*shapes, strict=True)) if old < new]
        _mask(operation, 0, grown, operation.operands[1], contents, builder)
        return
    reduced = {*rule.reduction_factors}
    if not reduced:
        return
    is_reduce = operation.name == "stablehlo.reduce"
    for index, tensor in enumerate(rule.operand_mappings):
        value = operation.operands[index]
        if value in zeros and not is_reduce:
            continue
        dims = [
            dim
            for dim, mapping in enumerate(tensor.dim_mappings)
            if not reduced.isdisjoint(mapping.factor_indices)
        ]
        neutral = operation.operands[1] if is_reduce else 0
        _mask(operation, index, dims, neutral, contents, builder)


def _mask(
    operation: ir.Operation,
    index: int,
    dims: list[int],
    neutral: ir.Value | int,
    contents: Mapping[ir.Value, Shape],
    builder: PaddingBuilder,
) -> None:
    value = operation.operands[index]
    sizes = contents.get(value)
    if sizes is None:
        return
    shape = shape_of(value.type)
    padded = [dim for dim in dims if shape[dim] != sizes[dim]]
    if padded:
        if isinstance(neutral, int):
            neutral = builder.scalar(value, neutral)
        operation.operands[index] = builder.masked(value, sizes, padded, neutral)
