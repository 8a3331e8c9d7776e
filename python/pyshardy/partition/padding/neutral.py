# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that read padding, and the neutral values for them.

The contents of padding are undefined: operations are computed on padding as well. This is harmless
as long as its elements don't affect others, so only these operations need it overwritten:

| operation                        | padding to overwrite      | neutral value                 |
|----------------------------------|---------------------------|-------------------------------|
| contraction                      | reduced dimensions of both| 0                             |
|                                  | operands                  |                               |
| `stablehlo.reduce`               | reduced dimensions of the | the initial value, if it may  |
|                                  | inputs                    | be combined any number of     |
|                                  |                           | times                         |
| `stablehlo.scatter`              | reduced dimensions of the | that of the operation in its  |
|                                  | updates                   | body                          |
| `chlo.top_k`                     | reduced dimension of the  | the least number of all       |
|                                  | operand                   |                               |
| integer `divide` and `remainder` | all of the divisor        | 1                             |
| `stablehlo.pad`                  | dimensions that grow      | its padding value             |

Integer division by zero ends some programs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.tensor_types import Shape, shape_of
from pyshardy.partition.op_facts.neutral_elements import neutral_element
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.op_facts.reductions import (
    CONTRACTIONS,
    counts_any_number_of_times,
    is_positive_zero,
)
from pyshardy.partition.padding.builder import PaddingBuilder

_TAKING_SLICES = frozenset({"stablehlo.dynamic_slice", "stablehlo.gather"})
"""Operations that take slices by indices, which never include padding (see `indices`)."""

_INTEGER_DIVISIONS = frozenset({"stablehlo.divide", "stablehlo.remainder"})


def mask_operands(
    operation: ir.Operation,
    rule: OpShardingRule,
    contents: Mapping[ir.Value, Shape],
    zeros: Collection[ir.Value],
    builder: PaddingBuilder,
) -> None:
    """Overwrite the padding that an operation reads.

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
            _mask(operation, 1, [*range(len(shape_of(divisor.type)))], 1, contents, zeros, builder)
        return
    if operation.name == "stablehlo.pad":
        operand, result = operation.operands[0], operation.results[0]
        shapes = (contents.get(value, shape_of(value.type)) for value in (operand, result))
        grown = [dim for dim, (old, new) in enumerate(zip(*shapes, strict=True)) if old < new]
        _mask(operation, 0, grown, operation.operands[1], contents, zeros, builder)
        return
    reduced = {*rule.reduction_factors}
    if not reduced:
        return
    neutrals = neutral_values(operation)
    assert neutrals is not None, "what has none is not padded"
    for index, neutral in neutrals.items():
        dims = [
            dim
            for dim, mapping in enumerate(rule.operand_mappings[index].dim_mappings)
            if not reduced.isdisjoint(mapping.factor_indices)
        ]
        _mask(operation, index, dims, neutral, contents, zeros, builder)


Neutral = ir.Value | ir.DenseElementsAttr | int
"""A scalar: an existing value, a constant, or a number of the element type of an operand."""


def neutral_values(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return the neutral values for the reduced dimensions of operands, by position.

    None if a reduction has no neutral value.
    """
    name = operation.name
    if name in CONTRACTIONS:
        return dict.fromkeys(range(len(operation.operands)), 0)
    if name in _TAKING_SLICES:
        return {}
    if name == "chlo.top_k":
        # Of equal elements the first ones are selected, and padding comes last.
        element_type = ir.RankedTensorType(operation.results[0].type).element_type
        least = neutral_element("stablehlo.maximum", element_type)
        return None if least is None else {0: least}
    if name not in ("stablehlo.reduce", "stablehlo.scatter"):
        return None
    count = len(operation.results)
    names = combining_operations(operation.regions[0].blocks[0])
    neutrals: dict[int, Neutral | None] = {}
    for index, result in enumerate(operation.results):
        element_type = ir.RankedTensorType(result.type).element_type
        if name == "stablehlo.reduce":
            initial = operation.operands[count + index]
            if names is None or counts_any_number_of_times(initial, names[index]):
                neutrals[index] = initial
            else:
                neutrals[index] = neutral_element(names[index], element_type)
        elif names is not None:
            neutrals[count + 1 + index] = neutral_element(names[index], element_type)
    found = {index: neutral for index, neutral in neutrals.items() if neutral is not None}
    return found if len(found) == len(neutrals) else None


def _is_zero(neutral: Neutral) -> bool:
    if isinstance(neutral, int):
        return neutral == 0
    return isinstance(neutral, ir.Value) and is_positive_zero(neutral)


def _mask(
    operation: ir.Operation,
    index: int,
    dims: list[int],
    neutral: Neutral,
    contents: Mapping[ir.Value, Shape],
    zeros: Collection[ir.Value],
    builder: PaddingBuilder,
) -> None:
    value = operation.operands[index]
    sizes = contents.get(value)
    if sizes is None or (value in zeros and _is_zero(neutral)):
        return
    shape = shape_of(value.type)
    padded = [dim for dim in dims if shape[dim] != sizes[dim]]
    if padded:
        if isinstance(neutral, int):
            neutral = builder.scalar(value, neutral)
        elif isinstance(neutral, ir.DenseElementsAttr):
            neutral = builder.constant(neutral)
        operation.operands[index] = builder.masked(value, sizes, padded, neutral)
