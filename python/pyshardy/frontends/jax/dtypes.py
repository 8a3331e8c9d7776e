# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The NumPy types of MLIR element types in JAX, and random number keys."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.backends.jax_internals import key_implementation

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


# --- Random number keys --------------------------------------------------------------------------


def implementations(types: Iterable[Any]) -> tuple[str | None, ...]:
    """Return the generator of each key type; None for types that aren't keys.

    Args:
        types: objects with a `dtype`, such as arrays.
    """
    import jax  # noqa: PLC0415

    return tuple(
        # JAX supports this query for arrays only.
        key_implementation(one.dtype)
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key)
        else None
        for one in types
    )


def without_keys(value: Any) -> Any:
    """Return the integers of keys, and other values unchanged."""
    import jax  # noqa: PLC0415

    dtype = getattr(value, "dtype", None)
    if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value


def with_keys(value: Any, implementation: str | None) -> Any:
    """Return the keys of a generator for some integers; without a generator, the value itself."""
    import jax  # noqa: PLC0415

    if implementation is None:
        return value
    return jax.random.wrap_key_data(value, impl=implementation)
