# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cache of compiled programs in files, for later processes."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from pathlib import Path


class FileCache:
    """Bytes by keys, each in a file of a directory.

    Args:
        directory: the directory, created at the first use; None to cache nothing.
        suffix: the suffix of the file names.
    """

    def __init__(self, directory: str | None, suffix: str):
        self._directory = None if directory is None else Path(directory)
        self._suffix = suffix

    def load(self, *key: object) -> bytes | None:
        """Return the bytes that are stored for a key, or None."""
        path = self._path(key)
        return path.read_bytes() if path is not None and path.exists() else None

    def store(self, data: bytes, *key: object) -> None:
        """Store bytes for a key."""
        path = self._path(key)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written to a temporary file, so that other processes never read a partial file.
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as written:
            written.write(data)
        Path(written.name).replace(path)

    def _path(self, key: tuple[object, ...]) -> Path | None:
        if self._directory is None:
            return None
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self._directory / f"{digest}{self._suffix}"


def this_cpu() -> str:
    """Return a text that differs between CPUs with incompatible machine code.

    Linux lists the features of a CPU. Elsewhere the text names this machine, so that code compiled
    on other machines isn't used.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith(("flags", "Features")):  # on x86-64 and on aarch64
            return f"{platform.machine()} {line}"
    return f"{platform.machine()} {platform.processor()} {platform.node()}"
