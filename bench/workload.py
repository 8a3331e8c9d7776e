# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The default program of the benchmarks: a 24-layer training step."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MAKE_PROGRAMS = Path(__file__).parents[1] / "examples" / "make_programs.py"


def program_text(program: Path | None, layers: int = 24) -> str:
    """Return the text of `program`, or of a new training step.

    Args:
        program: an MLIR file.
        layers: the number of layers of the training step; 24 layers have 6,300 operations.
    """
    if program is not None:
        return program.read_text()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "train.mlir"
        command = [sys.executable, MAKE_PROGRAMS, "--large", made, "--layers", str(layers)]
        subprocess.run(command, check=True)
        return made.read_text()
