# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of XLA: programs for many devices, and the processes that hold XLA."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, overload

import numpy as np

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import UsageError, error, note
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir, location_of
from pyshardy.backends.arrays.sharded_arrays import Column
from pyshardy.backends.custom_calls import Function, check_callbacks, check_no_transfers
from pyshardy.backends.donations import donated_arguments
from pyshardy.backends.engines import Arrays
from pyshardy.backends.registry import CompileOptions, registered
from pyshardy.backends.xla.callbacks import Callbacks, call_back
from pyshardy.backends.xla.preparation import prepare_for_xla, text_for_xla
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.ragged_dots import RAGGED_DOT, expand_ragged_dots
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.custom_calls import CUSTOM_CALL, advice_on, target_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_FEWEST_DEVICES = 8
_WORKER = ("-m", "pyshardy.backends.xla.worker")


class XlaProgram:
    """A program that XLA has compiled for virtual CPU devices.

    Args:
        text: StableHLO, as text or as a portable artifact: a local program, marked by
            `text_for_xla` if it is for many partitions; or an annotated one, to be partitioned by
            XLA.
        inputs: the types of the arguments on each device.
        outputs: the types of the results on each device.
        layout: the replicas and partitions.
        partitioned_by_xla: whether XLA propagates and partitions by the annotations of Shardy.
        platform: `cpu` for virtual devices, or `gpu`.
        cache_directory: a directory of compiled programs for later processes.
        callbacks: the custom calls that functions of this process implement.
        donated: the positions of the arguments whose memory results reuse.
        optimization: the level of the code generator; None for XLA's default.
        instance: the instance of the process; see `CompileOptions`.

    Attributes:
        compile_seconds: the compile time.
        was_compiled_before: whether an equal program was in the cache.

    Raises:
        UsageError: jaxlib is not installed.
        ExecutionError: XLA rejects the program.
    """

    def __init__(
        self,
        text: str | bytes,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        layout: Layout,
        *,
        partitioned_by_xla: bool = False,
        platform: str = "cpu",
        cache_directory: str | None = None,
        callbacks: Callbacks | None = None,
        donated: Sequence[int] = (),
        optimization: int | None = None,
        instance: str = "",
    ):
        self._donated = tuple(donated)
        self._callbacks = callbacks or Callbacks((), {})
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._layout = layout
        if platform == "cpu" and isinstance(text, str) and RAGGED_DOT in text:
            module = parse(text, Context())
            expand_ragged_dots(module)
            text = asm(module)
        devices = max(_FEWEST_DEVICES, layout.size)
        self._process = xla_process(devices, platform, instance)
        answer = self._ask(
            {
                "do": "compile",
                "text": text,
                "replicas": layout.replicas,
                "partitions": layout.partitions,
                "shardy": partitioned_by_xla,
                "platform": platform,
                "cache_directory": cache_directory,
                "callbacks": len(self._callbacks),
                "optimization": optimization,
            }
        )
        self._number: int = answer["number"]
        self.compile_seconds: float = answer["seconds"]
        self.was_compiled_before: bool = answer["is_known"]

    @property
    def hlo(self) -> str:
        """The text of the optimised program."""
        return self._ask({"do": "hlo", "number": self._number})

    @property
    def peak_bytes(self) -> int:
        """The bytes of arguments, results and temporary values on a device."""
        return self._ask({"do": "peak_bytes", "number": self._number})

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """Run the program on all devices; see `SpmdProgram.run`."""
        columns = self.run_columns(list(zip(*inputs, strict=True)))
        return [[column[process] for column in columns] for process in range(self._layout.size)]

    def run_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Run the program without copying arrays that are on the devices."""
        names = self._ask(
            {"do": "run", "dropped": self._process.dropped(), **self._arguments(columns)}
        )
        for index in self._donated:
            column = columns[index]
            if isinstance(column, DeviceColumn):
                column.is_donated = True
        return [
            DeviceColumn(self._process, name, spec.dtype, self._layout.size)
            for name, spec in zip(names, self._outputs, strict=True)
        ]

    def seconds(self, inputs: Sequence[Arrays], runs: int) -> float:
        """Return the time of the fastest of some runs, with the inputs on the devices already."""
        columns = list(zip(*inputs, strict=True))
        return self._ask({"do": "time", "runs": runs, **self._arguments(columns)})

    def _arguments(self, columns: Sequence[Column]) -> dict[str, Any]:
        return {
            "number": self._number,
            "arguments": [
                column.name
                if isinstance(column, DeviceColumn)
                and column.process is self._process
                and not column.is_donated
                else list(column)
                for column in columns
            ],
            "elements": [spec.element for spec in self._inputs],
        }

    def _ask(self, request: Mapping[str, Any]) -> Any:
        try:
            return self._process.answer(request, self._callbacks.answer)
        finally:
            self._callbacks.check()  # The first failure is reported.


def local_xla_program(
    module: ir.Module,
    layout: Layout,
    platform: str = "cpu",
    cache_directory: str | None = None,
    functions: Mapping[str, Function] | None = None,
    *,
    nan_safe: bool = False,
    optimization: int | None = None,
    instance: str = "",
) -> XlaProgram:
    """Compile a local program for all devices of a layout.

    Args:
        module: the program, entered at `@main`. It isn't changed.
        layout: the replicas and partitions that run it.
        platform: `cpu` for virtual devices, or `gpu`.
        cache_directory: a directory of compiled programs for later processes.
        functions: implement custom calls, by their targets.
        nan_safe: whether maxima and minima of several devices keep NaN on a CPU.
        optimization: the level of the code generator; None for XLA's default.
        instance: the instance of the process; see `CompileOptions`.

    Raises:
        UsageError: jaxlib is not installed.
        ExecutionError: XLA rejects the program, or has too few devices.
    """
    entry = ir.SymbolTable(module.operation)[ENTRY].operation
    place = location_of(entry.location)
    signature = function_type_of(entry)
    inputs = [spec_of(value_type, place) for value_type in signature.inputs]
    outputs = [spec_of(value_type, place) for value_type in signature.results]
    is_partitioned = layout.partitions > 1
    local = copy_of(module)
    check_no_transfers(local, "XLA")
    check_callbacks(local, functions or {}, "XLA")
    callbacks = call_back(local, functions or {}, platform)
    prepare_for_xla(local, platform, nan_safe=nan_safe)
    text = text_for_xla(local) if is_partitioned else asm(local)
    try:
        return XlaProgram(
            text,
            inputs,
            outputs,
            layout,
            platform=platform,
            cache_directory=cache_directory,
            callbacks=callbacks,
            donated=donated_arguments(entry),
            optimization=optimization,
            instance=instance,
        )
    except ExecutionError as refusal:
        raise _at_custom_call(refusal, module) from None


def _at_custom_call(refusal: ExecutionError, module: ir.Module) -> ExecutionError:
    """Return an error, located at the custom call that it names, if any."""
    message = refusal.diagnostics[0].message
    for operation in operations_named({CUSTOM_CALL}, module):
        target = target_of(operation)
        if target in message.split():
            place = location_of(operation.location)
            return ExecutionError(error(message, place, [note(advice_on(target), place)]))
    return refusal


# --- Processes -----------------------------------------------------------------------------------


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
def xla_process(num_devices: int, platform: str, instance: str = "") -> XlaProcess:
    """Return the process with that many virtual devices, or with all devices of a platform.

    There is one for each instance.

    It starts when it is first needed.

    Raises:
        UsageError: jaxlib is not installed.
    """
    del instance  # a part of the key
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


# --- The backend ---------------------------------------------------------------------------------


class XlaBackend:
    """Compiles programs by XLA.

    Args:
        platform: `cpu` for virtual devices, or `gpu`.
    """

    def __init__(self, platform: str):
        self._platform = platform

    def compile(self, module: ir.Module, layout: Layout, options: CompileOptions) -> XlaProgram:
        """See `Backend.compile`."""
        return local_xla_program(
            module,
            layout,
            self._platform,
            options.cache_directory,
            options.custom_calls,
            nan_safe=options.nan_safe,
            optimization=options.optimization,
            instance=options.instance,
        )
