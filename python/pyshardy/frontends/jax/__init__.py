# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The front end of JAX, `sdy.jax`: import of functions, and partitioned programs as functions.

    module = sdy.jax.trace(step, parameters, batch, in_shardings=(P("model"), P("data")), mesh=mesh)
    sdy.propagate(module)
    step = sdy.partition(module).as_jax()
    parameters = step(parameters, batch)

| module                | contents                                                                |
|-----------------------|-------------------------------------------------------------------------|
| `tracing`             | tracing of functions, with shardings of JAX or pyshardy                 |
| `libraries`           | modules and functions of flax, equinox and haiku                        |
| `lowered`             | import of lowered and exported functions, with locations                |
| `callbacks`           | Python callbacks of a program                                           |
| `custom_partitioning` | functions with `jax.experimental.custom_partitioning`                   |
| `meshes`              | meshes and shardings of JAX                                             |
| `dtypes`              | element types, and random number keys                                   |
| `callable`            | partitioned programs as functions of JAX                                |
| `closed_over`         | large arrays that a traced function closes over, which become constants |
| `symbolic`            | symbolic dimensions of JAX, as sizes of a program                       |
"""

from __future__ import annotations

import importlib
from typing import Any

from pyshardy.frontends.jax.lowered import from_exported, from_lowered
from pyshardy.frontends.jax.tracing import trace

__all__ = ["from_exported", "from_lowered", "trace"]

_LATE = {"auto_shard": "pyshardy.auto.for_jax"}
"""Names of modules that build on the partitioner, which builds on this one."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATE})  # without the modules
