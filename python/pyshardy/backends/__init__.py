# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs.

| module               | what it holds                                                          |
|----------------------|------------------------------------------------------------------------|
| `registry`           | the backends by name, and their interface                              |
| `engine`             | the interface of local engines, which run what needs one device only   |
| `engines`            | local engines in child processes                                       |
| `child_process`      | processes for what may abort                                           |
| `worker`             | the other side of these                                                |
| `interpreter`        | the engine of the StableHLO reference interpreter                      |
| `interpreter_worker` | its process                                                            |
| `unsupported`        | what the interpreter can't run                                         |
| `fallback`           | an engine with another one for what it can't run                       |
| `jit`                | the engine of the host's own compiler                                  |
| `iree`               | the engine of IREE                                                     |
| `decompositions`     | operations that engines lack, written out                              |
| `specs`, `values`    | types of tensors and the arrays that stand for their values            |
| `edges`              | programs whose arguments and results are plain arrays                  |
| `lockstep`           | programs with collectives on several simulated devices                 |
| `pieces`             | cutting them at collectives                                            |
| `groups`             | which devices a collective joins                                       |
| `custom_calls`       | custom calls that Python functions implement                           |
| `collectives`        | the collectives in NumPy                                               |
| `exchanges`          | what each collective of a program does                                 |
| `reductions`         | the bodies of reducing collectives                                     |
| `jax_internals`      | the private parts of JAX that the project uses                         |
| `xla`                | XLA, which runs programs with collectives itself                       |

Backends have names; `spmd_program` makes a program run on one. Nothing is imported or started
before its use.
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
