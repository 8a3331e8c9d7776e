# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bits of floating-point numbers, of 4 to 64 bits.

| bits below the sign                  | value                                                |
|--------------------------------------|------------------------------------------------------|
| exponent 0, mantissa m               | m * 2 ** (1 - bias - mantissa bits)                  |
| exponent e, mantissa m               | (1 + m / 2 ** mantissa bits) * 2 ** (e - bias)       |
| past the greatest finite number      | depends on the format, see `Special`                 |

The names are those of MLIR's types. `f8E8M0FNU` is the exception: it has neither a sign nor a
mantissa, and its exponent 0 stands for a power of two like all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Special(Enum):
    """Numbers of a format that aren't finite; the names are those at the end of MLIR's types."""

    IEEE = "infinities and NaNs in the highest exponent"
    FN = "NaNs in all ones, and no infinities"
    FNUZ = "one NaN in place of the negative zero, and no infinities"
    NONE = "all numbers are finite"


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A floating-point format with a sign.

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
    special: Special = Special.IEEE

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
            case Special.IEEE:
                return self.infinity - 1
            case Special.FN:
                return self.magnitude_mask - 1
            case Special.FNUZ | Special.NONE:
                return self.magnitude_mask

    @property
    def nan(self) -> int:
        """A quiet NaN; a negative zero where there is none, as XLA converts."""
        match self.special:
            case Special.IEEE:
                return self.infinity | 1 << (self.mantissa - 1)
            case Special.FN:
                return self.magnitude_mask
            case Special.FNUZ | Special.NONE:
                return self.sign_bit

    @property
    def overflow(self) -> int:
        """Return the bits for numbers that overflow, and for infinity."""
        match self.special:
            case Special.IEEE:
                return self.infinity
            case Special.FN | Special.FNUZ:
                return self.nan
            case Special.NONE:
                return self.greatest


F32 = FloatFormat("f32", 8, 23, 127)
F64 = FloatFormat("f64", 11, 52, 1023)
EXPONENTS = "f8E8M0FNU"
"""The format of powers of two."""

SMALL_FORMATS = {
    each.name: each
    for each in (
        FloatFormat("bf16", 8, 7, 127),
        FloatFormat("f16", 5, 10, 15),
        FloatFormat("f8E3M4", 3, 4, 3),
        FloatFormat("f8E4M3", 4, 3, 7),
        FloatFormat("f8E4M3B11FNUZ", 4, 3, 11, Special.FNUZ),
        FloatFormat("f8E4M3FN", 4, 3, 7, Special.FN),
        FloatFormat("f8E4M3FNUZ", 4, 3, 8, Special.FNUZ),
        FloatFormat("f8E5M2", 5, 2, 15),
        FloatFormat("f8E5M2FNUZ", 5, 2, 16, Special.FNUZ),
        FloatFormat("f6E2M3FN", 2, 3, 1, Special.NONE),
        FloatFormat("f6E3M2FN", 3, 2, 3, Special.NONE),
        FloatFormat("f4E2M1FN", 2, 1, 1, Special.NONE),
    )
}
"""The formats of fewer than 32 bits, by the names of their types, without `f8E8M0FNU`."""

SMALL_WIDTHS = {EXPONENTS: 8, **{name: each.width for name, each in SMALL_FORMATS.items()}}
"""The number of bits of each type of fewer than 32 bits."""
