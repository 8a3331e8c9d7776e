# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The child process of `xla.py`: reads pickled requests, and writes pickled answers."""

import os
import pickle
import sys
import time

import jax
import numpy as np
from jax._src.lib import _jax


def compiled(text: str, count: int, *, shardy: bool):
    """An executable for `count` partitions."""
    devices = jax.devices()[:count]
    options = _jax.CompileOptions()
    build_options = options.executable_build_options
    for part in (options, build_options):
        part.num_replicas, part.num_partitions = 1, count
        part.device_assignment = _jax.DeviceAssignment.create(np.arange(count).reshape(1, count))
    build_options.use_spmd_partitioning = True
    build_options.use_shardy_partitioner = shardy
    return devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)


def answer(text: str, count: int, shardy: bool, runs: int):
    """The optimised HLO, the seconds to compile, and those of the best run."""
    start = time.perf_counter()
    executable = compiled(text, count, shardy=shardy)
    seconds = time.perf_counter() - start
    hlo = executable.hlo_modules()[0]
    return hlo.to_string(), seconds, best_run(executable, hlo, count, runs) if runs else None


def best_run(executable, hlo, count: int, runs: int) -> float:
    """The seconds of the fastest of some runs; every device holds zeros."""
    devices = jax.devices()[:count]
    mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
    arguments = [zeros(shape, devices, mesh) for shape in parameter_shapes(hlo)]
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        results = executable.execute_sharded(arguments)
        for array in results.disassemble_into_single_device_arrays():
            for part in array:
                part.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best


def parameter_shapes(hlo) -> list[tuple[tuple[int, ...], np.dtype]]:
    """What each device takes."""
    shapes = hlo.computations()[-1].program_shape().parameter_shapes()
    return [(shape.dimensions(), shape.numpy_dtype()) for shape in shapes]


def zeros(shape: tuple[tuple[int, ...], np.dtype], devices, mesh) -> jax.Array:
    """One array of zeros on each device; only the buffers matter to the executable."""
    dims, dtype = shape
    buffers = [jax.device_put(np.zeros(dims, dtype), device) for device in devices]
    stacked = (len(devices) * dims[0], *dims[1:]) if dims else ()
    spec = jax.sharding.PartitionSpec("devices") if dims else jax.sharding.PartitionSpec()
    sharding = jax.sharding.NamedSharding(mesh, spec)
    return jax.make_array_from_single_device_arrays(stacked, sharding, buffers)


def main() -> None:
    output = os.fdopen(os.dup(1), "wb")  # what else writes to standard output must not mix in
    os.dup2(2, 1)
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply = answer(**request)
        except Exception as failure:
            reply = str(failure)
        pickle.dump(reply, output)
        output.flush()


main()
