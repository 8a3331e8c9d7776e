"""Runs C++ Shardy from the jaxlib wheel on requests from standard input.

It aborts on some bad inputs, so the tests talk to it in a child process (see `shardy.py`). Each
request and each answer is one line of JSON.
"""

import json
import sys
from collections.abc import Iterator

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy  # noqa: F401 (registers the dialect)
from jaxlib.mlir.passmanager import PassManager


def answer(request: dict) -> dict:
    with jax_mlir.make_ir_context() as context, ir.Location.unknown():
        # A thread of MLIR that reports an error waits for Python, which waits for the thread.
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = request.get("allow_unregistered", False)
        warnings: list[str] = []

        def keep(diagnostic: ir.Diagnostic) -> bool:
            is_warning = diagnostic.severity == ir.DiagnosticSeverity.WARNING
            if is_warning:
                warnings.append(str(diagnostic.message))
            return is_warning

        context.attach_diagnostic_handler(keep)
        try:
            module = ir.Module.parse(request["text"])
            if steps := request.get("steps"):
                return {"texts": list(texts_after(steps, module))}
            if pipeline := request.get("pipeline"):
                PassManager.parse(pipeline).run(module.operation)
            text = module.operation.get_asm(
                print_generic_op_form=request.get("generic", False),
                enable_debug_info=request.get("debug_info", False),
            )
        except Exception as error:
            return {"error": str(error)}
        return {"text": text, "warnings": warnings}


def texts_after(steps: list[str], module: ir.Module) -> Iterator[str | None]:
    """The module after each step; None for those that leave it as it is."""
    before = str(module)
    for step in steps:
        PassManager.parse(step).run(module.operation)
        after = str(module)
        yield None if after == before else after
        before = after


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


main()
