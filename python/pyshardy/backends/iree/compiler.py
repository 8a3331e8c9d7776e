# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation of StableHLO to IREE's `.vmfb` files, in processes without the MLIR host."""

# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import iree.compiler.version
from iree.compiler.api import Output, Session, Source

from pyshardy.backends.engines.file_cache import FileCache, this_cpu

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
