# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process of IREE's compiler and run time: `python -m` this module.

IREE brings MLIR bindings of its own, so nothing of the project that loads the host is imported.
"""

# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import iree.compiler.version
import numpy as np
from iree.compiler.api import Output, Session, Source

from pyshardy.backends.engines import FileCache, this_cpu
from pyshardy.processes.worker import Runner, serve, serve_programs

_TARGETS = {
    "llvm-cpu": ("--iree-llvmcpu-target-cpu=host",),
    "cuda": (),
}


def compile_program(
    program: bytes, target: str, optimization: int | None = None, cache: str | None = None
) -> bytes:
    """Return the contents of the file that IREE's run time loads.

    Args:
        program: StableHLO: text, or a portable artifact.
        target: `llvm-cpu`, for this CPU, or `cuda`.
        optimization: from 0 to 3; None for IREE's default.
        cache: a directory of compiled files, shared between processes.

    Raises:
        RuntimeError: IREE rejects the program.
    """
    flags = [
        "--iree-input-type=stablehlo",
        f"--iree-hal-target-backends={target}",
        *_TARGETS[target],
    ]
    if optimization is not None:
        flags.append(f"--iree-opt-level=O{optimization}")
    files = FileCache(cache, ".vmfb")
    key = (iree.compiler.version.VERSION, flags, this_cpu(), program)
    code = files.load(*key)
    if code is None:
        code = _compiled(program, flags)
        files.store(code, *key)
    return code


def _compiled(program: bytes, flags: list[str]) -> bytes:
    session: Any = Session()
    session.set_flags(*flags)
    invocation = session.invocation()
    # The compiler writes its diagnostics to standard error only.
    invocation.enable_console_diagnostics()
    source = Source.wrap_buffer(session, program)
    with _captured_errors() as said:
        succeeded = invocation.parse_source(source) and invocation.execute()
    if not succeeded:
        raise RuntimeError(_first_error(said()))
    output = Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    return bytes(output.map_memory())


def _first_error(said: str) -> str:
    _, found, message = said.partition("error: ")
    return message.partition("\n")[0] if found else "IREE's compiler rejects the program"


@contextlib.contextmanager
def _captured_errors() -> Iterator[Callable[[], str]]:
    """Capture the standard error of C++ code; yields a function that returns it."""
    text = ""
    with tempfile.TemporaryFile() as written:
        kept = os.dup(2)
        os.dup2(written.fileno(), 2)
        try:
            yield lambda: text
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            written.seek(0)
            text = written.read().decode(errors="replace")


def _run_programs(optimization: int | None, cache: str | None) -> None:
    """Run programs until there are no more requests."""
    import iree.runtime as iree_runtime  # noqa: PLC0415 (not for compilation alone)

    config = iree_runtime.Config("local-sync")

    def load(program: bytes) -> Runner:
        code = compile_program(program, "llvm-cpu", optimization, cache)
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
    parser.add_argument("--only-compile", action="store_true")
    given = parser.parse_args()
    if given.only_compile:  # requests are the arguments of `compile_program`
        serve(lambda request: compile_program(**request))
    else:
        _run_programs(given.optimization, given.cache)
