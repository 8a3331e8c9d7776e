# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which XLA compiles and runs programs: `python -m` this module.

The bindings in jaxlib and those of the MLIR host can't live in one process, so nothing of the
project that loads the host is imported here. A request is a dictionary that says what to `do`; see
the functions of that name.
"""

# pyright: basic, reportPrivateImportUsage=false

from __future__ import annotations

import functools
import itertools
import time
from typing import Any, NamedTuple

import jax
import numpy as np

from pyshardy.backends import jax_internals
from pyshardy.backends.engines import FileCache, this_cpu
from pyshardy.processes.worker import Parent


class _Compiled(NamedTuple):
    """An executable, the devices that it is for, and whether it calls the parent back."""

    executable: Any
    devices: list[Any]
    calls_back: bool


_COMPILED: list[_Compiled] = []
_NUMBERS: dict[tuple[Any, ...], int] = {}
_LEFT: dict[int, tuple[jax.Array, list[Any]]] = {}
_LAPACK = b"lapack_"
"""The prefix of JAX's LAPACK calls on CPUs. An uninitialised call ends the process."""
_NAMES_OF_RESULTS = itertools.count()
_NAMES = {
    "i1": "bool",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def compile(  # noqa: A001
    text: str | bytes,
    replicas: int,
    partitions: int,
    shardy: bool,
    platform: str,
    cache_directory: str | None,
    callbacks: int,
    optimization: int | None,
) -> dict[str, Any]:
    """Compile a program, and assign a number to it.

    Equal programs are compiled once: per process, or, with a directory, in all processes that use
    it. A program with callbacks is not cached in the directory.
    """
    start = time.perf_counter()
    devices = _devices(platform, replicas * partitions)
    key = (text, replicas, partitions, shardy, platform, optimization)
    number = _NUMBERS.get(key)
    is_known = number is not None
    if number is None:
        client, placed = devices[0].client, jax_internals.device_list(devices)
        options = jax_internals.compile_options(replicas, partitions, shardy, optimization)
        cache = FileCache(None if callbacks else cache_directory, ".xla")
        # Programs of other versions or for other kinds of devices are unusable.
        file_key = (jax.__version__, devices[0].device_kind, this_cpu(), *key)
        serialized = cache.load(*file_key)
        if _LAPACK in (text if isinstance(text, bytes) else text.encode()):
            jax_internals.initialize_lapack()
        is_known = serialized is not None
        if serialized is not None:
            executable = client.deserialize_executable(serialized, placed, options)
        elif callbacks:
            executable = _with_callbacks(text, placed, options, callbacks)
        else:
            executable = client.compile_and_load(text, placed, options)
            if cache_directory is not None:
                cache.store(executable.serialize(), *file_key)
        number = _NUMBERS[key] = len(_COMPILED)
        _COMPILED.append(_Compiled(executable, devices, callbacks > 0))
    return {"number": number, "seconds": time.perf_counter() - start, "is_known": is_known}


def _with_callbacks(text: str | bytes, placed: Any, options: Any, count: int) -> Any:
    """Return an executable that asks the parent for the results of its custom calls."""
    functions = [functools.partial(_call_back, number) for number in range(count)]
    return jax_internals.compile_with_callbacks(text, placed, options, functions)


@functools.cache
def _parent() -> Parent:
    """The process that has started this one."""
    return Parent()


def _call_back(number: int, *arrays: Any) -> tuple[Any, ...]:
    # XLA's arrays are views of memory that it uses again, and its tokens are None.
    given = [np.array(array) for array in arrays if array is not None]
    return tuple(_parent().ask((number, given)))


def _devices(platform: str, count: int) -> list[Any]:
    try:
        devices = jax.devices(platform)
    except RuntimeError as lack:
        devices, reason = [], f": {lack}"
    else:
        reason = f", there are {len(devices)}"
    if len(devices) < count:
        message = f"the program runs on {count} {platform.upper()} devices{reason}"
        if platform == "gpu":
            message += (
                "; for GPUs install: pip install 'jax[cuda12]'; '--backend=xla' runs on virtual "
                "devices of the CPU"
            )
        raise RuntimeError(message)
    return devices[:count]


def hlo(number: int) -> str:
    """The text of the optimised program."""
    return _COMPILED[number].executable.hlo_modules()[0].to_string()


def peak_bytes(number: int) -> int:
    """The bytes of arguments, results and temporary values on a device."""
    stats = _COMPILED[number].executable.get_compiled_memory_stats()
    held = stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
    return held + stats.temp_size_in_bytes


def run(number: int, arguments: list[Any], elements: list[str], dropped: list[int]) -> list[int]:
    """Run a program, and leave its results on the devices.

    Args:
        number: the program.
        arguments: for each argument a list of arrays, one for each device; or the number of a
            result of an earlier run.
        elements: the element types of the arguments.
        dropped: the numbers of the values to release.

    Returns:
        The numbers of the results.
    """
    executable, devices, calls_back = _COMPILED[number]
    placed = [
        _LEFT[each][0] if isinstance(each, int) else _placed(each, element, devices)
        for each, element in zip(arguments, elements, strict=True)
    ]
    results = _executed(executable, placed, is_awaited=calls_back)
    for old in dropped:
        _LEFT.pop(old, None)
    names = [next(_NAMES_OF_RESULTS) for _ in results]
    for name, arrays in zip(names, results, strict=True):
        _LEFT[name] = _joined(arrays, devices), devices
    return names


def fetch(name: int, dtype: str) -> list[Any]:
    """Return the array of each device for a result of a run."""
    array, devices = _LEFT[name]
    shards = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.asarray(shards[device]).astype(dtype) for device in devices]


