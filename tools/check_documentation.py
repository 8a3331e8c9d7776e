#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run the commands and the code of README and guides with the package as users install it.

    make documentation
    python tools/check_documentation.py -k mpmd    # the pages with this name; arguments of pytest

1. Build the wheel, and install it into build/documentation without its dependencies, which are
   those of this Python.
2. Run the tests of test/documentation with that copy of the package. They work in empty folders.

The exit status is that of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "documentation"


def install(folder: Path) -> Path:
    """Return the folder of a copy of the package, installed from a wheel.

    Args:
        folder: a folder for the wheel and the copy; its contents are replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--target", str(site), str(wheel)], check=True)
    return site


def main() -> int:
    """Install the wheel, and run the tests."""
    site = install(FOLDER)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = [sys.executable, "-c", "import pyshardy; print(pyshardy.__file__)"]
    found = subprocess.run(where, env=environment, check=True, capture_output=True, text=True)
    if not Path(found.stdout.strip()).is_relative_to(site):
        print(f"another copy of the package is found first: {found.stdout}", file=sys.stderr)
        return 1
    tests = [sys.executable, "-m", "pytest", "-n", "2", "test/documentation", *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
