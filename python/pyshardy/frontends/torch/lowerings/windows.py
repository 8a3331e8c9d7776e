# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, their gradients, and reductions of windows.

Along a spatial dimension, an output y and an input x belong to an element k of the kernel if

    x = y * stride - padding + k * dilation

All three tensors of a convolution are sums over such triples of products of the other two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering, lowest
from pyshardy.frontends.torch.registry import short_name
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape


@dataclass(frozen=True)
class _Convolution:
    """The numbers that relate outputs, inputs and the kernel, for each spatial dimension."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int

    @classmethod
    def of(cls, count: int, *numbers: Sequence[int], groups: int) -> _Convolution:
        """Return the window for `count` spatial dimensions; one number stands for all."""
        stride, padding, dilation = (_of_dims(each, count) for each in numbers)
        return cls(stride, padding, dilation, groups)

    def dims(self, *tensors: ir.Value | Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield sizes of tensors, the stride, the padding and the dilation of each dimension."""
        sizes = (
            shape_of(each.type)[2:] if isinstance(each, ir.Value) else each for each in tensors
        )
        return zip(*sizes, self.stride, self.padding, self.dilation, strict=True)


@lowering("aten.convolution", "aten._convolution", "aten.convolution_overrideable")
def convolution(
    build: LoweringBuilder,
    value: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *_: bool,
) -> ir.Value:
    """Convolve; a transposed convolution is the gradient of the input of another one."""
    shape = shape_of(build.result_types[0])
    window = _Convolution.of(len(shape) - 2, stride, padding, dilation, groups=groups)
    if transposed:
        result = _inputs(build, value, weight, shape[2:], window)
    else:
        result = _outputs(build, value, weight, shape[2:], window)
    if bias is None:
        return result
    return build.binary("add", result, build.broadcast_in_dim(bias, shape, [1]))


