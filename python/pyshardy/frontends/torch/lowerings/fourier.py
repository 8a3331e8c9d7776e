# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms. `torch.fft` and `torch.stft` are composed of these operations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering, part_type_of
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape

_POWERS = {0: 0.0, 1: -0.5, 2: -1.0}
"""The power of the size that a transform is multiplied by, for each normalization."""


@lowering("aten._fft_c2c")
def complex_to_complex(
    build: LoweringBuilder, value: ir.Value, dims: Sequence[int], normalization: int, forward: bool
) -> ir.Value:
    """Transform complex numbers along some dimensions."""
    size = math.prod(shape_of(value.type)[dim] for dim in dims)
    for dim in dims:
        value = _transform(build, value, dim, "FFT" if forward else "IFFT")
    # The inverse of StableHLO divides by the size.
    return build.scaled(value, _scale(size, normalization) * (1 if forward else size))


@lowering("aten._fft_r2c")
def real_to_complex(
    build: LoweringBuilder, value: ir.Value, dims: Sequence[int], normalization: int, onesided: bool
) -> ir.Value:
    """Transform real numbers; if onesided, to half of the last one of the dimensions."""
    size = math.prod(shape_of(value.type)[dim] for dim in dims)
    *others, last = dims
    if onesided:
        value = _transform(build, value, last, "RFFT")
    else:
        zero = build.filled_like(value, 0)
        value = _transform(build, build.complex(value, zero), last, "FFT")
    for dim in others:
        value = _transform(build, value, dim, "FFT")
    return build.scaled(value, _scale(size, normalization))


@lowering("aten._fft_c2r")
def complex_to_real(
    build: LoweringBuilder,
    value: ir.Value,
    dims: Sequence[int],
    normalization: int,
    last_dim_size: int,
) -> ir.Value:
    """Transform half of the last one of the dimensions to real numbers of a given size."""
    *others, last = dims
    size = math.prod(shape_of(value.type)[dim] for dim in others) * last_dim_size
    for dim in others:
        value = _transform(build, value, dim, "IFFT")
    needed = last_dim_size // 2 + 1
    last %= len(shape_of(value.type))
    if shape_of(value.type)[last] > needed:
        value = build.slice_dim(value, last, 0, needed)
    value = _transform(build, value, last, "IRFFT", last_dim_size)
    return build.scaled(value, _scale(size, normalization) * size)


def _scale(size: int, normalization: int) -> float:
    return float(size) ** _POWERS[normalization]


def _transform(
    build: LoweringBuilder, value: ir.Value, dim: int, kind: str, size: int | None = None
) -> ir.Value:
    """Transform along one dimension, which StableHLO requires to be the last one."""
    rank = len(shape_of(value.type))
    dim %= rank
    order = [*(other for other in range(rank) if other != dim), dim]
    value = build.transpose(value, order)
    shape = [*shape_of(value.type)]
    length = shape[-1] if size is None else size
    element = element_type_of(value.type)
    if kind == "RFFT":
        shape[-1] = length // 2 + 1
        element = ir.ComplexType.get(element)
    elif kind == "IRFFT":
        shape[-1] = length
        element = part_type_of(value) or element
    attributes = {
        "fft_type": ir.Attribute.parse(f"#stablehlo<fft_type {kind}>"),
        "fft_length": ir.DenseI64ArrayAttr.get([length]),
    }
    result = with_element(with_shape(value.type, shape), element)
    made = build.create("stablehlo.fft", (value,), (result,), attributes).result
    return build.transpose(made, [order.index(each) for each in range(rank)])
