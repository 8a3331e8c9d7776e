# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that change shapes, or return parts of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten.flatten.using_ints", "aten.unflatten.int")
def reshape(build: LoweringBuilder, value: ir.Value, *_: Any) -> ir.Value:
    """Merge or split dimensions."""
    return build.reshape(value, shape_of(build.result_types[0]))


@lowering("aten.chunk", "aten.split", "aten.split_with_sizes")
def split(
    build: LoweringBuilder, value: ir.Value, sizes: int | Sequence[int], dim: int = 0
) -> list[ir.Value]:
    """Return the parts along a dimension."""
    dim %= len(shape_of(value.type))
    start = 0
    made: list[ir.Value] = []
    for result in build.result_types:
        size = shape_of(result)[dim]
        made.append(build.slice_dim(value, dim, start, size))
        start += size
    return made


def _is_constant(value: Any, amounts: Any, mode: str = "constant", *_: Any, **__: Any) -> bool:
    return mode == "constant"


@lowering("aten.pad", applies=_is_constant)
def pad(
    build: LoweringBuilder,
    value: ir.Value,
    amounts: Sequence[int],
    mode: str = "constant",
    number: complex | None = None,
) -> ir.Value:
    """Extend or, for negative amounts, cut the last dimensions."""
    return constant_pad_nd(build, value, amounts, number or 0)


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
