# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files that the server may read, all under its folder."""

from __future__ import annotations

import os
from pathlib import Path

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean


class ServedFolder:
    """A folder with programs.

    Args:
        folder: the folder.
        allows_code: whether files of Python may be run.
    """

    def __init__(self, folder: str | Path, *, allows_code: bool):
        self._folder = Path(folder).resolve()
        self._allows_code = allows_code

    def file(self, name: str) -> Path:
        """Return the path of a file from the folder on.

        Raises:
            UsageError: it is outside of the folder, also by `..` or a symbolic link; or there is no
                such file.
        """
        try:
            path = Path(os.path.realpath(self._folder / name))
            is_file = path.is_file()
        except (OSError, ValueError) as refusal:  # a name that is too long, a null character
            raise UsageError(error(f"cannot open '{name}': {refusal}")) from None
        if not path.is_relative_to(self._folder):
            message = f"cannot open '{name}': it is outside of the folder that the server reads"
            raise UsageError(error(f"{message}; pass a path from that folder on"))
        if not is_file:
            names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
            what = "it is no regular file" if path.exists() else "there is no such file"
            raise UsageError(error(f"cannot open '{name}': {what}{did_you_mean(path.name, names)}"))
        return path.relative_to(self._folder)

    def file_or_text(self, text: str) -> str:
        """Return an argument that is a text or a TOML file, which has to be in the folder.

        Raises:
            UsageError: as for `file`.
        """
        return str(self.file(text)) if text.endswith(".toml") else text

    def check_code(self, *what: str) -> None:
        """Check that the server may run code, and passes with access to files.

        Args:
            what: descriptions of what would be run; none is always allowed.

        Raises:
            UsageError: it may not.
        """
        if what and not self._allows_code:
            remedy = "ask the user to start it by 'sdy-mcp --allow-code'"
            raise UsageError(error(f"this server doesn't run {what[0]}: {remedy}"))
