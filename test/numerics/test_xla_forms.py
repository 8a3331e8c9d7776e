# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs are written in the forms that XLA takes, in `run` and in `as_jax` alike."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import ml_dtypes
import numpy as np
import pytest
from jax import numpy as jnp

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

MESH = sdy.Mesh.of({"x": 4})
ROWS = sdy.sharding('<@mesh, [{"x"}, {}]>')
HOWS = ("interpreter", "jit", "iree", "xla", "as_jax")
RANDOM = np.random.default_rng(0)
A, B = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((8, 4), (8, 5)))


def run(program, how, *arrays, **options):
    if how == "as_jax":
        return jax.tree.leaves(program.as_jax(**options)(*arrays))
    return program.run(arrays, how, sdy.CompileOptions(**options))


def traced(function, *arrays, shardings):
    module = sdy.jax.trace(function, *arrays, mesh=MESH, in_shardings=shardings)
    sdy.propagate(module)
    return module


# --- Combined collectives -----------------------------------------------------------------------


def independent(a, b):
    return a.sum(0) * 2, b.sum(0) + 1


def in_two_steps(a, b):
    """What waits for the first two sums can't be summed with them."""
    first, second = independent(a, b)
    return (a * first).sum(0), (b * second).sum(0).max() * second


def in_a_loop(a, b):
    def step(_, state):
        x, y = state
        return jnp.tanh(x + (a * x).sum(0)), jnp.tanh(y + (b * y).sum(0))

    return jax.lax.fori_loop(0, 2, step, independent(a, b))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("function", "count"),
    [(independent, 1), (in_two_steps, 2), (in_a_loop, 2)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_combined_collectives(function, count, how):
    module = traced(function, A, B, shardings=(ROWS, ROWS))
    program = sdy.partition(module, combine_collectives=True)
    assert len(program.collectives) == count
    for found, expected in zip(run(program, how, A, B), function(A, B), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


# --- Fourier transforms -------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("sharding", ['[{"x"}, {}]', '[{}, {"x"}]'])
def test_transforms_of_what_is_gathered(axes, sharding):
    def function(a):
        return jnp.fft.fftn(a.T, axes=axes).T, jnp.fft.ifftn(a, axes=axes)

    a = A.astype(np.complex64)
    module = traced(function, a, shardings=(sdy.sharding(f"<@mesh, {sharding}>"),))
    found = run(sdy.partition(module), "as_jax", a)
    expected = np.fft.fftn(a.T, axes=axes).T, np.fft.ifftn(a, axes=axes)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


# --- NaN ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["xla", "as_jax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_extremes_keep_nans_if_asked_to(how, dtype):
    with jax.enable_x64(dtype == "float64"):
        a = A.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        a[3, 1] = a[7, 2] = np.nan
        expected = [np.asarray(each) for each in (jnp.max(a, 0), jnp.min(a, 0), jnp.max(a))]
        module = traced(lambda a: (a.max(0), a.min(0), a.max()), a, shardings=(ROWS,))
        program = sdy.partition(module)
        for ours, theirs in zip(run(program, how, a, nan_safe=True), expected, strict=True):
            assert ours.dtype == a.dtype
            np.testing.assert_array_equal(
                np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
            )


# --- Small types --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["interpreter", "jit", "xla"])
@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"]
)
def test_results_of_small_types(dtype, how):
    dtype = np.dtype(dtype)
    a = A.astype(dtype)
    module = traced(lambda a: (a.T, a + a), a, shardings=(ROWS,))
    program = sdy.partition(module)
    found = program.run([a], how)
    for ours, theirs in zip(found, (a.T, a + a), strict=True):
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours, theirs)
    assert program.run([found[1]], how)[0].dtype == dtype
    assert run_unpartitioned(module, [a], how)[0].dtype == dtype


# --- Operands of loops ----------------------------------------------------------------------------


def rows_added(a):
    """XLA makes the body capture the rows, which a scan passes on, after a mere reshape of them."""
    return jax.lax.scan(lambda total, row: (total + row, total), jnp.zeros((1, 4)), a)


def test_loops_pass_on_what_is_only_reshaped():
    a = A[None]
    module = traced(lambda a: rows_added(a.transpose(1, 0, 2)), a, shardings=(None,))
    found = run(sdy.partition(module), "xla", a)
    for result, expected in zip(found, rows_added(a.transpose(1, 0, 2)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)