def measure(number: int, arguments: list[list[Any]], elements: list[str], runs: int) -> float:
    """The seconds of the fastest of some runs."""
    executable, devices, _ = _COMPILED[number]
    placed = [_placed(*each, devices) for each in zip(arguments, elements, strict=True)]
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        _executed(executable, placed, is_awaited=True)
        best = min(best, time.perf_counter() - start)
    return best


def _executed(executable: Any, placed: list[jax.Array], *, is_awaited: bool) -> list[list[Any]]:
    """Return the results of a run on each device; unless it is awaited, it may still be running."""
    results = executable.execute_sharded(placed, with_tokens=is_awaited)
    arrays = results.disassemble_into_single_device_arrays()
    if is_awaited:
        results.consume_token().block_until_ready()
    return arrays


def _placed(parts: list[Any], element: str, devices: list[Any]) -> jax.Array:
    """An array with a part on each device."""
    dtype = jax.numpy.dtype(_dtype_name(element))
    buffers = [
        jax.device_put(np.asarray(part).astype(dtype), device)
        for part, device in zip(parts, devices, strict=True)
    ]
    return _joined(buffers, devices)


def _joined(buffers: list[Any], devices: list[Any]) -> jax.Array:
    """Return one array of the buffers of all devices; executables only use the buffers."""
    mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
    shape = buffers[0].shape
    stacked = (len(buffers) * shape[0], *shape[1:]) if shape else ()
    spec = jax.sharding.PartitionSpec("devices") if shape else jax.sharding.PartitionSpec()
    sharding = jax.sharding.NamedSharding(mesh, spec)
    return jax.make_array_from_single_device_arrays(stacked, sharding, buffers)


def _dtype_name(element: str) -> str:
    """Return the name in JAX of an element type of MLIR: `float8_e4m3fn` for `f8E4M3FN`."""
    if element in _NAMES:
        return _NAMES[element]
    kind, digits = element.rstrip("0123456789"), element.lstrip("uifE")
    if kind in ("i", "ui", "f"):
        return {"i": "int", "ui": "uint", "f": "float"}[kind] + digits
    bits, _, layout = element.removeprefix("f").partition("E")
    return f"float{bits}_e{layout.lower()}"


_ACTIONS = {
    "compile": compile,
    "hlo": hlo,
    "peak_bytes": peak_bytes,
    "run": run,
    "fetch": fetch,
    "time": measure,
}


def answer(request: dict[str, Any]) -> Any:
    """Perform the action of a request."""
    return _ACTIONS[request.pop("do")](**request)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # else arrays of 64 bits lose half of them
    _parent().serve(answer)
