#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Find the Python interpreters of this machine that can create a virtual environment.

    python3 tools/pythons.py              # print each as "3.12 /usr/bin/python3.12"
    python3 tools/pythons.py 3.12         # print the path of one; exit with 1 if it is missing
    python3 tools/pythons.py --at-least 3.12  # print the path of the newest from a version on

The standard library suffices, so that any Python can run this before the project is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

Version = tuple[int, int]

# Prints the version and the interpreter itself, which is neither a shim nor a virtual environment.
# Environments need `ensurepip`, which Debian packages separately; no wheel of the MLIR host fits an
# implementation other than CPython, or a build without the global interpreter lock.
_PROBE = """
import sys, ensurepip, ssl, sysconfig, venv
if sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(*sys.version_info[:2], getattr(sys, "_base_executable", sys.executable))
"""
_PROBE_SECONDS = 30
_NAME = re.compile(r"python(3(\.\d+)?)?")


def find_pythons() -> dict[Version, Path]:
    """Return a working interpreter for each version of CPython on this machine.

    Interpreters are looked for on the PATH, among pyenv's versions, and in the running Python. Each
    is started once: pyenv's shims exist also for versions that are not selected, and fail.

    Returns:
        The interpreters by (major, minor), oldest version first. Of several with the same version
        the first on the PATH is taken, then the newest of pyenv's.
    """
    candidates = list(dict.fromkeys(_candidates()))
    with ThreadPoolExecutor(max_workers=4) as pool:
        probes = pool.map(_probe, candidates)
    found: dict[Version, Path] = {}
    for probe in probes:
        if probe is not None:
            found.setdefault(*probe)
    return dict(sorted(found.items()))


def _candidates() -> Iterator[Path]:
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        yield from _interpreters(Path(directory or "."))
    for root in _pyenv_roots():
        versions = _entries(root / "versions")
        for version in sorted(versions, key=_version_numbers, reverse=True):
            yield version / "bin" / "python"
    yield Path(sys.executable)


def _interpreters(directory: Path) -> list[Path]:
    found = (entry for entry in _entries(directory) if _NAME.fullmatch(entry.name))
    # `python3` before `python3.12`, since it is the default for users.
    return sorted((entry for entry in found if os.access(entry, os.X_OK)), key=_version_numbers)


def _pyenv_roots() -> Iterator[Path]:
    if root := os.environ.get("PYENV_ROOT"):
        yield Path(root)
    if root := _output_of(["pyenv", "root"]):
        yield Path(root)
    yield Path.home() / ".pyenv"


def _entries(directory: Path) -> Iterable[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return ()


def _version_numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name)]


def _probe(candidate: Path) -> tuple[Version, Path] | None:
    words = _output_of([str(candidate), "-I", "-c", _PROBE]).split(maxsplit=2)
    if len(words) != 3:
        return None
    major, minor, interpreter = words
    return (int(major), int(minor)), Path(interpreter)


def _output_of(command: list[str]) -> str:
    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def _version(text: str) -> Version:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def main() -> int:
    """Print the interpreters that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("version", nargs="?", type=_version, help="print only this one's path")
    parser.add_argument(
        "--at-least", type=_version, metavar="VERSION", help="print the newest one's path"
    )
    arguments = parser.parse_args()
    pythons = find_pythons()
    if arguments.version is None and arguments.at_least is None:
        for (major, minor), path in pythons.items():
            print(f"{major}.{minor} {path}")
        return 0
    if arguments.version is not None:
        chosen = pythons.get(arguments.version)
    else:
        newest = max(
            (version for version in pythons if version >= arguments.at_least), default=None
        )
        chosen = None if newest is None else pythons[newest]
    if chosen is None:
        print("there is no such Python here", file=sys.stderr)
        return 1
    print(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
