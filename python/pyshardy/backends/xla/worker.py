# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process in which XLA compiles and runs programs: `python -m` this module.

The bindings in jaxlib and those of the MLIR host can't live in one process, so nothing of the
project that loads the host is imported here. A request is a dictionary that says what to `do`; see
the functions of that name.
"""

# pyright: basic, reportPrivateImportUsage=false

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np
from jax._src.lib import _jax

from pyshardy.backends.worker import serve

_EXECUTABLES: list[Any] = []
_NAMES = {
    "i1": "bool",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def compile(text: str, replicas: int, partitions: int, shardy: bool) -> dict[str, Any]:  # noqa: A001
    """Compile a program; its number names it from then on."""
    start = time.perf_counter()
    devices = jax.devices()[: replicas * partitions]
    assignment = np.arange(len(devices)).reshape(replicas, partitions)
    options = _jax.CompileOptions()
    build_options = options.executable_build_options
    for part in (options, build_options):
        part.num_replicas, part.num_partitions = replicas, partitions
        part.device_assignment = _jax.DeviceAssignment.create(assignment)
    build_options.use_spmd_partitioning = partitions > 1
    build_options.use_shardy_partitioner = shardy
    client = devices[0].client
    executable = client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
    _EXECUTABLES.append(executable)
    return {"number": len(_EXECUTABLES) - 1, "seconds": time.perf_counter() - start}


def hlo(number: int) -> str:
    """The text of the optimised program."""
    return _EXECUTABLES[number].hlo_modules()[0].to_string()


def run(
    number: int, arguments: list[list[Any]], elements: list[str], dtypes: list[str]
) -> list[list[Any]]:
    """Run a program; arguments and results are lists of arrays, one for each device."""
    placed = list(map(_placed, arguments, elements))
    results = _EXECUTABLES[number].execute_sharded(placed)
    return [
        [np.asarray(array).astype(dtype) for array in arrays]
        for arrays, dtype in zip(
            results.disassemble_into_single_device_arrays(), dtypes, strict=True
        )
    ]


def measure(
    number: int, arguments: list[list[Any]], elements: list[str], dtypes: list[str], runs: int
) -> float:
    """The seconds of the fastest of some runs."""
    del dtypes  # results stay where they are
    placed = list(map(_placed, arguments, elements))
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        results = _EXECUTABLES[number].execute_sharded(placed)
        for arrays in results.disassemble_into_single_device_arrays():
            for array in arrays:
                array.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best


def _placed(parts: list[Any], element: str) -> jax.Array:
    """One array that holds a part on each device; only the buffers matter to the executable."""
    dtype = jax.numpy.dtype(_dtype_name(element))
    mesh = jax.sharding.Mesh(np.array(jax.devices()[: len(parts)]), ("devices",))
    buffers = [
        jax.device_put(np.asarray(part).astype(dtype), device)
        for part, device in zip(parts, mesh.devices, strict=True)
    ]
    shape = parts[0].shape
    stacked = (len(parts) * shape[0], *shape[1:]) if shape else ()
    spec = jax.sharding.PartitionSpec("devices") if shape else jax.sharding.PartitionSpec()
    sharding = jax.sharding.NamedSharding(mesh, spec)
    return jax.make_array_from_single_device_arrays(stacked, sharding, buffers)


def _dtype_name(element: str) -> str:
    """What JAX calls an element type of MLIR: `float8_e4m3fn` for `f8E4M3FN`."""
    if element in _NAMES:
        return _NAMES[element]
    kind, digits = element.rstrip("0123456789"), element.lstrip("uifE")
    if kind in ("i", "ui", "f"):
        return {"i": "int", "ui": "uint", "f": "float"}[kind] + digits
    bits, _, layout = element.removeprefix("f").partition("E")
    return f"float{bits}_e{layout.lower()}"


_ACTIONS = {"compile": compile, "hlo": hlo, "run": run, "time": measure}


def answer(request: dict[str, Any]) -> Any:
    """Do what a request says."""
    return _ACTIONS[request.pop("do")](**request)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # else arrays of 64 bits lose half of them
    serve(answer)
