# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files to which passes save modules."""

from __future__ import annotations

from pathlib import Path

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of


def save_module(
    module: ir.Module, *, directory: str = "", name: str = "module", index: int = 0
) -> None:
    """Write `module` to `<directory>/<index>.<name>.mlir`, the index in two digits.

    A file that can't be written causes a warning only, since saved modules are for debugging.

    Args:
        module: the module to save.
        directory: where to write; nothing is written if it is empty.
        name: the name of the stage of the pipeline.
        index: the number of the file in its pipeline.
    """
    if not directory:
        return
    path = Path(directory) / f"{index:02}.{name}.mlir"
    try:
        path.write_text(asm(module), encoding="utf-8")
    except OSError as failure:
        reason = failure.strerror or str(failure)
        message = f"cannot save the module to '{path}': {reason}"
        emit(warning(message, location_of(module.operation.location)))
