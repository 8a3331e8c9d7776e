# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m pyshardy examples [FOLDER]`: copy the programs that the documentation uses."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyshardy
from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.tool import Tool

_NAME = "python -m pyshardy examples"
_PACKAGE = Path(pyshardy.__file__).parent
_HELD_BY_WHEEL, _HELD_BY_CLONE = _PACKAGE / "example_files", _PACKAGE.parents[1] / "examples"


def main(argv: Sequence[str] | None = None) -> int:
    """Copy the examples into a folder, and return the exit status.

    Args:
        argv: the arguments; those of the process by default.
    """
    tool = Tool(_NAME, argv)
    parser = argparse.ArgumentParser(
        prog=_NAME, description="Copy the programs that the documentation uses."
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path("examples"),
        help="where to copy them; it must not exist yet (default: examples)",
    )
    folder: Path = parser.parse_args(tool.arguments).folder

    def work() -> int:
        copy_examples(folder)
        print(f"copied the examples to {folder}")
        return 0

    return tool.run(work)


def copy_examples(folder: Path) -> None:
    """Copy the examples into a new folder.

    Raises:
        UsageError: the folder exists.
    """
    if folder.exists():
        raise UsageError(error(f"'{folder}' exists already; name another folder"))
    source = _HELD_BY_WHEEL if _HELD_BY_WHEEL.exists() else _HELD_BY_CLONE
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
