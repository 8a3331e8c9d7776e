# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-save-module`: write a module to a file during a pipeline."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools import modules
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Natural


@register_pass("sdy-save-module", release="pyshardy")
def save_module(
    module: ir.Module, *, directory: str = "", name: str = "module", index: Natural = 0
) -> None:
    """Write the module to a file.

    Writes the module in its current state to `<directory>/<index>.<name>.mlir`, the index with two
    digits: `02.after_propagation.mlir`. With an empty directory nothing is written. The directory
    must exist. If the file cannot be written, the pass emits a warning and the pipeline continues.

    Options:
        directory: directory to write to.
        name: stage of the pipeline, for the file name.
        index: number of the file within the pipeline.
    """
    modules.save_module(module, directory=directory, name=name, index=index)
