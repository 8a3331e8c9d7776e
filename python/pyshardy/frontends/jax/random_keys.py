# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random number keys, which are integers in a program."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyshardy.backends.jax_internals import key_implementation


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
