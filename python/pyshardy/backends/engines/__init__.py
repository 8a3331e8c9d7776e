# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local engines: the interface, child processes, caches and fallbacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pyshardy.local_program.tensor_spec import Array

if TYPE_CHECKING:
    from mlir_sdy.host import ir


Arrays = Sequence[Array]


class Executable(Protocol):
    """A compiled program."""

    def run(self, batch: Sequence[Arrays]) -> list[list[Array]]:
        """Run the program once for each list of inputs.

        Args:
            batch: for each run the arrays of its arguments, as `TensorSpec.dtype` has them.

        Returns:
            For each run the arrays of its results.

        Raises:
            ExecutionError: the engine failed.
        """
        ...


class LocalEngine(Protocol):
    """Compiles and runs programs on one device. Nothing is shared between runs."""

    def compile(self, module: ir.Module) -> Executable:
        """Compile a module; modules of equal text are compiled once.

        Args:
            module: StableHLO without collectives, whose function `@main` is run. It isn't changed.

        Raises:
            ExecutionError: the engine doesn't support an operation of it.
        """
        ...
