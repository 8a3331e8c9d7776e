# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions of small floating-point numbers as functions on their bits.

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

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

_CUT_FROM_INTEGERS = 11
"""The bits of an i64 that do not fit into the mantissa of an f64."""


# --- Formats -------------------------------------------------------------------------------------


class _Special(Enum):
    """Numbers of a format that aren't finite; the names are those at the end of MLIR's types."""

    IEEE = "infinities and NaNs in the highest exponent"
    FN = "NaNs in all ones, and no infinities"
    FNUZ = "one NaN in place of the negative zero, and no infinities"
    NONE = "all numbers are finite"


@dataclass(frozen=True, slots=True)
class _FloatFormat:
    """A floating-point format with a sign.

    | bits below the sign                  | value                                         |
    |--------------------------------------|-----------------------------------------------|
    | exponent 0, mantissa m               | m * 2 ** (1 - bias - mantissa bits)           |
    | exponent e, mantissa m               | (1 + m / 2 ** mantissa bits) * 2 ** (e - bias)|
    | past the greatest finite number      | depends on the format, see `_Special`         |

    The names are those of MLIR's types. `f8E8M0FNU` is the exception: it has neither a sign nor a
    mantissa, and its exponent 0 stands for a power of two like all others.

    Attributes:
        name: the type in MLIR.
        exponent: the number of bits of the exponent.
        mantissa: the number of bits of the mantissa, without the leading 1.
        bias: what is subtracted from the exponent.
        special: the numbers that aren't finite.
    """

    name: str
    exponent: int
    mantissa: int
    bias: int
    special: _Special = _Special.IEEE

    @property
    def width(self) -> int:
        """The number of all bits."""
        return 1 + self.exponent + self.mantissa

    @property
    def magnitude_mask(self) -> int:
        """All bits but the sign."""
        return (1 << (self.width - 1)) - 1

    @property
    def sign_bit(self) -> int:
        """The sign."""
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        """All bits of the exponent, which are those of infinity in an IEEE format."""
        return self.magnitude_mask & ~((1 << self.mantissa) - 1)

    @property
    def greatest(self) -> int:
        """The greatest finite number."""
        match self.special:
            case _Special.IEEE:
                return self.infinity - 1
            case _Special.FN:
                return self.magnitude_mask - 1
            case _Special.FNUZ | _Special.NONE:
                return self.magnitude_mask

    @property
    def nan(self) -> int:
        """A quiet NaN; a negative zero where there is none, as XLA converts."""
        match self.special:
            case _Special.IEEE:
                return self.infinity | 1 << (self.mantissa - 1)
            case _Special.FN:
                return self.magnitude_mask
            case _Special.FNUZ | _Special.NONE:
                return self.sign_bit

    @property
    def overflow(self) -> int:
        """Return the bits for numbers that overflow, and for infinity."""
        match self.special:
            case _Special.IEEE:
                return self.infinity
            case _Special.FN | _Special.FNUZ:
                return self.nan
            case _Special.NONE:
                return self.greatest


_F32 = _FloatFormat("f32", 8, 23, 127)
_F64 = _FloatFormat("f64", 11, 52, 1023)
_EXPONENTS = "f8E8M0FNU"
"""The format of powers of two."""

_SMALL_FORMATS = {
    each.name: each
    for each in (
        _FloatFormat("bf16", 8, 7, 127),
        _FloatFormat("f16", 5, 10, 15),
        _FloatFormat("f8E3M4", 3, 4, 3),
        _FloatFormat("f8E4M3", 4, 3, 7),
        _FloatFormat("f8E4M3B11FNUZ", 4, 3, 11, _Special.FNUZ),
        _FloatFormat("f8E4M3FN", 4, 3, 7, _Special.FN),
        _FloatFormat("f8E4M3FNUZ", 4, 3, 8, _Special.FNUZ),
        _FloatFormat("f8E5M2", 5, 2, 15),
        _FloatFormat("f8E5M2FNUZ", 5, 2, 16, _Special.FNUZ),
        _FloatFormat("f6E2M3FN", 2, 3, 1, _Special.NONE),
        _FloatFormat("f6E3M2FN", 3, 2, 3, _Special.NONE),
        _FloatFormat("f4E2M1FN", 2, 1, 1, _Special.NONE),
    )
}
"""The formats of fewer than 32 bits, by the names of their types, without `f8E8M0FNU`."""

