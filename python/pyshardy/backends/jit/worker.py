# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of the JIT compiler: `python -m` this module, with the level of optimisation."""

from __future__ import annotations

import sys

from mlir_sdy.host import hand_out_all_constants, ir, load_loop_passes, load_stablehlo
from pyshardy.backends.jit.compiler import compile_text
from pyshardy.processes.worker import Runner, serve_programs


def main(optimization: int) -> None:
    """Run programs until there are no more requests."""
    context = ir.Context()
    load_stablehlo(context)
    load_loop_passes()
    hand_out_all_constants(context)

    def load(text: str) -> Runner:
        return compile_text(text, context, optimization)

    serve_programs(load)


if __name__ == "__main__":
    main(int(sys.argv[1]))
