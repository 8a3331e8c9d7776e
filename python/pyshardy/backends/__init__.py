# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs.

| module               | what it holds                                                          |
|----------------------|------------------------------------------------------------------------|
| `engine`             | the interface of local engines, which run what needs one device only   |
| `child_process`      | processes for what may abort                                            |
| `interpreter`        | the engine of the StableHLO reference interpreter, in a child process  |
| `interpreter_worker` | that process                                                           |
| `unsupported`        | what the interpreter can't run                                         |
| `specs`, `values`    | types of tensors and the arrays that stand for their values            |
| `edges`              | programs whose arguments and results are plain arrays                  |
| `lockstep`           | programs with collectives on several simulated devices                 |
| `pieces`             | cutting them at collectives                                            |
| `groups`             | which devices a collective joins                                       |
| `collectives`        | the collectives in NumPy                                               |
| `reductions`         | the bodies of reducing collectives                                     |
| `xla`                | XLA, which runs programs with collectives itself                       |

Backends have names; `spmd_program` makes a program run on one. Nothing is imported or started
before its use.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

from mlir_sdy.diagnostics import UsageError, error

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from pyshardy.backends.engine import Arrays, Engine
    from pyshardy.backends.groups import Layout
    from pyshardy.backends.specs import Array

ENGINES: dict[str, str] = {
    "interpreter": "pyshardy.backends.interpreter:InterpreterEngine",
}
"""The class of each local engine, as `module:class`."""


XLA = "xla"

BACKENDS: tuple[str, ...] = (*ENGINES, XLA)
"""What can run a program with collectives."""


class SpmdProgram(Protocol):
    """A program that is prepared to run on all devices."""

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """See `LockstepProgram.run`."""
        ...


def spmd_program(backend: str, module: ir.Module, layout: Layout) -> SpmdProgram:
    """Prepare a local program to be run on the devices of a layout.

    Args:
        backend: `xla`, or the name of a local engine, which runs the pieces between collectives
            in lockstep.
        module: local StableHLO, entered at `@main`. It isn't changed.
        layout: the replicas and partitions.

    Raises:
        UsageError: there is no such backend, or a package that it needs is missing.
        ExecutionError: the backend refuses the program.
    """
    if backend == XLA:
        from pyshardy.backends.xla.program import local_xla_program  # noqa: PLC0415

        return local_xla_program(module, layout)
    engine = local_engine(backend)
    from pyshardy.backends.lockstep import LockstepProgram  # noqa: PLC0415

    return LockstepProgram(module, engine, layout)


@cache
def local_engine(name: str) -> Engine:
    """The local engine of that name; there is one of each in a process.

    Raises:
        UsageError: there is none.
    """
    if name not in ENGINES:
        known = ", ".join(f"'{known}'" for known in BACKENDS)
        raise UsageError(error(f"unknown backend '{name}'; there are: {known}"))
    module, _, engine_class = ENGINES[name].partition(":")
    return getattr(importlib.import_module(module), engine_class)()
