# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers, and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import (
    LoweringBuilder,
    complex_lowering,
    lowering,
    part_type_of,
)
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape


@lowering("aten.view_as_complex", "aten.view_as_complex_copy")
def view_as_complex(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Take pairs of numbers along the last dimension as complex numbers."""
    shape = shape_of(value.type)
    real, imag = (
        build.reshape(build.slice_dim(value, len(shape) - 1, part, 1), shape[:-1])
        for part in (0, 1)
    )
    return build.complex(real, imag)


@lowering("aten.view_as_real", "aten.view_as_real_copy", "aten._view_as_real_physical")
def view_as_real(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Return the parts of complex numbers along a new last dimension."""
    shape = shape_of(value.type)
    parts = [build.reshape(build.part(name, value), [*shape, 1]) for name in ("real", "imag")]
    return build.concatenate(parts, len(shape))


@lowering("aten.complex")
def complex_of_parts(build: LoweringBuilder, real: ir.Value, imag: ir.Value) -> ir.Value:
    """Build complex numbers from their parts."""
    shape = shape_of(build.result_types[0])
    return build.complex(build.expanded(real, shape), build.expanded(imag, shape))


@lowering("aten._conj", "aten._conj_physical", "aten.conj_physical", "aten._conj_copy")
def conjugate(build: LoweringBuilder, value: ir.Value | complex) -> ir.Value:
    """Negate imaginary parts; real numbers stay. Gradients have factors that are no tensors."""
    if not isinstance(value, ir.Value):
        return build.filled(build.result_types[0], value.conjugate())
    if not isinstance(element_type_of(value.type), ir.ComplexType):
        return value
    return build.complex(
        build.part("real", value), build.unary("negate", build.part("imag", value))
    )


def _register_unary(operation: str, name: str) -> None:
    """Register a lowering for a function of one complex number."""

    @complex_lowering(operation)
    def unary(build: LoweringBuilder, value: ir.Value) -> ir.Value:  # pyright: ignore[reportUnusedFunction]
        return build.create(name, (value,), build.result_types).result


_UNARY = {
    "aten.abs": "stablehlo.abs",
    "aten.acos": "chlo.acos",
    "aten.acosh": "chlo.acosh",
    "aten.asin": "chlo.asin",
    "aten.asinh": "chlo.asinh",
    "aten.atan": "chlo.atan",
    "aten.atanh": "chlo.atanh",
    "aten.cos": "stablehlo.cosine",
    "aten.cosh": "chlo.cosh",
    "aten.exp": "stablehlo.exponential",
    "aten.expm1": "stablehlo.exponential_minus_one",
    "aten.log": "stablehlo.log",
    "aten.log1p": "stablehlo.log_plus_one",
    "aten.neg": "stablehlo.negate",
    "aten.rsqrt": "stablehlo.rsqrt",
    "aten.sigmoid": "stablehlo.logistic",
    "aten.sin": "stablehlo.sine",
    "aten.sinh": "chlo.sinh",
    "aten.sqrt": "stablehlo.sqrt",
    "aten.tan": "stablehlo.tan",
    "aten.tanh": "stablehlo.tanh",
}
for _operation, _name in _UNARY.items():
    _register_unary(_operation, _name)


def _register_binary(operation: str, name: str) -> None:
    """Register a lowering for an operation of two numbers, of which one may be real."""

    @complex_lowering(operation)
    def binary(  # pyright: ignore[reportUnusedFunction]
        build: LoweringBuilder,
        lhs: ir.Value | complex,
        rhs: ir.Value | complex,
        *,
        alpha: complex = 1,
    ) -> ir.Value:
        result = build.result_types[0]
        first, second = (_operand(build, each, result) for each in (lhs, rhs))
        if alpha != 1:
            second = build.binary("multiply", second, build.filled(result, alpha))
        return build.binary(name, first, second)


_BINARY = {
    "aten.add": "add",
    "aten.div": "divide",
    "aten.mul": "multiply",
    "aten.pow": "power",
    "aten.sub": "subtract",
}
for _operation, _name in _BINARY.items():
    _register_binary(_operation, _name)


@complex_lowering("aten.reciprocal")
def reciprocal(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Divide one by numbers."""
    return build.binary("divide", build.filled_like(value, 1), value)


@complex_lowering("aten.exp2")
def exp2(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Raise two to the power of numbers."""
    return build.unary("exponential", build.scaled(value, math.log(2)))


@complex_lowering("aten.isnan")
def is_nan(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Whether a part is NaN."""
    parts = [build.part(name, value) for name in ("real", "imag")]
    return build.binary("or", *(build.compare("NE", part, part) for part in parts))


@complex_lowering("aten.isinf")
def is_infinite(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Whether a part is infinite."""
    sizes = [build.unary("abs", build.part(name, value)) for name in ("real", "imag")]
    infinity = build.filled_like(sizes[0], math.inf)
    return build.binary("or", *(build.compare("EQ", size, infinity) for size in sizes))


@complex_lowering("aten.isfinite")
def is_finite(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Whether both parts are finite."""
    sizes = [build.unary("abs", build.part(name, value)) for name in ("real", "imag")]
    infinity = build.filled_like(sizes[0], math.inf)
    return build.binary("and", *(build.compare("LT", size, infinity) for size in sizes))


@complex_lowering("aten.eye")
def identity(build: LoweringBuilder, *_: Any, **__: Any) -> ir.Value:
    """Return a matrix with ones on its diagonal."""
    result = build.result_types[0]
    indices = ir.RankedTensorType.get(shape_of(result), ir.IntegerType.get_signless(64))
    is_on_diagonal = build.compare("EQ", build.iota(indices, 0), build.iota(indices, 1))
    return build.select(is_on_diagonal, build.filled(result, 1), build.filled(result, 0))


@complex_lowering("aten.where")
def choice(
    build: LoweringBuilder, condition: ir.Value, yes: ir.Value | complex, no: ir.Value | complex
) -> ir.Value:
    """Return numbers of either of two tensors."""
    result = build.result_types[0]
    predicate = build.expanded(condition, shape_of(result))
    return build.select(predicate, *(_operand(build, each, result) for each in (yes, no)))


@complex_lowering("aten.eq", "aten.ne")
def equality(build: LoweringBuilder, lhs: ir.Value, rhs: ir.Value | complex) -> ir.Value:
    """Compare numbers; both parts must be equal."""
    shape = shape_of(build.result_types[0])
    values = [one for one in (lhs, rhs) if isinstance(one, ir.Value)]
    widest = next((one for one in values if part_type_of(one) is not None), lhs)
    wide = ir.RankedTensorType.get(shape, element_type_of(widest.type))
    operands = [_operand(build, each, wide) for each in (lhs, rhs)]
    return build.compare("EQ" if ".eq." in str(build.node.target) else "NE", *operands)


@complex_lowering("aten.to")
def converted(build: LoweringBuilder, value: ir.Value, *_: Any, **__: Any) -> ir.Value:
    """Convert numbers; those that become real lose their imaginary parts."""
    (result,) = build.result_types
    if part_type_of(value) is not None and not isinstance(element_type_of(result), ir.ComplexType):
        value = build.part("real", value)
    return _operand(build, value, result)


def _operand(build: LoweringBuilder, value: ir.Value | complex, result: ir.Type) -> ir.Value:
    """Return an operand with the shape and the complex type of a result."""
    if not isinstance(value, ir.Value):
        return build.filled(result, value)
    element = element_type_of(result)
    if part_type_of(value) is None and isinstance(element, ir.ComplexType):
        value = build.convert(value, element.element_type)
        value = build.complex(value, build.filled_like(value, 0))
    return build.expanded(build.convert(value, element), shape_of(result))


@complex_lowering("aten.mean")
def mean(
    build: LoweringBuilder, value: ir.Value, dim: Any = None, keepdim: bool = False, **_: Any
) -> ir.Value:
    """Average numbers along dimensions."""
    total = _reduced(build, "add", value, dim, keepdim)
    count = math.prod(shape_of(value.type)) / max(math.prod(shape_of(total.type)), 1)
    return build.binary("divide", total, build.filled_like(total, count))


def _register_reduction(operation: str, name: str) -> None:
    """Register a lowering for a reduction along dimensions."""

    @complex_lowering(operation)
    def reduction(  # pyright: ignore[reportUnusedFunction]
        build: LoweringBuilder, value: ir.Value, dim: Any = None, keepdim: bool = False, **_: Any
    ) -> ir.Value:
        return _reduced(build, name, value, dim, keepdim)


_register_reduction("aten.sum", "add")
_register_reduction("aten.prod", "multiply")


def _reduced(
    build: LoweringBuilder,
    name: str,
    value: ir.Value,
    dim: Sequence[int] | int | None,
    keepdim: bool,
) -> ir.Value:
    shape = shape_of(value.type)
    dims = [dim] if isinstance(dim, int) else dim or range(len(shape))
    result = build.result_types[0]
    element = element_type_of(result)
    value = _operand(build, value, ir.RankedTensorType.get(shape, element))
    neutral = build.filled(ir.RankedTensorType.get([], element), 0 if name == "add" else 1)
    axes = sorted(each % len(shape) for each in dims)
    output = build.reduce(value, neutral, axes, f"stablehlo.{name}")
    return build.reshape(output, shape_of(result)) if keepdim else output


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
    """Transform along a dimension, which StableHLO requires to be the last."""
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
    output = build.create("stablehlo.fft", (value,), (result,), attributes).result
    return build.transpose(output, [order.index(each) for each in range(rank)])
