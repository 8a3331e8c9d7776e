# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of small floating-point numbers, written out as functions on their bits.

LLVM compiles such a conversion to an instruction if the CPU has one, and otherwise to a call of a
function of a compiler's library (`__truncsfbf2`) that the process lacks. These functions need no
more than arithmetic on f32, f64 and integers. They round once, to nearest, ties to even.

Sources: numbers are rounded by adding half of the last place before the low bits are cut off;
subnormal ones by adding a number so great that its last place is theirs (F. Giesen,
"Float->half variants", 2012). An integer that f64 can't hold is rounded to odd first, after which
a second rounding does no harm (S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded
sums: proved algorithms using rounding to odd", 2008).
"""

from __future__ import annotations

from pyshardy.backends.jit.float_formats import (
    EXPONENTS,
    F32,
    F64,
    SMALL_FORMATS,
    SMALL_WIDTHS,
    FloatFormat,
    Special,
)

_ATTRIBUTES = "attributes {llvm.linkage = #llvm.linkage<internal>, llvm.always_inline}"
_ROUNDED_TO_ODD = 11
"""How many bits of 64 are more than f64 holds."""


def name_of(source: str, target: str) -> str:
    """The name of the function that converts between two types."""
    return f"__pyshardy_{source}_to_{target}"


def narrowing(source: str, target: str) -> str:
    """A function in MLIR from f32 or f64 to the bits of a smaller format.

    Args:
        source: `f32` or `f64`.
        target: a type of fewer bits, a name in `SMALL_WIDTHS`.
    """
    if target == EXPONENTS:
        return _function(source, target, _to_exponents(source))
    wide = {"f32": F32, "f64": F64}[source]
    return _function(source, target, _narrow(wide, SMALL_FORMATS[target]))


def widening(source: str) -> str:
    """A function in MLIR from the bits of a small format to f32, which has all its values.

    Args:
        source: a type of fewer than 32 bits, a name in `SMALL_WIDTHS`.
    """
    body = _from_exponents() if source == EXPONENTS else _widen(SMALL_FORMATS[source])
    return _function(source, "f32", body)


def rounding_to_odd() -> str:
    """Functions in MLIR from i64 and ui64 to f64, `rounding_to_odd_names` of each.

    Of a number that isn't in f64, the neighbour with an odd mantissa is taken: the last bit tells
    whether any bit below was set, and is far below the last place of the formats that follow.
    """
    return "\n".join(_round_to_odd(signed) for signed in (True, False))


def name_rounding_to_odd(signed: bool) -> str:
    """The name of one of the functions of `rounding_to_odd`."""
    return name_of("si64" if signed else "ui64", "odd_f64")


def _function(source: str, target: str, body: str) -> str:
    argument, result = (
        f"i{SMALL_WIDTHS[each]}" if each in SMALL_WIDTHS else each for each in (source, target)
    )
    return (
        f"func.func private @{name_of(source, target)}(%x: {argument}) -> {result} {_ATTRIBUTES} "
        f"{{\n{body}\nreturn %result : {result}\n}}"
    )


def _narrow(wide: FloatFormat, small: FloatFormat) -> str:
    bits = f"i{wide.width}"
    dropped = wide.mantissa - small.mantissa
    constants = {
        "sign_bit": wide.sign_bit,
        "magnitude_mask": wide.magnitude_mask,
        "dropped": dropped,
        "one": 1,
        "half": (1 << (dropped - 1)) - 1,
        "rebias": (wide.bias - small.bias) << wide.mantissa,
        "greatest": small.greatest,
        "overflow": small.overflow,
        "infinity": wide.infinity,
        "nan": small.nan,
        "sign_shift": wide.width - small.width,
        "zero": 0,
    }
    lines = [
        *_constants(constants, bits),
        f"%bits = arith.bitcast %x : {wide.name} to {bits}",
        f"%sign = arith.andi %bits, %sign_bit : {bits}",
        f"%magnitude = arith.andi %bits, %magnitude_mask : {bits}",
        # Normal numbers; a carry out of the mantissa goes into the exponent, as it should.
        f"%cut = arith.shrui %magnitude, %dropped : {bits}",
        f"%odd = arith.andi %cut, %one : {bits}",
        f"%up = arith.addi %half, %odd : {bits}",
        f"%based = arith.subi %magnitude, %rebias : {bits}",
        f"%raised = arith.addi %based, %up : {bits}",
        f"%normal = arith.shrui %raised, %dropped : {bits}",
    ]
    if wide.bias == small.bias:  # Subnormal numbers are so in both.
        rounded = "normal"
    else:
        # One in the last place of this number is the least subnormal number of the small format.
        aligner = (wide.bias + 1 - small.bias + dropped) << wide.mantissa
        lines += [
            *_constants(
                {"aligner_bits": aligner, "least": (wide.bias - small.bias + 1) << wide.mantissa},
                bits,
            ),
            f"%aligner = arith.bitcast %aligner_bits : {bits} to {wide.name}",
            f"%absolute = arith.bitcast %magnitude : {bits} to {wide.name}",
            f"%aligned = arith.addf %absolute, %aligner : {wide.name}",
            f"%aligned_bits = arith.bitcast %aligned : {wide.name} to {bits}",
            f"%subnormal = arith.subi %aligned_bits, %aligner_bits : {bits}",
            f"%is_subnormal = arith.cmpi ult, %magnitude, %least : {bits}",
            f"%rounded = arith.select %is_subnormal, %subnormal, %normal : {bits}",
        ]
        rounded = "rounded"
    lines += [
        f"%is_greater = arith.cmpi ugt, %{rounded}, %greatest : {bits}",
        f"%limited = arith.select %is_greater, %overflow, %{rounded} : {bits}",
        f"%is_nan = arith.cmpi ugt, %magnitude, %infinity : {bits}",
        f"%unsigned = arith.select %is_nan, %nan, %limited : {bits}",
        f"%small_sign = arith.shrui %sign, %sign_shift : {bits}",
    ]
    if small.special is Special.FNUZ:  # Zero and NaN have one sign each.
        lines += [
            f"%low = arith.andi %unsigned, %low_mask : {bits}",
            f"%has_sign = arith.cmpi ne, %low, %zero : {bits}",
            f"%kept_sign = arith.select %has_sign, %small_sign, %zero : {bits}",
            f"%signed = arith.ori %unsigned, %kept_sign : {bits}",
        ]
        lines[:0] = _constants({"low_mask": small.magnitude_mask}, bits)
    else:
        lines.append(f"%signed = arith.xori %unsigned, %small_sign : {bits}")
    lines.append(f"%result = arith.trunci %signed : {bits} to i{small.width}")
    return "\n".join(lines)


def _widen(small: FloatFormat) -> str:
    shift = F32.mantissa - small.mantissa
    constants = {
        "sign_bit": small.sign_bit,
        "magnitude_mask": small.magnitude_mask,
        "sign_shift": F32.width - small.width,
        "shift": shift,
        "greatest": small.greatest,
        "infinity": F32.infinity,
        "nan": F32.nan,
    }
    lines = [
        *_constants(constants, "i32"),
        f"%bits = arith.extui %x : i{small.width} to i32",
        "%small_sign = arith.andi %bits, %sign_bit : i32",
        "%sign = arith.shli %small_sign, %sign_shift : i32",
        "%magnitude = arith.andi %bits, %magnitude_mask : i32",
        "%wide = arith.shli %magnitude, %shift : i32",
    ]
    if small.bias == F32.bias:
        finite = "wide"
    else:
        exponent = F32.bias + 1 - small.bias - small.mantissa
        lines += [
            *_constants(
                {
                    "rebias": (F32.bias - small.bias) << F32.mantissa,
                    "least": 1 << small.mantissa,
                    "step_bits": exponent << F32.mantissa,
                },
                "i32",
            ),
            "%normal = arith.addi %wide, %rebias : i32",
            "%step = arith.bitcast %step_bits : i32 to f32",
            "%count = arith.sitofp %magnitude : i32 to f32",
            "%product = arith.mulf %count, %step : f32",
            "%subnormal = arith.bitcast %product : f32 to i32",
            "%is_subnormal = arith.cmpi ult, %magnitude, %least : i32",
            "%finite = arith.select %is_subnormal, %subnormal, %normal : i32",
        ]
        finite = "finite"
    match small.special:
        case Special.IEEE:
            lines += [
                "%is_special = arith.cmpi ugt, %magnitude, %greatest : i32",
                "%special = arith.ori %wide, %infinity : i32",
                f"%unsigned = arith.select %is_special, %special, %{finite} : i32",
            ]
        case Special.FN:
            lines += [
                "%is_nan = arith.cmpi ugt, %magnitude, %greatest : i32",
                f"%unsigned = arith.select %is_nan, %nan, %{finite} : i32",
            ]
        case Special.FNUZ:
            lines += [
                "%is_nan = arith.cmpi eq, %bits, %sign_bit : i32",
                f"%unsigned = arith.select %is_nan, %nan, %{finite} : i32",
            ]
        case Special.NONE:
            lines.append(f"%unsigned = arith.addi %{finite}, %zero : i32")
            lines[:0] = _constants({"zero": 0}, "i32")
    lines += [
        "%signed = arith.ori %unsigned, %sign : i32",
        "%result = arith.bitcast %signed : i32 to f32",
    ]
    return "\n".join(lines)


def _to_exponents(source: str) -> str:
    """The nearest power of two, the greater one of two; NaN of zero and of negative numbers.

    The least one is what becomes of smaller numbers, as in XLA.
    """
    wide = (
        "%wide = arith.extf %x : f32 to f64"
        if source == "f32"
        else "%wide = arith.addf %x, %none : f64"
    )
    lines = [
        *_constants(
            {
                "half": 1 << (F64.mantissa - 1),
                "dropped": F64.mantissa,
                "rebias": F64.bias - F32.bias,
                "zero": 0,
                "greatest": 254,
                "nan": 255,
            },
            "i64",
        ),
        "%none = arith.constant -0.0 : f64",
        wide,
        "%bits = arith.bitcast %wide : f64 to i64",
        "%raised = arith.addi %bits, %half : i64",
        "%exponent = arith.shrui %raised, %dropped : i64",
        "%based = arith.subi %exponent, %rebias : i64",
        "%least = arith.maxsi %based, %zero : i64",
        "%is_greater = arith.cmpi sgt, %least, %greatest : i64",
        "%is_positive = arith.cmpi sgt, %bits, %zero : i64",
        "%limited = arith.select %is_greater, %nan, %least : i64",
        "%code = arith.select %is_positive, %limited, %nan : i64",
        "%result = arith.trunci %code : i64 to i8",
    ]
    return "\n".join(lines)


def _from_exponents() -> str:
    return "\n".join(
        [
            *_constants({"shift": 23, "zero": 0, "last": 255, "nan": F32.nan}, "i32"),
            f"%least = arith.constant {1 << 22} : i32",
            "%code = arith.extui %x : i8 to i32",
            "%power = arith.shli %code, %shift : i32",
            "%is_least = arith.cmpi eq, %code, %zero : i32",
            "%finite = arith.select %is_least, %least, %power : i32",
            "%is_nan = arith.cmpi eq, %code, %last : i32",
            "%bits = arith.select %is_nan, %nan, %finite : i32",
            "%result = arith.bitcast %bits : i32 to f32",
        ]
    )


def _round_to_odd(signed: bool) -> str:
    """One function of `rounding_to_odd`."""
    low = (1 << _ROUNDED_TO_ODD) - 1
    exact = 1 << F64.mantissa  # All integers up to twice this are in f64.
    comparison, convert = ("sgt", "sitofp") if signed else ("ugt", "uitofp")
    lines = [
        *_constants(
            {"low": low, "high": ~low, "sticky": low + 1, "zero": 0, "exact": exact}, "i64"
        ),
        "%sign = arith.shrsi %x, %all_but_one : i64",
        "%flipped = arith.xori %x, %sign : i64",
    ]
    lines[:0] = _constants({"all_but_one": 63}, "i64")
    magnitude = "flipped" if signed else "x"
    lines += [
        f"%is_inexact = arith.cmpi {comparison}, %{magnitude}, %exact : i64",
        "%rest = arith.andi %x, %low : i64",
        "%is_odd = arith.cmpi ne, %rest, %zero : i64",
        "%last = arith.select %is_odd, %sticky, %zero : i64",
        "%kept = arith.andi %x, %high : i64",
        "%odd = arith.ori %kept, %last : i64",
        "%held = arith.select %is_inexact, %odd, %x : i64",
        f"%result = arith.{convert} %held : i64 to f64",
    ]
    body = "\n".join(lines)
    return (
        f"func.func private @{name_rounding_to_odd(signed)}(%x: i64) -> f64 {_ATTRIBUTES} "
        f"{{\n{body}\nreturn %result : f64\n}}"
    )


def _constants(values: dict[str, int], integer: str) -> list[str]:
    return [f"%{name} = arith.constant {value} : {integer}" for name, value in values.items()]
