# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs local programs by XLA on virtual CPU devices, for `test_xla.py`.

Reads a pickled list of requests from standard input: a program, and the arrays of each device by
argument. Writes the arrays of each device by result.
"""

import pickle
import sys

import jax
import numpy as np
from jax._src.lib import _jax


def run(text: str, arguments: list[list[np.ndarray]], count: int, replicas: bool):
    devices = jax.devices()[:count]
    assignment = np.arange(count).reshape((count, 1) if replicas else (1, count))
    options = _jax.CompileOptions()
    for part in (options, options.executable_build_options):
        part.num_replicas, part.num_partitions = assignment.shape
        part.device_assignment = _jax.DeviceAssignment.create(assignment)
    options.executable_build_options.use_spmd_partitioning = not replicas
    executable = devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
    mesh = jax.sharding.Mesh(np.array(devices), ("devices",))
    results = executable.execute_sharded([_stacked(parts, mesh) for parts in arguments])
    return [
        [np.asarray(array) for array in arrays]
        for arrays in results.disassemble_into_single_device_arrays()
    ]


def _stacked(parts: list[np.ndarray], mesh: jax.sharding.Mesh) -> jax.Array:
    """One array that holds a part on each device; only the buffers matter to the executable."""
    shape = parts[0].shape
    stacked = (len(parts) * shape[0], *shape[1:]) if shape else ()
    spec = jax.sharding.PartitionSpec("devices") if shape else jax.sharding.PartitionSpec()
    buffers = [
        jax.device_put(part, device) for part, device in zip(parts, mesh.devices, strict=True)
    ]
    sharding = jax.sharding.NamedSharding(mesh, spec)
    return jax.make_array_from_single_device_arrays(stacked, sharding, buffers)


def main() -> None:
    requests = pickle.load(sys.stdin.buffer)
    answers = [run(**request) for request in requests]
    pickle.dump(answers, sys.stdout.buffer)


main()