SMALL_WIDTHS = {_EXPONENTS: 8, **{name: each.width for name, each in _SMALL_FORMATS.items()}}
"""The number of bits of each type of fewer than 32 bits."""


# --- Conversions ---------------------------------------------------------------------------------


def name_of(source: str, target: str) -> str:
    """Return the name of the function that converts between two types."""
    return f"__pyshardy_{source}_to_{target}"


def name_of_rounding_to_odd(is_signed: bool) -> str:
    """Return the name of one of the functions of `rounding_to_odd`."""
    return name_of("i64" if is_signed else "ui64", "odd_f64")


def narrowing(source: str, target: str) -> str:
    """Return a function in MLIR from f32 or f64 to the bits of a smaller format.

    Args:
        source: `f32` or `f64`.
        target: a type of fewer bits, a name in `SMALL_WIDTHS`.
    """
    name = name_of(source, target)
    if target == _EXPONENTS:
        body = _TO_EXPONENTS.replace("WIDEN", _WIDEN if source == "f32" else _KEEP)
        return _function(name, source, "i8", body, _TO_EXPONENTS_CONSTANTS, "i64")
    wide = {"f32": _F32, "f64": _F64}[source]
    small = _SMALL_FORMATS[target]
    parts = [
        _CUT,
        _SAME_SUBNORMAL if wide.bias == small.bias else _SUBNORMAL,
        _LIMIT,
        _ONE_ZERO if small.special is _Special.FNUZ else _SIGN,
    ]
    integer = f"i{wide.width}"
    body = "".join(parts).replace("FLOAT", source).replace("BITS", integer)
    return _function(
        name,
        source,
        f"i{small.width}",
        body.replace("SMALL", f"i{small.width}"),
        _narrowing_constants(wide, small),
        integer,
    )


_CUT = """
  %bits = arith.bitcast %x : FLOAT to BITS
  %sign = arith.andi %bits, %sign_bit : BITS
  %magnitude = arith.andi %bits, %magnitude_mask : BITS
  // Normal numbers; a carry out of the mantissa goes into the exponent, as it should.
  %cut = arith.shrui %magnitude, %dropped : BITS
  %odd = arith.andi %cut, %one : BITS
  %up = arith.addi %below_half, %odd : BITS
  %based = arith.subi %magnitude, %rebias : BITS
  %raised = arith.addi %based, %up : BITS
  %normal = arith.shrui %raised, %dropped : BITS
"""
_SUBNORMAL = """
  %aligner = arith.bitcast %aligner_bits : BITS to FLOAT
  %absolute = arith.bitcast %magnitude : BITS to FLOAT
  %aligned = arith.addf %absolute, %aligner : FLOAT
  %aligned_bits = arith.bitcast %aligned : FLOAT to BITS
  %subnormal = arith.subi %aligned_bits, %aligner_bits : BITS
  %is_subnormal = arith.cmpi ult, %magnitude, %least_normal : BITS
  %rounded = arith.select %is_subnormal, %subnormal, %normal : BITS
"""
_SAME_SUBNORMAL = """
  // Exponents are the same: subnormal numbers need nothing else.
  %rounded = arith.addi %normal, %zero : BITS
"""
_LIMIT = """
  %is_greater = arith.cmpi ugt, %rounded, %greatest : BITS
  %limited = arith.select %is_greater, %overflow, %rounded : BITS
  %is_nan = arith.cmpi ugt, %magnitude, %infinity : BITS
  %unsigned = arith.select %is_nan, %nan, %limited : BITS
  %small_sign = arith.shrui %sign, %sign_shift : BITS
"""
_SIGN = """
  // Where a negative zero is all there is for NaN, that of -NaN is positive.
  %signed = arith.xori %unsigned, %small_sign : BITS
  %result = arith.trunci %signed : BITS to SMALL
"""
_ONE_ZERO = """
  // Neither zero nor NaN has another sign.
  %digits = arith.andi %unsigned, %digits_mask : BITS
  %has_sign = arith.cmpi ne, %digits, %zero : BITS
  %kept_sign = arith.select %has_sign, %small_sign, %zero : BITS
  %signed = arith.ori %unsigned, %kept_sign : BITS
  %result = arith.trunci %signed : BITS to SMALL
"""


