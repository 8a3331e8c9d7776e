# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs at the edges of what is usual, partitioned, compute what they compute on one device."""

import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from jax import numpy as jnp

import pyshardy as sdy
from pyshardy.backends import CompileOptions
from pyshardy.backends.comparison import compare
from pyshardy.program import run_unpartitioned

FAST_TO_COMPILE = CompileOptions(optimization=0)
MESH = sdy.Mesh.of({"x": 2, "y": 4})
ROUNDING = 1e-4


def check(module, inputs, **options):
    """XLA gets the same numbers for the partitioned program."""
    expected = run_unpartitioned(module, inputs, "xla", FAST_TO_COMPILE)
    sdy.propagate(module)
    program = sdy.partition(module, **options)
    found = program.run(inputs, "xla", FAST_TO_COMPILE)
    for port, ours, theirs in zip(program.outputs, found, expected, strict=True):
        assert compare(ours, theirs, port.spec, ROUNDING).is_small, port.name


@pytest.mark.parametrize("function", [jnp.linalg.cholesky, jnp.linalg.eigvalsh, jnp.linalg.det])
def test_calls_of_lapack(function):
    matrices = np.random.default_rng(0).normal(size=(4, 3, 3)).astype(np.float32)
    matrices = matrices @ matrices.swapaxes(1, 2) + np.eye(3, dtype=np.float32)
    sharding = sdy.sharding('<@mesh, [{"x"}, {"y"}, {}]>')
    check(sdy.jax.trace(function, matrices, in_shardings=sharding, mesh=MESH), [matrices])


def test_single_updates_out_of_the_bounds_of_a_shard():
    x = np.arange(45, dtype=np.float32).reshape(5, 9)
    rows = sdy.sharding('<@mesh, [{"x"}, {}]>')
    for index in (1, 4, -1, 7):
        module = sdy.jax.trace(
            lambda x, i: x.at[i].multiply(2.0, wrap_negative_indices=False),
            x,
            np.int32(index),
            in_shardings=(None, None),
            out_shardings=rows,
            mesh=MESH,
        )
        check(module, [x, np.int32(index)])
