# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program that measurements run on when no other is named: a 24-layer training step."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

MAKE_PROGRAMS = Path(__file__).parents[1] / "examples" / "make_programs.py"


def program_text(program: Path | None) -> str:
    """The text of `program`, or of the training step, which is made anew for that."""
    if program is not None:
        return program.read_text()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "train.mlir"
        subprocess.run([sys.executable, MAKE_PROGRAMS, "--large", made], check=True)
        return made.read_text()
