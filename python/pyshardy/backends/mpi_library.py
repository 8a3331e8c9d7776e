# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MPI library: the processes of a job, their groups, and what they send to each other.

Compiled code contains constants of MPICH's ABI, which Intel MPI, MVAPICH and Cray MPI share.
"""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import os
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.packages import installation

LIBRARY = "PYSHARDY_MPI_LIBRARY"
"""The environment variable with the path of the library to use."""

_INSTALL = f"install one by: {installation('mpi')}; or set {LIBRARY} to the path of libmpi.so"
_COMM_WORLD = 0x44000000
_BYTE = 0x4C00010D
_TAG_UB = 0x64400001
_SMALLEST_TAG_UB = 32767
_IN_PLACE = ctypes.c_void_p(-1), ctypes.c_int(0), ctypes.c_int(_BYTE)


class MpiRequest:
    """A message on its way, or a collective that isn't complete.

    Attributes:
        buffer: what is sent or received, which must not move.
    """

    def __init__(self, library: ctypes.CDLL, buffer: np.ndarray):
        self._library = library
        self._status = (ctypes.c_int * 5)()
        self._is_done = False
        self.handle = ctypes.c_int()
        self.buffer = buffer

    def is_done(self) -> bool:
        """Whether it is complete."""
        if not self._is_done:
            done = ctypes.c_int()
            self._library.MPI_Test(ctypes.byref(self.handle), ctypes.byref(done), self._status)
            self._is_done = bool(done.value)
        return self._is_done

    @property
    def nbytes(self) -> int:
        """The bytes of a message that was received."""
        count = ctypes.c_int()
        self._library.MPI_Get_count(self._status, ctypes.c_int(_BYTE), ctypes.byref(count))
        return count.value


class MpiGroup:
    """The processes of a communicator.

    Attributes:
        handle: the communicator.
        size: the number of processes.
        rank: the number of this process.
    """

    def __init__(self, library: ctypes.CDLL, handle: int):
        self._library = library
        self._communicators: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self.handle = handle
        self.size = self._number("MPI_Comm_size")
        self.rank = self._number("MPI_Comm_rank")

    def _number(self, function: str) -> int:
        number = ctypes.c_int()
        getattr(self._library, function)(self.handle, ctypes.byref(number))
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
            self._library.MPI_Comm_split(self.handle, *own, ctypes.byref(made))
            known = self._communicators[colors, keys] = made.value
        return known

    def all_gather(self, array: np.ndarray) -> list[np.ndarray]:
        """The arrays of all processes, which are of one shape and type."""
        own = np.ascontiguousarray(array)
        every = np.empty((self.size, *array.shape), array.dtype)
        received = ctypes.c_void_p(every.ctypes.data), *_bytes_of(own)[1:]
        self._library.MPI_Allgather(*_bytes_of(own), *received, ctypes.c_int(self.handle))
        return list(every)

    def start_all_gather(self, array: np.ndarray) -> MpiRequest:
        """Start to gather the arrays of all processes, which are of one shape and type."""
        every = np.empty((self.size, *array.shape), array.dtype)
        every[self.rank] = array
        request = MpiRequest(self._library, every)
        received = ctypes.c_void_p(every.ctypes.data), *_bytes_of(every[:1])[1:]
        group = ctypes.c_int(self.handle)
        self._library.MPI_Iallgather(*_IN_PLACE, *received, group, ctypes.byref(request.handle))
        return request

    def send(self, array: np.ndarray, to: int, tag: int, *, synchronous: bool) -> MpiRequest:
        """Start to send an array; if `synchronous`, it is sent when it is received."""
        request = MpiRequest(self._library, np.ascontiguousarray(array))
        function = self._library.MPI_Issend if synchronous else self._library.MPI_Isend
        self._start(function, request, to, tag)
        return request

    def receive(self, nbytes: int, sender: int, tag: int) -> MpiRequest:
        """Start to receive a message of at most some bytes."""
        request = MpiRequest(self._library, np.empty(nbytes, np.uint8))
        self._start(self._library.MPI_Irecv, request, sender, tag)
        return request

    def _start(self, function: Any, request: MpiRequest, other: int, tag: int) -> None:
        ends = map(ctypes.c_int, (other, tag, self.handle))
        function(*_bytes_of(request.buffer), *ends, ctypes.byref(request.handle))

    def broadcast(self, array: np.ndarray, root: int) -> np.ndarray:
        """Return the array of a process; others give an array of its shape and type."""
        found = np.array(array, order="C", copy=True)
        self._library.MPI_Bcast(*_bytes_of(found), ctypes.c_int(root), ctypes.c_int(self.handle))
        return found

    def duplicate(self) -> MpiGroup:
        """Return a communicator of the same processes, with messages of its own."""
        made = ctypes.c_int()
        self._library.MPI_Comm_dup(self.handle, ctypes.byref(made))
        return MpiGroup(self._library, made.value)

    @property
    def largest_tag(self) -> int:
        """The largest tag of a message."""
        value, is_known = ctypes.POINTER(ctypes.c_int)(), ctypes.c_int()
        ends = ctypes.byref(value), ctypes.byref(is_known)
        self._library.MPI_Comm_get_attr(self.handle, _TAG_UB, *ends)
        return value[0] if is_known.value else _SMALLEST_TAG_UB

    def abort(self) -> None:
        """End all processes of the job."""
        self._library.MPI_Abort(self.handle, 1)


def _bytes_of(array: np.ndarray) -> tuple[ctypes.c_void_p, ctypes.c_int, ctypes.c_int]:
    """Return the address, the number of bytes and the type, as MPI's functions take them."""
    return ctypes.c_void_p(array.ctypes.data), ctypes.c_int(array.nbytes), ctypes.c_int(_BYTE)


class MpiLibrary(MpiGroup):
    """The library, with the functions that are called from Python; all processes of the job.

    Attributes:
        groups: groups of processes by the name of the instance that programs are compiled for.
    """

    def __init__(self, path: str):
        try:
            # Loaded globally, since compiled code resolves the functions in loaded libraries.
            self._library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as reason:
            raise UsageError(
                error(f"the MPI library can't be loaded: {reason}; {_INSTALL}")
            ) from None
        self._check_abi(path)
        self._initialize()
        super().__init__(self._library, _COMM_WORLD)
        self.groups: dict[str, MpiGroup] = {"": self}

    def _check_abi(self, path: str) -> None:
        name = ctypes.create_string_buffer(8192)
        self._library.MPI_Get_library_version(name, ctypes.byref(ctypes.c_int()))
        version = name.value.decode(errors="replace").partition("\n")[0]
        if "Open MPI" in version:
            message = f"{path} is {version}, but compiled code requires the ABI of MPICH"
            raise UsageError(error(f"{message}; {_INSTALL}"))

    def _initialize(self) -> None:
        started = ctypes.c_int()
        self._library.MPI_Initialized(ctypes.byref(started))
        if not started.value:
            self._library.MPI_Init(None, None)
            atexit.register(self._library.MPI_Finalize)

    @cached_property
    def messages(self) -> MpiGroup:
        """The processes of the job, for messages from Python."""
        return self.duplicate()

    def split(self, sizes: Sequence[int]) -> str:
        """Split the job into groups of some sizes, and return the instance of the own group."""
        colors = [color for color, size in enumerate(sizes) for _ in range(size)]
        color, ranks = colors[self.rank], range(self.size)
        instance = f"{color} of {', '.join(map(str, sizes))}"
        if instance not in self.groups:
            handle = self.communicator(tuple(colors), tuple(ranks))
            self.groups[instance] = MpiGroup(self._library, handle)
        return instance


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
