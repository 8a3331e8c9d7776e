# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA as a backend."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.registry import CompileOptions
from pyshardy.backends.xla.program import XlaProgram, local_xla_program
from pyshardy.local_program.process_groups import Layout


class XlaBackend:
    """Compiles programs by XLA.

    Args:
        platform: `cpu` for virtual devices, or `gpu`.
    """

    def __init__(self, platform: str):
        self._platform = platform

    def compile(self, module: ir.Module, layout: Layout, options: CompileOptions) -> XlaProgram:
        """See `Backend.compile`."""
        return local_xla_program(
            module,
            layout,
            self._platform,
            options.cache_directory,
            options.custom_calls,
            nan_safe=options.nan_safe,
            optimization=options.optimization,
        )
