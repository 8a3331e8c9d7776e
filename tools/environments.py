# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Virtual environments by uv, which is much faster than venv and pip.

The checks of this project create up to seven environments. The extra `dev` installs uv.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


class CommandFailed(Exception):
    """A command of uv failed.

    Attributes:
        output: its output.
    """

    def __init__(self, command: str, output: str):
        super().__init__(f"{command}\nfailed:\n{output}")
        self.output = output


def make(python: str | Path, folder: Path) -> Path:
    """Create an environment, replacing an existing one, and return its interpreter.

    Args:
        python: the interpreter to create it with.
        folder: its folder.

    Raises:
        CommandFailed: the environment can't be created.
    """
    _uv("venv", "--clear", "--python", python, folder)
    return folder / "bin" / "python"


def install(interpreter: str | Path, *wanted: str | Path) -> None:
    """Install packages into an environment.

    Args:
        interpreter: the interpreter of the environment.
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
