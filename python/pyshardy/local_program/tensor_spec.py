# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The type of a tensor as a plain value, and the NumPy type of its arrays.

NumPy lacks some element types of StableHLO, and the reference interpreter can't exchange all of
them. Arrays of such tensors have a wider type with all of its values, the *carrier*: within
backends, and as an input. Results of runs have the types of `ml_dtypes` for small floats.

| element type                  | array        | carrier                                        |
|-------------------------------|--------------|------------------------------------------------|
| f16 f32 f64, i1, (u)i8 to 64  | the same     |                                                |
| bf16, f4, f6 and f8 types     | `float32`    | f32; inputs are rounded to nearest             |
| (u)i2, (u)i4                  | `(u)int8`    | (u)i8                                          |
| complex<f32>, complex<f64>    | `complex64`, | a pair, real and imaginary part                |
|                               | `complex128` |                                                |
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mlir_sdy.late_numpy import np

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.generic]"

_DTYPES: dict[str, str] = {
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_CARRIED = re.compile(r"(?P<float>bf16|f[468]E\w+)|(?P<integer>u?i)[24]")
_BITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """The type of a tensor of static shape: `tensor<8x16xbf16>`.

    Attributes:
        shape: the sizes of the dimensions.
        element: the element type in MLIR's syntax.
    """

    shape: tuple[int, ...]
    element: str

    @property
    def is_supported(self) -> bool:
        """Whether such tensors have a NumPy equivalent."""
        return self.element in _DTYPES or _CARRIED.fullmatch(self.element) is not None

    @property
    def carrier(self) -> str:
        """The element type of the values in engines; see the module."""
        match = _CARRIED.fullmatch(self.element)
        if match is None:
            return self.element
        return "f32" if match["float"] else f"{match['integer']}8"

    @property
    def is_carried(self) -> bool:
        """Whether the element type of arrays differs from that of the tensor."""
        return self.carrier != self.element

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.element.startswith("complex")

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the elements of the array."""
        return np.dtype(_DTYPES[self.carrier])

    @property
    def result_dtype(self) -> np.dtype[np.generic]:
        """The element type of result arrays: `float8_e4m3fn` for `f8E4M3FN`."""
        match = _CARRIED.fullmatch(self.element)
        if match is None or match["float"] is None:
            return self.dtype
        import ml_dtypes as _  # noqa: F401, PLC0415 (gives names of small types to NumPy)

        bits, _e, layout = self.element.removeprefix("f").partition("E")
        return np.dtype(f"float{bits}_e{layout.lower()}" if layout else "bfloat16")

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the tensor's values, packed; i1 takes a byte."""
        if self.element == "i1":
            return self.size
        match = _BITS.search(self.element)
        bits = int(match[0]) if match else 0
        return (self.size * bits * (2 if self.is_complex else 1) + 7) // 8

    def with_shape(self, shape: Sequence[int]) -> TensorSpec:
        """Return a spec with another shape."""
        return TensorSpec(tuple(shape), self.element)

    def with_element(self, element: str) -> TensorSpec:
        """Return a spec with another element type."""
        return TensorSpec(self.shape, element)

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"
