# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a loop doesn't change is resharded once, before the loop, with the same numbers."""

import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax
P = jax.sharding.PartitionSpec
SIZE = 8
SPECS = (P("x"), P(None, "x"), P("y"), P(("x", "y")), P("x", "y"), P(None, "y"), P())


def constrain(value, spec, mesh):
    return lax.with_sharding_constraint(value, jax.sharding.NamedSharding(mesh, spec))


def step(rng):
    """A function of a carried matrix and two that stay: some loop body."""
    kind = rng.randrange(10)

    def body(c, w, v):
        if kind == 0:
            return jnp.tanh(c @ w)
        if kind == 1:
            return jnp.tanh(w @ c + v)
        if kind == 2:
            return jnp.tanh((c @ w) @ v)
        if kind == 3:
            return jnp.tanh(c + jnp.flip(w, 0) @ v)
        if kind == 4:
            return jnp.where(c > 0, c @ w, v)
        if kind == 5:
            return c / 2 + w.sum(0) + v.T
        # What is sent is computed anew in each trip.
        if kind == 6:
            return jnp.tanh(c @ (2 * w.T))
        if kind == 7:
            return jnp.tanh(c @ (w / w.sum(0)) + v)
        if kind == 8:
            return jnp.tanh(c @ (w @ v)) + jnp.flip(v, 1)[:1]
        half = jnp.concatenate([w[:4], v[4:]]).astype(jnp.float16)
        return jnp.tanh(c @ half.astype(jnp.float32) + (w * c).sum())

    return body


def program(seed):
    rng = random.Random(seed)
    inner, outer = step(rng), step(rng)
    shape, trips = rng.randrange(4), rng.choice([1, 2, 3])
    specs = [rng.choice(SPECS) for _ in range(3)]
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))

    def run(c, w, v):
        c, w, v = (constrain(each, spec, mesh) for each, spec in zip((c, w, v), specs, strict=True))
        if shape == 0:  # captured values
            return lax.fori_loop(0, trips, lambda _, c: inner(c, w, v), c)
        if shape == 1:  # carried values, of which one is returned elsewhere, too

            def swap(_, state):
                c, w, v, last = state
                return inner(c, w, v), w, v, last + v

            return lax.fori_loop(0, trips, swap, (c, w, v, c))
        if shape == 2:  # nested loops
            return lax.fori_loop(
                0,
                trips,
                lambda _, c: outer(lax.fori_loop(0, 2, lambda _, d: inner(d, w, v), c), v, w),
                c,
            )
        return lax.scan(lambda c, row: (inner(c, w, v) + row, row.sum()), c, w)  # along a dimension

    return run


def sent(made):
    return sum(each.nbytes_sent * (each.repetitions or 1) for each in made.collectives)


@pytest.mark.parametrize("seed", range(cases(16)))
def test_loops(seed):
    matrix = jnp.ones((SIZE, SIZE))
    module = sdy.jax.trace(jax.jit(program(seed)), matrix, matrix, matrix)
    sdy.propagate(module)
    plain = sdy.partition(module, hoist_reshards=False)
    hoisted = sdy.partition(module)
    sdy.run_pipeline(
        sdy.parse(sdy.asm(module), sdy.Context()), "sdy-partition-pipeline", verify_inside=True
    )
    numbers = np.random.default_rng(seed)
    inputs = [numbers.uniform(-1, 1, port.spec.shape).astype("f4") for port in plain.inputs]
    expected = run_unpartitioned(module, inputs)
    for found, wanted in zip(hoisted.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert sent(hoisted) <= sent(plain)


@pytest.mark.parametrize(
    "changed",
    [
        lambda w: w.T * 2,
        lambda w: w.astype(jnp.bfloat16).astype(jnp.float32),
        lambda w: jnp.tanh(w)[::-1],
        lambda w: w / jnp.linalg.norm(w, axis=0),
    ],
)
@pytest.mark.parametrize("backend", ["interpreter", "jit", "xla"])
def test_what_is_sent_is_computed_once(changed, backend):
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    rows = jax.sharding.NamedSharding(mesh, P("x"))

    def run(c, w):
        return lax.fori_loop(0, 8, lambda _, c: jnp.tanh(c @ changed(w)), c)

    matrix = jax.ShapeDtypeStruct((16, 16), jnp.float32, sharding=rows)
    module = sdy.jax.trace(jax.jit(run), matrix, matrix)
    sdy.propagate(module)
    made = sdy.partition(module)
    assert {each.repetitions for each in made.collectives} == {1}
    inputs = [np.random.default_rng(n).uniform(-1, 1, (16, 16)).astype("f4") for n in (1, 2)]
    (expected,) = run_unpartitioned(module, inputs)
    np.testing.assert_allclose(made.run(inputs, backend)[0], expected, rtol=1e-3, atol=1e-3)


def test_a_product_with_a_matrix_that_stays():
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    rows = jax.sharding.NamedSharding(mesh, P("x"))

    def run(c, w):
        return lax.fori_loop(0, 8, lambda _, c: jnp.tanh(c @ w), c)

    matrix = jax.ShapeDtypeStruct((16, 16), jnp.float32, sharding=rows)
    module = sdy.jax.trace(jax.jit(run), matrix, matrix)
    sdy.propagate(module)
    assert sent(sdy.partition(module, hoist_reshards=False)) == 8 * sent(sdy.partition(module))
    # Not if it would occupy too much memory.
    for max_bytes in (1023, 1024):
        changed = sdy.parse(sdy.asm(module), sdy.Context())
        sdy.run_pipeline(
            changed,
            "sdy-inline-small-functions,symbol-dce,"
            "func.func(sdy-insert-explicit-reshards{enable-full-version=true},"
            f"sdy-hoist-reshards{{max-bytes={max_bytes}}})",
        )
        before, _, inside = sdy.asm(changed).partition(" do {")
        assert ("sdy.reshard" in inside) == (max_bytes == 1023)
        assert ("sdy.reshard" in before) == (max_bytes == 1024)
