# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MPI library, by ctypes.

Compiled code contains constants of MPICH's ABI, which Intel MPI, MVAPICH and Cray MPI share.
"""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.packages import installation

LIBRARY = "PYSHARDY_MPI_LIBRARY"
"""The environment variable with the path of the library to use."""

_INSTALL = f"install one by: {installation('mpi')}; or set {LIBRARY} to the path of libmpi.so"
_COMM_WORLD = 0x44000000
_BYTE = 0x4C00010D


class MpiLibrary:
    """The functions of the library that are called from Python."""

    def __init__(self, path: str):
        try:
            # Loaded globally, since compiled code resolves the functions in loaded libraries.
            self._library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as reason:
            raise UsageError(
                error(f"the MPI library can't be loaded: {reason}; {_INSTALL}")
            ) from None
        self._communicators: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self._check_abi(path)
        self._start()

    def _check_abi(self, path: str) -> None:
        name = ctypes.create_string_buffer(8192)
        self._library.MPI_Get_library_version(name, ctypes.byref(ctypes.c_int()))
        version = name.value.decode(errors="replace").partition("\n")[0]
        if "Open MPI" in version:
            message = f"{path} is {version}, but compiled code requires the ABI of MPICH"
            raise UsageError(error(f"{message}; {_INSTALL}"))

    def _start(self) -> None:
        started = ctypes.c_int()
        self._library.MPI_Initialized(ctypes.byref(started))
        if not started.value:
            self._library.MPI_Init(None, None)
            atexit.register(self._library.MPI_Finalize)

    @property
    def size(self) -> int:
        """The number of processes."""
        return self._number("MPI_Comm_size")

    @property
    def rank(self) -> int:
        """The number of this process."""
        return self._number("MPI_Comm_rank")

    def _number(self, function: str) -> int:
        number = ctypes.c_int()
        getattr(self._library, function)(_COMM_WORLD, ctypes.byref(number))
        return number.value

    def communicator(self, colors: tuple[int, ...], keys: tuple[int, ...]) -> int:
        """A communicator of the processes with this one's color, in the order of their keys.

        Args:
            colors: the colors of all processes.
            keys: the keys of all processes.
        """
        known = self._communicators.get((colors, keys))
        if known is None:
            made = ctypes.c_int()
            own = colors[self.rank], keys[self.rank]
            self._library.MPI_Comm_split(_COMM_WORLD, *own, ctypes.byref(made))
            known = self._communicators[colors, keys] = made.value
        return known

    def all_gather(self, array: np.ndarray) -> list[np.ndarray]:
        """The arrays of all processes, which are of one shape and type."""
        own = np.ascontiguousarray(array)
        every = np.empty((self.size, *array.shape), array.dtype)
        count = own.nbytes
        self._library.MPI_Allgather(
            ctypes.c_void_p(own.ctypes.data),
            ctypes.c_int(count),
            ctypes.c_int(_BYTE),
            ctypes.c_void_p(every.ctypes.data),
            ctypes.c_int(count),
            ctypes.c_int(_BYTE),
            ctypes.c_int(_COMM_WORLD),
        )
        return list(every)


@cache
def mpi_library() -> MpiLibrary:
    """Return the library, loaded and initialised.

    Raises:
        UsageError: there is none, or it has another ABI.
    """
    return MpiLibrary(_path())


def _path() -> str:
    """Return the library's path: from the environment, beside this Python, or from the system."""
    if given := os.environ.get(LIBRARY):
        return given
    for name in ("libmpi.so.12", "libmpi.so", "libmpich.so.12", "libmpi.12.dylib"):
        beside = Path(sys.prefix) / "lib" / name
        if beside.exists():
            return str(beside)
    found = ctypes.util.find_library("mpich") or ctypes.util.find_library("mpi")
    if found is None:
        raise UsageError(error(f"no MPI library is installed; {_INSTALL}"))
    return found
