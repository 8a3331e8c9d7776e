# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local engines: the interface, child processes, caches and fallbacks."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyshardy.local_program.tensor_spec import Array

if TYPE_CHECKING:
    from mlir_sdy.host import ir


Arrays = Sequence[Array]


class Executable(Protocol):
    """A compiled program."""

    def run(self, batch: Sequence[Arrays]) -> list[list[Array]]:
        """Run the program once for each list of inputs.

        Args:
            batch: for each run the arrays of its arguments, as `TensorSpec.dtype` has them.

        Returns:
            For each run the arrays of its results.

        Raises:
            ExecutionError: the engine failed.
        """
        ...


class LocalEngine(Protocol):
    """Compiles and runs programs on one device. Nothing is shared between runs."""

    def compile(self, module: ir.Module) -> Executable:
        """Compile a module; modules of equal text are compiled once.

        Args:
            module: StableHLO without collectives, whose function `@main` is run. It isn't changed.

        Raises:
            ExecutionError: the engine doesn't support an operation of it.
        """
        ...


# --- Files of compiled programs -------------------------------------------------------------------


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
