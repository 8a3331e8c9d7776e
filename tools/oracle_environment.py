#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make the environment of the second oracle: the C++ Shardy of a jaxlib that needs Python 3.12.

    python3 tools/oracle_environment.py    # prints its interpreter; exits with 1 if there is none

The tests in `test/oracle/` compare with it beside the jaxlib of their own environment, and make
it when they first need it. Does nothing if it is there already. The variable
PYSHARDY_ORACLE_PYTHON names an interpreter to use instead.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from pythons import find_pythons

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "oracle"
REQUIREMENTS = ROOT / "test" / "oracle" / "requirements.txt"
OLDEST = (3, 12)
MISSING = f"not run: no Python {OLDEST[0]}.{OLDEST[1]}"


def oracle_python() -> Path | None:
    """Return the interpreter of the second oracle, after making its environment if need be.

    Returns:
        The interpreter, or None if this machine has no Python that the oracle runs on.

    Raises:
        subprocess.CalledProcessError: the environment can't be made.
    """
    if named := os.environ.get("PYSHARDY_ORACLE_PYTHON"):
        return Path(named)
    interpreter = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "requirements.txt"
    wanted = REQUIREMENTS.read_bytes()
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    # Several processes of one test run may ask at the same time.
    with (ENVIRONMENT.parent / "oracle.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_bytes() == wanted:
            return interpreter
        suitable = {version: path for version, path in find_pythons().items() if version >= OLDEST}
        if not suitable:
            return None
        # The oldest suitable Python: all releases of the oracle have a wheel for it.
        python = suitable[min(suitable)]
        _run(python, "-m", "venv", "--clear", ENVIRONMENT)
        quiet = ("--quiet", "--disable-pip-version-check")
        _run(interpreter, "-m", "pip", "install", *quiet, "-r", REQUIREMENTS)
        stamp.write_bytes(wanted)
    return interpreter


def _run(*command: str | Path) -> None:
    # Standard output is for the answer.
    subprocess.run(command, check=True, stdout=sys.stderr)


def main() -> int:
    """Print the interpreter."""
    python = oracle_python()
    print(python or MISSING)
    return 0 if python else 1


if __name__ == "__main__":
    sys.exit(main())
