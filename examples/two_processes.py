# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A step of training, in two processes with four devices each.

    python examples/two_processes.py

Starts two processes on this machine, which find each other at a free port of the loopback address.
On several machines, one would be started on each with the address of the first.
"""

import os
import socket
import subprocess
import sys
import time

import jax
import numpy as np
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy

PROCESSES, DEVICES_EACH = 2, 4
TIMEOUT = 120

MESH = sdy.Mesh.of({"data": PROCESSES, "model": DEVICES_EACH})
SHARDINGS = {"in": P(None, "model"), "out": P("model", None)}


def loss(weights, x, y):
    """How far a small network is off."""
    found = jnp.tanh(x @ weights["in"]) @ weights["out"]
    return jnp.mean((found - y) ** 2)


def step(weights, x, y):
    """Better weights, and how far the old ones were off."""
    value, gradients = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value


def work(address: str, process: int) -> None:
    """What each process does: the same program, with its own part of the data."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, PROCESSES, process, initialization_timeout=TIMEOUT)

    numbers = np.random.default_rng(0)
    w_in, w_out, x, y = (
        numbers.normal(size=shape).astype(np.float32)
        for shape in ((16, 8), (8, 16), (4, 16), (4, 16))
    )
    weights = {"in": w_in, "out": w_out}
    shardings = (SHARDINGS, P("data"), P("data"))
    module = sdy.jax.trace(
        step, weights, x, y, in_shardings=shardings, out_shardings=(SHARDINGS, P()), mesh=MESH
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    compiled = program.as_jax()

    # Each process has its own rows of x and y, and the weights on its devices.
    (of_weights, of_x, of_y), _ = compiled.in_shardings
    own = slice(2 * process, 2 * process + 2)
    new_weights, value = compiled(
        jax.tree.map(jax.make_array_from_process_local_data, of_weights, weights),
        jax.make_array_from_process_local_data(of_x, x[own], x.shape),
        jax.make_array_from_process_local_data(of_y, y[own], y.shape),
    )

    expected_weights, expected_value = step(weights, x, y)
    np.testing.assert_allclose(value, expected_value, rtol=1e-5)
    for name, array in new_weights.items():
        for shard in array.addressable_shards:
            np.testing.assert_allclose(shard.data, expected_weights[name][shard.index], rtol=1e-5)
    devices = f"{jax.local_device_count()} of {jax.device_count()} devices"
    rows = f"rows {own.start}:{own.stop}"
    print(f"process {process}: {devices}, {rows}, loss {value:.4f}, right", file=sys.stderr)
    jax.distributed.shutdown()


def main() -> int:
    """Start the processes, and end them all when one fails or all take too long."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    flags = f"--xla_force_host_platform_device_count={DEVICES_EACH}"
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, address, str(process)],
            env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags},
            stdout=subprocess.DEVNULL,  # Gloo talks there
            stderr=subprocess.PIPE,
            text=True,
        )
        for process in range(PROCESSES)
    ]
    end = time.monotonic() + TIMEOUT
    try:
        statuses: list[int | None] = [None]
        while None in statuses and not any(statuses) and time.monotonic() < end:
            time.sleep(0.05)
            statuses = [process.poll() for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process in processes:
        print(process.communicate()[1], end="")
    return int(any(process.returncode for process in processes))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(main())
