# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between element types by their definition, as a reference.

The values of small floating-point types are those of `ml_dtypes`; a number becomes the nearest of
them, by comparisons that are exact.
"""

import bisect
from fractions import Fraction
from functools import cache

import ml_dtypes
import numpy as np

SMALL_FLOATS = [
    "bf16",
    "f16",
    "f8E3M4",
    "f8E4M3",
    "f8E4M3B11FNUZ",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E5M2",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "f6E2M3FN",
    "f6E3M2FN",
    "f4E2M1FN",
]
FLOATS = ["f32", "f64", *SMALL_FLOATS]
INTEGERS = ["i1", *(f"{sign}i{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64))]
POWERS = "f8E8M0FNU"


def is_float(element: str) -> bool:
    return "f" in element


def width_of(element: str) -> int:
    if element in ("bf16", "i1"):
        return 16 if element == "bf16" else 1
    return int(element.lstrip("uif").partition("E")[0])


def numpy_type(element: str) -> np.dtype:
    """The type of `ml_dtypes` or NumPy."""
    if element == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    kind, _, format_name = element.partition("E")
    if format_name:
        return np.dtype(getattr(ml_dtypes, f"float{kind[1:]}_e{format_name.lower()}"))
    return np.dtype(f"float{element[1:]}")


@cache
def values_of(element: str) -> np.ndarray:
    """The value of each bit pattern of a small type."""
    width = width_of(element)
    codes = np.arange(1 << width, dtype=np.uint16 if width > 8 else np.uint8)
    with np.errstate(invalid="ignore"):
        return codes.view(numpy_type(element)).astype(np.float64)


@cache
def magnitudes_of(element: str) -> np.ndarray:
    """The finite numbers that aren't negative, in the order of their bit patterns."""
    values = values_of(element)
    values = values if element == POWERS else values[: len(values) // 2]
    return values[np.isfinite(values)]


def midpoints_of(element: str) -> np.ndarray:
    """The numbers between two neighbours, and where overflow begins."""
    magnitudes = np.append(magnitudes_of(element), _next(element))
    return (magnitudes[:-1] + magnitudes[1:]) / 2


def _next(element: str) -> float:
    """Return the bits after those of the greatest number."""
    below, greatest = magnitudes_of(element)[-2:]
    return 2 * greatest if element == POWERS else 2 * greatest - below


def to_float(numbers: np.ndarray, element: str) -> np.ndarray:
    """Round integers, or numbers of any floating-point type given as f64, once."""
    if element in ("f32", "f64"):
        with np.errstate(over="ignore"):
            return numbers.astype(numpy_type(element)).astype(np.float64)
    magnitudes = np.append(magnitudes_of(element), _next(element))
    if numbers.dtype.kind in "iub" and numbers.dtype.itemsize == 8:
        indices = [_nearest_integer(abs(int(number)), element) for number in numbers]
        nearest = np.array(indices, int)
    else:
        nearest = _nearest(np.abs(numbers.astype(np.float64)), magnitudes, element)
    is_nan = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(len(numbers), bool)
    is_negative = np.signbit(numbers) if numbers.dtype.kind == "f" else numbers < 0
    all_values = values_of(element)
    has_nan, has_infinity = np.isnan(all_values).any(), np.isinf(all_values).any()
    overflow = np.inf if has_infinity else np.nan if has_nan else magnitudes[-2]
    rounded = np.append(magnitudes[:-1], overflow)[nearest]
    if element == POWERS:
        return np.where(is_nan | is_negative | (numbers == 0), np.nan, rounded)
    rounded = np.where(is_negative, -rounded, rounded)
    if not np.signbit(all_values[all_values == 0]).any():
        rounded = rounded + 0.0  # There is no negative zero.
    return np.where(is_nan, np.nan if has_nan else 0, rounded)


def _nearest(numbers: np.ndarray, magnitudes: np.ndarray, element: str) -> np.ndarray:
    """The index of the nearest magnitude; the number after the greatest one stands for overflow."""
    below = np.clip(np.searchsorted(magnitudes, numbers, "right") - 1, 0, len(magnitudes) - 2)
    middle = (magnitudes[below] + magnitudes[below + 1]) / 2
    is_tie_up = (numbers == middle) & ((below % 2 == 1) | (element == POWERS))
    return below + ((numbers > middle) | is_tie_up)


def _nearest_integer(number: int, element: str) -> int:
    magnitudes = _exact_magnitudes_of(element)
    below = min(max(bisect.bisect_right(magnitudes, number) - 1, 0), len(magnitudes) - 2)
    twice, middle = 2 * number, magnitudes[below] + magnitudes[below + 1]
    if twice == middle:
        return below + (below % 2 == 1 or element == POWERS)
    return below + (twice > middle)


@cache
def _exact_magnitudes_of(element: str) -> list[Fraction]:
    magnitudes = [*magnitudes_of(element).tolist(), _next(element)]
    return [Fraction(each) for each in magnitudes]


def to_integer(numbers: np.ndarray, element: str) -> np.ndarray:
    """Convert to an integer: floats are cut off and limited, integers lose their high bits."""
    if element == "i1":
        return numbers != 0
    width, is_unsigned = width_of(element), element.startswith("u")
    stored = np.dtype(f"{'u' if is_unsigned else ''}int{max(width, 8)}")
    if numbers.dtype.kind != "f":
        shift = max(width, 8) - width
        return (numbers.astype(stored) << shift) >> shift
    least, greatest = (
        (0, 2**width - 1) if is_unsigned else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    )
    whole = (0 if np.isnan(x) else x for x in numbers.tolist())
    return np.array(
        [least if x < least else greatest if x > greatest else int(x) for x in whole], stored
    )
