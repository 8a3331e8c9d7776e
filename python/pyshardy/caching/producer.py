# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that compute a result: this project, the MLIR host and Python."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import mlir_sdy
from mlir_sdy.host_build import installed_build
from pyshardy.irtools.user_files import is_installed

_PACKAGES = (Path(mlir_sdy.__file__).parent, Path(__file__).parents[1])


@functools.cache
def producer() -> str:
    """Return the versions of this project, of the MLIR host and of Python.

    The files of a clone change without a new version: their sizes and times are added.
    """
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (slow to load)

    try:
        own = version("pyshardy")
    except PackageNotFoundError:  # on the search path only
        own = ""
    files = [
        f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"
        for package in _PACKAGES
        if not is_installed(str(package))
        for file in _files_in(package)
    ]
    return "\n".join([own, str(installed_build()), sys.version, *files])


def _files_in(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files_in(Path(entry.path))
        else:
            yield entry
