# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution of partitioned programs.

| module           | contents                                                             |
|------------------|----------------------------------------------------------------------|
| `registry`       | the backends by name, and their interface                            |
| `arrays`         | global and sharded arrays, random inputs, comparison                 |
| `engines`        | the interface of local engines, which run on one device              |
| `interpreter`    | the engine of the StableHLO reference interpreter                    |
| `jit`            | the engine of the host's compiler                                    |
| `iree`           | the engine of IREE                                                   |
| `lockstep`       | the backend that runs collectives in NumPy and all else by an engine |
| `xla`            | the backend of XLA                                                   |
| `mpi`            | the backend that runs each device as an MPI process                  |
| `mpi_library`    | the processes of an MPI job, and what they send to each other        |
| `custom_calls`   | custom calls that Python functions implement                         |
| `lapack`         | the LAPACK custom calls of JAX in NumPy                              |
| `decompositions` | decompositions of operations that engines lack                       |
| `donations`      | donated arguments                                                    |
| `unsharded`      | the unpartitioned program, as a reference                            |
| `jax_internals`  | the private parts of JAX that the project uses                       |

`spmd_program` compiles a program for the backend of a name. Backends are imported and started at
their first use.
"""

from pyshardy.backends.registry import (
    Backend,
    CompileOptions,
    Registration,
    SpmdProgram,
    backend_names,
    local_engine,
    register_backend,
    spmd_program,
)

__all__ = [
    "Backend",
    "CompileOptions",
    "Registration",
    "SpmdProgram",
    "backend_names",
    "local_engine",
    "register_backend",
    "spmd_program",
]