def _narrowing_constants(wide: _FloatFormat, small: _FloatFormat) -> dict[str, int]:
    dropped = wide.mantissa - small.mantissa
    least_exponent = wide.bias + 1 - small.bias
    return {
        "zero": 0,
        "one": 1,
        "sign_bit": wide.sign_bit,
        "magnitude_mask": wide.magnitude_mask,
        "dropped": dropped,
        "below_half": (1 << (dropped - 1)) - 1,
        "rebias": (wide.bias - small.bias) << wide.mantissa,
        "least_normal": least_exponent << wide.mantissa,
        # Its last place is that of the subnormal numbers.
        "aligner_bits": (least_exponent + dropped) << wide.mantissa,
        "greatest": small.greatest,
        "overflow": small.overflow,
        "infinity": wide.infinity,
        "nan": small.nan,
        "sign_shift": wide.width - small.width,
        "digits_mask": small.magnitude_mask,
    }


def widening(source: str) -> str:
    """Return a function in MLIR from the bits of a small format to f32, which has all its values.

    Args:
        source: a type of fewer than 32 bits, a name in `SMALL_WIDTHS`.
    """
    name, integer = name_of(source, "f32"), f"i{SMALL_WIDTHS[source]}"
    if source == _EXPONENTS:
        return _function(name, integer, "f32", _FROM_EXPONENTS, _FROM_EXPONENTS_CONSTANTS, "i32")
    small = _SMALL_FORMATS[source]
    finite = _EXTEND_SAME if small.bias == _F32.bias else _EXTEND
    body = "".join([_UNPACK, finite, _SPECIAL[small.special], _PACK]).replace("SMALL", integer)
    constants = {
        "zero": 0,
        "sign_bit": small.sign_bit,
        "magnitude_mask": small.magnitude_mask,
        "sign_shift": _F32.width - small.width,
        "shift": _F32.mantissa - small.mantissa,
        "rebias": (_F32.bias - small.bias) << _F32.mantissa,
        "least_normal": 1 << small.mantissa,
        "step_bits": (_F32.bias + 1 - small.bias - small.mantissa) << _F32.mantissa,
        "greatest": small.greatest,
        "infinity": _F32.infinity,
        "nan": _F32.nan,
    }
    return _function(name, integer, "f32", body, constants, "i32")


_UNPACK = """
  %bits = arith.extui %x : SMALL to i32
  %small_sign = arith.andi %bits, %sign_bit : i32
  %sign = arith.shli %small_sign, %sign_shift : i32
  %magnitude = arith.andi %bits, %magnitude_mask : i32
  %wide = arith.shli %magnitude, %shift : i32
"""
_EXTEND = """
  %normal = arith.addi %wide, %rebias : i32
  %step = arith.bitcast %step_bits : i32 to f32
  %count = arith.sitofp %magnitude : i32 to f32
  %product = arith.mulf %count, %step : f32
  %subnormal = arith.bitcast %product : f32 to i32
  %is_subnormal = arith.cmpi ult, %magnitude, %least_normal : i32
  %finite = arith.select %is_subnormal, %subnormal, %normal : i32
"""
_EXTEND_SAME = """
  %finite = arith.addi %wide, %zero : i32
"""


