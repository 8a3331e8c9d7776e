# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of random numbers, which are plain integers in a program."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyshardy.backends.jax_internals import key_implementation


def implementations(types: Iterable[Any]) -> tuple[str | None, ...]:
    """For each type of an array the generator whose keys it has; None if it has none.

    Args:
        types: what has a `dtype`, as arrays do.
    """
    import jax  # noqa: PLC0415

    return tuple(
        # JAX tells it of arrays only.
        key_implementation(one.dtype)
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key)
        else None
        for one in types
    )


def without_keys(value: Any) -> Any:
    """The integers of keys; anything else as it is."""
    import jax  # noqa: PLC0415

    dtype = getattr(value, "dtype", None)
    if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value


def with_keys(value: Any, implementation: str | None) -> Any:
    """The keys of a generator for their integers; without a generator the value as it is."""
    import jax  # noqa: PLC0415

    if implementation is None:
        return value
    return jax.random.wrap_key_data(value, impl=implementation)
