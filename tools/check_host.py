#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that the installed MLIR host satisfies the assumptions of the project.

    make check-host
    ENVIRONMENT/bin/python tools/check_host.py --verbose

Run this with another build of the host before changing `host_build.py` and `pyproject.toml` to it.
Each assumption in `host_assumptions.py` is reported as ok, or as broken with the features that
depend on it. They are checked in one process; if that fails, each is checked in one of its own. The
exit status is 0 if all hold.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from host_assumptions import ASSUMPTIONS, Broken
from mlir_sdy.host_build import describe_build

_SECONDS = 120


def _check_here(names: Sequence[str]) -> int:
    """Check assumptions in this process up to a violation, and print it as the last line."""
    try:
        for name in names:
            ASSUMPTIONS[name].check()
    except Broken as finding:
        print(finding)
    except Exception as failure:  # whatever another build may do
        print(f"{type(failure).__name__}: {failure}".splitlines()[0])
    else:
        return 0
    return 1


def _check(*names: str) -> str:
    """Check assumptions in a child process; return the first violation, or an empty text."""
    command = [sys.executable, str(Path(__file__)), "--here", *names]
    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it doesn't end within {_SECONDS} seconds"
    if ran.returncode == 0:
        return ""
    if ran.returncode < 0:
        said = (ran.stderr.strip().splitlines() or [""])[0]
        ended = f"it ends the process by {signal.Signals(-ran.returncode).name}"
        return f"{ended}: {said}" if said else ended
    lines = ran.stdout.strip().splitlines() or ran.stderr.strip().splitlines()
    return lines[-1] if lines else f"the process ended with status {ran.returncode}"


def main() -> int:
    """Check all assumptions, or those that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="check only these assumptions")
    parser.add_argument("--list", action="store_true", help="print the assumptions")
    parser.add_argument("--verbose", action="store_true", help="print also those that hold")
    parser.add_argument("--here", metavar="NAME", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        return _check_here(arguments.here)
    if arguments.list:
        for each in ASSUMPTIONS.values():
            print(f"{each.name}: {each.statement} Needed by {each.relied_on_by}.")
        return 0
    if unknown := [name for name in arguments.names if name not in ASSUMPTIONS]:
        parser.error(f"unknown assumptions: {', '.join(unknown)}; --list prints them")
    print(f"Checking {describe_build()}")
    names = arguments.names or list(ASSUMPTIONS)
    findings = dict.fromkeys(names, "")
    if _check(*names):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            findings = dict(zip(names, pool.map(_check, names), strict=True))
    for name, finding in findings.items():
        each = ASSUMPTIONS[name]
        if finding:
            print(f"broken  {name}: {each.statement}")
            print(f"        found: {finding}")
            print(f"        breaks: {each.relied_on_by}")
        elif arguments.verbose:
            print(f"ok      {name}: {each.statement}")
    broken = sum(map(bool, findings.values()))
    print(f"{len(names) - broken} of {len(names)} assumptions hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
