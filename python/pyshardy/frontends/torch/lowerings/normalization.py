# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalization, by the mean and the variance of some dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten.layer_norm")
def layer_norm(
    build: LoweringBuilder,
    value: ir.Value,
    sizes: Sequence[int],
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    *_: bool,
) -> ir.Value:
    """Normalize the last dimensions."""
    rank = len(shape_of(value.type))
    dims = [*range(rank - len(sizes), rank)]
    made = _normalized(build, build.widened(value), dims, eps)
    made = _scaled_and_shifted(build, made, weight, bias, dims)
    return build.convert(made, element_type_of(value.type))


@lowering("aten.group_norm")
def group_norm(
    build: LoweringBuilder,
    value: ir.Value,
    groups: int,
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    *_: bool,
) -> ir.Value:
    """Normalize groups of channels, which are dimension 1."""
    batch, channels, *spatial = shape_of(value.type)
    split = [batch, groups, channels // groups, *spatial]
    wide = build.widened(value)
    made = _normalized(build, build.reshape(wide, split), [*range(2, len(split))], eps)
    made = build.reshape(made, shape_of(value.type))
    made = _scaled_and_shifted(build, made, weight, bias, [1])
    return build.convert(made, element_type_of(value.type))


def _normalized(
    build: LoweringBuilder, value: ir.Value, dims: Sequence[int], eps: float
) -> ir.Value:
    """Return the distances from the mean, divided by the standard deviation."""
    shape = shape_of(value.type)
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    zero = build.filled(ir.RankedTensorType.get([], element_type_of(value.type)), 0)
    count = math.prod(shape[dim] for dim in dims)

    def mean(each: ir.Value) -> ir.Value:
        total = build.reduce(each, zero, dims, "stablehlo.add")
        return build.binary("divide", total, build.filled_like(total, count))

    difference = build.binary("subtract", value, build.broadcast_in_dim(mean(value), shape, kept))
    variance = mean(build.binary("multiply", difference, difference))
    shifted = build.binary("add", variance, build.filled_like(variance, eps))
    scale = build.broadcast_in_dim(build.unary("rsqrt", shifted), shape, kept)
    return build.binary("multiply", difference, scale)


def _scaled_and_shifted(
    build: LoweringBuilder,
    value: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    dims: Sequence[int],
) -> ir.Value:
    """Multiply by a weight and add a bias, which have some of the dimensions."""
    for name, operand in (("multiply", weight), ("add", bias)):
        if operand is not None:
            wide = build.convert(operand, element_type_of(value.type))
            broadcast = build.broadcast_in_dim(wide, shape_of(value.type), dims)
            value = build.binary(name, value, broadcast)
    return value
