# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the corpus by name, and what they are made with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

P = PartitionSpec
PROGRAMS: dict[str, Callable[[], str]] = {}


def program(function: Callable[[], str]) -> Callable[[], str]:
    """Put a function that writes a program into the corpus, under its own name."""
    PROGRAMS[function.__name__] = function
    return function


def mesh(**axes: int) -> Mesh:
    """A mesh with the given axes over simulated devices."""
    sizes = tuple(axes.values())
    devices = np.array(jax.devices()[: int(np.prod(sizes))])
    return Mesh(devices.reshape(sizes), tuple(axes))


def array(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """What an argument looks like: tracing needs no data."""
    return jax.ShapeDtypeStruct(shape, dtype)


def integers(*shape: int) -> jax.ShapeDtypeStruct:
    """What an argument of indices looks like."""
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def constrain(value: jax.Array, where: Mesh, *axes: Any) -> jax.Array:
    """The value with a sharding constraint."""
    return jax.lax.with_sharding_constraint(value, NamedSharding(where, P(*axes)))


def lower(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    where: Mesh,
    in_specs: Any = None,
    out_specs: Any = None,
    platform: str = "cpu",
) -> str:
    """The program that JAX makes of a function.

    Args:
        function: the function.
        arguments: trees of abstract arrays.
        where: the mesh.
        in_specs: trees of partition specs for the arguments, None where JAX may choose.
        out_specs: the same for the results.
        platform: what JAX lowers for; on the CPU linear algebra becomes calls of LAPACK.
    """

    def named(specs: Any) -> Any:
        return jax.tree.map(
            lambda spec: None if spec is None else NamedSharding(where, spec),
            specs,
            is_leaf=lambda leaf: leaf is None or isinstance(leaf, PartitionSpec),
        )

    shardings: dict[str, Any] = {}
    if in_specs is not None:
        shardings["in_shardings"] = named(in_specs)
    if out_specs is not None:
        shardings["out_shardings"] = named(out_specs)
    traced = jax.jit(function, **shardings).trace(*arguments)
    return traced.lower(lowering_platforms=(platform,)).as_text()
