# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering, lowest
from pyshardy.frontends.torch.registry import short_name
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape

Numbers = int | Sequence[int]


@lowering("aten.max_pool1d", "aten.max_pool2d", "aten.max_pool3d")
def max_pool(
    build: LoweringBuilder,
    value: ir.Value,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
) -> ir.Value:
    """Return the largest elements of windows."""
    count = len(_list(kernel_size))
    initial = lowest(element_type_of(value.type))
    return _reduce_window(
        build,
        value,
        "stablehlo.maximum",
        initial,
        kernel_size,
        stride or kernel_size,
        padding,
        _of_dims(dilation, count),
    )


@lowering("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(
    build: LoweringBuilder,
    value: ir.Value,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> ir.Value:
    """Return the means of windows, or their sums divided by a number."""
    rank = len(shape_of(value.type))
    count = int(short_name(build.node.target)[-2])  # of `aten.avg_pool2d`
    kernel, step, pad = (
        _of_dims(each, count) for each in (kernel_size, stride or kernel_size, padding)
    )
    total = _reduce_window(build, value, "stablehlo.add", 0, kernel, step, pad, [1] * count)
    inputs, outputs = shape_of(value.type)[-count:], shape_of(total.type)[-count:]
    if divisor_override is not None:
        divisor = build.filled_like(total, divisor_override)
    else:
        sizes = [
            _sizes(inputs[dim], outputs[dim], kernel[dim], step[dim], pad[dim], count_include_pad)
            for dim in range(count)
        ]
        product = np.ones((), np.int64)
        for each in sizes:
            product = product[..., None] * each
        numbers = build.convert(build.constant(product), element_type_of(value.type))
        divisor = build.broadcast_in_dim(numbers, shape_of(total.type), range(rank - count, rank))
    return build.binary("divide", total, divisor)


def _sizes(
    size: int, places: int, kernel: int, stride: int, padding: int, count_include_pad: bool
) -> np.ndarray:
    """Return the number of elements of each window along a dimension."""
    starts = np.arange(places) * stride - padding
    ends = np.minimum(starts + kernel, size + padding)
    if not count_include_pad:
        starts, ends = np.maximum(starts, 0), np.minimum(ends, size)
    return ends - starts


def _reduce_window(
    build: LoweringBuilder,
    value: ir.Value,
    operation: str,
    initial: float,
    kernel_size: Numbers,
    stride: Numbers,
    padding: Numbers,
    dilation: Sequence[int],
) -> ir.Value:
    """Reduce windows along the last dimensions to the shape of the result of the operation."""
    result = build.result_types[0]
    shape, made = shape_of(value.type), shape_of(result)
    count = len(dilation)
    outer = len(shape) - count
    kernel, step, pad = (_of_dims(each, count) for each in (kernel_size, stride, padding))
    pairs = [(0, 0)] * outer
    for dim in range(count):
        # The last window may end behind the padding (`ceil_mode`), or before it.
        needed = (made[outer + dim] - 1) * step[dim] + (kernel[dim] - 1) * dilation[dim] + 1
        pairs.append((pad[dim], needed - shape[outer + dim] - pad[dim]))
    scalar = ir.RankedTensorType.get([], element_type_of(value.type))
    arrays = {
        "window_dimensions": [*[1] * outer, *kernel],
        "window_strides": [*[1] * outer, *step],
        "window_dilations": [*[1] * outer, *dilation],
    }
    attributes: dict[str, ir.Attribute] = {
        name: ir.DenseI64ArrayAttr.get(numbers) for name, numbers in arrays.items()
    }
    text = ", ".join(f"[{low}, {high}]" for low, high in pairs)
    attributes["padding"] = ir.Attribute.parse(f"dense<[{text}]> : tensor<{len(pairs)}x2xi64>")
    operands = value, build.filled(scalar, initial)
    types = [with_shape(value.type, made)]
    reduced = build.create("stablehlo.reduce_window", operands, types, attributes, regions=1)
    build.fill_body(reduced.regions[0], element_type_of(value.type), operation)
    return reduced.result


def _list(numbers: Numbers) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)


def _of_dims(numbers: Numbers, count: int) -> list[int]:
    """Return a number for each dimension; one number stands for all."""
    listed = _list(numbers)
    return listed * count if len(listed) == 1 else listed
