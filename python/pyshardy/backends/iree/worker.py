# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of IREE's compiler and run time: `python -m` this module.

IREE brings MLIR bindings of its own, so nothing of the project that loads the host is imported.
"""

# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import iree.runtime as iree_runtime
import numpy as np

from pyshardy.backends.iree.compiler import compile_program
from pyshardy.processes.worker import Runner, serve_programs

_DRIVER = "local-sync"


def main(arguments: argparse.Namespace) -> None:
    """Run programs until there are no more requests."""
    config = iree_runtime.Config(_DRIVER)

    def load(program: bytes) -> Runner:
        code = compile_program(program, "llvm-cpu", arguments.optimization, arguments.cache)
        module = iree_runtime.VmModule.copy_buffer(config.vm_instance, code)
        context = iree_runtime.SystemContext(config=config)
        context.add_vm_module(module)
        function = context.modules[module.name]["main"]

        def run(arrays: Sequence[Any]) -> list[Any]:
            results = function(*arrays)
            # A single result is not in a list; no results are None.
            if results is None:
                return []
            several = results if isinstance(results, list | tuple) else [results]
            return [np.array(result.to_host()) for result in several]

        return run

    serve_programs(load)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimization", type=int)
    parser.add_argument("--cache")
    main(parser.parse_args())
