#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Create the environment of the second oracle: the C++ Shardy of a jaxlib that needs Python 3.12.

    .venv/bin/python tools/oracle_environment.py

prints its interpreter, and exits with 1 if there is no Python 3.12 or newer. An existing
environment is kept.

The tests in `test/oracle/` compare with it, and with the jaxlib of their own environment. They
create it at the first use. The variable PYSHARDY_ORACLE_PYTHON names an interpreter to use instead.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

import environments
from pythons import find_pythons

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / "build" / "oracle"
REQUIREMENTS = ROOT / "test" / "oracle" / "requirements.txt"
OLDEST = (3, 12)
MISSING = f"not run: no Python {OLDEST[0]}.{OLDEST[1]}"


def oracle_python() -> Path | None:
    """Return the interpreter of the second oracle, creating its environment if necessary.

    Returns:
        The interpreter, or None if this machine has no Python that the oracle runs on.

    Raises:
        environments.CommandFailed: the environment can't be created.
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
        environments.make(python, ENVIRONMENT)
        environments.install(interpreter, "-r", REQUIREMENTS)
        stamp.write_bytes(wanted)
    return interpreter


def main() -> int:
    """Print the interpreter."""
    python = oracle_python()
    print(python or MISSING)
    return 0 if python else 1


if __name__ == "__main__":
    sys.exit(main())
