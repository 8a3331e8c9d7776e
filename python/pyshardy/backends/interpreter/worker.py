# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which the reference interpreter runs: `python -m` this module.

Unsupported operations abort the process with a message on standard error; hence it runs in a
child process.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir, load_stablehlo, stablehlo
from pyshardy.local_program.tensor_spec import Array
from pyshardy.local_program.values import array_of, attribute_of
from pyshardy.processes.worker import Runner, serve_programs


def main() -> None:
    """Run programs until there are no more requests."""
    context = ir.Context()
    load_stablehlo(context)
    reported: list[str] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        reported.append(diagnostic.message)
        return True

    def load(text: str) -> Runner:
        module = ir.Module.parse(text)

        def run(arrays: Sequence[Array]) -> list[Array]:
            try:
                attributes = stablehlo.eval_module(module, list(map(attribute_of, arrays)))
            except (ir.MLIRError, ValueError, RuntimeError) as failure:
                message = "; ".join(reported) or str(failure)
                reported.clear()
                raise RuntimeError(message) from None
            return list(map(array_of, attributes))

        return run

    with context, ir.Location.unknown(), context.attach_diagnostic_handler(keep):
        serve_programs(load)


if __name__ == "__main__":
    main()
