# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`lax.ragged_all_to_all` in manual computations runs in lockstep."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases
from jax import lax
from jax import numpy as jnp
from jax.sharding import AxisType, PartitionSpec

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.local_program.errors import ExecutionError

P = PartitionSpec
ROWS = 16
MESHES = [(("x", 4),), (("x", 2), ("y", 4)), (("y", 2), ("x", 4))]


def before_each(sizes):
    """Return the start of each part of a row, in which parts follow each other."""
    return np.cumsum(sizes, axis=1) - sizes


def traced(mesh, arguments):
    spec = P("x")

    def function(*arrays):
        exchange = jax.shard_map(
            lambda *shards: lax.ragged_all_to_all(*shards, axis_name="x"),
            mesh=mesh,
            in_specs=(spec,) * 6,
            out_specs=spec,
            check_vma=False,
        )
        return exchange(arrays[0] * 2, *arrays[1:]) + 1

    return sdy.jax.trace(function, *arguments, mesh=mesh, in_shardings=(spec,) * 6)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64"])
@pytest.mark.parametrize("axes", MESHES, ids=str)
@pytest.mark.parametrize("seed", range(cases(2)))
def test_rows_arrive(axes, dtype, seed):
    mesh = jax.make_mesh(
        tuple(size for _, size in axes),
        tuple(name for name, _ in axes),
        axis_types=(AxisType.Auto,) * len(axes),
    )
    count, generator = dict(axes)["x"], np.random.default_rng(seed)
    sizes = generator.integers(0, ROWS // count + 1, (count, count)).astype(np.int32)
    begins, ends = before_each(sizes), before_each(sizes.T).T
    rows, before = (
        generator.integers(-9, 9, (count, ROWS, 3)).astype(jnp.dtype(dtype)) for _ in "ab"
    )
    wanted = np.array(before)
    for sender in range(count):
        for receiver in range(count):
            begin, end, size = (each[sender, receiver] for each in (begins, ends, sizes))
            wanted[receiver, end : end + size] = 2 * rows[sender, begin : begin + size]
    vectors = [each.astype(np.int32).ravel() for each in (begins, sizes, ends, sizes.T)]
    arguments = [rows.reshape(-1, 3), before.reshape(-1, 3), *vectors]
    with collect() as found:
        module = traced(mesh, arguments)
        sdy.propagate(module)
        program = sdy.partition(module)
    assert not found
    (result,) = program.run(arguments)
    np.testing.assert_array_equal(
        np.asarray(result).astype(np.complex64),
        np.asarray(wanted.reshape(-1, 3) + jnp.dtype(dtype).type(1)).astype(np.complex64),
    )


def test_ranges_outside():
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
    rows = np.zeros((8, 3), np.float32)
    vectors = [np.array(each, np.int32) for each in ([0, 0, 0, 0], [1, 1, 1, 4], [0] * 4, [1] * 4)]
    vectors[2][3] = 1
    module = traced(mesh, [rows, rows, *vectors])
    sdy.propagate(module)
    with pytest.raises(ExecutionError, match="range 1 of 4 rows, from 0 to 1, isn't within the 4"):
        sdy.partition(module).run([rows, rows, *vectors])