_SPECIAL = {
    _Special.IEEE: """
  %is_special = arith.cmpi ugt, %magnitude, %greatest : i32
  %special = arith.ori %wide, %infinity : i32
  %unsigned = arith.select %is_special, %special, %finite : i32
""",
    _Special.FN: """
  %is_nan = arith.cmpi ugt, %magnitude, %greatest : i32
  %unsigned = arith.select %is_nan, %nan, %finite : i32
""",
    _Special.FNUZ: """
  %is_nan = arith.cmpi eq, %bits, %sign_bit : i32
  %unsigned = arith.select %is_nan, %nan, %finite : i32
""",
    _Special.NONE: """
  %unsigned = arith.addi %finite, %zero : i32
""",
}
_PACK = """
  %signed = arith.ori %unsigned, %sign : i32
  %result = arith.bitcast %signed : i32 to f32
"""
_TO_EXPONENTS = """
  WIDEN
  %bits = arith.bitcast %wide : f64 to i64
  // The nearest power of two, the greater one of two. The least one is next to zero, as in XLA.
  %raised = arith.addi %bits, %half : i64
  %exponent = arith.shrui %raised, %dropped : i64
  %based = arith.subi %exponent, %rebias : i64
  %code = arith.maxsi %based, %zero : i64
  %is_greater = arith.cmpi sgt, %code, %greatest : i64
  %limited = arith.select %is_greater, %nan, %code : i64
  // Neither zero nor a negative number has a power of two near it.
  %is_positive = arith.cmpi sgt, %bits, %zero : i64
  %signed = arith.select %is_positive, %limited, %nan : i64
  %result = arith.trunci %signed : i64 to i8
"""
_WIDEN = "%wide = arith.extf %x : f32 to f64"
_KEEP = "%none = arith.constant -0.0 : f64\n  %wide = arith.addf %x, %none : f64"
_TO_EXPONENTS_CONSTANTS = {
    "zero": 0,
    "half": 1 << (_F64.mantissa - 1),
    "dropped": _F64.mantissa,
    "rebias": _F64.bias - _F32.bias,
    "greatest": 254,
    "nan": 255,
}
_FROM_EXPONENTS = """
  %code = arith.extui %x : i8 to i32
  %power = arith.shli %code, %mantissa : i32
  %is_least = arith.cmpi eq, %code, %zero : i32
  %finite = arith.select %is_least, %least, %power : i32
  %is_nan = arith.cmpi eq, %code, %nan_code : i32
  %bits = arith.select %is_nan, %nan, %finite : i32
  %result = arith.bitcast %bits : i32 to f32
"""
_FROM_EXPONENTS_CONSTANTS = {
    "zero": 0,
    "mantissa": _F32.mantissa,
    "least": 1 << (_F32.mantissa - 1),  # Subnormal in f32.
    "nan_code": 255,
    "nan": _F32.nan,
}


def rounding_to_odd(is_signed: bool) -> str:
    """Return a function in MLIR from i64 to f64.

    Of two neighbours of a number that isn't in f64 it takes the one with an odd mantissa. The last
    bit then tells whether any bit below was set, far below the last place of the small formats.

    Args:
        is_signed: whether the integers have a sign.
    """
    low = (1 << _CUT_FROM_INTEGERS) - 1
    constants = {
        "zero": 0,
        "low": low,
        "high": ~low,
        "last": low + 1,
        "all_but_sign": 63,
        "held": 1 << _F64.mantissa,
    }
    body = (_MAGNITUDE if is_signed else "") + _TO_ODD
    body = body.replace("MAGNITUDE", "%magnitude" if is_signed else "%x")
    body = body.replace("CONVERT", "sitofp" if is_signed else "uitofp")
    return _function(name_of_rounding_to_odd(is_signed), "i64", "f64", body, constants, "i64")


_MAGNITUDE = """
  %sign = arith.shrsi %x, %all_but_sign : i64
  %magnitude = arith.xori %x, %sign : i64
"""
_TO_ODD = """
  %is_held = arith.cmpi ule, MAGNITUDE, %held : i64
  %rest = arith.andi %x, %low : i64
  %has_rest = arith.cmpi ne, %rest, %zero : i64
  %sticky = arith.select %has_rest, %last, %zero : i64
  %cut = arith.andi %x, %high : i64
  %odd = arith.ori %cut, %sticky : i64
  %exact = arith.select %is_held, %x, %odd : i64
  %result = arith.CONVERT %exact : i64 to f64
"""


def _function(
    name: str, argument: str, result: str, body: str, constants: Mapping[str, int], integer: str
) -> str:
    """Return a function that takes `%x` and returns `%result`, to be inlined by LLVM.

    Args:
        name: the name of the function.
        argument: the type of `%x`.
        result: the type of `%result`.
        body: the operations.
        constants: the values of constants in the body, by their names.
        integer: the type of all constants.
    """
    defined = "\n".join(
        f"  %{constant} = arith.constant {value} : {integer}"
        for constant, value in constants.items()
        if f"%{constant} " in body or f"%{constant}," in body
    )
    return (
        f"func.func private @{name}(%x: {argument}) -> {result} "
        "attributes {llvm.linkage = #llvm.linkage<internal>, llvm.always_inline} {\n"
        f"{defined}{body}  return %result : {result}\n}}\n"
    )
