# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that compiles files for IREE: `python -m` this module.

A request holds the arguments of `compiler.compile_program`.
"""

from __future__ import annotations

from typing import Any

from pyshardy.backends.iree.compiler import compile_program
from pyshardy.processes.worker import serve


def _answer(request: dict[str, Any]) -> bytes:
    return compile_program(**request)


if __name__ == "__main__":
    serve(_answer)