@lowering("aten.convolution_backward")
def convolution_backward(
    build: LoweringBuilder,
    gradient: ir.Value,
    value: ir.Value,
    weight: ir.Value,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> list[ir.Value]:
    """Return the gradients of the input, the weight and the bias, those that are asked for."""
    spatial = range(2, len(shape_of(value.type)))
    sizes, kernel = shape_of(value.type)[2:], shape_of(weight.type)[2:]
    window = _Convolution.of(len(spatial), stride, padding, dilation, groups=groups)
    results: list[ir.Value] = []
    if output_mask[0]:
        of_value = _outputs if transposed else _inputs
        results.append(of_value(build, gradient, weight, sizes, window))
    if output_mask[1]:
        inputs, outputs = (gradient, value) if transposed else (value, gradient)
        results.append(_kernel(build, inputs, outputs, kernel, window))
    if output_mask[2]:
        wide = build.widened(gradient)
        zero = build.filled(ir.RankedTensorType.get([], element_type_of(wide.type)), 0)
        total = build.reduce(wide, zero, [0, *spatial], "stablehlo.add")
        results.append(build.convert(total, element_type_of(gradient.type)))
    return results


def _outputs(
    build: LoweringBuilder,
    inputs: ir.Value,
    weight: ir.Value,
    sizes: Sequence[int],
    window: _Convolution,
) -> ir.Value:
    """Return the outputs, of given sizes, for inputs and a weight `[out, in / groups, ...]`."""
    pads: list[tuple[int, int]] = []
    for size, given, kernel, stride, pad, dilation in window.dims(sizes, inputs, weight):
        needed = (size - 1) * stride + (kernel - 1) * dilation + 1 - given - pad
        # Libraries for GPUs are faster with equal padding, of which the stride may skip a part.
        pads.append((pad, pad if 0 <= pad - needed < stride else needed))
    shape = [shape_of(inputs.type)[0], shape_of(weight.type)[0], *sizes]
    return _convolve(
        build,
        (inputs, weight),
        ("bf", "oi", "bf"),
        shape,
        pads,
        strides=window.stride,
        rhs_dilation=window.dilation,
        feature_groups=window.groups,
    )


def _inputs(
    build: LoweringBuilder,
    outputs: ir.Value,
    weight: ir.Value,
    sizes: Sequence[int],
    window: _Convolution,
) -> ir.Value:
    """Return the inputs, of given sizes, for outputs and a weight `[out, in / groups, ...]`."""
    pads: list[tuple[int, int]] = []
    for size, given, kernel, stride, pad, dilation in window.dims(sizes, outputs, weight):
        pads.append(((kernel - 1) * dilation - pad, size - 1 - (given - 1) * stride + pad))
    out, inside, *kernel_sizes = shape_of(weight.type)
    groups = window.groups
    if groups > 1:  # the features of all groups become those of the result
        weight = build.reshape(weight, [groups, out // groups, inside, *kernel_sizes])
        weight = build.transpose(weight, [1, 0, *range(2, len(kernel_sizes) + 3)])
        weight = build.reshape(weight, [out // groups, groups * inside, *kernel_sizes])
    shape = [shape_of(outputs.type)[0], groups * inside, *sizes]
    return _convolve(
        build,
        (outputs, build.reverse(weight, range(2, len(kernel_sizes) + 2))),
        ("bf", "io", "bf"),
        shape,
        pads,
        lhs_dilation=window.stride,
        rhs_dilation=window.dilation,
        feature_groups=groups,
    )


def _kernel(
    build: LoweringBuilder,
    inputs: ir.Value,
    outputs: ir.Value,
    sizes: Sequence[int],
    window: _Convolution,
) -> ir.Value:
    """Return the weight `[out, in / groups, ...]`, of given sizes, for inputs and outputs.

    The batch is contracted: it takes the place of features, and those take its place.
    """
    pads = [
        (low, (size - 1) * dilation + (count - 1) * stride + 1 - given - low)
        for size, given, count, stride, low, dilation in window.dims(sizes, inputs, outputs)
    ]
    shape = [shape_of(outputs.type)[1], shape_of(inputs.type)[1] // window.groups, *sizes]
    return _convolve(
        build,
        (inputs, outputs),
        ("fb", "io", "fb"),
        shape,
        pads,
        strides=window.dilation,
        rhs_dilation=window.stride,
        batch_groups=window.groups,
    )


def _convolve(
    build: LoweringBuilder,
    operands: tuple[ir.Value, ir.Value],
    dims: tuple[str, str, str],
    shape: Sequence[int],
    padding: Sequence[tuple[int, int]],
    *,
    strides: Sequence[int] | None = None,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int],
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> ir.Value:
    """Build a `stablehlo.convolution`.

    Args:
        build: the builder.
        operands: the input and the kernel.
        dims: the first two dimensions of the operands and the result: batch and features; input
            and output features of the kernel. The others are spatial.
        shape: the shape of the result.
        padding: the padding on both sides of each spatial dimension.
        strides: the strides of the window.
        lhs_dilation: the distances of the elements of the input.
        rhs_dilation: the distances of the elements of the kernel.
        feature_groups: the number of groups of the features of the input.
        batch_groups: the number of groups of the batch of the input.
    """
    count = len(shape) - 2
    lhs, rhs, result = (f"[{', '.join([*each, *map(str, range(count))])}]" for each in dims)
    pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
    arrays = {
        "window_strides": strides,
        "lhs_dilation": lhs_dilation,
        "rhs_dilation": rhs_dilation,
    }
    i64 = ir.IntegerType.get_signless(64)
    attributes: dict[str, ir.Attribute] = {
        "dimension_numbers": ir.Attribute.parse(f"#stablehlo.conv<{lhs}x{rhs}->{result}>"),
        "padding": ir.Attribute.parse(f"dense<[{pads}]> : tensor<{count}x2xi64>"),
        "feature_group_count": ir.IntegerAttr.get(i64, feature_groups),
        "batch_group_count": ir.IntegerAttr.get(i64, batch_groups),
        **{
            name: ir.DenseI64ArrayAttr.get([*numbers])
            for name, numbers in arrays.items()
            if numbers is not None
        },
    }
    types = [with_shape(operands[0].type, shape)]
    return build.create("stablehlo.convolution", operands, types, attributes).result


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
    shape, target = shape_of(value.type), shape_of(result)
    count = len(dilation)
    outer = len(shape) - count
    kernel, step, pad = (_of_dims(each, count) for each in (kernel_size, stride, padding))
    pairs = [(0, 0)] * outer
    for dim in range(count):
        # The last window may end behind the padding (`ceil_mode`), or before it.
        needed = (target[outer + dim] - 1) * step[dim] + (kernel[dim] - 1) * dilation[dim] + 1
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
    types = [with_shape(value.type, target)]
    reduced = build.create("stablehlo.reduce_window", operands, types, attributes, regions=1)
    build.fill_body(reduced.regions[0], element_type_of(value.type), operation)
    return reduced.result


def _list(numbers: Numbers) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)


def _of_dims(numbers: Numbers, count: int) -> list[int]:
    """Return a number for each dimension; a single number stands for all."""
    listed = _list(numbers)
    return listed * count if len(listed) == 1 else listed
