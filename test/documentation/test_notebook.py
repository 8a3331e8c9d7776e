# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The outputs in the notebooks of the documentation are those of their cells."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_outputs_are_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), "--check"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
