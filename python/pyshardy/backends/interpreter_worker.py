# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which the reference interpreter runs: `python -m` this module.

It reads requests from standard input and answers on standard output, both pickled, until its
input ends. A request is `(number, text, batch)`: run the program of that number for each list of
arrays in the batch; the text comes with the first request for the number and is None afterwards.
The answer is `(True, results)` or `(False, message)`. What the interpreter can't run aborts the
process, with a message on standard error; that is why it is a process.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence

from mlir_sdy.host import ir, load_stablehlo, stablehlo
from pyshardy.backends.specs import Array
from pyshardy.backends.values import array_of, attribute_of

Request = tuple[int, "str | None", Sequence[Sequence[Array]]]


def serve() -> None:
    """Answer requests until there are no more."""
    requests = sys.stdin.buffer
    # Nothing else may write among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    context = ir.Context()
    load_stablehlo(context)
    programs: dict[int, ir.Module] = {}
    reported: list[str] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        reported.append(diagnostic.message)
        return True

    with context, ir.Location.unknown(), context.attach_diagnostic_handler(keep):
        while True:
            try:
                request = pickle.load(requests)
            except EOFError:
                return
            try:
                answer = True, _run(request, programs)
            except (ir.MLIRError, ValueError, RuntimeError) as failure:
                answer = False, "; ".join(reported) or str(failure)
                reported.clear()
            pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _run(request: Request, programs: dict[int, ir.Module]) -> list[list[Array]]:
    number, text, batch = request
    if text is not None:
        programs[number] = ir.Module.parse(text)
    results: list[list[Array]] = []
    for arrays in batch:
        attributes = stablehlo.eval_module(programs[number], list(map(attribute_of, arrays)))
        results.append(list(map(array_of, attributes)))
    return results


if __name__ == "__main__":
    serve()
