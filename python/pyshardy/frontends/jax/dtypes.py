# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The NumPy types of MLIR element types in JAX."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error

_NAMES = {
    "i1": "bool",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_INTEGER_OR_FLOAT = re.compile(r"(u?i|f)(\d+)")
_SMALL_FLOAT = re.compile(r"f(\d+)E(\w+)")


def dtype_of(element: str) -> np.dtype[Any]:
    """Return the NumPy type of an element type: `float8_e4m3fn` for `f8E4M3FN`, `uint4` for `ui4`.

    Raises:
        UsageError: the type has 64 bits and JAX's option `jax_enable_x64` is off.
    """
    import jax  # noqa: PLC0415
    import ml_dtypes as _  # noqa: F401, PLC0415 (gives names of small types to NumPy)

    name = _NAMES.get(element)
    if name is None and (match := _INTEGER_OR_FLOAT.fullmatch(element)):
        kind = {"i": "int", "ui": "uint", "f": "float"}[match[1]]
        name = kind + match[2]
    elif name is None and (match := _SMALL_FLOAT.fullmatch(element)):
        name = f"float{match[1]}_e{match[2].lower()}"
    dtype = np.dtype(name or element)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        hint = "jax.config.update('jax_enable_x64', True)"
        message = f"the program has values of {dtype}, for which JAX requires {hint}"
        raise UsageError(error(message))
    return dtype
