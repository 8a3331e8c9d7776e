# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that are filled with a number, and ranges; padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten.full")
def full(build: LoweringBuilder, size: Any, fill_value: complex, **options: Any) -> ir.Value:
    """Fill a tensor with a number."""
    return build.filled(build.result_types[0], fill_value)


@lowering("aten.new_full", "aten.full_like")
def full_like(build: LoweringBuilder, value: ir.Value, *numbers: Any, **options: Any) -> ir.Value:
    """Fill a tensor with the last number."""
    return build.filled(build.result_types[0], options.get("fill_value", numbers[-1]))


@lowering("aten.zeros", "aten.new_zeros", "aten.zeros_like")
def zeros(build: LoweringBuilder, *_: Any, **options: Any) -> ir.Value:
    """Fill a tensor with zeros."""
    return build.filled(build.result_types[0], 0)


@lowering("aten.arange.start_step")
def arange(
    build: LoweringBuilder, start: float, end: float, step: float = 1, **options: Any
) -> ir.Value:
    """Return the numbers between bounds at a distance."""
    result = build.result_types[0]
    if isinstance(element_type_of(result), ir.IntegerType):
        start, step = int(start), int(step)
    value = build.scaled(build.iota(result, 0), step)
    return value if start == 0 else build.binary("add", value, build.filled(result, start))


@lowering(
    "aten.empty",
    "aten.empty_like",
    "aten.empty_permuted",
    "aten.empty_strided",
    "aten.new_empty",
    "aten.new_empty_strided",
)
def empty(build: LoweringBuilder, *_: Any, **__: Any) -> ir.Value:
    """Make a tensor of zeros."""
    return build.filled(build.result_types[0], 0)


@lowering("aten.constant_pad_nd")
def constant_pad_nd(
    build: LoweringBuilder, value: ir.Value, amounts: Sequence[int], number: complex = 0
) -> ir.Value:
    """Extend or, for negative amounts, cut the last dimensions."""
    rank = len(shape_of(value.type))
    low, high = [0] * rank, [0] * rank
    for index in range(len(amounts) // 2):
        low[rank - 1 - index], high[rank - 1 - index] = amounts[2 * index : 2 * index + 2]
    scalar = build.filled(ir.RankedTensorType.get([], element_type_of(value.type)), number)
    return build.pad(value, scalar, low, high)
