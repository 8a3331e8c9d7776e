# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Make virtual environments with uv, which takes seconds for what takes venv and pip a minute.

The checks of this project make up to seven of them. The extra `dev` installs uv.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


class CommandFailed(Exception):
    """A command of uv failed.

    Attributes:
        output: what it printed.
    """

    def __init__(self, command: str, output: str):
        super().__init__(f"{command}\nfailed:\n{output}")
        self.output = output


def make(python: str | Path, folder: Path) -> Path:
    """Make an environment, in place of one that may be there, and return its interpreter.

    Args:
        python: the interpreter to make it with.
        folder: where to make it.

    Raises:
        CommandFailed: the environment can't be made.
    """
    _uv("venv", "--clear", "--python", python, folder)
    return folder / "bin" / "python"


def install(interpreter: str | Path, *wanted: str | Path) -> None:
    """Install packages into an environment.

    Args:
        interpreter: the environment's, from `make`.
        wanted: requirements, and options of `uv pip install`.

    Raises:
        CommandFailed: a package can't be installed.
    """
    _uv("pip", "install", "--python", interpreter, *wanted)


def _uv(*words: str | Path) -> None:
    command = [sys.executable, "-m", "uv", "--quiet", *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CommandFailed(" ".join(command), ran.stdout + ran.stderr)
