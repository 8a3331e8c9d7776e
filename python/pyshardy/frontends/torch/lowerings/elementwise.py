# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations, fills, ranges and padding that the importer lacks or fails on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, is_unsigned, lowering
from pyshardy.irtools.tensor_types import element_bytes, element_type_of, shape_of


@lowering("aten.silu")
def silu(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Multiply numbers by their sigmoid."""
    wide = build.widened(value)
    result = build.binary("multiply", wide, build.unary("logistic", wide))
    return build.convert(result, element_type_of(value.type))


@lowering("aten.signbit")
def signbit(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Whether numbers are negative, or the negative zero."""
    if is_unsigned(value):
        return build.filled(build.result_types[0], 0)
    if isinstance(element_type_of(value.type), ir.IntegerType):
        return build.compare("LT", value, build.filled_like(value, 0))
    width = 8 * element_bytes(value.type)
    bits = build.bitcast_convert(value, ir.IntegerType.get_signless(width))
    return build.compare("LT", bits, build.filled_like(bits, 0))


def _register_binary(operation: str, name: str) -> None:
    """Register a lowering for an operation of two tensors or numbers of the type of its result."""

    @lowering(operation)
    def binary(  # pyright: ignore[reportUnusedFunction]
        build: LoweringBuilder, lhs: ir.Value | complex, rhs: ir.Value | complex
    ) -> ir.Value:
        return build.binary(name, *_operands(build, lhs, rhs))


def _operands(build: LoweringBuilder, *values: ir.Value | complex) -> list[ir.Value]:
    """Return tensors or numbers as tensors of the type of the result."""
    result = build.result_types[0]
    return [
        build.convert(build.expanded(each, shape_of(result)), element_type_of(result))
        if isinstance(each, ir.Value)
        else build.filled(result, each)
        for each in values
    ]


_BINARY = {
    "aten.__and__": "and",
    "aten.__or__": "or",
    "aten.__xor__": "xor",
    "aten.bitwise_and": "and",
    "aten.bitwise_or": "or",
    "aten.bitwise_xor": "xor",
    "aten.maximum": "maximum",
    "aten.minimum": "minimum",
    "aten.__lshift__": "shift_left",
    "aten.bitwise_left_shift": "shift_left",
    "aten.atan2": "atan2",
    "aten.fmod": "remainder",
}
for _operation, _name in _BINARY.items():
    _register_binary(_operation, _name)


@lowering("aten.bitwise_right_shift", "aten.__rshift__")
def right_shift(build: LoweringBuilder, lhs: ir.Value | int, rhs: ir.Value | int) -> ir.Value:
    """Shift bits to the right; the sign of signed numbers stays."""
    kind = "logical" if is_unsigned(build.result_types[0]) else "arithmetic"
    return build.binary(f"shift_right_{kind}", *_operands(build, lhs, rhs))


_UNARY = {
    "aten.erfc": "chlo.erfc",
    "aten.erfinv": "chlo.erf_inv",
    "aten.lgamma": "chlo.lgamma",
}


def _register_unary(operation: str, name: str) -> None:
    """Register a lowering for a function of one number; integers are converted first."""

    @lowering(operation)
    def unary(build: LoweringBuilder, value: ir.Value) -> ir.Value:  # pyright: ignore[reportUnusedFunction]
        result = build.result_types[0]
        converted = build.convert(value, element_type_of(result))
        return build.create(name, (converted,), (result,)).result


for _operation, _name in _UNARY.items():
    _register_unary(_operation, _name)


@lowering("aten.digamma")
def digamma(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Return the digamma function, which is infinite at 0: of the other sign than 0."""
    result = build.result_types[0]
    value = build.convert(value, element_type_of(result))
    pole = build.binary("divide", build.filled(result, -1), value)
    is_pole = build.compare("EQ", value, build.filled(result, 0))
    return build.select(is_pole, pole, build.create("chlo.digamma", (value,), (result,)).result)


@lowering("aten.polygamma")
def polygamma(build: LoweringBuilder, order: int, value: ir.Value) -> ir.Value:
    """Return derivatives of the digamma function.

    CHLO has those for positive arguments. Below a half, where c is the cotangent of pi x and p a
    polynomial with p[0] = c and p[n + 1] = -(1 + c^2) p[n]':

        polygamma(n, x) = (-1)^n polygamma(n, 1 - x) - pi^(n + 1) p[n](c)
    """
    result = build.result_types[0]
    value = build.convert(value, element_type_of(result))
    if order == 0:
        return _polygamma(build, order, value)
    one, half = build.filled(result, 1), build.filled(result, 0.5)
    is_small = build.compare("LT", value, half)
    reflected = build.select(is_small, build.binary("subtract", one, value), value)
    output = _polygamma(build, order, reflected)
    # The distance from the nearest integer has the same cotangent, and no rounding of pi x.
    distance = build.binary("subtract", value, build.unary("round_nearest_even", value))
    angle = build.binary("multiply", distance, build.filled(result, math.pi))
    cotangent = build.binary("divide", build.unary("cosine", angle), build.unary("sine", angle))
    derivative = build.filled(result, 0)
    for factor in reversed(_derivative_of_cotangent(order)):
        scaled = build.filled(result, factor * math.pi ** (order + 1))
        derivative = build.binary("add", build.binary("multiply", derivative, cotangent), scaled)
    signed = output if order % 2 == 0 else build.unary("negate", output)
    mirror = build.binary("subtract", signed, derivative)
    pole = build.filled(result, math.inf * (-1) ** (order + 1))
    is_pole = build.compare("EQ", distance, build.filled(result, 0))
    return build.select(is_small, build.select(is_pole, pole, mirror), output)


def _derivative_of_cotangent(order: int) -> list[int]:
    """Return a derivative of the cotangent as a polynomial in it, the constant first."""
    factors = [0, 1]
    for _ in range(order):
        lower = [power * factor for power, factor in enumerate(factors)][1:]
        factors = [-a - b for a, b in zip([*lower, 0, 0], [0, 0, *lower], strict=True)]
    return factors


def _polygamma(build: LoweringBuilder, order: int, value: ir.Value) -> ir.Value:
    operands = build.filled_like(value, order), value
    return build.create("chlo.polygamma", operands, (value.type,)).result


@lowering("aten.special_zeta")
def zeta(build: LoweringBuilder, lhs: ir.Value | float, rhs: ir.Value | float) -> ir.Value:
    """Return the Hurwitz zeta function.

    CHLO leaves its poles, the integers up to 0, and infinite exponents undefined. PyTorch returns
    infinity, and NaN for exponents below 1.
    """
    exponent, start = _operands(build, lhs, rhs)
    zero, one, infinity, nan = (
        build.filled_like(start, number) for number in (0, 1, math.inf, math.nan)
    )
    result = build.create("chlo.zeta", (exponent, start), build.result_types).result
    is_infinite = build.compare("EQ", exponent, infinity)
    of_infinite = build.select(build.compare("EQ", start, one), one, result)
    of_infinite = build.select(build.compare("LT", start, one), infinity, of_infinite)
    is_integer = build.compare("EQ", start, build.unary("floor", start))
    is_pole = build.binary("and", build.compare("LE", start, zero), is_integer)
    pole = build.select(build.compare("LT", exponent, one), nan, infinity)
    return build.select(is_pole, pole, build.select(is_infinite, of_infinite, result))


@lowering("aten.nextafter")
def nextafter(build: LoweringBuilder, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Return the next representable numbers in the direction of others."""
    operands = _operands(build, lhs, rhs)
    return build.create("chlo.next_after", operands, build.result_types).result


_MANTISSA_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}


@lowering("aten.frexp")
def frexp(build: LoweringBuilder, value: ir.Value) -> list[ir.Value]:
    """Return fractions from 0.5 to 1, and exponents of 2, by the bits of numbers."""
    bits_of_fraction = _MANTISSA_BITS[str(element_type_of(value.type))]
    width = 8 * element_bytes(value.type)
    exponents = 2 ** (width - bits_of_fraction - 1) - 1  # the largest exponent field
    half = exponents // 2 - 1
    # Subnormal numbers have no leading one; they are scaled to normal ones.
    smallest, scale = 2.0 ** (1 - exponents // 2), 2.0 ** (bits_of_fraction + 1)
    size = build.unary("abs", value)
    is_subnormal = build.compare("LT", size, build.filled_like(value, smallest))
    scaled = build.select(
        is_subnormal, build.binary("multiply", value, build.filled_like(value, scale)), value
    )
    bits = build.bitcast_convert(scaled, ir.IntegerType.get_signless(width))

    def number(each: int) -> ir.Value:
        wrapped = each - 2**width if each >= 2 ** (width - 1) else each
        return build.filled_like(bits, wrapped)

    field = build.binary("shift_right_logical", bits, number(bits_of_fraction))
    field = build.binary("and", field, number(exponents))
    shift = build.select(is_subnormal, number(half + bits_of_fraction + 1), number(half))
    kept = build.binary("and", bits, number(2**width - 1 - (exponents << bits_of_fraction)))
    fraction = build.binary("or", kept, number(half << bits_of_fraction))
    fraction = build.bitcast_convert(fraction, element_type_of(value.type))
    zero = build.filled_like(value, 0)
    is_regular = build.binary(
        "and",
        build.compare("NE", value, zero),
        build.compare("LT", size, build.filled_like(value, math.inf)),
    )
    exponent_type = build.result_types[1]
    exponent = build.convert(build.binary("subtract", field, shift), element_type_of(exponent_type))
    return [
        build.select(is_regular, fraction, value),
        build.select(is_regular, exponent, build.filled(exponent_type, 0)),
    ]


# --- Tensors filled with a number, ranges, padding ------------------------------------------------


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
