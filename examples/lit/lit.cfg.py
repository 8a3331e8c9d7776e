# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The configuration of the tests in this folder, which `lit .` runs."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

config = config  # noqa: F821, PLW0127 (given by lit)
lit_config = lit_config  # noqa: F821, PLW0127 (given by lit)

HERE = Path(__file__).resolve().parent


def tool(name):
    """Return a program beside this Python, or on the path."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        lit_config.fatal(f"{name} is missing: pip install lit filecheck")
    return found


config.name = "my passes"
config.test_format = lit.formats.ShTest(execute_external=False)  # pipes work without a shell
config.suffixes = [".mlir"]
config.test_source_root = str(HERE)
config.test_exec_root = str(HERE / "Output")
for name in ("PYTHONPATH", "HOME"):  # lit passes few variables on
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [
    (r"\bsdy-opt\b", f"'{sys.executable}' -m pyshardy opt"),
    (r"\bsdy-run\b", f"'{sys.executable}' -m pyshardy run"),
    (r"\bFileCheck\b", f"'{tool('filecheck')}'"),
    ("%passes", str(HERE / "my_passes.py")),
]
