# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processes that hold XLA, and the arrays on their devices."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, overload

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.backends.engines.child_process import ChildDiedError, ChildProcess
from pyshardy.backends.registry import registered
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array

_WORKER = ("-m", "pyshardy.backends.xla.worker")


class XlaProcess:
    """A child process with devices.

    Args:
        environment: variables to set for it.
    """

    def __init__(self, environment: Mapping[str, str]):
        self._child = ChildProcess(_WORKER, environment)
        self._dropped: list[int] = []
        self._is_asked = False

    def answer(
        self, request: Mapping[str, Any], respond: Callable[[Any], Any] | None = None
    ) -> Any:
        """Send a request to the worker and return its answer.

        Args:
            request: the request.
            respond: answers the questions that the worker asks meanwhile.

        Raises:
            ExecutionError: the request failed, the process died, or this call is made while
                answering one of its questions.
        """
        if self._is_asked:
            message = "XLA is already running the program that called this function"
            hint = "let the function of the custom call use another backend, or NumPy"
            raise ExecutionError(error(f"{message}; {hint}"))
        self._is_asked = True
        try:
            succeeded, answer = self._child.ask(dict(request), respond)
        except ChildDiedError as death:
            xla_process.cache_clear()
            succeeded, answer = False, str(death)
        finally:
            self._is_asked = False
        if not succeeded:
            raise ExecutionError(error(f"XLA failed: {answer}"))
        return answer

    def drop(self, name: int) -> None:
        """Release an array with the next run, since this may be called during a request."""
        self._dropped.append(name)

    def dropped(self) -> list[int]:
        """Return the names of the arrays to release, and clear the list."""
        dropped, self._dropped = self._dropped, []
        return dropped


@cache
def xla_process(num_devices: int, platform: str) -> XlaProcess:
    """Return the process with that many virtual devices, or with all devices of a platform.

    It starts when it is first needed.

    Raises:
        UsageError: jaxlib is not installed.
    """
    registered("xla").check_installed()
    if platform != "cpu":
        return XlaProcess({})
    flags = f"--xla_force_host_platform_device_count={num_devices}"
    return XlaProcess({"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags})


class DeviceColumn(Sequence[Array]):
    """The array of each device for a value, fetched from the devices at the first access.

    Args:
        process: the process with the devices.
        name: the number of the value in the process.
        dtype: the type of the arrays to fetch.
        count: the number of devices.

    Attributes:
        is_donated: whether a run has reused its memory.
    """

    def __init__(self, process: XlaProcess, name: int, dtype: np.dtype[np.generic], count: int):
        self.process = process
        self.name = name
        self._dtype = dtype
        self._count = count
        self.is_donated = False
        self._fetched: list[Array] | None = None
        weakref.finalize(self, process.drop, name)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Array]: ...
    def __getitem__(self, index: int | slice) -> Array | Sequence[Array]:
        return self._arrays()[index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Array]:
        return iter(self._arrays())

    def _arrays(self) -> list[Array]:
        fetched = self._fetched
        if fetched is None:
            if self.is_donated:
                message = "the array was donated to a run, which has reused its memory"
                raise UsageError(error(f"{message}; use the results of that run"))
            request = {"do": "fetch", "name": self.name, "dtype": str(self._dtype)}
            fetched = self.process.answer(request)
            self._fetched = fetched
        assert fetched is not None
        return fetched
